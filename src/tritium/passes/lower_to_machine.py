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

from collections.abc import Mapping
from dataclasses import dataclass

from tritium.errors import make_error
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Record
from tritium.ir.types import DType, SharedType
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import RegisterLayout, layout_of
from tritium.ops.gpu_shared import (
    Barrier,
    ConvertLayout,
    CopyToShared,
    DotFma,
    SharedAlloc,
    SharedLoad,
    SharedStore,
)
from tritium.ops.memory import Load
from tritium.passes.shared_policy import SharedPolicy
from tritium.passes.specialize.double_buffer import StagePlan


def run(function: Function, record: Record, policy: SharedPolicy, stages: Mapping[Op, StagePlan]) -> None:
    """Lower in place. `stages` holds the plans of dots whose loops are double buffered."""
    lowering = _Lowering(function, record, policy, stages)
    for op in list(function.walk()):
        if isinstance(op, Dot):
            lowering.dot(op)
        elif isinstance(op, ConvertLayout):
            lowering.convert(op)


@dataclass
class _Lowering:
    function: Function
    record: Record
    policy: SharedPolicy
    stages: Mapping[Op, StagePlan]

    def dot(self, op: Dot) -> None:
        if len(op.result.type.shape) != 2:
            raise make_error("TRI0760", op.loc, op=op.name, problem=" with a batch axis")
        layout = layout_of(op.result)
        assert layout is not None
        plan = self.stages.get(op)
        builder = Builder(op.parent, op.loc)  # type: ignore[arg-type]
        with builder.before(op), builder.at(op.loc):
            stage = plan.stage_value(builder) if plan is not None else None
            count = plan.stage_count if plan is not None else 1
            a = self._operand(builder, op, op.a, "a", layout, count, stage)
            b = self._operand(builder, op, op.b, "b", layout, count, stage)
            builder.insert(Barrier())
            rows, columns = op.result.type.shape
            made = DotFma(a, b, op.acc, stage, shape=(rows, columns, op.a.type.shape[1]), out=op.out,
                          result_names=(op.result.name,))  # fmt: skip
            made.attrs["layout"] = str(layout)
            builder.insert(made)
            if plan is None:
                builder.insert(Barrier())
        loads = [v.defining_op for v in (op.a, op.b)]
        op.replace_with([made.result])
        for load in loads:
            if isinstance(load, Load) and load.parent is not None and not load.result.uses:
                load.erase()

    def _operand(
        self,
        builder: Builder,
        op: Dot,
        value: Value,
        side: str,
        layout: RegisterLayout,
        stages: int,
        stage: Value | None,
    ) -> Value:
        """Put an operand into a buffer of its own; gives the buffer."""
        element = value.type.scalar
        assert isinstance(element, DType)
        name = value.name or side
        buffer = self._alloc(
            op, self.policy.dot_operand(name, element, value.type.shape, side, layout, stages)
        )
        load = value.defining_op
        if isinstance(load, Load) and self.policy.copies_directly and len(value.uses) == 1:
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
                )  # fmt: skip
            )
        else:
            builder.insert(SharedStore(buffer, value, stage))
        return buffer

    def _alloc(self, op: Op, wanted: SharedAlloc) -> Value:
        wanted.loc = op.loc
        self.function.body.insert(0, wanted)
        return wanted.result

    def convert(self, op: ConvertLayout) -> None:
        """Through shared memory: the threads that own the elements write, those that want them read."""
        target = layout_of(op.result)
        source = layout_of(op.x)
        assert target is not None and source is not None
        scalar = op.x.type.scalar
        buffer = self._alloc(op, self.policy.conversion(op.x.name, scalar, source, target))
        builder = Builder(op.parent, op.loc)  # type: ignore[arg-type]
        with builder.before(op), builder.at(op.loc):
            builder.insert(SharedStore(buffer, op.x))
            builder.insert(Barrier())
            made = SharedLoad(buffer, shape=op.x.type.shape, result_names=(op.result.name,))
            made.attrs["layout"] = str(target)
            builder.insert(made)
            builder.insert(Barrier())
        op.replace_with([made.result])


def shared_bytes(function: Function) -> int:
    """Bytes of shared memory that all buffers take, placed one after another."""
    total = 0
    for op in function.find(SharedAlloc):
        ty = op.result.type
        assert isinstance(ty, SharedType)
        total = -(-total // 16) * 16 + ty.nbytes
    return total
