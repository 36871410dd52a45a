"""The dot on CUDA cores: operands from shared memory, sums in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.registers import Local, coordinate, spelled_coordinates
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, SharedType
from tritium.ops.emit import Expr, binary, call
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_shared import DotFma

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


class Dots:
    """The verb of `gpu.dot_fma`."""

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

    def _accumulator(self: Emitter, op: DotFma, layout: RegisterLayout) -> Local:
        """Registers of the result, set to the accumulator or zero."""
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
