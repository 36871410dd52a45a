"""The ring of stages of a pipelined loop: the plan that `pipeline_loads` makes, and the loop written anew after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tritium.ir.builder import Builder
from tritium.ir.core import Op, Region, Value
from tritium.ir.types import DType, PointerType, int32
from tritium.ops.arithmetic import Add
from tritium.ops.bitwise import And
from tritium.ops.compare import Equal, Greater, Less
from tritium.ops.control import For, Yield
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_async import CommitCopies, CopyAsync, WaitCopies
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import Barrier, SharedStore
from tritium.ops.memory import Load
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast
from tritium.passes.lower_to_machine import DotBuffers, SharedSpace

STEADY = 32
"""Instructions of a warp per step from which on the next iteration's first fragments are read early."""


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
    instructions   of each warp for one step along the reduction
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
    instructions: int
    guards: tuple[Value, ...] = ()
    multiple: int = 1

    @property
    def steady(self) -> bool:
        """Whether the first fragments of the next iteration are read before the last instructions of this one.

        Then everything else stands between the steps of the dot. That takes registers, which small shares of the tile do
        not repay (measured on an H200: 64x64 results per warp gain a tenth, 32x64 lose a tenth as one block fewer fits),
        and with two stages the wait comes too early.
        """
        alone = len(self.dots) == 1 and len(self.copies) == 2
        return alone and self.stages > 2 and self.instructions >= STEADY

    def __str__(self) -> str:
        widths = sorted({c.vector * loaded_element(c.load).itemsize for c in self.copies})
        sizes = " and ".join(map(str, widths))
        barrier = "; a barrier in front, as a loop is around it" if self.nested else ""
        early = "; the next iteration's first fragments are read in this one" if self.steady else ""
        names = ", ".join(a.name for a in self.guards)
        guard = f"; where multiples of {self.multiple} are: {names}" if names else ""
        return (
            f"{len(self.copies)} loads {self.stages - 1} iterations ahead by cp.async of {sizes} bytes, "
            f"{self.stages} stages, one barrier an iteration{barrier}{early}{guard}"
        )


def loaded_element(load: Load) -> DType:
    """The type of what `load` gives."""
    scalar = load.ptr.type.scalar
    assert isinstance(scalar, PointerType) and isinstance(scalar.element_ty, DType)
    return scalar.element_ty


class LoopWriter:
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
            starts = [self.number(self.outside, 0), self.number(self.outside, stages - 1), *starts]
        body = loop.body
        read, write = body.add_arg(int32, "read"), body.add_arg(int32, "write")
        ahead = {i: body.add_arg(body.args[i].type, body.args[i].name) for i in plan.carried}
        end = body.ops[-1]
        if plan.steady:
            (dot,) = plan.dots
            nexts = self._between_steps(dot, starts, ahead, read, write)
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

    def _between_steps(
        self, dot: Dot, starts: list[Value], ahead: dict[int, Value], read: Value, write: Value
    ) -> list[Value]:
        """The dot with everything else between its steps. Adds what the loop carries for it to `starts`; gives what it
        carries on."""
        buffers, body = self.buffers[dot], self.loop.body
        with self.outside.before(self.loop):
            self._wait(self.outside)
            starts += self.space.on_tensor_cores(self.outside, dot, buffers, starts[0]).fragments(0)
        a, b = (body.add_arg(v.type, v.name) for v in starts[-2:])
        fragments: list[Value] = []
        with self.inside.before(dot), self.inside.at(dot.loc):
            read_next = self._after(read, "read")
            now = self.space.on_tensor_cores(self.inside, dot, buffers, read)
            later = self.space.on_tensor_cores(self.inside, dot, buffers, read_next)
            copies = _Copies(self, ahead, write)

            def turn() -> None:
                self._wait(self.inside)
                fragments.extend(later.fragments(0))

            between: list[list[Callable[[], None]]] = [[] for _ in range(now.steps)]
            for place, part in enumerate(
                copies.parts()
            ):  # spread: each keeps the memory pipe busy for a while
                between[min(place, max(now.steps - 2, 0))].append(part)
            between[-1].append(turn)
            result = now.emit_between((a, b), between)
            rings = [read_next, self._after(write, "write")]
        self._replace(dot, result)
        return [*rings, *copies.advanced, *fragments]

    def number(self, builder: Builder, value: int) -> Value:
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
                iv = self.outside.insert(Add(loop.lower, self.number(self.outside, s * self.step))).result
            mapping[loop.body.args[0]] = iv
            self._copies(self.outside, mapping, self.number(self.outside, s), iv)
            mapping = self.advanced(self.outside, mapping)
        return [mapping[loop.body.args[i]] for i in self.plan.carried]

    def _start_next(self, ahead: dict[int, Value], write: Value) -> list[Value]:
        """The copies for the iteration that is stages - 1 further on; gives the carried values of the one after it."""
        copies = _Copies(self, ahead, write)
        for part in copies.parts():
            part()
        return copies.advanced

    def _copies(self, builder: Builder, mapping: dict[Value, Value], stage: Value, iv: Value) -> None:
        """Start the copies of one iteration as one group, if the loop has that iteration."""
        here, more = self.prepared(builder, mapping, iv)
        for copied in self.plan.copies:
            self.copy(builder, copied, here, more, stage)
        builder.insert(CommitCopies())

    def prepared(
        self, builder: Builder, mapping: dict[Value, Value], iv: Value
    ) -> tuple[dict[Value, Value], Value]:
        """What addresses and masks are computed from at `iv`, and whether the loop has that iteration."""
        cls = Less if self.step > 0 else Greater
        more = builder.insert(cls(iv, self.loop.upper)).result
        here = dict(mapping)
        for op in self.plan.ops:
            builder.insert(op.clone(here))
        return here, more

    def copy(
        self, builder: Builder, copied: Copied, here: dict[Value, Value], more: Value, stage: Value
    ) -> None:
        load = copied.load
        pointers = here.get(load.ptr, load.ptr)
        mask = self._mask(builder, load, here, more)
        made = CopyAsync(self._buffer(load), pointers, mask, stage, loc=load.loc, across=load.attrs["layout"],
                         axis=copied.axis, vector=copied.vector)  # fmt: skip
        builder.insert(made)

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

    def advanced(self, builder: Builder, mapping: dict[Value, Value]) -> dict[Value, Value]:
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
        one = self.number(self.inside, 1)
        raised = self.inside.insert(Add(stage, one)).result
        past = self.inside.insert(Equal(raised, self.number(self.inside, self.plan.stages))).result
        zero = self.number(self.inside, 0)
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
        """Operands that are not copied: through shared memory, once if they are what they were before the loop."""
        copied = {c.load.result for c in self.plan.copies}
        stored = False
        for value, buffer in ((dot.a, buffers.a), (dot.b, buffers.b)):
            if value in copied or buffer is value:
                continue
            if _is_from_outside(value, self.loop):
                with self.outside.before(self.loop):  # seen by all behind the loop's first barrier
                    self.outside.insert(SharedStore(buffer, value))
                continue
            self.inside.insert(SharedStore(buffer, value))
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


def _is_from_outside(value: Value, loop: For) -> bool:
    owner = value.owner
    return owner is not loop.body if isinstance(owner, Region) else not owner.is_inside(loop.body)


class _Copies:
    """The copies that an iteration starts, for the one that is stages - 1 further on, in parts that follow each other.

    advanced   afterwards, the carried values of the iteration behind that one
    """

    def __init__(self, rewriter: LoopWriter, ahead: dict[int, Value], stage: Value) -> None:
        self.rewriter = rewriter
        self.ahead = ahead
        self.stage = stage
        self.advanced: list[Value] = []
        self._state: tuple[dict[Value, Value], dict[Value, Value], Value] | None = None

    def parts(self) -> list[Callable[[], None]]:
        """One for each load; the last one ends the group."""
        copies = self.rewriter.plan.copies
        return [lambda c=c, last=c is copies[-1]: self._part(c, last) for c in copies]

    def _part(self, copied: Copied, last: bool) -> None:
        r = self.rewriter
        if self._state is None:
            body = r.loop.body
            offset = r.number(r.inside, (r.plan.stages - 1) * r.step)
            iv = r.inside.insert(Add(body.args[0], offset)).result
            mapping: dict[Value, Value] = {body.args[i]: v for i, v in self.ahead.items()}
            mapping[body.args[0]] = iv
            self._state = (mapping, *r.prepared(r.inside, mapping, iv))
        mapping, here, more = self._state
        r.copy(r.inside, copied, here, more, self.stage)
        if last:
            r.inside.insert(CommitCopies())
            after = r.advanced(r.inside, mapping)
            self.advanced = [after[r.loop.body.args[i]] for i in r.plan.carried]
