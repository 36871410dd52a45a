"""Names that a kernel takes from outside: what they stand for, and whether they still do."""

from __future__ import annotations

import builtins
import enum
from dataclasses import dataclass
from types import CellType, FunctionType, ModuleType
from typing import Any

from tritium.ir.types import Type
from tritium.ops.handles import constexpr


class _Absent:
    def __repr__(self) -> str:
        return "<absent>"


ABSENT: Any = _Absent()
"""Stands for "no value" where None is a value."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One name read from outside a kernel: `path` as written, where it was found, and its value then."""

    path: str
    owner: CellType | dict[str, Any] | ModuleType
    name: str
    value: Any

    def current(self) -> Any:
        """The value now, or ABSENT."""
        owner = self.owner
        if isinstance(owner, dict):
            return owner.get(self.name, ABSENT)
        if isinstance(owner, ModuleType):
            return getattr(owner, self.name, ABSENT)
        try:
            return owner.cell_contents
        except ValueError:
            return ABSENT

    def unchanged(self) -> bool:
        """Whether a kernel compiled with the recorded value would come out the same now."""
        now = self.current()
        return now is self.value or _equal(now, self.value)

    def member(self, attribute: str) -> Capture | None:
        """The attribute of a captured module, or None."""
        if not isinstance(self.value, ModuleType):
            return None
        found = getattr(self.value, attribute, ABSENT)
        if found is ABSENT:
            return None
        return Capture(f"{self.path}.{attribute}", self.value, attribute, found)

    @property
    def is_constant_like(self) -> bool:
        """Whether the value itself, not what it refers to, can change the compiled code."""
        return not isinstance(self.value, ModuleType) and self.owner is not builtins.__dict__

    def stable_text(self) -> str:
        """A text that two processes share if the value is the same; functions are told by where they stand."""
        return _stable_text(self.value)


def _equal(now: Any, then: Any) -> bool:
    if type(now) is not type(then):
        return False
    if isinstance(now, constexpr):
        return now.value is then.value or _equal(now.value, then.value)
    if isinstance(now, (bool, int, float, str, Type)):
        return bool(now == then)
    if isinstance(now, tuple):
        return len(now) == len(then) and all(a is b or _equal(a, b) for a, b in zip(now, then, strict=True))
    return False


def _stable_text(value: Any) -> str:
    if isinstance(value, constexpr):
        return f"constexpr[{_stable_text(value.value)}]"
    if value is None or isinstance(value, (bool, int, float, str, Type, enum.Enum)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_stable_text, value))})"
    function = getattr(value, "fn", value)
    where = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(value).__qualname__)}"
    if isinstance(function, FunctionType):
        return f"{where} {function.__code__.co_code.hex()} {function.__code__.co_consts!r:.2000}"
    return where


def resolve(fn: FunctionType, name: str) -> Capture | None:
    """What the free name `name` of `fn` stands for: a variable of an outer function, a global, a built-in."""
    free = fn.__code__.co_freevars
    if name in free and fn.__closure__ is not None:
        cell = fn.__closure__[free.index(name)]
        try:
            return Capture(name, cell, name, cell.cell_contents)
        except ValueError:
            return None
    for namespace in (fn.__globals__, builtins.__dict__):
        if name in namespace:
            return Capture(name, namespace, name, namespace[name])
    return None
