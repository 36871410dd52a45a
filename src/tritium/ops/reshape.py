"""Other shapes for the same elements: reshape, view, ravel, item, squeeze, unsqueeze."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tritium.ir.types import Type, shaped
from tritium.ops.axes import axis_of, reshaped
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic
from tritium.ops.shape import ExpandDims
from tritium.ops.surface import surface


class Reshape(TileOp, name="tile.reshape"):
    """The elements of `x` in row-major order as a tile of `shape`; ``()`` gives the only element as a 0-d value.

    >>> tl.reshape(tl.arange(0, 6), (2, 3))
    [[0, 1, 2], [3, 4, 5]]
    """

    only_converts = True
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

    def moved_axes(self) -> tuple[int | None, ...] | None:
        """For every axis of the result the axis of `x` that it is, None for a new one of extent 1; None if elements
        change their order among the axes."""
        kept = [a for a, d in enumerate(self.x.type.shape) if d > 1]
        if [self.x.type.shape[a] for a in kept] != [d for d in self.shape if d > 1]:
            return None
        rest = iter(kept)
        return tuple(next(rest) if d > 1 else None for d in self.shape)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        moved = self.moved_axes()
        if moved is None:
            return None
        axes = [
            layout.axes[moved.index(a)] if a in moved else AxisLayout(1)
            for a in range(len(self.x.type.shape))
        ]
        return RegisterLayout(tuple(axes), layout.threads)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.reshape(self)


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
    """The same as tl.reshape.

    >>> tl.view(tl.arange(0, 4), (2, 2))
    [[0, 1], [2, 3]]
    """
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

    >>> tl.item(tl.load(i + tl.arange(3, 4)))
    3
    """
    x = s.to_tensor(input)
    if x.type.numel != 1:
        s.fail("TRI0608", shape=list(x.dims), numel=x.type.numel, target=[], target_numel=1)
    return reshape_to(s, x, ())


@surface("squeeze", method=True)
def squeeze(s: Semantic, x: Any, dim: Any) -> Tensor:
    """`x` without its axis `dim`, which has extent 1.

    >>> tl.squeeze(tl.load(i + tl.arange(0, 2))[None, :], 0)
    [0, 1]
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
