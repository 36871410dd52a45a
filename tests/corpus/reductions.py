"""Reductions: long rows, columns, extremes with indices, every type, custom combine functions, loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, integers, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def row_sum_long(x_ptr, out_ptr, N, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    partial = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        partial += tl.load(x_ptr + row * row_stride + cols, mask=cols < N, other=0.0)
    tl.store(out_ptr + row, tl.sum(partial, axis=0))


@triton.jit
def column_sum(x_ptr, out_ptr, M, N, row_stride, col_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, M, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        at = rows[:, None] * row_stride + cols[None, :] * col_stride
        total += tl.sum(tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32), axis=0)
    tl.store(out_ptr + cols, total, mask=cols < N)


@triton.jit
def row_max_with_index(x_ptr, max_ptr, index_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=-float("inf"))
    value, index = tl.max(x, axis=1, return_indices=True)
    tl.store(max_ptr + rows, value, mask=rows < M)
    tl.store(index_ptr + rows, index, mask=rows < M)


@triton.jit
def row_argmin(x_ptr, index_ptr, N, BLOCK: tl.constexpr, BEYOND: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=BEYOND)
    tl.store(index_ptr + row, tl.argmin(x, axis=0))


@triton.jit
def sum_max_min(x_ptr, sum_ptr, max_ptr, min_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(sum_ptr, tl.sum(x, axis=0))
    tl.store(max_ptr, tl.max(x, axis=0))
    tl.store(min_ptr, tl.min(x, axis=0))


@triton.jit
def extremes_with_nan(x_ptr, max_ptr, min_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(max_ptr + row, tl.max(x, axis=0))
    tl.store(min_ptr + row, tl.min(x, axis=0))


@triton.jit
def merge_moments(mean_a, spread_a, count_a, mean_b, spread_b, count_b):
    count = count_a + count_b
    gap = mean_b - mean_a
    share = tl.where(count > 0, count_b / tl.maximum(count, 1.0), 0.0)
    return mean_a + gap * share, spread_a + spread_b + gap * gap * count_a * share, count


@triton.jit
def row_moments(x_ptr, mean_ptr, variance_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=inside, other=0.0)
    count = tl.where(inside, 1.0, 0.0)
    mean, spread, total = tl.reduce((x, tl.zeros_like(x), count), 0, merge_moments)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, spread / total)


@triton.jit
def volume_sums(x_ptr, middle_ptr, all_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    middle = tl.sum(x, axis=1, keep_dims=True)
    tl.store(middle_ptr + a * C + c, middle)
    tl.store(all_ptr, tl.sum(x))


@triton.jit
def bit_reductions(x_ptr, xor_ptr, count_ptr, any_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.store(xor_ptr, tl.xor_sum(x, axis=0))
    odd = (x & 1) == 1
    tl.store(count_ptr, tl.sum(odd.to(tl.int32), axis=0))
    tl.store(any_ptr, tl.max(odd.to(tl.int32), axis=0))


@triton.jit
def running_sum(x_ptr, out_ptr, n, ACC: tl.constexpr):
    total = tl.full((), 0.0, ACC)
    for i in range(n):
        total += tl.load(x_ptr + i).to(ACC)
    tl.store(out_ptr, total)


@triton.jit
def ragged_row_mean(x_ptr, length_ptr, out_ptr, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(length_ptr + row)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + cols, mask=cols < length, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / length)


def _rows(kernel, m: int, n: int, pad: int = 0):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32), (n + pad, 1))
        return Launch({"x_ptr": x, "out_ptr": poisoned(m, x.dtype), "N": n, "row_stride": n + pad}, (m,))

    return make


def _columns(m: int, n: int, dtype: str, transposed: bool, cols: int):
    def make(rng: np.random.Generator) -> Launch:
        strides = (1, m) if transposed else (n, 1)
        x = placed(normals(rng, (m, n), DTYPES[dtype]), strides)
        args = {"x_ptr": x, "out_ptr": poisoned(n, np.float32), "M": m, "N": n}
        args |= {"row_stride": strides[0], "col_stride": strides[1]}
        return Launch(args, (triton.cdiv(n, cols),))

    return make


def _sum_over(axis: int) -> Callable[[Args], dict[str, np.ndarray]]:
    return lambda args: {"out_ptr": narrow(wide(args["x_ptr"]).sum(axis=axis), args["out_ptr"].dtype)}


def _ties(m: int, n: int):
    """Few distinct values, so that most rows have several largest elements."""

    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (m, n), np.int8, -3, 3).astype(np.float32))
        args = {
            "x_ptr": x,
            "max_ptr": poisoned(m, np.float32),
            "index_ptr": poisoned(m, np.int32),
            "M": m,
            "N": n,
        }
        return Launch(args, (triton.cdiv(m, 4),))

    return make


def _max_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {"max_ptr": x.max(axis=1), "index_ptr": x.argmax(axis=1).astype(np.int32)}


def _argmin(m: int, n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (m, n), np.int8, -4, 4).astype(DTYPES[dtype]))
        return Launch({"x_ptr": x, "index_ptr": poisoned(m, np.int32), "N": n}, (m,))

    return make


SUM_TYPES = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32", "bool": "u32"}
EXTREME_TYPES = {
    "i8": "i32",
    "i16": "i32",
    "u8": "i32",
    "u16": "i32",
    "bool": "i32",
    "f16": "f32",
    "bf16": "f32",
}


def _typed(dtype: str, block: int):
    def make(rng: np.random.Generator) -> Launch:
        if is_float(DTYPES[dtype]):  # small integers: exact in any order of additions
            x = placed(integers(rng, block, np.int8, -1, 1).astype(DTYPES[dtype]))
        else:
            x = placed(any_values(rng, block, DTYPES[dtype]))
        extreme = DTYPES[EXTREME_TYPES.get(dtype, dtype)]
        args = {"x_ptr": x, "sum_ptr": poisoned(1, DTYPES[SUM_TYPES.get(dtype, dtype)])}
        return Launch(args | {"max_ptr": poisoned(1, extreme), "min_ptr": poisoned(1, extreme)})

    return make


def _typed_reference(args: Args) -> dict[str, np.ndarray]:
    x, total, extreme = args["x_ptr"], args["sum_ptr"].dtype, args["max_ptr"].dtype
    numbers = wide(x) if is_float(x.dtype) else x.astype(total)
    out = {"sum_ptr": narrow(numbers.sum(), total) if is_float(total) else numbers.sum(dtype=total)}
    out |= {"max_ptr": x.max().astype(extreme), "min_ptr": x.min().astype(extreme)}
    return {name: np.array([value], args[name].dtype) for name, value in out.items()}


def _nan_rows(rng: np.random.Generator) -> Launch:
    nan, inf = np.nan, np.inf
    rows = [
        [nan, 6, 8, -inf],
        [5, nan, nan, 5],
        [-inf, -inf, nan, -inf],
        [nan] * 4,
        [1, 2, 3, nan],
        [inf, nan, 0, 1],
    ]
    x = placed(np.array(rows, np.float32))
    return Launch({"x_ptr": x, "max_ptr": poisoned(6, x.dtype), "min_ptr": poisoned(6, x.dtype)}, (6,))


def _nan_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {"max_ptr": np.fmax.reduce(x, axis=1), "min_ptr": np.fmin.reduce(x, axis=1)}


def _moments(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32) + np.float32(10))
        outputs = {"mean_ptr": poisoned(m, x.dtype), "variance_ptr": poisoned(m, x.dtype)}
        return Launch({"x_ptr": x, **outputs, "N": n}, (m,))

    return make


def _moments_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    return {"mean_ptr": narrow(x.mean(1), np.float32), "variance_ptr": narrow(x.var(1), np.float32)}


def _volume(a: int, b: int, c: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (a, b, c), np.float32))
        return Launch({"x_ptr": x, "middle_ptr": poisoned((a, c), x.dtype), "all_ptr": poisoned(1, x.dtype)})

    return make


def _volume_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    return {"middle_ptr": narrow(x.sum(1), np.float32), "all_ptr": narrow(x.sum(), np.float32).reshape(1)}


def _bits(n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, n, DTYPES[dtype]))
        args = {"x_ptr": x, "xor_ptr": poisoned(1, x.dtype), "n": n}
        return Launch(args | {"count_ptr": poisoned(1, np.int32), "any_ptr": poisoned(1, np.int32)})

    return make


def _bits_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    odd = x & 1 == 1
    out = {"xor_ptr": np.bitwise_xor.reduce(x), "count_ptr": odd.sum(), "any_ptr": odd.any()}
    return {name: np.array([value]).astype(args[name].dtype) for name, value in out.items()}


def _tenths(n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(np.full(n, 1e-4).astype(np.float16))
        return Launch({"x_ptr": x, "out_ptr": poisoned(1, DTYPES[dtype]), "n": n})

    return make


def _running_reference(args: Args) -> dict[str, np.ndarray]:
    dtype = args["out_ptr"].dtype
    total = np.zeros((), dtype)
    for value in args["x_ptr"].astype(dtype):
        total = (total + value).astype(dtype)
    return {"out_ptr": total.reshape(1)}


def _ragged(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        lengths = integers(rng, m, np.int32, 1, n)
        values = normals(rng, (m, n), np.float32)
        values[np.arange(n)[None, :] >= lengths[:, None]] = 999.0
        args = {"x_ptr": placed(values), "length_ptr": placed(lengths), "out_ptr": poisoned(m, np.float32)}
        return Launch(args | {"row_stride": n}, (m,))

    return make


def _ragged_reference(args: Args) -> dict[str, np.ndarray]:
    rows = zip(wide(args["x_ptr"]), args["length_ptr"], strict=True)
    return {"out_ptr": narrow(np.array([row[:length].mean() for row, length in rows]), np.float32)}


def _case(kernel, label: str, make, reference, limits: dict[str, float], constexprs, *tags: str) -> Case:
    name = f"reductions/{kernel.__name__}/{label}"
    return Case(name, kernel, make, reference, **limits, constexprs=constexprs, tags=frozenset(tags))


def _cases() -> list[Case]:
    exact: dict[str, float] = {}
    cases = []
    for m, n, pad in ((1, 1, 0), (3, 24, 0), (5, 97, 3), (2, 5000, 0)):
        limits = tolerance(np.float32, terms=n)
        cases.append(
            _case(
                row_sum_long, f"{m}x{n}", _rows(row_sum_long, m, n, pad), _sum_over(1), limits, {"BLOCK": 64}
            )
        )
    limits = tolerance(np.float32, terms=100_000)
    long_rows = _rows(row_sum_long, 4, 1_000_003)
    cases.append(_case(row_sum_long, "large", long_rows, _sum_over(1), limits, {"BLOCK": 1024}, "large"))
    tile = {"ROWS": 8, "COLS": 32}
    for m, n, dtype, transposed in ((1, 1, "f32", False), (40, 24, "f32", True), (101, 67, "f16", False)):
        make = _columns(m, n, dtype, transposed, 32)
        cases.append(
            _case(column_sum, f"{dtype}-{m}x{n}", make, _sum_over(0), tolerance(np.float32, terms=m), tile)
        )
    for m, n in ((1, 1), (9, 24), (6, 61)):
        sizes = {"ROWS": 4, "COLS": triton.next_power_of_2(n)}
        cases.append(_case(row_max_with_index, f"{m}x{n}", _ties(m, n), _max_reference, exact, sizes))
    for m, n, dtype in ((1, 1, "f32"), (7, 40, "f32"), (4, 97, "i32"), (3, 24, "i64")):
        sizes = {"BLOCK": triton.next_power_of_2(n), "BEYOND": float("inf") if dtype == "f32" else 2**31 - 1}
        wanted = lambda args: {"index_ptr": args["x_ptr"].argmin(axis=1).astype(np.int32)}
        cases.append(_case(row_argmin, f"{dtype}-{m}x{n}", _argmin(m, n, dtype), wanted, exact, sizes))
    for dtype in DTYPES:
        if dtype not in ("e4m3", "e5m2"):
            cases.append(
                _case(sum_max_min, dtype, _typed(dtype, 256), _typed_reference, exact, {"BLOCK": 256})
            )
    cases.append(_case(extremes_with_nan, "rows", _nan_rows, _nan_reference, exact, {"BLOCK": 4}))
    for m, n in ((1, 1), (3, 24), (4, 251)):
        sizes = {"BLOCK": triton.next_power_of_2(n)}
        cases.append(
            _case(
                row_moments,
                f"{m}x{n}",
                _moments(m, n),
                _moments_reference,
                {"rtol": 2e-5, "atol": 2e-5},
                sizes,
            )
        )
    for shape in ((2, 4, 8), (1, 16, 2)):
        sizes = dict(zip("ABC", shape, strict=True))
        limits = tolerance(np.float32, terms=64)
        cases.append(
            _case(volume_sums, "x".join(map(str, shape)), _volume(*shape), _volume_reference, limits, sizes)
        )
    for n, dtype in ((1, "i32"), (100, "i32"), (97, "u64")):
        cases.append(
            _case(bit_reductions, f"{dtype}-{n}", _bits(n, dtype), _bits_reference, exact, {"BLOCK": 128})
        )
    for dtype, acc in (("f16", tl.float16), ("f32", tl.float32)):
        tags = ("no-fp32-accumulator",) if dtype == "f16" else ()
        cases.append(
            _case(running_sum, dtype, _tenths(2048, dtype), _running_reference, exact, {"ACC": acc}, *tags)
        )
    for m, n in ((1, 1), (5, 24), (6, 40)):
        sizes = {"BLOCK": triton.next_power_of_2(n)}
        limits = tolerance(np.float32, terms=n)
        cases.append(_case(ragged_row_mean, f"{m}x{n}", _ragged(m, n), _ragged_reference, limits, sizes))
    return cases


CASES = _cases()
