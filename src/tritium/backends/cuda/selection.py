"""The first elements in order of a warp's part of a line: sorting networks over registers, then lanes by shuffles.

Every thread sorts its registers by runs of as many as are wanted and keeps the first half of every two merged runs. Lanes
then exchange their runs: of one run and another turned around, the better of each two elements are the first of both in
bitonic order, which a merge puts in order again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda.reductions import each_register
from tritium.backends.cuda.registers import Coordinate, Index, coordinate
from tritium.backends.cuda.sorting import order_key
from tritium.ir.core import Op
from tritium.ir.types import DType
from tritium.ops.emit import Expr, call, conditional
from tritium.ops.gpu_sort import TopGroups, last_value
from tritium.passes.lower_reductions import WARP

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


def batcher(count: int) -> Iterator[tuple[int, int]]:
    """Comparators that sort `count` registers, a power of two: Batcher's odd-even merge sort."""
    run = 1
    while run < count:
        step = run
        while step >= 1:
            for start in range(step % run, count - step, 2 * step):
                for i in range(min(step, count - start - step)):
                    if (start + i) // (2 * run) == (start + i + step) // (2 * run):
                        yield start + i, start + i + step
            step //= 2
        run *= 2


def bitonic_merge(count: int) -> Iterator[tuple[int, int]]:
    """Comparators that sort `count` registers, a power of two, which rise and then fall or the other way round."""
    step = count // 2
    while step:
        yield from ((i, i + step) for i in range(count) if not i & step)
        step //= 2


def top_groups(e: Emitter, op: Op) -> None:
    assert isinstance(op, TopGroups)
    e.settle(op.x)
    e.flush()
    e.w.at(op.loc)
    layout, result = e.layout(op.x), e.layout(op.result)
    target = e.local(op.result, result)
    if target.is_array:
        e.w.line(f"{target.declaration()};")
    line = _Selection(e, op)
    axis = len(layout.axes) - 1

    def write(index: dict[int, Index]) -> None:
        found = line.write(index)
        for j in range(op.k):
            at = tuple(j if a == axis else index[a] for a in range(axis + 1))
            value = call(f"of_order_key<{target.type}>", found[j])
            head = target.at(at)
            e.w.line(f"{head} = {value};" if target.is_array else f"{target.type} {head} = {value};")

    e.used.add("of_order_key")
    each_register(e, layout, list(range(axis)), {}, write)


class _Selection:
    """The selection along the last axis at one place along the others."""

    def __init__(self, e: Emitter, op: TopGroups) -> None:
        self.e = e
        self.op = op
        self.layout = e.layout(op.x)
        self.side = self.layout.axes[-1]
        self.run = 1 << (op.k - 1).bit_length()
        scalar = op.x.type.scalar
        assert isinstance(scalar, DType)
        self.scalar = scalar
        wide = scalar.itemsize == 8
        self.kind = {False: "int", True: "long long"}[wide]
        if scalar.is_int_unsigned():
            self.kind = f"unsigned {self.kind}"
        self.last = _last_key(e, scalar, op.descending)

    def write(self, index: dict[int, Index]) -> list[Expr]:
        """Statements that leave the first `run` keys in the variables returned."""
        e = self.e
        count = self.side.registers
        name = e.names.fresh(f"{self.op.result.name or 'top'}_keys")
        total = -(-count // self.run) * self.run
        e.w.line(f"{self.kind} {name}[{total}];")
        for r in range(total):
            e.w.line(f"{name}[{r}] = {self._key(index, r) if r < count else self.last};")
        for start in range(0, total, self.run):
            self._network(name, batcher(self.run), start)
            if start:
                self._keep(name, [Expr(f"{name}[{start + i}]") for i in range(self.run)])
        masks = list(self._masks())
        other = e.names.fresh("other") if masks else ""
        if masks:
            e.w.line(f"{self.kind} {other}[{self.run}];")
        for mask in masks:
            for i in range(self.run):
                e.w.line(f"{other}[{i}] = {e.helper('from_lane', f'{name}[{i}]', str(mask))};")
            self._keep(name, [Expr(f"{other}[{i}]") for i in range(self.run)])
        return [Expr(f"{name}[{i}]") for i in range(self.run)]

    def _key(self, index: dict[int, Index], register: int) -> Expr:
        axis = len(self.layout.axes) - 1
        at: Coordinate = tuple(register if a == axis else index[a] for a in range(axis + 1))
        key = order_key(self.e, self.e.text(self.op.x, at), self.scalar)
        if not self.side.overhangs:
            return key
        place = coordinate(self.e.thread_coordinate(self.layout, axis), self.side, register)
        return conditional(Expr(f"{place.within(8)} < {self.side.extent}", 8), key, self.last)

    def _network(self, name: str, pairs: Iterator[tuple[int, int]], start: int) -> None:
        down = str(self.op.descending).lower()
        self.e.used.add("in_order")
        self.e.w.all(f"in_order<{down}>({name}[{start + i}], {name}[{start + j}]);" for i, j in pairs)

    def _keep(self, name: str, other: Sequence[Expr]) -> None:
        """Of the runs at the start of `name` and in `other` the first elements, in order at the start of `name`."""
        better = "max" if self.op.descending else "min"
        for i in range(self.run):
            self.e.w.line(f"{name}[{i}] = {better}({name}[{i}], {other[self.run - 1 - i]});")
        self._network(name, bitonic_merge(self.run), 0)

    def _masks(self) -> Iterator[int]:
        """Which bits of the lane's number to exchange over: those that tell elements of one group apart."""
        for d in self.side.split_at(WARP):
            if d.is_thread and d.stride * d.count <= WARP:
                bit = 1
                while bit < d.count:
                    yield d.stride * bit
                    bit *= 2


def _last_key(e: Emitter, scalar: DType, descending: bool) -> Expr:
    """The key of what orders last, as a literal."""
    value = last_value(scalar, descending)
    if not scalar.is_floating():
        return e.literal(value, scalar)
    return order_key(e, e.literal(value, scalar), scalar)
