"""Pointers as the interpreter holds them: a base and an element offset that are not added up until they must be.

Kernels write ``x_ptr + offsets`` for several arrays with the same offsets, and step pointers in loops by a scalar. Kept
apart, the large offset array is analysed once (is it a run along the last axis? how far does it reach?) and a loop
that moves a pointer adds to the small base only. `addresses` gives the plain byte addresses wherever they are needed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.ops.base import BATCH_AXES, Array

if TYPE_CHECKING:
    from tritium.backends.interp.batch import Selection


class Offset:
    """Element offsets (any integer dtype, batch and tile axes) with what is known about them."""

    __dict__: dict[str, Any]

    def __init__(self, array: Array) -> None:
        self.array = array

    @cached_property
    def step(self) -> int:
        """The difference of neighbours along the last axis if it is one positive number everywhere, else 0."""
        x = self.array
        n = x.shape[-1]
        if n == 1:
            return 0
        if x.dtype.kind == "u":
            x = x.view(f"i{x.dtype.itemsize}")
        row = x.reshape(-1, n)
        step = int(row[0, 1]) - int(row[0, 0])
        if step <= 0 or step * (n - 1) >= 1 << (8 * x.dtype.itemsize - 1):
            return 0
        if not (row[:, 1:] - row[:, :-1] == step).all():
            return 0
        # The differences above wrap as the offsets do: a row that wraps around is no run of addresses.
        last = self.array[..., -1].astype(np.int64) - self.array[..., 0].astype(np.int64)
        return step if (last == step * (n - 1)).all() else 0

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest offset."""
        return int(self.array.min()), int(self.array.max())


class Pointer:
    """Addresses ``base + size * offset``: `base` int64 bytes, `size` the element size in bytes."""

    __slots__ = ("base", "offset", "size")

    def __init__(self, base: Array, offset: Offset, size: int) -> None:
        self.base = base
        self.offset = offset
        self.size = size

    def take(self, selection: Selection) -> Pointer:
        return Pointer(selection.take(self.base), Offset(selection.take(self.offset.array)), self.size)

    def addresses(self) -> Array:
        return self.base + _scaled(self.offset.array, self.size)

    def mapped(self, fn: Any) -> Pointer:
        """Base and offset through `fn`, which only moves or repeats axes."""
        return Pointer(fn(self.base), Offset(fn(self.offset.array)), self.size)


def _scaled(offset: Array, size: int) -> Array:
    return offset.astype(np.int64, copy=False) * np.int64(size)


def addresses(x: Any) -> Any:
    """Byte addresses of a pointer value; any other value as it is."""
    return x.addresses() if isinstance(x, Pointer) else x


def _joint_size(a: Array, b: Array) -> int:
    n = 1
    for m, k in zip(a.shape, b.shape, strict=True):
        n *= max(m, k)
    return n


def advance(pointer: Array | Pointer, offset: Array | Offset, size: int) -> Array | Pointer:
    """`pointer` moved by `offset` elements of `size` bytes each.

    Kept apart is the offset that varies along the last axis, where runs of addresses are looked for; everything else
    goes into the base.
    """
    moved = offset if isinstance(offset, Offset) else Offset(offset)
    if isinstance(pointer, Pointer) and pointer.size != size:
        pointer = pointer.addresses()
    array = moved.array
    if array.ndim == BATCH_AXES or array.shape[-1] == 1:
        if isinstance(pointer, Pointer):
            return Pointer(pointer.base + _scaled(array, size), pointer.offset, size)
        return pointer + _scaled(array, size)
    if not isinstance(pointer, Pointer):
        return Pointer(pointer, moved, size)
    old = pointer.offset
    if _joint_size(pointer.base, array) <= _joint_size(pointer.base, old.array):
        return Pointer(pointer.base + _scaled(array, size), old, size)
    return Pointer(pointer.base + _scaled(old.array, size), moved, size)
