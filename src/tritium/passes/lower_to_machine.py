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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritium.errors import make_error
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Reject
from tritium.ir.types import DType, SharedType, float16, float32
from tritium.layout import require_shared_budget
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
from tritium.passes.shared_policy import SharedPolicy
from tritium.passes.specialize.double_buffer import StagePlan


@dataclass(frozen=True)
class DotBuffers:
    """Where the operands of a dot are in shared memory."""

    a: Value
    b: Value


class SharedSpace:
    """The shared memory of a kernel: hands out buffers at kernel scope as long as they fit into `limit` bytes.

    Scratch buffers lie behind the others, those of different ops over each other.
    """

    def __init__(self, function: Function, policy: SharedPolicy, limit: int) -> None:
        self.function = function
        self.policy = policy
        self.limit = limit
        self._scratch: dict[Op, list[SharedAlloc]] = {}

    def dot(self, op: Dot, stages: int, passing: bool = False) -> DotBuffers | Reject:
        """Buffers for the operands of `op`, or why there is no room for them. Nothing is made unless both fit.

        passing   they are scratch buffers
        """
        layout = layout_of(op.result)
        assert layout is not None
        wanted: list[SharedAlloc] = []
        for value, side in ((op.a, "a"), (op.b, "b")):
            element = value.type.scalar
            assert isinstance(element, DType)
            wanted.append(
                self.policy.dot_operand(value.name or side, element, value.type.shape, side, layout, stages)
            )
        needed = self._bytes([], wanted) if passing else self._bytes(wanted)
        if needed > self.limit:
            wish = "1 stage needs" if stages == 1 else f"{stages} stages need"
            return Reject(f"{wish} {needed} bytes of shared memory, the limit is {self.limit}", op.loc)
        make = self.scratch if passing else self.alloc
        return DotBuffers(*(make(w, op) for w in wanted))

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
        """A buffer that only the lowering of `op` uses, from the first write to a barrier behind the last access.

        So it may share its bytes with the scratch buffers of other ops. Raises the catalogue error if it does not fit.
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
        """Scratch buffers of a single op are like the others."""
        if len(self._scratch) == 1:
            for op in next(iter(self._scratch.values())):
                op.attrs["offset"] = None

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
            _fill(builder, value, buffer, stage, space.policy.copies_directly)
        builder.insert(Barrier())
        result = dot_fma(builder, op, buffers, stage)
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
