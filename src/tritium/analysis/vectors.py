"""How many neighbouring elements an access may move at once: contiguity, alignment, and masks that agree.

For ``a_ptr + rows[:, None] * stride + ks[None, :]`` with a_ptr aligned to 16 bytes and stride a multiple of 16, four
fp32 elements along axis 1 form one aligned vector: the byte address is ``4*d1 + (terms that are multiples of 16)``.
A mask ``ks < K`` is the same for all four if K is a multiple of four; otherwise it must be asked at run time.

All of that is said of integers that do not wrap. What may wrap must not do so between two elements of a vector: with
``i = (offs + 3).to(tl.uint8)``, elements 252 and 253 are 255 and 0. They stay neighbours where the first of them, before
wrapping, is a multiple of what the vector spans, as in ``pid * BLOCK + offs``: then the whole vector wraps at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Value
from tritium.ir.types import PointerType
from tritium.ops.facts import Axis, Bound, Poly, Trip, Unknown, Wrap, despite_wraps

VECTOR_BYTES = 16
"""The widest load and store of one thread on sm_80 to sm_90."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Axes from the one whose neighbours are closest in memory on; `count` elements along ``order[0]`` that form an
    aligned vector, 1 if none do; whether the mask is known to be the same for all elements of one; whether neighbours along
    ``order[0]`` are known to be neighbours in memory."""

    order: tuple[int, ...]
    count: int = 1
    uniform_mask: bool = False
    contiguous: bool = False


def vectors_of(facts: ValueFacts, pointer: Value, mask: Value | None) -> Vectors:
    """What is proven of the access through the tile of pointers `pointer` under `mask`."""
    shape = pointer.type.shape
    rank = len(shape)
    scalar = pointer.type.scalar
    assert isinstance(scalar, PointerType)
    size = scalar.element_ty.itemsize
    plain = tuple(reversed(range(rank)))
    poly = facts[pointer].poly
    if poly is None or not rank:
        return Vectors(plain)
    strides = [_stride(poly, axis) for axis in range(rank)]
    order = tuple(sorted(plain, key=lambda a: (shape[a] == 1, strides[a] != size, _size(strides[a]))))
    fastest = order[0]
    if strides[fastest] != size:
        return Vectors(order)
    rest = poly.without(Axis(fastest))
    aligned = math.gcd(VECTOR_BYTES, _divisor(facts, rest))
    count = 1
    while (
        count * 2 * size <= aligned
        and shape[fastest] % (count * 2) == 0
        and _unbroken(facts, facts[pointer].wraps, fastest, count * 2)
    ):
        count *= 2
    return Vectors(order, count, mask is None or _same_over(facts, mask, fastest, count), True)


def mask_is_uniform(facts: ValueFacts, mask: Value | None, axis: int, count: int) -> bool:
    """Whether `mask` is known to be the same for all elements of aligned runs of `count` along `axis`."""
    return mask is None or _same_over(facts, mask, axis, count)


def _stride(poly: Poly, axis: int) -> int | None:
    """Bytes between neighbours along `axis`; None where they are not the same number everywhere."""
    if any(isinstance(a, Unknown) and axis in a.axes for a in poly.atoms()):
        return None
    coefficient = poly.coefficient(Axis(axis))
    return None if coefficient is None else coefficient.as_constant


def _size(stride: int | None) -> int:
    return 1 << 40 if stride is None else abs(stride) or 1 << 41


def _divisor(facts: ValueFacts, poly: Poly) -> int:
    """A number that divides the polynomial whatever its atoms are."""
    out = 0
    for monomial, coefficient in poly.terms.items():
        known = abs(coefficient)
        for atom in monomial:
            known *= _atom_divisor(facts, atom)
        out = math.gcd(out, known)
    return out or 1 << 30


def _atom_divisor(facts: ValueFacts, atom: Axis | Trip | Unknown) -> int:
    return facts[atom.value].divisibility or 1 << 30 if isinstance(atom, Unknown) else 1


def _unbroken(facts: ValueFacts, wraps: tuple[Wrap, ...], axis: int, count: int) -> bool:
    """Whether none of these operations wraps between the elements of an aligned run of `count` along `axis`."""
    for w in wraps:
        step = None if w.exact is None else _stride(w.exact, axis)
        if w.exact is None or step is None:
            return False
        span = step * count
        if not step:
            continue
        start = despite_wraps(_divisor(facts, w.exact.without(Axis(axis))), wraps)
        if step < 0 or start % span or (1 << (w.width - 1)) % span:
            return False
    return True


def _same_over(facts: ValueFacts, mask: Value, axis: int, count: int) -> bool:
    """Whether `mask` is constant over aligned runs of `count` elements along `axis`."""
    known = facts[mask]
    if count == 1 or known.constant == 1:
        return True
    return known.exact and all(_bound_same_over(facts, b, axis, count) for b in known.bounds)


def _bound_same_over(facts: ValueFacts, bound: Bound, axis: int, count: int) -> bool:
    if not _unbroken(facts, bound.wraps, axis, count):
        return False
    if axis not in bound.axes():
        return True
    difference = bound.left - bound.right  # condition: difference < 0
    step = _stride(difference, axis)
    rest = difference.without(Axis(axis))
    start = despite_wraps(_divisor(facts, rest), bound.wraps)
    if bound.relation != "<" or step not in (1, -1) or start % count:
        return False
    # d + rest < 0 with rest a multiple of `count` changes only between runs; -d + rest < 0 changes one element later.
    return step == 1
