"""Scans: a thread's own run in its registers, then the totals of the runs before it from shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import VARIABLES
from tritium.backends.cuda.registers import Coordinate, Index, Local, coordinate
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType
from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_scan import AddCarries, ScanChunks, StoreTotals

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter
    from tritium.backends.cuda.reductions import Fold


class Scans:
    """The verbs of `tritium.ops.gpu_scan`."""

    def scan_chunks(self: Emitter, op: Op) -> None:
        assert isinstance(op, ScanChunks)
        targets, layout, fold = self._begin_scan(op, op.inputs)
        count = layout.axes[op.axis].registers
        order = list(range(count - 1, -1, -1) if op.reverse else range(count))

        def line(index: dict[int, Index]) -> None:
            def at(register: Index) -> Coordinate:
                return tuple(register if a == op.axis else index[a] for a in range(len(layout.axes)))

            running = self._values(targets, [self.text(v, at(order[0])) for v in op.inputs], "running")
            self._set(targets, at(order[0]), running)
            for r in order[1:] if self.spelled else []:
                self._step(fold, running, [self.text(v, at(r)) for v in op.inputs])
                self._set(targets, at(r), running)
            if self.spelled or count == 1:
                return
            i = Expr(VARIABLES[sum(isinstance(x, Expr) for x in index.values())])
            self.w.pragma("unroll")
            head = (
                f"int {i} = {count - 2}; {i} >= 0; --{i}"
                if op.reverse
                else f"int {i} = 1; {i} < {count}; ++{i}"
            )
            with self.w.block(f"for ({head})"):
                self._step(fold, running, [self.text(v, at(i)) for v in op.inputs])
                self._set(targets, at(i), running)

        self.each_register(layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)

    def _begin_scan(
        self: Emitter, op: ScanChunks | AddCarries, inputs: Sequence[Value]
    ) -> tuple[list[Local], RegisterLayout, Fold]:
        for v in inputs:
            self.settle(v)
        self.flush()
        self.w.at(op.loc)
        fold = self.combiner(op.combine)
        layout = self.layout(op.results[0])
        targets = [self.local(r, layout) for r in op.results]
        self.w.all(f"{t.declaration()};" for t in targets if t.is_array)
        return targets, layout, fold

    def _values(self: Emitter, targets: Sequence[Local], values: Sequence[Expr], what: str) -> list[Expr]:
        """`values` in fresh variables."""
        out: list[Expr] = []
        for target, v in zip(targets, values, strict=True):
            name = self.names.fresh(f"{target.name}_{what}")
            self.w.line(f"{target.type} {name} = {v};")
            out.append(Expr(name))
        return out

    def _step(self: Emitter, fold: Fold, running: Sequence[Expr], values: Sequence[Expr]) -> None:
        """Fold `values` onto the right of `running`."""
        self.w.all(fold.lines(self, running, values))

    def _set(self: Emitter, targets: Sequence[Local], at: Coordinate, values: Sequence[Expr]) -> None:
        for target, v in zip(targets, values, strict=True):
            head = target.at(at) if target.is_array else f"{target.type} {target.at(at)}"
            self.w.line(f"{head} = {v};")

    def store_totals(self: Emitter, op: Op) -> None:
        assert isinstance(op, StoreTotals)
        self.settle(op.x)
        self.flush()
        self.w.at(op.loc)
        layout = self.layout(op.x)
        last = 0 if op.reverse else layout.axes[op.axis].registers - 1

        def line(index: dict[int, Index]) -> None:
            at = tuple(last if a == op.axis else index[a] for a in range(len(layout.axes)))
            slot = self._total(op.buffer, layout, op.axis, op.chunk, index, None)
            conditions = [*self.first_of_replicas(layout), *self.inside(layout, at)]
            text = f"{slot} = {self.text(op.x, at)};"
            self.w.line(f"if ({' && '.join(c.within(6) for c in conditions)}) {text}" if conditions else text)

        self.each_register(layout, [a for a in range(len(layout.axes)) if a != op.axis], {}, line)

    def _total(
        self: Emitter,
        buffer: Value,
        layout: RegisterLayout,
        axis: int,
        chunk: int,
        index: dict[int, Index],
        which: Expr | None,
    ) -> Expr:
        """The place of a chunk's total in this thread's line: its own, or number `which`."""
        places: list[Expr] = []
        for a, side in enumerate(layout.axes):
            if a == axis:
                places.append(which if which is not None else self._own_chunk(layout, axis, chunk))
                continue
            at = coordinate(self.thread_coordinate(layout, a), side, index[a])
            if (
                side.overhangs
            ):  # threads outside the tile compute nothing that counts, but must not read elsewhere
                at = Expr(f"min({at}, {side.extent - 1})")
            places.append(at)
        return self.slot(buffer, places, None)

    def _own_chunk(self: Emitter, layout: RegisterLayout, axis: int, chunk: int) -> Expr:
        at = self.thread_coordinate(layout, axis)
        return at if chunk == 1 or at == "0" else binary("/", at, Expr(str(chunk)))

    def add_carries(self: Emitter, op: Op) -> None:
        assert isinstance(op, AddCarries)
        targets, layout, fold = self._begin_scan(op, op.parts)
        count = layout.axes[op.axis].registers
        ty = op.totals[0].type
        assert isinstance(ty, SharedType)
        chunks = ty.dims[op.axis]
        others = [a for a in range(len(layout.axes)) if a != op.axis]
        own = self._own_chunk(layout, op.axis, op.chunk)

        def line(index: dict[int, Index]) -> None:
            def at(register: Index) -> Coordinate:
                return tuple(register if a == op.axis else index[a] for a in range(len(layout.axes)))

            def totals(which: Expr) -> list[Expr]:
                return [self._total(b, layout, op.axis, op.chunk, index, which) for b in op.totals]

            c = Expr(self.names.fresh("chunk"))
            start = Expr(str(chunks - 1 if op.reverse else 0))
            carry = self._values(targets, totals(start), "carry")
            more = (
                f"int {c} = {chunks - 2}; {c} > {own}; --{c}"
                if op.reverse
                else f"int {c} = 1; {c} < {own}; ++{c}"
            )
            with self.w.block(f"for ({more})"):
                self._step(fold, carry, totals(c))
            first = f"{own} == {chunks - 1}" if op.reverse else f"{own} == 0"
            for r in range(count):
                values = [self.text(v, at(r)) for v in op.parts]
                self._carried(fold, targets, at(r), carry, values, first)

        self.each_register(layout, others, {}, line)

    def _carried(
        self: Emitter,
        fold: Fold,
        targets: Sequence[Local],
        at: Coordinate,
        carry: Sequence[Expr],
        values: Sequence[Expr],
        first: str,
    ) -> None:
        """One element: itself in the first chunk, else the carry and then itself."""
        made = self._values(targets, carry, "sum")
        self._step(fold, made, values)
        chosen = [Expr(f"{first} ? {v} : {m}", 3) for v, m in zip(values, made, strict=True)]
        self._set(targets, at, chosen)
