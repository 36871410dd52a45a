"""Sorting and counting to machine IR.

Of a few elements of long lines, every warp selects as many from its part, and then every warp from what all selected::

    %r = tile.sort(%x) {k = 8}   gpu.top_groups; gpu.shared_store; barrier; gpu.shared_load; barrier; gpu.top_groups

Long lines are sorted in shared memory by a network whose comparators all threads share::

    %r = tile.sort(%x)           gpu.shared_store; barrier; gpu.sort_lines; gpu.shared_load

Else every thread finds the rank of its elements by comparing them with their whole line in shared memory, and writes them
there: n comparisons for each of n elements, without any exchange between. Histograms count in shared memory::

    %r = tile.sort(%x)           gpu.shared_store; barrier; gpu.rank; gpu.shared_scatter to a second buffer; barrier; load
    %h = tile.histogram(%x)      zeros to shared memory; barrier; gpu.shared_count; barrier; load
"""

from __future__ import annotations

from math import prod

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Reject
from tritium.ir.types import DType, int32, tile
from tritium.ops.base import TileOp
from tritium.ops.create import Constant
from tritium.ops.gpu_layout import AxisLayout, Digit, RegisterLayout, layout_of
from tritium.ops.gpu_shared import ALIGNMENT, Barrier, SharedAlloc, SharedLoad, SharedStore
from tritium.ops.gpu_sort import TOP_TYPES, Rank, SharedCount, SharedScatter, SortLines, TopGroups
from tritium.ops.histogram import Histogram
from tritium.ops.sort import Sort
from tritium.passes.barriers import release
from tritium.passes.lower_reductions import WARP, GroupPlan, plan_groups
from tritium.passes.lower_to_machine import SharedSpace, shared_bytes

SHORT = 32
"""Lines of so many elements are ranked, each by comparison with all others."""
MOST_SELECTED = 32
"""As many elements are selected in registers; each thread holds that many."""


def run(function: Function, space: SharedSpace) -> None:
    """Lower in place."""
    for op in list(function.walk()):
        if isinstance(op, Sort):
            _sort(op, space)
        elif isinstance(op, Histogram):
            _histogram(op, space)


def _buffer(op: Op, space: SharedSpace, label: str, element: object, shape: tuple[int, ...]) -> Value:
    order = tuple(reversed(range(len(shape))))
    return space.scratch(SharedAlloc(label=label, element=element, shape=shape, order=order), op)


def _load(builder: Builder, op: Op, buffer: Value, result: Value, layout: RegisterLayout) -> Value:
    made = builder.insert(SharedLoad(buffer, shape=result.type.shape, result_names=(result.name,)))
    made.attrs["layout"] = str(layout)
    release(builder, op)
    return made.result


def _sort(op: Sort, space: SharedSpace) -> None:
    plan = _selection(op)
    if isinstance(plan, GroupPlan):
        _select(op, plan, space)
    elif _long(op, space):
        _sort_in_place(op, space)
    else:
        _rank(op, space)


def _long(op: Sort, space: SharedSpace) -> bool:
    """Whether lines are long enough for the steps of a network, and of elements that it can fill up with."""
    scalar = op.x.type.scalar
    assert isinstance(scalar, DType)
    *lines, extent = op.x.type.shape
    needed = prod(lines) * (1 << (extent - 1).bit_length()) * scalar.itemsize
    room = space.limit - shared_bytes(space.function) - ALIGNMENT
    return extent > SHORT and not scalar.is_bool() and not scalar.is_fp8() and needed <= room


def _sort_in_place(op: Sort, space: SharedSpace) -> None:
    """All of a line in shared memory, and of that the first elements back."""
    target = layout_of(op.result)
    assert target is not None and op.parent is not None
    *lines, extent = op.x.type.shape
    buffer = _buffer(op, space, "lines", op.x.type.scalar, (*lines, 1 << (extent - 1).bit_length()))
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        builder.insert(SharedStore(buffer, op.x))
        builder.insert(Barrier())
        builder.insert(SortLines(buffer, extent=extent, descending=op.descending))
        made = _load(builder, op, buffer, op.result, target)
    op.replace_with([made])


def _selection(op: Sort) -> GroupPlan | Reject:
    """How warps select the first few elements of each line, or why every element is ranked instead."""
    layout = layout_of(op.x)
    assert layout is not None
    extent = op.x.type.shape[-1]
    if op.k is None or op.k > MOST_SELECTED or 2 * op.k > extent:
        return Reject("as many of the elements are wanted as ranking all of them gives", op.loc)
    if op.x.type.scalar not in TOP_TYPES:
        return Reject(f"elements of {op.x.type.scalar} have no keys of 32 or 64 bits", op.loc)
    if layout.threads % WARP:
        return Reject("the last warp is not full, and warps select with all of their lanes", op.loc)
    plan = plan_groups(layout, len(layout.axes) - 1, commutes=True)
    if any(not d.is_thread for d in plan.axis.digits):
        return Reject("registers lie above what tells warps apart", op.loc)
    if plan.groups > 1 and (plan.groups > WARP or any(a.thread_terms() for a in layout.axes[:-1])):
        return Reject("the warps of a line are too many for one to look at what they select", op.loc)
    return plan


def _select(op: Sort, plan: GroupPlan, space: SharedSpace) -> None:
    """Each warp selects from its part of the line, then every warp from what all selected."""
    layout, target = layout_of(op.x), layout_of(op.result)
    assert layout is not None and target is not None and op.parent is not None and op.k is not None
    axis, k = len(layout.axes) - 1, op.k
    registers = Digit(k)
    builder = Builder(op.parent, op.loc)

    def select(x: Value, low: int, groups: int, digits: tuple[Digit, ...]) -> Value:
        made = builder.insert(TopGroups(x, k=k, low=low, groups=groups, descending=op.descending))
        made.attrs["layout"] = str(layout.replace(axis, AxisLayout(groups * k, digits)))
        return made.result

    def exchange(x: Value, wanted: RegisterLayout) -> Value:
        buffer = _buffer(op, space, "selected", x.type.scalar, x.type.shape)
        builder.insert(SharedStore(buffer, x))
        builder.insert(Barrier())
        return _load(builder, op, buffer, x, wanted)

    with builder.before(op), builder.at(op.loc):
        kept = plan.axis.digits if plan.groups > 1 else ()
        found = select(op.x, plan.low, plan.groups, tuple(d for d in (registers, *kept) if d.count > 1))
        if plan.groups > 1:
            lanes = Digit(1 << (plan.groups - 1).bit_length(), 1)
            spread = AxisLayout(plan.groups * k, tuple(d for d in (registers, lanes) if d.count > 1))
            found = exchange(found, layout.replace(axis, spread))
            found = select(found, plan.groups * k, 1, (registers,) if k > 1 else ())
        if layout_of(found) != target:
            found = exchange(found, target)
    op.replace_with([found])


def _rank(op: Sort, space: SharedSpace) -> None:
    source, target = layout_of(op.x), layout_of(op.result)
    assert source is not None and target is not None and op.parent is not None
    lines = _buffer(op, space, "lines", op.x.type.scalar, op.x.type.shape)
    ordered = _buffer(op, space, "ordered", op.x.type.scalar, op.result.type.shape)
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        builder.insert(SharedStore(lines, op.x))
        builder.insert(Barrier())
        rank = builder.insert(Rank(op.x, lines, descending=op.descending))
        rank.attrs["layout"] = str(source)
        builder.insert(SharedScatter(ordered, op.x, rank.result))
        builder.insert(Barrier())
        made = _load(builder, op, ordered, op.result, target)
    op.replace_with([made])


def _histogram(op: Histogram, space: SharedSpace) -> None:
    target = layout_of(op.result)
    assert target is not None and op.parent is not None
    bins = _buffer(op, space, "bins", int32, (op.bins,))
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        zeros: TileOp = builder.insert(Constant(value=0, type=tile(int32, (op.bins,))))
        zeros.attrs["layout"] = str(target)
        builder.insert(SharedStore(bins, zeros.results[0]))
        builder.insert(Barrier())
        builder.insert(SharedCount(bins, op.x, op.mask))
        builder.insert(Barrier())
        made = _load(builder, op, bins, op.result, target)
    op.replace_with([made])
