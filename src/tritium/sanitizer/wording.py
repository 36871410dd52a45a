"""The sentence about an access outside its view: which axis, which index, how far, what the mask lacks, what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritium.analysis.access import TileAccess
from tritium.ops.facts import Bound, Poly, Unknown
from tritium.sanitizer.findings import Argument
from tritium.sanitizer.indices import Index

AXIS_WORDS = ("rows", "columns")


@dataclass(frozen=True, slots=True)
class Reached:
    """How far an index goes: its lowest and highest value among the offending lanes."""

    index: Index
    low: int
    high: int


def extent_phrase(shape: Sequence[int], axis: int) -> str:
    """``5 columns``, ``3 elements``, ``7 positions along axis 2``."""
    n = shape[axis]
    if len(shape) == 1:
        return f"{n} element{'s' if n != 1 else ''}"
    if len(shape) == 2:
        word = AXIS_WORDS[axis]
        return f"{n} {word if n != 1 else word[:-1]}"
    return f"{n} position{'s' if n != 1 else ''} along axis {axis}"


def outside_axes(reached: Sequence[Reached], shape: Sequence[int]) -> list[Reached]:
    """Those indices that leave their own axis."""
    return [r for r in reached if r.index.axis is not None and (r.low < 0 or r.high >= shape[r.index.axis])]


def axis_sentence(fault: Reached, argument: Argument) -> str:
    """``axis 1 of `a`, index `ks`, reaches 7; the view has 5 columns``."""
    axis = fault.index.axis
    assert axis is not None
    called = f", index `{fault.index.name}`," if fault.index.name else ""
    value = fault.low if fault.low < 0 else fault.high
    there = extent_phrase(argument.shape, axis)
    return f"axis {axis} of `{argument.name}`{called} reaches {value}; the view has {there}"


def label(index: Index) -> str:
    if index.name is not None:
        return f"`{index.name}`"
    return f"the index along axis {index.axis if index.axis is not None else index.tile}"


def mask_sentence(fault: Reached, others: Sequence[Index], access: TileAccess, limits: Limits) -> str:
    """What the mask says and does not say about the index at fault."""
    index, low_side = fault.index, fault.low < 0
    if not access.masked:
        return "the access has no mask"
    own = _bounds_of(index, low_side)
    if own:
        text = " and ".join(limits.text(b, index) for b in own)
        return (
            f"the mask says {text}, which lets {label(index)} reach {fault.low if low_side else fault.high}"
        )
    bounded = [label(o) for o in others if o is not index and o.bounds]
    if bounded:
        return f"the mask bounds {' and '.join(dict.fromkeys(bounded))} and not {label(index)}"
    side = " from below" if low_side else ""
    return f"the mask does not bound {label(index)}{side}"


def _bounds_of(index: Index, low_side: bool) -> list[Bound]:
    """The bounds on the side of the index that went too far."""
    if index.tile is None:
        return list(index.bounds)
    at_right = [b for b in index.bounds if b.right == index.poly]
    return at_right if low_side else [b for b in index.bounds if b not in at_right]


def mend(fault: Reached, argument: Argument, limits: Limits) -> str | None:
    """The condition that the mask should hold, as the kernel would write it."""
    written = fault.index.expression
    if written is None or fault.index.axis is None:
        return None
    if fault.low < 0:
        return f"{written} >= 0"
    extent = argument.shape[fault.index.axis]
    return f"{written} < {limits.name_of(extent, fault.index)}"


class Limits:
    """What the kernel's integer arguments and constants are called by value, for bounds and mended expressions.

    limits of indices in masks, and upper bounds of loops that move an index, are preferred as its limit.
    """

    def __init__(
        self,
        scalars: Mapping[str, int],
        constants: Mapping[str, int],
        used: Mapping[str, str],
        loops: Mapping[Poly, str],
        names: Mapping[Poly, str],
    ) -> None:
        self.scalars = scalars
        self.constants = constants
        self.used = used  # limit name -> name of the index that masks compare with it
        self.loops = loops  # trip atom of a loop -> name of its upper bound
        self.names = names

    def name_of(self, extent: int, index: Index) -> str:
        """What to call `extent` as the limit of `index`."""
        named = [n for n, v in {**self.constants, **self.scalars}.items() if v == extent]
        if not named:
            return str(extent)
        for atom in index.poly.atoms():
            upper = self.loops.get(Poly.atom(atom))
            if upper in named:
                return upper
        for n in named:
            if index.name is not None and self.used.get(n) == index.name:
                return n
        free = [n for n in named if n not in self.used and not n.startswith("stride")]
        return (free or named)[0]

    def text(self, bound: Bound, index: Index) -> str:
        """A bound as the kernel would write it."""
        left, right = self._side(bound.left, index), self._side(bound.right, index)
        return f"`{left} {bound.relation} {right}`"

    def _side(self, poly: Poly, index: Index) -> str:
        if poly == index.poly and index.name:
            return index.name
        if poly in self.names:
            return self.names[poly]
        gap = poly - index.poly
        if index.name and gap.as_constant:
            return f"{index.name} {'+' if gap.as_constant > 0 else '-'} {abs(gap.as_constant)}"
        for known, name in self.names.items():
            gap = poly - known
            if gap.as_constant and known.atoms() and all(isinstance(a, Unknown) for a in known.atoms()):
                return f"{name} {'+' if gap.as_constant > 0 else '-'} {abs(gap.as_constant)}"
        return str(poly)
