"""What ops may say to the compiling backends: the emitter protocols.

Simple ops describe one element as a C++ expression (``e.binary("+", x, y)``); hard ones name themselves
(``e.load(self)``) and the backend holds the body. Expressions know how tightly they bind, so parentheses appear only
where they are needed.
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from tritium.ir.core import Op
from tritium.ir.types import ScalarType

ATOM = 17
UNARY = 15
PRECEDENCE = {
    "*": 14, "/": 14, "%": 14, "+": 13, "-": 13, "<<": 12, ">>": 12, "<": 10, "<=": 10, ">": 10, ">=": 10,
    "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4, "?": 3,
}  # fmt: skip


class Expr(str):
    """C++ text with the precedence of its outermost operator."""

    __slots__ = ("precedence",)
    precedence: int

    def __new__(cls, text: str, precedence: int = ATOM) -> Expr:
        made = super().__new__(cls, text)
        made.precedence = precedence
        return made

    def within(self, precedence: int) -> str:
        """The text, in parentheses where it binds less tightly than `precedence`."""
        return str(self) if self.precedence >= precedence else f"({self})"


def binary(sign: str, x: Expr, y: Expr) -> Expr:
    """``x sign y``; an integer 0 that is added goes away."""
    if sign == "+" and "0" in (x, y):
        return y if x == "0" else x
    level = PRECEDENCE[sign]
    # Mixing & | ^ << with arithmetic is legal C++ and hard to read: only equal or tighter-than-plus stays bare.
    careful = level in (12, 8, 7, 6)
    left = x.within(level if not careful else max(level, UNARY if x.precedence != level else level))
    right = y.within(level + 1 if not careful else UNARY)
    return Expr(f"{left} {sign} {right}", level)


def call(name: str, *args: str) -> Expr:
    """``name(args)``."""
    return Expr(f"{name}({', '.join(args)})")


def unary(sign: str, x: Expr) -> Expr:
    """``-x``, ``!x``, ``~x``."""
    return Expr(f"{sign}{x.within(UNARY + (x.startswith(sign)))}", UNARY)


def conditional(condition: Expr, x: Expr, y: Expr) -> Expr:
    """``condition ? x : y``."""
    return Expr(f"{condition.within(4)} ? {x.within(4)} : {y.within(3)}", PRECEDENCE["?"])


class CudaEmitter(Protocol):
    """The CUDA C++ backend as ops see it. `Expr` in, `Expr` or statements out."""

    def unsupported(self, op: Op) -> NoReturn:
        """Raise the located error that this op cannot be compiled for CUDA yet."""
        ...

    def type(self, ty: ScalarType) -> str:
        """The C++ type of an element."""
        ...

    def helper(self, name: str, *args: str) -> Expr:
        """A call of a function of the prelude, which then becomes part of the source."""
        ...

    def literal(self, value: Any, ty: ScalarType) -> Expr: ...

    def may_wrap(self, op: Op) -> bool:
        """Whether an integer op may leave its range with the program relying on what is left."""
        ...

    def binary(self, sign: str, x: Expr, y: Expr) -> Expr: ...

    def arithmetic(self, op: Any, sign: str, *x: Expr) -> Expr:
        """``+ - *`` with the language's rules for the op's type."""
        ...

    def division(self, op: Any, sign: str, *x: Expr) -> Expr:
        """``/ %`` of integers, with a value where the divisor is 0."""
        ...

    def shift(self, op: Any, sign: str, *x: Expr) -> Expr: ...

    def bits(self, op: Any, sign: str, *x: Expr) -> Expr:
        """``& | ^``, of i1 as truth values."""
        ...

    def math(self, name: str, form: str, *x: Expr) -> Expr:
        """A function of C's math library for elements of format `form`."""
        ...

    def fast(self, name: str, form: str, *x: Expr) -> Expr:
        """As `math`; of fp32 the hardware's approximation, which is within a few ulp."""
        ...

    def quotient(self, op: Any, x: Expr, y: Expr) -> Expr:
        """A quotient of floats; of fp32 within 2 ulp unless the op asks for correct rounding."""
        ...

    def choice(self, op: Any, condition: Expr, x: Expr, y: Expr) -> Expr:
        """x where the condition holds, else y."""
        ...

    def extremum(self, op: Any, which: str, *x: Expr) -> Expr:
        """``min`` or ``max`` with the op's rule for NaN."""
        ...

    def bitcast(self, x: Expr, source: ScalarType, target: ScalarType) -> Expr: ...

    def cast(self, x: Expr, source: ScalarType, target: ScalarType, rounding: str = "rtne") -> Expr: ...

    # ---- statements ----------------------------------------------------------------------------------

    def elementwise(self, op: Op) -> None: ...

    def constant(self, op: Op) -> None: ...

    def arange(self, op: Op) -> None: ...

    def grid(self, op: Op, member: str, axis: int) -> None: ...

    def alias(self, op: Op) -> None:
        """The result is held exactly as the operand is: broadcast, expand_dims, hints."""
        ...

    def reshape(self, op: Op) -> None: ...

    def load(self, op: Op) -> None: ...

    def store(self, op: Op) -> None: ...

    def atomic(self, op: Op) -> None: ...

    def library(self, op: Op, *x: Expr) -> Expr:
        """A function of the device math library."""
        ...

    def philox(self, op: Op) -> None: ...

    def inline_asm(self, op: Op) -> None: ...

    def device_register(self, op: Op) -> None: ...

    def grid_dependency(self, op: Op) -> None: ...

    def map_elements(self, op: Op) -> None: ...

    def assertion(self, op: Op) -> None: ...

    def print_values(self, op: Op) -> None: ...

    def reduce(self, op: Op) -> None: ...

    def reduce_groups(self, op: Op) -> None: ...

    def scan_chunks(self, op: Op) -> None: ...

    def store_totals(self, op: Op) -> None: ...

    def add_carries(self, op: Op) -> None: ...

    def run_if(self, op: Op) -> None: ...

    def run_for(self, op: Op) -> None: ...

    def run_while(self, op: Op) -> None: ...

    def finish(self, op: Op) -> None:
        """Yield or return."""
        ...

    def barrier(self, op: Op) -> None: ...

    def rank(self, op: Op) -> None: ...

    def top_groups(self, op: Op) -> None: ...

    def sort_lines(self, op: Op) -> None: ...

    def shared_scatter(self, op: Op) -> None: ...

    def shared_count(self, op: Op) -> None: ...

    def shared_view(self, op: Op) -> None: ...

    def shared_gather(self, op: Op) -> None: ...

    def copy_to_shared(self, op: Op) -> None: ...

    def shared_alloc(self, op: Op) -> None: ...

    def shared_store(self, op: Op) -> None: ...

    def shared_load(self, op: Op) -> None: ...

    def dot_fma(self, op: Op) -> None: ...


class CpuEmitter(Protocol):
    """The native CPU backend as elementwise ops see it: the op and its operands' elements in, the result's element out.

    An element is what the backend makes of it (a scalar or the lanes of a vector); ops pass it on and look no further.
    """

    def unsupported(self, op: Op) -> NoReturn:
        """Say that the op has no native form; the kernel then runs on the interpreter."""
        ...

    def absolute(self, op: Op, *x: Any) -> Any: ...

    def add(self, op: Op, *x: Any) -> Any: ...

    def add_pointer(self, op: Op, *x: Any) -> Any: ...

    def bit_and(self, op: Op, *x: Any) -> Any: ...

    def bit_or(self, op: Op, *x: Any) -> Any: ...

    def bit_xor(self, op: Op, *x: Any) -> Any: ...

    def bitcast(self, op: Op, *x: Any) -> Any: ...

    def ceil(self, op: Op, *x: Any) -> Any: ...

    def clamp(self, op: Op, *x: Any) -> Any: ...

    def compare(self, op: Op, *x: Any) -> Any: ...

    def convert(self, op: Op, *x: Any) -> Any:
        """Conversion of the element type."""
        ...

    def div(self, op: Op, *x: Any) -> Any: ...

    def extremum(self, op: Op, *x: Any) -> Any:
        """Minimum or maximum."""
        ...

    def floor(self, op: Op, *x: Any) -> Any: ...

    def fma(self, op: Op, *x: Any) -> Any: ...

    def function(self, op: Op, *x: Any) -> Any:
        """The mathematical function of the op's name."""
        ...

    def int_div(self, op: Op, *x: Any) -> Any: ...

    def mul(self, op: Op, *x: Any) -> Any: ...

    def rem(self, op: Op, *x: Any) -> Any: ...

    def same(self, op: Op, *x: Any) -> Any:
        """The first operand as it is."""
        ...

    def select(self, op: Op, *x: Any) -> Any: ...

    def shl(self, op: Op, *x: Any) -> Any: ...

    def shr(self, op: Op, *x: Any) -> Any: ...

    def sqrt(self, op: Op, *x: Any) -> Any: ...

    def sub(self, op: Op, *x: Any) -> Any: ...

    def umulhi(self, op: Op, *x: Any) -> Any: ...
