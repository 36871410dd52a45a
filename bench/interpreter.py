"""The interpreter against Triton's own, on one machine in one run.

    python bench/interpreter.py                                  ours alone
    python bench/interpreter.py --peer /path/to/python           both, and the ratio; recorded in bench/results/

The peer is a Python that has Triton, PyTorch and NumPy 2.2 (Triton 3.6's interpreter fails with later ones). Times are
medians of warm launches in milliseconds, compilation excluded; the results of both are checked.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.record import machine, record

KERNELS = """
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        lhs_mask = (rm[:, None] < M) & (rk[None, :] < K)
        rhs_mask = (rk[:, None] < K) & (rn[None, :] < N)
        lhs = tl.load(a + rm[:, None] * sam + rk[None, :] * sak, mask=lhs_mask, other=0.0)
        rhs = tl.load(b + rk[:, None] * sbk + rn[None, :] * sbn, mask=rhs_mask, other=0.0)
        acc += tl.dot(lhs, rhs)
    out_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=out_mask)
"""


def measure(ours: bool, repeats: int) -> dict[str, float]:
    """Median milliseconds per workload, in this process."""
    if ours:
        import tritium

        tritium.install()
    import tempfile

    import torch

    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("import triton\nimport triton.language as tl\n" + KERNELS)
    namespace: dict[str, Any] = {"__name__": "kernels", "__file__": file.name}
    exec(compile(Path(file.name).read_text(), file.name, "exec"), namespace)
    add, matmul = namespace["add"], namespace["matmul"]
    torch.manual_seed(0)
    n, side = 1_000_000, 512
    x, y, out = torch.rand(n), torch.rand(n), torch.zeros(n)
    a, b, c = torch.rand(side, side), torch.rand(side, side), torch.zeros(side, side)

    def run_add() -> None:
        add[(-(-n // 1024),)](x, y, out, n, BLOCK=1024)

    def run_matmul() -> None:
        blocks = side // 32
        strides = (side, 1) * 3
        matmul[(blocks, blocks)](a, b, c, side, side, side, *strides, BM=32, BN=32, BK=32)

    found = {"add 1 M, blocks of 1,024": _median(run_add, repeats)}
    found["matmul 512, blocks of 32"] = _median(run_matmul, repeats)
    assert torch.equal(out, x + y)
    assert torch.allclose(c, a @ b, rtol=1e-4)
    os.unlink(file.name)
    return found


def _median(launch: Callable[[], None], repeats: int) -> float:
    launch()
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        launch()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="the Python that has Triton")
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_peer:
        print(json.dumps({"times": measure(ours=False, repeats=1), "machine": machine()}))
        return
    ours = measure(ours=True, repeats=9)
    theirs: dict[str, float] = {}
    if args.peer:
        env = {**os.environ, "TRITON_INTERPRET": "1"}
        env.pop("PYTHONPATH", None)
        done = subprocess.run(
            [args.peer, __file__, "--as-peer"], env=env, capture_output=True, text=True, check=True
        )
        peer = json.loads(done.stdout.splitlines()[-1])
        theirs = peer["times"]
        figures = {
            name: {"ms": round(ms, 3), "triton_ms": round(theirs[name], 1), "times": round(theirs[name] / ms)}
            for name, ms in ours.items()
        }
        versions = {k: peer["machine"].get(k) for k in ("python", "numpy", "torch", "triton")}
        record("interpreter", "python bench/interpreter.py --peer PYTHON_WITH_TRITON", figures, peer=versions)
    for name, ms in ours.items():
        peer = f"   Triton {theirs[name]:10.1f} ms   {theirs[name] / ms:8.0f} times" if theirs else ""
        print(f"{name:28} {ms:8.2f} ms{peer}")


if __name__ == "__main__":
    sys.exit(main())
