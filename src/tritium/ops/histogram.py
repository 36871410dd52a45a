"""`tl.histogram`: how often each bin number occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, int1, int32, like, tile
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class Histogram(TileOp, name="tile.histogram"):
    """Counts of 0, 1, ... `bins` - 1 among the elements of `x` whose `mask` is true, as int32.

    Elements below 0 or from `bins` on are not counted.

    >>> tl.histogram(tl.full((5,), 1, tl.int32), 3)
    [0, 5, 0]
    """

    x = operand()
    mask = operand(optional=True)
    bins = attr()

    def infer(self) -> Sequence[Type]:
        ty = self.x.type
        if len(ty.shape) != 1 or not isinstance(ty.scalar, DType) or not ty.scalar.is_int():
            raise TypeRuleError(f"tile.histogram counts integers of one axis, got {ty}")
        if self.mask is not None and self.mask.type != like(ty, int1):
            raise TypeRuleError(
                f"the mask of tile.histogram is an i1 of the shape of {ty}, got {self.mask.type}"
            )
        if self.bins < 1:
            raise TypeRuleError(f"tile.histogram needs a bin, got {self.bins}")
        return (tile(int32, (self.bins,)),)

    def eval(self, *args: Array) -> Array:
        batch = np.broadcast_shapes(*(x.shape[:BATCH_AXES] for x in args))
        x = np.broadcast_to(args[0], batch + self.x.type.shape)
        counted = (x < self.bins) & (x >= 0) if x.dtype != np.bool_ else np.asarray(x < self.bins)
        if len(args) > 1:
            counted = counted & args[1]
        instances = int(np.prod(batch))
        bins = np.where(counted, x, 0).astype(np.int64).reshape(instances, -1)
        bins += np.arange(instances)[:, None] * self.bins
        picked = bins[counted.reshape(instances, -1)]
        counts = np.bincount(picked, minlength=instances * self.bins)
        return counts.astype(np.int32).reshape(*batch, self.bins)

    @surface("histogram", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, num_bins: Any, mask: Any = None) -> Tensor:
        """Counts of the bin numbers 0 to `num_bins` - 1 in `input`, a tile of integers of one axis.

        Elements whose `mask` is false, and those outside the bins, are not counted.

        >>> tl.histogram(tl.arange(0, 6) % 4, 4)
        [2, 2, 1, 1]
        """
        x = s.to_tensor(input)
        if len(x.dims) != 1 or not isinstance(x.dtype, DType) or not x.dtype.is_int():
            s.fail("TRI0615", got=describe(x))
        bins = s.const_int(num_bins, "num_bins")
        if bins < 1:
            s.fail("TRI0506", got=bins)
        if unwrap(mask) is None:
            return s.emit(Histogram, x, bins=bins)
        chosen = s.to_tensor(mask)
        if chosen.dtype is not int1:
            s.fail("TRI0642", function="tl.histogram", got=describe(chosen))
        if chosen.dims not in ((), (1,), x.dims):
            s.fail("TRI0643", what="mask", function="tl.histogram", got=list(chosen.dims), shape=list(x.dims))
        return s.emit(Histogram, x, s.broadcast_to(chosen, x.dims), bins=bins)
