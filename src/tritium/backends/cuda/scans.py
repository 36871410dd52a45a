"""Scans: a thread's own runs in its registers, the lanes of a chunk by shuffles, chunks before it from shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tritium.backends.cuda import memory, reductions, shared
from tritium.backends.cuda.groups import VARIABLES
from tritium.backends.cuda.registers import Coordinate, Index, Local, coordinate
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType
from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_scan import AddCarries, ScanChunks, StoreTotals
from tritium.passes.layout_policy import MOST_CHUNKS, ScanChunk, scan_chunk

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter
    from tritium.backends.cuda.reductions import Fold


def scan_chunks(e: Emitter, op: Op) -> None:
    assert isinstance(op, ScanChunks)
    targets, layout, fold = _begin_scan(e, op, op.inputs)
    chunk = scan_chunk(layout, op.axis)
    assert chunk is not None

    def line(index: dict[int, Index]) -> None:
        for start in range(0, layout.axes[op.axis].registers, chunk.run):
            running = _scan_run(e, op, fold, targets, index, start, chunk.run)
            if chunk.lanes > 1:
                before = _scan_lanes(e, op, fold, targets, running, chunk)
                _in_front(e, op, fold, targets, index, start, chunk, before)

    reductions.each_register(e, layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)


def _at(op: ScanChunks | AddCarries, index: dict[int, Index], register: Index) -> Coordinate:
    rank = len(op.results[0].type.shape)
    return tuple(register if a == op.axis else index[a] for a in range(rank))


def _scan_run(
    e: Emitter,
    op: ScanChunks,
    fold: Fold,
    targets: Sequence[Local],
    index: dict[int, Index],
    start: int,
    count: int,
) -> list[Expr]:
    """The scan of `count` registers from `start` on into `targets`; gives the variables that end as what they come to."""
    order = range(start + count - 1, start - 1, -1) if op.reverse else range(start, start + count)
    first = _at(op, index, order[0])
    running = _values(e, targets, [e.text(v, first) for v in op.inputs], "running")
    _set(e, targets, first, running)

    def step(register: Index) -> None:
        at = _at(op, index, register)
        _step(e, fold, running, [e.text(v, at) for v in op.inputs])
        _set(e, targets, at, running)

    if e.spelled or count <= 2:
        for r in order[1:]:
            step(r)
        return running
    i = Expr(VARIABLES[sum(isinstance(x, Expr) for x in index.values())])
    e.w.pragma("unroll")
    forward = f"int {i} = {start + 1}; {i} < {start + count}; ++{i}"
    with e.w.block(
        f"for (int {i} = {start + count - 2}; {i} >= {start}; --{i})" if op.reverse else f"for ({forward})"
    ):
        step(i)
    return running


def _lane(chunk: ScanChunk) -> str:
    """The number of this lane among those of a chunk."""
    part = "threadIdx.x" if chunk.stride == 1 else f"threadIdx.x / {chunk.stride}"
    return f"{part} % {chunk.lanes}"


def _scan_lanes(
    e: Emitter,
    op: ScanChunks,
    fold: Fold,
    targets: Sequence[Local],
    running: Sequence[Expr],
    chunk: ScanChunk,
) -> list[Expr]:
    """What the runs of the lanes before come to, in fresh variables; nothing that counts in the first lane."""
    move = "from_lane_after" if op.reverse else "from_lane_before"
    by = 1
    while by < chunk.lanes:
        left = _values(e, targets, [e.helper(move, x, str(by * chunk.stride)) for x in running], "left")
        _step(e, fold, left, running)
        reached = f"{_lane(chunk)} < {chunk.lanes - by}" if op.reverse else f"{_lane(chunk)} >= {by}"
        e.w.all(f"{x} = {reached} ? {y} : {x};" for x, y in zip(running, left, strict=True))
        by *= 2
    return _values(e, targets, [e.helper(move, x, str(chunk.stride)) for x in running], "before")


def _in_front(
    e: Emitter,
    op: ScanChunks | AddCarries,
    fold: Fold,
    targets: Sequence[Local],
    index: dict[int, Index],
    start: int,
    chunk: ScanChunk,
    before: Sequence[Expr],
) -> None:
    """`before` in front of the registers of a run, except in the first lane."""
    first = f"{_lane(chunk)} == {chunk.lanes - 1 if op.reverse else 0}"
    _each(e, index, start, chunk.run, lambda r: _replaced(e, fold, targets, _at(op, index, r), before, first))


def _each(e: Emitter, index: dict[int, Index], start: int, count: int, body: Callable[[Index], None]) -> None:
    """`body` for the registers from `start` on: a loop, or one copy each."""
    if e.spelled or count <= 2:
        for r in range(start, start + count):
            body(r)
        return
    i = Expr(VARIABLES[sum(isinstance(x, Expr) for x in index.values())])
    e.w.pragma("unroll")
    with e.w.block(f"for (int {i} = {start}; {i} < {start + count}; ++{i})"):
        body(i)


def _replaced(
    e: Emitter, fold: Fold, targets: Sequence[Local], at: Coordinate, before: Sequence[Expr], first: str
) -> None:
    values = [t.at(at) for t in targets]
    made = _values(e, targets, before, "sum")
    _step(e, fold, made, values)
    e.w.all(f"{v} = {first} ? {v} : {m};" for v, m in zip(values, made, strict=True))


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
    chunk = scan_chunk(layout, op.axis)
    assert chunk is not None
    lane = f"{_lane(chunk)} == {0 if op.reverse else chunk.lanes - 1}"
    last = [Expr(lane, 9)] if chunk.lanes > 1 else []

    def line(index: dict[int, Index]) -> None:
        for start in range(0, layout.axes[op.axis].registers, chunk.run):
            register = start if op.reverse else start + chunk.run - 1
            at = tuple(register if a == op.axis else index[a] for a in range(len(layout.axes)))
            slot = _total(
                e, op.buffer, layout, op.axis, index, _own_chunk(e, layout, op.axis, op.chunk, start)
            )
            conditions = [*last, *memory.first_of_replicas(e, layout), *memory.inside(e, layout, at)]
            text = f"{slot} = {e.text(op.x, at)};"
            e.w.line(f"if ({' && '.join(c.within(6) for c in conditions)}) {text}" if conditions else text)

    reductions.each_register(e, layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)


def _total(
    e: Emitter, buffer: Value, layout: RegisterLayout, axis: int, index: dict[int, Index], which: Expr
) -> Expr:
    """The place of the total of chunk `which` of this thread's line."""
    places: list[Expr] = []
    for a, side in enumerate(layout.axes):
        if a == axis:
            places.append(which)
            continue
        at = coordinate(e.thread_coordinate(layout, a), side, index[a])
        if (
            side.overhangs
        ):  # threads outside the tile compute nothing that counts, but must not read elsewhere
            at = Expr(f"min({at}, {side.extent - 1})")
        places.append(at)
    return shared.slot(e, buffer, places, None)


def _own_chunk(e: Emitter, layout: RegisterLayout, axis: int, chunk: int, register: int) -> Expr:
    """The number of the chunk that a register of this thread lies in."""
    at = coordinate(e.thread_coordinate(layout, axis), layout.axes[axis], register)
    return at if chunk == 1 or at == "0" else binary("/", at, Expr(str(chunk)))


def add_carries(e: Emitter, op: Op) -> None:
    assert isinstance(op, AddCarries)
    targets, layout, fold = _begin_scan(e, op, op.parts)
    chunk = scan_chunk(layout, op.axis)
    assert chunk is not None
    starts = range(0, layout.axes[op.axis].registers, chunk.run)
    owns: list[_Own] = []
    for start in starts:
        name = Expr(e.names.fresh("own_chunk"))
        e.w.line(f"int {name} = {_own_chunk(e, layout, op.axis, op.chunk, start)};")
        low = layout.axes[op.axis].register_offset(start)
        high = low + sum((count - 1) * step for _, count, step in layout.axes[op.axis].thread_terms())
        owns.append(_Own(name, low // op.chunk, high // op.chunk))
    ty = op.totals[0].type
    assert isinstance(ty, SharedType)
    chunks = ty.dims[op.axis]

    def line(index: dict[int, Index]) -> None:
        carries = _carries(e, op, fold, targets, index, owns, chunks)
        for start, own, carry in zip(starts, owns, carries, strict=True):
            end = chunks - 1 if op.reverse else 0
            first = f"{own.name} == {end}" if own.low <= end <= own.high else None

            def one(register: Index, carry: list[Expr] = carry, first: str | None = first) -> None:
                at = _at(op, index, register)
                _carried(e, fold, targets, at, carry, [e.text(v, at) for v in op.parts], first)

            _each(e, index, start, chunk.run, one)

    reductions.each_register(e, layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)


@dataclass(frozen=True)
class _Own:
    """The number of the chunk that a run of this thread lies in: a variable, and between which numbers it is."""

    name: Expr
    low: int
    high: int


def _carries(
    e: Emitter,
    op: AddCarries,
    fold: Fold,
    targets: Sequence[Local],
    index: dict[int, Index],
    owns: Sequence[_Own],
    chunks: int,
) -> list[list[Expr]]:
    """For each run of this thread what all chunks before its own come to: one walk over the totals of the line."""
    layout = e.layout(op.results[0])

    def totals(which: Expr) -> list[Expr]:
        return [_total(e, b, layout, op.axis, index, which) for b in op.totals]

    c = Expr(e.names.fresh("chunk"))
    running = _values(e, targets, totals(Expr(str(chunks - 1 if op.reverse else 0))), "total")
    carries = [_values(e, targets, running, "carry") for _ in owns]
    edges = sorted({1, chunks, *(n for own in owns for n in (own.low, own.high + 1) if 1 < n < chunks)})
    if op.reverse:
        edges = sorted(
            {0, chunks - 1, *(n for own in owns for n in (own.low, own.high + 1) if 0 < n < chunks - 1)}
        )
    parts = list(pairwise(edges))
    for low, high in reversed(parts) if op.reverse else parts:
        e.w.pragma("unroll" if chunks <= MOST_CHUNKS else "unroll 1")
        head = (
            f"int {c} = {high - 1}; {c} >= {low}; --{c}"
            if op.reverse
            else f"int {c} = {low}; {c} < {high}; ++{c}"
        )
        with e.w.block(f"for ({head})"):
            for own, carry in zip(owns, carries, strict=True):
                if own.low <= low and high - 1 <= own.high:
                    e.w.all(f"if ({own.name} == {c}) {x} = {y};" for x, y in zip(carry, running, strict=True))
            _step(e, fold, running, totals(c))
    return carries


def _carried(
    e: Emitter,
    fold: Fold,
    targets: Sequence[Local],
    at: Coordinate,
    carry: Sequence[Expr],
    values: Sequence[Expr],
    first: str | None,
) -> None:
    """One element: itself in the first chunk, else the carry and then itself. `first` is None where it is never there."""
    made = _values(e, targets, carry, "sum")
    _step(e, fold, made, values)
    if first is None:
        _set(e, targets, at, made)
        return
    chosen = [Expr(f"{first} ? {v} : {m}", 3) for v, m in zip(values, made, strict=True)]
    _set(e, targets, at, chosen)
