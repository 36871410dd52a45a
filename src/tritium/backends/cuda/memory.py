"""Loads and stores of global memory: predicates, vectors, and barriers where threads would overtake each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.analysis.vectors import vectors_of
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.registers import Computed, Coordinate, coordinate
from tritium.backends.cuda.types import memory_type
from tritium.ir.core import Op, Value
from tritium.ir.types import PointerType, ScalarType
from tritium.ops.emit import PRECEDENCE, UNARY, Expr, binary, conditional
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.memory import AddPtr, Load, Store

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


class Memory:
    """The verbs of `tritium.ops.memory`."""

    def init_memory(self: Emitter) -> None:
        self.loads: list[Op] = []  # since the last barrier
        self.stores: list[Op] = []

    # ---- addresses -----------------------------------------------------------------------------------

    def cell(self: Emitter, pointer: Value, index: Coordinate) -> Expr:
        """The C++ lvalue that an element of a pointer tile names."""
        op = pointer.defining_op
        if isinstance(op, AddPtr) and isinstance(self.held.get(pointer), Computed):
            base, offset = self.text(op.ptr, index), self.text(op.offset_, index)
            return Expr(f"{base.within(16)}[{offset}]")
        return Expr(f"*{self.text(pointer, index).within(UNARY)}", UNARY)

    def address(self: Emitter, pointer: Value, index: Coordinate) -> Expr:
        return self.text(pointer, index)

    def inside(self: Emitter, layout: RegisterLayout, index: Coordinate) -> list[Expr]:
        """Conditions that the coordinates at `index` lie in the tile, where some might not."""
        found: list[Expr] = []
        for a, axis in enumerate(layout.axes):
            if not axis.overhangs:
                continue
            at = coordinate(self.thread_coordinate(layout, a), axis, index[a])
            found.append(binary("<", at, Expr(str(axis.extent))))
        return found

    def first_of_replicas(self: Emitter, layout: RegisterLayout) -> list[Expr]:
        """Conditions that pick one of the threads that hold the same elements."""
        found: list[Expr] = []
        for stride, count in layout.replicas:
            if stride * count >= self.threads:
                found.append(Expr(f"threadIdx.x < {stride}", PRECEDENCE["<"]))
            else:
                part = "threadIdx.x" if stride == 1 else f"threadIdx.x / {stride}"
                found.append(Expr(f"{part} % {count} == 0", PRECEDENCE["=="]))
        return found

    def order(self: Emitter, op: Op, writes: bool) -> None:
        """A barrier where another thread's access to the same memory might otherwise come too late or too early."""
        pointer = op.operands[0]
        earlier = [*self.stores, *(self.loads if writes else [])]
        if any(self._collide(op, other, pointer) for other in earlier):
            self.flush()
            self.w.at(op.loc)
            self.synchronize()
        (self.stores if writes else self.loads).append(op)

    def _collide(self: Emitter, op: Op, other: Op, pointer: Value) -> bool:
        mine, others = self.alias_classes.class_of(pointer), self.alias_classes.class_of(other.operands[0])
        if not (mine.anywhere or others.anywhere or mine.arguments & others.arguments):
            return False
        same = other.operands[0] is pointer and self._where(op) == self._where(other)
        return not same  # equal addresses in an equal layout: every thread meets only its own elements

    def _where(self: Emitter, op: Op) -> RegisterLayout | None:
        pointer = op.operands[0]
        return self.layout(pointer) if pointer.type.shape else None

    def synchronize(self: Emitter) -> None:
        """A barrier, after which nothing that came before needs another."""
        self.w.line("__syncthreads();")
        self.loads.clear()
        self.stores.clear()

    def barrier(self: Emitter, op: Op) -> None:
        self.flush()
        self.w.at(op.loc)
        self.synchronize()

    # ---- loads ---------------------------------------------------------------------------------------

    def load(self: Emitter, op: Op) -> None:
        assert isinstance(op, Load)
        self.order(op, False)
        if not op.result.type.shape:
            self.flush()
            self.w.at(op.loc)
            self._define_scalar(op.result, self._loaded(op, ()))
            return
        layout = self.layout(op.result)
        width, axis, uniform = self._vector(op, layout)
        steps = tuple(width if a == axis else 1 for a in range(len(layout.axes)))
        group = self.group_for(layout, steps=steps)
        for v in op.operands:
            self.need(v, group)
        local = self.local(op.result, layout)
        group.ops.add(op)
        self.placed[op.result] = group
        if width == 1:
            group.statements.append(
                Statement(op.loc, local.shape, lambda index: [self._loaded(op, index)], local, op.result)
            )
            return
        group.statements.append(
            Statement(op.loc, local.shape, lambda index: self._load_vector(op, index, width, axis, uniform))
        )
        group.arrays.append(local)

    def _loaded(self: Emitter, op: Load, index: Coordinate) -> Expr:
        """One element: zero or `other` where the mask is false."""
        element = op.result.type.scalar
        value = self._read(op, self.cell(op.ptr, index), element)
        conditions = [self.text(op.mask, index)] if op.mask is not None else []
        if op.result.type.shape:
            conditions += self.inside(self.layout(op.result), index)
        if not conditions:
            return value
        other = self.text(op.other, index) if op.other is not None else self.literal(0, element)  # type: ignore[arg-type]
        return conditional(all_of(conditions), value, other)

    def _read(self: Emitter, op: Load, cell: Expr, element: ScalarType) -> Expr:
        if op.volatile:
            cell = Expr(f"*(volatile {memory_type(element)}*)&{cell.within(UNARY)}", UNARY)
        return binary("!=", cell, Expr("0")) if element.text == "i1" else cell

    def _load_vector(
        self: Emitter, op: Load, index: Coordinate, width: int, axis: int, uniform: bool
    ) -> list[str]:
        element = op.result.type.scalar
        self.used.add("vec")
        start = self.address(op.ptr, index)
        target = self.held[op.result]
        lanes = [self._shifted(index, axis, u) for u in range(width)]
        found = Expr(f"load_vec<{width}>({start})")
        kind = f"vec<{self.type(element)}, {width}>"
        whole = self._whole(op, lanes, uniform)
        copies = [f"{target.at(lane)} = " for lane in lanes]
        if whole is None:
            return [f"{{ {kind} t = {found};", *(f"  {c}t.v[{u}];" for u, c in enumerate(copies)), "}"]
        out = [f"if ({whole}) {{", f"  {kind} t = {found};"]
        out += [f"  {c}t.v[{u}];" for u, c in enumerate(copies)]
        out.append("} else {")
        out += [f"  {c}{self._fallback(op, lane, uniform)};" for c, lane in zip(copies, lanes, strict=True)]
        return [*out, "}"]

    def _whole(self: Emitter, op: Load | Store, lanes: list[Coordinate], uniform: bool) -> Expr | None:
        """The condition that all elements of a vector are wanted."""
        layout = self.layout(op.ptr)
        conditions = self.inside(layout, lanes[-1])
        if op.mask is not None:
            conditions = [self.text(op.mask, lane) for lane in (lanes[:1] if uniform else lanes)] + conditions
        return all_of(list(dict.fromkeys(conditions))) if conditions else None

    def _fallback(self: Emitter, op: Load, lane: Coordinate, uniform: bool) -> Expr:
        """An element of a vector that is not wanted whole."""
        if not uniform:
            return self._loaded(op, lane)
        element = op.result.type.scalar
        return self.text(op.other, lane) if op.other is not None else self.literal(0, element)  # type: ignore[arg-type]

    def _shifted(self: Emitter, index: Coordinate, axis: int, by: int) -> Coordinate:
        at = index[axis]
        moved = at + by if isinstance(at, int) else at if not by else binary("+", at, Expr(str(by)))
        return tuple(moved if a == axis else i for a, i in enumerate(index))

    def _vector(self: Emitter, op: Op, layout: RegisterLayout) -> tuple[int, int, bool]:
        """(elements moved at once, their axis, whether the mask is the same for all of them)."""
        if self.spelled:
            return 1, 0, False
        pointer: Value = op.operands[0]
        scalar = pointer.type.scalar
        assert isinstance(scalar, PointerType)
        if scalar.element_ty.text == "i1" or getattr(op, "volatile", False):
            return 1, 0, False
        found = vectors_of(self.facts, pointer, getattr(op, "mask", None))
        axis = found.order[0]
        width = 1
        while width * 2 <= found.count and layout.axes[axis].vector % (width * 2) == 0:
            width *= 2
        return width, axis, found.uniform_mask

    # ---- stores --------------------------------------------------------------------------------------

    def store(self: Emitter, op: Op) -> None:
        assert isinstance(op, Store)
        self.order(op, True)
        if not op.ptr.type.shape:
            self.flush()
            self.w.at(op.loc)
            conditions = [Expr("threadIdx.x == 0", PRECEDENCE["=="])]
            conditions += [self.text(op.mask)] if op.mask is not None else []
            self.w.all([f"if ({all_of(conditions)}) {self._stored(op, ())}"])
            return
        layout = self.layout(op.ptr)
        width, axis, uniform = self._vector(op, layout)
        steps = tuple(width if a == axis else 1 for a in range(len(layout.axes)))
        group = self.group_for(layout, stores=True, steps=steps)
        for v in op.operands:
            self.need(v, group)
        group.ops.add(op)
        if width == 1:
            write = lambda index: self._store_one(op, index)
        else:
            write = lambda index: self._store_vector(op, index, width, axis, uniform)
        group.statements.append(Statement(op.loc, layout.register_shape, write))

    def _stored(self: Emitter, op: Store, index: Coordinate) -> str:
        return f"{self.cell(op.ptr, index)} = {self.text(op.value, index)};"

    def _store_one(self: Emitter, op: Store, index: Coordinate) -> list[str]:
        layout = self.layout(op.ptr)
        conditions = self.first_of_replicas(layout)
        conditions += [self.text(op.mask, index)] if op.mask is not None else []
        conditions += self.inside(layout, index)
        text = self._stored(op, index)
        if not conditions:
            return [text]
        return (
            [f"if ({all_of(conditions)}) {{", f"  {text}", "}"]
            if self.spelled
            else [f"if ({all_of(conditions)}) {text}"]
        )

    def _store_vector(
        self: Emitter, op: Store, index: Coordinate, width: int, axis: int, uniform: bool
    ) -> list[str]:
        self.used.add("vec")
        element = op.value.type.scalar
        lanes = [self._shifted(index, axis, u) for u in range(width)]
        values = ", ".join(self.text(op.value, lane) for lane in lanes)
        start = self.address(op.ptr, index)
        go = f"store_vec({start}, vec<{self.type(element)}, {width}>{{{{{values}}}}});"
        layout = self.layout(op.ptr)
        first = self.first_of_replicas(layout)
        whole = self._whole(op, lanes, uniform)
        if whole is None:
            return [f"if ({all_of(first)}) {go}"] if first else [go]
        if uniform:
            return [f"if ({all_of([*first, whole])}) {go}"]
        out = [f"if ({all_of([*first, whole])}) {{", f"  {go}", "} else {"]
        for lane in lanes:
            out += [f"  {line}" for line in self._store_one(op, lane)]
        return [*out, "}"]


def all_of(conditions: list[Expr]) -> Expr:
    """All of `conditions`, of which there is one or more."""
    out = conditions[0]
    for c in conditions[1:]:
        out = binary("&&", out, c)
    return out
