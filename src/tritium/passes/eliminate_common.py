"""Compute each value once: common subexpressions, region aware.

Pre:   any tile IR. Post: no pure op computes what a pure op in an enclosing scope before it already has.

::

    %1 = tile.add(%x, %y)                      %1 = tile.add(%x, %y)
    tile.for(...) {                            tile.for(...) {
      %2 = tile.add(%x, %y)            ->
      use(%2)                                    use(%1)
    }                                          }

A value found inside a loop or branch is not reused after it. Loads are reused only within one straight run of
ops with nothing in between that may write memory or order it; volatile ones never. Reductions and scans are compared
with their combine regions.
"""

from __future__ import annotations

from typing import Any

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ops.base import Effect, TileOp

Key = tuple[Any, ...]
_ORDERS = Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.VOLATILE


def run(function: Function, record: Record | None = None) -> bool:
    """Eliminate common subexpressions. Whether anything changed."""
    gone: list[Op] = []
    _region(function.body, {}, gone)
    if record is not None:
        for op in gone:
            record.plan("eliminate_common", f"{op.name} reuses an earlier result", op)
    return bool(gone)


def _region(region: Region, known: dict[Key, Op], gone: list[Op]) -> None:
    """Go through `region`; `known` has the pure ops of the scopes around it, and again has only those afterwards."""
    added: list[Key] = []
    loads: dict[Key, Op] = {}
    for op in list(region.ops):
        assert isinstance(op, TileOp)
        effects = op.effects()
        for nested in op.regions:
            _region(nested, {} if op.isolated else known, gone)
        if effects & _ORDERS:
            loads.clear()
        if not op.results or op.is_terminator or (op.regions and not op.isolated):
            continue
        if effects is not Effect.PURE and effects is not Effect.READ:
            continue
        table = known if effects is Effect.PURE else loads
        key = _key(op, {})
        earlier = table.get(key)
        if earlier is not None:
            op.replace_with(earlier.results)
            gone.append(op)
            continue
        table[key] = op
        if table is known:
            added.append(key)
    for key in added:
        del known[key]


def _key(op: TileOp, inner: dict[Value, int]) -> Key:
    """What an op computes: equal for ops that give equal results.

    `inner` numbers the values of the region it is in, where that is a combine region. There the order of operands counts
    even for what is commutative, since the order in which a reduction adds up depends on it.
    """
    operands: list[Value | int] = [inner.get(v, v) for v in op.operands]
    if not inner and op.commutative and len(operands) == 2 and id(op.operands[0]) > id(op.operands[1]):
        operands.reverse()
    attrs = tuple((k, _exact(v)) for k, v in op.attrs.items())
    regions: list[Key] = []
    for region in op.regions:
        for v in region.args:
            inner[v] = len(inner)
        ops: list[Key] = []
        for nested in region.ops:
            assert isinstance(nested, TileOp)
            ops.append(_key(nested, inner))
            for v in nested.results:
                inner[v] = len(inner)
        regions.append((tuple(v.type for v in region.args), *ops))
    return (type(op), tuple(operands), op.segments, attrs, *regions)


def _exact(value: Any) -> Any:
    """Keeps 0 apart from 0.0, -0.0 and False, which compare equal."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_exact, value))
    return (type(value).__name__, repr(value)) if isinstance(value, (bool, int, float)) else value
