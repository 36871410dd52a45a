"""How two register layouts of one tile relate: what has to happen to turn the one into the other."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import by_thread

if TYPE_CHECKING:
    from tritium.layout.digits import Layout

IntArray = npt.NDArray[np.int64]
_NOTHING = np.iinfo(np.int64).max


class Relation(Enum):
    """From cheapest to dearest."""

    SAME = "same"
    REGISTER_PERMUTATION = "register permutation"
    SHUFFLE = "shuffle"
    SHARED = "shared"

    def __str__(self) -> str:
        return self.value


def relation(first: Layout, second: Layout) -> Relation:
    """SAME: equal register by register. REGISTER_PERMUTATION: each lane holds the same elements. SHUFFLE: each
    warp does. SHARED: some element has to change warps.

    Overhang holds nothing, and a copy of an element counts once. LayoutError if the tile shapes differ.
    """
    if first.shape != second.shape or first.outputs != second.outputs:
        raise LayoutError(
            f"Layouts of different tiles have no relation: {tuple(first.shape.items())} and "
            f"{tuple(second.shape.items())}."
        )
    mine, yours = (by_thread(layout, layout.flat_elements) for layout in (first, second))
    if mine.shape == yours.shape and np.array_equal(mine, yours):
        return Relation.SAME
    if mine.shape[:2] == yours.shape[:2] and _same_sets(_rows(mine, 2), _rows(yours, 2)):
        return Relation.REGISTER_PERMUTATION
    if mine.shape[0] == yours.shape[0] and _same_sets(_rows(mine, 1), _rows(yours, 1)):
        return Relation.SHUFFLE
    return Relation.SHARED


def _rows(elements: IntArray, axes: int) -> IntArray:
    count = int(np.prod(elements.shape[:axes]))
    return elements.reshape(count, -1)


def _same_sets(first: IntArray, second: IntArray) -> bool:
    mine, yours = _distinct(first), _distinct(second)
    width = min(mine.shape[1], yours.shape[1])
    rest = (mine if mine.shape[1] > width else yours)[:, width:]
    return np.array_equal(mine[:, :width], yours[:, :width]) and bool((rest == _NOTHING).all())


def _distinct(rows: IntArray) -> IntArray:
    """Each row's different elements in order, then fill."""
    rows = np.where(rows < 0, _NOTHING, rows)
    rows.sort(axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = _NOTHING
    rows.sort(axis=1)
    return rows
