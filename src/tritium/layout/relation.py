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

    Overhang holds nothing, and a copy of an element counts once. Axes match by position, their names do not
    matter. LayoutError if the tile shapes differ.
    """
    shapes = [tuple(layout.shape.values()) for layout in (first, second)]
    if shapes[0] != shapes[1]:
        raise LayoutError(f"Layouts of different tiles have no relation: {shapes[0]} and {shapes[1]}.")
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


def register_map(source: Layout, target: Layout) -> tuple[int, ...] | None:
    """For each register of `target`, the register of `source` that holds its elements in every lane and warp.

    None if some element has to come from another lane. An axis on which `source` has extent 1 is broadcast, so
    this also says which register of a row or column vector meets each register of the full tile. Overhanging
    elements of `target` may come from anywhere. LayoutError if the shapes do not broadcast.
    """
    small, full = tuple(source.shape.values()), tuple(target.shape.values())
    if len(small) != len(full) or any(have not in (1, want) for have, want in zip(small, full, strict=True)):
        raise LayoutError(f"A tile of shape {small} does not broadcast to {full}.")
    have = by_thread(source, source.flat_elements)
    need = by_thread(target, _elements_of(target, small))
    if have.shape[:2] != need.shape[:2]:
        return None
    have, need = _rows(have, 2), _rows(need, 2)
    # A register adds the same to the coordinates in every thread, so one thread that needs it decides.
    deciding = (need >= 0).argmax(axis=0)
    candidates = have[deciding] == need[deciding, np.arange(need.shape[1])][:, None]
    chosen = candidates.argmax(axis=1)
    if not ((have[:, chosen] == need) | (need < 0)).all():
        return None
    return tuple(int(reg) for reg in chosen)


def _elements_of(target: Layout, small: tuple[int, ...]) -> IntArray:
    """Row-major element of a tile of shape `small` that each place of `target` needs, -1 for overhang."""
    flat = np.zeros(target.flat_elements.shape, dtype=np.int64)
    for coordinate, extent in zip(target.table(), small, strict=True):
        flat = flat * extent + (coordinate if extent > 1 else 0)
    return np.where(target.flat_elements < 0, -1, flat)
