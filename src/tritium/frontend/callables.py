"""What kernels can call besides each other: functions of the language and bound methods."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

from tritium.errors import make_error
from tritium.ops.surface import SURFACES, Surface


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


_made: dict[int, Builtin] = {}


def builtin_of(surface: Surface) -> Builtin:
    """The one object for `surface`; all names of a function are the same object."""
    found = _made.get(id(surface))
    if found is None:
        found = _made[id(surface)] = Builtin(surface)
    return found


def _builtin_named(name: str) -> Builtin:
    return builtin_of(SURFACES[name])


def fail_outside(function: str) -> NoReturn:
    """Raise the error for a function of the language called by ordinary Python code."""
    raise make_error("TRI0312", function=function)


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
