"""Remove what nothing needs: values no effect depends on, carried values included.

Pre:   any tile IR. Post: every op has an effect or feeds one; loops and branches carry and yield only such values.

::

    %r:2 = tile.for(..., [%a, %b]) {            %r = tile.for(..., [%a]) {
    ^(%i, %x, %y):                              ^(%i, %x):
      %y2 = tile.add(%y, %one)          ->
      tile.yield([%x, %y2])                       tile.yield([%x])
    }   // %r#1 has no use                      }

Works from the effects backwards (mark), so a value that only keeps itself alive around a loop goes as well. Loads
whose result is unused go too, unless volatile. A loop without effects is taken to end, as in C.
"""

from __future__ import annotations

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, If, While, Yield

_KEEPS = Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.IO | Effect.VOLATILE


def run(function: Function, record: Record | None = None) -> bool:
    """Eliminate dead ops and dead carried values. Whether anything changed."""
    marker = _Marker()
    marker.region(function.body)
    marker.settle()
    changed = _sweep(function.body, marker.live_ops, marker.live)
    if changed and record is not None:
        record.plan("eliminate_dead", "ops and carried values that nothing needs are gone")
    return changed


class _Marker:
    def __init__(self) -> None:
        self.live: set[Value] = set()
        self.live_ops: set[Op] = set()
        self.work: list[Value] = []

    def region(self, region: Region) -> None:
        for op in region.ops:
            assert isinstance(op, TileOp)
            own = op.effect if op.regions else op.effects()  # what is nested speaks for itself
            waits = (
                isinstance(op, While) and op.effects() & Effect.READ
            )  # for a store of another program instance
            if own & _KEEPS or waits or (op.is_terminator and not isinstance(op, Yield)):
                self.op(op)
            for nested in op.regions:
                self.region(nested)

    def op(self, op: Op) -> None:
        """`op` must run: so must what holds it, and its operands are needed."""
        if op in self.live_ops:
            return
        self.live_ops.add(op)
        holder = op.parent_op()
        if holder is not None:
            self.op(holder)
        if isinstance(op, For):
            for bound in (op.lower, op.upper, op.step):
                self.value(bound)
        elif isinstance(op, If):
            self.value(op.condition)
        elif isinstance(op, While):
            test = op.cond.ops[-1]
            self.live_ops.add(test)
            self.value(test.operands[0])
        elif isinstance(op, Yield) and holder is not None and not isinstance(holder, (For, If, While)):
            for v in op.operands:
                self.value(v)
        elif not isinstance(op, Yield):
            for v in op.operands:
                self.value(v)
            for nested in op.regions:  # a combine region: all of what it yields is needed
                for inner in nested.ops:
                    if inner.is_terminator:
                        self.op(inner)

    def value(self, value: Value) -> None:
        if value not in self.live:
            self.live.add(value)
            self.work.append(value)

    def settle(self) -> None:
        while self.work:
            value = self.work.pop()
            if isinstance(value.owner, Op):
                self.result(value.owner, value.index)
            else:
                self.argument(value.owner, value.index)

    def result(self, op: Op, index: int) -> None:
        self.op(op)
        if isinstance(op, (For, While)):
            self.carried(op, index)
        elif isinstance(op, If):
            for nested in op.regions:
                self.value(nested.ops[-1].operands[index])

    def argument(self, region: Region, index: int) -> None:
        holder = region.parent
        if isinstance(holder, For):
            self.op(holder)
            if index > 0:
                self.carried(holder, index - 1)
        elif isinstance(holder, While):
            self.op(holder)
            self.carried(holder, index)

    def carried(self, loop: For | While, index: int) -> None:
        shift = 1 if isinstance(loop, For) else 0
        self.value(loop.results[index])
        self.value(loop.inits[index])
        self.value(loop.body.args[index + shift])
        if isinstance(loop, While):
            self.value(loop.cond.args[index])
        self.value(loop.body.ops[-1].operands[index])


def _sweep(region: Region, live_ops: set[Op], live: set[Value]) -> bool:
    changed = False
    for op in list(reversed(region.ops)):
        if isinstance(op, Yield):
            continue
        if op not in live_ops:
            for r in op.results:
                r.uses.clear()  # only dead ops use it, and they go as well
            op.erase()
            changed = True
            continue
        if isinstance(op, (For, While, If)):
            changed |= _shrink(op, live)
        for nested in op.regions:
            changed |= _sweep(nested, live_ops, live)
    return changed


def _shrink(op: For | While | If, live: set[Value]) -> bool:
    """Drop the results, carried values and yields that are not live."""
    keep = [i for i, r in enumerate(op.results) if r in live]
    if len(keep) == len(op.results):
        return False
    yields = [r.ops[-1] for r in op.regions if isinstance(r.ops[-1], Yield)]
    if isinstance(op, While):
        yields = [op.body.ops[-1]]
    for end in yields:
        end.set_operands([end.operands[i] for i in keep], (len(keep),))
    if isinstance(op, For):
        op.set_operands([op.lower, op.upper, op.step, *(op.inits[i] for i in keep)], (1, 1, 1, len(keep)))
        _keep_args(op.body, [0, *(i + 1 for i in keep)])
    elif isinstance(op, While):
        op.set_operands([op.inits[i] for i in keep], (len(keep),))
        _keep_args(op.cond, keep)
        _keep_args(op.body, keep)
    layouts = op.attrs.get("layout")
    if isinstance(layouts, tuple):  # one for each result
        op.attrs["layout"] = tuple(layouts[i] for i in keep)
    op.results = [op.results[i] for i in keep]
    for i, r in enumerate(op.results):
        r.index = i
    return True


def _keep_args(region: Region, keep: list[int]) -> None:
    dropped = [a for i, a in enumerate(region.args) if i not in set(keep)]
    region.args = [region.args[i] for i in keep]
    for i, a in enumerate(region.args):
        a.index = i
    for a in dropped:
        a.uses.clear()
