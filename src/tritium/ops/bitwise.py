"""Operations on the bits of integers, and the logic of truth values."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from tritium.ir.types import DType, dtype_named, int1
from tritium.numerics.formats import INTEGER_FORMATS
from tritium.ops import facts as fx
from tritium.ops.base import Array, operand
from tritium.ops.elementwise import Elementwise, by_format
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Facts
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface


class And(Elementwise, name="tile.and"):
    """Bits set in both x and y; on int1 the logical and.

    >>> tl.arange(0, 4) & 1
    [0, 1, 0, 1]
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    commutative = True
    associative = True
    idempotent = True
    unit = by_format(Elementwise.all_ones)
    absorbing = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.bitwise_and(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        if self.results[0].type.scalar is int1:
            return fx.both(*operands)
        known = [f.hi for f in operands if f.lo is not None and f.lo >= 0 and f.hi is not None]
        return Facts(0, min(known)) if known else None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.bit_and(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.bits(self, "&", *x)

    @surface("and_", module="operator", operator="&")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return s.emit(And, *_bits(s, x, y, "&"))

    @surface("logical_and", module="tensor", method=True, operator="and")
    @staticmethod
    def logical(s: Semantic, x: Any, y: Any) -> Tensor:
        """Both of two truth values; both sides are evaluated.

        >>> (tl.arange(0, 4) > 0).logical_and(tl.arange(0, 4) < 3)
        [False, True, True, False]
        """
        return s.emit(And, *_truths(s, x, y, "and"))


class Or(Elementwise, name="tile.or"):
    """Bits set in x or y; on int1 the logical or.

    >>> tl.arange(0, 4) | 1
    [1, 1, 3, 3]
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    commutative = True
    associative = True
    idempotent = True
    unit = 0
    absorbing = by_format(Elementwise.all_ones)

    def eval(self, *args: Array) -> Array:
        return self.numerics.bitwise_or(args[0], args[1], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.bit_or(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.bits(self, "|", *x)

    @surface("or_", module="operator", operator="|")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return s.emit(Or, *_bits(s, x, y, "|"))

    @surface("logical_or", module="tensor", method=True, operator="or")
    @staticmethod
    def logical(s: Semantic, x: Any, y: Any) -> Tensor:
        """Either of two truth values; both sides are evaluated.

        >>> (tl.arange(0, 4) < 1).logical_or(tl.arange(0, 4) > 2)
        [True, False, False, True]
        """
        return s.emit(Or, *_truths(s, x, y, "or"))


class Xor(Elementwise, name="tile.xor"):
    """Bits in which x and y differ.

    >>> tl.arange(0, 4) ^ 1
    [1, 0, 3, 2]
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    commutative = True
    associative = True
    unit = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.bitwise_xor(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.either_differs(*operands) if self.results[0].type.scalar is int1 else None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.bit_xor(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.bits(self, "^", *x)

    @surface("xor", module="operator", operator="^")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return s.emit(Xor, *_bits(s, x, y, "^"))

    @surface("invert", module="operator", operator="unary ~")
    @staticmethod
    def invert(s: Semantic, x: Any) -> Tensor:
        """``~x``: every bit of an integer flipped; on int1 the logical not.

        >>> ~tl.arange(0, 3)
        [-1, -2, -3]
        """
        x = s.to_tensor(x)
        if not x.dtype.is_int():
            s.fail("TRI0408", operator="~", got=describe(x))
        return _flip(s, x)

    @surface("not_", module="operator", operator="not")
    @staticmethod
    def negate(s: Semantic, x: Any) -> Tensor:
        """``not x`` of truth values.

        >>> not tl.program_id(0) > 0
        True
        """
        x = s.to_tensor(x)
        if x.dtype is not int1:
            s.fail("TRI0411", operator="not", got=describe(x))
        return _flip(s, x)


class Shl(Elementwise, name="tile.shl"):
    """x shifted left by y bits; 0 where y reaches the width.

    >>> 1 << tl.arange(0, 4)
    [1, 2, 4, 8]
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    unit = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.shl(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.shift_left(self, *operands)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.shl(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.shift(self, "<<", *x)

    @surface("lshift", module="operator", operator="<<")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        _warn_width(x, y)
        return s.emit(Shl, *_bits(s, x, y, "<<"))


class Shr(Elementwise, name="tile.shr"):
    """x shifted right by y bits: signed types copy the sign, unsigned ones fill with 0.

    A shift by the width or more leaves only copies of the sign, or 0.

    >>> tl.full((1,), -8, tl.int32) >> 1
    [-4]
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    unit = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.shr(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.shift_right(self, *operands)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.shr(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.shift(self, ">>", *x)

    @surface("rshift", module="operator", operator=">>")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        """The operand that is a tile decides whether the sign is copied, whatever both promote to.

        >>> (tl.arange(0, 3) - 2) >> 1
        [-1, -1, 0]
        """
        _warn_width(x, y)
        decides = y if is_number(x) and not is_number(y) else x
        signed = s.to_tensor(decides).dtype.kind == "int"  # type: ignore[union-attr]
        x, y = _bits(s, x, y, ">>")
        ty = x.dtype
        assert isinstance(ty, DType)
        if signed == ty.is_int_signed() or ty is int1:
            return s.emit(Shr, x, y)
        as_wanted = dtype_named(f"{'int' if signed else 'uint'}{ty.primitive_bitwidth}")
        return s.cast(s.emit(Shr, s.cast(x, as_wanted), s.cast(y, as_wanted)), ty)


def _bits(s: Semantic, x: Any, y: Any, operator: str) -> tuple[Tensor, Tensor]:
    for v in (x, y):
        if isinstance(unwrap(v), float) or (not is_number(v) and s.to_tensor(v).dtype.is_floating()):
            s.fail("TRI0408", operator=operator, got=describe(v))
    return s.binary(x, y, operator)


def _truths(s: Semantic, x: Any, y: Any, operator: str) -> tuple[Tensor, Tensor]:
    x, y = s.to_tensor(x), s.to_tensor(y)
    for v in (x, y):
        if v.dtype is not int1:
            s.fail("TRI0411", operator=operator, got=describe(v))
    return s.broadcast(x, y)


def _flip(s: Semantic, x: Tensor) -> Tensor:
    assert isinstance(x.dtype, DType)
    ones = -1 if x.dtype.is_int_signed() else x.dtype.get_int_max_value()
    return s.emit(Xor, *s.broadcast(x, s.scalar(ones, x.dtype)))


def _warn_width(x: Any, y: Any) -> None:
    shift = unwrap(y)
    if not isinstance(x, Tensor) or not isinstance(shift, int) or isinstance(shift, bool):
        return
    if isinstance(x.dtype, DType) and shift >= x.dtype.primitive_bitwidth:
        warnings.warn(
            f"a shift by {shift} reaches the width of {x.dtype}: nothing of the value is left", stacklevel=2
        )
