"""Who touched which element of memory last, in one launch: the memory of the race checks."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from tritium.backends.interp.memory import Allocation
from tritium.ops.base import Array

Where = slice | Array
"""Cell numbers: an array, or a slice where they follow each other."""


def chosen(cells: Where, which: Array) -> Array:
    """Those of the cells that a mask or positions name."""
    if isinstance(cells, slice):
        positions = np.flatnonzero(which) if which.dtype == np.bool_ else which
        return positions + cells.start
    return cells[which]


@dataclass(slots=True)
class Touch:
    """One kind of access per cell. Programs are counted from 1; 0 is nobody. `site` numbers the op."""

    program: Array
    site: Array
    lane: Array
    stamp: Array

    @staticmethod
    def of(count: int) -> Touch:
        return Touch(*(np.zeros(count, t) for t in (np.int32, np.int16, np.int32, np.int32)))

    def put(
        self, cells: Where, programs: Array, site: int, lanes: Array | None, stamps: Array | None
    ) -> None:
        """Note an access. Readers need no lanes, and stamps only once some barrier has been passed."""
        self.program[cells] = programs
        self.site[cells] = site
        if lanes is not None:
            self.lane[cells] = lanes
        if stamps is not None:
            self.stamp[cells] = stamps


class Cells:
    """The cells of one allocation, each as large as the smallest element of its views.

    `reader` is the last instance that read a cell, `other_reader` the last one before it that was another.
    """

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        unit = 0
        for view in allocation.views:
            unit = gcd(unit, view.dtype.itemsize, view.address - allocation.base)
        self.unit = unit or 1
        count = -(-(allocation.end - allocation.base) // self.unit)
        self.stamped = False  # whether some writer has a stamp other than 0
        self.writer = Touch.of(count)
        self.reader = Touch.of(count)
        self.other_reader = Touch.of(count)

    def numbers(self, at: Array, size: int) -> tuple[Where, int]:
        """The cells of elements of `size` bytes, element after element, and how many there are per element."""
        relative = at - self.allocation.base
        shift = self.unit.bit_length() - 1
        first = relative >> shift if self.unit == 1 << shift else relative // self.unit
        if size == self.unit:
            count = first.size
            if (
                count > 1
                and int(first[-1]) - int(first[0]) == count - 1
                and (first[1:] - first[:-1] == 1).all()
            ):
                return slice(int(first[0]), int(first[0]) + count), 1
            return first, 1
        last = (relative + (size - 1)) // self.unit
        width = int((last - first).max()) + 1 if at.size else 1
        return np.minimum(first[:, None] + np.arange(width), last[:, None]).reshape(-1), width

    def bits(self, at: Array, size: int) -> Array | None:
        """What memory holds at aligned addresses, or None where they are not aligned alike."""
        relative = at - self.allocation.base
        phase = int(relative[0]) % size
        if size > 1 and ((relative % size) != phase).any():
            return None
        return self.allocation.flat(size, phase)[relative // size]
