"""What launches and first launches cost on the host: warm calls, compiling with an empty cache, and from the disk cache.

    python bench/cpu_launch.py                measure, print, record in bench/results/cpu_launch.json

Warm: least and median microseconds of one call, over batches, through ``kernel[grid](...)``; one program instance, NumPy
arrays and PyTorch tensors. First launches: milliseconds from the call to the result, in a process that has compiled
another kernel before. "cold" finds an empty cache folder for each kernel; "disk" a folder in which another process
has left the same kernels. Processor time of the thread is told beside the time on the clock, since the machine may be busy.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from bench.record import record

KERNELS = """
import tritium as triton
import tritium.language as tl


@triton.jit
def warming(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2 + tl.sum(tl.exp(tl.load(x + i, mask=i < n)), axis=0), mask=i < n)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def eighteen(x, y, out, M, N, K, a, b, c, d, e, f, g, h, i, j, BM: tl.constexpr, BN: tl.constexpr):
    o = tl.program_id(0) * BM + tl.arange(0, BM)
    s = M + N + K + a + b + c + d + e + f + g + h + i + j
    tl.store(out + o, tl.load(x + o, mask=o < BN) + tl.load(y + o, mask=o < BN) + s, mask=o < BN)


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
        acc = tl.dot(lhs, rhs, acc)
    out_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=out_mask)
"""


def kernels(folder: Path) -> Any:
    """A fresh module of the kernels."""
    path = folder / "launched.py"
    path.write_text(KERNELS, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("launched", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["launched"] = module
    spec.loader.exec_module(module)
    return module


def microseconds(call: Callable[[], Any], batches: int = 150, launches: int = 200) -> dict[str, float]:
    """Least and median microseconds of one call."""
    for _ in range(20):
        call()
    found: list[float] = []
    for _ in range(batches):
        started = time.perf_counter()
        for _ in range(launches):
            call()
        found.append((time.perf_counter() - started) / launches * 1e6)
    return {"least_us": round(min(found), 3), "median_us": round(statistics.median(found), 3)}


def warm(module: Any) -> dict[str, dict[str, float]]:
    """Warm launches by what they are."""
    import torch

    arrays = {
        "NumPy": [np.ones(128, np.float32) for _ in range(3)],
        "PyTorch": [torch.ones(128) for _ in range(3)],
    }
    return {
        f"{what}, {name}": found for name, three in arrays.items() for what, found in _warm(module, three)
    }


def _warm(module: Any, three: list[Any]) -> list[tuple[str, dict[str, float]]]:
    x, y, out = three
    numbers = tuple(range(2, 15))
    calls: dict[str, Callable[[], Any]] = {
        "5 arguments": lambda: module.add[(1,)](x, y, out, 100, BLOCK=128),
        "5 arguments, grid function": lambda: module.add[lambda meta: (1,)](x, y, out, 100, BLOCK=128),
        "18 arguments": lambda: module.eighteen[(1,)](x, y, out, *numbers, 128, 64),
    }
    return [(what, microseconds(call)) for what, call in calls.items()]


def first_launches(module: Any, fresh: bool) -> dict[str, dict[str, float]]:
    """Milliseconds of the first launch of each kernel; `fresh` gives each an empty cache folder."""
    x, y, out = (np.ones(1 << 16, np.float32) for _ in range(3))
    calls: dict[str, Callable[[], Any]] = {
        "warming": lambda: module.warming[(1,)](x, 100, BLOCK=128),
        "add": lambda: module.add[(4,)](x, y, out, 4000, BLOCK=1024),
        "softmax": lambda: module.softmax[(16,)](x, out, 1024, 1000, BLOCK=1024),
        "matmul": lambda: module.matmul[(4, 4)](
            x, y, out, 256, 256, 256, 256, 1, 256, 1, 256, 1, BM=64, BN=64, BK=32
        ),
    }
    found: dict[str, dict[str, float]] = {}
    for name, call in calls.items():
        if fresh:
            os.environ["TRITIUM_CACHE_DIR"] = tempfile.mkdtemp()
        started, busy = time.perf_counter(), time.thread_time()
        call()
        elapsed, used = time.perf_counter() - started, time.thread_time() - busy
        found[name] = {"ms": round(elapsed * 1e3, 1), "processor_ms": round(used * 1e3, 1)}
    found["first of the process (warming)"] = found.pop("warming")
    return found


def in_process(part: str, cache: Path) -> dict[str, Any]:
    """One part of the measurement in a process of its own."""
    environment = {**os.environ, "TRITIUM_BACKEND": "cpu", "TRITIUM_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, "--part", part]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def medians(runs: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    return {
        name: {unit: statistics.median(run[name][unit] for run in runs) for unit in runs[0][name]}
        for name in runs[0]
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="processes for each kind of first launch")
    parser.add_argument("--part", choices=("warm", "cold", "disk"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if (
            options.part
        ):  # beside the cache, where all processes find the same file: its name is in what is kept
            module = kernels(Path(os.environ["TRITIUM_CACHE_DIR"]).parent)
            told = warm(module) if options.part == "warm" else first_launches(module, options.part == "cold")
            print(json.dumps(told))
            return
        cache = Path(scratch) / "cache"
        in_process("disk", cache)  # fills it
        figures = {
            "warm": in_process("warm", cache),
            "cold": medians([in_process("cold", cache) for _ in range(options.runs)]),
            "disk": medians([in_process("disk", cache) for _ in range(options.runs)]),
        }
    for part, rows in figures.items():
        print(part)
        for name, values in rows.items():
            print(f"  {name:<34}" + "".join(f"{value:>10} {unit}" for unit, value in values.items()))
    print("written to", record("cpu_launch", "python bench/cpu_launch.py", figures))


if __name__ == "__main__":
    main()
