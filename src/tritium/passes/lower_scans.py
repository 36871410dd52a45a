"""Scans to machine IR: every warp its chunk, registers first and then lanes; then the totals of the chunks before it.

::

    %r = tile.scan([%x]) {axis = 0}
    =>
    %s = gpu.scan_chunks([%x]) {chunk = 4}
    gpu.store_totals(%totals, %s); gpu.barrier()
    %r = gpu.add_carries([%s], [%totals])
    gpu.barrier()

A line that one warp holds altogether needs the first step only.
"""

from __future__ import annotations

from typing import Any

from tritium.ir.builder import Builder
from tritium.ir.core import Value, clone_region
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_scan import AddCarries, ScanChunks, StoreTotals
from tritium.ops.gpu_shared import Barrier, SharedAlloc
from tritium.ops.scan import Scan
from tritium.passes.barriers import release
from tritium.passes.layout_policy import scan_chunk
from tritium.passes.lower_to_machine import SharedSpace


def lower_scan(op: Scan, space: SharedSpace) -> None:
    """Put the steps in the place of `op`, whose inputs and results are in the layout of `scan_layout`."""
    layout = layout_of(op.results[0])
    assert layout is not None and op.parent is not None
    shape = op.inputs[0].type.shape
    found = scan_chunk(layout, op.axis)
    assert found is not None
    chunk = found.length
    names = tuple(r.name for r in op.results)
    how: dict[str, Any] = {"axis": op.axis, "chunk": chunk, "reverse": op.reverse}
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        first = ScanChunks(
            list(op.inputs), combine=clone_region(op.combine, {}, None), result_names=names, **how
        )
        first.attrs["layout"] = str(layout)
        results = builder.insert(first).results
        if chunk < shape[op.axis]:
            totals: list[Value] = []
            for part in results:
                dims = (*shape[: op.axis], shape[op.axis] // chunk, *shape[op.axis + 1 :])
                order = tuple(reversed(range(len(dims))))
                wanted = SharedAlloc(label="totals", element=part.type.scalar, shape=dims, order=order)
                totals.append(space.scratch(wanted, op))
                builder.insert(StoreTotals(totals[-1], part, **how))
            builder.insert(Barrier())
            last = AddCarries(
                list(results), totals, combine=clone_region(op.combine, {}, None), result_names=names, **how
            )
            last.attrs["layout"] = str(layout)
            results = builder.insert(last).results
            release(builder, op)
    op.replace_with(list(results))
