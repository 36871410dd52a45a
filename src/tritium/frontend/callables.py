"""What kernels can call besides each other: functions of the language, bound methods, compile-time functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, NoReturn, TypeVar

from tritium.errors import make_error
from tritium.frontend.source import JitCallable
from tritium.ops.handles import constexpr, unwrap
from tritium.ops.surface import Surface

ClassT = TypeVar("ClassT")


class Builtin:
    """A function of the language as programs see it: ``tl.load``. It can be called in kernels only."""

    __triton_builtin__ = True

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.__name__ = surface.name
        self.__qualname__ = surface.qualified_name
        self.__module__ = "tritium.language"
        self.__doc__ = surface.doc

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters users give, and `_semantic`, by which tools recognise functions of the language."""
        parameters = [*self.surface.signature.parameters.values()]
        hidden = inspect.Parameter("_semantic", inspect.Parameter.KEYWORD_ONLY, default=None)
        return inspect.Signature([*parameters, hidden])

    def __call__(self, *args: Any, _semantic: Any = None, **kw: Any) -> Any:
        if _semantic is not None:
            return self.surface(_semantic, *args, **kw)
        fail_outside(self.surface.qualified_name)

    def __repr__(self) -> str:
        return f"<function {self.surface.qualified_name}{self.surface.signature}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (_builtin_named, (self.surface.qualified_name,))


def _builtin_named(name: str) -> Builtin:
    from tritium.ops.surface import SURFACES

    return Builtin(SURFACES[name])


def fail_outside(function: str) -> NoReturn:
    """Raise the error for a function of the language called by ordinary Python code."""
    raise make_error("TRI0313", function=function)


class BoundSurface:
    """A method of a handle: ``x.to`` before its call."""

    __slots__ = ("owner", "surface")

    def __init__(self, surface: Surface, owner: Any) -> None:
        self.surface = surface
        self.owner = owner


class BoundJit:
    """A jit method of an aggregate, or a jit function bound to its first argument."""

    __slots__ = ("function", "owner")

    def __init__(self, function: Any, owner: Any) -> None:
        self.function = function
        self.owner = owner


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


def is_plain_function(value: Any) -> bool:
    """Whether `value` is a Python function without any decorator of the language."""
    return isinstance(value, FunctionType) and not isinstance(value, JitCallable)
