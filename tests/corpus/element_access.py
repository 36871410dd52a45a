"""What NumPy users write on blocks and Triton refuses: x[3], x[2:5], chained comparisons."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import any_values, normals, placed, poisoned
from .protocol import Args, Case, Launch


@triton.jit
def pick_elements(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr + row * 3 + 0, x[3])
    tl.store(out_ptr + row * 3 + 1, x[0] + x[1])
    tl.store(out_ptr + row * 3 + 2, x[-1])


@triton.jit
def slice_vector(x_ptr, out_ptr, sum_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    middle = x[2:5]
    tl.store(out_ptr + row * 3 + tl.arange(0, 3), middle)
    tl.store(sum_ptr + row, tl.sum(x[:4], axis=0) - tl.sum(x[4:], axis=0))


@triton.jit
def matrix_parts(x_ptr, row_ptr, col_ptr, cell_ptr, corner_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    tl.store(row_ptr + cols, x[1])
    tl.store(col_ptr + rows, x[:, 2])
    tl.store(cell_ptr, x[1, 2])
    corner = x[0:2, 1:4]
    tl.store(corner_ptr + tl.arange(0, 2)[:, None] * 3 + tl.arange(0, 3)[None, :], corner)


@triton.jit
def inside_interval(x_ptr, strict_ptr, loose_ptr, low, high, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=0 <= at < n)
    tl.store(strict_ptr + at, (low < x < high).to(tl.int32), mask=at < n)
    tl.store(loose_ptr + at, tl.where(low <= x <= high, x, 0.0), mask=at < n)


@triton.jit
def scalar_chain(out_ptr, n):
    pid = tl.program_id(0)
    if 2 <= pid < n:
        tl.store(out_ptr + pid, 1)
    else:
        tl.store(out_ptr + pid, 0)


def _rows(m: int, block: int, **outputs: tuple[int, ...]):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, (m, block), np.int32))
        return Launch(
            {"x_ptr": x, **{name: poisoned(shape, x.dtype) for name, shape in outputs.items()}}, (m,)
        )

    return make


def _picked(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {"out_ptr": np.stack([x[:, 3], x[:, 0] + x[:, 1], x[:, -1]], axis=1)}


def _sliced(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    total = x[:, :4].sum(axis=1, dtype=np.int32) - x[:, 4:].sum(axis=1, dtype=np.int32)
    return {"out_ptr": x[:, 2:5].copy(), "sum_ptr": total}


def _matrix(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32))
        shapes = {"row_ptr": n, "col_ptr": m, "cell_ptr": 1, "corner_ptr": (2, 3)}
        return Launch({"x_ptr": x, **{name: poisoned(shape, x.dtype) for name, shape in shapes.items()}})

    return make


def _parts(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    return {
        "row_ptr": x[1].copy(),
        "col_ptr": x[:, 2].copy(),
        "cell_ptr": x[1, 2:3].copy(),
        "corner_ptr": x[0:2, 1:4].copy(),
    }


def _interval(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = any_values(rng, n, np.float32)
        x[:: max(1, n // 4)] = 0.5
        args: Args = {
            "x_ptr": placed(x),
            "strict_ptr": poisoned(n, np.int32),
            "loose_ptr": poisoned(n, np.float32),
        }
        return Launch(args | {"low": -1.0, "high": 0.5, "n": n}, (triton.cdiv(n, 32),))

    return make


def _interval_reference(args: Args) -> dict[str, np.ndarray]:
    x, low, high = args["x_ptr"], np.float32(args["low"]), np.float32(args["high"])
    loose = np.where((low <= x) & (x <= high), x, np.float32(0))
    return {"strict_ptr": ((low < x) & (x < high)).astype(np.int32), "loose_ptr": loose}


def _chain(programs: int, n: int):
    return lambda rng: Launch({"out_ptr": poisoned(programs, np.int32), "n": n}, (programs,))


def _chain_reference(args: Args) -> dict[str, np.ndarray]:
    pid = np.arange(len(args["out_ptr"]))
    return {"out_ptr": ((pid >= 2) & (pid < args["n"])).astype(np.int32)}


def _case(kernel, label: object, make, reference, constexprs=None) -> Case:
    name = f"element_access/{kernel.__name__}/{label}"
    return Case(name, kernel, make, reference, constexprs=constexprs or {}, tags=frozenset({"extension"}))


CASES = [
    _case(pick_elements, f"{m}x{b}", _rows(m, b, out_ptr=(m, 3)), _picked, {"BLOCK": b})
    for m, b in ((1, 4), (5, 16), (3, 24))
]
CASES += [
    _case(slice_vector, f"{m}x{b}", _rows(m, b, out_ptr=(m, 3), sum_ptr=(m,)), _sliced, {"BLOCK": b})
    for m, b in ((1, 8), (5, 16), (3, 17))
]
CASES += [
    _case(matrix_parts, f"{m}x{n}", _matrix(m, n), _parts, {"ROWS": m, "COLS": n})
    for m, n in ((2, 4), (8, 16), (5, 7))
]
CASES += [_case(inside_interval, n, _interval(n), _interval_reference, {"BLOCK": 32}) for n in (1, 40, 101)]
CASES += [_case(scalar_chain, f"{p}-{n}", _chain(p, n), _chain_reference) for p, n in ((1, 1), (9, 7))]
