"""How the emitter knows values: C++ text for the element at a register coordinate.

A register coordinate has one index per tile axis: a number where every register is spelled out (``v29_1_0``), or the
text of a loop variable where registers are an array walked by an unrolled loop (``acc[i][j]``). Values that repeat along
an axis have one register there, and every coordinate leads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout

Index = int | Expr
Coordinate = tuple[Index, ...]


class Held(Protocol):
    """A value as C++."""

    def at(self, index: Coordinate) -> Expr:
        """The element in the registers at `index`."""
        ...


@dataclass
class Uniform:
    """The same for all threads and registers: scalars, splat constants."""

    text: Expr

    def at(self, index: Coordinate) -> Expr:
        return self.text


@dataclass
class Local:
    """A C++ variable, or array of registers, that holds a tile.

    lone      no array: its only users are in the loop that defines it, which has a fresh one for every register
    spelled   one variable per register, the coordinate in its name
    """

    name: str
    type: str
    shape: tuple[int, ...]
    spelled: bool
    lone: bool = False

    @property
    def is_array(self) -> bool:
        return not self.spelled and not self.lone and prod(self.shape) > 1

    def at(self, index: Coordinate) -> Expr:
        if prod(self.shape) == 1 or self.lone:
            return Expr(self.name)
        places = [0 if count == 1 else i for i, count in zip(index, self.shape, strict=True)]
        if self.spelled:
            return Expr("_".join([self.name, *map(str, places)]))
        return Expr(
            self.name + "".join(f"[{i}]" for i, count in zip(places, self.shape, strict=True) if count > 1)
        )

    def declaration(self) -> str:
        """``float acc[8][8]``"""
        return f"{self.type} {self.name}" + "".join(f"[{count}]" for count in self.shape if count > 1)


@dataclass
class Fragments:
    """Packed 32-bit registers of a tensor-core operand, ``u32 name[steps * lines][4 or 2]``; only `gpu.mma` reads them.

    side    "a" or "b"
    steps   instructions along the reduction
    count   operands of instructions in one step
    """

    name: str
    side: str
    steps: int
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        """Of the C++ array."""
        return self.steps * self.count, 4 if self.side == "a" else 2

    def declaration(self) -> str:
        """``u32 a_0[4][4]``"""
        return f"u32 {self.name}" + "".join(f"[{n}]" for n in self.shape)

    def at(self, index: Coordinate) -> Expr:
        raise AssertionError(f"fragments {self.name} have no elements of their own")

    def register(self, line: int, depth: int) -> str:
        """The 32-bit register with row or column register `line` and number `depth` of the reduction."""
        step, half = divmod(depth, 2)
        if self.side == "a":
            return f"{self.name}[{step * self.count + line // 2}][{line % 2 + 2 * half}]"
        return f"{self.name}[{step * self.count + line}][{half}]"


@dataclass
class View:
    """Another value seen through a shape op: axis b of the base is axis ``pick[b]`` here, or None where it repeats."""

    base: Callable[[], Held]
    pick: tuple[int | None, ...]

    def at(self, index: Coordinate) -> Expr:
        return self.base().at(tuple(0 if p is None else index[p] for p in self.pick))


@dataclass
class Numbers:
    """A range: the coordinate along one axis, plus a constant."""

    thread: Expr
    axis: AxisLayout
    start: int

    def at(self, index: Coordinate) -> Expr:
        return coordinate(self.thread, self.axis, index[0], self.start)


@dataclass
class Computed:
    """An expression written where it is used."""

    write: Callable[[Coordinate], Expr]

    def at(self, index: Coordinate) -> Expr:
        return self.write(index)


def coordinate(thread: Expr, axis: AxisLayout, register: Index, start: int = 0) -> Expr:
    """The tile coordinate along `axis` of register `register` of a thread whose own part is `thread`."""
    terms: list[Expr] = [] if thread == "0" else [thread]
    if isinstance(register, int):
        start += axis.register_offset(register)
    else:
        terms += _register_terms(axis, register)
    if start or not terms:
        terms.append(Expr(str(start)))
    out = terms[0]
    for t in terms[1:]:
        out = binary("-", out, Expr(t[1:])) if t.startswith("-") else binary("+", out, t)
    return out


def _register_terms(axis: AxisLayout, register: Expr) -> list[Expr]:
    found: list[Expr] = []
    below = 1
    steps = axis.register_steps()
    for place, (count, step) in enumerate(steps):
        part = register
        if below > 1:
            part = binary("/", part, Expr(str(below)))
        if place + 1 < len(steps):
            part = binary("%", part, Expr(str(count)))
        found.append(part if step == 1 else binary("*", part, Expr(str(step))))
        below *= count
    return found


def key_of(layout: RegisterLayout) -> tuple[AxisLayout, ...]:
    """What loops over a value's registers: its axes with more than one register."""
    return tuple(a for a in layout.axes if a.registers > 1)


def spelled_coordinates(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """All register coordinates in row-major order."""
    out: list[tuple[int, ...]] = [()]
    for count in shape:
        out = [(*c, i) for c in out for i in range(count)]
    return out
