"""How long source to optimised tile IR takes in a warm process: front end and passes, nothing cached.

    python bench/compile_time.py              measure, print, record in bench/results/compile_time.json
    python bench/compile_time.py --runs 200

The kernel text is parsed, lowered and optimised anew in every run. Verification is on, as in every launch.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tritium as triton
import tritium.language as tl
from bench.record import record, summary
from tritium.compiler import ASTSource
from tritium.pipeline import Compilation, compile_kernel


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def matmul(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
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


KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int]]] = {
    "add": (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    "softmax": (softmax, {"x": "*fp32", "out": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 1024}),
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
        | dict.fromkeys(("M", "N", "K", "sam", "sak", "sbk", "sbn", "scm", "scn"), "i32"),
        {"BM": 64, "BN": 64, "BK": 32},
    ),
}


def compilation(kernel: Any, signature: dict[str, str], constants: dict[str, int]) -> Compilation:
    """One compilation, whose source, signature and options the runs use again."""
    types = signature | dict.fromkeys(constants, "constexpr")
    done: Compilation = triton.compile(ASTSource(kernel, types, constants)).compilation
    return done


def measure(done: Compilation, runs: int) -> dict[str, Any]:
    """Milliseconds from source text to optimised IR, and the share of the front end."""
    times, lowering = [], []
    for turn in range(runs + 3):  # the first ones warm up
        start = time.perf_counter()
        made = compile_kernel(done.source, done.signature, done.options, "interpret", stop="opt.tir")
        elapsed = 1e3 * (time.perf_counter() - start)
        if turn >= 3:
            times.append(elapsed)
            lowering.append(1e3 * made.seconds["tir"])
    return summary(times) | {"front_end_median_ms": summary(lowering)["median_ms"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=101)
    args = parser.parse_args()
    figures = {name: measure(compilation(*parts), args.runs) for name, parts in KERNELS.items()}
    for name, found in figures.items():
        print(f"{name:8} {found['median_ms']:7.2f} ms   front end {found['front_end_median_ms']:6.2f} ms")
    print(f"recorded in {record('compile_time', 'python bench/compile_time.py', figures)}")


if __name__ == "__main__":
    main()
