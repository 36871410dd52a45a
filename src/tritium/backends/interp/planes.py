"""Shadow planes: facts that travel with the values of a running kernel, element by element.

A plane gives values a shadow: an array by the same convention (batch axes, tile axes, extent 1 for "the same"). What
a shadow means is the plane's business ("undefined", "may be wrong in this run"); None and zero mean that there is
nothing to say. The machine brings shadows through branches, loops and regions as it brings the values, and asks the
plane only what an op does to them::

    class Undefined(Plane):
        def propagate(self, m, op, inputs, outputs): ...

A run without planes does not come through this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.backends.interp.frames import Activation, Frame, Steps
from tritium.backends.interp.machine import Interpreter
from tritium.backends.interp.memory import Memory
from tritium.backends.interp.options import Options
from tritium.backends.interp.pointers import addresses
from tritium.backends.interp.program import Program
from tritium.ir.core import Op
from tritium.ops.base import BATCH_AXES, Array

Shadow = Array | None


class Tracked:
    """A value with its shadows, one per plane."""

    __slots__ = ("shadows", "value")

    def __init__(self, value: Array, shadows: tuple[Shadow, ...]) -> None:
        self.value = value
        self.shadows = shadows

    def take(self, selection: Selection) -> Tracked:
        shadows = tuple(None if s is None else selection.take(s) for s in self.shadows)
        return Tracked(selection.take(self.value), shadows)

    def addresses(self) -> Array:
        return self.value

    def merge(self, pieces: Sequence[tuple[Selection, Any]], batch: Batch) -> Tracked:
        """One value from those of several selections; a piece without shadow has nothing to say."""
        value = merge([(s, plain(p)) for s, p in pieces], batch)
        joined: list[Shadow] = []
        for i in range(len(self.shadows)):
            parts = [(s, shadows_of(p, len(self.shadows))[i]) for s, p in pieces]
            kinds = {x.dtype for _, x in parts if x is not None}
            if not kinds:
                joined.append(None)
                continue
            (dtype,) = kinds
            blank = np.zeros((1,) * value.ndim, dtype)
            joined.append(merge([(s, blank if x is None else x) for s, x in parts], batch))
        return Tracked(value, tuple(joined))


def plain(held: Any) -> Array:
    """The value of what a frame holds."""
    return held.value if isinstance(held, Tracked) else addresses(held)


def shadows_of(held: Any, count: int) -> tuple[Shadow, ...]:
    return held.shadows if isinstance(held, Tracked) else (None,) * count


class Plane:
    """One kind of shadow. Every method may be left as it is.

    `m.frame.batch` says which program instances run; `op.loc` is the line.
    """

    def start(self, m: Interpreter) -> None:
        """A run begins."""

    def argument(self, m: Interpreter, index: int, value: Array) -> Shadow:
        """The shadow of the function's argument `index`."""
        return None

    def propagate(
        self, m: Interpreter, op: Op, inputs: Sequence[tuple[Array, Shadow]], outputs: Sequence[Array]
    ) -> Sequence[Shadow]:
        """The shadows of what `op` has just computed, from its operands and theirs. Ops with regions of their own
        control flow are not asked: what they give carries the shadows of what their regions yield."""
        return [None] * len(outputs)

    def accessed(
        self, m: Interpreter, op: Op, access: str, at: Array, mask: Array | None, value: Array
    ) -> None:
        """Memory was read ("load"), written ("store") or both ("atomic") at byte addresses `at` where `mask` holds.

        `value` is what was read or written. Called after the access and before `propagate` of the same op.
        """

    def counted(self, m: Interpreter, op: Op, bounds: Sequence[Shadow]) -> Shadow:
        """The shadow of a counted loop's induction variable, from those of lower, upper and step."""
        return None

    def branched(self, m: Interpreter, op: Op, condition: Array, shadow: Shadow) -> None:
        """Control flow depends on `condition` (a branch or a loop's condition) whose shadow is not None."""


class PlaneInterpreter(Interpreter):
    """The machine with shadow planes: every value of a frame is a `Tracked`."""

    def __init__(self, program: Program, memory: Memory, options: Options, planes: Sequence[Plane]) -> None:
        super().__init__(program, memory, options)
        self.planes = tuple(planes)

    def body(self, batch: Batch, args: Sequence[Array]) -> Activation:
        frame = Frame(batch)
        self.frame = frame
        tracked = [Tracked(a, tuple(p.argument(self, i, a) for p in self.planes)) for i, a in enumerate(args)]
        return Activation(self.program.plans[self.program.function.body], frame, tracked)

    def advance(self, activation: Activation) -> Steps | None:
        self.frame = frame = activation.frame
        steps = activation.plan.steps
        while activation.at < len(steps):
            step = steps[activation.at]
            activation.at += 1
            held = [frame[v] for v in step.operands]
            args = [plain(h) for h in held]
            try:
                out = step.call(self, *args) if step.machine else step.call(*args)
                if type(out) is GeneratorType:
                    waiting: Steps = out  # type: ignore[assignment]
                    return waiting
                if len(step.operands) != len(step.op.operands):  # a trace of the op, not the op itself
                    continue
                outputs = () if not step.results else (out,) if len(step.results) == 1 else tuple(out)
                self._define(activation, step.op, list(zip(args, held, strict=True)), outputs)
            except Exception as error:
                located = self._located(error, step.op)
                if located is error:
                    raise
                raise located from error
        return None

    def _define(
        self, activation: Activation, op: Op, inputs: Sequence[tuple[Array, Any]], outputs: Sequence[Array]
    ) -> None:
        per_plane: list[Sequence[Shadow]] = []
        for i, plane in enumerate(self.planes):
            seen = [(a, shadows_of(h, len(self.planes))[i]) for a, h in inputs]
            per_plane.append(plane.propagate(self, op, seen, outputs))
        made = [Tracked(o, tuple(s[k] for s in per_plane)) for k, o in enumerate(outputs)]
        activation.finish(made)

    # ---- where shadows go with the machine's own work -------------------------------------------------

    def move_pointer(self, ptr: Any, offset: Array, size: int) -> Array:
        return ptr + offset.astype(np.int64, copy=False) * np.int64(size)

    def tracked(self, op: Op, first: int, values: Sequence[Any]) -> list[Any]:
        return [self.frame[v] for v in op.operands[first:]]

    def plain(self, value: Any) -> Array:
        return plain(value)

    def branched(self, op: Op, held: Any) -> None:
        for plane, shadow in zip(self.planes, shadows_of(held, len(self.planes)), strict=True):
            if shadow is not None:
                plane.branched(self, op, plain(held), shadow)

    def counted(self, op: Op, frame: Frame, iv: Array) -> Tracked:
        bounds = [shadows_of(frame[v], len(self.planes)) for v in op.operands[:3]]
        made = [p.counted(self, op, [b[i] for b in bounds]) for i, p in enumerate(self.planes)]
        return Tracked(iv, tuple(made))

    def load(self, op: Op, ptr: Any, mask: Array | None, other: Array | None, element: Any = None) -> Array:
        value = super().load(op, ptr, mask, other, element)
        for plane in self.planes:
            plane.accessed(self, op, "load", ptr, mask, value)
        return value

    def store(self, op: Op, ptr: Any, value: Array, mask: Array | None, element: Any = None) -> None:
        super().store(op, ptr, value, mask, element)
        for plane in self.planes:
            plane.accessed(self, op, "store", ptr, mask, value)

    def atomic_rmw(self, op: Op, kind: str, ptr: Any, value: Array, mask: Array | None) -> Array:
        old = super().atomic_rmw(op, kind, ptr, value, mask)
        for plane in self.planes:
            plane.accessed(self, op, "atomic", ptr, mask, old)
        return old

    def atomic_cas(self, op: Op, ptr: Any, compare: Array, value: Array) -> Array:
        old = super().atomic_cas(op, ptr, compare, value)
        for plane in self.planes:
            plane.accessed(self, op, "atomic", ptr, None, old)
        return old


class Undefined(Plane):
    """Which elements nobody has defined: masked-off lanes of a load without `other`, and slots never assigned.

    Shadow: bool, True where undefined. `findings` collects (what, op, program ids, element) for the first undefined
    element that each op stores or branches on. Ops that mix elements along tile axes make their whole result of one
    program instance undefined, which is careful but never silent.
    """

    def __init__(self) -> None:
        self.findings: list[tuple[str, Op, tuple[int, ...], tuple[int, ...]]] = []
        self._reported: set[Op] = set()

    def propagate(
        self, m: Interpreter, op: Op, inputs: Sequence[tuple[Array, Shadow]], outputs: Sequence[Array]
    ) -> Sequence[Shadow]:
        if op.name == "tile.poison":
            return [np.ones_like(outputs[0], np.bool_)]
        if op.name == "tile.load":
            return [self._loaded(op, inputs)]
        if op.name == "tile.store":
            self._stored(m, op, inputs)
            return []
        shadows = [s for _, s in inputs if s is not None]
        if not shadows:
            return [None] * len(outputs)
        if op.name == "tile.select":
            return [_selected(inputs)]
        return [_joint(op, shadows, o) for o in outputs]

    def counted(self, m: Interpreter, op: Op, bounds: Sequence[Shadow]) -> Shadow:
        known = [b for b in bounds if b is not None]
        return None if not known else np.logical_or.reduce(np.broadcast_arrays(*known))

    def branched(self, m: Interpreter, op: Op, condition: Array, shadow: Shadow) -> None:
        if shadow is not None and shadow.any():
            self._report(m, "branch", op, shadow)

    def _loaded(self, op: Any, inputs: Sequence[tuple[Array, Shadow]]) -> Shadow:
        if op.mask is None:
            return None
        mask = inputs[1][0]
        if op.other is not None:
            other = inputs[2][1]
            return None if other is None else ~mask & other
        return None if mask.all() else ~mask

    def _stored(self, m: Interpreter, op: Any, inputs: Sequence[tuple[Array, Shadow]]) -> None:
        shadow = inputs[1][1]
        if shadow is not None:
            live = shadow & inputs[2][0] if op.mask is not None else shadow
            if live.any():
                self._report(m, "store", op, live)

    def _report(self, m: Interpreter, what: str, op: Op, where: Array) -> None:
        if op in self._reported:
            return
        self._reported.add(op)
        at = [int(i) for i in np.unravel_index(int(where.argmax()), where.shape)]
        self.findings.append((what, op, m.frame.batch.program(at[:BATCH_AXES]), tuple(at[BATCH_AXES:])))


def _selected(inputs: Sequence[tuple[Array, Shadow]]) -> Array:
    (condition, of_condition), (_, x), (_, y) = inputs
    blank = np.zeros((1,) * condition.ndim, np.bool_)
    chosen: Array = np.where(condition, blank if x is None else x, blank if y is None else y)
    return chosen if of_condition is None else chosen | of_condition


def _joint(op: Op, shadows: Sequence[Array], output: Array) -> Array:
    """The union of the operands' shadows where they lie like the output, else per program instance."""
    shape = op.results[0].type.shape
    if all(v.type.shape == shape or not v.type.shape for v in op.operands):
        wide = [s.reshape(s.shape + (1,) * (output.ndim - s.ndim)) for s in shadows]
    else:
        ones = (1,) * (output.ndim - BATCH_AXES)
        wide = [
            s.any(axis=tuple(range(BATCH_AXES, s.ndim))).reshape(*s.shape[:BATCH_AXES], *ones)
            for s in shadows
        ]
    found = wide[0]
    for s in wide[1:]:
        found = found | s
    return found
