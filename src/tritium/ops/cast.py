"""Conversions between element types, and reinterpretation of bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.ir.types import DType, PointerType, ScalarType, TileType, Type, like
from tritium.numerics.cast import bitcast, cast
from tritium.ops import facts as fx
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Bound, Facts
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface

_ROUNDINGS = ("rtne", "rtz")


class Cast(TileOp, name="tile.cast"):
    """`x` with elements converted to `to`. `rounding` ("rtne" or "rtz") matters where a float narrows.

    Float to int truncates, saturates and maps NaN to 0; anything to int1 is ``!= 0``; integers narrow by
    wrapping; integers and wider floats become floats with one rounding.

    >>> tl.cast(tl.load(x + tl.arange(0, 4)) / -2, tl.int32)
    [0, 0, -1, -1]
    """

    only_converts = True
    x = operand()
    to = attr()
    rounding = attr("rtne")

    def infer(self) -> Sequence[Type]:
        if not isinstance(self.x.type.scalar, DType) or not isinstance(self.to, DType):
            raise TypeRuleError(f"tile.cast converts numbers, got {self.x.type} to {self.to}")
        if self.rounding not in _ROUNDINGS:
            raise TypeRuleError(f'tile.cast rounds "rtne" or "rtz", not {self.rounding!r}')
        return (like(self.x.type, self.to),)

    def eval(self, *args: Array) -> Array:
        return cast(args[0], self.x.type.scalar.text, self.to.text, self.rounding)  # type: ignore[union-attr]

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.convert(self, operands[0], self.x.type, self.result.type)

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.convert(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.cast(x[0], self.x.type.scalar, self.to, self.rounding)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    @surface("cast", method=True)
    @staticmethod
    def build(
        s: Semantic, input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False
    ) -> Tensor:
        x = s.to_tensor(input)
        to = _target(s, dtype)
        rounding = s.choice(fp_downcast_rounding, "fp_downcast_rounding", "cast", _ROUNDINGS)
        if s.const_bool(bitcast, "bitcast"):
            return reinterpret(s, x, to)
        if rounding and not (to == x.dtype or _narrows(x.dtype, to)):
            s.fail("TRI0617", got=x.dtype, target=to)
        return s.cast(x, to, rounding or None)

    @surface("to", module="tensor", method=True)
    @staticmethod
    def to_method(
        s: Semantic, input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False
    ) -> Tensor:
        """The same as tl.cast.

        >>> tl.arange(0, 3).to(tl.float32)
        [0.0, 1.0, 2.0]
        """
        return Cast.build(s, input, dtype, fp_downcast_rounding, bitcast)


class Bitcast(TileOp, name="tile.bitcast"):
    """The bits of `x` read as `to`, a type of the same width. Pointers count as 64-bit integers.

    >>> tl.cast(tl.load(x + 1), tl.int32, bitcast=True)
    1065353216
    """

    only_converts = True
    x = operand()
    to = attr()

    def infer(self) -> Sequence[Type]:
        source, to = self.x.type.scalar, self.to
        if source.primitive_bitwidth != to.primitive_bitwidth:
            raise TypeRuleError(f"tile.bitcast keeps the width, got {source} to {to}")
        return (like(self.x.type, to),)

    def eval(self, *args: Array) -> Array:
        return bitcast(args[0], _bits_format(self.x.type.scalar), _bits_format(self.to))

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.bitcast(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.bitcast(x[0], self.x.type.scalar, self.to)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


def _bits_format(ty: ScalarType) -> str:
    return "i64" if isinstance(ty, PointerType) else ty.text


def _target(s: Semantic, dtype: Any) -> ScalarType:
    """A tile type stands for its elements: ``block_pointer.dtype.element_ty`` is one."""
    value = unwrap(dtype)
    if not isinstance(value, (DType, PointerType, TileType)) or value.primitive_bitwidth == 0:
        s.fail("TRI0510", what="a conversion", got=describe(dtype))
    return value.scalar


def _narrows(source: ScalarType, to: ScalarType) -> bool:
    return source.is_floating() and to.is_floating() and to.primitive_bitwidth < source.primitive_bitwidth


def reinterpret(s: Semantic, x: Tensor, to: ScalarType) -> Tensor:
    """`x` with its bits read as `to`; where a pointer takes part this is an ordinary conversion."""
    source = x.dtype
    if source == to:
        return x
    if isinstance(source, PointerType) or isinstance(to, PointerType):
        return s.cast(x, to)
    if source.primitive_bitwidth != to.primitive_bitwidth:
        s.fail(
            "TRI0413",
            got=source,
            got_bits=source.primitive_bitwidth,
            target=to,
            target_bits=to.primitive_bitwidth,
        )
    return s.emit(Bitcast, x, to=to)


@surface("to_tensor")
def to_tensor(s: Semantic, x: Any) -> Tensor:
    """`x` as a run-time value; a Python number gets the type it has as a literal, and is no longer weak.

    >>> tl.to_tensor(3).dtype
    int32
    """
    return s.to_tensor(x)
