"""Smaller, larger, clamped."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from tritium.ir.types import DType, bfloat16, float32
from tritium.numerics.formats import FLOAT_FORMATS
from tritium.ops.base import Array, attr, operand
from tritium.ops.elementwise import Elementwise, by_format
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Facts
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface


class PropagateNan(enum.IntEnum):
    """What a NaN does in minimum, maximum and clamp (``tl.PropagateNan``).

    NONE    it gives way to the other operand; clamp gives its lower bound for it
    ALL     the result is NaN
    """

    NONE = 0
    ALL = 0xFFFF


def _end(op: Elementwise, top: bool) -> int | None:
    """The largest or smallest value of an integer format; None for floats, where NaN and -0.0 spoil the rule."""
    scalar = op.operands[0].type.scalar
    if not isinstance(scalar, DType) or scalar.is_floating():
        return None
    return scalar.get_int_max_value() if top else scalar.get_int_min_value()


class _Extremum(Elementwise):
    """What minimum and maximum share. -0.0 is below +0.0; a NaN loses unless `propagate_nan`."""

    x = operand()
    y = operand()
    propagate_nan = attr(False)
    commutative = True
    associative = True
    idempotent = True

    largest: ClassVar[bool]

    unit = by_format(lambda op: _end(op, not op.largest))
    absorbing = by_format(lambda op: _end(op, op.largest))

    def eval(self, *args: Array) -> Array:
        compute = self.numerics.maximum if self.largest else self.numerics.minimum
        if self.is_float:
            return compute(args[0], args[1], self.format, propagate_nan=self.propagate_nan)
        return compute(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        if self.is_float:
            return None
        pick = max if self.largest else min
        lows, highs = [f.lo for f in operands], [f.hi for f in operands]
        lo = pick(x for x in lows if x is not None) if None not in lows else None
        hi = pick(x for x in highs if x is not None) if None not in highs else None
        return Facts(lo, hi)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.extremum(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.extremum(self, "max" if self.largest else "min", *x)


class Minimum(_Extremum, name="tile.minimum"):
    """Smaller of x and y per element.

    Numbers count as tensors here, so fp16 with 0.0 gives fp32; bf16 gives fp32.

    >>> tl.minimum(tl.arange(0, 4), 2)
    [0, 1, 2, 2]
    """

    largest: ClassVar[bool] = False

    @surface("minimum")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> Tensor:
        x, y = s.binary(_widened(s, x), _widened(s, y), "minimum")
        return s.emit(Minimum, x, y, propagate_nan=_propagates(s, propagate_nan, "minimum"))

    @surface("min", module="builtin")
    @staticmethod
    def builtin(s: Semantic, *args: Any) -> Any:
        """Python's ``min`` of two or more numbers or tiles, at compile time where all are compile-time.

        >>> min(tl.arange(0, 3), 1)
        [0, 1, 1]
        """
        return _builtin(s, Minimum, "min", args)


class Maximum(_Extremum, name="tile.maximum"):
    """Larger of x and y per element.

    Numbers count as tensors here, so fp16 with 0.0 gives fp32; bf16 gives fp32.

    >>> tl.maximum(tl.arange(0, 4), 2)
    [2, 2, 2, 3]
    """

    largest: ClassVar[bool] = True

    @surface("maximum")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> Tensor:
        x, y = s.binary(_widened(s, x), _widened(s, y), "maximum")
        return s.emit(Maximum, x, y, propagate_nan=_propagates(s, propagate_nan, "maximum"))

    @surface("max", module="builtin")
    @staticmethod
    def builtin(s: Semantic, *args: Any) -> Any:
        """Python's ``max`` of two or more numbers or tiles, at compile time where all are compile-time.

        >>> max(tl.arange(0, 3), 1)
        [1, 1, 2]
        """
        return _builtin(s, Maximum, "max", args)


class Clamp(Elementwise, name="tile.clamp"):
    """Floats x limited to lo...hi: ``minimum(maximum(x, lo), hi)``.

    A NaN in x gives lo, or NaN if propagated.

    >>> tl.clamp(tl.load(x + 7), 0.0, 5.0)
    5.0
    """

    x = operand()
    lo = operand()
    hi = operand()
    propagate_nan = attr(False)
    formats: ClassVar[tuple[str, ...]] = FLOAT_FORMATS

    def eval(self, *args: Array) -> Array:
        x, lo, hi = args
        return self.numerics.clamp(x, lo, hi, self.format, propagate_nan=self.propagate_nan)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.clamp(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.extremum(self, "min", e.extremum(self, "max", x[0], x[1]), x[2])

    @surface("clamp")
    @staticmethod
    def build(s: Semantic, x: Any, min: Any, max: Any, propagate_nan: Any = PropagateNan.NONE) -> Tensor:
        lo, hi = s.binary(_widened(s, min), _widened(s, max), "clamp")
        value, lo = s.binary(_widened(s, x), lo, "clamp")
        value, hi = s.binary(value, hi, "clamp")
        if not value.dtype.is_floating():
            s.fail("TRI0409", function="clamp", got=describe(value))
        lo = s.broadcast_to(lo, value.dims) if value.dims else lo
        return s.emit(Clamp, value, lo, hi, propagate_nan=_propagates(s, propagate_nan, "clamp"))


def _widened(s: Semantic, x: Any) -> Tensor:
    x = s.to_tensor(x)
    return s.cast(x, float32) if x.dtype is bfloat16 else x


def _propagates(s: Semantic, x: Any, function: str) -> bool:
    value = s.const(x, "propagate_nan")
    if value not in (PropagateNan.NONE, PropagateNan.ALL) or isinstance(value, bool):
        s.fail(
            "TRI0603",
            argument="propagate_nan",
            function=function,
            got=value,
            expected="tl.PropagateNan.NONE, tl.PropagateNan.ALL",
        )
    return value == PropagateNan.ALL


def _builtin(s: Semantic, cls: Any, name: str, args: tuple[Any, ...]) -> Any:
    if len(args) < 2:
        problem = f"{name} in a kernel takes two or more numbers or tiles"
        s.fail("TRI0601", function=name, signature="(x, y, ...)", problem=problem)
    if all(is_number(a) for a in args):
        compute = max if name == "max" else min
        return constexpr(compute(unwrap(a) for a in args))
    result = args[0]
    for other in args[1:]:
        result = cls.build(s, result, other)
    return result
