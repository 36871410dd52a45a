"""Program instances that run together, and the selecting of some of them.

A `Batch` is a box of the grid or a list of program instances. Arrays of a batch have three leading axes (see
`tritium.ops.base`); where the batch is a list it lies along the first, in order of the program ids::

    box (4, 2, 1)       program_id(0) has shape (4, 1, 1), program_id(1) has shape (1, 2, 1)
    list of 5           program_id(0) and program_id(1) have shape (5, 1, 1)

Where control flow diverges, a `Selection` says which instances of a batch go on: positions along one axis (the box
stays a box), or a list of positions. It takes arrays of the batch to arrays of the smaller batch; `merge` puts the
results of several selections together again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.backends.interp.pointers import Pointer, addresses
from tritium.ops.base import BATCH_AXES, Array

Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """shape: extents of the batch axes. ids: program ids per grid axis, int32, as small as broadcasting allows.

    `grid` holds the extents of the whole grid. A batch of lanes (see `diverge.apply_region`) has no ids.
    """

    shape: Extents
    ids: tuple[Array, ...]
    grid: Extents

    @staticmethod
    def box(start: Extents, stop: Extents, grid: Extents) -> Batch:
        """The instances from `start` up to, not including, `stop`."""
        ids: list[Array] = []
        for axis in range(BATCH_AXES):
            shape = [1, 1, 1]
            shape[axis] = -1
            ids.append(np.arange(start[axis], stop[axis], dtype=np.int32).reshape(shape))
        extents = (stop[0] - start[0], stop[1] - start[1], stop[2] - start[2])
        return Batch(extents, tuple(ids), grid)

    @property
    def count(self) -> int:
        return self.shape[0] * self.shape[1] * self.shape[2]

    def program(self, position: Sequence[int]) -> Extents:
        """The program ids of the instance at `position` (an index per batch axis)."""
        if not self.ids:
            return 0, 0, 0
        found = [
            int(ids[tuple(p if n > 1 else 0 for p, n in zip(position, ids.shape, strict=True))])
            for ids in self.ids
        ]
        return found[0], found[1], found[2]

    def label(self, position: Sequence[int]) -> str:
        """How messages name the instance at `position`."""
        return f"program {self.program(position)}" if self.ids else "an element of a combine function"

    def positions(self) -> list[Extents]:
        """Every position, in order of the program ids."""
        nx, ny, nz = self.shape
        return [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]

    def select(self, selection: Selection) -> Batch:
        ids = tuple(selection.take(i) for i in self.ids)
        if selection.axis is None:
            shape: Extents = (len(selection.index[0]), 1, 1)
        else:
            extents = list(self.shape)
            extents[selection.axis] = len(selection.index[0])
            shape = (extents[0], extents[1], extents[2])
        return Batch(shape, ids, self.grid)


class Selection:
    """Some instances of a batch, in order of their ids.

    axis is a batch axis: ``index[0]`` are positions along it, the other axes stay whole.
    axis is None: ``index`` are three arrays of positions, and the selected instances form a list.
    """

    __slots__ = ("axis", "index")

    def __init__(self, axis: int | None, *index: Array) -> None:
        self.axis = axis
        self.index = index

    @staticmethod
    def where(condition: Array, batch: Batch) -> Selection:
        """The instances for which `condition` (i1, broadcasting against the batch) holds."""
        varying = [axis for axis in range(BATCH_AXES) if condition.shape[axis] > 1]
        if len(varying) == 1:
            return Selection(varying[0], np.flatnonzero(condition))
        whole = np.broadcast_to(condition, batch.shape)
        z, y, x = np.nonzero(whole.transpose(2, 1, 0))
        return Selection(None, x, y, z)

    def take(self, value: Any) -> Any:
        """`value` of the batch as a value of the selected instances."""
        if isinstance(value, np.ndarray):
            return self._take(value)
        return value.take(self)  # a Pointer or a Tracked, which take their parts

    def _take(self, x: Array) -> Array:
        if self.axis is not None:
            return x if x.shape[self.axis] == 1 else x.take(self.index[0], self.axis)
        if x.shape[:BATCH_AXES] == (1, 1, 1):
            return x
        at = tuple(i if n > 1 else 0 for i, n in zip(self.index, x.shape, strict=False))
        found = x[at]
        return found.reshape((found.shape[0], 1, 1, *found.shape[1:]))

    def put(self, out: Array, value: Array) -> None:
        """Write `value` of the selected instances to their places in `out`, an array of the batch."""
        if self.axis is not None:
            at: list[Any] = [slice(None)] * out.ndim
            at[self.axis] = self.index[0]
            out[tuple(at)] = value
        else:
            out[self.index] = value.reshape(value.shape[:1] + value.shape[BATCH_AXES:])

    def continued(self, condition: Array, inner: Batch) -> Selection:
        """Those of `inner`, the batch this selection gives, for which `condition` holds, so that `then` can follow.

        Positions along another axis than this selection's would make a box that no selection of the outer batch
        gives; they become a list.
        """
        chosen = Selection.where(condition, inner)
        if self.axis is None or chosen.axis is None or chosen.axis == self.axis:
            return chosen
        return Selection(None, *_listed(chosen, inner.shape))

    def then(self, inner: Selection) -> Selection:
        """The selection that gives at once what `inner` (see `continued`) selects from what this one gives."""
        if self.axis is None:
            return Selection(None, *(i[inner.index[0]] for i in self.index))
        if inner.axis == self.axis:
            return Selection(self.axis, self.index[0][inner.index[0]])
        assert inner.axis is None
        index = list(inner.index)
        index[self.axis] = self.index[0][index[self.axis]]
        return Selection(None, *index)


def _listed(selection: Selection, shape: Extents) -> tuple[Array, ...]:
    """The positions of a selection along one axis as three arrays, in order of the program ids."""
    assert selection.axis is not None
    extents: list[Array] = [np.arange(n) for n in shape]
    extents[selection.axis] = selection.index[0]
    z, y, x = np.meshgrid(extents[2], extents[1], extents[0], indexing="ij")
    return x.ravel(), y.ravel(), z.ravel()


def merge(pieces: Sequence[tuple[Selection, Any]], batch: Batch) -> Any:
    """One value of `batch` from values of selections that together cover it."""
    for _, value in pieces:
        if not isinstance(value, (np.ndarray, Pointer)):  # a value with shadow planes: it merges its parts
            return value.merge(pieces, batch)
    arrays = [(s, addresses(v)) for s, v in pieces]
    axes = {s.axis for s, _ in arrays}
    rank = arrays[0][1].ndim
    tile = tuple(max(v.shape[k] for _, v in arrays) for k in range(BATCH_AXES, rank))
    if len(axes) == 1 and None not in axes:
        (axis,) = axes
        extents = [max(v.shape[k] for _, v in arrays) for k in range(BATCH_AXES)]
        extents[axis] = batch.shape[axis]  # type: ignore[index]
        shape = (*extents, *tile)
    else:
        shape = (*batch.shape, *tile)
    out = np.empty(shape, arrays[0][1].dtype)
    for selection, value in arrays:
        selection.put(out, value)
    return out
