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
from typing import TYPE_CHECKING

from tritium.backends.interp.batch import Batch, Extents
from tritium.errors import TritiumError, make_error
from tritium.ir.core import Op
from tritium.ops.base import Array

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter

_ROUNDS_WITHOUT_PROGRESS = 8
_SHOWN = 4


@dataclass(slots=True)
class _Instance:
    """A live program instance; `loop` is where it gave way last."""

    ids: Extents
    steps: Generator[None, None, None]
    loop: Op | None = None


def run_fairly(m: Interpreter, grid: Extents, args: Sequence[Array]) -> None:
    """Run every instance of `grid` to its end, each alone, switching where they may wait. Raises TRI0803."""
    m.fair = True
    m.memory.watching = True
    nx, ny, nz = grid
    waiting = ((x, y, z) for z in range(nz) for y in range(ny) for x in range(nx))
    live: list[_Instance] = []
    quiet = 0
    while True:
        ids = next(waiting, None)
        version = m.memory.version
        progress = ids is not None
        if ids is not None:
            batch = Batch.box(ids, (ids[0] + 1, ids[1] + 1, ids[2] + 1), grid)
            live.append(_Instance(ids, m.start(batch, args)))
        elif not live:
            return
        still: list[_Instance] = []
        for instance in live:
            if _resume(m, instance):
                still.append(instance)
                progress |= m.spin is None or not m.spin[1]
            else:
                progress = True
        live = still
        quiet = 0 if progress or m.memory.version != version else quiet + 1
        if quiet >= _ROUNDS_WITHOUT_PROGRESS:
            raise _deadlock(live)


def _resume(m: Interpreter, instance: _Instance) -> bool:
    """Run until the instance gives way (True) or ends (False)."""
    m.spin = None
    for _ in instance.steps:
        instance.loop = m.spin[0] if m.spin is not None else None
        return True
    return False


def _deadlock(live: Sequence[_Instance]) -> TritiumError:
    loops: dict[Op, list[_Instance]] = {}
    for instance in live:
        if instance.loop is not None:
            loops.setdefault(instance.loop, []).append(instance)
    notes: list[str] = []
    for loop, members in loops.items():
        shown = ", ".join(str(i.ids) for i in members[:_SHOWN])
        more = f" and {len(members) - _SHOWN} more" if len(members) > _SHOWN else ""
        place = f"line {loop.loc.line}" if loop.loc is not None else "an unknown line"
        notes.append(f"in the loop at {place}: program {shown}{more}")
    first = next(iter(loops), None)
    loc = first.loc if first is not None else None
    return make_error("TRI0803", loc, count=len(live), notes=notes)
