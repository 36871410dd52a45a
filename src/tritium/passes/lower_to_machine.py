"""Tile IR with layouts to machine IR: dots through shared memory, layout conversions through shared memory, barriers.

Before: `tile.dot` and `gpu.convert_layout`. After: `gpu.shared_alloc` at kernel scope, the operands copied or stored
there, `gpu.barrier`, `gpu.dot_fma` or `gpu.shared_load`, `gpu.barrier`. The barrier after the reads lets the buffer be
written again; specialisations that do without it say why (`tritium.passes.specialize`).

::

    %d = tile.dot(%a_tile, %b_tile, _)
    =>
    gpu.copy_to_shared(%shared_a, %a_ptrs, %a_mask, %zeros, _)
    gpu.copy_to_shared(%shared_b, ...)
    gpu.barrier()
    %d = gpu.dot_fma(%shared_a, %shared_b, _, _)
    gpu.barrier()
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from tritium.errors import make_error
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Reject
from tritium.ir.types import DType, SharedType, float16, float32
from tritium.layout import SEED_SHARED_LIMIT, require_shared_budget
from tritium.ops.cast import Cast
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import (
    ALIGNMENT,
    Barrier,
    ConvertLayout,
    CopyToShared,
    DotFma,
    SharedAlloc,
    SharedLoad,
    SharedStore,
)
from tritium.ops.memory import Load
from tritium.passes.barriers import release
from tritium.passes.mma_dots import Product, in_registers, operand_buffer
from tritium.passes.shared_policy import SharedPolicy
from tritium.passes.specialize.double_buffer import StagePlan
from tritium.passes.specialize.tensor_cores import MmaPlan, TensorCores


@dataclass(frozen=True)
class DotBuffers:
    """Where the operands of a dot are: in shared memory, or as they are where they need not go there.

    staged   sides ("a", "b") whose buffers have stages to choose from
    """

    a: Value
    b: Value
    staged: frozenset[str] = frozenset("ab")


class SharedSpace:
    """The shared memory of a kernel: hands out buffers at kernel scope as long as they fit into `limit` bytes.

    Scratch buffers lie behind the others, those of different ops over each other if there would not be room for all.

    cores   the tensor cores that dots were laid out for, if any
    lent    buffers that a dot shares with one that never runs in the same block of threads
    """

    def __init__(
        self, function: Function, policy: SharedPolicy, limit: int, cores: TensorCores | None = None
    ) -> None:
        self.function = function
        self.policy = policy
        self.limit = limit
        self.cores = cores
        self.lent: dict[Op, DotBuffers] = {}
        self._scratch: dict[Op, list[SharedAlloc]] = {}

    def dot(self, op: Dot, stages: int, passing: bool = False) -> DotBuffers | Reject:
        """Buffers for the operands of `op`, or why there is no room for them. Nothing is made unless all fit.

        passing   they are scratch buffers
        """
        if op in self.lent:
            return self.lent[op]
        wanted = self._wanted(op, stages)
        made = list(wanted.values())
        needed = self._bytes([], made) if passing else self._bytes(made)
        if needed > self.limit:
            wish = "1 stage needs" if stages == 1 else f"{stages} stages need"
            return Reject(f"{wish} {needed} bytes of shared memory, the limit is {self.limit}", op.loc)
        return self._placed(op, wanted, passing)

    def ring(
        self, dots: Sequence[Dot], stages: int, copied: Container[Value]
    ) -> tuple[int, dict[Dot, DotBuffers]] | Reject:
        """Buffers for the operands of `dots`: those of `copied` values in as many of `stages` as there is room for, at
        least two, the others in one."""
        for count in range(stages, 1, -1):
            wanted = {dot: self._wanted(dot, count, copied) for dot in dots}
            if self._bytes([w for each in wanted.values() for w in each.values()]) <= self.limit:
                return count, {dot: self._placed(dot, each, False, copied) for dot, each in wanted.items()}
        return Reject(
            f"two stages need more than the {self.limit} bytes of shared memory there are", dots[0].loc
        )

    def _placed(
        self,
        op: Dot,
        wanted: Mapping[str, SharedAlloc],
        passing: bool,
        copied: Container[Value] | None = None,
    ) -> DotBuffers:
        make = self.scratch if passing else self.alloc
        values = {"a": op.a, "b": op.b}
        staged = frozenset(s for s, v in values.items() if copied is None or v in copied)
        a, b = (make(wanted[s], op) if s in wanted else v for s, v in values.items())
        return DotBuffers(a, b, staged)

    def _wanted(self, op: Dot, stages: int, copied: Container[Value] | None = None) -> dict[str, SharedAlloc]:
        """The buffers that operands of `op` go to, made but not placed; none for one that stays in registers. With
        `copied`, other values than these get one stage."""
        layout = layout_of(op.result)
        plan = self.plan_of(op)
        assert layout is not None
        if plan is not None:
            sides = ["b"] if in_registers(op, plan) else ["a", "b"]
            values = {"a": op.a, "b": op.b}
            counts = {s: stages if copied is None or values[s] in copied else 1 for s in sides}
            return {side: operand_buffer(op, plan, side, counts[side]) for side in sides}
        out: dict[str, SharedAlloc] = {}
        for value, side in ((op.a, "a"), (op.b, "b")):
            element = value.type.scalar
            assert isinstance(element, DType)
            out[side] = self.policy.dot_operand(
                value.name or side, element, value.type.shape, side, layout, stages
            )
        return out

    def plan_of(self, op: Dot) -> MmaPlan | None:
        """How `op` runs on tensor cores, if it was laid out to."""
        return self.cores.plan_of(op) if self.cores is not None else None

    def product(self, builder: Builder, op: Dot, buffers: DotBuffers, stage: Value | None) -> Value:
        """The machine ops for `op` with its operands in `buffers`; gives its result."""
        if self.plan_of(op) is None:
            return dot_fma(builder, op, buffers, stage)
        return self.on_tensor_cores(builder, op, buffers, stage).emit()

    def on_tensor_cores(self, builder: Builder, op: Dot, buffers: DotBuffers, stage: Value | None) -> Product:
        """The machine ops to come for `op`, which has a plan."""
        plan = self.plan_of(op)
        assert plan is not None
        stages = {side: stage if side in buffers.staged else None for side in "ab"}
        return Product(builder, op, plan, {"a": buffers.a, "b": buffers.b}, stages)

    def alloc(self, wanted: SharedAlloc, op: Op) -> Value:
        """Put a buffer of its own in front of the kernel's code. Raises the catalogue error if it does not fit."""
        self._require(self._bytes([wanted]))
        wanted.loc = op.loc
        body = self.function.body
        at = next((i for i, x in enumerate(body.ops) if not _keeps(x)), len(body.ops))
        body.insert(at, wanted)
        self._place()
        return wanted.result

    def scratch(self, wanted: SharedAlloc, op: Op) -> Value:
        """A buffer that only the lowering of `op` uses, and in a loop not again before a barrier behind the last access.

        So it may share its bytes with the scratch buffers of other ops: then `finish` puts a barrier before the first use
        of each. Raises the catalogue error if it does not fit.
        """
        wanted.loc = op.loc
        body = self.function.body
        at = next((i for i, x in enumerate(body.ops) if not isinstance(x, SharedAlloc)), len(body.ops))
        wanted.attrs["offset"] = 0  # until it has its place
        body.insert(at, wanted)
        self._scratch.setdefault(op, []).append(wanted)
        self._place()
        self._require(shared_bytes(self.function))
        return wanted.result

    def finish(self) -> None:
        """Scratch buffers get bytes of their own where all of them are few; else barriers keep their users apart."""
        allocs = self.function.find(SharedAlloc)
        apart = end_of(0, [_type(op) for op in allocs])
        if len(self._scratch) < 2 or apart <= min(self.limit, SEED_SHARED_LIMIT):
            for op in allocs:
                op.attrs["offset"] = None
            return
        owner = {op.result: user for user, buffers in self._scratch.items() for op in buffers}
        firsts: dict[Op, Op] = {}
        for op in self.function.walk():
            for value in op.operands:
                if value in owner:
                    firsts.setdefault(owner[value], op)
        for first in list(firsts.values())[1:]:
            assert first.parent is not None
            builder = Builder(first.parent, first.loc)
            with builder.before(first), builder.at(first.loc):
                builder.insert(Barrier())

    def _bytes(self, more: Sequence[SharedAlloc], scratch: Sequence[SharedAlloc] = ()) -> int:
        """What all buffers take with `more`, and with the scratch buffers `scratch` of one more op."""
        kept = [op for op in self.function.find(SharedAlloc) if _keeps(op)]
        start = end_of(0, [_type(op) for op in (*kept, *more)])
        groups = [*self._scratch.values(), scratch]
        return max(end_of(start, [_type(op) for op in group]) for group in groups)

    def _require(self, needed: int) -> None:
        require_shared_budget(needed, self.limit, name=f"shared memory of {self.function.name}")

    def _place(self) -> None:
        """Scratch buffers begin where the others end."""
        start = end_of(0, [_type(op) for op in self.function.find(SharedAlloc) if _keeps(op)])
        for buffers in self._scratch.values():
            end = start
            for op in buffers:
                end = end_of(end, [_type(op)])
                op.attrs["offset"] = end - _type(op).nbytes


def _keeps(op: Op) -> bool:
    """Whether `op` is a buffer with bytes of its own."""
    return isinstance(op, SharedAlloc) and op.offset is None


def _type(op: Op) -> SharedType:
    ty = op.results[0].type
    assert isinstance(ty, SharedType)
    return ty


def end_of(start: int, buffers: list[SharedType]) -> int:
    """The end of `buffers` when they are put one after another from byte `start` on, aligned."""
    for ty in buffers:
        start = -(-start // ALIGNMENT) * ALIGNMENT + ty.nbytes
    return start


def shared_bytes(function: Function) -> int:
    """Bytes of shared memory that all buffers take."""
    end = 0
    for op in function.find(SharedAlloc):
        ty, offset = _type(op), op.attrs.get("offset")
        end = end_of(end, [ty]) if offset is None else max(end, offset + ty.nbytes)
    return end


def run(function: Function, space: SharedSpace, stages: Mapping[Op, StagePlan]) -> None:
    """Lower in place. `stages` holds the plans of dots whose loops are double buffered."""
    for op in list(function.walk()):
        if isinstance(op, Dot):
            _dot(op, space, stages.get(op))
        elif isinstance(op, ConvertLayout):
            _convert(op, space)


def _dot(op: Dot, space: SharedSpace, plan: StagePlan | None) -> None:
    passing = plan is None and not space.policy.copies_directly
    buffers = space.dot(op, plan.stage_count if plan is not None else 1, passing)
    if isinstance(buffers, Reject):
        raise make_error("TRI0734", op.loc, message=buffers.rule, name=f"shared memory of {space.function.name}",
                         required=None, limit=space.limit)  # fmt: skip
    builder = Builder(op.parent, op.loc)  # type: ignore[arg-type]
    if plan is not None and plan.nested:
        with builder.before(plan.loop):
            builder.insert(Barrier())
    with builder.before(op), builder.at(op.loc):
        stage = plan.stage_value(builder) if plan is not None else None
        for value, buffer in ((op.a, buffers.a), (op.b, buffers.b)):
            if buffer is value:
                continue
            _fill(builder, value, buffer, stage, space.policy.copies_directly)
        builder.insert(Barrier())
        result = space.product(builder, op, buffers, stage)
        if plan is None:
            builder.insert(Barrier())
    loads = [v.defining_op for v in (op.a, op.b)]
    op.replace_with([result])
    for load in loads:
        if isinstance(load, Load) and load.parent is not None and not load.result.uses:
            load.erase()


def dot_fma(builder: Builder, op: Dot, buffers: DotBuffers, stage: Value | None) -> Value:
    """The machine op for `op`. Products of fp16 that give fp16 are summed in fp32 and rounded once."""
    layout = op.attrs["layout"]

    def cast(value: Value, to: DType) -> Value:
        made = builder.insert(Cast(value, to=to))
        made.attrs["layout"] = layout
        return made.result

    half = op.out is float16
    acc = cast(op.acc, float32) if half and op.acc is not None else op.acc
    made = DotFma(buffers.a, buffers.b, acc, stage, shape=(*op.result.type.shape, op.a.type.shape[1]),
                  out=float32 if half else op.out, result_names=(op.result.name,))  # fmt: skip
    made.attrs["layout"] = layout
    builder.insert(made)
    return cast(made.result, float16) if half else made.result


def _fill(builder: Builder, value: Value, buffer: Value, stage: Value | None, directly: bool) -> None:
    """Put an operand into its buffer; a load that has no other use goes there without stopping in registers."""
    load = value.defining_op
    if not (directly and isinstance(load, Load) and len(value.uses) == 1):
        builder.insert(SharedStore(buffer, value, stage))
        return
    builder.insert(
        CopyToShared(
            buffer,
            load.ptr,
            load.mask,
            load.other,
            stage,
            loc=load.loc,
            across=load.attrs["layout"],
            cache=load.cache,
            eviction=load.eviction,
            volatile=load.volatile,
        )
    )


def _convert(op: ConvertLayout, space: SharedSpace) -> None:
    """Through shared memory: the threads that own the elements write, those that want them read."""
    target, source = layout_of(op.result), layout_of(op.x)
    assert target is not None and source is not None
    buffer = space.scratch(space.policy.conversion(op.x.name, op.x.type.scalar, source, target), op)  # type: ignore[arg-type]
    builder = Builder(op.parent, op.loc)  # type: ignore[arg-type]
    with builder.before(op), builder.at(op.loc):
        builder.insert(SharedStore(buffer, op.x))
        builder.insert(Barrier())
        made = SharedLoad(buffer, shape=op.x.type.shape, result_names=(op.result.name,))
        made.attrs["layout"] = str(target)
        builder.insert(made)
        release(builder, op)
    op.replace_with([made.result])
