"""What is known at one point of a function while it is lowered: variables, and which exits were taken.

Exits (`return`, `break`, `continue`, the end of a flat `elif` chain) are kept as flags, not as jumps, since
regions have one way out. ``alive[level]`` says whether control has *not* gone beyond `level`::

    break taken:    alive == [False, False, False, True]     GO, CONTINUE, BREAK, RETURN
    return taken:   alive == [False, False, False, False]

Each entry is True or False where that is known, else a 0-d i1 tensor. Code that follows runs where ``alive[GO]``
holds; at the end of a loop's turn `continue` is forgotten, after the loop `break`, and so on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from tritium.ir.types import Type
from tritium.ops.handles import Aggregate, Tensor, constexpr

FALL = -1
GO, CONTINUE, BREAK, RETURN = range(4)
RESULT = "return"
"""The name under which the value of `return` is kept: a keyword, so no variable can be called so."""

Flag = bool | Tensor


@dataclass(frozen=True, slots=True)
class Undefined:
    """A variable without a value here; `code` and `fields` make the error if it is read."""

    code: str
    fields: tuple[tuple[str, Any], ...]


@dataclass(slots=True)
class State:
    """Variables, exit flags, and holes.

    A hole says that a variable has no value on the ways that left through a level, or (`FALL`) on the ways that go
    on. Only where some exit is pending can a variable have a value on some ways and not on others; everywhere else
    a variable without a value is simply bound to `Undefined`.
    """

    env: dict[str, Any]
    alive: list[Flag] = field(default_factory=lambda: [True] * 4)
    holes: dict[str, dict[int, Undefined]] = field(default_factory=dict)

    def fork(self) -> State:
        """The state at the start of code that runs only where no exit was taken."""
        env = dict(self.env)
        for name, ways in self.holes.items():
            if FALL in ways:
                env[name] = ways[FALL]
        return State(env)

    def leave(self, level: int) -> None:
        """Record that control leaves for sure: `level` is CONTINUE, BREAK, RETURN, or GO for an `elif` chain."""
        for i in range(level + 1):
            self.alive[i] = False

    @property
    def falls(self) -> bool:
        """Whether control may go on with the next statement."""
        return self.alive[GO] is not False

    def ways(self) -> list[int]:
        """FALL if control may go on, and the levels it may have left through; not RETURN, which needs no variables."""
        found = [FALL] if self.falls else []
        for i in (GO, CONTINUE, BREAK):
            here, above = self.alive[i], self.alive[i + 1]
            if here is not True and above is not False and not same_flag(here, above):
                found.append(i)
        return found

    def resolve(self, level: int) -> None:
        """Exits through `level` and below end here: control goes on as if they had not been taken."""
        above: Flag = True if level == RETURN else self.alive[level + 1]
        for i in range(level + 1):
            self.alive[i] = above
        for ways in self.holes.values():
            for i in range(level + 1):
                missing = ways.pop(i, None)
                if missing is not None:
                    ways[FALL] = missing
        self.settle()

    def settle(self) -> None:
        """Where no exit is pending, turn holes into undefined variables."""
        if self.holes and all(flag is True for flag in self.alive):
            for name, ways in self.holes.items():
                if FALL in ways:
                    self.env[name] = ways[FALL]
            self.holes = {}


def same_flag(a: Flag, b: Flag) -> bool:
    return a is b or (isinstance(a, Tensor) and isinstance(b, Tensor) and a.value is b.value)


@dataclass(slots=True)
class Loop:
    """A loop being lowered. `carried` maps names assigned in it to what they were on entry (run-time loops only).

    `live` are the names that must have their values when a turn ends.
    """

    node: ast.stmt
    run_time: bool
    carried: dict[str, Any] = field(default_factory=dict)
    live: int = 0


class LiftNeeded(Exception):
    """A compile-time number changes in a run-time loop: lower the loop `loop` again with `name` as a tensor."""

    def __init__(self, name: str, loop: ast.stmt) -> None:
        super().__init__(name)
        self.name = name
        self.loop = loop


def key_of(handle: Any) -> Any:
    """What two handles must share to stand in each other's place: structure, types, compile-time parts."""
    if isinstance(handle, Tensor):
        return handle.value.type
    if isinstance(handle, Aggregate):
        return (handle.key(), *(t.value.type for t in handle.flatten()))
    if isinstance(handle, tuple):
        return (type(handle), *(key_of(part) for part in handle))
    value = handle.value if isinstance(handle, constexpr) else handle
    return (type(value), _identity(value))


def _identity(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str, Type)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return tuple(key_of(v) for v in value)
    return id(value)


def is_liftable(handle: Any) -> bool:
    """Whether `handle` is made of compile-time numbers and tensors only, so that it can become run-time values."""
    if isinstance(handle, constexpr):
        return isinstance(handle.value, (bool, int, float))
    if isinstance(handle, tuple):
        return all(is_liftable(part) or _is_fixed(part) for part in handle)
    return isinstance(handle, (Tensor, Aggregate))


def _is_fixed(handle: Any) -> bool:
    return isinstance(handle, constexpr) and handle.value is None


def flatten(handle: Any) -> list[Tensor]:
    """The run-time parts of a handle, in a fixed order."""
    if isinstance(handle, Tensor):
        return [handle]
    if isinstance(handle, Aggregate):
        return handle.flatten()
    if isinstance(handle, tuple):
        return [t for part in handle for t in flatten(part)]
    return []


def rebuild(handle: Any, parts: list[Tensor]) -> Any:
    """`handle` with other run-time parts, taken from the front of `parts`."""
    if isinstance(handle, Tensor):
        return parts.pop(0)
    if isinstance(handle, Aggregate):
        own = [parts.pop(0) for _ in handle.flatten()]
        return handle.rebuild(own)
    if isinstance(handle, tuple):
        return remake(handle, [rebuild(part, parts) for part in handle])
    return handle


def remake(like: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    """A tuple of the class of `like` (a named tuple, perhaps) with other items."""
    make = getattr(type(like), "_make", tuple)
    return make(parts)
