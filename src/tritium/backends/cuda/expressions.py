"""The emitter's vocabulary for single elements: arithmetic with the language's rules as C++ expressions."""

from __future__ import annotations

from typing import Any, NoReturn

from tritium.analysis.value_facts import ValueFacts
from tritium.backends.cuda.prelude import known
from tritium.backends.cuda.types import cpp_type, is_struct, literal
from tritium.errors import make_error
from tritium.ir.core import Op
from tritium.ir.types import DType, PointerType, ScalarType, float32
from tritium.ops.create import Constant
from tritium.ops.elementwise import Elementwise
from tritium.ops.emit import UNARY, Expr, binary, call, conditional

_BOOL_SIGNS = {"&": "&&", "|": "||", "^": "!="}
_NARROW = ("i8", "i16", "u8", "u16")


class Expressions:
    """Verbs that need no statement. `used` gathers the prelude functions that were called."""

    def __init__(self, facts: ValueFacts, wrapping: frozenset[Op]) -> None:
        self.used: set[str] = set()
        self.facts = facts
        self.wrapping = wrapping

    def unsupported(self, op: Op, problem: str = "") -> NoReturn:
        raise make_error("TRI0760", op.loc, op=op.name, problem=problem)

    def type(self, ty: ScalarType) -> str:
        """The C++ type of an element; what defines it becomes part of the source."""
        name = cpp_type(ty)
        scalar = ty
        while isinstance(scalar, PointerType):
            scalar = scalar.element_ty
        if is_struct(scalar):
            if not known(scalar.text):
                raise make_error("TRI0760", None, op=f"tl.{scalar.name}", problem="")
            self.used.add(scalar.text)
        return name

    def helper(self, name: str, *args: str) -> Expr:
        self.used.add(name)
        return call(name, *args)

    def literal(self, value: Any, ty: ScalarType) -> Expr:
        text = literal(value, ty)
        return self.helper(f"to_{ty.text}", text) if is_struct(ty) else text

    def may_wrap(self, op: Op) -> bool:
        return op in self.wrapping

    def binary(self, sign: str, x: Expr, y: Expr) -> Expr:
        return binary(sign, x, y)

    # ---- integers ------------------------------------------------------------------------------------

    def arithmetic(self, op: Elementwise, sign: str, *operands: Expr) -> Expr:
        """``+ - *`` of floats, or of integers that wrap; i1 is arithmetic modulo 2."""
        x, y = operands
        if op.is_float:
            return binary(sign, x, y)
        if op.format == "i1":
            return binary("&&" if sign == "*" else "!=", x, y)
        if op.format in _NARROW:
            wide = "u32" if op.format == "u16" and sign == "*" else ""
            if wide:
                self.used.add("names")
                x = call(wide, x)
            return self._narrowed(op, binary(sign, x, y))
        if op.format in ("u32", "u64") or not self.may_wrap(op):
            return binary(sign, x, y)
        return self.helper({"+": "wrapping_add", "-": "wrapping_sub", "*": "wrapping_mul"}[sign], x, y)

    def _narrowed(self, op: Elementwise, x: Expr) -> Expr:
        """Integers narrower than int are computed as int and cut back."""
        scalar = op.result.type.scalar
        return Expr(f"({cpp_type(scalar)}){x.within(UNARY)}", UNARY) if op.format in _NARROW else x

    def division(self, op: Elementwise, sign: str, *operands: Expr) -> Expr:
        x, y = operands
        if op.format == "i1":
            return binary("&&", x, y) if sign == "/" else binary("&&", x, Expr(f"!{y.within(UNARY)}", UNARY))
        divisor = op.operands[1].defining_op
        value = _splat(divisor)
        if isinstance(value, int) and value not in (0, -1):
            return self._narrowed(op, binary(sign, x, y))
        name = "quotient" if sign == "/" else "remainder"
        if op.format in ("i64", "u64") and self._in_half(op):  # 64 bits divide by a subroutine
            short, long = (
                ("int", "(long long)") if op.format == "i64" else ("unsigned int", "(unsigned long long)")
            )
            x, y = (Expr(f"({short}){v.within(UNARY)}", UNARY) for v in (x, y))
            return Expr(f"{long}{self.helper(name, x, y)}", UNARY)
        return self.helper(name, x, y)

    def _in_half(self, op: Elementwise) -> bool:
        """Whether operands and result of a 64-bit division fit 32 bits of the same sign rule."""
        x, y = (self.facts[v] for v in op.operands)
        low, high = (-(1 << 31), (1 << 31) - 1) if op.format == "i64" else (0, (1 << 32) - 1)
        if not all(f.lo is not None and f.hi is not None and low <= f.lo <= f.hi <= high for f in (x, y)):
            return False
        assert x.lo is not None and y.lo is not None
        return op.format == "u64" or x.lo > low or y.lo >= 0

    def shift(self, op: Elementwise, sign: str, *operands: Expr) -> Expr:
        x, y = operands
        if op.format == "i1":
            return binary("&&", x, Expr(f"!{y.within(UNARY)}", UNARY))
        scalar = op.result.type.scalar
        assert isinstance(scalar, DType)
        by = _splat(op.operands[1].defining_op)
        plain = isinstance(by, int) and 0 <= by < scalar.primitive_bitwidth
        if plain and (sign == ">>" or scalar.is_int_unsigned()):
            return self._narrowed(op, binary(sign, x, y))
        return self.helper("shift_left" if sign == "<<" else "shift_right", x, y)

    def bits(self, op: Elementwise, sign: str, *operands: Expr) -> Expr:
        """``& | ^``; on i1 the logical operators, whose operands have no side effects."""
        x, y = operands
        if op.format == "i1":
            return binary(_BOOL_SIGNS[sign], x, y)
        return self._narrowed(op, binary(sign, x, y))

    # ---- floats --------------------------------------------------------------------------------------

    def math(self, name: str, form: str, *x: Expr) -> Expr:
        """A function of CUDA's math library, fp64 or fp32."""
        return call(name if form == "f64" else f"{name}f", *x)

    def fast(self, name: str, form: str, *x: Expr) -> Expr:
        """As `math`; fp32 by the hardware's approximation."""
        return self.helper(f"fast_{name}", *x) if form == "f32" else self.math(name, form, *x)

    def quotient(self, op: Any, x: Expr, y: Expr) -> Expr:
        """A quotient of floats: NVRTC's options allow 2 ulp of error in fp32, which ``/`` then has."""
        return call("__fdiv_rn", x, y) if op.format == "f32" and op.precise else binary("/", x, y)

    def choice(self, op: Any, condition: Expr, x: Expr, y: Expr) -> Expr:
        """``?:``, whose sides the compiler may put behind branches; larger ones are computed in any case."""
        if not any(sign in side for side in (x, y) for sign in "(/"):
            return conditional(condition, x, y)
        self.used.add("choose")
        return call(f"choose<{self.type(op.result.type.scalar)}>", condition, x, y)

    def extremum(self, op: Any, which: str, *operands: Expr) -> Expr:
        """min or max; of a number and a NaN the number unless the op propagates NaN."""
        x, y = operands
        if op.is_float:
            if op.propagate_nan:
                return self.helper(f"{which}_nan", x, y)
            return self.math(f"f{which}", op.format, x, y)
        return conditional(binary("<" if which == "min" else ">", x, y), x, y)

    def widened(self, x: Expr, ty: ScalarType) -> Expr:
        """A narrow float as fp32; anything else as it is."""
        return call("to_float", x) if is_struct(ty) else x

    # ---- conversions -----------------------------------------------------------------------------------

    def cast(self, x: Expr, source: ScalarType, target: ScalarType, rounding: str = "rtne") -> Expr:
        """`x` as `target` with the language's rules; see `tritium.ops.cast`."""
        assert isinstance(source, DType) and isinstance(target, DType)
        self.type(source)
        self.type(target)
        if source == target:
            return x
        x = self.widened(x, source)
        if is_struct(source):
            source = float32
            if source == target:
                return x
        if target.is_bool():
            return binary("!=", x, literal(0, source))
        if target.is_floating():
            return self._to_float(x, source, target, rounding)
        if source.is_floating():
            return self.helper(f"to_{target.text}", x)
        return Expr(f"({cpp_type(target)}){x.within(UNARY)}", UNARY)

    def _to_float(self, x: Expr, source: DType, target: DType, rounding: str) -> Expr:
        if is_struct(target):
            if not source.is_floating() and source.primitive_bitwidth < 32:
                x = Expr(f"(int){x.within(UNARY)}", UNARY)
            suffix = "_rz" if rounding == "rtz" else ""
            return self.helper(f"to_{target.text}{suffix}", x)
        if rounding == "rtz" and source.is_fp64():
            return call("__double2float_rz", x)
        return Expr(f"({cpp_type(target)}){x.within(UNARY)}", UNARY)

    def bitcast(self, x: Expr, source: ScalarType, target: ScalarType) -> Expr:
        if self.type(source) == self.type(target):
            return x
        if isinstance(source, PointerType) or isinstance(target, PointerType):
            return Expr(f"({self.type(target)}){x.within(UNARY)}", UNARY)
        self.used.add("bits_as")
        return call(f"bits_as<{self.type(target)}>", x)


def _splat(op: Op | None) -> Any:
    """The number that a constant, or a broadcast of one, holds."""
    while op is not None and op.name == "tile.broadcast":
        op = op.operands[0].defining_op
    return op.value if isinstance(op, Constant) else None
