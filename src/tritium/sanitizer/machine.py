"""The interpreter's machine, checking: every access before it happens, every shadow where it arrives.

Values without a shadow are held as the plain machine holds them; the others as `Shadowed` with one shadow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from tritium.backends.interp.frames import Activation, Frame, Steps
from tritium.backends.interp.machine import Interpreter, _pointee
from tritium.backends.interp.memory import Memory
from tritium.backends.interp.options import Options
from tritium.backends.interp.pointers import addresses
from tritium.backends.interp.program import Program
from tritium.ir.core import Op, Value
from tritium.ops.base import BATCH_AXES, Array
from tritium.sanitizer import precision, undefined
from tritium.sanitizer import shadows as sh
from tritium.sanitizer.bounds import check_access
from tritium.sanitizer.context import Launch
from tritium.sanitizer.findings import Argument
from tritium.sanitizer.races import Races
from tritium.sanitizer.shadows import Shadow, Shadowed, Wide

Rule = Callable[["CheckingInterpreter", Op, Sequence[Any], Sequence[Shadow], Sequence[Array]], list[Shadow]]


class CheckingInterpreter(Interpreter):
    """One thread of execution that reports to `launch`.

    rules   per op that needs more than handing shadows on, what gives the shadows of its results
    """

    def __init__(self, program: Program, memory: Memory, options: Options, launch: Launch) -> None:
        super().__init__(program, memory, options)
        self.launch = launch
        self.accumulators = launch.facts.accumulators
        self.rules: dict[Op, Rule] = {}
        self.races = Races(launch)
        self.widened: dict[Value, Wide] = {}
        self.births: dict[Value, precision.Birth] = {}
        self._loaded: Shadow = None
        self._told: set[tuple[str, Op, str]] = set()

    # ---- reporting -----------------------------------------------------------------------------------

    def told(self, kind: str, op: Op, argument: Argument) -> bool:
        """Whether this launch has already made the sentence for a finding at `op`."""
        key = (kind, op, argument.name)
        if key in self._told:
            return True
        self._told.add(key)
        return False

    def report(self, kind: str, op: Op, message: str, *, position: Sequence[int], **fields: Any) -> None:
        """A finding in the lane at `position` (batch axes, then tile axes) of the running batch."""
        batch = self.frame.batch
        here = tuple(position[:BATCH_AXES])
        program = batch.program(here) if batch.ids else None
        lane = tuple(int(i) for i in position[BATCH_AXES:]) or None
        self.launch.report(kind, op, message, program=program, lane=lane, **fields)

    def take_loaded(self) -> Shadow:
        """The shadow of what the last load has read from memory, once."""
        found, self._loaded = self._loaded, None
        return found

    # ---- values with shadows -------------------------------------------------------------------------

    def plain(self, value: Any) -> Array:
        return addresses(value.value if type(value) is Shadowed else value)

    def shadow(self, value: Any) -> Shadow:
        """The shadow of what a frame holds."""
        return value.shadow if type(value) is Shadowed else None

    def shadow_of(self, op: Op, index: int) -> Shadow:
        """The shadow of operand number `index` of the op that runs."""
        return self.shadow(self.frame[op.operands[index]])

    def tracked(self, op: Op, first: int, values: Sequence[Any]) -> list[Any]:
        return [self.frame[v] for v in op.operands[first:]]

    def branched(self, op: Op, held: Any) -> None:
        shadow = self.shadow(held)
        if shadow is not None:
            undefined.check_branch(self, op, shadow)

    def counted(self, op: Op, frame: Frame, iv: Array) -> Any:
        return iv

    def advance(self, activation: Activation) -> Steps | None:
        self.frame = frame = activation.frame
        get = frame.__getitem__
        rules = self.rules
        steps = activation.plan.steps
        count = len(steps)
        while activation.at < count:
            call, machine, operands, results, _, op = steps[activation.at]
            activation.at += 1
            try:
                held = list(map(get, operands))
                args = [h.value if type(h) is Shadowed else h for h in held]
                out = call(self, *args) if machine else call(*args)
                if type(out) is GeneratorType:
                    waiting: Steps = out  # type: ignore[assignment]
                    return waiting
                rule = rules.get(op)
                if rule is None and not any(type(h) is Shadowed for h in held):
                    if len(results) == 1:
                        frame[results[0]] = out
                    elif results:
                        frame.update(zip(results, out, strict=True))
                    continue
                if len(operands) != len(op.operands):  # a trace of the op, not the op itself
                    continue
                self._define(frame, op, rule, (held, args), out)
            except Exception as error:
                located = self._located(error, op)
                if located is error:
                    raise
                raise located from error
        return None

    def _define(
        self, frame: Frame, op: Op, rule: Rule | None, given: tuple[list[Any], list[Any]], out: Any
    ) -> None:
        """Put the results of `op` into the frame, with their shadows."""
        held, args = given
        results = op.results
        outputs = () if not results else (out,) if len(results) == 1 else tuple(out)
        own = [self.shadow(h) for h in held]
        for value, h in zip(op.operands, held, strict=True):
            if type(h) is Shadowed and h.wide is not None and op not in self.accumulators.loop_of:
                precision.measure(self, op, value, h)
        if rule is not None:
            made = rule(self, op, args, own, outputs)
        elif outputs:
            made = sh.propagate(op, [addresses(a) for a in args], own, [addresses(o) for o in outputs])
        else:
            made = []
        for value, output, shadow in zip(results, outputs, made, strict=False):
            wide = self.widened.pop(value, None)
            plain = shadow is None and wide is None
            frame[value] = output if plain else Shadowed(output, shadow, wide)
        if op in self.accumulators.handed_on:
            precision.handed_on(self, op, [addresses(o) for o in outputs])

    # ---- memory --------------------------------------------------------------------------------------

    def load(self, op: Op, ptr: Any, mask: Array | None, other: Array | None, element: Any = None) -> Array:
        size = (_pointee(op) if element is None else element).itemsize
        undefined.check_address(self, op, "load", mask)
        allowed = check_access(self, op, "load", ptr, mask, size)
        live = mask if allowed is None else allowed if mask is None else allowed & mask
        value = super().load(op, ptr, live, other, element)
        self._loaded = undefined.never_written(self, op, ptr, live, size)
        self.races.read(self, op, ptr, live, size)
        return value

    def store(self, op: Op, ptr: Any, value: Array, mask: Array | None, element: Any = None) -> None:
        size = (_pointee(op) if element is None else element).itemsize
        undefined.check_address(self, op, "store", mask)
        undefined.check_stored(self, op, mask)
        precision.check_stored(self, op, addresses(value), mask)
        allowed = check_access(self, op, "store", ptr, mask, size)
        live = mask if allowed is None else allowed if mask is None else allowed & mask
        self._note_store(op, live)
        met = self.races.before_write(self, op, ptr, addresses(value), live, size)
        super().store(op, ptr, value, live, element)
        self.races.after_write(self, op, met, size)

    def atomic_rmw(self, op: Op, kind: str, ptr: Any, value: Array, mask: Array | None) -> Array:
        undefined.check_address(self, op, "atomic", mask)
        undefined.check_stored(self, op, mask)
        allowed = check_access(self, op, "atomic", ptr, mask, _pointee(op).itemsize)
        live = mask if allowed is None else allowed if mask is None else allowed & mask
        self._note_store(op, live)
        self.races.update(self, op, ptr, live, _pointee(op).itemsize)
        return super().atomic_rmw(op, kind, ptr, value, live)

    def atomic_cas(self, op: Op, ptr: Any, compare: Array, value: Array) -> Array:
        undefined.check_address(self, op, "atomic", None)
        undefined.check_stored(self, op, None)
        allowed = check_access(self, op, "atomic", ptr, None, _pointee(op).itemsize)
        self._note_store(op, allowed)
        self.races.update(self, op, ptr, allowed, _pointee(op).itemsize)
        if allowed is not None:
            return self._swap_some(op, ptr, compare, value, allowed)
        return super().atomic_cas(op, ptr, compare, value)

    def _note_store(self, op: Op, live: Array | None) -> None:
        stores = self.launch.stores
        stores[op] = stores.get(op, False) or live is None or bool(live.any())

    def barrier(self, op: Op) -> None:
        self.races.barrier(self)
        super().barrier(op)

    def _swap_some(self, op: Op, ptr: Any, compare: Array, value: Array, allowed: Array) -> Array:
        """A compare-and-swap whose bad lanes do nothing and give `compare`, as if they had found it."""
        at = np.broadcast_to(addresses(ptr), allowed.shape)
        out = np.array(np.broadcast_to(compare, (*self.frame.batch.shape, *allowed.shape[BATCH_AXES:])))
        if not allowed.any():
            return out
        first = at[allowed][0]
        safe = np.where(allowed, at, first)
        # A bad lane compares the neighbour's cell with itself: whatever is there stays.
        held = super().load(op, safe, None, None)
        old = super().atomic_cas(op, safe, np.where(allowed, compare, held), np.where(allowed, value, held))
        return np.where(allowed, old, out)
