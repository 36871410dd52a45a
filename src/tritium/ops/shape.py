"""Ops that move or repeat elements without computing: broadcast, expand_dims, ..."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tritium.ir.types import Type, tile
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand, rank_up


class Broadcast(TileOp, name="tile.broadcast"):
    """`x` stretched to `shape`: a 0-d value fills the tile, axes of extent 1 repeat."""

    x = operand()
    shape = attr()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if dims and not (
            len(dims) == len(self.shape) and all(m in (1, n) for m, n in zip(dims, self.shape, strict=True))
        ):
            raise TypeRuleError(f"{list(dims)} does not stretch to {list(self.shape)}")
        return (tile(self.x.type.scalar, tuple(self.shape)),)

    def eval(self, *args: Array) -> Array:
        return rank_up(args[0], len(self.shape))  # extent 1 already means "the same along this axis"


class ExpandDims(TileOp, name="tile.expand_dims"):
    """A new axis of extent 1 at position `axis` of the result."""

    x = operand()
    axis = attr()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if not 0 <= self.axis <= len(dims):
            raise TypeRuleError(f"axis {self.axis} is outside 0..{len(dims)}")
        return (tile(self.x.type.scalar, (*dims[: self.axis], 1, *dims[self.axis :])),)

    def eval(self, *args: Array) -> Array:
        return np.expand_dims(args[0], BATCH_AXES + self.axis)
