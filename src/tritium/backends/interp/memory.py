"""Host memory as a kernel sees it: the storages of the arrays that were passed, found by byte address.

`Memory` holds one `Allocation` per storage: the whole memory block that the passed view lies in, since reading inside
the storage but outside the view is allowed and gives what is there. Every access names int64 byte addresses; an
address outside all allocations is refused before anything is read or written.

Elements move as unsigned integers of their size, so that no format of the language needs care here.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tritium.backends.interp.mapped import mapped_block
from tritium.ir.types import DType
from tritium.ops.base import Array

ATOMIC_LOCK = threading.RLock()
"""Held while an atomic operation reads and writes, so that launches from several Python threads see it whole."""


class ArrayArgument(Protocol):
    """An array as the launch passes it; `tritium.runtime.arrays.ArrayView` is one. Strides are in elements."""

    @property
    def address(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def storage_address(self) -> int: ...
    @property
    def storage_nbytes(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def owner(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class View:
    """What was passed: argument `name` at byte `address`. `numel` is the product of `shape`; strides in elements."""

    name: str
    address: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writable: bool

    @property
    def numel(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def bounds(self) -> tuple[int, int]:
        """First byte, and one past the last byte, of the elements of the view."""
        if not self.numel:
            return self.address, self.address
        reach = [(d - 1) * s * self.dtype.itemsize for d, s in zip(self.shape, self.strides, strict=True)]
        low = self.address + sum(r for r in reach if r < 0)
        return low, self.address + sum(r for r in reach if r > 0) + self.dtype.itemsize


class Allocation:
    """One block of host memory, ``[base, end)``, with the views of it that were passed."""

    __slots__ = ("_flat", "base", "data", "end", "views", "writable")

    def __init__(self, base: int, nbytes: int, views: Sequence[View] = (), writable: bool = True) -> None:
        self.base = base
        self.end = base + nbytes
        self.views = list(views)
        self.writable = writable
        self.data: Array = np.frombuffer(memoryview((ctypes.c_uint8 * nbytes).from_address(base)), np.uint8)
        self._flat: dict[tuple[int, int], Array] = {}

    def flat(self, size: int, phase: int) -> Array:
        """The block as elements of `size` bytes, the first of them `phase` bytes after `base`."""
        found = self._flat.get((size, phase))
        if found is None:
            count = max(0, (self.end - self.base - phase) // size)
            found = np.ndarray((count,), f"u{size}", self.data, phase, (size,))
            self._flat[size, phase] = found
        return found

    def rows(self, size: int, phase: int, length: int, step: int) -> Array:
        """Every run of `length` elements, `step` elements apart, as a row; row i starts at element i of `flat`."""
        count = (self.end - self.base - phase) // size
        return np.ndarray(
            (count - (length - 1) * step, length), f"u{size}", self.data, phase, (size, step * size)
        )


class BadAddress(Exception):
    """Some lane's address belongs to nothing that was passed. `lane` counts within the addresses given."""

    def __init__(self, lane: int, address: int) -> None:
        super().__init__(lane, address)
        self.lane = lane
        self.address = address


class NotWritable(Exception):
    """A store to a read-only array."""

    def __init__(self, allocation: Allocation) -> None:
        super().__init__()
        self.allocation = allocation


class Memory:
    """The allocations of one launch.

    `version` counts the changes of memory while `watching` is on: the fair scheduler asks whether anything happened.
    """

    def __init__(self, arguments: Iterable[tuple[str, ArrayArgument]] = ()) -> None:
        self.watching = False
        self.version = 0
        self.owners: list[Any] = []
        blocks: list[tuple[int, int, View]] = []
        for name, a in arguments:
            _remember(a)
            self.owners.append(a.owner)
            view = View(name, a.address, a.dtype, tuple(a.shape), tuple(a.strides), a.writable)
            low, high = view.bounds()
            start = min(low, a.storage_address)
            blocks.append((start, max(high, a.storage_address + a.storage_nbytes), view))
        self.allocations = _joined(blocks)
        self._bases = [a.base for a in self.allocations]
        self._base_array = np.array(self._bases, np.int64)
        self._end_array = np.array([a.end for a in self.allocations], np.int64)

    # ---- finding -------------------------------------------------------------------------------------

    def find(self, low: int, high: int) -> Allocation | None:
        """The allocation that holds the bytes ``[low, high)``, or None."""
        i = bisect_right(self._bases, low) - 1
        if i < 0:
            return None
        found = self.allocations[i]
        return found if high <= found.end else None

    def nearest(self, address: int) -> tuple[Allocation, View] | None:
        """The passed view closest to `address`."""
        best: tuple[int, Allocation, View] | None = None
        for allocation in self.allocations:
            for view in allocation.views:
                low, high = view.bounds()
                distance = max(low - address, address - high + 1, 0)
                if best is None or distance < best[0]:
                    best = (distance, allocation, view)
        return best[1:] if best is not None else None

    def groups(self, at: Array, size: int, raw: bool) -> list[tuple[Allocation, Array | None]]:
        """The allocations that the flat, non-empty addresses `at` fall into, each with its lanes (None: all).

        With `raw`, addresses that no argument holds are looked up among arrays seen by earlier launches and, failing
        that, taken as they are if the process has such memory. Raises BadAddress.
        """
        low, high = int(at.min()), int(at.max()) + size
        one = self.find(low, high)
        if one is not None:
            return [(one, None)]
        which = np.searchsorted(self._base_array, at, "right") - 1
        known = which >= 0
        if self.allocations:
            known &= at + size <= self._end_array[np.maximum(which, 0)]
        groups: list[tuple[Allocation, Array | None]] = [
            (self.allocations[i], np.flatnonzero(known & (which == i))) for i in np.unique(which[known])
        ]
        unknown = np.flatnonzero(~known)
        if unknown.size:
            if not raw:
                raise BadAddress(int(unknown[0]), int(at[unknown[0]]))
            groups.extend(_raw_groups(at, unknown, size))
        return groups

    # ---- moving elements -----------------------------------------------------------------------------

    def read(self, at: Array, size: int, raw: bool = False) -> Array:
        """The elements of `size` bytes at the flat addresses `at`, as unsigned integers. Raises BadAddress."""
        if not at.size:
            return np.empty(0, f"u{size}")
        groups = self.groups(at, size, raw)
        if len(groups) == 1 and groups[0][1] is None:
            return _read_block(groups[0][0], at, size)
        out = np.empty(at.size, f"u{size}")
        for allocation, lanes in groups:
            out[lanes] = _read_block(allocation, at[lanes], size)
        return out

    def write(self, at: Array, bits: Array, raw: bool = False) -> None:
        """Store `bits` (unsigned integers) at the flat addresses `at`; of equal addresses the last one wins.

        Raises BadAddress or NotWritable before anything is written.
        """
        if not at.size:
            return
        size = bits.dtype.itemsize
        groups = self.groups(at, size, raw)
        for allocation, _ in groups:
            if not allocation.writable:
                raise NotWritable(allocation)
        if self.watching and not np.array_equal(self.read(at, size, raw), bits):
            self.version += 1
        for allocation, lanes in groups:
            if lanes is None:
                _write_block(allocation, at, bits)
            else:
                _write_block(allocation, at[lanes], bits[lanes])


def _joined(blocks: list[tuple[int, int, View]]) -> list[Allocation]:
    """One allocation per run of overlapping blocks: several arguments may be views of one storage."""
    merged: list[tuple[int, int, list[View]]] = []
    for start, end, view in sorted(blocks, key=lambda b: b[:2]):
        if merged and start < merged[-1][1]:
            last = merged[-1]
            merged[-1] = (last[0], max(last[1], end), [*last[2], view])
        else:
            merged.append((start, end, [view]))
    return [Allocation(s, e - s, views, any(v.writable for v in views)) for s, e, views in merged if e > s]


def _index(allocation: Allocation, at: Array, size: int) -> tuple[Array | None, int]:
    """Element indices of the addresses and their common phase; no indices if the phases differ."""
    relative = at - allocation.base
    if size == 1:
        return relative, 0
    phase = int(relative[0]) & (size - 1)
    if ((relative & (size - 1)) != phase).any():
        return None, 0
    return relative >> (size.bit_length() - 1), phase


def _read_block(allocation: Allocation, at: Array, size: int) -> Array:
    index, phase = _index(allocation, at, size)
    if index is not None:
        return allocation.flat(size, phase).take(index)
    return _bytes_of(allocation, at, size)[0].view(f"u{size}").reshape(-1)


def _write_block(allocation: Allocation, at: Array, bits: Array) -> None:
    size = bits.dtype.itemsize
    index, phase = _index(allocation, at, size)
    if index is not None:
        allocation.flat(size, phase)[index] = bits
        return
    _, where = _bytes_of(allocation, at, size)
    # Byte by byte in lane order: lanes that overlap partly must leave what the last one wrote.
    allocation.data[where.reshape(-1)] = np.ascontiguousarray(bits).view(np.uint8).reshape(-1)


def _bytes_of(allocation: Allocation, at: Array, size: int) -> tuple[Array, Array]:
    where = (at - allocation.base)[:, None] + np.arange(size)
    return np.ascontiguousarray(allocation.data.take(where)), where


# ---- arrays seen by earlier launches --------------------------------------------------------------------

_seen: dict[int, tuple[int, weakref.ref[Any]]] = {}
_seen_lock = threading.Lock()


def _remember(a: ArrayArgument) -> None:
    """Note the storage of an array, for as long as the caller keeps it, so that pointer tables can be checked."""
    try:
        owner = weakref.ref(a.owner)
    except TypeError:  # not every array object can be watched; it is then found only as memory of the process
        return
    with _seen_lock:
        _seen[a.storage_address] = (a.storage_nbytes, owner)
        if len(_seen) > 4096:
            for base in [b for b, (_, ref) in _seen.items() if ref() is None]:
                del _seen[base]


def _seen_block(address: int, size: int) -> tuple[int, int] | None:
    with _seen_lock:
        for base, (nbytes, owner) in _seen.items():
            if base <= address and address + size <= base + nbytes and owner() is not None:
                return base, nbytes
    return None


def _raw_groups(at: Array, lanes: Array, size: int) -> list[tuple[Allocation, Array]]:
    """Allocations for addresses that no argument holds, made on the spot."""
    groups: list[tuple[Allocation, Array]] = []
    rest = lanes
    while rest.size:
        first = int(at[rest[0]])
        seen = _seen_block(first, size)
        if seen is not None:
            inside = (at[rest] >= seen[0]) & (at[rest] + size <= seen[0] + seen[1])
            groups.append((Allocation(*seen), rest[inside]))
            rest = rest[~inside]
            continue
        block = mapped_block(at[rest], size)
        if block is None:
            raise BadAddress(int(rest[0]), first)
        start, end, inside = block
        groups.append((Allocation(start, end - start), rest[inside]))
        rest = rest[~inside]
    return groups
