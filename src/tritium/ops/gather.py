"""`tl.gather`: elements picked along an axis by a tile of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, tile
from tritium.ops.axes import axis_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic
from tritium.ops.surface import surface


class Gather(TileOp, name="tile.gather"):
    """``result[.., i, ..] = src[.., index[.., i, ..], ..]`` along `axis`; the result has the shape of `index`.

    An index outside the axis reads the nearest element (Triton leaves it undefined).

    >>> tl.gather(tl.arange(10, 14), tl.load(i + tl.arange(2, 4)), 0)
    [12, 13]
    """

    src = operand()
    index = operand()
    axis = attr()

    def infer(self) -> Sequence[Type]:
        src, index, axis = self.src.type, self.index.type, self.axis
        if not isinstance(index.scalar, DType) or not index.scalar.is_int():
            raise TypeRuleError(f"tile.gather needs integer indices, got {index}")
        if not (0 <= axis < len(src.shape) == len(index.shape)) or any(
            m != n for a, (m, n) in enumerate(zip(src.shape, index.shape, strict=True)) if a != axis
        ):
            raise TypeRuleError(f"tile.gather along axis {axis} cannot take {src} by {index}")
        return (tile(src.scalar, index.shape),)

    def eval(self, *args: Array) -> Array:
        src, index = args
        at, extent = BATCH_AXES + self.axis, self.src.type.shape[self.axis]
        if src.shape[at] == 1:  # the same all along the axis: any index gives it
            shape = list(np.broadcast_shapes(src.shape, index.shape))
            shape[at] = 1
            return np.broadcast_to(src, shape)
        if index.dtype.kind == "u":
            index = np.minimum(index, index.dtype.type(min(extent - 1, np.iinfo(index.dtype).max)))
        position = np.clip(index.astype(np.int64), 0, extent - 1)
        src_shape, index_shape = list(src.shape), list(position.shape)
        common = list(np.broadcast_shapes(*([*x[:at], 1, *x[at + 1 :]] for x in (src_shape, index_shape))))
        common[at] = src.shape[at]
        source = np.broadcast_to(src, common)
        common[at] = position.shape[at]
        return np.take_along_axis(source, np.broadcast_to(position, common), axis=at)

    @surface("gather", method=True)
    @staticmethod
    def build(s: Semantic, src: Any, index: Any, axis: Any) -> Tensor:
        x, where = s.to_tensor(src), s.to_tensor(index)
        at = axis_of(s, axis, len(x.dims), "gather")
        fits = len(x.dims) == len(where.dims) and all(
            m == n for a, (m, n) in enumerate(zip(x.dims, where.dims, strict=True)) if a != at
        )
        if not fits or not isinstance(where.dtype, DType) or not where.dtype.is_int():
            shape = list(where.dims) if fits is False else f"{list(where.dims)} of {where.dtype}"
            s.fail("TRI0616", axis=at, shape=list(x.dims), index_shape=shape)
        return s.emit(Gather, x, where, axis=at)
