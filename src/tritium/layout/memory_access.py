"""Queries about a register layout together with a memory layout, answered from their tables.

Rules of shared memory (CUDA C++ Programming Guide, "Shared Memory" of the compute capabilities): 32 banks of
4 bytes, word w in bank w % 32; lanes that touch the same word are served together; a warp's access of 8 bytes
a lane is served by half warps and one of 16 bytes by quarter warps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tritium.layout.faults import LayoutError

if TYPE_CHECKING:
    from tritium.layout.digits import Layout

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

LANES = 32
BANKS = 32
BANK_BYTES = 4
WIDEST_ACCESS = 16  # bytes of one lane


@dataclass(frozen=True)
class BankConflicts:
    """What shared memory needs to serve a tile once.

    `ways`: the most different words that one bank has to serve in one phase, 1 without conflicts. `wavefronts`
    phases served one after the other, `least` of them if every bank were used evenly. `vector` elements moved
    by each access, in `requests` instructions of a warp.
    """

    ways: int
    wavefronts: int
    least: int
    vector: int
    requests: int

    @property
    def free(self) -> bool:
        return self.wavefronts == self.least


def by_thread(layout: Layout, values: npt.NDArray[Any], fill: int = -1) -> npt.NDArray[Any]:
    """`values`, whose last axes are the inputs of `layout`, as (..., warp, lane, reg); `fill` where no lane is.

    The inputs may be any of `reg`, `lane` and `warp`, or `reg` and `thread`; the result always has 32 lanes.
    LayoutError for other inputs or more than 32 lanes.
    """
    inputs = layout.inputs
    unknown = [axis for axis in inputs if axis not in ("reg", "lane", "warp", "thread")]
    if unknown or ("thread" in inputs and ("lane" in inputs or "warp" in inputs)):
        raise LayoutError(
            f"A layout of registers has the inputs reg, lane and warp, or reg and thread; this one has {', '.join(inputs)}."
        )
    if "lane" in inputs and layout.extent("lane") > LANES:
        raise LayoutError(f"A warp has {LANES} lanes, and this layout has {layout.extent('lane')}.")
    lead = values.ndim - len(inputs)
    for axis in ("thread", "warp", "lane", "reg"):
        if axis not in inputs:
            values = values[..., None]
            inputs = (*inputs, axis)
    order = [lead + inputs.index(axis) for axis in ("thread", "warp", "lane", "reg")]
    values = values.transpose(*range(lead), *order)
    threads, warps, lanes, registers = values.shape[lead:]
    if threads > 1:
        warps, lanes = 1, threads
    missing = -lanes % LANES
    values = values.reshape(*values.shape[:lead], warps, lanes, registers)
    values = np.pad(values, [(0, 0)] * (lead + 1) + [(0, missing), (0, 0)], constant_values=fill)
    return values.reshape(*values.shape[:lead], -1, LANES, registers)


@lru_cache(maxsize=32)
def _coordinates(registers: Layout) -> tuple[list[IntArray], BoolArray]:
    """Coordinate of each place along each output, 0 where it is overhang, and which places are inside."""
    inside = by_thread(registers, registers.flat_elements) >= 0
    table = by_thread(registers, registers.table())
    return [np.where(inside, coordinates, 0) for coordinates in table], inside


def _require_room(registers: Layout, memory: Layout) -> None:
    if memory.outputs != ("byte",):
        raise LayoutError(
            f"A memory layout has the one output byte; this one has {', '.join(memory.outputs)}."
        )
    if any(output not in memory.inputs for output in registers.outputs):
        raise LayoutError(
            f"The registers hold {', '.join(registers.outputs)}, and the memory is addressed by "
            f"{', '.join(memory.inputs)}."
        )
    for output in registers.outputs:
        if memory.extent(output) < registers.extent(output):
            raise LayoutError(
                f"The registers hold {registers.extent(output)} values of {output}, and the memory has room for "
                f"{memory.extent(output)}."
            )


def addresses(registers: Layout, memory: Layout, *, stages: bool = False) -> tuple[IntArray, BoolArray]:
    """Byte address of every place as (stage, warp, lane, reg), and which of (warp, lane, reg) hold an element.

    Inputs of `memory` that are not coordinates are 0 unless `stages`, where the first axis runs over them.
    """
    _require_room(registers, memory)
    coordinates, inside = _coordinates(registers)
    names = list(registers.outputs)
    others = [axis for axis in memory.inputs if axis not in names]
    order = [memory.inputs.index(axis) for axis in [*others, *names]]
    table = memory.table()[0].transpose(order)
    table = table.reshape(-1, *table.shape[len(others) :])
    if not stages:
        table = table[:1]
    return table[(slice(None), *coordinates)], inside


def vector_width(registers: Layout, memory: Layout, element_bytes: int, limit: int, alignment: int) -> int:
    """See `Layout.vector_width`."""
    at, inside = addresses(registers, memory, stages=True)
    return _widest(at, inside, element_bytes, min(limit, alignment))


def _widest(at: IntArray, inside: BoolArray, element_bytes: int, limit: int) -> int:
    count = at.shape[-1]
    best, vector = 1, 2
    while vector * element_bytes <= limit and count % vector == 0:
        groups = at.reshape(*at.shape[:-1], count // vector, vector)
        held = inside.reshape(*inside.shape[:-1], count // vector, vector)
        whole = held.all(axis=-1)
        steps = groups - groups[..., :1] == np.arange(vector) * element_bytes
        fits = steps.all(axis=-1) & (groups[..., 0] % (vector * element_bytes) == 0)
        if (held.any(axis=-1) != whole).any() or not (fits | ~whole).all():
            break
        best = vector
        vector *= 2
    return best


def bank_conflicts(
    registers: Layout, memory: Layout, element_bytes: int, vector: int | None
) -> BankConflicts:
    """See `Layout.bank_conflicts`."""
    at, inside = addresses(registers, memory, stages=True)
    widest = 1 if vector == 1 else _widest(at, inside, element_bytes, WIDEST_ACCESS)
    vector = vector or widest
    if vector > widest or widest % vector:
        raise LayoutError(
            f"This tile allows accesses of 1 to {widest} elements, and {vector} at a time were asked for."
        )
    at, inside = at[0, :, :, ::vector], inside[:, :, ::vector]
    warps, _, count = inside.shape
    width = vector * element_bytes
    words = max(1, width // BANK_BYTES)
    together = LANES * BANK_BYTES // max(width, BANK_BYTES)
    touched = at[..., None] // BANK_BYTES + np.arange(words)
    touched[~inside] = -1
    # rows: (warp, group of lanes, access); columns: (lane of the group, word)
    rows = touched.reshape(warps, -1, together, count, words).transpose(0, 1, 3, 2, 4)
    ways, wavefronts, least = _served(rows.reshape(-1, together * words))
    return BankConflicts(ways, wavefronts, least, vector, int(inside.any(axis=1).sum()))


def _served(words: IntArray) -> tuple[int, int, int]:
    """(ways, wavefronts, least) of phases, one row each of the words that it touches (-1: none)."""
    if (words >= 0).all() and (words - words[:, :1] == words[0] - words[0, 0]).all() and len(words) > 1:
        # All phases touch the same pattern from another start, which only renames the banks.
        ways, wavefronts, least = _served(words[:1])
        return ways, wavefronts * len(words), least * len(words)
    words = np.sort(words, axis=1)
    fresh = words >= 0
    fresh[:, 1:] &= words[:, 1:] != words[:, :-1]
    phase = np.broadcast_to(np.arange(len(words))[:, None], words.shape)
    slots = (phase * BANKS + words % BANKS)[fresh]
    load = np.bincount(slots, minlength=len(words) * BANKS).reshape(-1, BANKS)
    ways = load.max(axis=1)
    least = -(-load.sum(axis=1) // BANKS)
    return int(ways.max(initial=0)), int(ways.sum()), int(least.sum())
