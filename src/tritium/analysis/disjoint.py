"""Whether two accesses of one program instance can meet: addresses compared element by element where they are affine.

``x + row*stride + 128*h + d`` and ``x + row*stride + 128*h + d + 64`` with d < 64: the terms without coordinates cancel, and
the offsets that remain, 256*d0 + 2*d1 and 256*d0 + 2*d1 + 128 bytes, are two sets of numbers without a common one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Op, Region, Value
from tritium.ir.types import PointerType
from tritium.ops.control import For, While
from tritium.ops.facts import Axis, Poly, Trip, Unknown

MOST_ELEMENTS = 1 << 16
"""Tiles of more elements are not compared."""


def never_meet(facts: ValueFacts, a: Op, b: Op) -> bool:
    """Whether no element that `a` reads or writes overlaps one of `b`, for two accesses outside of loops.

    As everywhere where vectors are chosen, offsets that would wrap around count as a fault of the program.
    """
    if _in_loop(a) or _in_loop(b):
        return False
    p, q = a.operands[0], b.operands[0]
    size = _size(p)
    if size != _size(q) or p.type.numel > MOST_ELEMENTS or q.type.numel > MOST_ELEMENTS:
        return False
    left, right = facts[p].poly, facts[q].poly
    if left is None or right is None:
        return False
    apart = (_fixed(left) - _fixed(right)).as_constant
    first, second = _offsets(left, p), _offsets(right, q)
    if apart is None or first is None or second is None:
        return False
    first = first + apart
    if (first % size).any() or (second % size).any():
        return False
    return not np.isin(first, second).any()


def _size(pointer: Value) -> int:
    scalar = pointer.type.scalar
    assert isinstance(scalar, PointerType)
    return scalar.element_ty.itemsize


def _fixed(poly: Poly) -> Poly:
    """The terms without tile coordinates."""
    return poly.place_axes(lambda _: None)


def _offsets(poly: Poly, pointer: Value) -> npt.NDArray[np.int64] | None:
    """Bytes that the coordinates of each element add, one for each element; None where they are not known numbers."""
    if any(isinstance(atom, Trip) or (isinstance(atom, Unknown) and atom.moving) for atom in poly.atoms()):
        return None
    out = np.zeros((), np.int64)
    left = poly
    for axis, extent in enumerate(pointer.type.shape):
        coefficient = left.coefficient(Axis(axis))
        stride = None if coefficient is None else coefficient.as_constant
        if stride is None:
            return None
        out = out[..., None] + stride * np.arange(extent)
        left = left.without(Axis(axis))
    return out.reshape(-1) if not left.axes() else None


def _in_loop(op: Op) -> bool:
    region: Region | None = op.parent
    while region is not None:
        holder = region.parent
        if isinstance(holder, (For, While)):
            return True
        region = holder.parent if isinstance(holder, Op) else None
    return False
