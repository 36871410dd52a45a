"""Branches, and code applied lane by lane: where the instances of a batch part and come together again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.backends.interp.frames import Activation, Frame, Steps
from tritium.backends.interp.pointers import addresses
from tritium.errors import make_error
from tritium.ir.core import Op, Region
from tritium.ops.base import Array

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter


def uniform(condition: Array) -> bool | None:
    """The value of `condition` if it is the same for every instance, else None."""
    if condition.size == 1:
        return bool(condition.flat[0])
    if condition.all():
        return True
    return None if condition.any() else False


def run_if(m: Interpreter, op: Op, condition: Array) -> Steps:
    """Run the side that all instances take, or both sides with the instances that take them."""
    frame = m.frame
    then_region, else_region = op.regions
    m.branched(op, frame[op.operands[0]])
    decided = uniform(condition)
    if decided is not None:
        act = m.call(then_region if decided else else_region, frame)
        return act.results() if act.done else (yield act)
    sides: list[tuple[Selection, Frame, list[Any]]] = []
    for region, taken in ((then_region, condition), (else_region, ~condition)):
        selection = Selection.where(taken, frame.batch)
        narrow = frame.narrowed(selection)
        act = m.call(region, narrow)
        results = act.results() if act.done else (yield act)
        sides.append((selection, narrow, results))
    yields = [m.program.plans[r].yields for r in op.regions]
    merged: list[Any] = []
    for i, result in enumerate(op.results):
        if yields[0][i] is yields[1][i]:  # both sides hand on the same outer value
            merged.append(frame[yields[0][i]])
        elif not result.uses:
            merged.append(sides[0][2][i])
        else:
            merged.append(merge([(s, results[i]) for s, _, results in sides], frame.batch))
    return merged


class Captured:
    """Takes values from outside a combine region to its lanes: only what is the same for every instance can go there.

    A reduction hands over arrays whose axes no longer are the batch's, so a value that differs between program
    instances could not be matched with its lanes.
    """

    def take(self, value: Any) -> Array:
        array: Array = addresses(value)
        if array.size != 1:
            raise make_error(
                "TRI0805", op="combine function", problem="it reads a value that differs between programs"
            )
        return array.reshape(1, 1, 1)


def apply_region(m: Interpreter, region: Region, args: Sequence[Array]) -> list[Array]:
    """See `Machine.apply_region`. Straight pure code runs on the arrays as they are, all else on a list of lanes."""
    outer = m.frame
    plan = m.program.plans[region]
    shape = np.broadcast_shapes(*(a.shape for a in args))
    count = prod(shape)
    flat = any(step.machine or step.op.regions for step in plan.steps)
    given = [np.broadcast_to(a, shape).reshape(-1, 1, 1) for a in args] if flat else args
    frame = Frame(Batch((count, 1, 1), (), outer.batch.grid), outer, Captured())
    drive = m.drive(Activation(plan, frame, given))
    try:
        while True:
            next(drive)
    except StopIteration as done:
        results = [m.plain(r) for r in done.value]
    m.frame = outer
    if flat:
        results = [np.broadcast_to(r, (count, 1, 1)).reshape(shape) for r in results]
    return [np.broadcast_to(r, shape) for r in results]
