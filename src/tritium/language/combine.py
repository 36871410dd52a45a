"""Combine functions under the names that Triton's own reductions use, for programs that pass them to ``tl.reduce``."""

from __future__ import annotations

from tritium.frontend.source import JitCallable as jit
from tritium.language import core as tl


@jit
def _sum_combine(a, b):  # type: ignore[no-untyped-def]
    return a + b


@jit
def _prod_combine(a, b):  # type: ignore[no-untyped-def]
    return a * b


@jit
def _xor_combine(a, b):  # type: ignore[no-untyped-def]
    return a ^ b


@jit
def _or_combine(a, b):  # type: ignore[no-untyped-def]
    return a | b


@jit
def _elementwise_max(a, b):  # type: ignore[no-untyped-def]
    return tl.maximum(a, b)


@jit
def _elementwise_min(a, b):  # type: ignore[no-untyped-def]
    return tl.minimum(a, b)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return tl.where(value1 > value2, value1, value2), tl.where(value1 > value2, index1, index2)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    first = (value1 < value2) | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return tl.where(value1 < value2, value1, value2), tl.where(value1 < value2, index1, index2)


COMBINE_FUNCTIONS = {name: value for name, value in list(globals().items()) if isinstance(value, jit)}
"""All of them by name."""
