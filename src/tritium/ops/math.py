"""Elementwise mathematical functions.

exp, log, sin and their like compute in fp32 and fp64 only, as in Triton: narrower types are converted by the kernel,
so that cost and rounding stay visible. Their accuracy on each backend is stated in `tritium.numerics.special`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tritium.ir.types import DType, float32
from tritium.numerics import special
from tritium.ops.arithmetic import Add, Div, Sub
from tritium.ops.base import Array, attr, operand
from tritium.ops.elementwise import WIDE_FLOATS, Elementwise
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import SURFACES, surface


class Unary(Elementwise):
    """What the functions of one fp32 or fp64 argument share."""

    x = operand()
    formats: ClassVar[tuple[str, ...]] = WIDE_FLOATS


def _function(s: Semantic, cls: type[Elementwise], name: str, x: Any, **attrs: Any) -> Tensor:
    """`cls` applied to `x`, which must already have one of its formats; a Python float is fp32."""
    x = s.to_tensor(x)
    if not isinstance(x.dtype, DType) or x.dtype.text not in cls.formats:
        s.fail("TRI0409", function=name, got=describe(x))
    return s.emit(cls, x, **attrs)


class Exp(Unary, name="tile.exp"):
    """e to the power of x per element.

    >>> tl.exp(tl.load(x + 1))
    2.7182817
    """

    def eval(self, *args: Array) -> Array:
        return special.exp(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.fast("exp", self.format, *x)

    @surface("exp", method=True, also=("math.exp",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Exp, "exp", x)


class Exp2(Unary, name="tile.exp2"):
    """2 to the power of x per element.

    >>> tl.exp2(tl.load(x + 3))
    8.0
    """

    def eval(self, *args: Array) -> Array:
        return special.exp2(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("exp2", self.format, *x)

    @surface("exp2", method=True, also=("math.exp2",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Exp2, "exp2", x)


class Log(Unary, name="tile.log"):
    """Natural logarithm of x per element; NaN below 0, -inf at 0.

    >>> tl.log(tl.load(x + 1))
    0.0
    """

    def eval(self, *args: Array) -> Array:
        return special.log(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("log", self.format, *x)

    @surface("log", method=True, also=("math.log",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Log, "log", x)


class Log2(Unary, name="tile.log2"):
    """Logarithm of x to base 2 per element; NaN below 0, -inf at 0.

    >>> tl.log2(tl.load(x + 4))
    2.0
    """

    def eval(self, *args: Array) -> Array:
        return special.log2(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("log2", self.format, *x)

    @surface("log2", method=True, also=("math.log2",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Log2, "log2", x)


class Cos(Unary, name="tile.cos"):
    """Cosine of x (radians) per element.

    >>> tl.cos(tl.load(x))
    1.0
    """

    def eval(self, *args: Array) -> Array:
        return special.cos(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("cos", self.format, *x)

    @surface("cos", method=True, also=("math.cos",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Cos, "cos", x)


class Sin(Unary, name="tile.sin"):
    """Sine of x (radians) per element.

    >>> tl.sin(tl.load(x))
    0.0
    """

    def eval(self, *args: Array) -> Array:
        return special.sin(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("sin", self.format, *x)

    @surface("sin", method=True, also=("math.sin",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Sin, "sin", x)


class Sqrt(Unary, name="tile.sqrt"):
    """Square root of x per element; NaN below 0. `precise` asks for correct rounding on every backend.

    >>> tl.sqrt(tl.load(x + 4))
    2.0
    """

    precise = attr(False)

    def eval(self, *args: Array) -> Array:
        return self.numerics.sqrt(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.sqrt(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("sqrt", self.format, *x) if self.precise else e.fast("sqrt", self.format, *x)

    @surface("sqrt", method=True, also=("math.sqrt",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Sqrt, "sqrt", x)

    @surface("sqrt_rn", method=True, also=("math.sqrt_rn",))
    @staticmethod
    def sqrt_rn(s: Semantic, x: Any) -> Tensor:
        """Correctly rounded square root of fp32 numbers.

        >>> tl.sqrt_rn(tl.load(x + 2))
        1.4142135
        """
        x = s.to_tensor(x)
        if x.dtype is not float32:
            s.fail("TRI0409", function="sqrt_rn", got=describe(x))
        return s.emit(Sqrt, x, precise=True)


class Rsqrt(Unary, name="tile.rsqrt"):
    """1 / sqrt(x) per element; NaN below 0, inf at +0.0.

    >>> tl.rsqrt(tl.load(x + 4))
    0.5
    """

    def eval(self, *args: Array) -> Array:
        return special.rsqrt(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("rsqrt", self.format, *x)

    @surface("rsqrt", method=True, also=("math.rsqrt",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Rsqrt, "rsqrt", x)


class Erf(Unary, name="tile.erf"):
    """Error function of x per element.

    >>> tl.erf(tl.load(x))
    0.0
    """

    def eval(self, *args: Array) -> Array:
        return special.erf(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.function(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("erf", self.format, *x)

    @surface("erf", method=True, also=("math.erf",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Erf, "erf", x)


class Floor(Unary, name="tile.floor"):
    """Largest whole number not above x, per element, as a float.

    >>> tl.floor(tl.load(x + 3) / 2)
    1.0
    """

    def eval(self, *args: Array) -> Array:
        return self.numerics.floor(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.floor(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("floor", self.format, *x)

    @surface("floor", method=True, also=("math.floor",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Floor, "floor", x)


class Ceil(Unary, name="tile.ceil"):
    """Smallest whole number not below x, per element, as a float.

    >>> tl.ceil(tl.load(x + 3) / 2)
    2.0
    """

    def eval(self, *args: Array) -> Array:
        return self.numerics.ceil(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.ceil(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("ceil", self.format, *x)

    @surface("ceil", method=True, also=("math.ceil",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        return _function(s, Ceil, "ceil", x)


class Abs(Elementwise, name="tile.abs"):
    """Magnitude of x per element, of any number type. The most negative integer stays as it is.

    >>> tl.abs(tl.load(i) - 3)
    3
    """

    x = operand()

    def eval(self, *args: Array) -> Array:
        return self.numerics.absolute(args[0], self.format)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.absolute(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.math("fabs", self.format, *x) if self.is_float else e.helper("magnitude", *x)

    @surface("abs", method=True, also=("math.abs",))
    @staticmethod
    def build(s: Semantic, x: Any) -> Tensor:
        x = s.to_tensor(x)
        if not isinstance(x.dtype, DType):
            s.fail("TRI0409", function="abs", got=describe(x))
        return x if x.dtype.is_int_unsigned() else s.emit(Abs, x)

    @surface("abs", module="builtin")
    @staticmethod
    def builtin(s: Semantic, x: Any) -> Any:
        """Python's ``abs`` in a kernel; a compile-time number gives a compile-time number.

        >>> abs(tl.arange(0, 3) - 1)
        [1, 0, 1]
        """
        return constexpr(abs(unwrap(x))) if is_number(x) else Abs.build(s, x)


@surface("sigmoid", method=True)
def sigmoid(s: Semantic, x: Any) -> Tensor:
    """``1 / (1 + exp(-x))`` of fp32 or fp64.

    >>> tl.sigmoid(tl.load(x))
    0.5
    """
    return Div.build(s, 1, Add.build(s, 1, Exp.build(s, Sub.negate(s, x))))


@surface("softmax", method=True)
def softmax(
    s: Semantic, x: Any, dim: Any = None, keep_dims: Any = False, ieee_rounding: Any = False
) -> Tensor:
    """exp(x) over its sum along `dim` (0 by default), with the maximum subtracted first.

    Maximum and sum have the reduced axis removed unless `keep_dims`, so a tile with several axes needs
    ``keep_dims=True`` unless `dim` is 0.

    >>> tl.softmax(tl.load(x + tl.arange(0, 4)) * 0.0)
    [0.25, 0.25, 0.25, 0.25]
    """
    axis = 0 if unwrap(dim) is None else dim
    top = SURFACES["tl.max"](s, x, axis, keep_dims=keep_dims)
    powers = Exp.build(s, Sub.build(s, x, top))
    total = SURFACES["tl.sum"](s, powers, axis, keep_dims=keep_dims)
    return Div.fdiv(s, powers, total, ieee_rounding)
