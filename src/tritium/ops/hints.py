"""Facts that the kernel's author promises. They change no value; a broken promise makes the rest undefined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tritium.ir.types import Type, int1
from tritium.ops import facts as fx
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.debug import truth_value
from tritium.ops.emit import CpuEmitter, CudaEmitter
from tritium.ops.facts import Bound, Facts
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic
from tritium.ops.surface import surface

KINDS = ("multiple_of", "max_contiguous", "max_constancy")


class Hint(TileOp, name="tile.hint"):
    """`x`, with the promise `kind` of its `values`, one for each axis (one in all for a 0-d value).

    multiple_of      the first element of every run of consecutive numbers along the axis is a multiple of the value
    max_contiguous   elements come in runs of so many consecutive numbers along the axis
    max_constancy    elements come in runs of so many equal numbers along the axis

    >>> tl.multiple_of(tl.arange(0, 4) * 8, 8)
    [0, 8, 16, 24]
    """

    x = operand()
    kind = attr()
    values = attr()

    def infer(self) -> Sequence[Type]:
        if self.kind not in KINDS:
            raise TypeRuleError(f"tile.hint has no kind {self.kind}")
        rank = len(self.x.type.shape)
        if len(self.values) != max(rank, 1):
            raise TypeRuleError(f"tile.hint needs {max(rank, 1)} values, got {len(self.values)}")
        return (self.x.type,)

    def eval(self, *args: Array) -> Array:
        return args[0]

    def facts(self, *operands: Facts) -> Facts | None:
        if self.kind != "multiple_of":
            return operands[0]
        if self.x.type.shape:  # the first element of all starts a run along every axis
            return fx.starts_at_multiple(operands[0], math.lcm(*self.values))
        return fx.multiple(operands[0], self.values[0])

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.same(self, *x)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.alias(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


def _hint(s: Semantic, x: Any, values: Any, kind: str) -> Tensor:
    value = s.to_tensor(x)
    given = unwrap(values)
    given = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    numbers = tuple(s.const_int(v, f"every value of tl.{kind}") for v in given)
    rank = max(len(value.dims), 1)
    if len(numbers) != rank:
        s.fail("TRI0619", function=f"tl.{kind}", expected=rank, got=len(numbers))
    if any(n < 1 for n in numbers):
        s.fail(
            "TRI0506",
            got=min(numbers),
            message=f"the values of tl.{kind} are positive, and one is {min(numbers)}",
        )
    return s.emit(Hint, value, kind=kind, values=numbers)


@surface("multiple_of")
def multiple_of(s: Semantic, input: Any, values: Any) -> Tensor:
    """`input`, with the promise that along each axis it starts at multiples of that axis's value.

    >>> tl.multiple_of(tl.arange(0, 4) * 8, 8)
    [0, 8, 16, 24]
    """
    return _hint(s, input, values, "multiple_of")


@surface("max_contiguous")
def max_contiguous(s: Semantic, input: Any, values: Any) -> Tensor:
    """`input`, with the promise that along each axis so many elements at a time are consecutive numbers.

    >>> tl.max_contiguous(tl.arange(0, 4), 4)
    [0, 1, 2, 3]
    """
    return _hint(s, input, values, "max_contiguous")


@surface("max_constancy")
def max_constancy(s: Semantic, input: Any, values: Any) -> Tensor:
    """`input`, with the promise that along each axis so many elements at a time are equal.

    >>> tl.max_constancy(tl.arange(0, 4) // 2, 2)
    [0, 0, 1, 1]
    """
    return _hint(s, input, values, "max_constancy")


class Assume(TileOp, name="tile.assume"):
    """The promise that `condition` (i1) is true for every element.

    >>> tl.assume(tl.num_programs(0) > 0)
    """

    condition = operand()
    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.condition.type.scalar is not int1:
            raise TypeRuleError(f"tile.assume needs an i1, got {self.condition.type}")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return None

    def emit_cuda(self, e: CudaEmitter) -> None:
        pass

    @surface("assume")
    @staticmethod
    def build(s: Semantic, cond: Any) -> None:
        """Promise that `cond` is true, which the compiler may use.

        >>> tl.assume(tl.num_programs(0) > 0)
        """
        s.emit(Assume, truth_value(s, cond, "the condition of tl.assume"))
