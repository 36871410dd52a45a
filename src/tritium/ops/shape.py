"""Ops that move or repeat elements without computing: broadcast, reshape, permute, join, split, cat, flip.

None of them copies a tile axis that stands for "the same along this axis" (see `tritium.ops.base`) unless the
result really differs along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tritium.ir.types import Type, shaped, tile
from tritium.ops import facts as fx
from tritium.ops.axes import axis_of, reshaped, sequence_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, full, operand, rank_up
from tritium.ops.facts import Bound, Facts
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class Broadcast(TileOp, name="tile.broadcast"):
    """`x` stretched to `shape`: a 0-d value fills the tile, axes of extent 1 repeat.

    >>> tl.broadcast_to(tl.arange(0, 2)[:, None], (2, 3))
    [[0, 0, 0], [1, 1, 1]]
    """

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

    @surface("broadcast_to", method=True)
    def build(s: Semantic, input: Any, *shape: Any) -> Tensor:
        """`input` stretched to `shape`. Axes of extent 1 repeat; a 0-d value fills any shape."""
        x = s.to_tensor(input)
        target = s.shape_of(sequence_of(shape), "shape")
        if x.dims and (
            len(x.dims) != len(target) or any(m not in (1, n) for m, n in zip(x.dims, target, strict=True))
        ):
            s.fail("TRI0609", shape=list(x.dims), target=list(target))
        return s.broadcast_to(x, target)

    @surface("broadcast")
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
        return tuple(b.map_axes(lambda a: a - (a > self.axis)) for b in kept)

    @surface("expand_dims", method=True)
    def build(s: Semantic, input: Any, axis: Any) -> Tensor:
        """New axes of extent 1 at the positions `axis` (one or several) of the result."""
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


class Reshape(TileOp, name="tile.reshape"):
    """The elements of `x` in row-major order as a tile of `shape`; ``()`` gives the only element as a 0-d value.

    >>> tl.reshape(tl.arange(0, 6), (2, 3))
    [[0, 1, 2], [3, 4, 5]]
    """

    x = operand()
    shape = attr()

    def infer(self) -> Sequence[Type]:
        result = shaped(self.x.type.scalar, tuple(self.shape))
        if result.numel != self.x.type.numel:
            raise TypeRuleError(f"{list(self.x.type.shape)} has other elements than {list(self.shape)}")
        return (result,)

    def eval(self, *args: Array) -> Array:
        x, stretch, goal = args[0], list(self.x.type.shape), list(self.shape)
        for source, target in _reshape_groups(self.x.type.shape, tuple(self.shape)):
            if all(x.shape[BATCH_AXES + a] == 1 for a in source):
                for a in source:
                    stretch[a] = 1
                for a in target:
                    goal[a] = 1
        return full(x, tuple(stretch)).reshape(*x.shape[:BATCH_AXES], *goal)


def _reshape_groups(source: tuple[int, ...], target: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """Runs of source axes and of target axes with equal products, as short as possible; extents of 1 belong to none."""
    left = [i for i, d in enumerate(source) if d > 1]
    right = [i for i, d in enumerate(target) if d > 1]
    groups: list[tuple[list[int], list[int]]] = []
    while left:
        from_axes, to_axes = [left.pop(0)], [right.pop(0)]
        have, want = source[from_axes[0]], target[to_axes[0]]
        while have != want:
            if have < want:
                from_axes.append(left.pop(0))
                have *= source[from_axes[-1]]
            else:
                to_axes.append(right.pop(0))
                want *= target[to_axes[-1]]
        groups.append((from_axes, to_axes))
    return groups


def reshape_to(s: Semantic, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`x` in another shape of as many elements; no op if it has that shape already."""
    return x if x.dims == shape else s.emit(Reshape, x, shape=shape)


@surface("reshape", method=True)
def reshape(s: Semantic, input: Any, *shape: Any, can_reorder: Any = False) -> Tensor:
    """`input` in another shape of equally many elements, in row-major order.

    `shape` is one tuple or one number per axis; one extent may be -1. `can_reorder` allows any order; here the
    order is always kept.

    >>> tl.reshape(tl.arange(0, 6), 3, 2)
    [[0, 1], [2, 3], [4, 5]]
    """
    s.const_bool(can_reorder, "can_reorder")
    x = s.to_tensor(input)
    return reshape_to(s, x, reshaped(s, shape, x))


@surface("view", method=True)
def view(s: Semantic, input: Any, *shape: Any) -> Tensor:
    """The same as tl.reshape."""
    x = s.to_tensor(input)
    return reshape_to(s, x, reshaped(s, shape, x))


@surface("ravel", method=True)
def ravel(s: Semantic, x: Any, can_reorder: Any = False) -> Tensor:
    """The elements of `x` as a tile of one axis, in row-major order.

    >>> tl.ravel(tl.reshape(tl.arange(0, 4), (2, 2)))
    [0, 1, 2, 3]
    """
    s.const_bool(can_reorder, "can_reorder")
    value = s.to_tensor(x)
    return reshape_to(s, value, (value.type.numel,))


@surface("item", method=True)
def item(s: Semantic, input: Any) -> Tensor:
    """The only element of a tile of one element, as a 0-d value.

    >>> tl.item(tl.full((1, 1), 3, tl.int32))
    3
    """
    x = s.to_tensor(input)
    if x.type.numel != 1:
        s.fail("TRI0608", shape=list(x.dims), numel=x.type.numel, target=[], target_numel=1)
    return reshape_to(s, x, ())


@surface("squeeze", method=True)
def squeeze(s: Semantic, x: Any, dim: Any) -> Tensor:
    """`x` without its axis `dim`, which has extent 1.

    >>> tl.squeeze(tl.full((1, 2), 5, tl.int32), 0)
    [5, 5]
    """
    value = s.to_tensor(x)
    axis = axis_of(s, dim, len(value.dims), "squeeze")
    rest = value.dims[:axis] + value.dims[axis + 1 :]
    if value.dims[axis] != 1:
        numel = value.type.numel
        s.fail("TRI0608", shape=list(value.dims), numel=numel, target=list(rest), target_numel=prod(rest))
    return reshape_to(s, value, rest)


@surface("unsqueeze", method=True)
def unsqueeze(s: Semantic, x: Any, dim: Any) -> Tensor:
    """`x` with a new axis of extent 1 at position `dim` of the result.

    >>> tl.unsqueeze(tl.arange(0, 2), 1)
    [[0], [1]]
    """
    value = s.to_tensor(x)
    return s.emit(ExpandDims, value, axis=axis_of(s, dim, len(value.dims) + 1, "unsqueeze"))


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
        return tuple(b.map_axes(lambda a: self.order[a]) for b in wanted)

    @surface("permute", method=True)
    def build(s: Semantic, input: Any, *dims: Any) -> Tensor:
        """The axes of `input` in the order `dims`, one tuple or one number per axis."""
        x = s.to_tensor(input)
        return permuted(s, x, _order(s, x, sequence_of(dims), "permute"))

    @surface("trans", method=True)
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
    def transpose(s: Semantic, input: Any) -> Tensor:
        """``x.T``: a tile of two axes with the axes exchanged."""
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


class Join(TileOp, name="tile.join"):
    """`a` and `b` side by side on a new last axis of extent 2.

    >>> tl.join(tl.arange(0, 2), tl.arange(10, 12))
    [[0, 10], [1, 11]]
    """

    a = operand()
    b = operand()

    def infer(self) -> Sequence[Type]:
        if self.a.type != self.b.type:
            raise TypeRuleError(
                f"tile.join needs two values of one type, got {self.a.type} and {self.b.type}"
            )
        return (tile(self.a.type.scalar, (*self.a.type.shape, 2)),)

    def eval(self, *args: Array) -> Array:
        return np.stack(np.broadcast_arrays(*args), axis=-1)

    @surface("join")
    def build(s: Semantic, a: Any, b: Any) -> Tensor:
        return s.emit(Join, *_pair(s, a, b, "join"))

    @surface("interleave")
    def interleave(s: Semantic, a: Any, b: Any) -> Tensor:
        """The elements of `a` and `b` by turns along the last axis.

        >>> tl.interleave(tl.arange(0, 2), tl.arange(10, 12))
        [0, 10, 1, 11]
        """
        joined = s.emit(Join, *_pair(s, a, b, "interleave"))
        if len(joined.dims) == 1:
            return joined
        return reshape_to(s, joined, (*joined.dims[:-2], 2 * joined.dims[-2]))


def _pair(s: Semantic, a: Any, b: Any, function: str) -> tuple[Tensor, Tensor]:
    x, y = s.to_tensor(a), s.to_tensor(b)
    if x.dtype != y.dtype:
        got = f"{describe(x)} and {describe(y)}"
        s.fail("TRI0611", function=f"tl.{function}", got=got, expected="two tiles of one element type")
    return s.broadcast(x, y)


class Split(TileOp, name="tile.split"):
    """The two halves of a tile whose last axis has extent 2: elements 0 and elements 1 of that axis.

    >>> tl.split(tl.reshape(tl.arange(0, 4), (2, 2)))
    ([0, 2], [1, 3])
    """

    x = operand()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if not dims or dims[-1] != 2:
            raise TypeRuleError(f"tile.split needs a last axis of extent 2, got {self.x.type}")
        half = shaped(self.x.type.scalar, dims[:-1])
        return (half, half)

    def eval(self, *args: Array) -> tuple[Array, Array]:
        return args[0][..., 0], args[0][..., -1]  # a last axis of extent 1 stands for two equal halves

    @surface("split", method=True)
    def build(s: Semantic, a: Any) -> tuple[Tensor, Tensor]:
        x = s.to_tensor(a)
        if not x.dims or x.dims[-1] != 2:
            s.fail(
                "TRI0611",
                function="tl.split",
                got=describe(x),
                expected="a tile whose last axis has extent 2",
            )
        return s.emit(Split, x)


class Cat(TileOp, name="tile.cat"):
    """`a`, then `b`, along `axis`, in order; the other extents are equal.

    >>> tl.cat(tl.arange(0, 2), tl.arange(10, 13))
    [0, 1, 10, 11, 12]
    """

    a = operand()
    b = operand()
    axis = attr(0)

    def infer(self) -> Sequence[Type]:
        a, b, axis = self.a.type, self.b.type, self.axis
        rest = [t.shape[:axis] + t.shape[axis + 1 :] for t in (a, b)]
        if a.scalar != b.scalar or not 0 <= axis < len(a.shape) == len(b.shape) or rest[0] != rest[1]:
            raise TypeRuleError(f"tile.cat along axis {axis} cannot put {b} after {a}")
        dims = list(a.shape)
        dims[axis] += b.shape[axis]
        return (tile(a.scalar, tuple(dims)),)

    def eval(self, *args: Array) -> Array:
        axis = BATCH_AXES + self.axis
        shapes = [list(x.shape) for x in args]
        common = list(np.broadcast_shapes(*([*s[:axis], 1, *s[axis + 1 :]] for s in shapes)))
        parts: list[Array] = []
        for x, value in zip(args, self.operands, strict=True):
            common[axis] = value.type.shape[self.axis]
            parts.append(np.broadcast_to(x, common))
        return np.concatenate(parts, axis=axis)

    @surface("cat")
    def build(s: Semantic, input: Any, other: Any, can_reorder: Any = False, dim: Any = 0) -> Tensor:
        """`input`, then `other`, along axis `dim`. The order is kept, whatever `can_reorder` allows."""
        s.const_bool(can_reorder, "can_reorder")
        a, b = s.to_tensor(input), s.to_tensor(other)
        expected = "two tiles of one element type that differ along the given axis only"
        if not a.dims or len(a.dims) != len(b.dims) or a.dtype != b.dtype:
            s.fail("TRI0611", function="tl.cat", got=f"{describe(a)} and {describe(b)}", expected=expected)
        axis = axis_of(s, dim, len(a.dims), "cat")
        if any(m != n for i, (m, n) in enumerate(zip(a.dims, b.dims, strict=True)) if i != axis):
            s.fail("TRI0611", function="tl.cat", got=f"{describe(a)} and {describe(b)}", expected=expected)
        return s.emit(Cat, a, b, axis=axis)


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
    def build(s: Semantic, x: Any, dim: Any = None) -> Tensor:
        """`x` with its elements along axis `dim` in the opposite order. A tile of one axis needs no `dim`."""
        value = s.to_tensor(x)
        if unwrap(dim) is None and len(value.dims) != 1:
            s.fail("TRI0603", function="tl.flip", argument="dim", got=None, expected="the axes of the tile")
        axis = 0 if unwrap(dim) is None else axis_of(s, dim, len(value.dims), "flip")
        return s.emit(Flip, value, axis=axis)
