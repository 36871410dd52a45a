"""Register loops: statements that run for every register of a layout, gathered so that one loop holds many.

Ops that work register by register are not written one by one. Loads and stores are put into groups as they come; what
they need is put where it is first needed, into the same loop if it walks the same registers, else into one before. So

    x = tl.load(...); y = tl.load(...); tl.store(..., x + y)

becomes a loop of loads and a loop of additions and stores: all loads of a thread are under way before the first is used.
A group never holds a load behind a store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from tritium.backends.cuda.registers import Coordinate, Index, Local, spelled_coordinates
from tritium.backends.cuda.writer import Writer
from tritium.errors import Loc
from tritium.ir.core import Op, Value
from tritium.ops.emit import Expr
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout

VARIABLES = "ijrs"
"""Names of the loops over registers, by depth."""


@dataclass
class Statement:
    """Lines for one register coordinate. A statement that defines `local` gives one expression instead.

    shape   registers per axis of the values it deals with; axes with one register take no part in the loops
    """

    loc: Loc | None
    shape: tuple[int, ...]
    write: Callable[[Coordinate], Sequence[str]]
    local: Local | None = None
    value: Value | None = None

    def at(self, moving: Sequence[Index]) -> Coordinate:
        """The register coordinate from the indices of the axes with more than one register."""
        rest = iter(moving)
        return tuple(next(rest) if count > 1 else 0 for count in self.shape)


@dataclass(eq=False)
class Group:
    """Statements over the registers of `layout`; `stores` if one of them writes memory.

    steps    per axis how many registers one iteration deals with: 1, or the width of a vector
    arrays   what its statements fill and does not follow from them
    straight   written register by register, with numbers in place of loop variables
    """

    layout: RegisterLayout
    steps: tuple[int, ...]
    stores: bool = False
    loads: bool = False
    statements: list[Statement] = field(default_factory=list)
    arrays: list[Local] = field(default_factory=list)
    ops: set[Op] = field(default_factory=set)
    straight: bool = False

    @property
    def key(self) -> tuple[tuple[AxisLayout, int], ...]:
        """Groups with equal keys walk the same registers."""
        if self.straight:
            return ((AxisLayout(1), id(self)),)
        return tuple((a, s) for a, s in zip(self.layout.axes, self.steps, strict=True) if a.registers > 1)

    def counts(self) -> tuple[int, ...]:
        return self.layout.register_shape

    # ---- writing -------------------------------------------------------------------------------------

    def write(self, w: Writer, users: Callable[[Value], set[Op]], spelled: bool) -> None:
        """Put the statements into `w`. `users(value)`: the ops that read a value, through shape ops too."""
        if not self.statements:
            return
        if spelled:
            self._spell(w)
            return
        looped = prod(self.counts()) > 1
        for s in self.statements:
            if s.local is not None and looped:
                s.local.lone = (
                    s.value is not None and all(s_ == 1 for s_ in self.steps) and users(s.value) <= self.ops
                )
        for local in self.arrays:
            w.line(f"{local.declaration()};")
        for s in self.statements:
            if s.local is not None and s.local.is_array:
                w.line(f"{s.local.declaration()};")
        self._loop(w, 0, [])

    def _loop(self, w: Writer, axis: int, moving: list[Index]) -> None:
        if axis == len(self.counts()):
            self._body(w, moving)
            return
        count, step = self.counts()[axis], self.steps[axis]
        if self.straight:
            for at in range(0, count, step):
                self._loop(w, axis + 1, [*moving, at] if count > 1 else moving)
            return
        if count == step:
            self._loop(w, axis + 1, [*moving, 0] if count > 1 else moving)
            return
        name = VARIABLES[sum(isinstance(i, Expr) for i in moving)]
        w.pragma("unroll")
        advance = f"++{name}" if step == 1 else f"{name} += {step}"
        with w.block(f"for (int {name} = 0; {name} < {count}; {advance})"):
            self._loop(w, axis + 1, [*moving, Expr(name)])

    def _body(self, w: Writer, moving: Sequence[Index]) -> None:
        for s in self.statements:
            w.at(s.loc)
            index = s.at(moving)
            if s.local is None:
                w.all(s.write(index))
                continue
            (text,) = s.write(index)
            head = f"{s.local.at(index)}" if s.local.is_array else f"{s.local.type} {s.local.name}"
            w.line(f"{head} = {text};")

    def _spell(self, w: Writer) -> None:
        for local in self.arrays:
            w.all(f"{local.type} {local.at(index)};" for index in spelled_coordinates(local.shape))
        for s in self.statements:
            w.at(s.loc)
            for index in spelled_coordinates(s.shape):
                if s.local is None:
                    w.all(s.write(index))
                else:
                    (text,) = s.write(index)
                    w.line(f"{s.local.type} {s.local.at(index)} = {text};")
