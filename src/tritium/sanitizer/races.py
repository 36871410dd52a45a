"""Races: instances, or lanes of one instance, whose accesses to one element nothing orders.

Only memory that the kernel writes is followed. Instances run in some order here; what is reported does not hang on it:
two accesses race if neither knows of the other (`tritium.sanitizer.order`), one of them writes, and they are not both
atomic. Two plain writes of the same value are no race.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.memory import Allocation
from tritium.backends.interp.pointers import addresses
from tritium.ir.core import Op
from tritium.ops.base import BATCH_AXES, Array, Effect
from tritium.sanitizer.cells import Cells, Touch, chosen
from tritium.sanitizer.context import Launch
from tritium.sanitizer.findings import Related
from tritium.sanitizer.order import Order
from tritium.sanitizer.sites import is_volatile, synchronises
from tritium.sanitizer.views import Extent, element_of

if TYPE_CHECKING:
    from tritium.sanitizer.machine import CheckingInterpreter


class _Lanes:
    """The live lanes of an access within one allocation, flat.

    at, program, lane   per lane its address, its instance (counted from 1) and its position in the tile
    where, width        the cells of all lanes, so many per lane
    """

    __slots__ = ("_value", "at", "cells", "lane", "program", "where", "width")

    def __init__(
        self,
        cells: Cells,
        at: Array,
        program: Array,
        lane: Array,
        value: Callable[[], Array] | None,
        size: int,
    ) -> None:
        self.cells = cells
        self.at = at
        self.where, self.width = cells.numbers(at, size)
        self.program = program if self.width == 1 else np.repeat(program, self.width)
        self.lane = lane if self.width == 1 else np.repeat(lane, self.width)
        self._value = value

    def differs(self, held: Array | None) -> Array | bool:
        """Per cell, whether the element's new value is another than `held`."""
        if held is None or self._value is None:
            return True
        different = held != self._value()
        return different if self.width == 1 else np.repeat(different, self.width)


class Races:
    """The race checks of one launch."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        nx, ny, nz = launch.grid
        known = launch.facts.sites
        self.sites = known.ops
        self._site, self._atomic, self._width = known.number, known.atomic, known.width
        self._atomic_read = known.atomic_read
        self.order = Order(nx * ny * nz, known.synchronise)
        self._cells: dict[int, Cells] = {}
        self._written = self._written_allocations()

    def _written_allocations(self) -> list[Allocation]:
        """Those that some store or atomic operation of the kernel may touch."""
        found: list[Allocation] = []
        for op in self.sites:
            if op.effects() & (Effect.WRITE | Effect.ATOMIC):  # type: ignore[attr-defined]
                extents = self.launch.extents_of(op)
                for allocation in self.launch.memory.allocations:
                    if allocation not in found and (extents is None or _holds_any(allocation, extents)):
                        found.append(allocation)
        return found

    def concerns(self, op: Op) -> list[Allocation]:
        """The followed allocations that an access may touch."""
        extents = self.launch.extents_of(op)
        return [a for a in self._written if extents is None or _holds_any(a, extents)]

    # ---- accesses ------------------------------------------------------------------------------------

    def read(self, m: CheckingInterpreter, op: Op, ptr: Any, mask: Array | None, size: int) -> None:
        """A load has been done."""
        for lanes in self._lanes(m, op, ptr, mask, size, None):
            self._read(m, op, lanes)
        if is_volatile(op) and op.operands[0].type.numel == 1:
            self._synchronise(m, ptr, acquire=True, release=False)

    def _read(self, m: CheckingInterpreter, op: Op, lanes: _Lanes) -> None:
        where, program, lane = lanes.where, lanes.program, lanes.lane
        wrote = lanes.cells.writer
        by = wrote.program[where]
        if by.any():
            touched = by != 0
            foreign = touched & (by != program)
            if self._atomic_read[self._site[op]]:
                foreign &= ~self._atomic[wrote.site[where]]
            self._unordered(m, op, "read", "write", foreign, lanes, wrote)
            now = self.order.stamps(program - 1)
            own = touched & (by == program) & (wrote.stamp[where] == (0 if now is None else now))
            own &= (wrote.lane[where] != lane) | (self._width[wrote.site[where]] != op.operands[0].type.numel)
            if own.any():
                self._report_barrier(m, op, own, lanes)
        self._note_read(op, lanes)

    def _note_read(self, op: Op, lanes: _Lanes) -> None:
        where, program, cells = lanes.where, lanes.program, lanes.cells
        before = cells.reader.program[where]
        if before.any():
            moved = (before != program) & (before != 0)
            if moved.any():
                old, last = chosen(where, moved), cells.reader
                cells.other_reader.put(old, before[moved], 0, None, last.stamp[old])
                cells.other_reader.site[old] = last.site[old]
        cells.reader.put(where, program, self._site[op], None, self.order.stamps(program - 1))

    def before_write(
        self, m: CheckingInterpreter, op: Op, ptr: Any, value: Array, mask: Array | None, size: int
    ) -> list[_Lanes]:
        """A store is about to be done: what it meets. Gives what `after_write` needs."""
        found = self._lanes(m, op, ptr, mask, size, value)
        for lanes in found:
            self._meet(m, op, lanes, size, plain=True)
        return found

    def after_write(self, m: CheckingInterpreter, op: Op, found: list[_Lanes], size: int) -> None:
        """The store is done: whether its own lanes met, and who has written now."""
        for lanes in found:
            where, program, lane = lanes.where, lanes.program, lanes.lane
            wrote = lanes.cells.writer
            now = self.order.stamps(program - 1)
            if now is None and lanes.cells.stamped:
                now = np.zeros(1, np.int32)
            wrote.put(where, program, self._site[op], lane, now)
            if isinstance(where, slice):  # every lane has a cell of its own
                continue
            lost = (wrote.program[where] != program) | (wrote.lane[where] != lane)
            if not lost.any():
                continue
            lost &= lanes.differs(lanes.cells.bits(lanes.at, size))
            across = lost & (wrote.program[where] != program)
            self._report(m, op, "write", "write", across, lanes, wrote)
            within = lost & ~across
            if within.any():
                self._report_lanes(m, op, within, lanes)

    def update(self, m: CheckingInterpreter, op: Op, ptr: Any, mask: Array | None, size: int) -> None:
        """An atomic operation."""
        orders = synchronises(op)
        for lanes in self._lanes(m, op, ptr, mask, size, None):
            self._meet(m, op, lanes, size, plain=False)
            now = self.order.stamps(lanes.program - 1)
            stamp = np.full(1, -1, np.int32) if now is None else now - 1
            noted = stamp if orders else now
            if noted is None and lanes.cells.stamped:
                noted = np.zeros(1, np.int32)
            lanes.cells.stamped |= orders
            lanes.cells.writer.put(lanes.where, lanes.program, self._site[op], lanes.lane, noted)
        if orders:
            sem = op.attrs["sem"]
            self._synchronise(
                m, ptr, acquire=sem in ("acquire", "acq_rel"), release=sem in ("release", "acq_rel")
            )

    def barrier(self, m: CheckingInterpreter) -> None:
        self.order.barrier(_program_numbers(m).reshape(-1))

    def _synchronise(self, m: CheckingInterpreter, ptr: Any, acquire: bool, release: bool) -> None:
        at = addresses(ptr)
        programs = _program_numbers(m)
        spread = np.broadcast_to(at.reshape(at.shape[:BATCH_AXES]), programs.shape)
        by_id = np.argsort(programs, axis=None)
        self.order.synchronise(programs.reshape(-1)[by_id], spread.reshape(-1)[by_id], acquire, release)

    def _meet(self, m: CheckingInterpreter, op: Op, lanes: _Lanes, size: int, plain: bool) -> None:
        """Report what earlier accesses of other instances a write conflicts with."""
        where, program = lanes.where, lanes.program
        wrote = lanes.cells.writer
        by = wrote.program[where]
        if by.any():
            foreign = (by != 0) & (by != program)
            if foreign.any():
                atomic = self._atomic[wrote.site[where]]
                if plain:
                    foreign &= atomic | lanes.differs(lanes.cells.bits(lanes.at, size))
                else:
                    foreign &= ~atomic
                self._unordered(m, op, "write", "write", foreign, lanes, wrote)
        for readers in (lanes.cells.reader, lanes.cells.other_reader):
            by = readers.program[where]
            if not by.any():
                continue
            foreign = (by != 0) & (by != program)
            if not plain:  # an atomic operation and a volatile read do not race
                foreign &= ~self._atomic_read[readers.site[where]]
            self._unordered(m, op, "write", "read", foreign, lanes, readers)

    def _lanes(
        self, m: CheckingInterpreter, op: Op, ptr: Any, mask: Array | None, size: int, value: Array | None
    ) -> list[_Lanes]:
        allocations = self.concerns(op)
        if not allocations or not m.frame.batch.ids:
            return []
        at, program, lane, bits = _flat(m, op, addresses(ptr), mask, value, size)
        found: list[_Lanes] = []
        for allocation in allocations if at.size else ():
            cells = self._cells.get(allocation.base)
            if cells is None:
                cells = self._cells[allocation.base] = Cells(allocation)
            if int(at.min()) >= allocation.base and int(at.max()) + size <= allocation.end:
                found.append(_Lanes(cells, at, program, lane, bits, size))
                continue
            inside = (at >= allocation.base) & (at + size <= allocation.end)
            if inside.any():
                rest = None if bits is None else (lambda bits=bits, inside=inside: bits()[inside])
                found.append(_Lanes(cells, at[inside], program[inside], lane[inside], rest, size))
        return found

    # ---- reports -------------------------------------------------------------------------------------

    def _unordered(
        self, m: CheckingInterpreter, op: Op, does: str, did: str, foreign: Array, lanes: _Lanes, touch: Touch
    ) -> None:
        if not foreign.any():
            return
        positions = np.flatnonzero(foreign)
        at = chosen(lanes.where, positions)
        free = self.order.unordered(touch.program[at] - 1, touch.stamp[at], lanes.program[positions] - 1)
        if free.any():
            racing = np.zeros(foreign.shape, np.bool_)
            racing[positions[free]] = True
            self._report(m, op, does, did, racing, lanes, touch)

    def _report(
        self, m: CheckingInterpreter, op: Op, does: str, did: str, racing: Array, lanes: _Lanes, touch: Touch
    ) -> None:
        """`op` does what nothing orders with what `touch` says that another instance did."""
        if not racing.any():
            return
        positions = np.flatnonzero(racing)
        first = int(positions[np.argmin(lanes.program[positions])])
        cell = int(chosen(lanes.where, np.array([first]))[0])
        kind = "write-race" if does == did == "write" else "read-race"
        extent, where = self._element(lanes.cells, cell)
        other, mine = self._program(int(touch.program[cell])), self._program(int(lanes.program[first]))
        if kind == "write-race":
            first_id, second_id = sorted((other, mine), key=lambda p: p[::-1])
            text = f"programs {first_id} and {second_id} both write {where}, and what they leave there is not the same"
            note = "the other write is here"
        elif does == "read":
            text = f"program {mine} reads {where}, which program {other} writes; nothing orders the two"
            note = "the write is here"
        else:
            text = f"program {mine} writes {where}, which program {other} reads; nothing orders the two"
            note = "the read is here"
        related = [Related(note, self.sites[int(touch.site[cell])].loc, other)]
        fields: dict[str, Any] = {"related": related, "count": int(racing.sum())}
        self._add(kind, op, text, mine, self._lane(op, int(lanes.lane[first])), extent, fields)

    def _report_lanes(self, m: CheckingInterpreter, op: Op, within: Array, lanes: _Lanes) -> None:
        first = int(np.argmax(within))
        cell = int(chosen(lanes.where, np.array([first]))[0])
        extent, where = self._element(lanes.cells, cell)
        mine = self._lane(op, int(lanes.lane[first]))
        winner = self._lane(op, int(lanes.cells.writer.lane[cell]))
        text = f"elements {_shown(mine)} and {_shown(winner)} of this tile are stored to {where} with different values"
        fields: dict[str, Any] = {"count": int(within.sum())}
        self._add("lane-race", op, text, self._program(int(lanes.program[first])), mine, extent, fields)

    def _report_barrier(self, m: CheckingInterpreter, op: Op, own: Array, lanes: _Lanes) -> None:
        first = int(np.argmax(own))
        cell = int(chosen(lanes.where, np.array([first]))[0])
        extent, where = self._element(lanes.cells, cell)
        site = self.sites[int(lanes.cells.writer.site[cell])]
        text = (
            f"this load reads {where} in another lane than the one that stored it, "
            "and there is no barrier between the store and the load"
        )
        fields: dict[str, Any] = {
            "related": [Related("the store is here", site.loc)],
            "mend": "put tl.debug_barrier() between the store and the load",
            "count": int(own.sum()),
        }
        mine = self._program(int(lanes.program[first]))
        self._add("missing-barrier", op, text, mine, self._lane(op, int(lanes.lane[first])), extent, fields)

    def _add(
        self,
        kind: str,
        op: Op,
        text: str,
        program: tuple[int, int, int],
        lane: tuple[int, ...],
        extent: Extent | None,
        fields: dict[str, Any],
    ) -> None:
        argument = extent.argument if extent is not None else None
        self.launch.report(kind, op, text, program=program, lane=lane or None, argument=argument, **fields)

    def _element(self, cells: Cells, cell: int) -> tuple[Extent | None, str]:
        address = cells.allocation.base + cell * cells.unit
        return element_of([e for e in self.launch.extents if e is not None], address)

    def _program(self, number: int) -> tuple[int, int, int]:
        nx, ny, _ = self.launch.grid
        n = number - 1
        return n % nx, n // nx % ny, n // (nx * ny)

    def _lane(self, op: Op, lane: int) -> tuple[int, ...]:
        shape = op.operands[0].type.shape
        return tuple(int(i) for i in np.unravel_index(lane, shape)) if shape else ()


def _shown(lane: tuple[int, ...]) -> str:
    return str(list(lane))


def _holds_any(allocation: Allocation, extents: list[Extent]) -> bool:
    return any(allocation.base <= e.low < allocation.end for e in extents)


def _program_numbers(m: CheckingInterpreter) -> Array:
    """Per instance of the batch its number in order of the ids, from 0; shape of the batch."""
    batch = m.frame.batch
    nx, ny, _ = batch.grid
    x, y, z = batch.ids
    return np.broadcast_to(x + nx * (y + ny * z), batch.shape)


def _flat(
    m: CheckingInterpreter, op: Op, at: Array, mask: Array | None, value: Array | None, size: int
) -> tuple[Array, Array, Array, Callable[[], Array] | None]:
    """Addresses, program numbers from 1, lanes and, when asked for, bits of the live lanes of all instances."""
    tile = op.operands[0].type.shape
    shape = (*m.frame.batch.shape, *tile)
    ones = (1,) * len(tile)
    programs = (_program_numbers(m) + 1).reshape(*m.frame.batch.shape, *ones)
    count = 1
    for extent in tile:
        count *= extent
    lanes = np.arange(count, dtype=np.int32).reshape((1,) * BATCH_AXES + tile)
    wide = [np.broadcast_to(p, shape) for p in (at, programs, lanes)]
    live = None if mask is None or mask.all() else np.broadcast_to(mask, shape)
    flat = [w.reshape(-1) if live is None else w[live] for w in wide]

    def bits() -> Array:
        assert value is not None
        whole = np.broadcast_to(np.ascontiguousarray(value).view(f"u{size}"), shape)
        return whole.reshape(-1) if live is None else whole[live]

    return flat[0], flat[1], flat[2], bits if value is not None else None
