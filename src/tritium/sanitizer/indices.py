"""The indices of one access in one lane: which array axis each walks along, what it is called, what value it has.

Built on the access analysis, which says what an index is made of; here the polynomials get the numbers of the
run. What the analysis does not understand gives no index, and the report is then about the element alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.analysis.access import TileAccess
from tritium.analysis.value_facts import ValueFacts
from tritium.backends.interp.memory import View
from tritium.ir.core import Function, Op, Value
from tritium.ops.base import BATCH_AXES
from tritium.ops.control import For
from tritium.ops.facts import Atom, Axis, Bound, Poly, Trip, Unknown

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter

Position = Sequence[int]


class NotKnown(Exception):
    """A value that the frame does not hold any more."""


@dataclass(frozen=True, slots=True)
class Index:
    """One index of an access.

    axis    the axis of the array it walks along, None if no stride of the array is its own
    tile    the tile axis it moves along, None for what is the same in the whole tile
    name    what the kernel calls it, or None; `expression` is how a mask would write it
    poly    what it is
    stride  elements between its positions, in this run
    bounds  what the mask demands of it
    """

    axis: int | None
    tile: int | None
    name: str | None
    expression: str | None
    poly: Poly
    stride: int
    bounds: tuple[Bound, ...]


class Numbers:
    """Evaluates polynomials for one lane of the op that the machine executes."""

    def __init__(self, m: Interpreter, position: Position, lane: Position) -> None:
        self.m = m
        self.position = tuple(position)
        self.lane = tuple(lane)

    def of(self, poly: Poly) -> int:
        """The value of `poly`. Raises NotKnown."""
        total = 0
        for monomial, coefficient in poly.terms.items():
            product = coefficient
            for atom in monomial:
                product *= self._atom(atom)
            total += product
        return total

    def _atom(self, atom: Atom) -> int:
        if isinstance(atom, Axis):
            return self.lane[atom.axis]
        if isinstance(atom, Trip):
            return self._trip(atom.loop)
        return self._element(atom)

    def _trip(self, loop: Op) -> int:
        if not isinstance(loop, For):
            raise NotKnown
        lower, step = self._scalar(loop.lower), self._scalar(loop.step)
        now = self._scalar(loop.body.args[0])
        return (now - lower) // step if step else 0

    def _scalar(self, value: Value) -> int:
        return self._element(Unknown(value, ()))

    def _element(self, atom: Unknown) -> int:
        try:
            held = self.m.plain(self.m.frame[atom.value])
        except KeyError:
            raise NotKnown from None
        where = [*self.position, *(0 if a is None else self.lane[a] for a in atom.axes)]
        where += [0] * (held.ndim - len(where))
        at = tuple(w if n > 1 else 0 for w, n in zip(where, held.shape, strict=False))
        return int(held[at])


class Names:
    """What the kernel calls its index tiles and its limits."""

    def __init__(self, function: Function, facts: ValueFacts) -> None:
        self.function = function
        self.facts = facts
        self._tiles: dict[Poly, tuple[str, int]] = {}
        for op in function.walk():
            for value in op.results:
                poly = facts[value].poly
                if value.name and poly is not None and poly.axes():
                    self._tiles.setdefault(poly, (value.name, len(value.type.shape)))
        self.scalars: dict[Poly, str] = {}
        for value in (*function.args, *(v for op in function.walk() for v in op.results)):
            poly = facts[value].poly
            if value.name and poly is not None and not value.type.shape:
                self.scalars.setdefault(poly, value.name)

    def of_index(self, poly: Poly, tile: int, rank: int) -> tuple[str | None, str | None]:
        """Name of an index that moves along tile axis `tile`, and how a mask of `rank` axes would write it."""
        found = self._tiles.get(poly.place_axes(lambda a: 0 if a == tile else None))
        if found is not None and found[1] == 1:
            return found[0], _expanded(found[0], tile, rank)
        found = self._tiles.get(poly)
        if found is not None:
            return found[0], found[0] if found[1] == rank else None
        return None, None

    def of_scalar(self, poly: Poly) -> str | None:
        return self.scalars.get(poly)


def _expanded(name: str, tile: int, rank: int) -> str:
    if rank == 1:
        return name
    return f"{name}[{', '.join(':' if a == tile else 'None' for a in range(rank))}]"


def indices_of(access: TileAccess, view: View, numbers: Numbers, names: Names) -> list[Index]:
    """The indices of an access through `view`, outermost array axis first. Raises NotKnown."""
    found: list[Index] = []
    rank = len(access.shape)
    for tile, axis in enumerate(access.axes):
        stride = numbers.of(axis.stride)
        if stride == 0 or (axis.extent == 1 and not axis.index.axes()):
            continue
        name, expression = names.of_index(axis.index, tile, rank)
        found.append(Index(None, tile, name, expression, axis.index, stride, axis.bounds))
    for part in _parts(access.offset, view, numbers):
        name = names.of_scalar(part[0])
        own = tuple(b for b in access.mask_rest if b.left == part[0] or b.right == part[0])
        found.append(Index(None, None, name, name, part[0], part[1], own))
    return _on_axes(found, view)


def _parts(offset: Poly | None, view: View, numbers: Numbers) -> list[tuple[Poly, int]]:
    """The scalar part of an offset as (index, stride): terms whose factor is a stride of the array, and a rest."""
    if offset is None or not offset.terms:
        return []
    by_stride: dict[int, Poly] = {}
    strides = {abs(s) for s in view.strides if s}
    for monomial, coefficient in offset.terms.items():
        index, stride = _split(monomial, coefficient, strides, numbers)
        by_stride[stride] = by_stride.get(stride, Poly({})) + index
    return [(index, stride) for stride, index in by_stride.items()]


def _split(
    monomial: tuple[Atom, ...], coefficient: int, strides: set[int], numbers: Numbers
) -> tuple[Poly, int]:
    """A term as index times stride, where one of its factors has the value of a stride of the array."""
    for i, atom in enumerate(monomial):
        value = numbers.of(Poly.atom(atom))
        if value in strides and _is_argument(atom) and len(monomial) > 1:
            rest = monomial[:i] + monomial[i + 1 :]
            return Poly({rest: coefficient}), value
    if coefficient in strides and coefficient != 1:
        return Poly({monomial: 1}), coefficient
    return Poly({monomial: coefficient}), 1


def _is_argument(atom: Atom) -> bool:
    return isinstance(atom, Unknown) and not isinstance(atom.value.owner, Op)


def _on_axes(found: list[Index], view: View) -> list[Index]:
    """The indices with the array axes that have their strides; tile axes choose first, each axis is taken once."""
    free = {i: s for i, (s, d) in enumerate(zip(view.strides, view.shape, strict=True)) if s and d >= 0}
    placed: list[Index] = []
    for index in sorted(found, key=lambda x: (x.tile is None, x.tile or 0)):
        match = [a for a, s in free.items() if s == index.stride]
        axis = _choice(match, index, view)
        if axis is not None:
            del free[axis]
        placed.append(
            Index(axis, index.tile, index.name, index.expression, index.poly, index.stride, index.bounds)
        )
    return sorted(placed, key=lambda x: (x.axis is None, x.axis or 0))


def _choice(match: list[int], index: Index, view: View) -> int | None:
    """Of the array axes with the stride of an index the one it means: extents of 1 say little about their stride."""
    if not match:
        return None
    wide = [a for a in match if view.shape[a] != 1] or match
    return wide[0] if index.tile is None or len(wide) == 1 else wide[-1]


def accounts_for(indices: Sequence[Index], values: Sequence[int], offset: int) -> bool:
    """Whether indices on distinct array axes make up the whole element offset."""
    if any(i.axis is None and v for i, v in zip(indices, values, strict=True)):
        return False
    return sum(v * i.stride for i, v in zip(indices, values, strict=True)) == offset


def scalar_arguments(function: Function, args: Sequence[Any]) -> Mapping[str, int]:
    """The integer arguments of a launch by name."""
    found: dict[str, int] = {}
    for value, given in zip(function.args, args, strict=True):
        number = given.item() if isinstance(given, np.generic) else given
        if value.name and isinstance(number, int) and not isinstance(number, bool):
            found[value.name] = number
    return found


__all__ = ["BATCH_AXES", "Index", "Names", "NotKnown", "Numbers", "accounts_for", "indices_of"]
