"""Shared memory: buffers, views, and tiles going in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate, coordinate
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType
from tritium.ops.emit import Expr, binary, conditional
from tritium.ops.gpu_layout import RegisterLayout, parse_layout
from tritium.ops.gpu_shared import (
    CopyToShared,
    SharedAlloc,
    SharedGather,
    SharedLoad,
    SharedStore,
    SharedView,
)
from tritium.passes.lower_to_machine import place

SHARED_MEMORY = "shared_memory"
STATIC_LIMIT = 48 * 1024
"""Bytes that a kernel may declare; more is asked for at launch."""

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


class Shared:
    """The verbs of `tritium.ops.gpu_shared`.

    dynamic      whether shared memory is asked for at launch, because there is more than may be declared
    shared_end   where the next buffer may begin, then
    """

    def shared_alloc(self: Emitter, op: Op) -> None:
        assert isinstance(op, SharedAlloc)
        ty = op.result.type
        assert isinstance(ty, SharedType)
        name = self.names.fresh(op.label)
        kind = self.type(ty.element)
        self.buffers[op.result] = name
        if not self.dynamic:
            self.head.line(f"__shared__ __align__(16) {kind} {name}[{ty.stages * ty.stage_size}];")
            return
        if not self.shared_end:
            self.head.line(f"extern __shared__ __align__(16) unsigned char {SHARED_MEMORY}[];")
        end = place(self.shared_end, [ty])
        self.head.line(f"{kind}* const {name} = ({kind}*)({SHARED_MEMORY} + {end - ty.nbytes});")
        self.shared_end = end

    def slot(self: Emitter, buffer: Value, place: list[Expr], stage: Value | None) -> Expr:
        """The lvalue of an element of `buffer`."""
        ty = buffer.type
        assert isinstance(ty, SharedType)
        terms: list[Expr] = []
        if stage is not None and self.scalar(stage) != "0":
            terms.append(binary("*", self.scalar(stage), Expr(str(ty.stage_size))))
        for at, stride in sorted(zip(place, ty.strides, strict=True), key=lambda t: -t[1]):
            if at != "0":
                terms.append(at if stride == 1 else binary("*", at, Expr(str(stride))))
        out = terms[0] if terms else Expr("0")
        for t in terms[1:]:
            out = binary("+", out, t)
        return Expr(f"{self.buffers[buffer]}[{out}]")

    def place(self: Emitter, layout: RegisterLayout, index: Coordinate) -> list[Expr]:
        """The tile coordinate at a register coordinate."""
        return [
            coordinate(self.thread_coordinate(layout, a), axis, index[a])
            for a, axis in enumerate(layout.axes)
        ]

    def _guarded(self: Emitter, layout: RegisterLayout, index: Coordinate, text: str) -> list[str]:
        conditions = [*self.first_of_replicas(layout), *self.inside(layout, index)]
        return [f"if ({all_of(conditions)}) {text}"] if conditions else [text]

    def shared_store(self: Emitter, op: Op) -> None:
        assert isinstance(op, SharedStore)
        layout = self.layout(op.value)
        group = self.group_for(layout, stores=True)
        self.need(op.value, group)
        group.ops.add(op)

        def write(index: Coordinate) -> list[str]:
            slot = self.slot(op.buffer, self.place(layout, index), op.stage)
            return self._guarded(layout, index, f"{slot} = {self.text(op.value, index)};")

        group.statements.append(Statement(op.loc, layout.register_shape, write))

    def shared_load(self: Emitter, op: Op) -> None:
        assert isinstance(op, SharedLoad)
        layout = self.layout(op.result)
        group = self.group_for(layout)
        local = self.local(op.result, layout)
        group.ops.add(op)
        self.placed[op.result] = group

        def write(index: Coordinate) -> list[str]:
            slot = self.slot(op.buffer, self.place(layout, index), op.stage)
            conditions = self.inside(layout, index)
            if not conditions:
                return [slot]
            return [conditional(all_of(conditions), slot, self.literal(0, op.result.type.scalar))]  # type: ignore[arg-type]

        group.statements.append(Statement(op.loc, local.shape, write, local, op.result))

    def shared_view(self: Emitter, op: Op) -> None:
        assert isinstance(op, SharedView)
        whole = self.buffers[op.buffer]
        self.buffers[op.result] = f"({whole} + {op.offset})" if op.offset else whole

    def shared_gather(self: Emitter, op: Op) -> None:
        assert isinstance(op, SharedGather)
        layout = self.layout(op.result)
        group = self.group_for(layout)
        for v in op.indices:
            self.need(v, group)
        local = self.local(op.result, layout)
        group.ops.add(op)
        self.placed[op.result] = group

        def write(index: Coordinate) -> list[str]:
            slot = self.slot(op.buffer, [self.text(v, index) for v in op.indices], None)
            conditions = self.inside(layout, index)
            if not conditions:
                return [slot]
            return [conditional(all_of(conditions), slot, self.literal(0, op.result.type.scalar))]  # type: ignore[arg-type]

        group.statements.append(Statement(op.loc, local.shape, write, local, op.result))

    def copy_to_shared(self: Emitter, op: Op) -> None:
        assert isinstance(op, CopyToShared)
        layout = parse_layout(op.across)
        group = self.group_for(layout, stores=True)
        for v in (op.ptr, op.mask, op.other):
            if v is not None:
                self.need(v, group)
        group.ops.add(op)
        buffer_type = op.buffer.type
        assert isinstance(buffer_type, SharedType)

        def write(index: Coordinate) -> list[str]:
            slot = self.slot(op.buffer, self.place(layout, index), op.stage)
            value = self.cell(op.ptr, index)
            if buffer_type.element.is_bool():
                value = binary("!=", value, Expr("0"))
            if op.mask is not None:
                zero = (
                    self.literal(0, buffer_type.element) if op.other is None else self.text(op.other, index)
                )
                value = Expr(f"{self.text(op.mask, index).within(4)} ? {value.within(4)} : {zero}", 3)
            return self._guarded(layout, index, f"{slot} = {value};")

        group.statements.append(Statement(op.loc, layout.register_shape, write))
