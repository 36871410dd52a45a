"""Matrix addition on a 2-D grid, and a row vector or column vector added to a matrix."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, element_strides, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def matrix_add(
    x_ptr,
    y_ptr,
    out_ptr,
    M,
    N,
    x_row,
    x_col,
    y_row,
    y_col,
    out_row,
    out_col,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + rows[:, None] * x_row + cols[None, :] * x_col, mask=inside)
    y = tl.load(y_ptr + rows[:, None] * y_row + cols[None, :] * y_col, mask=inside)
    tl.store(out_ptr + rows[:, None] * out_row + cols[None, :] * out_col, x + y, mask=inside)


@triton.jit
def add_row_and_column(x_ptr, row_ptr, col_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = rows[:, None] * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    row = tl.load(row_ptr + cols, mask=cols < N, other=0.0)
    col = tl.load(col_ptr + rows, mask=rows < M, other=0.0)
    tl.store(out_ptr + at, x + row + col[:, None], mask=inside)


def _sum(args: Args) -> dict[str, np.ndarray]:
    x, y = args["x_ptr"], args["y_ptr"]
    return {"out_ptr": narrow(wide(x) + wide(y), x.dtype) if is_float(x.dtype) else x + y}


def _make(m: int, n: int, dtype: str, strides: tuple, tile: tuple[int, int]):
    def make(rng: np.random.Generator) -> Launch:
        arrays = [placed(any_values(rng, (m, n), DTYPES[dtype]), s) for s in strides[:2]]
        arrays.append(poisoned((m, n), DTYPES[dtype], strides[2]))
        args: Args = {"M": m, "N": n}
        for name, array in zip(("x", "y", "out"), arrays, strict=True):
            args[f"{name}_ptr"] = array
            args[f"{name}_row"], args[f"{name}_col"] = element_strides(array)
        return Launch(args, (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1])))

    return make


def _vectors(m: int, n: int, tile: tuple[int, int]):
    def make(rng: np.random.Generator) -> Launch:
        x, row, col = (placed(normals(rng, s, np.float32)) for s in ((m, n), n, m))
        args = {
            "x_ptr": x,
            "row_ptr": row,
            "col_ptr": col,
            "out_ptr": poisoned((m, n), x.dtype),
            "M": m,
            "N": n,
        }
        return Launch(args, (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1])))

    return make


def _vectors_reference(args: Args) -> dict[str, np.ndarray]:
    total = wide(args["x_ptr"]) + wide(args["row_ptr"]) + wide(args["col_ptr"])[:, None]
    return {"out_ptr": narrow(total, np.float32)}


SPECS = [
    ("one", 1, 1, "f32", (None, None, None), (8, 16)),
    ("odd-eights", 24, 40, "f32", (None, None, None), (8, 16)),
    ("primes", 31, 17, "f16", (None, None, None), (16, 16)),
    ("transposed-y", 19, 45, "f32", (None, (1, 19), None), (8, 32)),
    ("broadcast-y", 21, 24, "i32", (None, (0, 0), None), (4, 16)),
    ("negative-x", 20, 33, "f64", ((-33, -1), None, None), (8, 8)),
    ("padded", 24, 24, "bf16", ((40, 1), (24, 1), (32, 1)), (16, 16)),
    ("column-tile", 67, 3, "i8", (None, None, (1, 67)), (32, 1)),
]


def _cases() -> list[Case]:
    cases = []
    for name, m, n, dtype, strides, tile in SPECS:
        make = _make(m, n, dtype, strides, tile)
        if name == "broadcast-y":
            make = _constant_y(make)
        sizes = dict(zip(("ROWS", "COLS"), tile, strict=True))
        cases.append(Case(f"matrix_add/matrix_add/{name}", matrix_add, make, _sum, constexprs=sizes))
    large = _make(700, 1025, "f32", (None, (1, 700), None), (32, 64))
    cases.append(
        Case(
            "matrix_add/matrix_add/large",
            matrix_add,
            large,
            _sum,
            constexprs={"ROWS": 32, "COLS": 64},
            tags=frozenset({"large"}),
        )
    )
    cases += [
        Case(
            f"matrix_add/add_row_and_column/{m}x{n}",
            add_row_and_column,
            _vectors(m, n, (8, 32)),
            _vectors_reference,
            **tolerance(np.float32, terms=3),
            constexprs={"ROWS": 8, "COLS": 32},
        )
        for m, n in ((1, 1), (24, 40), (13, 101))
    ]
    return cases


def _constant_y(make):
    def constant(rng: np.random.Generator) -> Launch:
        launch = make(rng)
        launch.args["y_ptr"][...] = 12345
        return launch

    return constant


CASES = _cases()
