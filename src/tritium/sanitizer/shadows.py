"""Shadows: one byte per element that says what is wrong with a value, and how ops hand it on.

Bit `POISON`: nobody has defined the element. Bit `WRAPPED`: it is an integer that wrapped around on its way here. A value
without a shadow (None) is fine everywhere. Shadows follow the convention of arrays: batch axes, then tile axes, extent 1
for "the same along this axis".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.backends.interp.pointers import addresses
from tritium.ir.core import Op
from tritium.ir.types import DType
from tritium.ops.base import BATCH_AXES, Array, full

POISON = 1
WRAPPED = 2

Shadow = Array | None


@dataclass(frozen=True, slots=True)
class Wide:
    """What a half-precision accumulator would be in fp64, after so many additions and roundings."""

    value: Array
    steps: int
    roundings: int


class Shadowed:
    """A value, as the machine holds it, with its shadow and its wide twin, either of which may be None."""

    __slots__ = ("shadow", "value", "wide")

    def __init__(self, value: Any, shadow: Shadow, wide: Wide | None = None) -> None:
        self.value = value
        self.shadow = shadow
        self.wide = wide

    def take(self, selection: Selection) -> Shadowed:
        shadow = None if self.shadow is None else selection.take(self.shadow)
        wide = self.wide
        if wide is not None:
            wide = Wide(selection.take(wide.value), wide.steps, wide.roundings)
        return Shadowed(selection.take(self.value), shadow, wide)

    def addresses(self) -> Array:
        return addresses(self.value)

    def merge(self, pieces: Sequence[tuple[Selection, Any]], batch: Batch) -> Shadowed:
        """One value from those of several selections; what has no shadow is fine, what has no wide twin is its own."""
        parts = [(s, p if type(p) is Shadowed else Shadowed(p, None)) for s, p in pieces]
        value: Array = merge([(s, addresses(p.value)) for s, p in parts], batch)
        shadow: Shadow = None
        if any(p.shadow is not None for _, p in parts):
            none = np.zeros((1,) * value.ndim, np.uint8)
            shadow = merge([(s, none if p.shadow is None else p.shadow) for s, p in parts], batch)
        twins = [p.wide for _, p in parts if p.wide is not None]
        if not twins:
            return Shadowed(value, shadow)
        wide = [
            (s, addresses(p.value).astype(np.float64) if p.wide is None else p.wide.value) for s, p in parts
        ]
        steps, roundings = max(w.steps for w in twins), max(w.roundings for w in twins)
        return Shadowed(value, shadow, Wide(merge(wide, batch), steps, roundings))


# Ops that only move elements: what they do to a value they do to its shadow.
_MOVES = frozenset(
    {"broadcast", "expand_dims", "reshape", "permute", "flip", "slice", "extract", "split", "join", "cat"}
)
# Ops through which a wrapped integer is still that integer, or moves an address by as much.
_KEEPS_WRAPPED = _MOVES | {"add", "sub", "mul", "shl", "addptr", "select", "cast", "hint"}
_WITHOUT_AXES = frozenset({"sort", "gather", "histogram", "philox", "inline_asm", "dot_scaled"})


def propagate(
    op: Op, args: Sequence[Any], shadows: Sequence[Shadow], outputs: Sequence[Array]
) -> list[Shadow]:
    """The shadows of the results of `op`, one of whose operands has a shadow."""
    name = op.name.removeprefix("tile.")
    if name in _MOVES:
        found = _moved(op, args, shadows)
    elif name == "select":
        found = [_selected(args, shadows)]
    elif name in ("and", "or"):
        found = [_logical(name, args, shadows)]
    elif name == "dot":
        found = [_product(op, shadows)]
    elif name == "reduce":
        found = [_along(op, shadows)] * len(outputs)
    elif name == "scan":
        found = [_running(op, args, shadows)] * len(outputs)
    else:
        found = [_joint(op, shadows, o) for o in outputs]
    keep = POISON | WRAPPED if name in _KEEPS_WRAPPED and _is_integral(op) else POISON
    return [_kept(s, keep) for s in found]


def _is_integral(op: Op) -> bool:
    """Whether the results are integers or pointers, which alone can have wrapped."""
    scalar = op.results[0].type.scalar if op.results else None
    return not isinstance(scalar, DType) or scalar.is_int()


def _kept(shadow: Shadow, bits: int) -> Shadow:
    if shadow is None:
        return None
    if bits != POISON | WRAPPED:
        shadow = shadow & np.uint8(bits)
    return shadow if shadow.any() else None


def union(shadows: Sequence[Shadow]) -> Shadow:
    """What any of them says; they broadcast against each other."""
    known = [s for s in shadows if s is not None]
    if not known:
        return None
    found = known[0]
    for s in known[1:]:
        found = found | s
    return found


def _blank(like: Array) -> Array:
    return np.zeros((1,) * like.ndim, np.uint8)


def _moved(op: Any, args: Sequence[Array], shadows: Sequence[Shadow]) -> list[Shadow]:
    given = [
        full(np.zeros((1,) * (BATCH_AXES + len(v.type.shape)), np.uint8) if s is None else s, v.type.shape)
        for s, v in zip(shadows, op.operands, strict=True)
    ]
    if op.name == "tile.extract":  # the indices are what they are; undefined ones leave nothing defined
        moved: Array = op.eval(given[0], *args[1:])
        of_index = union([s for s in shadows[1:] if s is not None])
        return [moved if of_index is None else moved | np.bitwise_or.reduce(of_index, axis=None)]
    out = op.eval(*given)
    return list(out) if isinstance(out, tuple) else [out]


def _selected(args: Sequence[Array], shadows: Sequence[Shadow]) -> Shadow:
    of_condition, x, y = shadows
    condition = args[0]
    if x is None and y is None:
        return of_condition
    chosen: Array = np.where(
        condition, _blank(condition) if x is None else x, _blank(condition) if y is None else y
    )
    return chosen if of_condition is None else chosen | (of_condition & np.uint8(POISON))


def _logical(name: str, args: Sequence[Array], shadows: Sequence[Shadow]) -> Shadow:
    """``x & y`` is defined where one of them is a defined zero, ``x | y`` where one has all bits set."""
    found = union(shadows)
    assert found is not None
    for i in (0, 1):
        x, own = args[i], shadows[i]
        decided = (x == 0) if name == "and" else (x if x.dtype == np.bool_ else x == -1)
        if own is not None:
            decided = decided & (own == 0)
        found = np.where(decided, np.uint8(0), found)
    return found


def _product(op: Any, shadows: Sequence[Shadow]) -> Shadow:
    """A row of the product depends on a row of the left operand, a column on one of the right."""
    a, b, *acc = shadows
    parts: list[Shadow] = list(acc)
    if a is not None:
        parts.append(np.bitwise_or.reduce(a, axis=-1, keepdims=True))
    if b is not None:
        parts.append(np.bitwise_or.reduce(b, axis=-2, keepdims=True))
    return union(parts)


def _along(op: Any, shadows: Sequence[Shadow]) -> Shadow:
    found = union(shadows)
    return None if found is None else np.bitwise_or.reduce(found, axis=op.axis + BATCH_AXES)


def _running(op: Any, args: Sequence[Array], shadows: Sequence[Shadow]) -> Shadow:
    found = union(shadows)
    if found is None:
        return None
    axis = op.axis + BATCH_AXES
    shape = list(found.shape)
    shape[axis] = op.operands[0].type.shape[op.axis]
    whole = np.broadcast_to(found, shape)
    if getattr(op, "reverse", False):
        return np.flip(np.bitwise_or.accumulate(np.flip(whole, axis), axis=axis), axis)
    return np.bitwise_or.accumulate(whole, axis=axis)


def _joint(op: Op, shadows: Sequence[Shadow], output: Array) -> Shadow:
    """The union where the operands lie like the result, else all of the instance's elements."""
    shape = op.results[0].type.shape
    like = op.name.removeprefix("tile.") not in _WITHOUT_AXES
    if like and all(v.type.shape == shape or not v.type.shape for v in op.operands):
        return union(
            [None if s is None else s.reshape(s.shape + (1,) * (output.ndim - s.ndim)) for s in shadows]
        )
    ones = (1,) * (output.ndim - BATCH_AXES)
    wide: list[Shadow] = []
    for s in shadows:
        if s is not None:
            axes = tuple(range(BATCH_AXES, s.ndim))
            wide.append(np.bitwise_or.reduce(s, axis=axes).reshape(*s.shape[:BATCH_AXES], *ones))
    return union(wide)
