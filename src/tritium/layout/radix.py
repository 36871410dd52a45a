"""Carry-free arithmetic of digits: when a sum of digit times step can be read in another mixed radix.

`reshape` and `compose` both ask this. Example: a column digit of extent 32 and step 4 under panels of 64
columns is 16 values of step 4 inside a panel, then 2 panels:

>>> split_terms([Term("lane", 32, 4)], [64, 2], what="panels")
[('lane', 16, {0: 4}), ('lane', 2, {1: 1})]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import gcd
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from tritium.layout.faults import LayoutError

if TYPE_CHECKING:
    from tritium.layout.digits import Layout

Piece = tuple[str, int, dict[str, int]]


class Term(NamedTuple):
    """A digit of one sum: `extent` values of `step` each."""

    axis: str
    extent: int
    step: int


def split_terms(
    terms: Sequence[Term], radices: Sequence[int], *, what: str
) -> list[tuple[str, int, dict[int, int]]]:
    """The terms as digits with steps in the places of a mixed radix (`radices`, minor first; the last is open).

    The sum of the pieces, place by place, never carries, so each place can be read on its own. LayoutError if
    no such form exists; `what` names the places in its message.
    """
    weights = [1]
    for extent in radices[:-1]:
        weights.append(weights[-1] * extent)
    pieces: list[tuple[str, int, dict[int, int]]] = []
    for term in terms:
        pieces += _split(term, weights, what)
    for place, extent in enumerate(radices[:-1]):
        most = sum((size - 1) * steps.get(place, 0) for _, size, steps in pieces)
        if most >= extent:
            raise LayoutError(f"The digits of this layout run across {what}: they do not form digits there.")
    return pieces


def _split(term: Term, weights: Sequence[int], what: str) -> list[tuple[str, int, dict[int, int]]]:
    axis, extent, step = term
    pieces: list[tuple[str, int, dict[int, int]]] = []
    while extent > 1:
        low = extent
        for weight in weights[1:]:
            if (extent - 1) * (step % weight) >= weight:
                turns = weight // gcd(step, weight)
                if extent % turns:
                    raise LayoutError(
                        f"A digit of extent {extent} and step {step} straddles {what}: "
                        f"it crosses multiples of {weight} unevenly."
                    )
                low = min(low, turns)
        pieces.append((axis, low, _places(step, weights)))
        extent //= low
        step *= low
    return pieces


def _places(step: int, weights: Sequence[int]) -> dict[int, int]:
    places: dict[int, int] = {}
    for place in reversed(range(len(weights))):
        if step >= weights[place]:
            places[place], step = divmod(step, weights[place])
    return places


def reshaped(layout: Layout, shape: Mapping[str, int]) -> list[Piece]:
    """The digits of `layout` under the axes of `shape`, for the same row-major order of elements."""
    weights = _row_major(layout.shape)
    terms = [
        Term(d.axis, d.extent, sum(step * weights[name] for name, step in d.steps.items()))
        for d in layout.digits
    ]
    names = list(shape)[::-1]
    pieces = split_terms(terms, [shape[name] for name in names], what="the new axes")
    return [
        (axis, extent, {names[place]: step for place, step in steps.items()})
        for axis, extent, steps in pieces
    ]


def _row_major(shape: Mapping[str, int]) -> dict[str, int]:
    weights: dict[str, int] = {}
    weight = 1
    for name in list(shape)[::-1]:
        weights[name] = weight
        weight *= shape[name]
    return weights


def composed(layout: Layout, memory: Layout) -> list[Piece]:
    """The digits of `layout` with the steps that their coordinates make in the outputs of `memory`."""
    chains: list[list[list[tuple[int, dict[str, int]]]]] = [[] for _ in layout.digits]
    for output in layout.outputs:
        places = memory.digits_of(output)
        moving = [i for i, digit in enumerate(layout.digits) if output in digit.steps]
        terms = [Term(str(i), layout.digits[i].extent, layout.digits[i].steps[output]) for i in moving]
        parts: dict[int, list[tuple[int, dict[str, int]]]] = {i: [] for i in moving}
        radices = [place.extent for place in places] or [1]
        for key, extent, steps in split_terms(terms, radices, what=f"the digits of {output}"):
            moved: dict[str, int] = {}
            for place, step in steps.items():
                for name, size in places[place].steps.items() if places else ():
                    moved[name] = moved.get(name, 0) + step * size
            parts[int(key)].append((extent, moved))
        for i in moving:
            chains[i].append(parts[i])
    return [
        (digit.axis, extent, steps)
        for digit, chain in zip(layout.digits, chains, strict=True)
        for extent, steps in _align(chain, digit.extent)
    ]


def _align(
    chains: Sequence[Sequence[tuple[int, Mapping[str, int]]]], extent: int
) -> list[tuple[int, dict[str, int]]]:
    """One digit of `extent` values that each chain cuts its own way, as digits with the steps of all chains.

    A chain is (extent, steps) of the pieces, minor first; their extents multiply up to `extent`.
    """
    cuts = {1, extent}
    for chain in chains:
        cuts |= set(accumulate((size for size, _ in chain), mul))
    ordered = sorted(cuts)
    digits: list[tuple[int, dict[str, int]]] = []
    for low, high in pairwise(ordered):
        if high % low:
            raise LayoutError(
                f"A digit of extent {extent} is cut at {low} and at {high} by two outputs, which is no digit."
            )
        steps: dict[str, int] = {}
        for chain in chains:
            start = 1
            for size, moved in chain:
                if start <= low < start * size:
                    for name, step in moved.items():
                        steps[name] = steps.get(name, 0) + step * (low // start)
                start *= size
        digits.append((high // low, steps))
    return digits
