"""Addition, subtraction, multiplication, division, remainder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tritium.ir.types import DType, PointerType, float32, int64
from tritium.numerics.formats import FLOAT_FORMATS, INTEGER_FORMATS
from tritium.ops import facts as fx
from tritium.ops.base import Array, attr, operand
from tritium.ops.compare import GreaterEqual, LessEqual
from tritium.ops.debug import DeviceAssert
from tritium.ops.elementwise import Elementwise, unless_fp8
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Facts
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.memory import AddPtr
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface


class Add(Elementwise, name="tile.add"):
    """Sum of x and y per element. Integers wrap, int1 adds modulo 2, floats round once.

    A pointer plus an integer moves by that many elements. `sanitize_overflow` marks an addition of the source
    whose wrapping the debug mode reports.

    >>> tl.arange(0, 3) + 10
    [10, 11, 12]
    """

    x = operand()
    y = operand()
    sanitize_overflow = attr(True)
    commutative = True
    associative = True
    unit = 0
    float_unit = unless_fp8(-0.0)

    def eval(self, *args: Array) -> Array:
        return self.numerics.add(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.add(self, *operands) if fx.is_wide_integer(self.results[0].type) else None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.add(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.arithmetic(self, "+", *x)

    @surface("add", operator="+")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, sanitize_overflow: Any = True) -> Tensor:
        x_ptr, y_ptr = _is_pointer(x), _is_pointer(y)
        if x_ptr and y_ptr:
            s.fail("TRI0402", got=describe(y), message="two pointers cannot be added")
        if x_ptr or y_ptr:
            return AddPtr.offset(s, x if x_ptr else y, y if x_ptr else x)
        x, y = s.binary(x, y, "+")
        checked = _checks_overflow(s, Add, x, y, sanitize_overflow)
        return s.emit(Add, x, y, sanitize_overflow=checked)


class Sub(Elementwise, name="tile.sub"):
    """x minus y per element. Integers wrap, int1 subtracts modulo 2, floats round once.

    A pointer minus an integer moves back by that many elements.

    >>> 10 - tl.arange(0, 3)
    [10, 9, 8]
    """

    x = operand()
    y = operand()
    sanitize_overflow = attr(True)
    unit = 0
    float_unit = unless_fp8(0.0)

    def eval(self, *args: Array) -> Array:
        return self.numerics.sub(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.subtract(self, *operands) if fx.is_wide_integer(self.results[0].type) else None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.sub(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.arithmetic(self, "-", *x)

    @surface("sub", operator="-")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, sanitize_overflow: Any = True) -> Tensor:
        if _is_pointer(y):
            s.fail("TRI0402", got=describe(x), message=f"a pointer cannot be subtracted from {describe(x)}")
        if _is_pointer(x):
            return AddPtr.offset(s, x, _minus_offset(s, x, y))
        x, y = s.binary(x, y, "-")
        checked = _checks_overflow(s, Sub, x, y, sanitize_overflow)
        return s.emit(Sub, x, y, sanitize_overflow=checked)

    @surface("neg", module="operator", operator="unary -")
    @staticmethod
    def negate(s: Semantic, x: Any) -> Tensor:
        """``-x``, which is ``0 - x``: the negative of +0.0 is +0.0, as in Triton 3.6.

        >>> -tl.arange(0, 3)
        [0, -1, -2]
        """
        x = s.to_tensor(x)
        if isinstance(x.dtype, PointerType):
            s.fail("TRI0401", message=f"`-` cannot be applied to {describe(x)}")
        zero = s.scalar(0 if x.dtype.is_int() else 0.0, x.dtype)
        return Sub.build(s, zero, x)

    @surface("pos", module="operator", operator="unary +")
    @staticmethod
    def plus(s: Semantic, x: Any) -> Tensor:
        """``+x``, which is x.

        >>> +tl.arange(0, 3)
        [0, 1, 2]
        """
        return s.to_tensor(x)


class Mul(Elementwise, name="tile.mul"):
    """Product of x and y per element. Integers wrap, int1 multiplies as `and`, floats round once.

    >>> tl.arange(0, 3) * 2
    [0, 2, 4]
    """

    x = operand()
    y = operand()
    sanitize_overflow = attr(True)
    commutative = True
    associative = True
    unit = 1
    float_unit = unless_fp8(1.0)
    absorbing = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.mul(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.multiply(self, *operands) if fx.is_wide_integer(self.results[0].type) else None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.mul(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.arithmetic(self, "*", *x)

    @surface("mul", operator="*")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, sanitize_overflow: Any = True) -> Tensor:
        x, y = s.binary(x, y, "*")
        checked = _checks_overflow(s, Mul, x, y, sanitize_overflow)
        return s.emit(Mul, x, y, sanitize_overflow=checked)


class Div(Elementwise, name="tile.div"):
    """Quotient of floats x and y per element. `precise` asks for correct rounding on every backend.

    ``/`` gives fp32 for integers of any width and for fp16 and bf16; tl.fdiv keeps the type of its operands.

    >>> tl.load(x + tl.arange(1, 4)) / 2
    [0.5, 1.0, 1.5]
    """

    x = operand()
    y = operand()
    precise = attr(False)
    formats: ClassVar[tuple[str, ...]] = FLOAT_FORMATS
    float_unit = unless_fp8(1.0)

    def eval(self, *args: Array) -> Array:
        return self.numerics.div(args[0], args[1], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.div(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.quotient(self, *x)

    @surface("truediv", module="operator", operator="/")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        x, y = s.binary(x, y, "/", div_or_mod=True)
        if x.dtype.is_int():
            x, y = s.cast(x, float32), s.cast(y, float32)
        return s.emit(Div, x, y)

    @surface("fdiv", also=("math.fdiv",))
    @staticmethod
    def fdiv(s: Semantic, x: Any, y: Any, ieee_rounding: Any = False) -> Tensor:
        """Quotient of floats in their own type, also for fp16 and bf16.

        >>> tl.fdiv(tl.load(x + 1).to(tl.float16), tl.load(x + 4).to(tl.float16))
        0.25
        """
        s.const_bool(ieee_rounding, "ieee_rounding")  # has no effect in Triton 3.6
        x, y = s.to_tensor(x), s.to_tensor(y)
        for v in (x, y):
            if not v.dtype.is_floating():
                s.fail("TRI0409", function="fdiv", got=describe(v))
        x, y = s.binary(x, y, "fdiv")
        return s.emit(Div, x, y)

    @surface("div_rn", also=("math.div_rn",))
    @staticmethod
    def div_rn(s: Semantic, x: Any, y: Any) -> Tensor:
        """Correctly rounded quotient of fp32 numbers.

        >>> tl.div_rn(tl.load(x + 1), 3.0)
        0.33333334
        """
        for v in (x, y):
            if isinstance(v, Tensor) and v.dtype is not float32:
                s.fail("TRI0409", function="div_rn", got=describe(v))
        x, y = s.binary(s.to_tensor(x), s.to_tensor(y), "div_rn")
        if x.dtype.is_int():
            x, y = s.cast(x, float32), s.cast(y, float32)
        return s.emit(Div, x, y, precise=True)


class IntDiv(Elementwise, name="tile.idiv"):
    """Quotient of integers x and y per element, truncated toward zero as in C; 0 where y is 0.

    >>> (tl.load(i) - 7) // 2
    -3
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = INTEGER_FORMATS
    unit = 1
    absorbing = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.div(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.quotient(self, *operands)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.int_div(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.division(self, "/", *x)

    @surface("floordiv", module="operator", operator="//")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        lhs, rhs = describe(x), describe(y)
        x, y = s.binary(x, y, "//", div_or_mod=True)
        if x.dtype.is_floating():
            s.fail("TRI0406", lhs=lhs, rhs=rhs)
        return s.emit(IntDiv, x, y)


class Rem(Elementwise, name="tile.rem"):
    """Remainder of x divided by y per element, with the sign of x as in C; x where an integer y is 0.

    fp16 and bf16 are computed in fp32; for floats this is C's fmod.

    >>> (tl.load(i) - 7) % 2
    -1
    """

    x = operand()
    y = operand()

    def eval(self, *args: Array) -> Array:
        remainder = self.numerics.fmod if self.is_float else self.numerics.rem
        return remainder(args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return None if self.is_float else fx.remainder(*operands)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.rem(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("fmod", self.format, *x) if self.is_float else e.division(self, "%", *x)

    @surface("mod", module="operator", operator="%")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        x, y = s.binary(x, y, "%", div_or_mod=True)
        return s.emit(Rem, x, y)


class Fma(Elementwise, name="tile.fma"):
    """``x * y + z`` of floats per element, rounded once.

    >>> tl.fma(tl.load(x + 2), 3.0, 4.0)
    10.0
    """

    x = operand()
    y = operand()
    z = operand()
    formats: ClassVar[tuple[str, ...]] = FLOAT_FORMATS

    def eval(self, *args: Array) -> Array:
        return self.numerics.fma(args[0], args[1], args[2], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.fma(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("fma", self.format, *x)

    @surface("fma", also=("math.fma",))
    @staticmethod
    def build(s: Semantic, x: Any, y: Any, z: Any) -> Tensor:
        x, y, z = s.to_tensor(x), s.to_tensor(y), s.to_tensor(z)
        x, y = s.binary(x, y, "fma")
        z, x = s.binary(z, x, "fma")
        z, y = s.binary(z, y, "fma")
        if not z.dtype.is_floating():
            s.fail("TRI0409", function="fma", got=describe(z))
        return s.emit(Fma, s.broadcast(x, z)[0], y, z)


class UMulHi(Elementwise, name="tile.umulhi"):
    """High half of the product of x and y, read as unsigned 32- or 64-bit numbers.

    >>> tl.umulhi(tl.load(i + 6).to(tl.uint32), tl.full((), 2**31, tl.uint32))
    3
    """

    x = operand()
    y = operand()
    formats: ClassVar[tuple[str, ...]] = ("i32", "u32", "i64", "u64")
    commutative = True
    absorbing = 0

    def eval(self, *args: Array) -> Array:
        return self.numerics.umulhi(args[0], args[1], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.umulhi(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.helper("high_product", *x)

    @surface("umulhi", also=("math.umulhi",))
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        for v in (x, y):
            if isinstance(v, Tensor) and v.dtype.text not in UMulHi.formats:
                hint = "convert to 32- or 64-bit integers"
                s.fail("TRI0409", function="umulhi", got=describe(v), hint=hint)
        x, y = s.binary(s.to_tensor(x), s.to_tensor(y), "umulhi")
        return s.emit(UMulHi, x, y)


@surface("cdiv", method=True)
def cdiv(s: Semantic, x: Any, div: Any) -> Tensor:
    """Quotient rounded up for positive integers: ``(x + div - 1) // div``. Of two numbers it is an int32 tensor.

    >>> tl.cdiv(tl.load(i + 7), 4)
    2
    """
    if is_number(x) and is_number(div):
        return s.to_tensor(_at_compile_time(s, lambda a, b: (a + (b - 1)) // b, x, div))
    less = constexpr(unwrap(div) - 1) if is_number(div) else Sub.build(s, div, 1)
    return IntDiv.build(s, Add.build(s, x, less), div)


@surface("pow", module="operator", operator="**")
def power(s: Semantic, x: Any, y: Any) -> Any:
    """``x ** y`` of compile-time numbers; run-time powers are written out or taken from libdevice.

    >>> tl.arange(0, 3) * 2**3
    [0, 8, 16]
    """
    if is_number(x) and is_number(y):
        return _at_compile_time(s, lambda a, b: a**b, x, y)
    s.fail("TRI0410", lhs=describe(x), rhs=describe(y))


def _at_compile_time(s: Semantic, compute: Callable[[Any, Any], Any], x: Any, y: Any) -> constexpr:
    try:
        return constexpr(compute(unwrap(x), unwrap(y)))
    except ArithmeticError as broken:
        s.fail("TRI0508", problem=str(broken))


def _is_pointer(x: Any) -> bool:
    return isinstance(x, Tensor) and isinstance(x.dtype, PointerType)


def _minus_offset(s: Semantic, ptr: Tensor, by: Any) -> Tensor:
    """The offset that moves a pointer back by `by`, wide enough that negating cannot wrap."""
    if is_number(by):
        return s.to_tensor(-unwrap(by) if not isinstance(unwrap(by), float) else by)
    offset = s.to_tensor(by)
    if not offset.dtype.is_int():
        s.fail("TRI0402", got=describe(offset))
    return s.emit(Sub, *s.broadcast(s.scalar(0, int64), s.cast(offset, int64)), sanitize_overflow=False)


def _checks_overflow(s: Semantic, op: type[Elementwise], x: Tensor, y: Tensor, asked: Any) -> bool:
    """Whether the operation is marked; in debug mode also emits the check of its exact result."""
    marked = s.const_bool(asked, "sanitize_overflow")
    ty = x.dtype
    if not (marked and s.options.get("debug") and s.options.get("sanitize_overflow", True)):
        return marked
    if not isinstance(ty, DType) or not ty.is_int() or ty.primitive_bitwidth >= 64:
        return marked
    exact = s.emit(op, s.cast(x, int64), s.cast(y, int64), sanitize_overflow=False)
    low, high = s.scalar(ty.get_int_min_value(), int64), s.scalar(ty.get_int_max_value(), int64)
    for compare, bound in ((GreaterEqual, low), (LessEqual, high)):
        inside = s.emit(compare, *s.broadcast(exact, bound))
        s.emit(DeviceAssert, inside, message=f"{op.name.removeprefix('tile.')} overflows {ty}")
    return marked
