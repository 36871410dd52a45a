"""The memory operations of a kernel, numbered, with what the race checks must know of each."""

from __future__ import annotations

import numpy as np

from tritium.ir.core import Function, Op, Value
from tritium.ops.base import Effect, TileOp
from tritium.sanitizer.flow import passed_from


class Sites:
    """Per op by its number: whether it is atomic, whether it may read next to atomic writes, how wide its tile is.

    synchronise   whether some op orders more than itself
    """

    def __init__(self, function: Function) -> None:
        touching = Effect.READ | Effect.WRITE | Effect.ATOMIC
        ops = [op for op in function.walk() if isinstance(op, TileOp) and not op.regions]
        self.ops: list[Op] = [op for op in ops if op.operands and op.effects() & touching]
        self.number = {op: i for i, op in enumerate(self.ops)}
        validated = _validated_loads(function)
        self.atomic = np.array([is_atomic(op) for op in self.ops] or [False])
        self.atomic_read = np.array([is_volatile(op) or op in validated for op in self.ops] or [False])
        self.width = np.array([op.operands[0].type.numel for op in self.ops] or [1])
        self.synchronise = any(synchronises(op) for op in self.ops)


def is_atomic(op: Op) -> bool:
    return isinstance(op, TileOp) and bool(op.effects() & Effect.ATOMIC)


def synchronises(op: Op) -> bool:
    """Whether an atomic operation orders more than itself: a scalar one whose order is not relaxed."""
    return is_atomic(op) and op.operands[0].type.numel == 1 and op.attrs.get("sem") != "relaxed"


def is_volatile(op: Op) -> bool:
    return bool(getattr(op, "volatile", False))


def _validated_loads(function: Function) -> set[Op]:
    """Loads whose value a compare-and-swap compares with memory: one that came too early changes nothing."""
    found: set[Op] = set()
    for op in function.walk():
        if op.name == "tile.atomic_cas":
            seen: set[Value] = set()
            waiting = [op.operands[1]]
            while waiting:
                value = waiting.pop()
                if value not in seen:
                    seen.add(value)
                    waiting.extend(passed_from(value))
                    if isinstance(value.owner, Op) and value.owner.name == "tile.load":
                        found.add(value.owner)
    return found
