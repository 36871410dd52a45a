"""Copies of the next iterations' tiles run beside the arithmetic of this one: `cp.async` into a ring of stages.

Before (with layouts; dots on tensor cores, operands loaded in the loop)::

    for k in range(lo, hi, step):
        acc = dot(load(p(k)), load(q(k)), acc)

After, with S stages::

    for s in 0 .. S-2:  copy_async(p(lo + s*step) -> stage s); commit          masked by lo + s*step < hi
    for k in range(lo, hi, step), read = 0, write = S-1:
        wait until all but S-2 groups have arrived; barrier
        copy_async(p(k + (S-1)*step) -> stage write); commit                   masked by k + (S-1)*step < hi
        acc = mma(fragments of stage read, acc)
        read, write = the stages after them
    wait for the rest

The barrier serves twice: what was copied is seen by all threads, and all have read the stage that is written next. Values
that addresses are carried in run S-1 iterations ahead. A loop inside another one gets a barrier in front.

Where the loop is one dot of two such loads, wait and barrier come before the last of its instructions, with the fragments
that the next iteration begins with, so that tensor cores never stand still; the copies are started between the others::

    f = fragments of stage 0, step 0
    for k in range(lo, hi, step), read = 0, write = S-1, f:
        step 0:      g = fragments of stage read, step 1; copy_async(...);         acc = mma(f, acc)
        ...
        last step:   wait; barrier; f = fragments of stage read + 1, step 0;       acc = mma(g, acc)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import mask_is_uniform, vectors_of
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import int32
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, If, While
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_async import COPY_BYTES
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import ConvertLayout, DotFma
from tritium.ops.memory import Load
from tritium.passes.lower_to_machine import DotBuffers, SharedSpace
from tritium.passes.mma_dots import operand_buffer
from tritium.passes.specialize.stage_ring import Copied, LoopWriter, PipelinePlan, loaded_element
from tritium.passes.specialize.version_loops import assuming, undecided, version

NAME = "pipeline_loads"
_MOST = 8
"""Elements that an argument is asked at run time to be a multiple of: launches say whether they are of 16."""
STAGES = 3
"""Without a wish of the launch or the loop; what Triton takes."""


def match_pipeline(loop: For, space: SharedSpace, facts: ValueFacts, wanted: int) -> PipelinePlan | Reject:
    """A counted loop that only reads, with dots on tensor cores whose operands it loads."""
    body = loop.body
    with matching() as m:
        dots = [op for op in body.ops if isinstance(op, Dot) and space.plan_of(op) is not None]
        m.require(dots, "no dot on tensor cores is directly in the loop", at=loop)
        stages = int(dict(loop.hints).get("num_stages") or wanted)
        m.require(stages > 1, "one stage is asked for", at=loop, hint="num_stages=2 or more allows it")
        m.require(isinstance(loop.step.defining_op, Constant), "the step is known only at run time", at=loop)
        m.require(loop.body.args[0].type is int32, "the loop counts in another type than int32", at=loop)
        m.require(all(_only_reads(op) for op in body.ops), "the loop writes memory or waits", at=loop)
        nested = any(isinstance(x, (For, While)) for x in body.walk())
        m.require(not nested, "a loop is nested in it", at=loop)
        copies: list[Copied] = []
        for dot in dots:
            for side, value in (("a", dot.a), ("b", dot.b)):
                load = value.defining_op
                if not isinstance(load, Load) or load.parent is not body:
                    continue
                copied = _match_copy(dot, load, side, space, facts)
                m.require(not isinstance(copied, Reject), getattr(copied, "rule", ""), at=load)
                assert isinstance(copied, Copied)
                copies.append(copied)
        m.require(copies, "no operand of a dot is loaded in the loop", at=dots[0])
        sources = [v for c in copies for v in (c.load.ptr, c.load.mask) if v is not None]
        found = _slice(loop, sources)
        m.require(
            found is not None, "an address is computed from more than arithmetic and the counter", at=loop
        )
        assert found is not None
        ops, carried, advance = found
        kept = tuple(dots)
        plans = [space.plan_of(dot) for dot in dots]
        each = max(p.warps.high * p.warps.wide for p in plans if p is not None)
        return PipelinePlan(loop, kept, tuple(copies), ops, carried, advance, stages, _is_nested(loop), each)
    return m.reject


def _match_copy(dot: Dot, load: Load, side: str, space: SharedSpace, facts: ValueFacts) -> Copied | Reject:
    """How `load`, operand `side` of `dot`, is copied without stopping in registers, or why not."""
    with matching() as m:
        m.require(len(load.result.uses) == 1, "the tile has other users than the dot", at=load)
        m.require(not load.volatile, "the load is volatile", at=load)
        m.require(_gives_zero(load), "masked elements are not zero", at=load)
        layout = layout_of(load.result)
        plan = space.plan_of(dot)
        assert layout is not None and plan is not None
        buffer = operand_buffer(dot, plan, side, 1)
        axis = buffer.order[0]
        found = vectors_of(facts, load.ptr, None)
        m.require(
            found.order[0] == axis and found.count > 1,
            "rows are not known to be aligned to 4 bytes or more",
            at=load,
            hint="strides and bases that are multiples of 16 bytes allow asynchronous copies",
        )
        size = buffer.element.itemsize
        vector = 1
        while vector * 2 <= found.count and layout.axes[axis].vector % (vector * 2) == 0:
            vector *= 2
        uniform = load.mask is None
        while vector * size >= COPY_BYTES[0] and not uniform:
            uniform = mask_is_uniform(facts, load.mask, axis, vector)
            vector = vector if uniform else vector // 2
        m.require(
            vector * size >= COPY_BYTES[0],
            "the mask may differ between the elements of 4 bytes",
            at=load,
            hint="a bound that is a multiple of 16 bytes is the same for whole vectors",
        )
        return Copied(load, axis, vector)
    return m.reject


def _gives_zero(load: Load) -> bool:
    if load.mask is None or load.other is None:
        return True
    op = load.other.defining_op
    return isinstance(op, Constant) and op.value == 0


def _only_reads(op: Op) -> bool:
    assert isinstance(op, TileOp)
    return not op.effects() & (Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.VOLATILE | Effect.IO)


def _is_nested(op: Op) -> bool:
    holder = op.parent_op()
    while holder is not None:
        if isinstance(holder, (For, While)):
            return True
        holder = holder.parent_op()
    return False


def _slice(loop: For, wanted: list[Value]) -> tuple[tuple[Op, ...], tuple[int, ...], tuple[Op, ...]] | None:
    """Ops that compute `wanted`, the carried values these need, and ops that advance those; None if not by arithmetic."""
    body = loop.body
    ops = _cone(body, wanted)
    if ops is None:
        return None
    carried: set[int] = set()
    advance: set[Op] = set()
    reached: set[Op] = set(ops)
    seeds = set(wanted)
    while True:
        used = {a.index for a in body.args[1:] if a in seeds or any(user in reached for user, _ in a.uses)}
        if used <= carried:
            break
        carried |= used
        nexts = [body.ops[-1].operands[i - 1] for i in sorted(carried)]
        more = _cone(body, nexts)
        if more is None:
            return None
        advance |= set(more)
        reached |= advance
        seeds |= set(nexts)
    in_order = [op for op in body.ops if op in advance]
    return tuple(op for op in body.ops if op in set(ops)), tuple(sorted(carried)), tuple(in_order)


def _cone(body: Region, wanted: Sequence[Value]) -> list[Op] | None:
    needed: set[Op] = set()
    work = list(wanted)
    while work:
        op = work.pop().defining_op
        if op is None or op in needed or op.parent is not body:
            continue
        assert isinstance(op, TileOp)
        if not op.is_pure or op.regions or isinstance(op, (Dot, ConvertLayout, DotFma, If)):
            return None
        needed.add(op)
        work += op.operands
    return [op for op in body.ops if op in needed]


def run(function: Function, record: Record, space: SharedSpace, wanted: int) -> None:
    """Match every loop with a dot on tensor cores, then apply the plans, with as many stages as there is room for."""
    loops = [op for op in function.find(For) if any(isinstance(x, Dot) for x in op.regions[0].ops)]
    facts = ValueFacts(function) if loops else None
    for loop in loops:
        assert isinstance(loop, For) and facts is not None
        found = match_pipeline(loop, space, facts, wanted)
        if isinstance(found, Reject):
            found = _match_guarded(function, loop, space, facts, wanted) or found
        made = _ring(space, found) if isinstance(found, PipelinePlan) else found
        if isinstance(made, Reject) or isinstance(found, Reject):
            record.reject(NAME, made if isinstance(made, Reject) else found)  # type: ignore[arg-type]
            continue
        stages, buffers = made
        plan = replace(found, stages=stages)
        record.plan(NAME, str(plan), at=loop)
        if plan.guards:
            _, copies = version(loop, plan.guards, plan.multiple)
            space.lent.update({copies[dot]: buffers[dot] for dot in plan.dots})
        LoopWriter(plan, space, buffers).apply()


def _ring(space: SharedSpace, plan: PipelinePlan) -> tuple[int, dict[Dot, DotBuffers]] | Reject:
    return space.ring(plan.dots, plan.stages, {c.load.result for c in plan.copies})


def _match_guarded(
    function: Function, loop: For, space: SharedSpace, facts: ValueFacts, wanted: int
) -> PipelinePlan | None:
    """A plan that holds if some arguments are multiples of a few elements, which is asked at run time."""
    dots = [op for op in loop.body.ops if isinstance(op, Dot) and space.plan_of(op) is not None]
    loads = [v.defining_op for dot in dots for v in (dot.a, dot.b)]
    loads = [op for op in loads if isinstance(op, Load) and op.parent is loop.body]
    if not loads:
        return None
    multiple = max(min(COPY_BYTES[-1] // loaded_element(load).itemsize, _MOST) for load in loads)
    arguments = undecided(function, loads, facts, multiple)
    if not arguments:
        return None
    found = match_pipeline(loop, space, assuming(function, arguments, multiple), wanted)
    if isinstance(found, Reject):
        return None
    kept = list(arguments)
    for arg in arguments:  # bounds of rows are asked for nothing
        fewer = [a for a in kept if a is not arg]
        again = match_pipeline(loop, space, assuming(function, fewer, multiple), wanted) if fewer else None
        if isinstance(again, PipelinePlan) and again.copies == found.copies:
            kept = fewer
    return replace(found, guards=tuple(kept), multiple=multiple)
