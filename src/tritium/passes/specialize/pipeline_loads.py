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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import mask_is_uniform, vectors_of
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import DType, PointerType, int32
from tritium.ops.arithmetic import Add
from tritium.ops.base import Effect, TileOp
from tritium.ops.bitwise import And
from tritium.ops.compare import Equal, Greater, Less
from tritium.ops.control import For, If, While, Yield
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_async import COPY_BYTES, CommitCopies, CopyAsync, WaitCopies
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import Barrier, ConvertLayout, DotFma, SharedStore
from tritium.ops.memory import Load
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast
from tritium.passes.lower_to_machine import DotBuffers, SharedSpace
from tritium.passes.mma_dots import operand_buffer
from tritium.passes.specialize.version_loops import assuming, undecided, version

NAME = "pipeline_loads"
_MOST = 8
"""Elements that an argument is asked at run time to be a multiple of: launches say whether they are of 16."""
STAGES = 3
"""Without a wish of the launch or the loop; what Triton takes."""


@dataclass(frozen=True)
class Copied:
    """A load that becomes asynchronous copies of `vector` elements along `axis`."""

    load: Load
    axis: int
    vector: int


@dataclass(frozen=True)
class PipelinePlan:
    """One loop: its dots on tensor cores, the loads that are copied ahead, and the ring.

    ops      what computes addresses and masks of the copies, in program order
    carried  numbers of the loop's carried values that these use, directly or not
    advance  what computes the next values of those
    guards   arguments that have to be multiples of `multiple`; where they are not, the loop runs as it was
    """

    loop: For
    dots: tuple[Dot, ...]
    copies: tuple[Copied, ...]
    ops: tuple[Op, ...]
    carried: tuple[int, ...]
    advance: tuple[Op, ...]
    stages: int
    nested: bool
    guards: tuple[Value, ...] = ()
    multiple: int = 1

    @property
    def steady(self) -> bool:
        """Whether the first fragments of the next iteration can be read before the last instructions of this one."""
        return len(self.dots) == 1 and len(self.copies) == 2

    def __str__(self) -> str:
        widths = sorted({c.vector * _element(c.load).itemsize for c in self.copies})
        sizes = " and ".join(map(str, widths))
        barrier = "; a barrier in front, as a loop is around it" if self.nested else ""
        early = "; the next iteration's first fragments are read in this one" if self.steady else ""
        names = ", ".join(a.name for a in self.guards)
        guard = f"; where multiples of {self.multiple} are: {names}" if names else ""
        return (
            f"{len(self.copies)} loads {self.stages - 1} iterations ahead by cp.async of {sizes} bytes, "
            f"{self.stages} stages, one barrier an iteration{barrier}{early}{guard}"
        )


def _element(load: Load) -> DType:
    scalar = load.ptr.type.scalar
    assert isinstance(scalar, PointerType) and isinstance(scalar.element_ty, DType)
    return scalar.element_ty


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
        return PipelinePlan(loop, kept, tuple(copies), ops, carried, advance, stages, _is_nested(loop))
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


class _Rewriter:
    """Applies one plan; `buffers` by dot."""

    def __init__(self, plan: PipelinePlan, space: SharedSpace, buffers: dict[Dot, DotBuffers]) -> None:
        self.plan = plan
        self.space = space
        self.buffers = buffers
        self.loop = plan.loop
        step = plan.loop.step.defining_op
        assert isinstance(step, Constant)
        self.step: int = step.value
        assert plan.loop.parent is not None
        self.outside = Builder(plan.loop.parent, plan.loop.loc)
        self.inside = Builder(plan.loop.body, plan.loop.loc)

    def apply(self) -> None:
        """Rewrite the loop."""
        loop, stages, plan = self.loop, self.plan.stages, self.plan
        with self.outside.before(loop):
            starts = self._prologue()
            starts = [self._number(self.outside, 0), self._number(self.outside, stages - 1), *starts]
        body = loop.body
        read, write = body.add_arg(int32, "read"), body.add_arg(int32, "write")
        ahead = {i: body.add_arg(body.args[i].type, body.args[i].name) for i in plan.carried}
        end = body.ops[-1]
        if plan.steady:
            (dot,) = plan.dots
            nexts = self._steady(dot, starts, ahead, read, write)
        else:
            with self.inside.before(body.ops[0]):
                self._wait(self.inside)
                nexts = self._start_next(ahead, write)
            self._dots(read)
            with self.inside.before(end):
                nexts = [self._after(read, "read"), self._after(write, "write"), *nexts]
        self._carry(end, starts, nexts)

    def _wait(self, builder: Builder) -> None:
        builder.insert(WaitCopies(pending=self.plan.stages - 2))
        builder.insert(Barrier())

    def _steady(
        self, dot: Dot, starts: list[Value], ahead: dict[int, Value], read: Value, write: Value
    ) -> list[Value]:
        """The dot with everything else between its steps. Adds what the loop carries for it to `starts`; gives what it
        carries on."""
        buffers = self.buffers[dot]
        with self.outside.before(self.loop):
            self._wait(self.outside)
            starts += self.space.on_tensor_cores(self.outside, dot, buffers, starts[0]).fragments(0)
        body = self.loop.body
        first = [body.add_arg(v.type, v.name) for v in starts[-2:]]
        nexts: list[Value] = []
        fragments: list[Value] = []
        with self.inside.before(dot), self.inside.at(dot.loc):
            read_next = self._after(read, "read")
            now = self.space.on_tensor_cores(self.inside, dot, buffers, read)
            later = self.space.on_tensor_cores(self.inside, dot, buffers, read_next)

            def copies() -> None:
                nexts.extend(self._start_next(ahead, write))

            def turn() -> None:
                if now.steps == 1:
                    copies()
                self._wait(self.inside)
                fragments.extend(later.fragments(0))

            between: list[Callable[[], None]] = [lambda: None] * now.steps
            between[0], between[-1] = copies, turn
            result = now.emit_between((first[0], first[1]), between)
            rings = [read_next, self._after(write, "write")]
        self._replace(dot, result)
        return [*rings, *nexts, *fragments]

    def _number(self, builder: Builder, value: int) -> Value:
        return builder.insert(Constant(value=value, type=int32)).result

    def _prologue(self) -> list[Value]:
        """The copies of the first iterations; gives the carried values that the loop starts with."""
        loop = self.loop
        if self.plan.nested:
            self.outside.insert(Barrier())
        mapping: dict[Value, Value] = dict(zip(loop.body.args[1:], loop.inits, strict=True))
        for s in range(self.plan.stages - 1):
            iv = loop.lower
            if s:
                iv = self.outside.insert(Add(loop.lower, self._number(self.outside, s * self.step))).result
            mapping[loop.body.args[0]] = iv
            self._copies(self.outside, mapping, self._number(self.outside, s), iv)
            mapping = self._advanced(self.outside, mapping)
        return [mapping[loop.body.args[i]] for i in self.plan.carried]

    def _start_next(self, ahead: dict[int, Value], write: Value) -> list[Value]:
        """The copies for the iteration that is stages - 1 further on; gives the carried values of the one after it."""
        body = self.loop.body
        offset = self._number(self.inside, (self.plan.stages - 1) * self.step)
        iv = self.inside.insert(Add(body.args[0], offset)).result
        mapping: dict[Value, Value] = {body.args[i]: v for i, v in ahead.items()}
        mapping[body.args[0]] = iv
        self._copies(self.inside, mapping, write, iv)
        after = self._advanced(self.inside, mapping)
        return [after[body.args[i]] for i in self.plan.carried]

    def _copies(self, builder: Builder, mapping: dict[Value, Value], stage: Value, iv: Value) -> None:
        """Start the copies of one iteration as one group, if the loop has that iteration."""
        cls = Less if self.step > 0 else Greater
        more = builder.insert(cls(iv, self.loop.upper)).result
        here = dict(mapping)
        for op in self.plan.ops:
            builder.insert(op.clone(here))
        for copied in self.plan.copies:
            load = copied.load
            pointers = here.get(load.ptr, load.ptr)
            mask = self._mask(builder, load, here, more)
            made = CopyAsync(self._buffer(load), pointers, mask, stage, loc=load.loc, across=load.attrs["layout"],
                             axis=copied.axis, vector=copied.vector)  # fmt: skip
            builder.insert(made)
        builder.insert(CommitCopies())

    def _mask(self, builder: Builder, load: Load, here: dict[Value, Value], more: Value) -> Value:
        layout = load.attrs["layout"]
        wide = builder.insert(Broadcast(more, shape=load.ptr.type.shape))
        wide.attrs["layout"] = layout
        if load.mask is None:
            return wide.result
        both = builder.insert(And(here.get(load.mask, load.mask), wide.result))
        both.attrs["layout"] = layout
        return both.result

    def _buffer(self, load: Load) -> Value:
        ((dot, index),) = load.result.uses
        assert isinstance(dot, Dot)
        found = self.buffers[dot]
        return found.a if index == 0 else found.b

    def _advanced(self, builder: Builder, mapping: dict[Value, Value]) -> dict[Value, Value]:
        """`mapping` one iteration later, for the carried values that addresses need."""
        body = self.loop.body
        here = dict(mapping)
        for op in self.plan.advance:
            builder.insert(op.clone(here))
        nexts = {i: body.ops[-1].operands[i - 1] for i in self.plan.carried}
        later = dict(mapping)
        later.update({body.args[i]: here.get(v, v) for i, v in nexts.items()})
        return later

    def _after(self, stage: Value, name: str) -> Value:
        """The stage that follows in the ring."""
        one = self._number(self.inside, 1)
        raised = self.inside.insert(Add(stage, one)).result
        past = self.inside.insert(Equal(raised, self._number(self.inside, self.plan.stages))).result
        zero = self._number(self.inside, 0)
        return self.inside.insert(Select(past, zero, raised, result_names=(f"next_{name}",))).result

    def _dots(self, read: Value) -> None:
        for dot in self.plan.dots:
            buffers = self.buffers[dot]
            with self.inside.before(dot), self.inside.at(dot.loc):
                self._fill_rest(dot, buffers)
                result = self.space.product(self.inside, dot, buffers, read)
            self._replace(dot, result)

    def _replace(self, dot: Dot, result: Value) -> None:
        loads = [v.defining_op for v in (dot.a, dot.b)]
        dot.replace_with([result])
        for load in loads:
            if isinstance(load, Load) and not load.result.uses:
                load.erase()

    def _fill_rest(self, dot: Dot, buffers: DotBuffers) -> None:
        """Operands that are not copied: through shared memory, a stage of their own every iteration."""
        copied = {c.load.result for c in self.plan.copies}
        stored = False
        for value, buffer in ((dot.a, buffers.a), (dot.b, buffers.b)):
            if value not in copied and buffer is not value:
                self.inside.insert(
                    SharedStore(buffer, value, self.loop.body.args[len(self.loop.results) + 1])
                )
                stored = True
        if stored:
            self.inside.insert(Barrier())

    def _carry(self, end: Op, starts: list[Value], nexts: list[Value]) -> None:
        """The loop with more carried values, and the wait for what is still under way behind it."""
        loop = self.loop
        last = Yield([*end.operands, *nexts], loc=end.loc)
        end.erase()
        loop.body.append(last)
        names = [*(r.name for r in loop.results), *(a.name for a in loop.body.args[1 + len(loop.results) :])]
        made = For(loop.lower, loop.upper, loop.step, [*loop.inits, *starts], hints=loop.hints, loc=loop.loc,
                   body=loop.body, result_names=tuple(names))  # fmt: skip
        layouts = [str(layout_of(v)) if v.type.shape else None for v in starts]
        made.attrs["layout"] = (*loop.attrs["layout"], *layouts)
        assert loop.parent is not None
        loop.parent.insert_before(loop, made)
        with self.outside.before(loop):
            self.outside.insert(WaitCopies(pending=0))
        loop.regions = []
        loop.replace_with(made.results[: len(loop.results)])


def run(function: Function, record: Record, space: SharedSpace, wanted: int) -> None:
    """Match every loop with a dot on tensor cores, then apply the plans, with as many stages as there is room for."""
    loops = [op for op in function.find(For) if any(isinstance(x, Dot) for x in op.regions[0].ops)]
    facts = ValueFacts(function) if loops else None
    for loop in loops:
        assert isinstance(loop, For) and facts is not None
        found = match_pipeline(loop, space, facts, wanted)
        if isinstance(found, Reject):
            found = _match_guarded(function, loop, space, facts, wanted) or found
        made = space.ring(list(found.dots), found.stages) if isinstance(found, PipelinePlan) else found
        if isinstance(made, Reject) or isinstance(found, Reject):
            record.reject(NAME, made if isinstance(made, Reject) else found)  # type: ignore[arg-type]
            continue
        stages, buffers = made
        plan = replace(found, stages=stages)
        record.plan(NAME, str(plan), at=loop)
        if plan.guards:
            _, copies = version(loop, plan.guards, plan.multiple)
            space.lent.update({copies[dot]: buffers[dot] for dot in plan.dots})
        _Rewriter(plan, space, buffers).apply()


def _match_guarded(
    function: Function, loop: For, space: SharedSpace, facts: ValueFacts, wanted: int
) -> PipelinePlan | None:
    """A plan that holds if some arguments are multiples of a few elements, which is asked at run time."""
    dots = [op for op in loop.body.ops if isinstance(op, Dot) and space.plan_of(op) is not None]
    loads = [v.defining_op for dot in dots for v in (dot.a, dot.b)]
    loads = [op for op in loads if isinstance(op, Load) and op.parent is loop.body]
    if not loads:
        return None
    multiple = max(min(COPY_BYTES[-1] // _element(load).itemsize, _MOST) for load in loads)
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
