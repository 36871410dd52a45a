"""Ops that move or repeat elements without computing: broadcast, expand_dims, permute, flip.

None of the shape ops copies a tile axis that stands for "the same along this axis" (see `tritium.ops.base`) unless the
result really differs along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, shaped, tile
from tritium.ops import facts as fx
from tritium.ops.axes import axis_of, sequence_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand, rank_up
from tritium.ops.emit import CudaEmitter
from tritium.ops.facts import Bound, Facts
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic
from tritium.ops.surface import surface


class Broadcast(TileOp, name="tile.broadcast"):
    """`x` stretched to `shape`: a 0-d value fills the tile, axes of extent 1 repeat.

    >>> tl.broadcast_to(tl.arange(0, 2)[:, None], (2, 3))
    [[0, 0, 0], [1, 1, 1]]
    """

    only_converts = True
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

    def facts(self, *operands: Facts) -> Facts | None:
        stretched = [a for a in self.stretched if self.x.type.shape]
        return fx.fix_axes(operands[0], stretched)

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        if not self.x.type.shape:
            return tuple(b for b in wanted if not b.axes())
        return tuple(b for b in wanted if not b.axes() & set(self.stretched))

    @property
    def stretched(self) -> list[int]:
        """Axes of the result along which the operand repeats."""
        dims = self.x.type.shape or (1,) * len(self.shape)
        return [a for a, (m, n) in enumerate(zip(dims, self.shape, strict=True)) if m == 1 != n]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.alias(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout.collapse(self.stretched) if self.x.type.shape else None

    @surface("broadcast_to", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, *shape: Any) -> Tensor:
        """`input` stretched to `shape`. Axes of extent 1 repeat; a 0-d value fills any shape.

        >>> tl.broadcast_to(tl.arange(0, 2)[:, None], 2, 3)
        [[0, 0, 0], [1, 1, 1]]
        """
        x = s.to_tensor(input)
        target = s.shape_of(sequence_of(shape), "shape")
        if x.dims and (
            len(x.dims) != len(target) or any(m not in (1, n) for m, n in zip(x.dims, target, strict=True))
        ):
            s.fail("TRI0609", shape=list(x.dims), target=list(target))
        return s.broadcast_to(x, target)

    @surface("broadcast")
    @staticmethod
    def both(s: Semantic, input: Any, other: Any) -> tuple[Tensor, Tensor]:
        """Both values stretched to their common shape.

        >>> tl.broadcast(tl.arange(0, 2)[:, None], tl.full((1, 2), 7, tl.int32))
        ([[0, 0], [1, 1]], [[7, 7], [7, 7]])
        """
        return s.broadcast(s.to_tensor(input), s.to_tensor(other))


class ExpandDims(TileOp, name="tile.expand_dims"):
    """A new axis of extent 1 at position `axis` of the result.

    >>> tl.expand_dims(tl.arange(0, 3), 0)
    [[0, 1, 2]]
    """

    x = operand()
    axis = attr()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if not 0 <= self.axis <= len(dims):
            raise TypeRuleError(f"axis {self.axis} is outside 0..{len(dims)}")
        return (tile(self.x.type.scalar, (*dims[: self.axis], 1, *dims[self.axis :])),)

    def eval(self, *args: Array) -> Array:
        return np.expand_dims(args[0], BATCH_AXES + self.axis)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.map_axes(operands[0], lambda a: a + (a >= self.axis))

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        kept = (b for b in wanted if self.axis not in b.axes())
        return tuple(b.place_axes(lambda a: a - (a > self.axis)) for b in kept)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.alias(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout.drop(self.axis)

    @surface("expand_dims", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, axis: Any) -> Tensor:
        """New axes of extent 1 at the positions `axis` (one or several) of the result.

        >>> tl.expand_dims(tl.arange(0, 2), 0)
        [[0, 1]]
        """
        x = s.to_tensor(input)
        value = unwrap(axis)
        wanted = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        rank = len(x.dims) + len(wanted)
        axes = [axis_of(s, a, rank, "expand_dims") for a in wanted]
        if len(set(axes)) != len(axes):
            s.fail("TRI0603", function="tl.expand_dims", argument="axis", got=axes, expected="distinct axes")
        for a in sorted(axes):
            x = s.emit(ExpandDims, x, axis=a)
        return x


class Permute(TileOp, name="tile.permute"):
    """The axes of `x` in another order: axis i of the result is axis ``order[i]`` of `x`.

    >>> tl.permute(tl.reshape(tl.arange(0, 6), (2, 3)), (1, 0))
    [[0, 3], [1, 4], [2, 5]]
    """

    x = operand()
    order = attr()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if sorted(self.order) != list(range(len(dims))):
            raise TypeRuleError(f"{self.order} is not an order of {len(dims)} axes")
        return (shaped(self.x.type.scalar, tuple(dims[a] for a in self.order)),)

    def eval(self, *args: Array) -> Array:
        return args[0].transpose(*range(BATCH_AXES), *(BATCH_AXES + a for a in self.order))

    def facts(self, *operands: Facts) -> Facts | None:
        order = list(self.order)
        return fx.map_axes(operands[0], order.index)

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return tuple(b.place_axes(lambda a: self.order[a]) for b in wanted)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.alias(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout.permute([self.order.index(a) for a in range(len(self.order))])

    @surface("permute", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, *dims: Any) -> Tensor:
        """The axes of `input` in the order `dims`, one tuple or one number per axis.

        >>> tl.permute(tl.reshape(tl.arange(0, 6), 2, 3), 1, 0)
        [[0, 3], [1, 4], [2, 5]]
        """
        x = s.to_tensor(input)
        return permuted(s, x, _order(s, x, sequence_of(dims), "permute"))

    @surface("trans", method=True)
    @staticmethod
    def trans(s: Semantic, input: Any, *dims: Any) -> Tensor:
        """The axes of `input` in the order `dims`; without `dims`, the last two axes change places.

        >>> tl.trans(tl.reshape(tl.arange(0, 4), (2, 2)))
        [[0, 2], [1, 3]]
        """
        x = s.to_tensor(input)
        order = sequence_of(dims)
        rank = len(x.dims)
        if order:
            return permuted(s, x, _order(s, x, order, "trans"))
        if rank < 2:
            s.fail("TRI0602", function="tl.trans", axis=-2, rank=rank)
        return permuted(s, x, (*range(rank - 2), rank - 1, rank - 2))

    @surface("T", module="internal")
    @staticmethod
    def transpose(s: Semantic, input: Any) -> Tensor:
        """``x.T``: a tile of two axes with the axes exchanged.

        >>> tl.reshape(tl.arange(0, 6), 2, 3).T
        [[0, 3], [1, 4], [2, 5]]
        """
        x = s.to_tensor(input)
        if len(x.dims) != 2:
            s.fail("TRI0610", got=".T, which is (1, 0),", rank=len(x.dims))
        return permuted(s, x, (1, 0))


def permuted(s: Semantic, x: Tensor, order: Sequence[int]) -> Tensor:
    """`x` with its axes in `order`; no op if that is how they are."""
    return x if list(order) == list(range(len(order))) else s.emit(Permute, x, order=tuple(order))


def _order(s: Semantic, x: Tensor, dims: tuple[Any, ...], function: str) -> tuple[int, ...]:
    rank = len(x.dims)
    order = [s.const_int(d, f"every axis of {function}") for d in dims]
    wrapped = [a + rank if a < 0 else a for a in order]
    if sorted(wrapped) != list(range(rank)):
        s.fail("TRI0610", got=tuple(order), rank=rank)
    return tuple(wrapped)


class Flip(TileOp, name="tile.flip"):
    """`x` with its elements along `axis` in the opposite order.

    >>> tl.flip(tl.arange(0, 3), 0)
    [2, 1, 0]
    """

    x = operand()
    axis = attr()

    def infer(self) -> Sequence[Type]:
        if not 0 <= self.axis < len(self.x.type.shape):
            raise TypeRuleError(f"{self.x.type} has no axis {self.axis}")
        return (self.x.type,)

    def eval(self, *args: Array) -> Array:
        return np.flip(args[0], BATCH_AXES + self.axis)

    @surface("flip", method=True)
    @staticmethod
    def build(s: Semantic, x: Any, dim: Any = None) -> Tensor:
        """`x` with its elements along axis `dim` in the opposite order. A tile of one axis needs no `dim`.

        >>> tl.flip(tl.arange(0, 3))
        [2, 1, 0]
        """
        value = s.to_tensor(x)
        if unwrap(dim) is None and len(value.dims) != 1:
            s.fail("TRI0603", function="tl.flip", argument="dim", got=None, expected="the axes of the tile")
        axis = 0 if unwrap(dim) is None else axis_of(s, dim, len(value.dims), "flip")
        return s.emit(Flip, value, axis=axis)
