"""Subscripts of tiles: ``x[i]``, ``x[a:b:c]``, ``x[..., None]``, with NumPy's meaning.

The frontend hands the subscript over as ``internal.getitem(x, index)``. A subscript of only ``:`` and None is the
Triton form and becomes new axes; the rest is an extension. Compile-time indices and slice bounds are checked when the
kernel is compiled, run-time indices while it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tritium.ir.types import DType, Type, shaped, tile
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, describe, literal_of
from tritium.ops.shape import ExpandDims
from tritium.ops.surface import surface


class Slice(TileOp, name="tile.slice"):
    """Every ``steps[a]``-th element of axis a from ``starts[a]`` on, ``extents[a]`` of them; steps may be negative.

    >>> tl.arange(0, 6)[4:0:-2]
    [4, 2]
    """

    x = operand()
    starts = attr()
    extents = attr()
    steps = attr()

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        parts = (self.starts, self.extents, self.steps)
        if not dims or any(len(part) != len(dims) for part in parts):
            raise TypeRuleError(
                f"tile.slice needs a start, an extent and a step for each axis of {self.x.type}"
            )
        for d, start, extent, step in zip(dims, *parts, strict=True):
            if extent < 1 or not (0 <= start < d and 0 <= start + (extent - 1) * step < d):
                raise TypeRuleError(f"{extent} elements from {start} in steps of {step} leave an axis of {d}")
        return (tile(self.x.type.scalar, tuple(self.extents)),)

    def eval(self, *args: Array) -> Array:
        x = args[0]
        picks: list[slice] = [slice(None)] * BATCH_AXES
        for axis, (start, extent, step) in enumerate(zip(self.starts, self.extents, self.steps, strict=True)):
            if x.shape[BATCH_AXES + axis] == 1:  # one element, or the same all along
                picks.append(slice(None))
                continue
            stop = start + extent * step
            picks.append(slice(start, stop if stop >= 0 else None, step))
        return x[tuple(picks)]


class Extract(TileOp, name="tile.extract"):
    """`x` at run-time positions ``indices[k]`` of its axes ``axes[k]``, which go away.

    Indices are 0-d integers; negative ones count from the end, as in NumPy. An index outside the axis is an error where
    the machine checks, and reads the nearest element where it does not.

    >>> tl.arange(10, 14)[tl.program_id(0) - 1]
    13
    """

    x = operand()
    indices = operand(variadic=True)
    axes = attr()
    speculatable = False

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if len(self.axes) != len(self.indices) or list(self.axes) != sorted(set(self.axes)):
            raise TypeRuleError("tile.extract needs one index for each of its axes, which are in order")
        for v in self.indices:
            if not isinstance(v.type, DType) or not v.type.is_int():
                raise TypeRuleError(f"an index of tile.extract is a 0-d integer, not {v.type}")
        if self.axes and not 0 <= self.axes[0] <= self.axes[-1] < len(dims):
            raise TypeRuleError(f"{self.x.type} lacks one of the axes {self.axes}")
        return (shaped(self.x.type.scalar, tuple(d for a, d in enumerate(dims) if a not in self.axes)),)

    def eval(self, *args: Array) -> Array:
        x = args[0]
        for axis, index in sorted(zip(self.axes, args[1:], strict=True), key=lambda pair: -pair[0]):
            x = self._take(x, axis, index)
        return x

    def _take(self, x: Array, axis: int, index: Array) -> Array:
        at, extent = BATCH_AXES + axis, self.x.type.shape[axis]
        if x.shape[at] == 1:
            return x.squeeze(at)
        position = _wrapped(index, extent)
        if position.size == 1:
            return x.take(int(position.reshape(-1)[0]), axis=at)
        batch = np.broadcast_shapes(x.shape[:BATCH_AXES], position.shape)
        source = np.broadcast_to(x, batch + x.shape[BATCH_AXES:])
        where = position.reshape(position.shape + (1,) * (x.ndim - BATCH_AXES))
        where = np.broadcast_to(where, batch + tuple(1 for _ in x.shape[BATCH_AXES:]))
        return np.take_along_axis(source, where, axis=at).squeeze(at)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        x = args[0]
        assert x is not None
        for axis, index in zip(self.axes, args[1:], strict=True):
            assert index is not None
            extent = self.x.type.shape[axis]
            inside = index < extent if index.dtype.kind == "u" else (index >= -extent) & (index < extent)
            m.check(
                self, inside, f"index is outside axis {axis} of a tile of shape {self.x.type.shape}", None
            )
        return self.eval(x, *args[1:])  # type: ignore[arg-type]


def _wrapped(index: Array, extent: int) -> Array:
    """Positions from 0 on; those outside go to the nearest element."""
    if index.dtype == np.uint64:
        index = np.minimum(index, np.uint64(extent))
    position = index.astype(np.int64)
    return np.clip(np.where(position < 0, position + extent, position), 0, extent - 1)


# ---- the subscript ----------------------------------------------------------------------------------------------


class _Pick(NamedTuple):
    """What happens to one axis: a run of elements, or one element and the axis goes away."""

    start: int
    extent: int
    step: int
    index: Any = None  # a run-time index
    drop: bool = False


@surface("getitem", module="internal")
def getitem(s: Semantic, x: Any, index: Any) -> Tensor:
    """``x[index]``; `index` is one subscript or a tuple: int, slice, None, Ellipsis or a run-time 0-d integer.

    >>> tl.arange(0, 6)[1:6:2]
    [1, 3, 5]
    >>> tl.arange(0, 6)[-1]
    5
    >>> tl.arange(0, 2)[:, None]
    [[0], [1]]
    """
    value = s.to_tensor(x)
    items = unwrap(index)
    items = tuple(items) if isinstance(items, (tuple, list)) else (items,)
    items = tuple(unwrap(i) for i in items)
    items = _without_ellipsis(s, value, items)
    picks: list[_Pick] = []
    layout: list[int | None] = []  # for each axis of the result: the axis of x, or None for a new one
    for item in items:
        if item is None:
            layout.append(None)
            continue
        axis = len(picks)
        pick = _pick(s, value, axis, item)
        picks.append(pick)
        if not pick.drop:
            layout.append(axis)
    return _apply(s, value, picks, layout)


def _without_ellipsis(s: Semantic, x: Tensor, items: tuple[Any, ...]) -> tuple[Any, ...]:
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        _refuse(s, x, "more than one ...")
    used = sum(1 for i in items if i is not None) - len(dots)
    missing = len(x.dims) - used
    if missing < 0 and all(i is None or _is_full(i) for i in items):
        items = _without_surplus(items, -missing)  # Triton lets ":" stand where there is no axis
        missing = 0
    if missing < 0:
        _refuse(s, x, f"{used} subscripts")
    at = dots[0] if dots else len(items)
    return (*items[:at], *[slice(None)] * missing, *items[at + 1 :])


def _without_surplus(items: tuple[Any, ...], surplus: int) -> tuple[Any, ...]:
    kept: list[Any] = []
    for item in reversed(items):
        if surplus and item is not None:
            surplus -= 1
        else:
            kept.append(item)
    return tuple(reversed(kept))


def _is_full(item: Any) -> bool:
    return isinstance(item, slice) and all(unwrap(p) is None for p in (item.start, item.stop, item.step))


def _refuse(s: Semantic, x: Tensor, got: str) -> Any:
    s.fail("TRI0418", shape=list(x.dims), got=got)


def _pick(s: Semantic, x: Tensor, axis: int, item: Any) -> _Pick:
    extent = x.dims[axis]
    if isinstance(item, slice):
        return _slice(s, x, extent, item)
    if isinstance(item, Tensor):
        if not isinstance(item.dtype, DType) or not item.dtype.is_int() or item.dtype.is_bool() or item.dims:
            _refuse(s, x, describe(item))
        known = literal_of(item)
        if known is None:
            return _Pick(0, extent, 1, index=item, drop=True)
        item = known
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        _refuse(s, x, describe(item))
    number = item.__index__()
    if not -extent <= number < extent:
        s.fail("TRI0419", index=number, what=f"axis {axis}", length=extent)
    return _Pick(number % extent, 1, 1, drop=True)


def _slice(s: Semantic, x: Tensor, extent: int, item: slice) -> _Pick:
    bounds = [
        None if unwrap(p) is None else s.const_int(p, f"the {what} of a slice")
        for p, what in ((item.start, "start"), (item.stop, "stop"), (item.step, "step"))
    ]
    if bounds[2] == 0:
        _refuse(s, x, "a slice in steps of 0")
    start, stop, step = slice(*bounds).indices(extent)
    count = len(range(start, stop, step))
    if count == 0:
        _refuse(s, x, f"a slice without elements ({start}:{stop}:{step})")
    return _Pick(start, count, step)


def _apply(s: Semantic, x: Tensor, picks: Sequence[_Pick], layout: Sequence[int | None]) -> Tensor:
    if any((p.start, p.extent, p.step) != (0, d, 1) for p, d in zip(picks, x.dims, strict=True)):
        parts = zip(*((p.start, p.extent, p.step) for p in picks), strict=True)
        starts, extents, steps = (tuple(part) for part in parts)
        x = s.emit(Slice, x, starts=starts, extents=extents, steps=steps)
    run_time = [a for a, p in enumerate(picks) if p.index is not None]
    if run_time:
        x = s.emit(Extract, x, [picks[a].index for a in run_time], axes=tuple(run_time))
    kept = tuple(p.extent for p in picks if not p.drop)
    x = reshape_to(s, x, kept)
    for axis, source in enumerate(layout):
        if source is None:
            x = s.emit(ExpandDims, x, axis=axis)
    return x
