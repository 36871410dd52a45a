"""Copies between arrays of any strides: transposed, zero, negative, with gaps, and 3-D permutations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, element_strides, placed, poisoned
from .protocol import Args, Case, Launch


@triton.jit
def copy_strided(src_ptr, dst_ptr, n, src_stride, dst_stride, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    value = tl.load(src_ptr + index * src_stride, mask=inside)
    tl.store(dst_ptr + index * dst_stride, value, mask=inside)


@triton.jit
def copy_matrix(
    src_ptr, dst_ptr, M, N, src_row, src_col, dst_row, dst_col, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    value = tl.load(src_ptr + rows[:, None] * src_row + cols[None, :] * src_col, mask=inside)
    tl.store(dst_ptr + rows[:, None] * dst_row + cols[None, :] * dst_col, value, mask=inside)


@triton.jit
def copy_volume(src_ptr, dst_ptr, N, src_0, src_1, src_2, dst_0, dst_1, dst_2, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    second = tl.program_id(1)
    third = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    src = src_ptr + first * src_0 + second * src_1 + third * src_2
    dst = dst_ptr + first * dst_0 + second * dst_1 + third * dst_2
    tl.store(dst, tl.load(src, mask=third < N), mask=third < N)


def _same(args: Args) -> dict[str, np.ndarray]:
    return {"dst_ptr": args["src_ptr"]}


def _vector(n: int, dtype: str, src: int, dst: int, block: int):
    def make(rng: np.random.Generator) -> Launch:
        values = any_values(rng, n, DTYPES[dtype])
        if src == 0:
            values[...] = values[0]
        a, out = placed(values, (src,)), poisoned(n, values.dtype, (dst,))
        args = {"src_ptr": a, "dst_ptr": out, "n": n, "src_stride": src, "dst_stride": dst}
        return Launch(args, (triton.cdiv(n, block),))

    return make


def _matrix(m: int, n: int, dtype: str, src: Sequence[int], dst: Sequence[int], rows: int, cols: int):
    def make(rng: np.random.Generator) -> Launch:
        values = any_values(rng, (m, n), DTYPES[dtype])
        if src[0] == 0:
            values[...] = values[0]
        if src[1] == 0:
            values[...] = values[:, :1]
        a, out = placed(values, src), poisoned((m, n), values.dtype, dst)
        args = {"src_ptr": a, "dst_ptr": out, "M": m, "N": n}
        args |= dict(zip(("src_row", "src_col"), src, strict=True))
        args |= dict(zip(("dst_row", "dst_col"), dst, strict=True))
        return Launch(args, (triton.cdiv(m, rows), triton.cdiv(n, cols)))

    return make


def _read_only(rng: np.random.Generator) -> Launch:
    row = any_values(rng, 30, np.float32)
    src = np.broadcast_to(row, (13, 30))
    out = poisoned((13, 30), np.float32)
    args = {"src_ptr": src, "dst_ptr": out, "M": 13, "N": 30}
    args |= dict(zip(("src_row", "src_col"), element_strides(src), strict=True))
    args |= dict(zip(("dst_row", "dst_col"), element_strides(out), strict=True))
    return Launch(args, (2, 2))


def _volume(shape: tuple[int, int, int], axes: tuple[int, int, int], block: int):
    def make(rng: np.random.Generator) -> Launch:
        src = placed(any_values(rng, shape, np.int32)).transpose(axes)
        out = poisoned(src.shape, src.dtype)
        args = {"src_ptr": src, "dst_ptr": out, "N": src.shape[2]}
        args |= {f"src_{i}": s for i, s in enumerate(element_strides(src))}
        args |= {f"dst_{i}": s for i, s in enumerate(element_strides(out))}
        return Launch(args, (src.shape[0], src.shape[1], triton.cdiv(src.shape[2], block)))

    return make


VECTORS = [
    ("contiguous", 1, "f32", 1, 1),
    ("gaps", 97, "f32", 3, 2),
    ("reversed", 40, "f32", -1, 1),
    ("reversed-out", 131, "i16", 1, -2),
    ("broadcast", 50, "f16", 0, 1),
    ("contiguous-large", 70_001, "u8", 1, 1),
]
MATRICES = [
    ("row-major", 24, 40, "f32", (40, 1), (40, 1)),
    ("transposed", 17, 31, "f32", (1, 17), (31, 1)),
    ("transpose-out", 33, 24, "f16", (24, 1), (1, 33)),
    ("padded-rows", 1, 97, "f64", (104, 1), (97, 1)),
    ("zero-row-stride", 19, 23, "f32", (0, 1), (23, 1)),
    ("zero-col-stride", 19, 23, "i64", (1, 0), (23, 1)),
    ("negative-both", 21, 35, "f32", (-35, -1), (35, 1)),
    ("negative-rows", 40, 24, "bf16", (-24, 1), (24, 1)),
    ("gaps", 9, 50, "i8", (200, 3), (150, 2)),
]
CASES = [
    Case(
        f"strided_copy/copy_strided/{name}",
        copy_strided,
        _vector(n, d, s, t, 64),
        _same,
        constexprs={"BLOCK": 64},
    )
    for name, n, d, s, t in VECTORS
]
CASES += [
    Case(
        f"strided_copy/copy_matrix/{name}",
        copy_matrix,
        _matrix(m, n, d, s, t, 8, 16),
        _same,
        constexprs={"ROWS": 8, "COLS": 16},
    )
    for name, m, n, d, s, t in MATRICES
]
CASES += [
    Case(
        "strided_copy/copy_matrix/large",
        copy_matrix,
        _matrix(511, 700, "f32", (1, 511), (700, 1), 32, 64),
        _same,
        constexprs={"ROWS": 32, "COLS": 64},
        tags=frozenset({"large"}),
    ),
    Case(
        "strided_copy/copy_matrix/read-only",
        copy_matrix,
        _read_only,
        _same,
        constexprs={"ROWS": 8, "COLS": 16},
        tags=frozenset({"read-only"}),
    ),
]
CASES += [
    Case(
        f"strided_copy/copy_volume/{''.join(map(str, axes))}",
        copy_volume,
        _volume(shape, axes, 16),
        _same,
        constexprs={"BLOCK": 16},
    )
    for shape, axes in [
        ((3, 5, 40), (0, 1, 2)),
        ((3, 5, 24), (2, 0, 1)),
        ((7, 1, 19), (1, 2, 0)),
        ((2, 3, 4), (2, 1, 0)),
    ]
]
