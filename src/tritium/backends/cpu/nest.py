"""Loops over the elements of a tile, in up to three versions chosen when the tile is reached.

fast     every mask that compares indices with bounds is true, every 32-bit index stays in range: whole vectors
masked   indices stay in range, masks are tested lane by lane
exact    one element at a time, every wrap-around computed as the language defines it
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu.code import V

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering


@dataclass
class Mode:
    """What the loops being written may assume; `masks` and `ranges` collect the conditions they assumed.

    `number` tells assumptions apart: elements that were computed under some are not used under others.
    """

    lanes: int
    assume_masks: bool = False
    assume_ranges: bool = False
    masks: dict[Any, Any] = field(default_factory=dict)
    ranges: dict[Any, Any] = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        if self.assume_masks or self.assume_ranges:
            self.number = next(_NUMBERS)


_NUMBERS = itertools.count(1)


SHORT_BODY = 24
"""Instructions up to which a loop body is written several times, so that the loop's own cost is shared."""

LONG_BODY = 90
FEW = 4
"""Vectors of an axis that are written out without a loop."""

Finish = Callable[[], None] | None
Body = Callable[[list[V]], Finish]
"""Writes what one place needs; the stores may be left to a function that it returns, so that all loads of the places
written together come before all stores."""


def versions(k: Lowering, write: Callable[[], None]) -> None:
    """Write the loops of `write` in the versions that they turn out to need. `write` leaves results in memory."""
    e = k.e
    if k.mode.assume_masks or k.mode.assume_ranges or k.mode.lanes == 1:
        write()  # inside another nest: its assumptions hold
        return
    outer, floor = k.mode, e.floor
    fast = Mode(k.width, True, True)
    arms = [_written(k, fast, write)]
    if fast.masks:
        middle = Mode(k.width, False, True)
        middle.ranges = fast.ranges
        arms.append(_written(k, middle, write))
    if fast.ranges:
        arms.append(_written(k, Mode(1), write))
    k.mode = outer
    e.floor = floor
    in_range = _all_of(k, fast.ranges)
    unmasked = _all_of(k, fast.masks)
    frame, first = arms[0]
    if len(arms) > 1 and fast.masks:
        other, other_first = arms[1]
        if unmasked.const != 1:
            e.push(chosen := e.fresh("masks"))
            e.branch(unmasked, frame, first, other, other_first)
            frame, first = e.pop(), chosen
    if fast.ranges and in_range.const != 1:
        exact, exact_first = arms[-1]
        e.branch(in_range, frame, first, exact, exact_first)
    else:
        e.inline(frame, first)


def _written(k: Lowering, mode: Mode, write: Callable[[], None]) -> tuple[Any, str]:
    label = k.e.fresh("nest")
    k.e.push(label)
    k.mode = mode
    k.e.floor = k.e.top
    write()
    return k.e.pop(), label


def _all_of(k: Lowering, conditions: dict[Any, Any]) -> V:
    total = k.e.const(1, "i1")
    for make in conditions.values():
        total = k.e.both(total, make())
    return total


def over(k: Lowering, shape: Sequence[int], body: Body, fixed: Sequence[V] = ()) -> None:
    """Call `body` with the index of every element of a tile of `shape`, vectors along the last axis."""
    e = k.e
    if not shape:
        _written_now(body([*fixed]))
        return
    if len(shape) > 1:
        if shape[0] == 1:
            over(k, shape[1:], body, [*fixed, e.index(0)])
            return
        iv, _ = e.open_loop(e.index(0), e.index(shape[0]), 1)
        frame = e.stack[-1]
        label, before = frame.label, len(frame.lines)
        over(k, shape[1:], body, [*fixed, iv])
        straight = frame.label == label and len(frame.lines) - before <= LONG_BODY
        if straight and k.mode.lanes > 1 and shape[0] % 4 == 0:
            for t in range(1, 4):
                over(k, shape[1:], body, [*fixed, e.add(iv, e.index(t))])
            e.set_step(4)
        e.close_loop()
        return
    for start, stop, lanes in spans(shape[0], k.mode.lanes):
        step_over(k, start, stop, lanes, lambda i: body([*fixed, i]))


def spans(extent: int, lanes: int) -> list[tuple[int, int, int]]:
    """An axis as (start, stop, lanes): whole vectors, then narrower ones down to single elements."""
    parts: list[tuple[int, int, int]] = []
    start = 0
    while start < extent:
        while lanes > 1 and extent - start < lanes:
            lanes = lanes // 2 if lanes > 4 else 1
        stop = start + (extent - start) // lanes * lanes
        parts.append((start, stop, lanes))
        start = stop
    return parts


def _written_now(end: Finish) -> None:
    if end is not None:
        end()


def step_over(k: Lowering, start: int, stop: int, lanes: int, body: Callable[[V], Finish]) -> None:
    """`body` for each vector of `lanes` from `start` to `stop`, in a loop if there are several."""
    e = k.e
    step = e.index(1)
    if stop - start == lanes:
        _written_now(body(e.affine(e.index(start), step, lanes) if lanes > 1 else e.index(start)))
        return
    count = (stop - start) // lanes
    if lanes > 1 and count <= FEW:
        starts = [e.index(start + t * lanes) for t in range(count)]
        for end in [body(e.affine(first, step, lanes)) for first in starts]:
            _written_now(end)
        return
    iv, _ = e.open_loop(e.index(start), e.index(stop), lanes)
    before = len(e.stack[-1].lines)
    ends = [body(e.affine(iv, step, lanes) if lanes > 1 else iv)]
    written = len(e.stack[-1].lines) - before
    if lanes > 1 and written <= LONG_BODY:
        times = next(t for t in ((4, 3, 2, 1) if written <= SHORT_BODY else (2, 1)) if count % t == 0)
        ends += [body(e.affine(e.add(iv, e.index(t * lanes)), step, lanes)) for t in range(1, times)]
        e.set_step(lanes * times)
    for end in ends:
        _written_now(end)
    e.close_loop()
