"""Data-dependent addresses: embedding lookup, scatter-add with duplicates, permutation, gather in a tile."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, integers, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def embedding(id_ptr, table_ptr, out_ptr, WIDTH, PADDING: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(id_ptr + token)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (cols < WIDTH) & (row != PADDING)
    values = tl.load(table_ptr + row * WIDTH + cols, mask=inside, other=0.0)
    tl.store(out_ptr + token * WIDTH + cols, values, mask=cols < WIDTH)


@triton.jit
def scatter_add(index_ptr, value_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    index = tl.load(index_ptr + at, mask=inside, other=0)
    value = tl.load(value_ptr + at, mask=inside)
    tl.atomic_add(out_ptr + index, value, mask=inside)


@triton.jit
def permute_rows(order_ptr, x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    target = tl.load(order_ptr + rows, mask=rows < M, other=0)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside)
    tl.store(out_ptr + target[:, None] * N + cols[None, :], x, mask=inside)


@triton.jit
def gather_in_tile(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, PICKS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    x = tl.load(x_ptr + rows * COLS + tl.arange(0, COLS)[None, :])
    picks = tl.arange(0, PICKS)[None, :]
    index = tl.load(index_ptr + rows * PICKS + picks)
    tl.store(out_ptr + rows * PICKS + picks, tl.gather(x, index, axis=1))


@triton.jit
def paged_sum(table_ptr, page_ptr, length_ptr, out_ptr, max_pages, PAGE: tl.constexpr):
    sequence = tl.program_id(0)
    length = tl.load(length_ptr + sequence)
    total = tl.zeros((PAGE,), dtype=tl.float32)
    for logical in range(0, tl.cdiv(length, PAGE)):
        physical = tl.load(table_ptr + sequence * max_pages + logical).to(tl.int64)
        slot = tl.arange(0, PAGE)
        live = logical * PAGE + slot < length
        total += tl.load(page_ptr + physical * PAGE + slot, mask=live, other=0.0)
    tl.store(out_ptr + sequence, tl.sum(total, axis=0))


def _embedding(tokens: int, words: int, width: int, dtype: str, index: str):
    def make(rng: np.random.Generator) -> Launch:
        ids = placed(integers(rng, tokens, DTYPES[index], 0, words - 1))
        table = placed(normals(rng, (words, width), DTYPES[dtype]))
        args = {
            "id_ptr": ids,
            "table_ptr": table,
            "out_ptr": poisoned((tokens, width), table.dtype),
            "WIDTH": width,
        }
        return Launch(args, (tokens, triton.cdiv(width, 32)))

    return make


def _looked_up(args: Args) -> dict[str, np.ndarray]:
    out = args["table_ptr"][args["id_ptr"]]
    out[args["id_ptr"] == args["PADDING"]] = 0
    return {"out_ptr": out}


def _scatter(n: int, cells: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        index = placed(integers(rng, n, np.int32, 0, cells - 1))
        small = is_float(DTYPES[dtype])  # whole numbers: exact in any order of additions
        value = integers(rng, n, np.int8, -3, 3).astype(DTYPES[dtype]) if small else None
        if value is None:
            info = np.iinfo(DTYPES[dtype])
            value = integers(rng, n, DTYPES[dtype], info.min, info.max)
        out = placed(np.zeros(cells, DTYPES[dtype]))
        return Launch(
            {"index_ptr": index, "value_ptr": placed(value), "out_ptr": out, "n": n}, (triton.cdiv(n, 64),)
        )

    return make


def _scattered(args: Args) -> dict[str, np.ndarray]:
    out, value = args["out_ptr"], args["value_ptr"]
    total = wide(out) if is_float(out.dtype) else out.copy()
    np.add.at(total, args["index_ptr"], wide(value) if is_float(out.dtype) else value)
    return {"out_ptr": narrow(total, out.dtype)}


def _permutation(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32))
        order = placed(rng.permutation(m).astype(np.int64))
        args = {"order_ptr": order, "x_ptr": x, "out_ptr": poisoned((m, n), x.dtype), "M": m, "N": n}
        return Launch(args, (triton.cdiv(m, 4),))

    return make


def _permuted(args: Args) -> dict[str, np.ndarray]:
    out = args["out_ptr"]
    out[args["order_ptr"]] = args["x_ptr"]
    return {"out_ptr": out}


def _gather(rows: int, cols: int, picks: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (rows, cols), np.float32))
        index = placed(integers(rng, (rows, picks), np.int32, 0, cols - 1))
        return Launch({"x_ptr": x, "index_ptr": index, "out_ptr": poisoned((rows, picks), x.dtype)})

    return make


def _paged(sequences: int, page: int, max_pages: int):
    def make(rng: np.random.Generator) -> Launch:
        lengths = integers(rng, sequences, np.int32, 0, page * max_pages)
        lengths[0] = page * max_pages
        table = placed(rng.permutation(sequences * max_pages).reshape(sequences, max_pages).astype(np.int32))
        pages = placed(normals(rng, (sequences * max_pages, page), np.float32))
        args = {"table_ptr": table, "page_ptr": pages, "length_ptr": placed(lengths), "max_pages": max_pages}
        return Launch(args | {"out_ptr": poisoned(sequences, np.float32)}, (sequences,))

    return make


def _paged_reference(args: Args) -> dict[str, np.ndarray]:
    rows = wide(args["page_ptr"])[args["table_ptr"]].reshape(len(args["length_ptr"]), -1)
    return {
        "out_ptr": narrow(
            [row[:n].sum() for row, n in zip(rows, args["length_ptr"], strict=True)], np.float32
        )
    }


CASES = [
    Case(
        f"indexing/embedding/{dtype}-{tokens}x{width}-{index}",
        embedding,
        _embedding(tokens, words, width, dtype, index),
        _looked_up,
        constexprs={"PADDING": 0, "BLOCK": 32},
    )
    for tokens, words, width, dtype, index in (
        (1, 1, 1, "f32", "i32"),
        (7, 5, 24, "f32", "i64"),
        (13, 4, 97, "f16", "i32"),
        (9, 50, 40, "bf16", "i32"),
    )
]
CASES += [
    Case(
        f"indexing/scatter_add/{dtype}-{n}-into-{cells}",
        scatter_add,
        _scatter(n, cells, dtype),
        _scattered,
        constexprs={"BLOCK": 64},
        tags=frozenset({"atomic"}),
    )
    for n, cells, dtype in (
        (1, 1, "f32"),
        (97, 3, "f32"),
        (1000, 24, "i32"),
        (200, 5, "u32"),
        (200, 7, "i64"),
        (130, 2, "f16"),
        (130, 2, "bf16"),
        (130, 2, "f64"),
    )
]
CASES += [
    Case(
        f"indexing/permute_rows/{m}x{n}",
        permute_rows,
        _permutation(m, n),
        _permuted,
        constexprs={"ROWS": 4, "COLS": triton.next_power_of_2(n)},
    )
    for m, n in ((1, 1), (24, 40), (17, 5))
]
CASES += [
    Case(
        f"indexing/gather_in_tile/{rows}x{cols}-{picks}",
        gather_in_tile,
        _gather(rows, cols, picks),
        lambda args: {"out_ptr": np.take_along_axis(args["x_ptr"], args["index_ptr"], axis=1)},
        constexprs={"ROWS": rows, "COLS": cols, "PICKS": picks},
    )
    for rows, cols, picks in ((1, 2, 2), (4, 16, 16), (8, 16, 4), (2, 32, 64))
]
CASES += [
    Case(
        f"indexing/paged_sum/{sequences}x{pages}x{page}",
        paged_sum,
        _paged(sequences, page, pages),
        _paged_reference,
        **tolerance(np.float32, terms=page * pages),
        constexprs={"PAGE": page},
    )
    for sequences, page, pages in ((1, 1, 1), (5, 16, 7), (3, 8, 40))
]
