"""Plain matmul kernels on tensor cores: ``PYTHONPATH=src python bench/tensor_cores.py [out.json] [--seconds 0.4]``.

First results on odd shapes against fp64, outputs poisoned and surrounded by poison; then times beside PyTorch (cuBLAS) and,
if it is installed, Triton, with the same kernel source, the best of the same tiles for both. Medians of bursts.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

SOURCE = """
import {module} as triton
import {module}.language as tl


@triton.jit
def by_index(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, INT: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32 if INT else tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * sam + ks[None, :] * sak, mask=(rm[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * sbk + rn[None, :] * sbn, mask=(ks[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision=PRECISION)
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rm[:, None] * scm + rn[None, :] * scn, c, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def advancing(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, INT: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * sam + ks[None, :] * sak
    b_ptrs = b_ptr + ks[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.int32 if INT else tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (ks[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K - k * BK) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision=PRECISION)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rm[:, None] * scm + rn[None, :] * scn, c, mask=(rm[:, None] < M) & (rn[None, :] < N))
"""

Tile = tuple[int, int, int, int, int]
"""Rows, columns, depth, warps, stages."""


@dataclass(frozen=True)
class Case:
    """One product: element type, sizes, orders of A and B ("n" or "t"), and what is tried."""

    dtype: str
    sizes: tuple[int, int, int]
    orders: str
    precision: str = "tf32"

    def __str__(self) -> str:
        precision = f" {self.precision}" if self.dtype == "fp32" else ""
        return f"{self.dtype}{precision} {'x'.join(map(str, self.sizes))} {self.orders}"


TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
    "int8": torch.int8,
    "fp8e4nv": torch.float8_e4m3fn,
}
WIDE: list[Tile] = [
    (128, 128, 64, 4, 3),
    (128, 256, 64, 8, 3),
    (256, 128, 64, 8, 3),
    (128, 128, 32, 4, 4),
    (256, 128, 32, 8, 4),
    (128, 256, 64, 8, 4),
    (256, 128, 64, 8, 4),
    (128, 128, 64, 8, 3),
]
NARROW: list[Tile] = [(128, 256, 32, 8, 3), (256, 128, 32, 8, 3), (128, 128, 32, 4, 3), (128, 128, 32, 8, 3)]
EIGHT: list[Tile] = [
    (128, 128, 128, 4, 3),
    (128, 256, 128, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 128, 8, 3),
]
TILES = {"bf16": WIDE, "fp16": WIDE, "fp32": NARROW, "int8": EIGHT, "fp8e4nv": EIGHT}
TIMED = [
    Case("bf16", (4096, 4096, 4096), "nn"),
    Case("bf16", (4096, 4096, 4096), "nt"),
    Case("bf16", (5000, 5000, 5000), "nt"),
    Case("bf16", (8192, 8192, 8192), "nn"),
    Case("fp16", (4096, 4096, 4096), "nn"),
    Case("fp32", (4096, 4096, 4096), "nn"),
    Case("fp32", (4096, 4096, 4096), "nt"),
    Case("fp8e4nv", (4096, 4096, 4096), "nt"),
    Case("int8", (4096, 4096, 4096), "nt"),
]
CHECKED: list[tuple[Case, Tile]] = [
    *((Case("bf16", (300, 200, 136), o), (128, 128, 64, 8, 3)) for o in ("nn", "nt", "tn", "tt")),
    *((Case("fp16", (77, 131, 83), o), (64, 64, 32, 4, 3)) for o in ("nn", "nt")),
    *((Case("fp32", (300, 200, 136), o), (64, 128, 32, 4, 3)) for o in ("nn", "nt", "tn", "tt")),
    *((Case("fp32", (300, 200, 136), o, "tf32x3"), (64, 64, 32, 4, 3)) for o in ("nn", "nt")),
    *((Case("int8", (300, 208, 160), o), (128, 64, 64, 4, 3)) for o in ("nn", "nt", "tn", "tt")),
    *((Case("fp8e4nv", (300, 208, 160), o), (128, 64, 64, 4, 3)) for o in ("nn", "nt")),
    (Case("bf16", (1, 16, 16), "nn"), (16, 16, 16, 1, 2)),
    (Case("bf16", (1000, 1000, 1000), "nt"), (128, 256, 64, 8, 3)),
    (Case("bf16", (1000, 999, 1001), "nt"), (128, 128, 32, 4, 4)),
    (Case("bf16", (512, 512, 64), "nn"), (32, 64, 64, 4, 5)),
    (Case("bf16", (512, 512, 0), "nn"), (32, 64, 64, 4, 5)),
    (Case("bf16", (1000, 1000, 1000), "nn"), (128, 256, 64, 8, 3)),
    (Case("bf16", (1000, 1000, 1000), "nt"), (128, 128, 64, 4, 3)),
    (Case("fp16", (520, 264, 1000), "tn"), (256, 128, 32, 8, 4)),
    (Case("fp32", (1000, 1000, 1000), "nn"), (128, 256, 32, 8, 3)),
    (Case("fp32", (300, 200, 136), "nt", "ieee"), (64, 64, 16, 4, 3)),
]


def kernels(module: str, folder: Path) -> Any:
    """The kernels for one of the two compilers, from a file of their own."""
    file = folder / f"kernels_of_{module}.py"
    file.write_text(SOURCE.format(module=module), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = made
    spec.loader.exec_module(made)
    return made


def operands(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Random A [M, K] and B [K, N], with the strides that the orders say."""
    m, n, k = case.sizes
    made: list[torch.Tensor] = []
    for shape, order in (((m, k), case.orders[0]), ((k, n), case.orders[1])):
        stored = shape if order == "n" else shape[::-1]
        if case.dtype == "int8":
            x = torch.randint(-100, 100, stored, device="cuda", dtype=torch.int8)
        else:
            x = torch.randn(stored, device="cuda", dtype=torch.float32).to(TYPES[case.dtype])
        made.append(x if order == "n" else x.t())
    return made[0], made[1]


def output_type(case: Case) -> torch.dtype:
    return {"int8": torch.int32, "fp32": torch.float32, "fp8e4nv": torch.bfloat16}.get(
        case.dtype, TYPES[case.dtype]
    )


def launcher(kernel: Any, case: Case, tile: Tile, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
    bm, bn, bk, warps, stages = tile
    m, n, k = case.sizes
    grid = (-(-m // bm), -(-n // bn))
    constants = {"BM": bm, "BN": bn, "BK": bk, "PRECISION": case.precision if case.dtype == "fp32" else None,
                 "INT": case.dtype == "int8", "num_warps": warps, "num_stages": stages}  # fmt: skip
    strides = (*a.stride(), *b.stride(), *c.stride())
    return lambda: kernel[grid](a, b, c, m, n, k, *strides, **constants)


def error_of(kernel: Any, case: Case, tile: Tile) -> float:
    """The largest error relative to the sums of magnitudes; AssertionError if bytes around the result changed."""
    a, b = operands(case)
    m, n, _ = case.sizes
    kind = output_type(case)
    whole = torch.full((m + 2, n), 77, device="cuda", dtype=torch.int32).to(kind)
    if kind.is_floating_point:
        whole.fill_(float("nan"))
    before = whole.clone()
    launcher(kernel, case, tile, a, b, whole[1:-1])()
    torch.cuda.synchronize()
    for row in (0, m + 1):
        same = whole[row].view(torch.uint8) == before[row].view(torch.uint8)
        assert bool(same.all()), "bytes around the result changed"
    x, y = a.to(torch.float64), b.to(torch.float64)
    scale = x.abs() @ y.abs() + 1e-30
    gap = (whole[1:-1].to(torch.float64) - x @ y).abs() / scale
    return float(gap.nan_to_num(nan=float("inf")).max())


def tolerance(case: Case) -> float:
    if case.dtype == "int8":
        return 0.0
    if case.dtype == "fp32":
        return 2e-3 if case.precision == "tf32" else 2e-6
    return 5e-3


def milliseconds(run: Any, seconds: float) -> float:
    """Median over short bursts, with pauses, that take about `seconds` together."""
    run()
    torch.cuda.synchronize()
    once = max(_timed(run, 3) / 3, 1e-3)
    count = max(1, min(10, int(5 / once)))
    rounds = max(3, min(12, int(seconds * 1e3 / (once * count + 20))))
    found: list[float] = []
    for _ in range(rounds):
        time.sleep(0.02)
        _timed(run, 1)
        found.append(_timed(run, count) / count)
    return statistics.median(found)


def _timed(run: Any, count: int) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        run()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end))


def vendor(case: Case, a: torch.Tensor, b: torch.Tensor) -> Any:
    """PyTorch's product, if it has one for these operands."""
    if case.dtype == "fp8e4nv":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    if case.dtype == "int8":
        return lambda: torch._int_mm(a, b)
    return lambda: torch.mm(a, b)


def timed(case: Case, mine: Any, peer: Any, seconds: float) -> dict[str, Any]:
    a, b = operands(case)
    m, n, k = case.sizes
    c = torch.empty((m, n), device="cuda", dtype=output_type(case))
    rate = lambda ms: round(2e-9 * m * n * k / ms, 1)
    row: dict[str, Any] = {"case": str(case)}
    try:
        row["torch"] = rate(milliseconds(vendor(case, a, b), seconds))
    except Exception as error:
        row["torch"] = f"{type(error).__name__}: {error}"[:200]
    for name, module in (("tritium", mine), ("triton", peer)):
        if module is None:
            continue
        found: dict[str, Any] = {}
        for which in ("by_index", "advancing"):
            tiles = TILES[case.dtype] if which == "by_index" else TILES[case.dtype][:2]
            for tile in tiles:
                label = f"{which} {'x'.join(map(str, tile[:3]))} w{tile[3]} s{tile[4]}"
                try:
                    run = launcher(getattr(module, which), case, tile, a, b, c)
                    found[label] = rate(milliseconds(run, seconds))
                except Exception as error:
                    found[label] = f"{type(error).__name__}: {str(error).splitlines()[0]}"[:160]
        row[name] = found
        rates = [v for v in found.values() if not isinstance(v, str)]
        row[f"{name} best"] = max(rates, default=None)
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?")
    parser.add_argument("--seconds", type=float, default=0.2, help="per measurement")
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    report: dict[str, Any] = {"device": torch.cuda.get_device_name(), "checks": {}, "times": []}
    with tempfile.TemporaryDirectory() as folder:
        mine = kernels("tritium", Path(folder))
        has_peer = not args.no_peer and importlib.util.find_spec("triton") is not None
        peer = kernels("triton", Path(folder)) if has_peer else None
        for case, tile in CHECKED:
            for which in ("by_index", "advancing"):
                label = f"{case} {which} in {tile}"
                try:
                    error = error_of(getattr(mine, which), case, tile)
                    verdict = "ok" if error <= tolerance(case) else "WRONG"
                    report["checks"][label] = f"{verdict} {error:.2e}"
                except Exception as error:
                    report["checks"][label] = traceback.format_exception_only(error)[-1][:300]
                print(label, report["checks"][label], flush=True)
        for case in TIMED:
            if args.only in str(case):
                report["times"].append(timed(case, mine, peer, args.seconds))
                print(json.dumps(report["times"][-1]), flush=True)
    if args.out:
        Path(args.out).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
