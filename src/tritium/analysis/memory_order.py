"""In which order memory operations must stay: tokens.

Every op that touches memory gets a token; `after` lists the tokens it must follow. Two accesses are ordered if one of
them writes and they may overlap (`tritium.analysis.alias`), if one is a barrier, or if both are atomic or volatile.
Two reads are never ordered. Ops that print keep their order among each other.

Tokens are numbered in program order within the function; inside a loop they also order one trip against the next,
which needs no extra edges because a loop body runs in order.
"""

from __future__ import annotations

from tritium.analysis.alias import AliasAnalysis
from tritium.ir.core import Function, Op, Region, Value
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
        self._region(function.body)

    def must_stay(self, first: TileOp, second: TileOp) -> bool:
        """Whether `second`, which comes later in the program, may not be moved in front of `first`."""
        a, b = first.effects(), second.effects()
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

    def _may_overlap(self, first: TileOp, second: TileOp) -> bool:
        p, q = _pointers(first), _pointers(second)
        if not p or not q:
            return True
        return any(self.alias.may_overlap(a, b) for a in p for b in q)

    def _region(self, region: Region) -> None:
        earlier: list[TileOp] = []
        for op in region.ops:
            assert isinstance(op, TileOp)
            if op.is_terminator or op.effects() is Effect.PURE:
                continue
            token = len(self.token)
            self.token[op] = token
            self.after[op] = self._needed(earlier, op)
            earlier.append(op)
            for nested in op.regions:
                self._region(nested)

    def _needed(self, earlier: list[TileOp], op: TileOp) -> tuple[int, ...]:
        """Tokens `op` must follow, without those that another of them already follows."""
        by_token = {self.token[o]: o for o in earlier}
        implied: set[int] = set()
        out: list[int] = []
        for other in reversed(earlier):
            token = self.token[other]
            if token in implied or not self.must_stay(other, op):
                continue
            out.append(token)
            work = [token]
            while work:
                found = work.pop()
                implied.add(found)
                work.extend(t for t in self.after[by_token[found]] if t not in implied)
        return tuple(sorted(out))


def _pointers(op: TileOp) -> list[Value]:
    """The addresses an op goes through, nested ops included."""
    return [
        v
        for inner in op.walk()
        if inner.effects() & _MEMORY and not inner.regions  # type: ignore[attr-defined]
        for v in inner.operands[:1]
        if isinstance(v.type.scalar, PointerType)
    ]
