"""In which order memory operations must stay: tokens.

Every op that touches memory gets a token; `after` lists the tokens it must follow. Two accesses are ordered if one of
them writes and they may overlap (`tritium.analysis.alias`), if one is a barrier, or if both are atomic or volatile.
Two reads are never ordered. Ops that print keep their order among each other.

Tokens are numbered in program order within the function. A loop or branch has a token of its own, for all that happens
in it: `after` names ops of the same region, and what is nested follows whatever the op that holds it follows. Inside a
loop tokens also order one trip against the next, which needs no extra edges because a loop body runs in order.
"""

from __future__ import annotations

from tritium.analysis.alias import AliasAnalysis, AliasClass
from tritium.ir.core import Function, Op, Region
from tritium.ir.types import PointerType
from tritium.ops.base import Effect, TileOp

_MEMORY = Effect.READ | Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.VOLATILE
_STRONG = Effect.ATOMIC | Effect.VOLATILE


class MemoryOrder:
    """Tokens of one function. ``order.token[op]``, ``order.after[op]`` and ``order.must_stay(a, b)``."""

    def __init__(self, function: Function, alias: AliasAnalysis | None = None) -> None:
        self.alias = alias or AliasAnalysis(function)
        self.token: dict[Op, int] = {}
        self.after: dict[Op, tuple[int, ...]] = {}
        self._effects: dict[TileOp, Effect] = {}
        self._touched: dict[TileOp, tuple[AliasClass, ...] | None] = {}
        self._region(function.body)

    def must_stay(self, first: TileOp, second: TileOp) -> bool:
        """Whether `second`, which comes later in the program, may not be moved in front of `first`."""
        a, b = self._effects_of(first), self._effects_of(second)
        if (a | b) & Effect.BARRIER and a & _MEMORY and b & _MEMORY:
            return True
        if a & Effect.IO and b & Effect.IO:
            return True
        if not (a & _MEMORY and b & _MEMORY):
            return False
        if a & _STRONG and b & _STRONG:
            return True
        if not (a | b) & (Effect.WRITE | Effect.ATOMIC):
            return False
        return self._may_overlap(first, second)

    def _effects_of(self, op: TileOp) -> Effect:
        found = self._effects.get(op)
        if found is None:
            found = self._effects[op] = op.effects()
        return found

    def _may_overlap(self, first: TileOp, second: TileOp) -> bool:
        p, q = self._touched_by(first), self._touched_by(second)
        return p is None or q is None or any(self.alias.may_meet(a, b) for a in p for b in q)

    def _touched_by(self, op: TileOp) -> tuple[AliasClass, ...] | None:
        """What the op and those nested in it may touch; None for anything at all."""
        if op not in self._touched:
            self._touched[op] = self._find_touched(op)
        return self._touched[op]

    def _find_touched(self, op: TileOp) -> tuple[AliasClass, ...] | None:
        found: dict[AliasClass, None] = {}
        for inner in op.walk():
            assert isinstance(inner, TileOp)
            effects = inner.effect if inner.regions else self._effects_of(inner)
            if not effects & _MEMORY:
                continue
            pointer = inner.operands[0] if inner.operands else None
            if pointer is None or not isinstance(pointer.type.scalar, PointerType):
                return None
            found[self.alias.class_of(pointer)] = None
        return tuple(found)

    def _region(self, region: Region) -> None:
        order = _Siblings(self)
        for op in region.ops:
            assert isinstance(op, TileOp)
            if op.is_terminator or self._effects_of(op) is Effect.PURE:
                continue
            self.token[op] = len(self.token)
            self.after[op] = tuple(self.token[other] for other in order.add(op))
            for nested in op.regions:
                self._region(nested)


class _Siblings:
    """The ops of one region that have tokens, in order, as bit sets: bit i stands for the i-th of them."""

    def __init__(self, order: MemoryOrder) -> None:
        self.order = order
        self.ops: list[TileOp] = []
        self.before: list[int] = []  # for each op, the set of those it follows, directly or not
        self.all = 0
        self.not_only_reading = 0

    def add(self, op: TileOp) -> list[TileOp]:
        """Append `op`; gives the ops it must follow, without those that another of them already follows."""
        only_reads = self.order._effects_of(op) is Effect.READ
        open_ = self.not_only_reading if only_reads else self.all
        found: list[TileOp] = []
        follows = 0
        while open_:
            last = open_.bit_length() - 1
            open_ ^= 1 << last
            if self.order.must_stay(self.ops[last], op):
                found.append(self.ops[last])
                follows |= 1 << last | self.before[last]
                open_ &= ~follows
        bit = 1 << len(self.ops)
        self.all |= bit
        self.not_only_reading |= 0 if only_reads else bit
        self.ops.append(op)
        self.before.append(follows)
        return found[::-1]
