"""Sorting rows, top k, sorting permutations, histograms."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, integers, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch


@triton.jit
def sort_rows(x_ptr, out_ptr, N, BEYOND: tl.constexpr, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=BEYOND)
    tl.store(out_ptr + row * N + cols, tl.sort(x, descending=DESCENDING), mask=cols < N)


@triton.jit
def topk_rows(
    x_ptr, out_ptr, M, N, BEYOND: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=BEYOND)
    best = tl.topk(x, K)
    tl.store(out_ptr + rows[:, None] * K + tl.arange(0, K)[None, :], best, mask=rows[:, None] < M)


@triton.jit
def argsort_rows(x_ptr, index_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=2147483647)
    # The index in the low half makes keys distinct, so an unstable sort still gives the stable order.
    packed = (x.to(tl.int64) << 32) | cols.to(tl.int64)
    order = (tl.sort(packed) & 0xFFFFFFFF).to(tl.int32)
    tl.store(index_ptr + row * N + cols, order, mask=cols < N)


@triton.jit
def histogram(x_ptr, count_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    counts = tl.histogram(x, BINS, mask=inside & (x >= 0) & (x < BINS))
    tl.atomic_add(count_ptr + tl.arange(0, BINS), counts)


def _rows(m: int, n: int, dtype: str, grid: int):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        values = normals(rng, (m, n), kind) if is_float(kind) else any_values(rng, (m, n), kind)
        if dtype == "f32" and n > 4:
            values[:, 1], values[:, 3], values[:, 4] = -np.inf, values[:, 0], np.inf
        args = {"x_ptr": placed(values), "out_ptr": poisoned((m, n), kind), "N": n}
        return Launch(args, (triton.cdiv(m, grid),))

    return make


def _top(m: int, n: int, dtype: str, k: int):
    rows = _rows(m, n, dtype, 2)

    def make(rng: np.random.Generator) -> Launch:
        launch = rows(rng)
        launch.args |= {"M": m, "out_ptr": poisoned((m, k), DTYPES[dtype])}
        return launch

    return make


def _sorted(args: Args) -> dict[str, np.ndarray]:
    ordered = np.sort(args["x_ptr"], axis=1)
    return {"out_ptr": ordered[:, ::-1].copy() if args["DESCENDING"] else ordered}


def _largest(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": np.sort(args["x_ptr"], axis=1)[:, ::-1][:, : args["K"]].copy()}


def _few_values(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (m, n), np.int32, -5, 5))
        return Launch({"x_ptr": x, "index_ptr": poisoned((m, n), np.int32), "N": n}, (m,))

    return make


def _stable_order(args: Args) -> dict[str, np.ndarray]:
    return {"index_ptr": np.argsort(args["x_ptr"], axis=1, kind="stable").astype(np.int32)}


def _samples(n: int, dtype: str, bins: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, n, DTYPES[dtype], 0 if dtype[0] == "u" else -3, bins + 3))
        return Launch(
            {"x_ptr": x, "count_ptr": placed(np.zeros(bins, np.int32)), "n": n}, (triton.cdiv(n, 128),)
        )

    return make


def _counts(args: Args) -> dict[str, np.ndarray]:
    x, bins = args["x_ptr"].astype(np.int64), args["BINS"]
    return {"count_ptr": np.bincount(x[(x >= 0) & (x < bins)], minlength=bins).astype(np.int32)}


def _last(dtype: str) -> float | int:
    return float("inf") if is_float(DTYPES[dtype]) else int(np.iinfo(DTYPES[dtype]).max)


def _first(dtype: str) -> float | int:
    return -float("inf") if is_float(DTYPES[dtype]) else int(np.iinfo(DTYPES[dtype]).min)


def _cases() -> list[Case]:
    cases = []
    for m, n, dtype in (
        (3, 2, "f32"),
        (2, 24, "f32"),
        (3, 97, "i32"),
        (2, 40, "f16"),
        (2, 61, "i64"),
        (1, 64, "u8"),
    ):
        for descending in (False, True):
            name = f"sorting/sort_rows/{dtype}-{m}x{n}{'-descending' if descending else ''}"
            beyond = _first(dtype) if descending else _last(dtype)
            sizes = {"BEYOND": beyond, "BLOCK": triton.next_power_of_2(n), "DESCENDING": descending}
            cases.append(Case(name, sort_rows, _rows(m, n, dtype, 1), _sorted, constexprs=sizes))
    for m, n, dtype, k in ((3, 24, "f32", 4), (5, 40, "i32", 8), (2, 64, "f32", 2), (3, 97, "f32", 16)):
        name = f"sorting/topk_rows/{dtype}-{m}x{n}-k{k}"
        sizes = {"BEYOND": _first(dtype), "K": k, "ROWS": 2, "COLS": triton.next_power_of_2(n)}
        cases.append(Case(name, topk_rows, _top(m, n, dtype, k), _largest, constexprs=sizes))
    for m, n in ((2, 24), (3, 61)):
        name, sizes = f"sorting/argsort_rows/{m}x{n}", {"BLOCK": triton.next_power_of_2(n)}
        cases.append(Case(name, argsort_rows, _few_values(m, n), _stable_order, constexprs=sizes))
    for n, dtype, bins in ((1, "i32", 2), (300, "i32", 16), (997, "u8", 64), (40, "i64", 8), (256, "i8", 4)):
        name, sizes = f"sorting/histogram/{dtype}-{n}-{bins}", {"BINS": bins, "BLOCK": 128}
        tags = frozenset({"atomic"})
        cases.append(Case(name, histogram, _samples(n, dtype, bins), _counts, constexprs=sizes, tags=tags))
    return cases


CASES = _cases()
