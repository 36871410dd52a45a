"""Reductions to machine IR: each warp its part, the parts of several warps through shared memory.

::

    %r = tile.reduce([%x]) {axis = 1}          x: 16 rows, 128 columns on 4 warps side by side
    =>
    %part = gpu.reduce_groups([%x]) {axis = 1, low = 32, groups = 4}
    gpu.shared_store(%parts, %part, _); gpu.barrier()
    %all = gpu.shared_load(%parts, _)          every thread all four parts of its rows
    gpu.barrier()
    %one = gpu.reduce_groups([%all]) {axis = 1, low = 4, groups = 1}
    %r = tile.reshape(%one)                    without the axis

Where one warp holds all of an axis, the first step is the only one. Operators that do not commute keep their order: only
digits below the first that leaves a warp are reduced first, and what is above stays apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.ir.builder import Builder
from tritium.ir.core import Region, Value, clone_region
from tritium.ops import combine as tree
from tritium.ops.extremum import is_extremum
from tritium.ops.gpu_layout import AxisLayout, Digit, RegisterLayout, layout_of
from tritium.ops.gpu_reduce import ReduceGroups
from tritium.ops.gpu_shared import Barrier, SharedLoad, SharedStore
from tritium.ops.reduce import Reduce
from tritium.ops.reshape import Reshape
from tritium.passes.barriers import release
from tritium.passes.lower_to_machine import SharedSpace

WARP = 32
MANY = 4
"""As many parts a thread reads and folds alone; more are left to the lanes of a warp."""


@dataclass(frozen=True)
class GroupPlan:
    """How the first step goes: `low` and `groups` as in `gpu.reduce_groups`, and the axis afterwards."""

    low: int
    groups: int
    axis: AxisLayout


def plan_groups(layout: RegisterLayout, axis: int, commutes: bool) -> GroupPlan:
    """Which digits of the axis a warp reduces by itself."""
    side = layout.axes[axis]
    digits = side.split_at(WARP)
    apart = [
        i for i, d in enumerate(digits) if d.is_thread and d.count > 1 and not _in_warp(d, layout.threads)
    ]
    if not apart:
        return GroupPlan(side.covered, 1, AxisLayout(1))
    first, last = apart[0], apart[-1]
    low = _size(digits[:first])
    together = commutes and not any(
        not d.is_thread or _in_warp(d, layout.threads) for d in digits[first : last + 1]
    )
    kept = digits[first : last + 1] if together else digits[first:]
    groups = min(_size(kept), -(-side.extent // low))
    return GroupPlan(low, groups, AxisLayout(groups, kept if groups > 1 else ()))


def _in_warp(d: Digit, threads: int) -> bool:
    """Whether shuffles reach all values of a thread digit."""
    power = d.count & (d.count - 1) == 0 and d.stride & (d.stride - 1) == 0
    return power and d.stride * d.count <= WARP and threads % WARP == 0


def _size(digits: tuple[Digit, ...]) -> int:
    out = 1
    for d in digits:
        out *= d.count
    return out


def commutes(combine: Region) -> bool:
    """Whether the order in which a combine region meets its operands does not matter."""
    op = tree.single_op(combine)
    return (op is not None and op.commutative) or is_extremum(combine) is not None


def lower_reduce(op: Reduce, space: SharedSpace) -> None:
    """Put the steps in the place of `op`."""
    layout = layout_of(op.inputs[0])
    assert layout is not None and op.parent is not None
    axis = op.axis
    plan = plan_groups(layout, axis, commutes(op.combine))
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        parts = _groups(builder, op, list(op.inputs), plan.low, plan.groups, layout.replace(axis, plan.axis))
        if plan.groups > 1:
            parts = [_gather(builder, op, v, layout, plan, space) for v in parts]
            parts = _groups(builder, op, parts, plan.groups, 1, layout.collapse([axis]))
        results: list[Value] = []
        for part, r in zip(parts, op.results, strict=True):
            made = Reshape(part, shape=r.type.shape, result_names=(r.name,))
            if r.type.shape:
                made.attrs["layout"] = str(layout.drop(axis))
            results.append(builder.insert(made).result)
    op.replace_with(results)


def _groups(
    builder: Builder, op: Reduce, inputs: list[Value], low: int, groups: int, layout: RegisterLayout
) -> list[Value]:
    region = clone_region(op.combine, {}, None)
    made = ReduceGroups(inputs, axis=op.axis, low=low, groups=groups, combine=region)
    made.attrs["layout"] = str(layout)
    return list(builder.insert(made).results)


def _spread(layout: RegisterLayout, axis: int, groups: int) -> Digit:
    """Where the parts of all groups go: to registers, or where many would take many of those, to the lanes of a warp."""
    free = all(not a.thread_terms() for i, a in enumerate(layout.axes) if i != axis)
    lanes = groups > MANY and groups <= WARP and groups & (groups - 1) == 0 and layout.threads % WARP == 0
    return Digit(groups, 1) if free and lanes else Digit(groups)


def _gather(
    builder: Builder, op: Reduce, part: Value, layout: RegisterLayout, plan: GroupPlan, space: SharedSpace
) -> Value:
    """All groups' parts in registers of every thread that needs them."""
    source = layout_of(part)
    target = layout.replace(op.axis, AxisLayout(plan.groups, (_spread(layout, op.axis, plan.groups),)))
    assert source is not None
    buffer = space.scratch(space.policy.conversion("parts", part.type.scalar, source, target), op)  # type: ignore[arg-type]
    builder.insert(SharedStore(buffer, part))
    builder.insert(Barrier())
    made = SharedLoad(buffer, shape=part.type.shape)
    made.attrs["layout"] = str(target)
    builder.insert(made)
    release(builder, op)
    return made.result
