"""Which loops may wait for another program instance, found in the IR.

A ``while`` can wait if it contains an atomic operation or a volatile load, or if its condition hangs on a load whose
address stays the same from one iteration to the next. Such kernels run under the fair scheduler (`scheduler`), and an
instance that comes back to the loop's start with the same state, while memory has not changed, is spinning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tritium.ir.core import Op, Region, Value
from tritium.ops.base import Effect, TileOp


class Spin(NamedTuple):
    """A loop that may wait. `state`: the carried values (by index) on which its effects and its end depend."""

    op: Op
    state: tuple[int, ...]


def find_spins(ops: Iterable[Op]) -> dict[Op, Spin]:
    """The loops among `ops` that may wait."""
    found: dict[Op, Spin] = {}
    for op in ops:
        if op.name == "tile.while":
            spin = _spin(op)
            if spin is not None:
                found[op] = spin
    return found


def _spin(loop: Op) -> Spin | None:
    inner = list(_inside(loop))
    waits = any(_own_effects(op) & (Effect.ATOMIC | Effect.VOLATILE) for op in inner) or _polls(loop, inner)
    if not waits:
        return None
    cond, body = loop.regions
    seeds = list(_yields(cond))
    for op in inner:
        if op.regions or _own_effects(op) is not Effect.PURE:
            seeds.extend(op.operands)
    _, carried = _backward(loop, seeds, len(body.args))
    return Spin(loop, tuple(sorted(carried)))


def _polls(loop: Op, inner: list[Op]) -> bool:
    """Whether the condition hangs on a load from an address that does not change within the loop."""
    loads = [op for op in inner if op.name == "tile.load"]
    if not loads:
        return False
    cond, body = loop.regions
    feeding, _ = _backward(loop, list(_yields(cond)), len(body.args))
    for load in loads:
        if load.results[0] in feeding:
            _, carried = _backward(loop, list(load.operands), len(body.args))
            if not carried:
                return True
    return False


def _own_effects(op: Op) -> Effect:
    if not isinstance(op, TileOp):
        return Effect.PURE
    return op.effect if op.regions else op.effects()


def _inside(loop: Op) -> Iterable[Op]:
    waiting: list[Region] = list(loop.regions)
    while waiting:
        region = waiting.pop()
        for op in region.ops:
            yield op
            waiting.extend(op.regions)


def _yields(region: Region) -> tuple[Value, ...]:
    return tuple(region.terminator.operands) if region.terminator is not None else ()


def _backward(loop: Op, seeds: list[Value], carried_count: int) -> tuple[set[Value], set[int]]:
    """Everything inside `loop` that `seeds` are computed from, and the carried values among it (by index)."""
    cond, body = loop.regions
    next_values = _yields(body)
    seen: set[Value] = set()
    carried: set[int] = set()
    waiting = list(seeds)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if owner is cond or owner is body:
            if value.index < carried_count:
                carried.add(value.index)
                waiting.extend((cond.args[value.index], body.args[value.index], next_values[value.index]))
        elif isinstance(owner, Region):  # an argument of a nested region: whatever its op reads
            if isinstance(owner.parent, Op):
                waiting.extend(_all_reads(owner.parent))
        elif owner.is_inside(cond) or owner.is_inside(body):
            waiting.extend(_all_reads(owner))
    return seen, carried


def _all_reads(op: Op) -> list[Value]:
    reads = list(op.operands)
    for region in op.regions:
        for nested in region.ops:
            reads.extend(_all_reads(nested))
    return reads
