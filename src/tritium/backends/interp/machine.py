"""The machine that executes a `Program` for one batch of program instances after another.

Control flow is kept on an explicit stack, not on Python's: an `Activation` is a region being executed, and ops with
regions run as generators that yield the activations they need (see `drive`). So nesting may be as deep as the kernel
likes, and the fair scheduler can leave an instance at any loop and come back to it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from tritium.backends.interp import access, atomics, debugging, diverge, loops
from tritium.backends.interp.batch import Batch, Extents, Selection
from tritium.backends.interp.faults import internal_fault, report_access
from tritium.backends.interp.frames import Activation, Frame, Steps
from tritium.backends.interp.memory import BadAddress, Memory, NotWritable
from tritium.backends.interp.options import Options
from tritium.backends.interp.pointers import Offset, Pointer, addresses, advance
from tritium.backends.interp.program import Program
from tritium.errors import TritiumError, make_error
from tritium.ir.core import Op, Region
from tritium.ir.types import DType, PointerType, int1
from tritium.ops.base import BATCH_AXES, Array
from tritium.ops.gpu_memory import SharedMemory
from tritium.ops.storage import storage_dtype

_KEPT_OFFSETS = 4


class Interpreter:
    """One thread of execution over `program` and `memory`; implements `tritium.ops.machine.Machine`.

    frame   the frame of the region being executed
    fair    whether loops that may wait for other instances give way at their back edge
    polled  under fairness, the first address of the last load or atomic operation
    spin    the loop that gave way last, and whether its state was the same as one iteration before
    """

    def __init__(self, program: Program, memory: Memory, options: Options) -> None:
        self.program = program
        self.memory = memory
        self.options = options
        self.fair = False
        self.spin: tuple[Op, bool] | None = None
        self.polled: int | None = None
        self.frame = Frame(Batch.box((0, 0, 0), (1, 1, 1), (1, 1, 1)))
        self._offsets: list[tuple[Array, Offset]] = []

    # ---- running -------------------------------------------------------------------------------------

    def run(self, batch: Batch, args: Sequence[Array]) -> None:
        """Execute the whole function for the instances of `batch`."""
        for _ in self.start(batch, args):
            pass

    def start(self, batch: Batch, args: Sequence[Array]) -> Generator[None, None, None]:
        """As `run`, but giving way (yielding) wherever an instance may wait for another."""
        yield from self.drive(self.body(batch, args))

    def body(self, batch: Batch, args: Sequence[Array]) -> Activation:
        """The function's body, to be driven for `batch`."""
        return Activation(self.program.plans[self.program.function.body], Frame(batch), args)

    def drive(self, activation: Activation) -> Generator[None, None, list[Any]]:
        """Run an activation and everything it calls for. Yields where the scheduler may switch."""
        stack: list[Any] = [activation]
        results: list[Any] | None = None
        while stack:
            top = stack[-1]
            if isinstance(top, Activation):
                if results is not None:
                    top.finish(results)
                    results = None
                waiting = top.waiting if top.waiting is not None else self.advance(top)
                if waiting is None:
                    results = stack.pop().results()
                else:
                    top.waiting = None
                    stack.append(waiting)
                continue
            try:
                asked = top.send(results)
            except StopIteration as done:
                stack.pop()
                results = done.value
                continue
            except Exception as error:
                located = self._located(error, _pending_op(stack))
                if located is error:
                    raise
                raise located from error
            results = None
            if asked is None:
                yield None
            else:
                stack.append(asked)
        return results or []

    def advance(self, activation: Activation) -> Steps | None:
        """Run the steps of an activation until its end (None) or until one must be driven (that generator)."""
        self.frame = frame = activation.frame
        get = frame.__getitem__
        steps = activation.plan.steps
        at = activation.at
        count = len(steps)
        try:
            while at < count:
                call, machine, operands, results, dead, _ = steps[at]
                at += 1
                out = call(self, *map(get, operands)) if machine else call(*map(get, operands))
                if type(out) is GeneratorType:
                    activation.at = at
                    steps_to_drive: Steps = out  # type: ignore[assignment]
                    return steps_to_drive
                if len(results) == 1:
                    frame[results[0]] = out
                elif results:
                    frame.update(zip(results, out, strict=True))
                for value in dead:
                    frame.pop(value, None)
        except Exception as error:
            located = self._located(error, steps[at - 1].op)
            if located is error:
                raise
            raise located from error
        activation.at = at
        return None

    def _located(self, error: Exception, op: Op | None) -> Exception:
        if isinstance(error, TritiumError):
            if error.loc is None and op is not None:
                error.loc = op.loc
            return error
        return error if isinstance(error, MemoryError) else internal_fault(error, op)

    # ---- Machine: programs ---------------------------------------------------------------------------

    @property
    def batch(self) -> Extents:
        return self.frame.batch.shape

    def program_id(self, axis: int) -> Array:
        ids = self.frame.batch.ids
        if not ids:
            raise make_error(
                "TRI0805", op="tl.program_id", problem="a combine function has no program of its own"
            )
        return ids[axis]

    def num_programs(self, axis: int) -> Array:
        return np.full((1,) * BATCH_AXES, self.frame.batch.grid[axis], np.int32)

    # ---- Machine: memory -----------------------------------------------------------------------------

    def move_pointer(self, ptr: Any, offset: Array, size: int) -> Any:
        """`ptr` plus `offset` elements of `size` bytes. What is found out about `offset` serves later pointers."""
        if offset.size == 1:
            return advance(ptr, offset, size)
        for array, known in self._offsets:
            if array is offset:
                return advance(ptr, known, size)
        made = Offset(offset)
        self._offsets.insert(0, (offset, made))
        del self._offsets[_KEPT_OFFSETS:]
        return advance(ptr, made, size)

    def load(
        self,
        op: Op,
        ptr: Any,
        mask: Array | None,
        other: Array | None,
        element: DType | PointerType | None = None,
    ) -> Array:
        ty = _pointee(op) if element is None else element
        if self.fair:
            self.polled = int(addresses(ptr).flat[0])
        try:
            bits = access.load(self.memory, ptr, mask, other, ty.itemsize, self._is_raw(op))
        except BadAddress as bad:
            raise report_access(self, op, "load", addresses(ptr), mask, ty.itemsize, bad) from None
        return bits != 0 if ty is int1 else bits.view(storage_dtype(ty))

    def store(
        self, op: Op, ptr: Any, value: Array, mask: Array | None, element: DType | PointerType | None = None
    ) -> None:
        ty = _pointee(op) if element is None else element
        try:
            access.store(self.memory, ptr, addresses(value), mask, ty.itemsize, self._is_raw(op))
        except (BadAddress, NotWritable) as bad:
            raise report_access(self, op, "store", addresses(ptr), mask, ty.itemsize, bad) from None

    def atomic_rmw(self, op: Op, kind: str, ptr: Any, value: Array, mask: Array | None) -> Array:
        ty = _pointee(op)
        at = addresses(ptr)
        self.polled = int(at.flat[0])
        try:
            return atomics.read_modify_write(
                self.memory, kind, at, value, mask, ty, self._whole(op), self._is_raw(op)
            )
        except (BadAddress, NotWritable) as bad:
            raise report_access(self, op, "atomic operation", at, mask, ty.itemsize, bad) from None

    def atomic_cas(self, op: Op, ptr: Any, compare: Array, value: Array) -> Array:
        ty = _pointee(op)
        at = addresses(ptr)
        self.polled = int(at.flat[0])
        try:
            return atomics.compare_and_swap(
                self.memory, at, compare, value, ty, self._whole(op), self._is_raw(op)
            )
        except (BadAddress, NotWritable) as bad:
            raise report_access(self, op, "atomic operation", at, None, ty.itemsize, bad) from None

    def barrier(self, op: Op) -> None:
        """Nothing to wait for: each op is executed for all lanes before the next begins. Shared memory keeps count."""
        self.shared_memory().barrier()

    def shared_memory(self) -> SharedMemory:
        frame = self.frame
        while frame.parent is not None:
            frame = frame.parent
        if frame.shared is None:
            frame.shared = SharedMemory()
        return frame.shared

    def _whole(self, op: Op) -> tuple[int, ...]:
        """All lanes of all instances: what is the same for two of them still happens twice."""
        return (*self.frame.batch.shape, *op.operands[0].type.shape)

    def _is_raw(self, op: Op) -> bool:
        return self.options.raw_access or op.operands[0] in self.program.raw

    # ---- Machine: looking inside ---------------------------------------------------------------------

    def print_values(self, op: Op, prefix: str, values: Sequence[Array], **how: Any) -> None:
        debugging.print_values(self, op, prefix, [addresses(v) for v in values], **how)

    def check(self, op: Op, condition: Array, message: str, mask: Array | None) -> None:
        debugging.check(self, op, condition, message, mask)

    def breakpoint(self, op: Op) -> None:
        debugging.stop_at(self, op)

    def trace(self, op: Op) -> None:
        """Print what `op`, which is on a traced line, has just computed."""
        debugging.trace(self, op)

    # ---- Machine: regions ----------------------------------------------------------------------------

    def apply_region(self, region: Region, args: Sequence[Array]) -> list[Array]:
        return diverge.apply_region(self, region, args)

    def run_if(self, op: Op, condition: Array) -> Steps:
        return diverge.run_if(self, op, condition)

    def run_for(self, op: Op, lower: Array, upper: Array, step: Array, inits: Sequence[Array]) -> Steps:
        return loops.run_for(self, op, lower, upper, step, inits)

    def run_while(self, op: Op, inits: Sequence[Array]) -> Steps:
        return loops.run_while(self, op, inits)

    def tracked(self, op: Op, first: int, values: Sequence[Any]) -> list[Any]:
        """The values of the operands from `first` on, as the frame holds them."""
        return list(values)

    def plain(self, value: Any) -> Array:
        """A value as an array."""
        return addresses(value)

    def branched(self, op: Op, held: Any) -> None:
        """Control flow depends on `held`, which a frame holds."""

    def counted(self, op: Op, frame: Frame, iv: Array) -> Any:
        """The induction variable of a loop, as the frame shall hold it."""
        return iv

    def call(self, region: Region, frame: Frame, args: Sequence[Any] = ()) -> Activation:
        """An activation of `region`, run as far as it goes by itself; yield it if it is not `done`."""
        made = Activation(self.program.plans[region], frame, args)
        made.waiting = self.advance(made)
        return made


def _pending_op(stack: Sequence[Any]) -> Op | None:
    for entry in reversed(stack):
        if isinstance(entry, Activation):
            return entry.plan.steps[entry.at - 1].op
    return None


def _pointee(op: Op) -> DType | PointerType:
    scalar = op.operands[0].type.scalar
    assert isinstance(scalar, PointerType)
    return scalar.element_ty


__all__ = ["Interpreter", "Pointer", "Selection"]
