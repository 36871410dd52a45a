"""Tile loads and stores on `Memory`: broadcasting, masks, order of lanes, and the fast way for runs of elements.

Where the last axis of a pointer tile walks through memory with one stride, a tile row is one strided slice of the
allocation, and a tile is moved row by row instead of element by element (four to eight times faster). Everything else
goes through element indices.

Elements are unsigned integers of their size here ("bits"); the caller views them as what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.backends.interp.memory import Allocation, Memory, NotWritable
from tritium.backends.interp.pointers import Pointer, addresses
from tritium.ops.base import BATCH_AXES, Array

_SHORT_ROW = 4  # below this, element indices are as fast


def program_order(x: Array) -> Array:
    """`x` with its batch axes reversed, so that row-major order is the order of program ids, then of lanes."""
    if x.shape[1] == 1 and x.shape[2] == 1:
        return x
    return x.transpose(2, 1, 0, *range(BATCH_AXES, x.ndim))


class _Rows:
    """A pointer tile whose rows are runs: `start` addresses (batch and leading tile axes), `length`, `step`.

    `phase` is how far into an element of the allocation the rows start; `aligned` finds it.
    """

    __slots__ = ("length", "phase", "size", "span", "start", "step")

    def __init__(self, start: Array, length: int, step: int, size: int) -> None:
        self.start = start
        self.length = length
        self.step = step
        self.size = size
        self.span = (
            (length - 1) * step + 1
        ) * size  # bytes from the first element's start to the last one's end
        self.phase = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.start.shape, self.length)

    def starting(self, start: Array) -> _Rows:
        """Rows like these that start elsewhere, aligned as these are."""
        made = _Rows(start, self.length, self.step, self.size)
        made.phase = self.phase
        return made

    def holder(self, memory: Memory) -> Allocation | None:
        """The allocation that holds every row as a whole, if the rows are aligned alike."""
        found = memory.find(int(self.start.min()), int(self.start.max()) + self.span)
        return found if found is not None and self.aligned(found) else None

    def aligned(self, allocation: Allocation) -> bool:
        """Whether all rows start at the same phase within an element, seen from the allocation's base."""
        if self.size == 1:
            return True
        relative = (self.start - allocation.base) & (self.size - 1)
        self.phase = int(relative.flat[0])
        return bool((relative == self.phase).all())

    def view(self, allocation: Allocation) -> tuple[Array, Array]:
        """All possible rows of the allocation, for which these are `aligned`, and which of them `start` names."""
        index = (self.start - (allocation.base + self.phase)) >> (self.size.bit_length() - 1)
        return allocation.rows(self.size, self.phase, self.length, self.step), index


def _rows_of(ptr: Any, size: int) -> _Rows | None:
    if (
        not isinstance(ptr, Pointer)
        or ptr.size != size
        or ptr.base.shape[-1] != 1
        or ptr.base.ndim == BATCH_AXES
    ):
        return None
    offsets = ptr.offset.array
    length = offsets.shape[-1]
    if length < _SHORT_ROW or not ptr.offset.step:
        return None
    start = ptr.base[..., 0] + offsets[..., 0].astype(np.int64) * np.int64(size)
    return _Rows(start, length, ptr.offset.step, size)


def _bits(x: Array, size: int) -> Array:
    return x.view(f"u{size}")


def load(memory: Memory, ptr: Any, mask: Array | None, other: Array | None, size: int, raw: bool) -> Array:
    """The bits that the live lanes point at; dead lanes give `other`, else zero. Raises BadAddress."""
    if mask is not None and mask.all():
        mask = None
    rows = _rows_of(ptr, size)
    if rows is not None:
        found = _load_rows(memory, rows, mask, size, raw)
        if found is not None:
            if mask is None:
                return found
            return np.where(mask, found, np.zeros((), found.dtype) if other is None else _bits(other, size))
    return _load_lanes(memory, addresses(ptr), mask, other, size, raw)


def _load_rows(memory: Memory, rows: _Rows, mask: Array | None, size: int, raw: bool) -> Array | None:
    holder = rows.holder(memory)
    if holder is not None:
        every, index = rows.view(holder)
        return every[index]
    if mask is None:
        return None
    return _load_ragged(memory, rows, mask, size, raw)


def _load_ragged(memory: Memory, rows: _Rows, mask: Array, size: int, raw: bool) -> Array | None:
    """Rows of which some reach out of the allocation: those go lane by lane under the mask."""
    first = int(rows.start.flat[0])
    holder = memory.find(first, first + rows.span)
    shape = rows.shape
    if holder is None or not rows.aligned(holder) or np.broadcast_shapes(shape, mask.shape) != shape:
        return None
    start = rows.start.reshape(-1)
    inside = (start >= holder.base) & (start + rows.span <= holder.end)
    out = np.empty((start.size, rows.length), f"u{size}")
    every, index = rows.starting(start[inside]).view(holder)
    out[inside] = every[index]
    rest = ~inside
    at = start[rest][:, None] + np.arange(rows.length) * (rows.step * size)
    live = np.broadcast_to(mask, shape).reshape(out.shape)[rest]
    out[rest] = _load_lanes(memory, at, live, None, size, raw)
    return out.reshape(shape)


def _load_lanes(
    memory: Memory, at: Array, mask: Array | None, other: Array | None, size: int, raw: bool
) -> Array:
    if mask is None:
        return memory.read(at.reshape(-1), size, raw).reshape(at.shape)
    if other is None:
        shape = np.broadcast_shapes(at.shape, mask.shape)
        out = np.zeros(shape, f"u{size}")
    else:
        shape = np.broadcast_shapes(at.shape, mask.shape, other.shape)
        out = np.empty(shape, f"u{size}")
        out[...] = _bits(other, size)
    whole = np.broadcast_to(mask, shape)
    out[whole] = memory.read(np.broadcast_to(at, shape)[whole], size, raw)
    return out


def live_lanes(at: Array, mask: Array | None, *values: Array) -> tuple[Array, ...]:
    """The addresses and `values` of the live lanes, flat, in order of program ids and then of lanes."""
    arrays = (at, *values)
    if mask is None:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        return tuple(program_order(np.broadcast_to(x, shape)).reshape(-1) for x in arrays)
    shape = np.broadcast_shapes(mask.shape, *(x.shape for x in arrays))
    whole = program_order(np.broadcast_to(mask, shape))
    return tuple(program_order(np.broadcast_to(x, shape))[whole] for x in arrays)


def store(memory: Memory, ptr: Any, value: Array, mask: Array | None, size: int, raw: bool) -> None:
    """Write the live lanes of `value`; where lanes share an address the last one wins. Raises BadAddress."""
    bits = _bits(value, size)
    if mask is not None and mask.all():
        mask = None
    rows = _rows_of(ptr, size) if not memory.watching else None
    if rows is not None:
        stored = (
            _store_rows(memory, rows, bits) if mask is None else _store_ragged(memory, rows, bits, mask, raw)
        )
        if stored:
            return
    at, bits = live_lanes(addresses(ptr), mask, bits)
    memory.write(at, bits, raw)


def _store_rows(memory: Memory, rows: _Rows, bits: Array) -> bool:
    holder = rows.holder(memory)
    if holder is None:
        return False
    shape = np.broadcast_shapes(rows.shape, bits.shape)
    start = program_order(np.broadcast_to(rows.start, shape[:-1])).reshape(-1)
    _put_rows(holder, rows.starting(start), _in_rows(bits, shape))
    return True


def _store_ragged(memory: Memory, rows: _Rows, bits: Array, mask: Array, raw: bool) -> bool:
    """Rows that live as a whole are moved as such, the others lane by lane; only where no two rows overlap."""
    shape = np.broadcast_shapes(rows.shape, bits.shape, mask.shape)
    start = program_order(np.broadcast_to(rows.start, shape[:-1])).reshape(-1)
    if not (start[1:] - start[:-1] >= rows.span).all():
        return False
    live = _in_rows(mask, shape)
    whole = live.all(1)
    if not whole.any():
        return False
    complete = _Rows(start[whole], rows.length, rows.step, rows.size)
    holder = complete.holder(memory)
    if holder is None or not holder.writable:
        return False
    values = _in_rows(bits, shape)
    rest = ~whole
    at = start[rest][:, None] + np.arange(rows.length) * (rows.step * rows.size)
    chosen = live[rest]
    memory.write(at[chosen], values[rest][chosen], raw)  # first: it may find an address out of bounds
    _put_rows(holder, complete, values[whole])
    return True


def _in_rows(x: Array, shape: tuple[int, ...]) -> Array:
    return program_order(np.broadcast_to(x, shape)).reshape(-1, shape[-1])


def _put_rows(holder: Allocation, rows: _Rows, values: Array) -> None:
    if not holder.writable:
        raise NotWritable(holder)
    every, index = rows.view(holder)
    every[index] = values
