"""Python's built-in functions as kernels know them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tritium.frontend.captures import ABSENT
from tritium.frontend.loops import RangeLoop
from tritium.frontend.operators import bare
from tritium.frontend.state import flatten
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.semantic import literal_of
from tritium.ops.surface import SURFACES

Handler = Callable[[Any, list[Any], dict[str, Any], ast.AST], Any]
"""``handler(lowering, args, kwargs, node)`` with handles as arguments, gives a handle."""

BUILTINS: dict[Any, Handler] = {}


def _builtin(*targets: Any) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for target in targets:
            BUILTINS[target] = handler
        return handler

    return register


def _misfit(low: Any, function: str, problem: str, node: ast.AST) -> Any:
    low.fail("TRI0601", node, function=function, signature="(...)", problem=problem)


@_builtin(range)
def _range(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    if kwargs or not 1 <= len(args) <= 3:
        _misfit(low, "range", "it takes one to three bounds, without keywords", node)
    lower = args[0] if len(args) > 1 else constexpr(0)
    upper = args[1] if len(args) > 1 else args[0]
    return constexpr(RangeLoop(lower, upper, args[2] if len(args) > 2 else constexpr(1)))


@_builtin(len)
def _len(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    (value,) = _exactly(low, "len", args, kwargs, 1, node)
    if isinstance(value, Tensor) and value.dims:
        return constexpr(value.dims[0])
    items = low.items_of(value)
    raw: Any = items if items is not None else bare(value)
    if isinstance(value, Tensor) or not hasattr(raw, "__len__"):
        _misfit(low, "len", f"{low.describe(value)} has no length", node)
    return constexpr(len(raw))


def _exactly(
    low: Any, name: str, args: list[Any], kwargs: dict[str, Any], count: int, node: ast.AST
) -> list[Any]:
    if kwargs or len(args) != count:
        _misfit(low, name, f"it takes {count} argument{'s' if count > 1 else ''}, without keywords", node)
    return args


def _conversion(python: Any, hint: str) -> Handler:
    def convert(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        value = args[0] if args else constexpr(python())
        known = literal_of(value) if isinstance(value, Tensor) else None
        if known is not None:
            value = constexpr(known)
        if flatten(value):
            what = f"the argument of `{python.__name__}`"
            got = f"a run-time value of type {low.describe(value)}"
            low.fail("TRI0501", node, what=what, got=got, hint=hint)
        return low.fold(python, node, value, *args[1:])

    return convert


BUILTINS[int] = _conversion(int, "convert a run-time value with .to(tl.int32)")
BUILTINS[float] = _conversion(float, "convert a run-time value with .to(tl.float32)")
BUILTINS[bool] = _conversion(bool, "convert a run-time value with .to(tl.int1), or compare it with 0")
BUILTINS[str] = _conversion(str, "print run-time values with tl.device_print")
BUILTINS[round] = _conversion(round, "round run-time values with tl.floor(x + 0.5)")


@_builtin(constexpr)
def _constexpr(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    (value,) = _exactly(low, "tl.constexpr", args, kwargs, 1, node)
    known = literal_of(value) if isinstance(value, Tensor) else None
    if known is not None:
        return constexpr(known)
    if flatten(value):
        low.fail(
            "TRI0501", node, what="the argument of `tl.constexpr`", got=f"a run-time {low.describe(value)}"
        )
    return value if isinstance(value, constexpr) else constexpr(bare(value))


@_builtin(isinstance)
def _isinstance(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    value, cls = _exactly(low, "isinstance", args, kwargs, 2, node)
    classes = bare(cls)
    raw = unwrap(value)
    plain_constant = raw is None or isinstance(
        raw, bool | int | float | str
    )  # a type or function is only itself
    return constexpr(isinstance(raw, classes) or (plain_constant and isinstance(value, classes)))


@_builtin(getattr)
def _getattr(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    if kwargs or not 2 <= len(args) <= 3 or not isinstance(unwrap(args[1]), str):
        _misfit(low, "getattr", "it takes a value, a name, and perhaps a default", node)
    return low.get_attribute(args[0], unwrap(args[1]), node, args[2] if len(args) == 3 else ABSENT)


@_builtin(hasattr)
def _hasattr(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    value, name = _exactly(low, "hasattr", args, kwargs, 2, node)
    marker = constexpr(_NOTHING)
    found = low.get_attribute(value, unwrap(name), node, marker)
    return constexpr(not (isinstance(found, constexpr) and found.value is _NOTHING))


_NOTHING = object()


@_builtin(print)
def _print(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    first = unwrap(args[0]) if args else None
    prefix = [] if isinstance(first, str) else [constexpr("")]
    return low.call_surface(SURFACES["tl.device_print"], [*prefix, *args], kwargs)


@_builtin(tuple, list)
def _tuple(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    if not args:
        return ()
    (value,) = _exactly(low, "tuple", args, kwargs, 1, node)
    return tuple(low.static_items_of(value, node))


@_builtin(zip)
def _zip(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    strict = bool(unwrap(kwargs.pop("strict", False)))
    columns = [low.static_items_of(a, node) for a in args]
    if strict and len({len(c) for c in columns}) > 1:
        _misfit(low, "zip", f"lengths {[len(c) for c in columns]} differ", node)
    return tuple(zip(*columns, strict=False))


@_builtin(enumerate)
def _enumerate(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    start = unwrap(kwargs.pop("start", args[1] if len(args) > 1 else 0))
    if kwargs or not 1 <= len(args) <= 2 or not isinstance(start, int):
        _misfit(low, "enumerate", "it takes a tuple and perhaps a compile-time start", node)
    items = low.static_items_of(args[0], node)
    return tuple((constexpr(i), item) for i, item in enumerate(items, start))


@_builtin(reversed)
def _reversed(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    (value,) = _exactly(low, "reversed", args, kwargs, 1, node)
    return tuple(reversed(low.static_items_of(value, node)))


def _numeric(python: Any) -> Handler:
    def compute(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """min, max and abs: one tuple stands for its items; compile-time values give a compile-time value."""
        one = len(args) == 1 and python is not abs and not isinstance(args[0], Tensor)
        items = low.static_items_of(args[0], node) if one else args
        if any(flatten(i) for i in items):
            return low.call_surface(SURFACES[f"builtin.{python.__name__}"], list(items), kwargs)
        return low.fold(lambda *values: python(values) if one else python(*values), node, *items)

    return compute


for _function in (min, max, abs):
    BUILTINS[_function] = _numeric(_function)


@_builtin(breakpoint)
def _breakpoint(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    return low.call_surface(SURFACES["builtin.breakpoint"], args, kwargs)


@_builtin(pow)
def _pow(low: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
    base, exponent = _exactly(low, "pow", args, kwargs, 2, node)
    return low.binary(ast.Pow(), base, exponent, node)
