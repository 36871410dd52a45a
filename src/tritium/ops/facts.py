"""What is known about a value without running it: interval, divisibility, affine form, mask bounds.

An op's ``facts`` method derives the facts of its result from those of its operands, so analyses never ask which op
they look at. Facts describe *element (d0, d1, ...)* of the value in *any* program instance:

interval       every element lies in [lo, hi] (None: unbounded on that side)
divisibility   every element is a multiple of this (0: every element is 0)
poly           the element as a polynomial in the tile coordinates, program ids, loop trips and scalar arguments
bounds         for i1: comparisons that must all hold where the element is true
modulo         (x, m) where the element is ``x % m``: an index wrapped to stay in range
exact          whether `bounds` says everything (true exactly where all hold), or the mask has further conditions

Worked example, ``offs = pid * 64 + tl.arange(0, 64); mask = offs < n``::

    pid     interval [0, inf]   poly  pid
    arange  interval [0, 63]    poly  d0
    offs    interval [0, inf]   poly  64*pid + d0
    mask    bounds {64*pid + d0 < n}, exact

Polynomials are over the integers; machine integers wrap. Where a 32-bit operation could leave its range, the op is
listed in `wraps`: the polynomial holds only if that operation does not wrap, and whoever builds on it must say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tritium.ir.core import Op, Value
from tritium.ir.types import DType, Type

MAX_TERMS = 24
"""A polynomial that grows beyond this is given up: no consumer can use it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Coordinate `axis` of the tile an element belongs to."""

    axis: int

    def __str__(self) -> str:
        return f"d{self.axis}"


@dataclass(frozen=True, slots=True)
class Trip:
    """How often the body of `loop` has run before: 0 in its first trip."""

    loop: Op

    def __str__(self) -> str:
        return f"trip@{self.loop.loc.line}" if self.loop.loc else "trip"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An element of `value` that has no polynomial of its own; `axes[i]` is the coordinate along its axis i."""

    value: Value
    axes: tuple[int, ...] = ()

    def __str__(self) -> str:
        name = self.value.name or _label(self.value)
        return f"{name}[{', '.join(f'd{a}' for a in self.axes)}]" if self.axes else name


def _label(value: Value) -> str:
    """A value without a name of its own, in words: the op and its attributes, such as ``program_id(0)``."""
    op = value.owner
    if not isinstance(op, Op):
        return f"arg{value.index}"
    given = ", ".join(str(v) for v in op.attrs.values()) if not op.operands else "..."
    return f"{op.name.rpartition('.')[2]}({given})" + (f"@{op.loc.line}" if op.operands and op.loc else "")


Atom = Axis | Trip | Unknown
Monomial = tuple[Atom, ...]


def _order(atom: Atom) -> tuple[int, str]:
    return (0 if isinstance(atom, Axis) else 1, str(atom))


class Poly:
    """An integer polynomial: ``{(): 3, (d0,): 1, (pid, stride): 64}`` is ``3 + d0 + 64*pid*stride``. Immutable."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms: dict[Monomial, int] = {m: c for m, c in terms.items() if c}
        self._hash: int | None = None

    @staticmethod
    def constant(value: int) -> Poly:
        return Poly({(): value})

    @staticmethod
    def atom(atom: Atom) -> Poly:
        return Poly({(atom,): 1})

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for m, c in other.terms.items():
            terms[m] = terms.get(m, 0) + c
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(sorted((*m, *n), key=_order))
                terms[key] = terms.get(key, 0) + c * d
        return Poly(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    @property
    def as_constant(self) -> int | None:
        """The value of a polynomial without atoms, else None."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 and () in self.terms else None

    def atoms(self) -> set[Atom]:
        return {a for m in self.terms for a in m}

    def axes(self) -> set[int]:
        """Tile coordinates it depends on, through unknown values as well."""
        found: set[int] = set()
        for a in self.atoms():
            found |= {a.axis} if isinstance(a, Axis) else set(a.axes) if isinstance(a, Unknown) else set()
        return found

    def coefficient(self, atom: Atom) -> Poly | None:
        """What `atom` is multiplied by, or None if it occurs to a power above one."""
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            count = m.count(atom)
            if count > 1:
                return None
            if count:
                terms[tuple(a for a in m if a is not atom and a != atom)] = c
        return Poly(terms)

    def without(self, atom: Atom) -> Poly:
        """The terms that do not contain `atom`."""
        return Poly({m: c for m, c in self.terms.items() if atom not in m})

    def divided_by(self, divisor: Poly) -> Poly | None:
        """Exact quotient by a divisor of one term, or None."""
        if len(divisor.terms) != 1:
            return None
        ((factor, scale),) = divisor.terms.items()
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            rest = list(m)
            for atom in factor:
                if atom not in rest:
                    return None
                rest.remove(atom)
            if c % scale:
                return None
            terms[tuple(rest)] = c // scale
        return Poly(terms)

    def map_axes(self, move: Callable[[int], int]) -> Poly:
        """The polynomial with tile coordinates renumbered."""

        def moved(a: Atom) -> Atom:
            if isinstance(a, Axis):
                return Axis(move(a.axis))
            return (
                Unknown(a.value, tuple(move(x) for x in a.axes)) if isinstance(a, Unknown) and a.axes else a
            )

        return Poly({tuple(sorted((moved(a) for a in m), key=_order)): c for m, c in self.terms.items()})

    def fix_axis(self, axis: int) -> Poly:
        """The polynomial with coordinate `axis` set to 0."""
        return Poly({m: c for m, c in self.terms.items() if Axis(axis) not in m})

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts: list[str] = []
        for m, c in sorted(self.terms.items(), key=lambda t: (-len(t[0]), [str(a) for a in t[0]])):
            body = "*".join(str(a) for a in m)
            size = "" if abs(c) == 1 and m else str(abs(c))
            text = "*".join(p for p in (size, body) if p)
            parts.append(("- " if c < 0 else "+ " if parts else "") + text)
        return " ".join(parts)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition ``left < right`` (or ``<=``, ``==``, ``!=``) between polynomials; `op` is where it is computed."""

    left: Poly
    relation: str
    right: Poly
    op: Op | None = None

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    def axes(self) -> set[int]:
        return self.left.axes() | self.right.axes()

    def map_axes(self, move: Callable[[int], int]) -> Bound:
        return Bound(self.left.map_axes(move), self.relation, self.right.map_axes(move), self.op)


@dataclass(frozen=True, slots=True)
class Facts:
    """See the module text. The default says nothing."""

    lo: int | None = None
    hi: int | None = None
    divisibility: int = 1
    poly: Poly | None = None
    bounds: tuple[Bound, ...] = ()
    exact: bool = False
    wraps: tuple[Op, ...] = field(default=())
    modulo: tuple[Poly, Poly] | None = None

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
        if self.poly is not None:
            out.append(f"= {self.poly}")
        if self.bounds:
            out.append(
                f"true {'where' if self.exact else 'only where'} {' and '.join(map(str, self.bounds))}"
            )
        return ", ".join(out) or "nothing"


NOTHING = Facts()


def of_constant(value: bool | int) -> Facts:
    """Facts of a literal integer."""
    number = int(value)
    return Facts(number, number, abs(number), Poly.constant(number), exact=isinstance(value, bool) and value)


def of_type(ty: Type) -> tuple[int | None, int | None]:
    """The interval of all values of an integer type; (None, None) for others."""
    scalar = ty.scalar
    if isinstance(scalar, DType) and scalar.is_int():
        return scalar.get_int_min_value(), scalar.get_int_max_value()
    return None, None


def opaque(value: Value, known: Facts = NOTHING) -> Facts:
    """`known`, with the element itself as its polynomial: for values that only are what they are."""
    axes = tuple(range(len(value.type.shape)))
    return replace(known, poly=Poly.atom(Unknown(value, axes)))


def bounded(poly: Poly | None) -> Poly | None:
    """None in place of a polynomial that has grown too large to be useful."""
    return poly if poly is not None and len(poly.terms) <= MAX_TERMS else None


def fit(op: Op, facts: Facts) -> Facts:
    """`facts` of an integer result, made honest about the width of its type.

    If the mathematical interval fits the type, nothing can wrap. Otherwise the interval is the type's, divisibility
    keeps only its power of two, and the op joins `wraps`.
    """
    low, high = of_type(op.results[0].type)
    if low is None or high is None:
        return facts
    if facts.lo is not None and facts.hi is not None and low <= facts.lo and facts.hi <= high:
        return facts
    power = facts.divisibility & -facts.divisibility if facts.divisibility else 1 << 30
    kept_low = facts.lo if facts.lo is not None and facts.lo >= low and _cannot_wrap_up(facts, high) else low
    kept_high = (
        facts.hi if facts.hi is not None and facts.hi <= high and _cannot_wrap_down(facts, low) else high
    )
    return replace(
        facts, lo=kept_low, hi=kept_high, divisibility=power, wraps=merge_wraps(facts.wraps, (op,))
    )


def _cannot_wrap_up(facts: Facts, high: int) -> bool:
    return facts.hi is not None and facts.hi <= high


def _cannot_wrap_down(facts: Facts, low: int) -> bool:
    return facts.lo is not None and facts.lo >= low


def merge_wraps(*groups: Iterable[Op]) -> tuple[Op, ...]:
    """Ops of several `wraps`, each once, in order."""
    return tuple(dict.fromkeys(op for group in groups for op in group))


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _gcd(a: int, b: int) -> int:
    return math.gcd(a, b)


def add(op: Op, x: Facts, y: Facts) -> Facts:
    """x + y."""
    poly = bounded(x.poly + y.poly) if x.poly is not None and y.poly is not None else None
    out = Facts(_sum(x.lo, y.lo), _sum(x.hi, y.hi), _gcd(x.divisibility, y.divisibility), poly)
    return fit(op, replace(out, wraps=merge_wraps(x.wraps, y.wraps)))


def negate(x: Facts) -> Facts:
    """-x, before any wrapping."""
    return Facts(
        None if x.hi is None else -x.hi,
        None if x.lo is None else -x.lo,
        x.divisibility,
        -x.poly if x.poly is not None else None,
        wraps=x.wraps,
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
    out = Facts(lo, hi, x.divisibility * y.divisibility, poly, wraps=merge_wraps(x.wraps, y.wraps))
    return fit(op, out)


def join(x: Facts, y: Facts) -> Facts:
    """What holds whichever of the two a value comes from."""
    lo = None if x.lo is None or y.lo is None else min(x.lo, y.lo)
    hi = None if x.hi is None or y.hi is None else max(x.hi, y.hi)
    same = x.poly if x.poly == y.poly else None
    return Facts(lo, hi, _gcd(x.divisibility, y.divisibility), same, wraps=merge_wraps(x.wraps, y.wraps))


def compare(op: Op, relation: str, x: Facts, y: Facts) -> Facts:
    """The i1 ``x relation y``: decided by the intervals where possible, else a bound."""
    decided = _decide(relation, x, y)
    lo, hi = (0, 1) if decided is None else (int(decided), int(decided))
    if x.poly is None or y.poly is None:
        return Facts(lo, hi, wraps=merge_wraps(x.wraps, y.wraps), exact=decided is True)
    left, right = x.poly, y.poly
    if relation in (">", ">="):
        left, right, relation = right, left, {">": "<", ">=": "<="}[relation]
    bound = Bound(left, relation, right, op)
    if decided is True:
        return Facts(1, 1, exact=True)
    return Facts(lo, hi, bounds=(bound,), exact=True, wraps=merge_wraps(x.wraps, y.wraps))


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
    return Facts(
        lo, hi, bounds=x.bounds + y.bounds, exact=x.exact and y.exact, wraps=merge_wraps(x.wraps, y.wraps)
    )


def describe(facts: Mapping[Value, Facts], name: Callable[[Value], Any]) -> str:
    """One line per value, for dumps."""
    return "\n".join(f"{name(v)}: {f}" for v, f in facts.items())


def is_wide_integer(ty: Type) -> bool:
    """Whether arithmetic on `ty` is that of integers; int1 has its own."""
    scalar = ty.scalar
    return isinstance(scalar, DType) and scalar.is_int() and not scalar.is_bool()


def map_axes(x: Facts, move: Callable[[int], int]) -> Facts:
    """`x` with tile coordinates renumbered."""
    poly = x.poly.map_axes(move) if x.poly is not None else None
    return replace(x, poly=poly, bounds=tuple(b.map_axes(move) for b in x.bounds))


def fix_axes(x: Facts, axes: Iterable[int]) -> Facts:
    """`x` read at coordinate 0 of `axes`: along them one element stands for all."""
    out = x
    for axis in axes:
        poly = _fixed(out.poly, axis) if out.poly is not None else None
        bounds = tuple(_fixed_bound(b, axis) for b in out.bounds)
        kept = tuple(b for b in bounds if b is not None)
        out = replace(out, poly=poly, bounds=kept, exact=out.exact and len(kept) == len(bounds))
    return out


def _fixed(poly: Poly, axis: int) -> Poly | None:
    """`poly` at coordinate 0 of `axis`; None if an unknown value depends on it."""
    if any(isinstance(a, Unknown) and axis in a.axes for a in poly.atoms()):
        return None
    return poly.fix_axis(axis)


def _fixed_bound(b: Bound, axis: int) -> Bound | None:
    left, right = _fixed(b.left, axis), _fixed(b.right, axis)
    return None if left is None or right is None else Bound(left, b.relation, right, b.op)


def quotient(x: Facts, y: Facts) -> Facts | None:
    """x // y, truncating: an interval for a positive constant divisor, the polynomial where it divides exactly."""
    d = y.constant
    if d is None or d <= 0:
        return None
    lo = None if x.lo is None else _truncated(x.lo, d)
    hi = None if x.hi is None else _truncated(x.hi, d)
    poly = x.poly.divided_by(Poly.constant(d)) if x.poly is not None and x.divisibility % d == 0 else None
    return Facts(lo, hi, x.divisibility // d if x.divisibility % d == 0 else 1, poly, wraps=x.wraps)


def _truncated(a: int, d: int) -> int:
    return -(-a // d) if a < 0 else a // d


def remainder(x: Facts, y: Facts) -> Facts | None:
    """x % y with the sign of x."""
    modulo = (x.poly, y.poly) if x.poly is not None and y.poly is not None else None
    if x.lo is None or x.lo < 0 or y.lo is None or y.lo <= 0:
        return Facts(modulo=modulo)
    top = y.hi - 1 if y.hi is not None else None
    if x.hi is not None and x.hi < y.lo:
        return x  # never reaches the divisor
    hi = top if x.hi is None or top is None else min(top, x.hi)
    return Facts(0, hi, _gcd(x.divisibility, y.divisibility), modulo=modulo)


def multiple(x: Facts, by: int) -> Facts:
    """`x`, promised to be a multiple of `by`."""
    return replace(x, divisibility=math.lcm(x.divisibility, by) if x.divisibility else 0)


def advance(pointer: Facts, offset: Facts, itemsize: int) -> Facts:
    """A pointer moved by `offset` elements; pointers count bytes."""
    scaled = Facts(
        None,
        None,
        offset.divisibility * itemsize,
        offset.poly * Poly.constant(itemsize) if offset.poly is not None else None,
    )
    poly = (
        bounded(pointer.poly + scaled.poly) if pointer.poly is not None and scaled.poly is not None else None
    )
    return Facts(
        divisibility=_gcd(pointer.divisibility, scaled.divisibility),
        poly=poly,
        wraps=merge_wraps(pointer.wraps, offset.wraps),
    )


def convert(op: Op, x: Facts, source: Type, target: Type) -> Facts | None:
    """A cast between integers: the value stays if it is known to fit, else the cast may wrap."""
    if not is_wide_integer(target):
        return None
    scalar = source.scalar
    if not (isinstance(scalar, DType) and scalar.is_int()):
        return None
    return fit(op, replace(x, bounds=(), exact=False))
