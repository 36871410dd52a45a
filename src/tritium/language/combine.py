"""Combine functions of reductions and scans, under the names that programs know them by in ``tl.standard``."""

from __future__ import annotations

import tritium.language.core as tl
from tritium.frontend.callables import builtin_of
from tritium.frontend.source import JitCallable
from tritium.language.functions import functions_of
from tritium.ops.surface import OPERATORS

_sum_combine = functions_of("tl")["add"]
_prod_combine = functions_of("tl")["mul"]
_elementwise_max = functions_of("tl")["maximum"]
_elementwise_min = functions_of("tl")["minimum"]
_xor_combine = builtin_of(OPERATORS["^"])
_or_combine = builtin_of(OPERATORS["|"])


@JitCallable
def _argmax_combine(value1, index1, value2, index2, tie_break_left):  # type: ignore[no-untyped-def]
    first = value1 > value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@JitCallable
def _argmax_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmax_combine(value1, index1, value2, index2, True)


@JitCallable
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmax_combine(value1, index1, value2, index2, False)


@JitCallable
def _argmin_combine(value1, index1, value2, index2, tie_break_left):  # type: ignore[no-untyped-def]
    first = value1 < value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@JitCallable
def _argmin_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmin_combine(value1, index1, value2, index2, True)


@JitCallable
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmin_combine(value1, index1, value2, index2, False)


COMBINE_FUNCTIONS = {
    name: value for name, value in globals().items() if "combine" in name or "elementwise" in name
}
