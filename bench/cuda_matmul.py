"""fp32 IEEE matmul on the GPU, rung by rung: ``PYTHONPATH=src python bench/cuda_matmul.py [out.json] [--size 4096]``.

Times come from CUDA events around bursts, beside cuBLAS fp32 (through PyTorch) in the same run. Every variant's result is
compared with fp64 first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch

import tritium as triton
import tritium.language as tl
from tritium.backends.cuda import assemble, driver
from tritium.frontend import Signature
from tritium.pipeline import compile_kernel


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        ks = k + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m * stride_am + ks[None, :], mask=(offs_m < M) & (ks[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + ks[:, None] * stride_bk + offs_n, mask=(ks[:, None] < K) & (offs_n < N), other=0.0
        )
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + offs_m * stride_cm + offs_n, acc, mask=(offs_m < M) & (offs_n < N))


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    name: str
    tile: tuple[int, int, int]
    options: dict[str, Any] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()


def seed(rung: str) -> dict[str, Any]:
    return {"layouts": "seed", "rung": rung, "num_warps": 1}


VARIANTS = [
    Variant("one result per thread", (16, 16, 16), seed("one_result")),
    Variant("register tiles", (32, 32, 16), seed("register_tile")),
    Variant("register tiles, padding", (32, 32, 16), seed("padding")),
    Variant("register tiles, padding, unroll", (32, 32, 16), seed("unroll")),
    Variant("register tiles, padding, unroll, two stages", (32, 32, 16), seed("stages")),
    Variant("warps and vectors", (128, 128, 16), {"num_warps": 8}, ("prefetch_tiles",)),
    Variant("warps, vectors, prefetch", (128, 128, 16), {"num_warps": 8}),
    Variant("warps, vectors, prefetch, K 8", (128, 128, 8), {"num_warps": 8}),
    Variant("warps, vectors, prefetch, K 32", (128, 128, 32), {"num_warps": 8}),
    Variant("warps, vectors, prefetch, 4 warps", (128, 64, 16), {"num_warps": 4}),
    Variant("warps, vectors, prefetch, 128x128 on 4 warps", (128, 128, 16), {"num_warps": 4}),
    Variant("warps, vectors, prefetch, 256x128", (256, 128, 8), {"num_warps": 8}),
]


def compiled(variant: Variant, arch: str) -> tuple[Any, Any, Any]:
    """Source, binary and record of one variant, for sizes divisible by 16."""
    names = [p.name for p in matmul.source.parameters]
    types = {n: "*fp32" if n.endswith("_ptr") else "i32" for n in names[:9]}
    constants = dict(zip(names[9:], variant.tile, strict=True))
    facts = {(i,): [("tt.divisibility", 16)] for i in range(9)}
    signature = Signature.parse(names, types, constants, facts)
    done = compile_kernel(matmul.source, signature, {**variant.options, "arch": arch}, "cuda")
    return done.artefacts["cu"], done.artefacts["cubin"], done.record


def plans(record: Any) -> list[str]:
    names = ("double_buffer", "prefetch_tiles", "accumulate_in_dot")
    return sorted({d.name for d in record if d.applied and d.name in names})


def launcher(variant: Variant, source: Any, binary: Any, a: Any, b: Any, c: Any) -> Any:
    """A function that launches once on the current stream."""
    names = [f"arg{i}" for i in range(9)]
    program = assemble.program_of(source, binary, names, {})
    launch = program.on(0)[1]
    size = a.shape[0]
    grid = (-(-size // variant.tile[0]), -(-size // variant.tile[1]), 1)
    stream = torch.cuda.current_stream().cuda_stream
    values = [a.data_ptr(), b.data_ptr(), c.data_ptr(), size, size, size, size, size, size]
    return lambda: launch(*grid, stream, *values)


def milliseconds(run: Any, budget: float) -> float:
    """Median of bursts that together take about `budget` seconds."""
    run()
    torch.cuda.synchronize()
    once = _timed(run, 1)
    count = max(1, min(20, int(0.05 / max(once / 1e3, 1e-6))))
    rounds = max(3, min(15, int(budget / max(once * count / 1e3, 1e-6))))
    return statistics.median(_timed(run, count) / count for _ in range(rounds))


def _timed(run: Any, count: int) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        run()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.0, help="per variant")
    parser.add_argument("--only", default="", help="part of a variant's name")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    device = driver.device(0)
    size = args.size
    torch.manual_seed(0)
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float32) for _ in range(2))
    want = a.double() @ b.double()
    chosen = [v for v in VARIANTS if args.only in v.name]
    with ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda v: compiled(v, device.arch), [v for v in chosen if not v.forbid]))
    ready = dict(zip([v.name for v in chosen if not v.forbid], made, strict=True))
    for v in chosen:
        if v.forbid:
            with forbidding(v.forbid):
                ready[v.name] = compiled(v, device.arch)
    rows: list[dict[str, Any]] = []
    cublas = milliseconds(lambda: torch.mm(a, b), args.seconds)
    rows.append(_row("cuBLAS fp32", size, cublas, None))
    for v in chosen:
        source, binary, record = ready[v.name]
        c = torch.full((size, size), float("nan"), device="cuda")
        run = launcher(v, source, binary, a, b, c)
        run()
        torch.cuda.synchronize()
        error = float(((c.double() - want).abs() / (want.abs() + 1)).max())
        row = _row(v.name, size, milliseconds(run, args.seconds), cublas)
        row |= {
            "tile": v.tile,
            "options": v.options,
            "threads": source.threads,
            "registers": binary.resources.registers,
            "spills": binary.resources.spill_loads + binary.resources.spill_stores,
            "shared": source.shared_bytes + source.dynamic_shared,
            "plans": plans(record),
            "max_error": error,
        }
        rows.append(row)
        print(json.dumps(row), flush=True)
        assert error < 1e-3, f"{v.name} is wrong: {error}"
    result = {"device": str(device), "date": time.strftime("%Y-%m-%d"), "size": size, "rows": rows}
    print(json.dumps(rows[0]))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)


def forbidding(names: tuple[str, ...]) -> Any:
    from tritium import config

    return config.override(forbid=frozenset(names))


def _row(name: str, size: int, ms: float, cublas: float | None) -> dict[str, Any]:
    row = {"name": name, "ms": round(ms, 4), "tflops": round(2 * size**3 / ms / 1e9, 2)}
    if cublas is not None:
        row["of_cublas"] = round(cublas / ms, 3)
    return row


if __name__ == "__main__":
    main()
