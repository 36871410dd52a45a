"""Branches, and code applied lane by lane: where the instances of a batch part and come together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.backends.interp.frames import Activation, Frame, Steps
from tritium.ir.core import Op, Region
from tritium.ops.base import BATCH_AXES, Array

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


class Lanes:
    """Takes 0-d values of a batch to the lanes of tiles, which `apply_region` runs as instances of their own."""

    def __init__(self, shape: tuple[int, ...], flat: bool) -> None:
        self.shape = shape
        self.flat = flat

    def take(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            value = value.addresses()
        if value.size == 1:
            return value.reshape((1,) * (BATCH_AXES if self.flat else max(BATCH_AXES, len(self.shape))))
        wide = value.reshape(value.shape + (1,) * (len(self.shape) - value.ndim))
        return np.broadcast_to(wide, self.shape).reshape(-1, 1, 1) if self.flat else wide


def apply_region(m: Interpreter, region: Region, args: Sequence[Array]) -> list[Array]:
    """See `Machine.apply_region`. Straight code runs on the arrays as they are; control flow needs a list of lanes."""
    outer = m.frame
    plan = m.program.plans[region]
    shape = np.broadcast_shapes(*(a.shape for a in args))
    if len(shape) < BATCH_AXES:
        shape = (1,) * (BATCH_AXES - len(shape)) + shape
    flat = any(step.op.regions for step in plan.steps)
    if flat:
        count = int(np.prod(shape))
        given = [np.broadcast_to(a, shape).reshape(-1, 1, 1) for a in args]
        lanes = Lanes(shape, True)
        ids = tuple(
            lanes.take(i if i.size == 1 else np.broadcast_to(i, outer.batch.shape)) for i in outer.batch.ids
        )
        batch = Batch((count, 1, 1), (ids[0], ids[1], ids[2]), outer.batch.grid, True)
    else:
        given = list(args)
        lanes = Lanes(shape, False)
        batch = outer.batch
    inner = Frame(batch, outer, lanes)
    act = Activation(plan, inner, given)
    drive = m.drive(act)
    try:
        while True:
            next(drive)
    except StopIteration as done:
        results: list[Any] = done.value
    m.frame = outer
    if flat:
        return [np.broadcast_to(r, (int(np.prod(shape)), 1, 1)).reshape(shape) for r in results]
    return [np.broadcast_to(r, shape) for r in results]
