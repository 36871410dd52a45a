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
    def _is_ours(self) -> bool:
        """Whether it is part of the language, which does not change while a program runs."""
        return isinstance(self.owner, ModuleType) and self.owner.__name__.startswith("tritium")

    @property
    def is_constant_like(self) -> bool:
        """Whether the value itself, not what it refers to, can change the compiled code."""
        return (
            not isinstance(self.value, ModuleType)
            and self.owner is not builtins.__dict__
            and not self._is_ours
        )


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


def stable_text(value: Any, depth: int = 0) -> str:
    """A text that two processes share if `value` is the same to a kernel; functions are told by their code."""
    if isinstance(value, constexpr):
        return f"constexpr[{stable_text(value.value, depth)}]"
    if value is None or isinstance(value, (bool, int, float, str, Type, enum.Enum)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(stable_text(v, depth) for v in value)})"
    function = getattr(value, "fn", value)
    where = (
        f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(value).__qualname__)}"
    )
    if not isinstance(function, FunctionType) or depth > 3:
        return where
    code = function.__code__
    parts = [where, code.co_code.hex(), *(stable_text(c, depth + 1) for c in code.co_consts)]
    parts += [stable_text(c.cell_contents, depth + 1) for c in function.__closure__ or () if _filled(c)]
    return " ".join(parts)


def _filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not ABSENT
    except ValueError:
        return False


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
