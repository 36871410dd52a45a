"""Which argument goes to which parameter."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from inspect import Parameter as Python
from typing import Any

from tritium.frontend.captures import ABSENT
from tritium.frontend.source import Parameter
from tritium.ops.surface import Surface


@cache
def _shape(surface: Surface) -> tuple[tuple[str, ...], bool, frozenset[str], frozenset[str]]:
    """Positional names, whether there is a ``*args``, all names, names without a default."""
    positional: list[str] = []
    variadic = False
    names: set[str] = set()
    required: set[str] = set()
    for p in surface.signature.parameters.values():
        if p.kind == Python.VAR_POSITIONAL:
            variadic = True
            continue
        if p.kind in (Python.POSITIONAL_ONLY, Python.POSITIONAL_OR_KEYWORD):
            positional.append(p.name)
        names.add(p.name)
        if p.default is p.empty:
            required.add(p.name)
    return tuple(positional), variadic, frozenset(names), frozenset(required)


def check_surface_call(surface: Surface, args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
    """What is wrong with a call, as a sentence without subject, or None."""
    positional, variadic, names, required = _shape(surface)
    if len(args) > len(positional) and not variadic:
        return f"it takes {_count(len(positional))}, and {len(args)} are given"
    given = positional[: len(args)]
    for name in kwargs:
        if name not in names:
            return unknown_keyword(name, names)
        if name in given:
            return f"`{name}` is given twice"
    if len(args) < len(positional) or len(required) > len(positional):
        missing = [n for n in positional[len(args) :] if n in required and n not in kwargs]
        missing += [n for n in required if n not in positional and n not in kwargs]
        if missing:
            return _missing(missing)
    return None


def bind_parameters(
    parameters: Sequence[Parameter],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    wrap: Callable[[Any], Any],
) -> tuple[dict[str, Any], str | None]:
    """Arguments by parameter name, defaults filled in (through `wrap`), and what is wrong or None."""
    bound: dict[str, Any] = {}
    rest = list(args)
    extra = dict(kwargs)
    missing: list[str] = []
    for p in parameters:
        if p.kind == "variadic":
            bound[p.name] = tuple(rest)
            rest = []
        elif rest and p.kind == "positional":
            bound[p.name] = rest.pop(0)
            if p.name in extra:
                return bound, f"`{p.name}` is given twice"
        elif p.name in extra:
            bound[p.name] = extra.pop(p.name)
        elif p.default is not ABSENT:
            bound[p.name] = wrap(p.default)
        else:
            missing.append(p.name)
    if rest:
        most = sum(p.kind == "positional" for p in parameters)
        return bound, f"it takes {_count(most)}, and {len(args)} are given"
    if extra:
        return bound, unknown_keyword(next(iter(extra)), [p.name for p in parameters])
    return bound, _missing(missing) if missing else None


def unknown_keyword(name: str, known: Iterable[str]) -> str:
    """The sentence for a keyword that a function does not have, with the closest one that it has."""
    close = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"it has no parameter `{name}`" + (f"; did you mean `{close[0]}`?" if close else "")


def _missing(names: list[str]) -> str:
    shown = " and ".join(f"`{n}`" for n in names)
    return f"{shown} {'is' if len(names) == 1 else 'are'} missing"


def _count(n: int) -> str:
    return f"at most {n} argument{'s' if n != 1 else ''}"
