"""Compute at compile time what only depends on constants.

Pre:   any tile IR. Post: no pure op has only uniform constants as inputs, unless its result is not uniform.

::

    %1 = tile.constant() {value = 4, type = !i32} : i32
    %2 = tile.mul(%1, %1) : i32            ->   %2 = tile.constant() {value = 16, type = !i32} : i32
    %3 = tile.broadcast(%2) {shape = (8,)} ->   %3 = tile.constant() {value = 16, type = !tile<8xi32>} : tile<8xi32>

The value comes from the op's own ``eval``, so a folded program computes exactly what the unfolded one would.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tritium.ir.core import Op, Value
from tritium.ir.rewrite import Replacement, Rewriter, RewriteSet
from tritium.ir.types import DType, float8e4b15
from tritium.ops.base import Array, TileOp
from tritium.ops.create import Constant

MAX_FOLDED_ELEMENTS = 4096
"""Larger intermediate tiles are not evaluated at compile time: the fold would cost more than it saves."""


def constant_of(value: Value) -> bool | int | float | None:
    """The number every element of `value` is, or None if that is not known."""
    op = value.owner
    return op.value if isinstance(op, Constant) else None


def is_constant(value: Value, number: float) -> bool:
    """Whether every element of `value` is `number`. Zero means +0 and -0 apart: ``is_constant(v, -0.0)``."""
    found = constant_of(value)
    if found is None or (isinstance(found, float) and math.isnan(found)):
        return False
    return found == number and math.copysign(1, found) == math.copysign(1, number)


def fold(op: Op, r: Rewriter) -> Replacement:
    """The rule itself: `op` as a constant, or None."""
    if not _foldable(op):
        return None
    inputs = [v.owner.eval() for v in op.operands]  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        out: Array = op.eval(*inputs)  # type: ignore[attr-defined]
    number = uniform_number(out)
    if number is None:
        return None
    return r.emit(Constant, value=number, type=op.results[0].type)


def _foldable(op: Op) -> bool:
    if isinstance(op, Constant) or not isinstance(op, TileOp) or op.regions or len(op.results) != 1:
        return False
    if not op.operands or not all(isinstance(v.owner, Constant) for v in op.operands):
        return False
    if type(op).execute is not TileOp.execute or not op.is_pure:
        return False
    scalars = [v.type.scalar for v in (*op.operands, *op.results)]
    if any(not isinstance(s, DType) or s is float8e4b15 for s in scalars):
        return False
    return all(v.type.numel <= MAX_FOLDED_ELEMENTS for v in op.operands) or op.name == "tile.broadcast"


def uniform_number(x: Array) -> Any:
    """The Python number that all elements of `x` are, bit for bit, or None. A NaN is none: it has a payload."""
    if x.size != 1:
        flat = np.ascontiguousarray(x).reshape(-1)
        if (flat.view(np.uint8).reshape(flat.size, -1) != flat[:1].view(np.uint8)).any():
            return None
        x = flat[:1]
    kind = x.dtype.kind
    if kind == "b":
        return bool(x.reshape(-1)[0])
    if kind in "iu":
        return int(x.reshape(-1)[0])
    number = float(x.reshape(-1)[0])
    return None if math.isnan(number) else number


RULES = RewriteSet("fold_constants")
RULES.rule(name="fold constants")(fold)
