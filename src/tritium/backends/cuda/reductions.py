"""Reductions inside a warp: first the registers of a thread, then lanes by shuffles.

For operators that commute, all registers are folded in one loop and the lanes after them. Others keep the order of the
elements: digits of the axis are folded from the minor one up, the lower group always on the left. A group that lies
outside the tile altogether is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import VARIABLES
from tritium.backends.cuda.registers import Coordinate, Index, Local, Uniform, coordinate
from tritium.backends.cuda.writer import Writer
from tritium.ir.core import Op, Region, Value
from tritium.ops import combine as tree
from tritium.ops.base import TileOp
from tritium.ops.emit import Expr, binary, conditional
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout
from tritium.ops.gpu_reduce import ReduceGroups
from tritium.passes.lower_reductions import WARP, commutes

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

Values = Sequence[Expr]


@dataclass(frozen=True)
class Fold:
    """How two groups become one: the single op of the combine region, or the name of its device function."""

    op: TileOp | None
    function: str
    commutes: bool

    def lines(self, e: Emitter, into: Values, right: Values) -> list[str]:
        """Statements that set `into` to itself combined with `right`."""
        if self.op is not None:
            return [f"{into[0]} = {e.applied(self.op, [into[0], right[0]])};"]
        return [f"{self.function}({', '.join([*into, *right])});"]


def reduce(e: Emitter, op: Op) -> None:
    e.unsupported(op, " where it was not lowered to machine IR")


def reduce_groups(e: Emitter, op: Op) -> None:
    assert isinstance(op, ReduceGroups)
    for v in op.inputs:
        e.settle(v)
    e.flush()
    e.w.at(op.loc)
    fold = combiner(e, op.combine)
    result = e.layout(op.results[0])
    targets = [e.local(r, result) for r in op.results]
    e.w.all(f"{t.declaration()};" for t in targets if t.is_array)
    line = _Line(e, op, fold, targets)
    each_register(e, line.layout, [a for a in range(len(result.axes)) if a != op.axis], {}, line.write)


def each_register(
    e: Emitter,
    layout: RegisterLayout,
    axes: Sequence[int],
    index: dict[int, Index],
    body: Callable[[dict[int, Index]], None],
) -> None:
    """`body` for every register coordinate along `axes`: loops, or one copy each where registers are spelled out."""
    if not axes:
        body(index)
        return
    axis, *rest = axes
    count = layout.register_shape[axis]
    if count == 1 or e.spelled:
        for place in range(count):
            each_register(e, layout, rest, {**index, axis: place}, body)
        return
    name = VARIABLES[sum(isinstance(i, Expr) for i in index.values())]
    e.w.pragma("unroll")
    with e.w.block(f"for (int {name} = 0; {name} < {count}; ++{name})"):
        each_register(e, layout, rest, {**index, axis: Expr(name)}, body)


def combiner(e: Emitter, combine: Region) -> Fold:
    """`combine` as statements: one op in place, more as a device function."""
    op = tree.single_op(combine)
    return Fold(op, "" if op is not None else device_function(e, combine), commutes(combine))


def device_function(e: Emitter, combine: Region) -> str:
    """A function that folds its second half of arguments into the first, which it takes by reference."""
    count = len(combine.args) // 2
    return _function(e, "combine", combine, list(combine.args[:count]), [])


def region_function(e: Emitter, region: Region) -> str:
    """A function of the region's arguments that puts what it yields into further ones, taken by reference."""
    return _function(e, "mapped", region, [], list(region.ops[-1].operands))


def _function(e: Emitter, name: str, region: Region, changed: list[Value], results: list[Value]) -> str:
    """`changed` are arguments that take what the region yields; `results` ask for parameters of their own."""
    name = e.names.fresh(name)
    saved = e.w, e.groups
    e.w, e.groups = Writer(), []
    parameters: list[str] = []
    for arg in region.args:
        made = e.names.of(arg)
        parameters.append(f"{e.type(arg.type.scalar)}{'&' if arg in changed else ''} {made}")  # type: ignore[arg-type]
        e.held[arg] = Uniform(Expr(made))
    targets = [e.scalar(arg) for arg in changed]
    for value in results:
        targets.append(Expr(e.names.fresh("out")))
        parameters.append(f"{e.type(value.type.scalar)}& {targets[-1]}")  # type: ignore[arg-type]
    for op in region.ops[:-1]:
        assert isinstance(op, TileOp)
        op.emit_cuda(e)
    made_values = [_in_variable(e, v) for v in region.ops[-1].operands]
    e.w.all(f"{t} = {text};" for t, text in zip(targets, made_values, strict=False))
    head = f"__device__ __forceinline__ void {name}({', '.join(parameters)})"
    e.functions += [f"{head} {{", *e.w.lines, "}"]
    e.w, e.groups = saved
    return name


def _in_variable(e: Emitter, value: Value) -> Expr:
    """A yielded value in a variable, since the arguments are about to change."""
    name = e.names.fresh("result")
    e.w.line(f"{e.type(value.type.scalar)} {name} = {e.scalar(value)};")  # type: ignore[arg-type]
    return Expr(name)


class _Line:
    """The folding of the registers and lanes along the axis, at one place along the others."""

    def __init__(self, e: Emitter, op: ReduceGroups, fold: Fold, targets: Sequence[Local]) -> None:
        self.e = e
        self.op = op
        self.fold = fold
        self.targets = targets
        self.layout = e.layout(op.inputs[0])
        self.side = self.layout.axes[op.axis]
        self.digits = self.side.split_at(WARP)
        self.apart = _apart(op, self.side, e.layout(op.results[0]).axes[op.axis])

    def write(self, index: dict[int, Index]) -> None:
        results = self.e.layout(self.op.results[0]).axes[self.op.axis].registers
        count = self.side.registers // results
        for number in range(results):
            parts = self._registers(index, number * count, count)
            for target, part in zip(self.targets, parts, strict=True):
                head = target.at(self._at(index, number))
                self.e.w.line(f"{head} = {part};" if target.is_array else f"{target.type} {head} = {part};")

    def _at(self, index: dict[int, Index], register: Index) -> Coordinate:
        return tuple(register if a == self.op.axis else index[a] for a in range(len(self.layout.axes)))

    def _inputs(self, index: dict[int, Index], register: Index) -> list[Expr]:
        return [self.e.text(v, self._at(index, register)) for v in self.op.inputs]

    def _copy(self, values: Values, what: str) -> list[Expr]:
        """`values` in fresh variables."""
        out: list[Expr] = []
        for target, v in zip(self.targets, values, strict=True):
            name = self.e.names.fresh(f"{target.name}_{what}")
            self.e.w.line(f"{target.type} {name} = {v};")
            out.append(Expr(name))
        return out

    def _registers(self, index: dict[int, Index], start: int, count: int) -> list[Expr]:
        if not self.fold.commutes:
            return self._in_order(index, start, count)
        parts = self._copy(self._inputs(index, start), "part")
        if self.e.spelled or count <= 2:
            for r in range(start + 1, start + count):
                self._fold(parts, self._inputs(index, r), self._inside(r))
        elif count > 1:
            name = VARIABLES[sum(isinstance(i, Expr) for i in index.values())]
            self.e.w.pragma("unroll")
            first = start + 1
            with self.e.w.block(f"for (int {name} = {first}; {name} < {start + count}; ++{name})"):
                self._fold(parts, self._inputs(index, Expr(name)), self._inside(Expr(name)))
        self._lanes(parts, [i for i, d in enumerate(self.digits) if d.is_thread and i not in self.apart])
        return parts

    def _in_order(self, index: dict[int, Index], start: int, count: int) -> list[Expr]:
        """Digit by digit from the minor one up."""
        groups = {r: self._copy(self._inputs(index, start + r), "part") for r in range(count)}
        below = 1
        for i, d in enumerate(self.digits):
            if i in self.apart:
                continue
            if d.is_thread:
                for parts in groups.values():
                    self._lanes(parts, [i])
                continue
            for r in sorted(groups):
                digit = r // below % d.count
                if digit:
                    self._fold(groups[r - digit * below], groups.pop(r), self._inside(start + r))
            below *= d.count
        (parts,) = groups.values()
        return parts

    def _inside(self, register: Index) -> Expr | None:
        """The condition that a register holds an element of the tile, if that is not sure.

        What is folded with it already lies above: its first element decides for all of them.
        """
        if not self.side.overhangs:
            return None
        thread = self.e.thread_coordinate(self.layout, self.op.axis)
        return binary("<", coordinate(thread, self.side, register), Expr(str(self.side.extent)))

    def _fold(self, into: Values, right: Values, condition: Expr | None) -> None:
        lines = self.fold.lines(self.e, into, right)
        self.e.w.all(lines if condition is None else [f"if ({condition}) {text}" for text in lines])

    def _lanes(self, parts: Values, digits: Sequence[int]) -> None:
        """Fold with the lanes that these digits tell apart, one bit after another."""
        for i in digits:
            d = self.digits[i]
            step = 1
            for below in self.digits[:i]:
                step *= below.count
            bit = 1
            while bit < d.count:
                self._exchange(parts, d.stride * bit, self._right_half(d.stride * bit, step * bit))
                bit *= 2

    def _exchange(self, parts: Values, mask: int, right_half: Expr | None) -> None:
        theirs = [self.e.helper("from_lane", x, str(mask)) for x in parts]
        if right_half is None and self.fold.commutes and len(parts) == 1:
            (line,) = self.fold.lines(self.e, parts, theirs)
            if line.count(theirs[0]) == 1 and not any(sign in line for sign in ("?", "&&", "||")):
                self.e.w.line(line)  # the exchange is evaluated by every lane, exactly once
                return
        theirs = self._copy(theirs, "other")
        if right_half is None and self.fold.commutes:
            self.e.w.all(self.fold.lines(self.e, parts, theirs))
            return
        upper = Expr(f"(threadIdx.x & {mask}) != 0", 9)
        right = self._copy([conditional(upper, x, y) for x, y in zip(parts, theirs, strict=True)], "right")
        self.e.w.all(f"{x} = {conditional(upper, y, x)};" for x, y in zip(parts, theirs, strict=True))
        self._fold(parts, right, right_half)

    def _right_half(self, mask: int, step: int) -> Expr | None:
        """The condition that the right one of two groups `mask` apart has an element of the tile.

        Digits below are folded, so they count as 0 and this bit as 1; the registers of either group begin at 0.
        """
        if not self.side.overhangs:
            return None
        out = Expr(str(step))
        reach = 1
        for d in self.digits:
            end = d.stride * d.count
            if d.is_thread and end > 2 * mask:
                low = 2 * mask if d.stride <= mask else d.stride
                scale, count = reach * (low // d.stride), end // low
                part = f"threadIdx.x / {low}" if low > 1 else "threadIdx.x"
                part += f" % {count}" if end < self.layout.threads else ""
                out = Expr(f"int({part}) * {scale} + {out}", 13)
            reach *= d.count
        return binary("<", out, Expr(str(self.side.extent)))


def _apart(op: ReduceGroups, side: AxisLayout, result: AxisLayout) -> set[int]:
    """Which digits of the axis tell groups apart: those that the results still have."""
    left = 1
    for d in result.digits:
        left *= d.count
    found: set[int] = set()
    reach = 1
    for i, d in enumerate(side.split_at(WARP)):
        if left > 1 and reach >= op.low:
            found.add(i)
            left //= d.count
        reach *= d.count
    return found
