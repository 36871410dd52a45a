"""Structured control flow: for, while, if, yield, return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.ir.core import Region
from tritium.ir.types import DType, Type, int1
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand, region
from tritium.ops.emit import CudaEmitter
from tritium.ops.machine import Machine
from tritium.ops.storage import zeros


def _yielded(r: Region, what: str) -> list[Type]:
    end = r.ops[-1] if r.ops else None
    if not isinstance(end, Yield):
        raise TypeRuleError(f"{what} does not end in tile.yield")
    return [v.type for v in end.operands]


class Yield(TileOp, name="tile.yield", terminator=True):
    """Ends a region and hands `values` to the op that owns it.

    >>> total = 0
    >>> for k in range(4):
    ...     total += k   # the body yields the next total
    >>> total
    6
    """

    values = operand(variadic=True)
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return None

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.finish(self)


class Return(TileOp, name="tile.return", terminator=True):
    """Ends the kernel.

    >>> tl.store(x, 9.0)
    >>> return
    >>> x
    [9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """

    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return None

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.finish(self)


class If(TileOp, name="tile.if"):
    """Runs one of two regions by a 0-d i1; results are what the chosen region yields.

    Both regions take no arguments and yield the same types.

    >>> if tl.program_id(0) == 0:
    ...     a = 1
    ... else:
    ...     a = 2
    >>> a
    1
    """

    condition = operand()
    then_region = region()
    else_region = region()
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.condition.type is not int1:
            raise TypeRuleError(f"the condition of tile.if is a 0-d i1, got {self.condition.type}")
        then = _yielded(self.then_region, "the then region")
        other = _yielded(self.else_region, "the else region")
        if then != other:
            raise TypeRuleError(f"the branches yield different types: {then} and {other}")
        return then

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.run_if(self, args[0])  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.run_if(self)


class For(TileOp, name="tile.for"):
    """A counted run-time loop: ``for iv in range(lower, upper, step)`` carrying values.

    The body takes ``(iv, *carried)`` and yields the next carried values; results are the last ones. `step` is not
    zero; a negative step counts down. lower, upper, step and iv share one integer type. `hints` are pairs of a name
    and a value, such as ``("num_stages", 3)``: wishes for scheduling that change no result.

    >>> total = 0
    >>> for k in range(10, 0, -3):
    ...     total += k
    >>> total
    22
    """

    lower = operand()
    upper = operand()
    step = operand()
    inits = operand(variadic=True)
    body = region()
    hints = attr(())
    speculatable = False

    def infer(self) -> Sequence[Type]:
        iv = self.lower.type
        if not (isinstance(iv, DType) and iv.is_int() and iv is self.upper.type and iv is self.step.type):
            raise TypeRuleError(
                f"loop bounds share one integer type, got {iv}, {self.upper.type}, {self.step.type}"
            )
        types = [v.type for v in self.inits]
        if [a.type for a in self.body.args] != [iv, *types]:
            raise TypeRuleError("the loop body's arguments are the induction variable and the carried values")
        if _yielded(self.body, "the loop body") != types:
            raise TypeRuleError("the loop body yields other types than it carries")
        return types

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.run_for(self, args[0], args[1], args[2], args[3:])  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.run_for(self)


class While(TileOp, name="tile.while"):
    """A loop with a condition of its own: runs `body` on the carried values as long as `cond` yields true.

    Both regions take the carried values; `cond` yields one 0-d i1, `body` the next carried values.

    >>> n = 1
    >>> while n < 100:
    ...     n *= 3
    >>> n
    243
    """

    inits = operand(variadic=True)
    cond = region()
    body = region()
    speculatable = False

    def infer(self) -> Sequence[Type]:
        types = [v.type for v in self.inits]
        for r in (self.cond, self.body):
            if [a.type for a in r.args] != types:
                raise TypeRuleError("both regions of tile.while take the carried values")
        if _yielded(self.cond, "the condition") != [int1]:
            raise TypeRuleError("the condition of tile.while yields one 0-d i1")
        if _yielded(self.body, "the loop body") != types:
            raise TypeRuleError("the loop body yields other types than it carries")
        return types

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.run_while(self, args)  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.run_while(self)


class Poison(TileOp, name="tile.poison"):
    """A value nobody may look at: a slot that control flow has not filled. Reads as zero; the sanitizer tracks it.

    ``type`` is the type of the value.

    >>> tl.empty((2,), tl.float32).dtype
    fp32
    """

    type = attr()

    def infer(self) -> Sequence[Type]:
        return (self.type,)

    def eval(self, *args: Array) -> Array:
        return zeros(self.type)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.constant(self)
