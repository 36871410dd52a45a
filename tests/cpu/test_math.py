"""Mathematical functions against exact values: the errors that `vector_math` promises, special values to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.edges import edge_values
from tritium.ir.core import Function
from tritium.ir.types import float32, float64, int32
from tritium.numerics import special
from tritium.ops import math
from tritium.ops.arithmetic import Add, Mul
from tritium.ops.base import TileOp
from tritium.ops.control import Return
from tritium.ops.create import Arange, Constant, ProgramId
from tritium.ops.libdevice import LibraryCall
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.shape import Broadcast

from .native import Sheet, run_native, view

BLOCK = 4096

OPS: dict[str, tuple[type[TileOp], Any, float]] = {
    "exp": (math.Exp, special.exp, 0.9),
    "exp2": (math.Exp2, special.exp2, 0.9),
    "log": (math.Log, special.log, 0.9),
    "log2": (math.Log2, special.log2, 1.1),
    "sin": (math.Sin, special.sin, 1.5),
    "cos": (math.Cos, special.cos, 1.5),
    "erf": (math.Erf, special.erf, 1.2),
    "rsqrt": (math.Rsqrt, special.rsqrt, 1.5),
    "sqrt": (math.Sqrt, lambda x, f: np.sqrt(x), 0.5),
    "tanh": (lambda x: LibraryCall([x], function="tanh"), special.tanh, 1.1),
}


def blocks(make: Any, ty: Any) -> Function:
    """``out[i] = op(x[i])``, `BLOCK` elements for each program instance."""
    sheet = Sheet(BLOCK)
    first = sheet.emit(Mul(sheet.emit(ProgramId(axis=0)), sheet.emit(Constant(value=BLOCK, type=int32))))
    lanes = sheet.emit(Add(sheet.emit(Broadcast(first, shape=(BLOCK,))), sheet.lanes))
    places = [
        sheet.emit(AddPtr(sheet.emit(Broadcast(sheet.argument(ty), shape=(BLOCK,))), lanes)) for _ in range(2)
    ]
    sheet.emit(Store(places[1], sheet.emit(make(sheet.emit(Load(places[0]))))))
    sheet.emit(Return())
    assert isinstance(sheet.lanes.owner, Arange)
    return sheet.function


def applied(make: Any, x: np.ndarray) -> np.ndarray:
    ty = float32 if x.dtype == np.float32 else float64
    padded = np.resize(x, -(-x.size // BLOCK) * BLOCK)
    out = np.zeros_like(padded)
    run_native(blocks(make, ty), (padded.size // BLOCK, 1, 1), [view(padded, ty), view(out, ty)])
    return out[: x.size]


def ulps(have: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of `have`'s type; 0 where both are NaN or the same infinity."""
    with np.errstate(all="ignore"):
        near = exact.astype(have.dtype)
        unit = np.spacing(np.abs(near)).astype(np.float64)
        unit[np.isinf(near)] = np.float64(np.spacing(np.finfo(have.dtype).max))
        gap = np.abs(have.astype(np.float64) - exact) / unit
    same = (np.isnan(have) & np.isnan(near)) | (have == near)
    gap[same & ~np.isfinite(near)] = 0
    return np.where(np.isnan(gap), np.inf, gap)


@pytest.mark.parametrize("name", OPS)
def test_single_precision(name: str) -> None:
    make, exact, limit = OPS[name]
    rng = np.random.default_rng(7)
    patterns = np.arange(0, 1 << 32, 4099, dtype=np.uint64).astype(np.uint32).view(np.float32)
    usual = np.concatenate([rng.uniform(-s, s, 60000) for s in (0.01, 1, 10, 100, 1e4)]).astype(np.float32)
    eighths = np.arange(-1024, 1024, dtype=np.float32) / 8  # where pieces of a function may meet
    seams = [np.nextafter(eighths, np.float32(to)) for to in (-np.inf, np.inf)]
    x = np.concatenate([patterns, usual, eighths, *seams, edge_values(float32)])
    with np.errstate(all="ignore"):
        wanted = np.asarray(exact(x.astype(np.float64), "f64"))
    have = applied(make, x)
    errors = ulps(have, wanted)
    worst = int(np.argmax(errors))
    assert errors[worst] <= limit + 0.01, (
        f"{name}({x[worst]!r}) is {have[worst]!r}, {errors[worst]:.2f} ulp off"
    )
    zero = (wanted == 0) & (have == 0)
    assert np.array_equal(np.signbit(have[zero]), np.signbit(wanted[zero])), name


@pytest.mark.parametrize("name", OPS)
def test_double_precision(name: str) -> None:
    make, exact, _ = OPS[name]
    rng = np.random.default_rng(8)
    x = np.concatenate([*(rng.uniform(-s, s, 3000) for s in (1e-3, 1, 30, 700)), edge_values(float64)])
    with np.errstate(all="ignore"):
        wanted = np.asarray(exact(x, "f64"))
    have = applied(make, x)
    errors = ulps(have, wanted)
    worst = int(np.argmax(errors))
    # Both sides are approximations here: `special` states up to 3.1 ulp for erf.
    assert errors[worst] <= 4, f"{name}({x[worst]!r}) is {have[worst]!r}, expected {wanted[worst]!r}"
