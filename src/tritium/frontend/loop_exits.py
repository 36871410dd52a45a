"""How a loop with an early way out says which way it ended, and how many turns it has left.

The loop carries, behind its other values: a flag that says whether to go on, where functions can be left from it a flag
that says whether this one has not been, and the value to return.
"""

from __future__ import annotations

from typing import Any

from tritium.frontend.evaluator import Evaluator
from tritium.frontend.state import BREAK, RESULT, RETURN, State, flatten, rebuild, same_flag
from tritium.frontend.statements import Statements
from tritium.ir.core import Region
from tritium.ir.types import dtype_named, int1
from tritium.ops.control import Poison
from tritium.ops.handles import Tensor, constexpr
from tritium.ops.semantic import literal_of


class LoopExits:
    """Flags, and the value to return, that a loop with an early way out carries behind its other values."""

    def __init__(self, lowering: Evaluator, end: State) -> None:
        self.lowering = lowering
        self.flags = [end.alive[BREAK]]
        self.returns = end.alive[RETURN] is not True
        if self.returns and not same_flag(self.flags[0], end.alive[RETURN]):
            self.flags.append(end.alive[RETURN])
        self.result = end.env.get(RESULT) if self.returns else None
        self.parts = flatten(self.result) if self.result is not None else []
        self.count = len(self.flags) + len(self.parts)

    def add_args(self, region: Region) -> None:
        for _ in self.flags:
            region.add_arg(int1, "go")
        for part in self.parts:
            region.add_arg(part.value.type)

    def inits(self) -> list[Tensor]:
        s = self.lowering.s
        return [
            *(s.scalar(True, int1) for _ in self.flags),
            *(s.emit(Poison, type=p.value.type) for p in self.parts),
        ]

    def nexts(self) -> list[Tensor]:
        s = self.lowering.s
        flags = [f if isinstance(f, Tensor) else s.scalar(f, int1) for f in self.flags]
        return [*flags, *self.parts]

    def leave(self, state: State, results: list[Tensor]) -> None:
        """Set the flags after the loop: `break` is over, `return` is not."""
        if not self.returns:
            return
        flag = results[len(self.flags) - 1]
        state.alive = [flag] * 4
        if self.result is not None:
            state.env[RESULT] = rebuild(self.result, results[len(self.flags) :])


class TripCount(Statements):
    """The number of turns of a counted loop, as a run-time value."""

    def wrapping(self, operator: str, x: Tensor, y: Any) -> Tensor:
        """Arithmetic that wraps and is no business of the overflow checks."""
        return self.operate(operator, x, y, sanitize_overflow=False)

    def trip_count(self, lower: Tensor, upper: Tensor, step: Tensor) -> Tensor:
        """How many turns ``range(lower, upper, step)`` has, in the unsigned type of the same width."""
        known = literal_of(step)
        if known is not None:
            return self._count_up(lower, upper, step) if known > 0 else self._count_down(lower, upper, step)
        up, down = self._count_up(lower, upper, step), self._count_down(lower, upper, step)
        rising = self.operate(">", step, constexpr(0))
        return self.call_named("tl.where", rising, up, down)

    def _count_up(self, lower: Tensor, upper: Tensor, step: Tensor) -> Tensor:
        span = self.wrapping("-", self._unsigned(upper), self._unsigned(lower))
        return self._ceiling(span, self._unsigned(step), self.operate("<", lower, upper))

    def _count_down(self, lower: Tensor, upper: Tensor, step: Tensor) -> Tensor:
        zero = self.s.scalar(0, step.dtype)
        span = self.wrapping("-", self._unsigned(lower), self._unsigned(upper))
        return self._ceiling(
            span, self._unsigned(self.wrapping("-", zero, step)), self.operate(">", lower, upper)
        )

    def _ceiling(self, span: Tensor, step: Tensor, some: Tensor) -> Tensor:
        """``(span - 1) // step + 1`` where there is a turn at all, else 0."""
        turns = self.operate("//", self.wrapping("-", span, constexpr(1)), step)
        return self.call_named("tl.where", some, self.wrapping("+", turns, constexpr(1)), constexpr(0))

    def _unsigned(self, x: Tensor) -> Tensor:
        width = max(8, x.dtype.primitive_bitwidth)
        return self.s.cast(x, dtype_named(f"uint{width}"))
