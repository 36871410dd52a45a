"""Scans: a thread's own run in its registers, then the totals of the runs before it from shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda import memory, reductions, shared
from tritium.backends.cuda.groups import VARIABLES
from tritium.backends.cuda.registers import Coordinate, Index, Local, coordinate
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType
from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_scan import AddCarries, ScanChunks, StoreTotals

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter
    from tritium.backends.cuda.reductions import Fold


def scan_chunks(e: Emitter, op: Op) -> None:
    assert isinstance(op, ScanChunks)
    targets, layout, fold = _begin_scan(e, op, op.inputs)
    count = layout.axes[op.axis].registers
    order = list(range(count - 1, -1, -1) if op.reverse else range(count))

    def line(index: dict[int, Index]) -> None:
        def at(register: Index) -> Coordinate:
            return tuple(register if a == op.axis else index[a] for a in range(len(layout.axes)))

        running = _values(e, targets, [e.text(v, at(order[0])) for v in op.inputs], "running")
        _set(e, targets, at(order[0]), running)
        for r in order[1:] if e.spelled else []:
            _step(e, fold, running, [e.text(v, at(r)) for v in op.inputs])
            _set(e, targets, at(r), running)
        if e.spelled or count == 1:
            return
        i = Expr(VARIABLES[sum(isinstance(x, Expr) for x in index.values())])
        e.w.pragma("unroll")
        head = (
            f"int {i} = {count - 2}; {i} >= 0; --{i}" if op.reverse else f"int {i} = 1; {i} < {count}; ++{i}"
        )
        with e.w.block(f"for ({head})"):
            _step(e, fold, running, [e.text(v, at(i)) for v in op.inputs])
            _set(e, targets, at(i), running)

    reductions.each_register(e, layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)


def _begin_scan(
    e: Emitter, op: ScanChunks | AddCarries, inputs: Sequence[Value]
) -> tuple[list[Local], RegisterLayout, Fold]:
    for v in inputs:
        e.settle(v)
    e.flush()
    e.w.at(op.loc)
    fold = reductions.combiner(e, op.combine)
    layout = e.layout(op.results[0])
    targets = [e.local(r, layout) for r in op.results]
    e.w.all(f"{t.declaration()};" for t in targets if t.is_array)
    return targets, layout, fold


def _values(e: Emitter, targets: Sequence[Local], values: Sequence[Expr], what: str) -> list[Expr]:
    """`values` in fresh variables."""
    out: list[Expr] = []
    for target, v in zip(targets, values, strict=True):
        name = e.names.fresh(f"{target.name}_{what}")
        e.w.line(f"{target.type} {name} = {v};")
        out.append(Expr(name))
    return out


def _step(e: Emitter, fold: Fold, running: Sequence[Expr], values: Sequence[Expr]) -> None:
    """Fold `values` onto the right of `running`."""
    e.w.all(fold.lines(e, running, values))


def _set(e: Emitter, targets: Sequence[Local], at: Coordinate, values: Sequence[Expr]) -> None:
    for target, v in zip(targets, values, strict=True):
        head = target.at(at) if target.is_array else f"{target.type} {target.at(at)}"
        e.w.line(f"{head} = {v};")


def store_totals(e: Emitter, op: Op) -> None:
    assert isinstance(op, StoreTotals)
    e.settle(op.x)
    e.flush()
    e.w.at(op.loc)
    layout = e.layout(op.x)
    last = 0 if op.reverse else layout.axes[op.axis].registers - 1

    def line(index: dict[int, Index]) -> None:
        at = tuple(last if a == op.axis else index[a] for a in range(len(layout.axes)))
        slot = _total(e, op.buffer, layout, op.axis, op.chunk, index, None)
        conditions = [*memory.first_of_replicas(e, layout), *memory.inside(e, layout, at)]
        text = f"{slot} = {e.text(op.x, at)};"
        e.w.line(f"if ({' && '.join(c.within(6) for c in conditions)}) {text}" if conditions else text)

    reductions.each_register(e, layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)


def _total(
    e: Emitter,
    buffer: Value,
    layout: RegisterLayout,
    axis: int,
    chunk: int,
    index: dict[int, Index],
    which: Expr | None,
) -> Expr:
    """The place of a chunk's total in this thread's line: its own, or number `which`."""
    places: list[Expr] = []
    for a, side in enumerate(layout.axes):
        if a == axis:
            places.append(which if which is not None else _own_chunk(e, layout, axis, chunk))
            continue
        at = coordinate(e.thread_coordinate(layout, a), side, index[a])
        if (
            side.overhangs
        ):  # threads outside the tile compute nothing that counts, but must not read elsewhere
            at = Expr(f"min({at}, {side.extent - 1})")
        places.append(at)
    return shared.slot(e, buffer, places, None)


def _own_chunk(e: Emitter, layout: RegisterLayout, axis: int, chunk: int) -> Expr:
    at = e.thread_coordinate(layout, axis)
    return at if chunk == 1 or at == "0" else binary("/", at, Expr(str(chunk)))


def add_carries(e: Emitter, op: Op) -> None:
    assert isinstance(op, AddCarries)
    targets, layout, fold = _begin_scan(e, op, op.parts)
    count = layout.axes[op.axis].registers
    ty = op.totals[0].type
    assert isinstance(ty, SharedType)
    chunks = ty.dims[op.axis]
    others = [a for a in range(len(layout.axes)) if a != op.axis]
    own = _own_chunk(e, layout, op.axis, op.chunk)

    def line(index: dict[int, Index]) -> None:
        def at(register: Index) -> Coordinate:
            return tuple(register if a == op.axis else index[a] for a in range(len(layout.axes)))

        def totals(which: Expr) -> list[Expr]:
            return [_total(e, b, layout, op.axis, op.chunk, index, which) for b in op.totals]

        c = Expr(e.names.fresh("chunk"))
        start = Expr(str(chunks - 1 if op.reverse else 0))
        carry = _values(e, targets, totals(start), "carry")
        more = (
            f"int {c} = {chunks - 2}; {c} > {own}; --{c}"
            if op.reverse
            else f"int {c} = 1; {c} < {own}; ++{c}"
        )
        with e.w.block(f"for ({more})"):
            _step(e, fold, carry, totals(c))
        first = f"{own} == {chunks - 1}" if op.reverse else f"{own} == 0"
        for r in range(count):
            values = [e.text(v, at(r)) for v in op.parts]
            _carried(e, fold, targets, at(r), carry, values, first)

    reductions.each_register(e, layout, others, {}, line)


def _carried(
    e: Emitter,
    fold: Fold,
    targets: Sequence[Local],
    at: Coordinate,
    carry: Sequence[Expr],
    values: Sequence[Expr],
    first: str,
) -> None:
    """One element: itself in the first chunk, else the carry and then itself."""
    made = _values(e, targets, carry, "sum")
    _step(e, fold, made, values)
    chosen = [Expr(f"{first} ? {v} : {m}", 3) for v, m in zip(values, made, strict=True)]
    _set(e, targets, at, chosen)
