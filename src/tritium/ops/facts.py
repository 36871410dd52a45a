"""What is known about a value without running it: interval, divisibility, affine form, mask bounds.

An op's ``facts`` method derives the facts of its result from those of its operands, so analyses never ask which op
they look at. Facts describe *element (d0, d1, ...)* of the value in *any* program instance:

interval       every element lies in [lo, hi] (None: unbounded on that side)
divisibility   every element is a multiple of this (0: every element is 0)
origin         the element at coordinates (0, 0, ...) is a multiple of this
poly           the element as a polynomial in the tile coordinates, program ids, loop trips and scalar arguments
bounds         for i1: comparisons that must all hold where the element is true
modulo         (x, m) where the element is ``x % m`` with the sign of x: an index wrapped to stay in range
exact          whether `bounds` says everything (true exactly where all hold), or the mask has further conditions

Worked example, ``offs = pid * 64 + tl.arange(0, 64); mask = offs < n``::

    pid     interval [0, 2147483647]   poly  pid
    arange  interval [0, 63]           poly  d0
    offs    any int32                  poly  d0 + 64*pid, if neither * nor + wraps
    mask    bounds {d0 + 64*pid < n}, exact, with the same condition

Polynomials are over the integers; machine integers wrap. Where an operation could leave the range of its type, it is
listed in `wraps` with what it would be without wrapping: polynomial, modulo and bounds hold only if that operation does
not wrap, and whoever builds on them must say so. Interval, divisibility and origin are facts about the wrapped value
and need no such condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tritium.ir.core import Op, Value
from tritium.ir.types import DType, Type
from tritium.ops.polynomial import Atom, Axis, Monomial, Poly, Trip, Unknown

__all__ = ["Atom", "Axis", "Bound", "Facts", "Monomial", "Poly", "Trip", "Unknown", "Wrap"]

MAX_TERMS = 24
"""A polynomial that grows beyond this is given up: no consumer can use it."""


@dataclass(frozen=True, slots=True)
class Wrap:
    """An operation that may leave the range of its type.

    exact   its result as a polynomial over the integers, in the coordinates of the value that the fact is about; None
            where it is not known
    """

    op: Op
    exact: Poly | None = None

    @property
    def width(self) -> int:
        """Bits of its type: a result that wraps is off by a multiple of two to the power of this."""
        return self.op.results[0].type.scalar.primitive_bitwidth  # type: ignore[union-attr]

    def place_axes(self, move: Callable[[int], int | None]) -> Wrap:
        """The same where coordinate i is called ``move(i)``, or set to 0 where that is None."""
        if self.exact is None or all(move(a) == a for a in self.exact.axes()):
            return self
        return replace(self, exact=self.exact.place_axes(move))


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition ``left < right`` (or ``<=``, ``==``, ``!=``) between polynomials.

    op      where it is computed
    wraps   operations that would have to overflow for it to mean something else
    """

    left: Poly
    relation: str
    right: Poly
    op: Op | None = None
    wraps: tuple[Wrap, ...] = ()

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    @property
    def key(self) -> tuple[Poly, str, Poly]:
        """What it says, wherever it is computed."""
        return (self.left, self.relation, self.right)

    def negated(self) -> Bound:
        """The opposite condition."""
        if self.relation in ("==", "!="):
            return replace(self, relation="!=" if self.relation == "==" else "==")
        return replace(self, left=self.right, relation="<=" if self.relation == "<" else "<", right=self.left)

    def axes(self) -> set[int]:
        return self.left.axes() | self.right.axes()

    def atoms(self) -> set[Atom]:
        return self.left.atoms() | self.right.atoms()

    def place_axes(self, move: Callable[[int], int | None]) -> Bound:
        """The condition with coordinate i called ``move(i)``, or set to 0 where that is None."""
        return replace(
            self,
            left=self.left.place_axes(move),
            right=self.right.place_axes(move),
            wraps=_placed(self.wraps, move),
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """See the module text. The default says nothing."""

    lo: int | None = None
    hi: int | None = None
    divisibility: int = 1
    poly: Poly | None = None
    bounds: tuple[Bound, ...] = ()
    exact: bool = False
    wraps: tuple[Wrap, ...] = ()
    modulo: tuple[Poly, Poly] | None = None
    origin: int = 1

    @property
    def constant(self) -> int | None:
        """The one value all elements have, if known."""
        return self.lo if self.lo is not None and self.lo == self.hi else None

    def __str__(self) -> str:
        lo = "-inf" if self.lo is None else self.lo
        hi = "inf" if self.hi is None else self.hi
        out = [f"[{lo}, {hi}]"] if (self.lo, self.hi) != (None, None) else []
        if self.divisibility != 1:
            out.append(f"divisible by {self.divisibility}")
        if self.origin != self.divisibility:
            out.append(f"first divisible by {self.origin}")
        if self.poly is not None:
            out.append(f"= {self.poly}")
        if self.modulo is not None:
            out.append(f"= ({self.modulo[0]}) % ({self.modulo[1]})")
        if self.bounds:
            out.append(
                f"true {'where' if self.exact else 'only where'} {' and '.join(map(str, self.bounds))}"
            )
        return ", ".join(out) or "nothing"


NOTHING = Facts()


def of_constant(value: bool | int) -> Facts:
    """Facts of a literal integer."""
    number = int(value)
    poly = Poly.constant(number)
    known = isinstance(value, bool) and value
    return Facts(number, number, abs(number), poly, exact=known, origin=abs(number))


def of_type(ty: Type) -> tuple[int | None, int | None]:
    """The interval of all values of an integer type; (None, None) for others."""
    scalar = ty.scalar
    if isinstance(scalar, DType) and scalar.is_int():
        return scalar.get_int_min_value(), scalar.get_int_max_value()
    return None, None


def opaque(value: Value, known: Facts = NOTHING) -> Facts:
    """`known`, with the element itself as its polynomial: for values that only are what they are."""
    return replace(known, poly=Poly.atom(element_of(value)))


def element_of(value: Value) -> Unknown:
    """The atom that stands for an element of `value` at its own coordinates."""
    return Unknown(value, tuple(None if n == 1 else i for i, n in enumerate(value.type.shape)))


def settled(value: Value, known: Facts | None) -> Facts:
    """`known` of `value`, with what its type says in place of what is not known."""
    facts = known or NOTHING
    low, high = of_type(value.type)
    if facts.lo is not None and facts.hi is not None and facts.lo > facts.hi:  # in a loop that never runs
        facts = replace(facts, lo=low, hi=high)
    elif facts.lo is None or facts.hi is None:
        facts = replace(
            facts, lo=low if facts.lo is None else facts.lo, hi=high if facts.hi is None else facts.hi
        )
    origin = math.lcm(facts.origin, facts.divisibility) if facts.origin and facts.divisibility else 0
    if origin != facts.origin:
        facts = replace(facts, origin=origin)
    scalar = value.type.scalar
    if facts.poly is None and (not isinstance(scalar, DType) or scalar.is_int()):
        return opaque(value, facts)
    return facts


def bounded(poly: Poly | None) -> Poly | None:
    """None in place of a polynomial that has grown too large to be useful."""
    return poly if poly is not None and len(poly.terms) <= MAX_TERMS else None


def fit(op: Op, facts: Facts) -> Facts:
    """`facts` of an integer result, made honest about the width of its type.

    If the mathematical interval fits the type, nothing can wrap. Otherwise the interval is the type's, divisibility
    and origin keep only their powers of two, and the op joins `wraps`.
    """
    low, high = of_type(op.results[0].type)
    if low is None or high is None:
        return facts
    if facts.lo is not None and facts.hi is not None and low <= facts.lo and facts.hi <= high:
        return facts
    return replace(
        facts,
        lo=low,
        hi=high,
        divisibility=power_of_two(facts.divisibility),
        origin=power_of_two(facts.origin),
        wraps=merge_wraps(facts.wraps, (Wrap(op, facts.poly),)),
    )


def power_of_two(number: int) -> int:
    """The largest power of two that divides `number`: what survives when a multiple of it wraps. 0 for 0."""
    return number & -number


def despite_wraps(number: int, wraps: Iterable[Wrap]) -> int:
    """What of a divisor of a polynomial divides the value as well, should any of the operations `wraps` wrap."""
    widths = [w.width for w in wraps]
    if not widths:
        return number
    largest = 1 << min(widths)
    return min(power_of_two(number), largest) if number else largest


def merge_wraps(*groups: Iterable[Wrap]) -> tuple[Wrap, ...]:
    """The members of several `wraps`, each once, in order."""
    return tuple(dict.fromkeys(w for group in groups for w in group))


def _placed(wraps: tuple[Wrap, ...], move: Callable[[int], int | None]) -> tuple[Wrap, ...]:
    return tuple(w.place_axes(move) for w in wraps)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def add(op: Op, x: Facts, y: Facts) -> Facts:
    """x + y."""
    poly = bounded(x.poly + y.poly) if x.poly is not None and y.poly is not None else None
    out = Facts(_sum(x.lo, y.lo), _sum(x.hi, y.hi), math.gcd(x.divisibility, y.divisibility), poly)
    return fit(op, replace(out, wraps=merge_wraps(x.wraps, y.wraps), origin=math.gcd(x.origin, y.origin)))


def negate(x: Facts) -> Facts:
    """-x, before any wrapping."""
    return Facts(
        None if x.hi is None else -x.hi,
        None if x.lo is None else -x.lo,
        x.divisibility,
        -x.poly if x.poly is not None else None,
        wraps=x.wraps,
        origin=x.origin,
    )


def subtract(op: Op, x: Facts, y: Facts) -> Facts:
    """x - y."""
    return add(op, x, negate(y))


def multiply(op: Op, x: Facts, y: Facts) -> Facts:
    """x * y."""
    poly = bounded(x.poly * y.poly) if x.poly is not None and y.poly is not None else None
    ends = [x.lo, x.hi, y.lo, y.hi]
    lo: int | None = None
    hi: int | None = None
    if all(e is not None for e in ends):
        corners = [a * b for a in (x.lo, x.hi) for b in (y.lo, y.hi)]  # type: ignore[operator]
        lo, hi = min(corners), max(corners)
    elif x.lo is not None and y.lo is not None and x.lo >= 0 and y.lo >= 0:
        lo = x.lo * y.lo
    wraps, origin = merge_wraps(x.wraps, y.wraps), x.origin * y.origin
    return fit(op, Facts(lo, hi, x.divisibility * y.divisibility, poly, wraps=wraps, origin=origin))


def shift_left(op: Op, x: Facts, y: Facts) -> Facts | None:
    """x << y: a product where the shift is a constant below the width."""
    width = op.results[0].type.scalar.primitive_bitwidth
    if y.constant is None or not 0 <= y.constant < width or not is_wide_integer(op.results[0].type):
        return None
    return multiply(op, x, of_constant(1 << y.constant))


def shift_right(op: Op, x: Facts, y: Facts) -> Facts | None:
    """x >> y of numbers that are not negative: a quotient where the shift is a constant."""
    if y.constant is None or not 0 <= y.constant < 64 or x.lo is None or x.lo < 0:
        return None
    return quotient(op, x, of_constant(1 << y.constant))


def join(x: Facts, y: Facts) -> Facts:
    """What holds whichever of the two a value comes from."""
    lo = None if x.lo is None or y.lo is None else min(x.lo, y.lo)
    hi = None if x.hi is None or y.hi is None else max(x.hi, y.hi)
    same = x.poly if x.poly == y.poly else None
    divisibility, origin = math.gcd(x.divisibility, y.divisibility), math.gcd(x.origin, y.origin)
    return Facts(lo, hi, divisibility, same, wraps=merge_wraps(x.wraps, y.wraps), origin=origin)


def compare(op: Op, relation: str, x: Facts, y: Facts) -> Facts:
    """The i1 ``x relation y``: decided by the intervals where possible, else a bound."""
    decided = _decide(relation, x, y)
    if decided is True:
        return Facts(1, 1, exact=True)
    hi = 1 if decided is None else 0
    if x.poly is None or y.poly is None:
        return Facts(0, hi)
    left, right = x.poly, y.poly
    if relation in (">", ">="):
        left, right, relation = right, left, {">": "<", ">=": "<="}[relation]
    wraps = merge_wraps(x.wraps, y.wraps)
    return Facts(0, hi, bounds=(Bound(left, relation, right, op, wraps),), exact=True, wraps=wraps)


def _decide(relation: str, x: Facts, y: Facts) -> bool | None:
    def below(a: int | None, b: int | None, strict: bool) -> bool:
        return a is not None and b is not None and (a < b if strict else a <= b)

    if relation in (">", ">="):
        return _decide({">": "<", ">=": "<="}[relation], y, x)
    if relation in ("<", "<="):
        strict = relation == "<"
        if below(x.hi, y.lo, strict):
            return True
        return False if below(y.hi, x.lo, not strict) else None
    apart = below(x.hi, y.lo, True) or below(y.hi, x.lo, True)
    equal = x.constant is not None and x.constant == y.constant
    if relation == "==":
        return True if equal else False if apart else None
    return False if equal else True if apart else None


def both(x: Facts, y: Facts) -> Facts:
    """The i1 ``x & y``."""
    lo = 1 if x.constant == 1 and y.constant == 1 else 0
    hi = 0 if 0 in (x.constant, y.constant) else 1
    bounds = {b.key: b for b in x.bounds}
    for b in y.bounds:
        bounds.setdefault(b.key, b)
    kept = tuple(bounds.values())
    return Facts(lo, hi, bounds=kept, exact=x.exact and y.exact, wraps=merge_wraps(x.wraps, y.wraps))


def either_differs(x: Facts, y: Facts) -> Facts | None:
    """The i1 ``x ^ y``: the negation of one of them where the other is true everywhere."""
    if x.constant == 1:
        x, y = y, x
    if y.constant != 1 or x.lo is None or x.hi is None:
        return None
    lo, hi = 1 - x.hi, 1 - x.lo
    if not x.exact or len(x.bounds) != 1:
        return Facts(lo, hi)
    return Facts(lo, hi, bounds=(x.bounds[0].negated(),), exact=True, wraps=x.wraps)


def is_wide_integer(ty: Type) -> bool:
    """Whether arithmetic on `ty` is that of integers; int1 has its own."""
    scalar = ty.scalar
    return isinstance(scalar, DType) and scalar.is_int() and not scalar.is_bool()


def map_axes(x: Facts, move: Callable[[int], int | None]) -> Facts:
    """`x` with coordinate i called ``move(i)``, or set to 0 where that is None."""
    poly = x.poly.place_axes(move) if x.poly is not None else None
    modulo = (x.modulo[0].place_axes(move), x.modulo[1].place_axes(move)) if x.modulo is not None else None
    return replace(
        x,
        poly=poly,
        modulo=modulo,
        bounds=tuple(b.place_axes(move) for b in x.bounds),
        wraps=_placed(x.wraps, move),
    )


def fix_axes(x: Facts, axes: Iterable[int]) -> Facts:
    """`x` read at coordinate 0 of `axes`: along them one element stands for all."""
    fixed = set(axes)
    return map_axes(x, lambda a: None if a in fixed else a) if fixed else x


def quotient(op: Op, x: Facts, y: Facts) -> Facts | None:
    """x // y, truncating; 0 where y is 0. The polynomial where a constant divides it exactly."""
    low, high = of_type(op.results[0].type)
    if x.lo is None or x.hi is None or y.lo is None or y.hi is None or low is None or high is None:
        return None
    if y.lo <= 0 <= y.hi:  # no quotient is larger than x; the smallest number by -1 is itself
        size = max(abs(x.lo), abs(x.hi))
        signed = y.lo < 0
        return Facts(
            max(-size, low) if signed or x.lo < 0 else 0, min(size, high) if signed or x.hi > 0 else 0
        )
    corners = [_truncated(a, b) for a in (x.lo, x.hi) for b in (y.lo, y.hi)]
    if x.lo <= 0 <= x.hi:
        corners.append(0)
    d = y.constant
    if d is None or d < 0:
        return fit(op, Facts(min(corners), max(corners)))
    exact = x.divisibility % d == 0
    known = x.poly is not None and exact and not x.wraps  # what wraps by 2**32 would be off by 2**32 / d
    poly = x.poly.divided_by(Poly.constant(d)) if x.poly is not None and known else None
    divisibility = x.divisibility // d if exact else 1
    origin = x.origin // d if x.origin % d == 0 else 1
    return Facts(min(corners), max(corners), divisibility, poly, wraps=x.wraps, origin=origin)


def _truncated(a: int, d: int) -> int:
    return abs(a) // abs(d) * (1 if (a < 0) == (d < 0) else -1)


def remainder(x: Facts, y: Facts) -> Facts | None:
    """x % y with the sign of x; x where y is 0."""
    modulo = (x.poly, y.poly) if x.poly is not None and y.poly is not None else None
    if x.lo is None or x.hi is None or y.lo is None or y.hi is None:
        return Facts(modulo=modulo, wraps=merge_wraps(x.wraps, y.wraps))
    if y.lo > 0 and -y.lo < x.lo and x.hi < y.lo:
        return x  # never reaches the divisor
    lo, hi = min(x.lo, 0), max(x.hi, 0)
    if not y.lo <= 0 <= y.hi:
        top = max(abs(y.lo), abs(y.hi)) - 1
        lo, hi = max(lo, -top), min(hi, top)
    divisibility, origin = math.gcd(x.divisibility, y.divisibility), math.gcd(x.origin, y.origin)
    return Facts(lo, hi, divisibility, modulo=modulo, wraps=merge_wraps(x.wraps, y.wraps), origin=origin)


def multiple(x: Facts, by: int) -> Facts:
    """`x`, promised to be a multiple of `by`."""
    return replace(x, divisibility=_lcm(x.divisibility, by), origin=_lcm(x.origin, by))


def starts_at_multiple(x: Facts, by: int) -> Facts:
    """`x`, whose first element is promised to be a multiple of `by`."""
    return replace(x, origin=_lcm(x.origin, by))


def _lcm(a: int, b: int) -> int:
    return math.lcm(a, b) if a and b else 0


def advance(pointer: Facts, offset: Facts, itemsize: int) -> Facts:
    """A pointer moved by `offset` elements; pointers count bytes."""
    poly = None
    if pointer.poly is not None and offset.poly is not None:
        poly = bounded(pointer.poly + offset.poly * Poly.constant(itemsize))
    return Facts(
        divisibility=math.gcd(pointer.divisibility, offset.divisibility * itemsize),
        poly=poly,
        wraps=merge_wraps(pointer.wraps, offset.wraps),
        origin=math.gcd(pointer.origin, offset.origin * itemsize),
    )


def convert(op: Op, x: Facts, source: Type, target: Type) -> Facts | None:
    """A cast between integers: the value stays if it is known to fit, else the cast may wrap."""
    if not is_wide_integer(target):
        return None
    scalar = source.scalar
    if not (isinstance(scalar, DType) and scalar.is_int()):
        return None
    return fit(op, replace(x, bounds=(), exact=False))
