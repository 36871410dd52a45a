"""The CPU backend against NumPy and PyTorch on this machine: one table of ratios, measured side by side in one run.

    python bench/cpu.py                      one and two threads, everything
    python bench/cpu.py --threads 1 --only matmul softmax

Each contender runs in turn, many times; a time is the median, a ratio is the time of the better library by ours (above
1: ours is faster). Each number of threads gets a process of its own, since the libraries take theirs when they start.
Kernels are plain; blocks of matmul are the fastest of three. Results of all contenders are compared.
Writes bench/results/cpu.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tritium as triton
import tritium.language as tl

Call = Callable[[], Any]
Row = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "cpu.json"
BLOCKS = ((64, 64, 32), (128, 128, 32), (128, 64, 64))
SHARE = 0.8
"""Seconds that the repetitions of one contender take, roughly."""


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layernorm(x, y, weight, bias, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    w, b = tl.load(weight + cols, mask=mask), tl.load(bias + cols, mask=mask)
    tl.store(y + row * stride + cols, d * scale * w + b, mask=mask)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    tl.store(y + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=mask)


@triton.jit
def matmul(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        lhs = tl.load(
            a + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
        )
        rhs = tl.load(
            b + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
        )
        acc += tl.dot(lhs, rhs)
    out_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=out_mask)


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * n * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        keys = tl.load(k + head + cols[:, None] * D + d[None, :])
        scores = tl.dot(query, tl.trans(keys)) * scale
        new = tl.maximum(best, tl.max(scores, axis=1))
        p = tl.exp(scores - new[:, None])
        alpha = tl.exp(best - new)
        total = total * alpha + tl.sum(p, axis=1)
        values = tl.load(v + head + cols[:, None] * D + d[None, :])
        acc = tl.dot(p, values, acc * alpha[:, None])
        best = new
    tl.store(out + head + rows[:, None] * D + d[None, :], acc / total[:, None])


# ---- measuring --------------------------------------------------------------------------------------------------


def side_by_side(calls: dict[str, Call]) -> dict[str, float]:
    """Median milliseconds of each call, taken in turn."""
    for call in calls.values():
        call()
    first = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        first[name] = time.perf_counter() - start
    repeats = int(max(5, min(200, SHARE / max(first.values()))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: 1e3 * statistics.median(t) for name, t in times.items()}


def row(name: str, calls: dict[str, Call], note: str = "") -> Row:
    found = side_by_side(calls)
    others = {n: t for n, t in found.items() if n != "ours"}
    ratio = min(others.values()) / found["ours"] if others else None
    return {"name": name, "ms": found, "ratio": ratio, "note": note}


def close(have: Any, want: Any, tolerance: float) -> None:
    a, b = np.asarray(have, np.float64), np.asarray(want, np.float64)
    gap = float(np.max(np.abs(a - b)))
    assert gap <= tolerance * max(1.0, float(np.max(np.abs(b)))), gap


# ---- workloads --------------------------------------------------------------------------------------------------


def bench_matmul(torch: Any) -> list[Row]:
    rows = [_square(torch, n) for n in (256, 512, 1024, 1021, 2048)]
    n = 1024
    single, _ = _fastest_matmul(torch.randn(n, n), torch.randn(n, n), torch.zeros(n, n), n)
    for name in ("bfloat16", "float16"):
        a, b = (torch.randn(n, n).to(getattr(torch, name)) for _ in range(2))
        c = torch.zeros(n, n)
        ours, blocks = _fastest_matmul(a, b, c, n)
        note = "ratio to our fp32, blocks {}x{}x{}".format(*blocks)
        rows.append(row(f"matmul {n} {name}", {"ours": ours, "our fp32": single}, note))
        close(c, a.float() @ b.float(), 1e-3)
    return rows


def _square(torch: Any, n: int) -> Row:
    a, b = torch.randn(n, n), torch.randn(n, n)
    c, d, e = torch.zeros(n, n), torch.zeros(n, n), np.zeros((n, n), np.float32)
    an, bn = a.numpy(), b.numpy()
    ours, blocks = _fastest_matmul(a, b, c, n)
    calls = {"ours": ours, "numpy": lambda: np.matmul(an, bn, out=e), "torch": lambda: torch.mm(a, b, out=d)}
    made = row(f"matmul {n} fp32", calls, "blocks {}x{}x{}".format(*blocks))
    close(c, an @ bn, 1e-4)
    return made


def _fastest_matmul(a: Any, b: Any, c: Any, n: int) -> tuple[Call, tuple[int, int, int]]:
    def launch(blocks: tuple[int, int, int]) -> Call:
        bm, bn, bk = blocks
        grid = (-(-n // bm), -(-n // bn))
        return lambda: matmul[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, BM=bm, BN=bn, BK=bk)

    found = side_by_side({str(i): launch(blocks) for i, blocks in enumerate(BLOCKS)})
    best = BLOCKS[int(min(found, key=lambda i: found[i]))]
    return launch(best), best


def bench_add(torch: Any) -> list[Row]:
    return [_sum(torch, n) for n in (1 << 20, 32 << 20)]


def _sum(torch: Any, n: int) -> Row:
    x, y, out, other = torch.rand(n), torch.rand(n), torch.zeros(n), torch.zeros(n)
    xn, yn, third = x.numpy(), y.numpy(), np.zeros(n, np.float32)
    calls: dict[str, Call] = {
        "ours": lambda: add[(-(-n // 1024),)](x, y, out, n, BLOCK=1024),
        "numpy": lambda: np.add(xn, yn, out=third),
        "torch": lambda: torch.add(x, y, out=other),
    }
    made = row(f"add {n >> 20} M", calls)
    assert torch.equal(out, other)
    return made


def bench_softmax(torch: Any) -> list[Row]:
    x, y = torch.randn(4096, 1024), torch.zeros(4096, 1024)
    calls: dict[str, Call] = {
        "ours": lambda: softmax[(4096,)](x, y, 1024, 1024, BLOCK=1024),
        "torch": lambda: torch.softmax(x, 1),
    }
    made = row("softmax 4096x1024", calls)
    close(y, torch.softmax(x, 1), 1e-6)
    return [made]


def bench_layernorm(torch: Any) -> list[Row]:
    x, y, w, b = torch.randn(4096, 1024), torch.zeros(4096, 1024), torch.randn(1024), torch.randn(1024)
    calls: dict[str, Call] = {
        "ours": lambda: layernorm[(4096,)](x, y, w, b, 1024, 1024, 1e-5, BLOCK=1024),
        "torch": lambda: torch.nn.functional.layer_norm(x, (1024,), w, b),
    }
    made = row("layernorm 4096x1024", calls)
    close(y, torch.nn.functional.layer_norm(x, (1024,), w, b), 1e-5)
    return [made]


def bench_gelu(torch: Any) -> list[Row]:
    n = 4 << 20
    x, y = torch.randn(n), torch.zeros(n)
    calls: dict[str, Call] = {
        "ours": lambda: gelu[(n // 1024,)](x, y, n, BLOCK=1024),
        "torch": lambda: torch.nn.functional.gelu(x),
    }
    made = row("gelu 4 M", calls)
    close(y, torch.nn.functional.gelu(x), 1e-6)
    return [made]


def bench_attention(torch: Any) -> list[Row]:
    q, k, v = (torch.randn(1, 4, 1024, 64) for _ in range(3))
    out = torch.zeros_like(q)
    calls: dict[str, Call] = {
        "ours": lambda: attention[(1024 // 64, 4)](q, k, v, out, 1024, 0.125, D=64, BM=64, BN=64),
        "torch": lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v),
    }
    made = row("attention 1x4x1024x64", calls)
    close(out, torch.nn.functional.scaled_dot_product_attention(q, k, v), 1e-5)
    return [made]


def bench_launch(torch: Any) -> list[Row]:
    x, y, out = torch.rand(1024), torch.rand(1024), torch.zeros(1024)

    def many() -> None:
        for _ in range(1000):
            add[(1,)](x, y, out, 1024, BLOCK=1024)

    return [row("1000 launches of one program", {"ours": many}, "milliseconds are microseconds each")]


WORKLOADS = {
    "matmul": bench_matmul, "add": bench_add, "softmax": bench_softmax, "layernorm": bench_layernorm,
    "gelu": bench_gelu, "attention": bench_attention, "launch": bench_launch,
}  # fmt: skip


# ---- the run ----------------------------------------------------------------------------------------------------


def measure(threads: int, only: list[str]) -> list[Row]:
    """All rows of one number of threads, in this process."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    rows: list[Row] = []
    for name in only:
        rows += WORKLOADS[name](torch)
    from tritium.backends.cpu.launch import LAUNCHES

    assert not LAUNCHES["interpreted"], "a kernel ran on the interpreter"
    return [{**r, "threads": threads} for r in rows]


def in_own_process(threads: int, only: list[str]) -> list[Row]:
    count = str(threads)
    env = {
        **os.environ,
        "TRITIUM_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
    }
    env |= {"OMP_WAIT_POLICY": "PASSIVE", "TRITIUM_BACKEND": "cpu", "TRITIUM_REQUIRE": "native"}
    command = [sys.executable, __file__, "--as-child", str(threads), "--only", *only]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: list[Row] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS], default=[*WORKLOADS])
    parser.add_argument("--as-child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_child:
        print(json.dumps(measure(args.as_child, args.only)))
        return
    rows: list[Row] = []
    print(f"{'workload':30} threads {'ours ms':>10} {'numpy':>10} {'torch':>10} {'ratio':>7}")
    for threads in args.threads:
        for r in in_own_process(threads, args.only):
            rows.append(r)
            ms = r["ms"]
            peers = [f"{ms[p]:10.3f}" if p in ms else " " * 10 for p in ("numpy", "torch")]
            ratio = f"{r['ratio']:7.2f}" if r["ratio"] else " " * 7
            print(
                f"{r['name']:30} {threads:7} {ms['ours']:10.3f} {' '.join(peers)} {ratio}  {r['note']}",
                flush=True,
            )
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"machine": platform.processor(), "python": platform.python_version(), "cores": os.cpu_count()}
    RESULTS.write_text(json.dumps({**machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
