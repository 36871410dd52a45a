"""Atomic operations on tiles: every live lane applies, in lane order within a program and programs in order of ids.

Lanes that hit one address form a segment. Within it each lane sees what the lanes before it left, exactly as if they
had run one by one; floats round after every application. The work is vectorised over segments: prefix sums and scans
where the operation is associative on bits, otherwise one round per lane of the longest segment or one accumulation per
segment, whichever is less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tritium.backends.interp.access import program_order
from tritium.backends.interp.memory import ATOMIC_LOCK, Memory
from tritium.ir.types import DType, PointerType
from tritium.ops.base import Array
from tritium.ops.storage import storage_dtype

Binary = Callable[[Array, Array], Array]

_BITWISE: dict[str, Binary] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
}


def read_modify_write(
    memory: Memory,
    kind: str,
    at: Array,
    value: Array,
    mask: Array | None,
    ty: DType | PointerType,
    shape: tuple[int, ...],
    raw: bool,
) -> Array:
    """Apply `kind` and give the old value per lane of `shape` (batch and tile, whole); dead lanes give zero.

    kind: add, and, or, xor, xchg, max, min; an ``f`` or ``u`` in front names what the type already says, except that
    ``umax`` and ``umin`` compare integers as unsigned. Floats' max and min go by the order of their bits (-NaN <
    -inf < ... < -0 < +0 < ... < +inf < +NaN). Raises BadAddress or NotWritable.
    """
    out = np.zeros(shape, storage_dtype(ty))
    live, (where, operands) = _lanes(at, mask, (value,), shape)
    if not where.size:
        return out
    bits = np.ascontiguousarray(operands).view(f"u{ty.itemsize}")
    with ATOMIC_LOCK:
        old = _apply(memory, kind, where, bits, ty, raw)
    _scatter(out, live, old.view(out.dtype))
    return out


def compare_and_swap(
    memory: Memory,
    at: Array,
    compare: Array,
    value: Array,
    ty: DType | PointerType,
    shape: tuple[int, ...],
    raw: bool,
) -> Array:
    """Where memory holds the bits of `compare`, put `value`; gives the old values per lane of `shape`."""
    size = ty.itemsize
    out = np.zeros(shape, storage_dtype(ty))
    live, (where, expected, wanted) = _lanes(at, None, (compare, value), shape)
    expected, wanted = (np.ascontiguousarray(x).view(f"u{size}") for x in (expected, wanted))
    with ATOMIC_LOCK:
        cells, cell_of = _cells(where)
        old = memory.read(cells, size, raw)
        if cells.size == where.size:
            seen = old if cell_of is None else old[cell_of]
            hit = seen == expected
            memory.write(where[hit], wanted[hit], raw)
        else:
            assert cell_of is not None
            seen = _swap_one_by_one(old, cell_of, expected, wanted)
            memory.write(cells, old, raw)
    _scatter(out, live, seen.view(out.dtype))
    return out


def _swap_one_by_one(held: Array, cell_of: Array, expected: Array, wanted: Array) -> Array:
    """Compare-and-swap lane after lane on `held` (changed in place); gives what each lane saw."""
    cells: list[int] = held.tolist()
    seen: list[int] = []
    for cell, want, new in zip(cell_of.tolist(), expected.tolist(), wanted.tolist(), strict=True):
        seen.append(cells[cell])
        if cells[cell] == want:
            cells[cell] = new
    held[:] = cells
    return np.array(seen, held.dtype)


def _lanes(
    at: Array, mask: Array | None, values: tuple[Array, ...], shape: tuple[int, ...]
) -> tuple[Array | None, tuple[Array, ...]]:
    """Which lanes live (None: all), then addresses and values of those, flat in program order."""
    spread = [program_order(np.broadcast_to(x, shape)) for x in (at, *values)]
    if mask is None or mask.all():
        return None, tuple(x.reshape(-1) for x in spread)
    live = np.broadcast_to(mask, shape)
    ordered = program_order(live)
    return live, tuple(x[ordered] for x in spread)


def _scatter(out: Array, live: Array | None, old: Array) -> None:
    ordered = program_order(out)
    if live is None:
        ordered[...] = old.reshape(ordered.shape)
    else:
        ordered[program_order(live)] = old


def _cells(where: Array) -> tuple[Array, Array | None]:
    """The different addresses, and which of them each lane hits (None: lane i hits cell i)."""
    if where.size == 1 or (where[1:] > where[:-1]).all():
        return where, None
    cells, cell_of = np.unique(where, return_inverse=True)
    return cells, cell_of.reshape(-1)


def _apply(memory: Memory, kind: str, where: Array, bits: Array, ty: DType | PointerType, raw: bool) -> Array:
    """Read, combine, write; gives the old bits per lane."""
    name = kind[1:] if kind[0] in "uf" else kind
    domain = _Domain(ty, name, kind[0] == "u")
    cells, cell_of = _cells(where)
    held = domain.enter(memory.read(cells, ty.itemsize, raw))
    operands = domain.enter(bits)
    if cells.size == where.size:
        old = held if cell_of is None else held[cell_of]
        new = domain.combine(old, operands)
        memory.write(where, domain.leave(new), raw)
        return domain.leave(old)
    assert cell_of is not None
    segments = _Segments(cell_of, cells.size)
    old, new = segments.run(domain, held, operands)
    memory.write(cells, domain.leave(new), raw)
    return domain.leave(old)


class _Domain:
    """How bits are seen while they are combined: as the type itself, or as integers of the same order."""

    def __init__(self, ty: DType | PointerType, name: str, unsigned: bool) -> None:
        self.name = name
        self.bits = np.dtype(f"u{ty.itemsize}")
        self.is_float = isinstance(ty, DType) and ty.is_floating()
        self.ordered = name in ("max", "min")
        self.by_value = self.is_float and name == "add"
        signed = isinstance(ty, DType) and ty.is_int_signed() and not unsigned
        if self.by_value:
            self.dtype = storage_dtype(ty)
        elif self.ordered and (signed or self.is_float):
            self.dtype = np.dtype(f"i{ty.itemsize}")
        else:
            self.dtype = self.bits

    def enter(self, bits: Array) -> Array:
        seen = bits.view(self.dtype)
        return self._flip(seen) if self.ordered and self.is_float else seen

    def leave(self, x: Array) -> Array:
        return (self._flip(x) if self.ordered and self.is_float else x).view(self.bits)

    def _flip(self, x: Array) -> Array:
        """Float bits as integers of the same order, and back: negative numbers have their magnitude inverted."""
        width = 8 * x.dtype.itemsize
        return x ^ ((x >> (width - 1)) & x.dtype.type((1 << (width - 1)) - 1))

    def combine(self, held: Array, operand: Array) -> Array:
        if self.name == "add":
            return held + operand
        if self.name == "xchg":
            return operand
        return _BITWISE[self.name](held, operand)


class _Segments:
    """Lanes sorted by cell, lane order kept within a cell. `rank` is a lane's place within its segment."""

    def __init__(self, cell_of: Array, count: int) -> None:
        self.order = np.argsort(cell_of, kind="stable")
        self.cell = cell_of[self.order]
        self.sizes = np.bincount(cell_of, minlength=count)
        self.start = np.concatenate(([0], np.cumsum(self.sizes)[:-1]))
        self.rank = np.arange(cell_of.size) - self.start[self.cell]
        self.last = self.start + self.sizes - 1

    def run(self, domain: _Domain, held: Array, operands: Array) -> tuple[Array, Array]:
        """Old value per lane (in the lanes' own order) and final value per cell."""
        x = operands[self.order]
        if domain.name == "xchg":
            old, new = self._shifted(x, held), x[self.last]
        elif domain.by_value:
            old, new = self._accumulated(x, held)
        elif domain.name == "add":
            before = np.cumsum(x, dtype=x.dtype) - x
            old = held[self.cell] + (before - before[self.start][self.cell])
            new = old[self.last] + x[self.last]
        else:
            fn = _BITWISE[domain.name]
            upto = self._scanned(fn, x)
            old = np.where(self.rank == 0, held[self.cell], fn(held[self.cell], np.roll(upto, 1)))
            new = fn(held, upto[self.last])
        out: Array = np.empty_like(old)
        out[self.order] = old
        return out, new

    def _shifted(self, x: Array, held: Array) -> Array:
        before: Array = np.roll(x, 1)
        before[self.start] = held
        return before

    def _scanned(self, fn: Binary, x: Array) -> Array:
        """Inclusive scan of every segment."""
        out = x.copy()
        reach = 1
        longest = int(self.sizes.max())
        while reach < longest:
            joined = fn(out[:-reach], out[reach:])
            out[reach:] = np.where(self.rank[reach:] >= reach, joined, out[reach:])
            reach *= 2
        return out

    def _accumulated(self, x: Array, held: Array) -> tuple[Array, Array]:
        """Float sums in lane order, rounded after every addition."""
        if int(self.sizes.max()) <= held.size:
            return self._in_rounds(x, held)
        old: Any = np.empty_like(x)
        new = held.copy()
        for cell, (start, size) in enumerate(zip(self.start.tolist(), self.sizes.tolist(), strict=True)):
            sums = np.add.accumulate(np.concatenate((held[cell : cell + 1], x[start : start + size])))
            old[start : start + size] = sums[:-1]
            new[cell] = sums[-1]
        return old, new

    def _in_rounds(self, x: Array, held: Array) -> tuple[Array, Array]:
        old = np.empty_like(x)
        now = held.copy()
        by_rank = np.argsort(self.rank, kind="stable")
        bounds = np.cumsum(np.bincount(self.rank))
        for lanes in np.split(by_rank, bounds[:-1]):
            cells = self.cell[lanes]
            old[lanes] = now[cells]
            now[cells] = old[lanes] + x[lanes]
        return old, now
