"""The combine region of argmax and argmin: how it is built, recognised, and evaluated at once.

It keeps the pair (value, index) whose value is larger (smaller). A number beats a NaN, of equal values the smaller
index wins, and of two NaN the left one, so the result does not depend on the order in which pairs meet::

    take = left > right                        for max; < for min
    take |= right != right                     floats only: the right one is NaN
    take |= (left == right) & (i < j)          only when ties go to the left
    yield where(take, left, right), where(take, i, j)
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tritium.ir.builder import Builder
from tritium.ir.core import Region
from tritium.ir.types import DType, ScalarType, int32
from tritium.numerics.cast import cast
from tritium.ops.base import Array
from tritium.ops.combine import Arrays, region_key, region_of
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic
from tritium.ops.surface import OPERATORS, SURFACES


class Extremum(NamedTuple):
    """What a recognised region computes."""

    kind: str  # "max" | "min"
    element: DType
    ties_left: bool


def extremum_region(s: Semantic, element: ScalarType, kind: str, ties_left: bool) -> Region:
    """The combine region for pairs (`element`, int32)."""
    better = ">" if kind == "max" else "<"

    def body(left: Tensor, i: Tensor, right: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
        take = OPERATORS[better](s, left, right)
        if element.is_floating():
            take = OPERATORS["|"](s, take, OPERATORS["!="](s, right, right))
        if ties_left:
            tie = OPERATORS["&"](s, OPERATORS["=="](s, left, right), OPERATORS["<"](s, i, j))
            take = OPERATORS["|"](s, take, tie)
        where = SURFACES["tl.where"]
        return where(s, take, left, right), where(s, take, i, j)

    return region_of(s, body, [element, int32], f"arg{kind}")


@cache
def _keys(element: DType) -> dict[Any, Extremum]:
    found: dict[Any, Extremum] = {}
    for kind in ("max", "min"):
        for ties_left in (True, False):
            made = extremum_region(Semantic(Builder(Region())), element, kind, ties_left)
            found[region_key(made)] = Extremum(kind, element, ties_left)
    return found


def is_extremum(region: Region) -> Extremum | None:
    """Which arg-reduction `region` is, if any."""
    if len(region.args) != 4 or region.args[1].type is not int32:
        return None
    element = region.args[0].type
    return _keys(element).get(region_key(region)) if isinstance(element, DType) else None


def pick_extremum(parts: Arrays, axis: int, what: Extremum) -> Arrays:
    """(value, index) of the winner along array axis `axis`."""
    values, index = parts
    order = _comparable(values, what.element)
    best = _best(order, axis, what.kind)
    with np.errstate(all="ignore"):
        candidates = order == np.expand_dims(best, axis)
    if what.ties_left:
        at = _first_smallest(candidates, index, axis)
    else:
        at = order.shape[axis] - 1 - np.argmax(np.flip(candidates, axis), axis=axis)
    if order.dtype.kind == "f":
        at = np.where(np.isnan(best), 0, at)
    at = np.expand_dims(at, axis)
    return tuple(np.take_along_axis(x, at, axis).squeeze(axis) for x in (values, index))


def _comparable(values: Array, element: DType) -> Array:
    """The values as numbers that NumPy orders exactly."""
    if element.is_int() or element.primitive_bitwidth >= 32:
        return values
    return cast(values, element.text, "f32")


def _best(order: Array, axis: int, kind: str) -> Array:
    if order.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return (np.fmax if kind == "max" else np.fmin).reduce(order, axis=axis)
    return (np.maximum if kind == "max" else np.minimum).reduce(order, axis=axis)


def _first_smallest(candidates: Array, index: Array, axis: int) -> Array:
    """Position of the candidate with the smallest index, the first if several have it."""
    if _rises(index, axis):
        return np.argmax(candidates, axis=axis)
    ranked = np.where(candidates, index.astype(np.int64), np.int64(2**31))
    return np.argmin(ranked, axis=axis)


def _rises(index: Array, axis: int) -> bool:
    """Whether `index` is one rising row along `axis`, repeated along the other axes: the usual case, a range."""
    if any(
        d > 1 and step
        for a, (d, step) in enumerate(zip(index.shape, index.strides, strict=True))
        if a != axis
    ):
        return False
    row = index[tuple(slice(None) if a == axis else 0 for a in range(index.ndim))]
    return bool((row[1:] > row[:-1]).all())
