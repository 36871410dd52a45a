"""Compute each value once: common subexpressions, region aware.

Pre:   any tile IR. Post: no pure op computes what a pure op in an enclosing scope before it already has.

::

    %1 = tile.add(%x, %y)                      %1 = tile.add(%x, %y)
    tile.for(...) {                            tile.for(...) {
      %2 = tile.add(%x, %y)            ->
      use(%2)                                    use(%1)
    }                                          }

A value found inside a loop or branch is not reused after it. Loads are reused only within one straight run of
ops with nothing in between that may write memory or order it; volatile ones never.
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


def _region(region: Region, outer: dict[Key, Op], gone: list[Op]) -> None:
    known = dict(outer)
    loads: dict[Key, Op] = {}
    for op in list(region.ops):
        assert isinstance(op, TileOp)
        effects = op.effects()
        if effects is Effect.PURE and not op.regions and not op.is_terminator and op.results:
            table = known
        elif effects is Effect.READ and not op.regions:
            table = loads
        else:
            if effects & _ORDERS:
                loads.clear()
            for nested in op.regions:
                _region(nested, {} if op.isolated else known, gone)
            continue
        key = _key(op)
        earlier = table.get(key)
        if earlier is None:
            table[key] = op
        else:
            op.replace_with(earlier.results)
            gone.append(op)


def _key(op: TileOp) -> Key:
    operands: tuple[Value, ...] = tuple(op.operands)
    if op.commutative and len(operands) == 2 and id(operands[0]) > id(operands[1]):
        operands = (operands[1], operands[0])
    attrs = tuple((k, _exact(v)) for k, v in op.attrs.items())
    return (type(op), operands, op.segments, attrs)


def _exact(value: Any) -> Any:
    """Keeps 0 apart from 0.0, -0.0 and False, which compare equal."""
    return (type(value).__name__, repr(value)) if isinstance(value, (bool, int, float)) else value
