"""Which addresses belong to the view that was passed, element by element.

A view is more than an interval: the columns between the rows of ``x[:, :5]`` are inside its storage and not in it. Where
the elements of a view lie without gaps the question is an interval; otherwise a map of the span answers it, one bool per
element. Maps depend on shape and strides alone and are kept for the next launch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.backends.interp.memory import View
from tritium.ops.base import Array
from tritium.sanitizer.findings import Argument

_KEPT_MAPS = 16
_maps: OrderedDict[tuple[tuple[int, ...], tuple[int, ...]], Array] = OrderedDict()


class Extent:
    """A passed view as a set of addresses: ``[low, high)`` bytes, `dense` if no byte in between is outside."""

    __slots__ = ("_map", "dense", "high", "low", "size", "view")

    def __init__(self, view: View) -> None:
        self.view = view
        self.size = view.dtype.itemsize
        self.low, self.high = view.bounds()
        self.dense = _is_dense(view.shape, view.strides)
        self._map: Array | None = None

    @property
    def argument(self) -> Argument:
        v = self.view
        return Argument(v.name, v.dtype.name, v.shape, v.strides)

    def holds_range(self, first: int, last: int, size: int) -> bool:
        """Whether every access of `size` bytes from `first` to `last`, whatever lies between, is inside."""
        return self.dense and first >= self.low and last + size <= self.high

    def holds(self, at: Array, size: int) -> Array:
        """Which accesses of `size` bytes at the addresses `at` touch elements of the view only."""
        inside = (at >= self.low) & (at <= self.high - size)
        if self.dense:
            return inside
        where = self.element_map()
        first = np.where(inside, (at - self.low) // self.size, 0)
        inside &= where[first]
        if size != self.size or bool(((at - self.low) % self.size).any()):
            last = np.where(inside, (at - self.low + size - 1) // self.size, 0)
            inside &= where[last]
        return inside

    def coordinates(self, address: int) -> tuple[int, ...] | None:
        """The index of the element at an address, or None if the view has no such element."""
        rest = (address - self.view.address) // self.size
        shape, strides = self.view.shape, self.view.strides
        found = [0] * len(shape)
        for i in sorted(range(len(shape)), key=lambda i: -abs(strides[i])):
            if strides[i] and shape[i] > 1:
                found[i] = min(max(int(rest / strides[i]), 0), shape[i] - 1)
                rest -= found[i] * strides[i]
        return None if rest else tuple(found)

    def element_map(self) -> Array:
        """Per element of the span, whether it belongs to the view."""
        if self._map is None:
            self._map = _element_map(self.view.shape, self.view.strides)
        return self._map


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements cover their span without gaps."""
    reach = 1
    for stride, extent in sorted((abs(s), d) for s, d in zip(strides, shape, strict=True) if d > 1 and s):
        if stride > reach:
            return False
        reach += stride * (extent - 1)
    return 0 not in shape


def _element_map(shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    key = (shape, strides)
    found = _maps.get(key)
    if found is None:
        reach = [(d - 1) * s for d, s in zip(shape, strides, strict=True)]
        found = np.zeros(max(1, 1 + sum(map(abs, reach))), np.bool_)
        if 0 not in shape:
            start = -sum(r for r in reach if r < 0)
            view: Any = np.lib.stride_tricks.as_strided(found[start:], shape, strides)
            view[...] = True
        _maps[key] = found
        while len(_maps) > _KEPT_MAPS:
            _maps.popitem(last=False)
    return found


def element_of(extents: Sequence[Extent], address: int) -> tuple[Extent | None, str]:
    """The view that an address belongs to and what the element is called: ``element [3, 1] of `out` ``."""
    for extent in extents:
        if extent.low <= address < extent.high:
            index = extent.coordinates(address)
            if index is not None:
                shown = list(index) if len(index) != 1 else index[0]
                return extent, f"element {shown} of `{extent.view.name}`"
    return None, f"the memory at {address:#x}"
