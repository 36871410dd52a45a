"""Python functions that kernels call with compile-time values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

from tritium.ops.handles import constexpr, unwrap


class ConstexprFunction:
    """A Python function that kernels call with compile-time values (``@constexpr_function``); callable anywhere."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, _semantic: Any = None, **kw: Any) -> Any:
        args = tuple(unwrap(a) for a in args)
        kw = {name: unwrap(value) for name, value in kw.items()}
        result = self.fn(*args, **kw)
        if _semantic is None:
            return result
        return result if isinstance(result, constexpr) else constexpr(result)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Let kernels call `fn` with compile-time arguments; it runs as Python while the kernel is compiled.

    >>> @constexpr_function
    ... def half(n):
    ...     return n // 2
    >>> half(8)
    4
    """
    return ConstexprFunction(fn)
