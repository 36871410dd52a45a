"""Move what does not change out of loops.

Pre:   any tile IR. Post: no pure op sits in a loop unless something in that loop feeds it.

::

    tile.for(...) {                            %1 = tile.mul(%x, %y)
      %1 = tile.mul(%x, %y)            ->      tile.for(...) {
      ...                                        ...

Pure ops of tile IR cannot fault (integer division by zero has a value), so they may run where the loop would not
have run at all. Loads stay: whether they may move is a question of memory order and of masks, which
`analysis` answers for the backends that want to know. Ops inside a branch in the loop move too.
"""

from __future__ import annotations

from tritium.ir.core import Function, Op, Region
from tritium.ir.match import Record, Reject
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, While


def run(function: Function, record: Record | None = None) -> bool:
    """Hoist loop-invariant ops, inner loops first. Whether anything changed."""
    return _region(function.body, record if record is not None else Record())


def _region(region: Region, record: Record) -> bool:
    changed = False
    for op in list(region.ops):
        for nested in op.regions:
            changed |= _region(nested, record)
        if isinstance(op, (For, While)):
            for nested in op.regions:
                changed |= _hoist(nested, op, record)
    return changed


def _hoist(region: Region, loop: Op, record: Record) -> bool:
    changed = False
    for op in list(region.ops):
        if (
            isinstance(op, TileOp)
            and not op.regions
            and op.effects() is Effect.READ
            and not _depends_on(op, loop)
        ):
            record.reject(
                "hoist_invariants", Reject("a load stays in its loop: memory may change in between", op.loc)
            )
        if isinstance(op, TileOp) and _movable(op) and not _depends_on(op, loop):
            op.move_before(loop)
            if op.operands:  # that a literal stands outside is no news
                record.plan("hoist_invariants", f"{op.name} runs once, before the loop", op)
            changed = True
        elif not (isinstance(op, (For, While)) or (isinstance(op, TileOp) and op.isolated)):
            for nested in op.regions:
                changed |= _hoist(nested, loop, record)
    return changed


def _movable(op: TileOp) -> bool:
    return op.speculatable and not op.is_terminator and op.effects() is Effect.PURE


def _depends_on(op: Op, loop: Op) -> bool:
    return any(
        _defined_in(v.owner, loop) for inner in op.walk() for v in inner.operands if not _own(v.owner, op)
    )


def _own(owner: Op | Region, op: Op) -> bool:
    """Whether a value is defined inside `op` itself (its combine region's arguments and ops)."""
    return _defined_in(owner, op)


def _defined_in(owner: Op | Region, holder: Op) -> bool:
    here: Op | Region | None = owner if isinstance(owner, Region) else owner.parent
    while isinstance(here, Region):
        parent = here.parent
        if parent is holder:
            return True
        here = parent.parent if isinstance(parent, Op) else None
    return False
