"""Sorting and counting to machine IR.

Every thread finds the rank of its elements by comparing them with their whole line in shared memory, and writes them
there: n comparisons for each of n elements, without any exchange between. Histograms count in shared memory::

    %r = tile.sort(%x)           gpu.shared_store; barrier; gpu.rank; gpu.shared_scatter to a second buffer; barrier; load
    %h = tile.histogram(%x)      zeros to shared memory; barrier; gpu.shared_count; barrier; load
"""

from __future__ import annotations

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import int32, tile
from tritium.ops.base import TileOp
from tritium.ops.create import Constant
from tritium.ops.gpu_layout import RegisterLayout, layout_of
from tritium.ops.gpu_shared import Barrier, SharedAlloc, SharedLoad, SharedStore
from tritium.ops.gpu_sort import Rank, SharedCount, SharedScatter
from tritium.ops.histogram import Histogram
from tritium.ops.sort import Sort
from tritium.passes.lower_to_machine import SharedSpace


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


def _load(builder: Builder, buffer: Value, result: Value, layout: RegisterLayout) -> Value:
    made = builder.insert(SharedLoad(buffer, shape=result.type.shape, result_names=(result.name,)))
    made.attrs["layout"] = str(layout)
    builder.insert(Barrier())
    return made.result


def _sort(op: Sort, space: SharedSpace) -> None:
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
        made = _load(builder, ordered, op.result, target)
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
        made = _load(builder, bins, op.result, target)
    op.replace_with([made])
