"""A run-time check that the compiler itself puts in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.ir.types import Type, int1
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.machine import Machine


class Check(TileOp, name="tile.check"):
    """Stops the program with `message` where an element of `condition` (i1, any shape) is false.

    What the language demands and only the run can tell: strides of a tensor descriptor, overflow in debug
    mode.

    >>> tl.make_tensor_descriptor(p, [m, n], [n, 1], [4, 8])   # n elements must be a multiple of 16 bytes
    """

    condition = operand()
    message = attr()
    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.condition.type.scalar is not int1:
            raise TypeRuleError(f"the condition of tile.check is an i1, got {self.condition.type}")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.check(self, args[0], self.message, None)  # type: ignore[arg-type]
