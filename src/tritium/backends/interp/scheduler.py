"""The fair scheduler, for kernels whose program instances wait for each other.

Spin locks, grid barriers and decoupled look-back loop until another instance writes. Run as one batch, the waiting
instances would loop for ever while the one they wait for stands still. So each instance is a coroutine of its own:
they start in order of their ids and give way at the back edge of every loop that may wait.

A deadlock is told, not suffered: when every live instance has come round its loop with the same state as before, and
memory has not changed meanwhile, nothing can ever change again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from tritium.backends.interp.batch import Batch, Extents
from tritium.errors import TritiumError, make_error
from tritium.ir.core import Op
from tritium.ops.base import Array
from tritium.ops.storage import storage_dtype

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter

_ROUNDS_WITHOUT_PROGRESS = 8
_SHOWN = 4


@dataclass(slots=True)
class _Instance:
    """A live program instance; `loop` is where it gave way last, `polled` the address it looked at last."""

    ids: Extents
    steps: Generator[None, None, None]
    loop: Op | None = None
    polled: int | None = None


def run_fairly(m: Interpreter, grid: Extents, args: Sequence[Array]) -> None:
    """Run every instance of `grid` to its end, each alone, switching where they may wait. Raises TRI0803."""
    m.fair = True
    m.memory.watching = True
    nx, ny, nz = grid
    waiting = ((x, y, z) for z in range(nz) for y in range(ny) for x in range(nx))
    live: list[_Instance] = []
    quiet = 0
    while True:
        # As many newcomers as there are live ones: a round costs no more than twice what it must, and a grid whose
        # instances all wait for the last one (a barrier) is complete after a number of rounds that grows as a logarithm.
        fresh = [_started(m, ids, grid, args) for ids in islice(waiting, max(1, len(live)))]
        if not fresh and not live:
            return
        version = m.memory.version
        progress = bool(fresh)
        still: list[_Instance] = []
        for instance in chain(live, fresh):
            if _resume(m, instance):
                still.append(instance)
                progress |= m.spin is None or not m.spin[1]
            else:
                progress = True
        live = still
        quiet = 0 if progress or m.memory.version != version else quiet + 1
        if quiet >= _ROUNDS_WITHOUT_PROGRESS:
            raise _deadlock(m, live)


def _started(m: Interpreter, ids: Extents, grid: Extents, args: Sequence[Array]) -> _Instance:
    batch = Batch.box(ids, (ids[0] + 1, ids[1] + 1, ids[2] + 1), grid)
    return _Instance(ids, m.start(batch, args))


def _resume(m: Interpreter, instance: _Instance) -> bool:
    """Run until the instance gives way (True) or ends (False)."""
    m.spin = None
    m.polled = None
    for _ in instance.steps:
        instance.loop = m.spin[0] if m.spin is not None else None
        instance.polled = m.polled
        return True
    return False


def _deadlock(m: Interpreter, live: Sequence[_Instance]) -> TritiumError:
    groups: dict[tuple[Op | None, int | None], list[_Instance]] = {}
    for instance in live:
        groups.setdefault((instance.loop, instance.polled), []).append(instance)
    notes: list[str] = []
    for (loop, polled), members in islice(groups.items(), _SHOWN):
        shown = ", ".join(str(i.ids) for i in members[:_SHOWN])
        more = f" and {len(members) - _SHOWN} more" if len(members) > _SHOWN else ""
        place = f"line {loop.loc.line}" if loop is not None and loop.loc is not None else "an unknown line"
        cell = _cell(m, polled) if polled is not None else None
        what = f" on {cell}" if cell is not None else ""
        notes.append(
            f"in the loop at {place}: program {shown}{more} wait{'s' if len(members) == 1 else ''}{what}"
        )
    if len(groups) > _SHOWN:
        notes.append(f"and instances at {len(groups) - _SHOWN} more places")
    first = live[0].loop
    return make_error("TRI0803", first.loc if first is not None else None, count=len(live), notes=notes)


def _cell(m: Interpreter, address: int) -> str | None:
    """An address as an element of an argument, with the value that it holds."""
    nearest = m.memory.nearest(address)
    if nearest is None:
        return None
    view = nearest[1]
    low, high = view.bounds()
    size = view.dtype.itemsize
    if not low <= address < high or (address - view.address) % size:
        return None
    held = m.memory.read(np.array([address]), size).view(storage_dtype(view.dtype))[0]
    return f"`{view.name}`[{(address - view.address) // size}], which holds {held}"
