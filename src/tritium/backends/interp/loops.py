"""Counted loops and loops with a condition, also where the instances of a batch leave them at different times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.backends.interp.diverge import uniform
from tritium.backends.interp.frames import Frame, Steps
from tritium.errors import make_error
from tritium.ir.core import Op
from tritium.ops.base import Array
from tritium.ops.storage import storage_dtype

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter


class Active:
    """The instances still in a loop: a frame for them, and the results of those that have left.

    selection   where the active instances stand in the loop's own frame, None while all of them are active
    """

    def __init__(self, frame: Frame) -> None:
        self.outer = frame
        self.frame = frame
        self.selection: Selection | None = None
        self.left: list[tuple[Selection, list[Any]]] = []

    def keep(self, alive: Array, carried: list[Any]) -> list[Any]:
        """Let the instances that are not `alive` leave with their `carried` values; gives those of the others."""
        leaving, staying = self._chosen(~alive), self._chosen(alive)
        self.left.append((self._of_outer(leaving), [leaving.take(v) for v in carried]))
        self.selection = self._of_outer(staying)
        self.frame = self.outer.narrowed(self.selection)
        return [staying.take(v) for v in carried]

    def _chosen(self, condition: Array) -> Selection:
        batch = self.frame.batch
        if self.selection is None:
            return Selection.where(condition, batch)
        return self.selection.continued(condition, batch)

    def _of_outer(self, selection: Selection) -> Selection:
        return selection if self.selection is None else self.selection.then(selection)

    def results(self, op: Op, carried: list[Any]) -> list[Any]:
        """The loop's results once the last instances have left with `carried`."""
        if not self.left:
            return carried
        assert self.selection is not None
        pieces = [*self.left, (self.selection, carried)]
        return [_joined(pieces, i, self.outer.batch, bool(op.results[i].uses)) for i in range(len(carried))]


def _joined(pieces: Sequence[tuple[Selection, list[Any]]], index: int, batch: Batch, used: bool) -> Any:
    return merge([(s, values[index]) for s, values in pieces], batch) if used else pieces[0][1][index]


def run_for(m: Interpreter, op: Op, lower: Array, upper: Array, step: Array, inits: Sequence[Array]) -> Steps:
    """Run the body for the counted values; instances with fewer iterations drop out as they end."""
    frame = m.frame
    (body,) = op.regions
    carried = m.tracked(op, 3, inits)
    for bound in op.operands[:3]:
        m.branched(op, frame[bound])
    dtype = storage_dtype(op.operands[0].type)
    if not step.all():
        raise make_error("TRI0807", op.loc)
    lower, upper, step = (_one_if_equal(x) for x in (lower, upper, step))
    if lower.size == upper.size == step.size == 1:
        for i in range(int(lower.flat[0]), int(upper.flat[0]), int(step.flat[0])):
            iv = m.counted(op, frame, np.full((1, 1, 1), i, dtype))
            act = m.call(body, frame, (iv, *carried))
            carried = act.results() if act.done else (yield act)
        return carried
    trips = _trip_counts(lower, upper, step)
    active = Active(frame)
    values = [lower, step, trips]
    for t in range(int(trips.max())):
        alive = values[2] > t
        if not alive.all():
            both = active.keep(alive, [*carried, *values])
            carried, values = both[: len(carried)], both[len(carried) :]
        iv = (values[0] + values[1] * np.array(t).astype(dtype)).astype(dtype, copy=False)
        act = m.call(body, active.frame, (m.counted(op, active.frame, iv), *carried))
        carried = act.results() if act.done else (yield act)
    return active.results(op, carried)


def _one_if_equal(x: Array) -> Array:
    return x.reshape(-1)[:1].reshape(1, 1, 1) if x.size > 1 and (x == x.flat[0]).all() else x


def _trip_counts(lower: Array, upper: Array, step: Array) -> Array:
    """How often each instance runs the body, int64. 64-bit bounds are counted in Python's integers."""
    if lower.dtype.itemsize == 8:
        lower, upper, step = (x.astype(object) for x in (lower, upper, step))
    else:
        lower, upper, step = (x.astype(np.int64) for x in (lower, upper, step))
    counts = (upper - lower + step - np.where(step > 0, 1, -1)) // step
    return np.minimum(np.maximum(counts, 0), 2**62).astype(np.int64)


def run_while(m: Interpreter, op: Op, inits: Sequence[Array]) -> Steps:
    """Run condition and body until no instance goes on. Under the fair scheduler, give way after every iteration."""
    cond, body = op.regions
    carried = m.tracked(op, 0, inits)
    active = Active(m.frame)
    spin = m.program.spins.get(op) if m.fair else None
    while True:
        act = m.call(cond, active.frame, carried)
        results = act.results() if act.done else (yield act)
        m.branched(op, results[0])
        alive: Array = m.plain(results[0])
        decided = uniform(alive)
        if decided is False:
            return active.results(op, carried)
        if decided is None:
            carried = active.keep(alive, carried)
        before = carried
        act = m.call(body, active.frame, carried)
        carried = act.results() if act.done else (yield act)
        if spin is not None:
            m.spin = (op, all(_same(m, before[i], carried[i]) for i in spin.state))
            yield None


def _same(m: Interpreter, a: Any, b: Any) -> bool:
    """Whether two values are bit for bit equal."""
    if a is b:
        return True
    x, y = m.plain(a), m.plain(b)
    return bool(x.shape == y.shape and x.tobytes() == y.tobytes())
