"""Surfaces: what kernels can call. ``tl.maximum``, ``x.sum(...)`` and ``x + y`` are all surfaces.

A surface is a Python function ``build(s, x, y, ...)`` whose first parameter is the `Semantic` in charge (it coerces,
promotes and emits) and whose other parameters *are* the signature users see. It is declared inside the op class it
belongs to, or at module level for library functions that are compositions of others::

    @surface("maximum")                      # tl.maximum(x, y, ...)
    @surface("sum", method=True)             # tl.sum(x, ...) and x.sum(...)
    @surface("add", operator="+")            # tl.add(x, y) and x + y
    @surface("tanh", module="libdevice")     # tl.extra.libdevice.tanh
    @surface("exp", also=("math.exp",))      # tl.exp, and tl.math.exp is the same object
    @surface("to", module="tensor", method=True)    # x.to(...) and nothing else
    @surface("load", module="desc")          # a method of the aggregate whose `methods` is "desc"
    @surface("abs", module="builtin")        # Python's abs(x) in a kernel

Arguments arrive as handles (`tritium.ops.handles`): Tensor, constexpr, tuple, or a plain Python object; use
``s.const(x, "axis")`` for what must be known at compile time and ``s.to_tensor(x)`` for what may be either.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any


class Surface:
    """One callable of the language. Compile-time calls go through ``surface(s, *args, **kwargs)``."""

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        module: str,
        method: bool,
        operator: str | None,
        must_use: bool,
    ) -> None:
        self.name = name
        self.fn = fn
        self.module = module
        self.method = method
        self.operator = operator
        self.must_use = must_use  # a call whose result is not used is a mistake (TRI0623)
        self.op: type | None = None

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters that users see."""
        return inspect.Signature(list(inspect.signature(self.fn).parameters.values())[1:])

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.op = owner

    @property
    def doc(self) -> str:
        """Its own docstring, else that of the op class it belongs to."""
        return inspect.cleandoc(self.fn.__doc__ or (self.op.__doc__ if self.op else "") or "")

    @property
    def qualified_name(self) -> str:
        return f"{self.module}.{self.name}"

    def __call__(self, s: Any, *args: Any, **kw: Any) -> Any:
        return self.fn(s, *args, **kw)

    def __repr__(self) -> str:
        return f"<{self.qualified_name}{self.signature}>"


SURFACES: dict[str, Surface] = {}
"""By qualified name: ``tl.maximum``, ``libdevice.tanh``, ``desc.load``..."""
OPERATORS: dict[str, Surface] = {}
"""By operator: ``+``, ``<``, ``unary -``..."""
METHODS: dict[str, Surface] = {}
"""Tensor methods by name."""


def surface(
    name: str,
    *,
    module: str = "tl",
    method: bool = False,
    operator: str | None = None,
    also: Sequence[str] = (),
    must_use: bool = False,
) -> Callable[[Callable[..., Any]], Surface]:
    """Declare a callable of the language; see the module text."""

    def register(fn: Callable[..., Any]) -> Surface:
        if isinstance(fn, (Surface, staticmethod)):  # stacked declarations share one function
            fn = fn.fn if isinstance(fn, Surface) else fn.__func__
        made = Surface(name, fn, module, method, operator, must_use)
        for key in (made.qualified_name, *also):
            if key in SURFACES:
                raise TypeError(f"{key} is declared twice")
            SURFACES[key] = made
        if operator is not None:
            OPERATORS[operator] = made
        if method:
            METHODS[name] = made
        return made

    return register
