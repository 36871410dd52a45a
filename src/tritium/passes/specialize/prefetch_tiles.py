"""Load the next iteration's tiles into registers while this one's are multiplied, with two stages of shared memory.

Before (with layouts; one dot of a loop, both operands made of loads)::

    for k in range(lo, hi, step):                 operands(k): loads and pure ops on them
        acc = dot(operands(k), acc)

After::

    store operands(lo) to stage 0; barrier
    for k in range(lo, hi, step), stage:
        next = operands(k + step)                 masked by k + step < hi: under way during the arithmetic
        acc = gpu.dot_fma(stage, acc)
        store next to stage ^ 1; barrier
        stage = stage ^ 1

Legal if nothing in the loop writes memory that the early loads could read. Rejected loops keep the plain lowering.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import int32
from tritium.ops.arithmetic import Add
from tritium.ops.base import Effect, TileOp
from tritium.ops.bitwise import And, Xor
from tritium.ops.compare import Greater, Less
from tritium.ops.control import For, While, Yield
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import Barrier, ConvertLayout, DotFma, SharedStore
from tritium.ops.memory import Load
from tritium.ops.shape import Broadcast
from tritium.passes.lower_to_machine import DotBuffers, SharedSpace

NAME = "prefetch_tiles"
STAGES = 2
MOST_REGISTERS = 192
"""Elements of the next tiles and sums that a thread may hold: of 255 registers, addresses and masks take the rest."""


@dataclass(frozen=True)
class PrefetchPlan:
    """One dot of one loop. `ops` compute its operands, in program order; `advance` the next values of what they carry."""

    dot: Dot
    loop: For
    ops: tuple[Op, ...]
    advance: tuple[Op, ...]

    def __str__(self) -> str:
        loads = sum(isinstance(op, Load) for op in self.ops)
        return f"{loads} loads one iteration ahead in registers, two stages of shared memory, one barrier an iteration"


def match_prefetch(dot: Dot) -> PrefetchPlan | Reject:
    """A dot directly in a loop whose operands need only loads, loop-carried pointers and the counter."""
    loop = dot.parent_op()
    with matching() as m:
        m.require(isinstance(loop, For), "the dot is not directly in a counted loop", at=dot)
        assert isinstance(loop, For)
        body = loop.body
        m.require(
            isinstance(loop.step.defining_op, Constant), "the loop's step is known only at run time", at=loop
        )
        quiet = all(_reads_at_most(op) for op in body.ops)
        m.require(quiet, "the loop writes memory that an early load could miss", at=loop)
        m.require(len(dot.result.type.shape) == 2, "the dot has a batch axis", at=dot)
        m.require(
            not any(isinstance(x, (For, While)) for x in body.walk()), "a loop is nested in it", at=loop
        )
        ops = _slice(body, [dot.a, dot.b])
        m.require(ops is not None, "an operand of the dot is computed from more than loads", at=dot)
        assert ops is not None
        m.require(
            any(isinstance(op, Load) for op in ops), "no operand of the dot is loaded in the loop", at=dot
        )
        carried = [a for a in body.args[1:] if any(user in ops for user, _ in a.uses)]
        nexts = [body.ops[-1].operands[a.index - 1] for a in carried]
        advance = _slice(body, nexts)
        m.require(
            advance is not None and not any(isinstance(op, Load) for op in advance),
            "an address is carried through the loop by more than arithmetic",
            at=loop,
        )
        assert advance is not None
        return PrefetchPlan(dot, loop, tuple(ops), tuple(advance))
    return m.reject


def _too_large(dot: Dot) -> Reject | None:
    """Why the next tiles of a dot on tensor cores cannot wait in registers, if they cannot."""
    held, sums = _registers(dot.a) + _registers(dot.b), _registers(dot.result)
    if held + sums <= MOST_REGISTERS:
        return None
    rule = f"{held} elements per thread do not fit beside {sums} sums"
    return Reject(rule, dot.loc, "smaller tiles or more warps would do")


def _registers(value: Value) -> int:
    layout = layout_of(value)
    return layout.registers if layout is not None else 0


def _reads_at_most(op: Op) -> bool:
    assert isinstance(op, TileOp)
    return not op.effects() & (Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.VOLATILE | Effect.IO)


def _slice(body: Region, wanted: list[Value]) -> list[Op] | None:
    """The ops of `body` that compute `wanted`, in order; None if one is neither a load nor cheap arithmetic."""
    needed: set[Op] = set()
    work = list(wanted)
    while work:
        op = work.pop().defining_op
        if op is None or op in needed or op.parent is not body:
            continue
        assert isinstance(op, TileOp)
        plain = op.is_pure and not op.regions and not isinstance(op, (Dot, ConvertLayout, DotFma))
        if not plain and not (isinstance(op, Load) and not op.volatile):
            return None
        needed.add(op)
        work += op.operands
    return [op for op in body.ops if op in needed]


def apply_prefetch(plan: PrefetchPlan, buffers: DotBuffers, space: SharedSpace) -> None:
    """Rewrite the loop; `buffers` are the two operands' places in shared memory."""
    loop, dot = plan.loop, plan.dot
    before = Builder(loop.parent, dot.loc)  # type: ignore[arg-type]
    with before.before(loop), before.at(dot.loc):
        zero = before.insert(Constant(value=0, type=int32)).result
        starts = dict(zip(loop.body.args, [loop.lower, *loop.inits], strict=True))
        a, b = _operands(plan, before, starts, _goes_on(before, loop, loop.lower))
        before.insert(SharedStore(buffers.a, a, zero))
        before.insert(SharedStore(buffers.b, b, zero))
        before.insert(Barrier())
    stage = loop.body.add_arg(int32, "stage")
    _rewrite_body(plan, buffers, stage, space)
    _carry(loop, zero)


def _rewrite_body(plan: PrefetchPlan, buffers: DotBuffers, stage: Value, space: SharedSpace) -> None:
    loop, dot = plan.loop, plan.dot
    body = loop.body
    first = body.ops[0]
    for op in plan.advance:
        if op is not first:
            op.move_before(first)
        else:
            first = body.ops[1]
    inside = Builder(body, dot.loc)
    end = body.ops[-1]
    with inside.before(first), inside.at(dot.loc):
        iv = body.args[0]
        following = inside.insert(Add(iv, loop.step)).result
        nexts = dict(zip(body.args[1:-1], end.operands, strict=True))
        a, b = _operands(plan, inside, {iv: following, **nexts}, _goes_on(inside, loop, following))
    with inside.before(dot), inside.at(dot.loc):
        result = space.product(inside, dot, buffers, stage)
        one = inside.insert(Constant(value=1, type=int32)).result
        other = inside.insert(Xor(stage, one, result_names=("next_stage",))).result
        inside.insert(SharedStore(buffers.a, a, other))
        inside.insert(SharedStore(buffers.b, b, other))
        inside.insert(Barrier())
    dot.replace_with([result])
    for op in reversed(plan.ops):
        if not any(r.uses for r in op.results):
            op.erase()
    last = Yield([*end.operands, other], loc=end.loc)
    end.erase()
    body.append(last)


def _carry(loop: For, zero: Value) -> None:
    """Give the loop one more carried value, the stage, starting from `zero`."""
    made = For(loop.lower, loop.upper, loop.step, [*loop.inits, zero], hints=loop.hints, loc=loop.loc,
               body=loop.body, result_names=(*(r.name for r in loop.results), "stage"))  # fmt: skip
    made.attrs["layout"] = (*loop.attrs["layout"], None)
    assert loop.parent is not None
    loop.parent.insert_before(loop, made)
    loop.regions = []
    loop.replace_with(made.results[:-1])


def _goes_on(builder: Builder, loop: For, iv: Value) -> Value:
    """Whether the loop has an iteration for `iv`."""
    step = loop.step.defining_op
    assert isinstance(step, Constant)
    cls = Less if step.value > 0 else Greater
    return builder.insert(cls(iv, loop.upper)).result


def _operands(
    plan: PrefetchPlan, builder: Builder, mapping: dict[Value, Value], more: Value
) -> tuple[Value, Value]:
    """Clones of the operands' ops with `mapping`, their loads masked by the scalar `more`."""
    mapping = dict(mapping)
    for op in plan.ops:
        new = op.clone(mapping)
        if isinstance(new, Load):
            new = _masked(builder, new, more)
            mapping[op.results[0]] = new.results[0]
        builder.insert(new)
    a: Value = plan.dot.a
    b: Value = plan.dot.b
    return mapping.get(a, a), mapping.get(b, b)


def _masked(builder: Builder, load: Load, more: Value) -> Load:
    """`load`, which is in no block yet, under the further condition `more`."""
    shape = load.ptr.type.shape
    wide = more
    if shape:
        spread = builder.insert(Broadcast(more, shape=shape))
        spread.attrs["layout"] = load.attrs["layout"]
        wide = spread.result
    mask = wide
    if load.mask is not None:
        both = builder.insert(And(load.mask, wide))
        if shape:
            both.attrs["layout"] = load.attrs["layout"]
        mask = both.result
    made = Load(load.ptr, mask, load.other, loc=load.loc, result_names=(load.result.name,),
                cache=load.cache, eviction=load.eviction, volatile=load.volatile)  # fmt: skip
    if shape:
        made.attrs["layout"] = load.attrs["layout"]
    load.drop_uses()
    return made


def run(function: Function, record: Record, space: SharedSpace) -> None:
    """Match every dot of `function`, which has layouts, then apply the plans: one to a loop."""
    plans: list[PrefetchPlan] = []
    for op in function.find(Dot):
        assert isinstance(op, Dot)
        found = match_prefetch(op)
        if op in space.lent:  # registers for the version of the loop that matters
            found = Reject("the loop is the version for sizes that rule out asynchronous copies", op.loc)
        if isinstance(found, PrefetchPlan) and space.plan_of(op) is not None:
            found = _too_large(op) or found
        if not isinstance(found, Reject) and any(p.loop is found.loop for p in plans):
            found = Reject("another dot of the loop is prefetched already", op.loc)
        if isinstance(found, Reject):
            record.reject(NAME, found)
        else:
            plans.append(found)
    for plan in plans:
        made = space.dot(plan.dot, STAGES)
        if isinstance(made, Reject):
            record.reject(NAME, made)
        else:
            record.plan(NAME, str(plan), at=plan.dot)
            apply_prefetch(plan, made, space)
