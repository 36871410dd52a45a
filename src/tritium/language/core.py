"""``tl.core``: the functions and types of the language, and the tools with which programs add functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritium.frontend.aggregates import aggregate, aggregate_replace
from tritium.frontend.callables import Builtin
from tritium.frontend.constexpr_functions import constexpr_function
from tritium.language.functions import functions_of, publish
from tritium.language.types import TYPE_NAMES, get_int_dtype, str_to_ty
from tritium.ops.handles import constexpr, unwrap
from tritium.ops.minmax import PropagateNan

TRITON_MAX_TENSOR_NUMEL = 1048576
"""The number of elements above which Triton refuses a tile; tiles may be larger here."""


def builtin(fn: Any) -> Any:
    """Mark a Python function with a `_semantic` parameter as one that kernels call; it runs at compile time."""
    fn.__triton_builtin__ = True
    return fn


def extern(fn: Any) -> Any:
    """The same as `builtin`, for functions that lead to a device library."""
    return builtin(fn)


def is_builtin(fn: Any) -> bool:
    """Whether `fn` is a function of the language, or marked with `builtin`."""
    return isinstance(fn, Builtin) or getattr(fn, "__triton_builtin__", False) is True


def must_use_result(x: Any, s: Any = True) -> Callable[[Any], Any]:
    """Mark a function whose result has to be used, as a decorator with or without a reason."""

    def mark(fn: Any) -> Any:
        fn._must_use_result = s if not isinstance(x, str) else x
        return fn

    return mark if isinstance(x, str) else mark(x)


def _unwrap_if_constexpr(o: Any) -> Any:
    if isinstance(o, (list, tuple)):
        return type(o)(_unwrap_if_constexpr(x) for x in o)
    return unwrap(o)


_aggregate = aggregate

CONSTEXPR_0 = constexpr(0)
builtin_max = functions_of("builtin")["max"]
builtin_min = functions_of("builtin")["min"]

__all__ = [
    "CONSTEXPR_0",
    "TRITON_MAX_TENSOR_NUMEL",
    "PropagateNan",
    "aggregate",
    "aggregate_replace",
    "builtin",
    "constexpr_function",
    "extern",
    "get_int_dtype",
    "is_builtin",
    "must_use_result",
    "str_to_ty",
]

publish(globals(), {**TYPE_NAMES, **functions_of("tl"), **functions_of("core")}, __all__)
