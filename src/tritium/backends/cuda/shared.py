"""Shared memory and the dot on CUDA cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.registers import Coordinate, coordinate, spelled_coordinates
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, SharedType
from tritium.ops.emit import Expr, binary, call
from tritium.ops.gpu_layout import RegisterLayout, parse_layout
from tritium.ops.gpu_shared import CopyToShared, DotFma, SharedAlloc, SharedLoad, SharedStore
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
        return [f"if ({' && '.join(c.within(6) for c in conditions)}) {text}"] if conditions else [text]

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
            zero = self.literal(0, op.result.type.scalar)  # type: ignore[arg-type]
            return [f"{' && '.join(c.within(6) for c in conditions)} ? {slot} : {zero}"]

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

    # ---- dot -------------------------------------------------------------------------------------------

    def dot_fma(self: Emitter, op: Op) -> None:
        assert isinstance(op, DotFma)
        if op.acc is not None:
            self.settle(op.acc)
        self.flush()
        self.w.at(op.loc)
        if self.spelled:
            self._dot_spelled(op)
        else:
            self._dot_fragments(op)

    def _sum_type(self: Emitter, op: DotFma) -> DType:
        return op.out

    def _factor(self: Emitter, buffer: Value, place: list[Expr], stage: Value | None, out: DType) -> Expr:
        """An operand's element in the type of the sum."""
        ty = buffer.type
        assert isinstance(ty, SharedType)
        slot = self.slot(buffer, place, stage)
        return slot if ty.element == out or out.is_int() else self.widened(slot, ty.element)

    def _dot_spelled(self: Emitter, op: DotFma) -> None:
        """Every sum a variable, all of them updated in one loop over the reduction."""
        layout = self.layout(op.result)
        local = self.local(op.result, layout)
        k = self.names.fresh(f"dot_k_{local.name.removeprefix('v')}")
        zero = self.literal(0, op.out)
        for index in spelled_coordinates(local.shape):
            start = self.text(op.acc, index) if op.acc is not None else zero
            self.w.line(f"{local.type} {local.at(index)} = {start};")
        self.w.pragma("unroll" if self.unrolled else "unroll 1")
        with self.w.block(f"for (int {k} = 0; {k} < {op.shape[2]}; ++{k})"):
            for index in spelled_coordinates(local.shape):
                row, column = self.place(layout, index)
                x = self._factor(op.a, [row, Expr(k)], op.stage, op.out)
                y = self._factor(op.b, [Expr(k), column], op.stage, op.out)
                self.w.line(f"{local.at(index)} += {binary('*', x, y)};")

    def _dot_fragments(self: Emitter, op: DotFma) -> None:
        """Per step of the reduction: a run of A and a run of B into registers, then all their products."""
        layout = self.layout(op.result)
        rows, columns = layout.register_shape
        kind = self.type(op.out)
        local = self._accumulator(op, layout)
        k, a, b = (self.names.fresh(n) for n in ("kk", "a_run", "b_run"))
        self.w.pragma("unroll")
        with self.w.block(f"for (int {k} = 0; {k} < {op.shape[2]}; ++{k})"):
            self._fragment(op, op.a, 0, layout, a, Expr(k), kind)
            self._fragment(op, op.b, 1, layout, b, Expr(k), kind)
            i, j = Expr("i"), Expr("j")
            self.w.pragma("unroll")
            with self.w.block(f"for (int i = 0; i < {rows}; ++i)"):
                self.w.pragma("unroll")
                with self.w.block(f"for (int j = 0; j < {columns}; ++j)"):
                    cell = local.at((i if rows > 1 else 0, j if columns > 1 else 0))
                    x, y = f"{a}[i]", f"{b}[j]"
                    if op.out.is_floating():
                        fma = "fma" if op.out.is_fp64() else "fmaf"
                        self.w.line(f"{cell} = {call(fma, x, y, cell)};")
                    else:
                        self.w.line(f"{cell} += {x} * {y};")

    def _accumulator(self: Emitter, op: DotFma, layout: RegisterLayout):  # type: ignore[no-untyped-def]
        """Registers of the result, set to the accumulator or zero."""
        from tritium.backends.cuda.groups import Group
        from tritium.backends.cuda.registers import Local

        held = self.held.get(op.acc) if op.acc is not None else None
        if isinstance(held, Local) and len(self.users(op.acc)) == 1:
            self.held[op.result] = held  # nobody else reads the old sums
            return held
        local = self.local(op.result, layout)
        group = Group(layout, (1, 1))
        start = (
            (lambda index: [self.text(op.acc, index)])
            if op.acc is not None
            else (lambda index: [self.literal(0, op.out)])
        )
        group.statements.append(Statement(op.loc, local.shape, start, local, None))
        group.write(self.w, self.users, self.spelled)
        return local

    def _fragment(
        self: Emitter,
        op: DotFma,
        buffer: Value,
        axis: int,
        layout: RegisterLayout,
        name: str,
        k: Expr,
        kind: str,
    ) -> None:
        """One thread's run of an operand at reduction step `k`, in vectors where the buffer lies that way."""
        ty = buffer.type
        assert isinstance(ty, SharedType)
        side = layout.axes[axis]
        count = side.registers
        self.w.line(f"{kind} {name}[{count}];")
        width = self._shared_vector(ty, axis, side.vector)
        at = Expr("i")
        here = coordinate(self.thread_coordinate(layout, axis), side, at if count > width else 0)
        place = [here, k] if axis == 0 else [k, here]
        convert = "" if ty.element == op.out or op.out.is_int() else "to_float"
        self.w.pragma("unroll")
        step = "++i" if width == 1 else f"i += {width}"
        with self.w.block(f"for (int i = 0; i < {count}; {step})"):
            slot = self.slot(buffer, place, op.stage)
            if width == 1:
                self.w.line(f"{name}[i] = {call(convert, slot) if convert else slot};")
                return
            self.used.add("vec")
            self.w.line(f"vec<{self.type(ty.element)}, {width}> t = load_vec<{width}>(&{slot});")
            for u in range(width):
                cell = f"t.v[{u}]"
                self.w.line(
                    f"{name}[i{f' + {u}' if u else ''}] = {call(convert, cell) if convert else cell};"
                )

    def _shared_vector(self: Emitter, ty: SharedType, axis: int, run: int) -> int:
        """How many elements of a run one load may take from shared memory: 16 bytes at most, aligned."""
        if ty.order[0] != axis:
            return 1
        size = ty.element.itemsize
        other = [s for a, s in enumerate(ty.strides) if a != axis] + [ty.stage_size]
        width = 1
        while width * 2 <= run and width * 2 * size <= 16 and all(s % (width * 2) == 0 for s in other):
            width *= 2
        return width
