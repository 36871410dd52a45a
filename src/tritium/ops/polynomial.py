"""Integer polynomials in tile coordinates, loop trips and values of a kernel: how analyses write indices and addresses.

Worked example, the address of the A tile of a matmul, in bytes::

    a_ptr + 2*stride_am*d0 + 128*stride_am*pid_m + 2*d1 + 64*trip@12

The atoms are ``d0`` and ``d1`` (`Axis`), ``trip@12`` (`Trip`) and the values a_ptr, stride_am, pid_m (`Unknown`). A value
that is a tile stands for one of its elements, and says at which coordinates: ``idx[d0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tritium.ir.core import Op, Value


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
    """An element of `value` that has no polynomial of its own.

    `axes[i]` is the tile coordinate that is its position along axis i of `value`, None for position 0.
    """

    value: Value
    axes: tuple[int | None, ...] = ()

    def __str__(self) -> str:
        name = self.value.name or _label(self.value)
        if all(a is None for a in self.axes):
            return name
        return f"{name}[{', '.join('0' if a is None else f'd{a}' for a in self.axes)}]"

    @property
    def moving(self) -> set[int]:
        """The tile coordinates it depends on."""
        return {a for a in self.axes if a is not None}


def _label(value: Value) -> str:
    """A value without a name of its own, in words: the op and its attributes, such as ``program_id(0)``."""
    op = value.owner
    if not isinstance(op, Op):
        return f"arg{value.index}"
    given = ", ".join(str(v) for v in op.attrs.values()) if not op.operands else "..."
    return f"{op.name.rpartition('.')[2]}({given})" + (f"@{op.loc.line}" if op.operands and op.loc else "")


Atom = Axis | Trip | Unknown
Monomial = tuple[Atom, ...]


def _order(atom: Atom) -> tuple[int, str, int]:
    """Atoms of one name are told apart by what they stand for, so that a product has one form."""
    what = atom.value if isinstance(atom, Unknown) else atom.loop if isinstance(atom, Trip) else None
    return (0 if isinstance(atom, Axis) else 1, str(atom), id(what))


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
            found |= {a.axis} if isinstance(a, Axis) else a.moving if isinstance(a, Unknown) else set()
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

    def place_axes(self, move: Callable[[int], int | None]) -> Poly:
        """The polynomial with coordinate i called ``move(i)``, or set to 0 where that is None."""
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            moved = [_moved(a, move) for a in m]
            if None not in moved:
                key = tuple(sorted((a for a in moved if a is not None), key=_order))
                terms[key] = terms.get(key, 0) + c
        return Poly(terms)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts: list[str] = []
        for m, c in sorted(self.terms.items(), key=lambda t: (-len(t[0]), [str(a) for a in t[0]])):
            body = "*".join(str(a) for a in m)
            size = "" if abs(c) == 1 and m else str(abs(c))
            text = "*".join(p for p in (size, body) if p)
            sign = "+ " if c > 0 else "- "
            parts.append(sign + text if parts else sign.strip(" +") + text)
        return " ".join(parts)

    __repr__ = __str__


def _moved(atom: Atom, move: Callable[[int], int | None]) -> Atom | None:
    if isinstance(atom, Axis):
        axis = move(atom.axis)
        return None if axis is None else Axis(axis)
    if isinstance(atom, Unknown) and atom.axes:
        return Unknown(atom.value, tuple(None if a is None else move(a) for a in atom.axes))
    return atom
