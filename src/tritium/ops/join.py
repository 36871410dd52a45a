"""Tiles put together and taken apart: join, interleave, split, cat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, shaped, tile
from tritium.ops.axes import axis_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


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
    @staticmethod
    def build(s: Semantic, a: Any, b: Any) -> Tensor:
        return s.emit(Join, *_pair(s, a, b, "join"))

    @surface("interleave")
    @staticmethod
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
    @staticmethod
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
    @staticmethod
    def build(s: Semantic, input: Any, other: Any, can_reorder: Any = False, dim: Any = 0) -> Tensor:
        """`input`, then `other`, along axis `dim`. The order is kept, whatever `can_reorder` allows.

        >>> tl.cat(tl.arange(0, 2), tl.arange(5, 7))
        [0, 1, 5, 6]
        """
        s.const_bool(can_reorder, "can_reorder")
        a, b = s.to_tensor(input), s.to_tensor(other)
        expected = "two tiles of one element type that differ along the given axis only"
        if not a.dims or len(a.dims) != len(b.dims) or a.dtype != b.dtype:
            s.fail("TRI0611", function="tl.cat", got=f"{describe(a)} and {describe(b)}", expected=expected)
        axis = axis_of(s, dim, len(a.dims), "cat")
        if any(m != n for i, (m, n) in enumerate(zip(a.dims, b.dims, strict=True)) if i != axis):
            s.fail("TRI0611", function="tl.cat", got=f"{describe(a)} and {describe(b)}", expected=expected)
        return s.emit(Cat, a, b, axis=axis)
