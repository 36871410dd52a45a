"""Tile extents that are no power of two (3, 5, 17, 24, 100, ...), which Triton refuses."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, is_float, normals, placed, poisoned
from .matmul_operands import limits, matmul_launch, product, tiles
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    y = tl.load(y_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, x + y, mask=at < n)


@triton.jit
def add_matrix(x_ptr, y_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = rows[:, None] * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.jit
def reduce_rows(x_ptr, sum_ptr, max_ptr, where_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * COLS + tl.arange(0, COLS)[None, :])
    tl.store(sum_ptr + rows, tl.sum(x, axis=1))
    tl.store(max_ptr + rows, tl.max(x, axis=1))
    tl.store(where_ptr + rows, tl.argmax(x, axis=1))


@triton.jit
def softmax_exact_width(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    weights = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, weights / tl.sum(weights, axis=0))


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def cumsum_and_transpose(x_ptr, scan_ptr, turned_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    tl.store(scan_ptr + rows[:, None] * COLS + cols[None, :], tl.cumsum(x, axis=1))
    tl.store(turned_ptr + cols[:, None] * ROWS + rows[None, :], tl.trans(x))


@triton.jit
def split_and_join(x_ptr, swapped_ptr, PAIRS: tl.constexpr):
    at = tl.arange(0, 2 * PAIRS)
    even, odd = tl.split(tl.load(x_ptr + at).reshape(PAIRS, 2))
    tl.store(swapped_ptr + at, tl.join(odd, even).reshape(2 * PAIRS))


@triton.jit
def best_three(x_ptr, best_ptr, ordered_ptr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(best_ptr + tl.arange(0, K), tl.topk(x, K))
    tl.store(ordered_ptr + tl.arange(0, N), tl.sort(x))


@triton.jit
def arange_from(x_ptr, out_ptr, START: tl.constexpr, END: tl.constexpr):
    at = tl.arange(START, END)
    tl.store(out_ptr + at - START, tl.load(x_ptr + at))


def _vectors(n: int, block: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(any_values(rng, n, DTYPES[dtype])) for _ in range(2))
        return Launch(
            {"x_ptr": x, "y_ptr": y, "out_ptr": poisoned(n, x.dtype), "n": n}, (triton.cdiv(n, block),)
        )

    return make


def _sum(args: Args) -> dict[str, np.ndarray]:
    x, y = args["x_ptr"], args["y_ptr"]
    return {"out_ptr": narrow(wide(x) + wide(y), x.dtype) if is_float(x.dtype) else x + y}


def _matrices(m: int, n: int, rows: int, cols: int):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(any_values(rng, (m, n), np.float32)) for _ in range(2))
        args = {"x_ptr": x, "y_ptr": y, "out_ptr": poisoned((m, n), x.dtype), "M": m, "N": n}
        return Launch(args, (triton.cdiv(m, rows), triton.cdiv(n, cols)))

    return make


def _rows(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32))
        outputs = {
            "sum_ptr": poisoned(m, x.dtype),
            "max_ptr": poisoned(m, x.dtype),
            "where_ptr": poisoned(m, np.int32),
        }
        return Launch({"x_ptr": x, **outputs})

    return make


def _rows_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {
        "sum_ptr": narrow(wide(x).sum(axis=1), np.float32),
        "max_ptr": x.max(axis=1),
        "where_ptr": x.argmax(axis=1).astype(np.int32),
    }


def _softmax(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32, scale=3))
        return Launch({"x_ptr": x, "out_ptr": poisoned((m, n), x.dtype)}, (m,))

    return make


def _softmax_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return {"out_ptr": narrow(weights / weights.sum(axis=1, keepdims=True), np.float32)}


def _scan(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(rng.integers(-100, 100, (m, n)).astype(np.int32))
        return Launch(
            {"x_ptr": x, "scan_ptr": poisoned((m, n), x.dtype), "turned_ptr": poisoned((n, m), x.dtype)}
        )

    return make


def _scan_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {"scan_ptr": np.cumsum(x, axis=1, dtype=np.int32), "turned_ptr": np.ascontiguousarray(x.T)}


def _pairs(pairs: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, (pairs, 2), np.int32))
        return Launch({"x_ptr": x, "swapped_ptr": poisoned((pairs, 2), x.dtype)})

    return make


def _ranking(n: int, k: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, n, np.int32))
        return Launch({"x_ptr": x, "best_ptr": poisoned(k, x.dtype), "ordered_ptr": poisoned(n, x.dtype)})

    return make


def _ranking_reference(args: Args) -> dict[str, np.ndarray]:
    ordered = np.sort(args["x_ptr"])
    return {"best_ptr": ordered[::-1][: args["K"]].copy(), "ordered_ptr": ordered}


def _span(start: int, end: int):
    def make(rng: np.random.Generator) -> Launch:
        return Launch(
            {"x_ptr": placed(any_values(rng, end + 1, np.int32)), "out_ptr": poisoned(end - start, np.int32)}
        )

    return make


def _case(kernel, label: object, make, reference, constexprs, *tags: str, **bounds: float) -> Case:
    name = f"odd_extents/{kernel.__name__}/{label}"
    return Case(
        name, kernel, make, reference, **bounds, constexprs=constexprs, tags=frozenset({"extension", *tags})
    )


def _cases() -> list[Case]:
    cases = []
    for n, block, dtype in (
        (7, 3, "f32"),
        (24, 5, "i8"),
        (97, 17, "f16"),
        (1000, 100, "f32"),
        (41, 24, "bf16"),
        (10, 6, "i64"),
    ):
        cases.append(_case(add, f"{dtype}-{n}-by-{block}", _vectors(n, block, dtype), _sum, {"BLOCK": block}))
    for m, n, rows, cols in ((5, 9, 3, 5), (40, 24, 17, 7), (31, 105, 1, 100)):
        sizes = {"ROWS": rows, "COLS": cols}
        cases.append(_case(add_matrix, f"{m}x{n}-by-{rows}x{cols}", _matrices(m, n, rows, cols), _sum, sizes))
    for m, n in ((3, 5), (1, 17), (5, 100), (100, 3), (7, 24)):
        sizes, bounds = {"ROWS": m, "COLS": n}, tolerance(np.float32, n)
        cases.append(_case(reduce_rows, f"{m}x{n}", _rows(m, n), _rows_reference, sizes, **bounds))
    for m, n in ((4, 3), (5, 17), (3, 100)):
        make = _softmax(m, n)
        cases.append(
            _case(softmax_exact_width, f"{m}x{n}", make, _softmax_reference, {"N": n}, rtol=5e-6, atol=1e-7)
        )
    for shape, tile, dtype in (
        ((5, 7, 3), (5, 7, 3), "f32"),
        ((10, 9, 8), (3, 5, 3), "f32"),
        ((34, 48, 80), (17, 24, 40), "f32"),
        ((97, 100, 101), (48, 48, 48), "f16"),
        ((65, 130, 50), (40, 100, 24), "bf16"),
        ((1, 3, 17), (1, 3, 5), "f16"),
    ):
        make = matmul_launch(shape, tiles(tile[0], tile[1]), dtype)
        label = f"{dtype}-{'x'.join(map(str, shape))}-by-{'x'.join(map(str, tile))}"
        sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
        tags = ("dot", *(["small-dot"] if tile[2] < 16 else []))
        cases.append(_case(matmul, label, make, product, sizes, *tags, **limits(dtype, shape[2])))
    for m, n in ((3, 5), (17, 24), (1, 100)):
        sizes = {"ROWS": m, "COLS": n}
        cases.append(_case(cumsum_and_transpose, f"{m}x{n}", _scan(m, n), _scan_reference, sizes))
    for pairs in (3, 17, 50):
        wanted = lambda args: {"swapped_ptr": args["x_ptr"][:, ::-1].copy()}
        cases.append(_case(split_and_join, pairs, _pairs(pairs), wanted, {"PAIRS": pairs}))
    for n, k in ((8, 3), (5, 1), (17, 5), (100, 7)):
        cases.append(_case(best_three, f"{n}-{k}", _ranking(n, k), _ranking_reference, {"N": n, "K": k}))
    for start, end in ((0, 3), (5, 22), (7, 107)):
        wanted = lambda args: {"out_ptr": args["x_ptr"][args["START"] : args["END"]].copy()}
        cases.append(
            _case(arange_from, f"{start}-{end}", _span(start, end), wanted, {"START": start, "END": end})
        )
    return cases


CASES = _cases()
