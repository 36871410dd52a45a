"""Which elements of a value can reach memory: demand, backwards from the stores.

A store under ``mask = (rows < M)[:, None] & ...`` needs its value only where the mask holds. Walking backwards, each
op's ``demand`` facet says which of those conditions carry over to an operand. So the result may be: *these elements are
only needed where rows < M*, and a load whose rows were wrapped (``rows % M``) only to stay in bounds may be read as
a box with zero fill instead, because the wrapped rows are never needed.

::

    demand of acc   where d0 + 64*pid_m < M and d1 + 64*pid_n < N      from the store
    demand of a     where d0 + 64*pid_m < M                           through dot: rows only
    demand of b     where d1 + 64*pid_n < N                           through dot: columns only

No condition means that every element may be needed. A value that no store, branch, address or effect depends on is
*dead* and has demand None. A condition may speak of values that are computed later than the one it is about (the mask of
the store comes after the loads); it never speaks of one trip of a loop where the value is needed by others too. Each
condition lists in `wraps` what would have to overflow for it to be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Function, Op, Region, Value
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, If, While, Yield
from tritium.ops.facts import Atom, Axis, Bound, Trip, merge_wraps

Demand = tuple[Bound, ...]
EVERYTHING: Demand = ()


def either(a: Demand | None, b: Demand | None) -> Demand | None:
    """Needed for one reason or another: only conditions common to both remain."""
    if a is None or b is None:
        return a if b is None else b
    others = {x.key: x for x in b}
    return tuple(replace(x, wraps=merge_wraps(x.wraps, others[x.key].wraps)) for x in a if x.key in others)


class DemandAnalysis:
    """``demand[value]``: the conditions under which an element of `value` is needed; None if never."""

    def __init__(self, function: Function, facts: ValueFacts | None = None) -> None:
        self.facts = facts or ValueFacts(function)
        self._demand: dict[Value, Demand] = {}
        self._region(function.body)

    def __getitem__(self, value: Value) -> Demand | None:
        return self._demand.get(value)

    def _want(self, value: Value, demand: Demand | None) -> bool:
        """Add a reason to need `value`. Whether its demand changed."""
        if demand is None:
            return False
        old = self._demand.get(value)
        new = either(old, tuple(b for b in demand if _holds_for(b, value)))
        assert new is not None
        self._demand[value] = new
        return old is None or len(old) != len(new)

    def _region(self, region: Region) -> None:
        for op in reversed(region.ops):
            assert isinstance(op, TileOp)
            if isinstance(op, (For, While)):
                self._loop(op)
            elif isinstance(op, If):
                self._if(op)
            elif not isinstance(op, Yield):
                self._op(op)

    def _op(self, op: TileOp) -> None:
        results = [self._demand.get(r) for r in op.results]
        wanted: Demand | None = None
        for d in results:
            wanted = either(wanted, d)
        effects = op.effects()
        if effects & (Effect.WRITE | Effect.ATOMIC):
            self._store(op)
            return
        if effects & ~Effect.READ and effects is not Effect.PURE:
            wanted = EVERYTHING
        if wanted is None:
            return
        for i, v in enumerate(op.operands):
            self._want(v, op.demand(wanted, i))
        for nested in op.regions:
            self._everything(nested)

    def _store(self, op: TileOp) -> None:
        """A write needs what it writes where its mask holds, the mask everywhere, and so what takes its place."""
        mask, other = getattr(op, "mask", None), getattr(op, "other", None)
        bounds = self.facts[mask].bounds if mask is not None else EVERYTHING
        for v in op.operands:
            self._want(v, EVERYTHING if v is mask or v is other else bounds)

    def _everything(self, region: Region) -> None:
        for op in region.walk():
            for v in op.operands:
                self._want(v, EVERYTHING)

    def _if(self, op: If) -> None:
        self._want(op.condition, EVERYTHING)
        for region in op.regions:
            self._outputs(region, [self._demand.get(r) for r in op.results])
            self._region(region)

    def _outputs(self, region: Region, wanted: Sequence[Demand | None]) -> bool:
        changed = False
        for v, d in zip(region.ops[-1].operands, wanted, strict=True):
            changed |= self._want(v, d)
        return changed

    def _loop(self, op: For | While) -> None:
        shift = 1 if isinstance(op, For) else 0
        if isinstance(op, For):
            for bound in (op.lower, op.upper, op.step):
                self._want(bound, EVERYTHING)
        else:
            self._want(op.cond.ops[-1].operands[0], EVERYTHING)
        changed = True
        while changed:  # demands only lose conditions, so this ends
            wanted = [self._carried(op, i, shift) for i in range(len(op.results))]
            changed = self._outputs(op.body, wanted)
            for region in op.regions:
                self._region(region)
            again = [self._carried(op, i, shift) for i in range(len(op.results))]
            changed |= any(_size(a) != _size(b) for a, b in zip(wanted, again, strict=True))
        for i, init in enumerate(op.inits):
            self._want(init, self._carried(op, i, shift))

    def _carried(self, op: For | While, i: int, shift: int) -> Demand | None:
        """What is needed of carried value `i`: after the loop, or by the next trip."""
        out = self._demand.get(op.results[i])
        for region in op.regions:
            arg = region.args[i + (shift if region is op.body else 0)]
            inner = self._demand.get(arg)
            out = either(out, None if inner is None else tuple(b for b in inner if _same_every_trip(b, op)))
        return out


def _size(d: Demand | None) -> int:
    return -1 if d is None else len(d)


def _holds_for(bound: Bound, value: Value) -> bool:
    """Whether a condition met at a use of `value` is one for `value` itself.

    If the condition is different in every trip of a loop, and `value` is computed outside of it, then other trips need
    other elements.
    """
    around = set(_loops_around(value.owner.parent if isinstance(value.owner, Op) else value.owner))
    return all(loop in around for atom in bound.atoms() for loop in _loops_of(atom))


def _same_every_trip(bound: Bound, loop: Op) -> bool:
    """Whether a condition means the same in all trips of `loop`, so that it may cross to another trip."""
    return all(loop not in _loops_of(atom) for atom in bound.atoms())


def _loops_of(atom: Atom) -> list[Op]:
    """The loops in whose trips `atom` may differ."""
    if isinstance(atom, Axis):
        return []
    if isinstance(atom, Trip):
        return [atom.loop, *_loops_around(atom.loop.parent)]
    owner = atom.value.owner
    return _loops_around(owner.parent if isinstance(owner, Op) else owner)


def _loops_around(region: Region | None) -> list[Op]:
    found: list[Op] = []
    while region is not None:
        holder = region.parent
        if not isinstance(holder, Op):
            break
        if isinstance(holder, (For, While)):
            found.append(holder)
        region = holder.parent
    return found
