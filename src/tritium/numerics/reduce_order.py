"""Reductions and scans in a fixed tree order, for any combine function and any extent.

The combine function gets whole arrays: ``combine(lhs..., rhs...)`` with one array of each input per side,
and returns one array for each input (a tuple, or a bare array for a single input). It must be associative.
Float results depend on the order, so the order is part of the contract: it does not depend on the other
dimensions, the machine or the memory layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from tritium.numerics.blocks import quiet
from tritium.numerics.formats import Array

# Below this extent halves of a last axis are laid out axis first, or NumPy's inner loops would be too short.
_SHORT = 32

Combine = Callable[..., Any]
Inputs = tuple[Array, ...]
Arrays = TypeVar("Arrays", Array, tuple[Array, ...])


@quiet
def tree_reduce(
    x: Array | Sequence[Array], axis: int, combine: Combine, order: Literal["halves", "adjacent"] = "halves"
) -> Any:
    """Combine all elements of `x` (an array or a tuple of equally shaped arrays) along `axis`, which is
    dropped.

    "halves" combines element i with element i + n/2, the form of the fewest strided passes, and needs a
    commutative combine; an extent n that is no power of two p first folds elements p... onto elements 0....
    "adjacent" combines elements 2i and 2i + 1 and keeps the order; an odd last element goes up a level
    alone. The extent must not be 0. Gives an array, or a tuple where `x` is one.
    """
    parts = _inputs(x, axis)
    _check_extent(parts)
    step = _fold_halves if order == "halves" else _fold_adjacent
    while parts[0].shape[0] > 1:
        if order == "halves" and parts[0].shape[0] <= _SHORT:
            parts = tuple(np.ascontiguousarray(part) for part in parts)
        parts = step(parts, combine)
    return _like(x, tuple(part[0] for part in parts))


@quiet
def tree_scan(x: Array | Sequence[Array], axis: int, combine: Combine, reverse: bool = False) -> Any:
    """Inclusive scan of `x` (an array or a tuple of equally shaped arrays) along `axis`, in log steps.

    Element i of the result combines elements 0 to i in order; with `reverse`, elements n - 1 down to i in
    that order. Each level combines adjacent pairs, scans the pairs, and completes the even positions: 2n
    combinations in all.
    """
    parts = _inputs(x, axis)
    if reverse:
        parts = tuple(part[::-1] for part in parts)
    if parts[0].shape[0]:
        parts = _scan(parts, combine)
    if reverse:
        parts = tuple(part[::-1] for part in parts)
    return _like(x, tuple(np.moveaxis(part, 0, axis) for part in parts))


def _inputs(x: Array | Sequence[Array], axis: int) -> Inputs:
    arrays = (x,) if isinstance(x, np.ndarray) else tuple(x)
    return tuple(np.moveaxis(array, axis, 0) for array in arrays)


def _like(x: Array | Sequence[Array], parts: Inputs) -> Any:
    parts = tuple(np.asarray(part) for part in parts)
    return parts[0] if isinstance(x, np.ndarray) else parts


def _check_extent(parts: Inputs) -> None:
    if parts[0].shape[0] == 0:
        raise ValueError("cannot reduce an axis of extent 0: there is no neutral element")


def _combined(combine: Combine, lhs: Inputs, rhs: Inputs) -> Inputs:
    out = combine(*lhs, *rhs)
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def _fold_halves(parts: Inputs, combine: Combine) -> Inputs:
    extent = parts[0].shape[0]
    power = 1 << (extent.bit_length() - 1)
    if power == extent:
        half = extent // 2
        return _combined(combine, tuple(p[:half] for p in parts), tuple(p[half:] for p in parts))
    tail = extent - power
    folded = _combined(combine, tuple(p[:tail] for p in parts), tuple(p[power:] for p in parts))
    return tuple(np.concatenate([f, p[tail:power]]) for f, p in zip(folded, parts, strict=True))


def _fold_adjacent(parts: Inputs, combine: Combine) -> Inputs:
    pairs = _pairs(parts, combine)
    if parts[0].shape[0] % 2 == 0:
        return pairs
    return tuple(np.concatenate([f, p[-1:]]) for f, p in zip(pairs, parts, strict=True))


def _pairs(parts: Inputs, combine: Combine) -> Inputs:
    even = parts[0].shape[0] // 2 * 2
    return _combined(combine, tuple(p[0:even:2] for p in parts), tuple(p[1:even:2] for p in parts))


def _scan(parts: Inputs, combine: Combine) -> Inputs:
    extent = parts[0].shape[0]
    if extent == 1:
        return parts
    odd = _scan(_pairs(parts, combine), combine)
    out = tuple(np.empty_like(p, dtype=o.dtype) for p, o in zip(parts, odd, strict=True))
    for target, source, scanned in zip(out, parts, odd, strict=True):
        target[0] = source[0]
        target[1::2] = scanned
    if extent > 2:
        count = (extent - 1) // 2
        even = _combined(combine, tuple(o[:count] for o in odd), tuple(p[2::2] for p in parts))
        for target, values in zip(out, even, strict=True):
            target[2::2] = values
    return out
