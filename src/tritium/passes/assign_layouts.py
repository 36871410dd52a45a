"""Give every tile value a register layout.

Anchors (dots, loads, stores, reductions) have a layout of their own from the policy. Everything else follows by pull:
walking backwards, each op says which layout its operands need for its result to come out right without an element
changing its thread (`operand_layout`). Cheap values wanted in several layouts are computed once per layout; others are
computed once and converted.

Before: tile IR. After: the same ops, every op with tile results carrying ``layout = "..."`` (a tuple for ops with
regions), and `gpu.convert_layout` where a value is needed in a second layout. Nothing is rejected.

::

    %offs = tile.arange() {start = 0, end = 16}                  wanted by rows and by columns of a 16x16 tile
    =>
    %offs = tile.arange() {..., layout = "16: t4@8 r4 / 32"}
    %offs_1 = tile.arange() {..., layout = "16: t8@1 r2 / 32"}
"""

from __future__ import annotations

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ops.base import TileOp
from tritium.ops.control import For, If, While
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_shared import ConvertLayout
from tritium.passes.layout_homes import Homes
from tritium.passes.layout_policy import LayoutPolicy
from tritium.passes.layout_wants import Wants


def run(function: Function, record: Record, policy: LayoutPolicy) -> Function:
    """A new function with layouts; `function` stays as it is. ``threads`` among its attributes is the CTA's size."""
    homes = Homes(function, policy)
    wants = Wants(function, homes)
    made = _Rebuilder(homes, wants).function(function)
    made.attrs["threads"] = policy.threads
    for value, layout, why, op in homes.reasons:
        record.plan("assign_layouts", f"{value.type} in {layout}: {why}", op)
    return made


class _Rebuilder:
    """Writes the function anew: each op once, or once per layout where it is cheap."""

    def __init__(self, homes: Homes, wants: Wants) -> None:
        self.homes = homes
        self.wants = wants
        self.scalars: dict[Value, Value] = {}
        self.tiles: dict[tuple[Value, RegisterLayout], Value] = {}
        self.builder = Builder(Region())

    def function(self, old: Function) -> Function:
        new = Function(old.name, old.loc)
        new.attrs = dict(old.attrs)
        for arg, facts in zip(old.args, old.arg_attrs, strict=True):
            self.scalars[arg] = new.add_arg(arg.type, arg.name, **facts)  # type: ignore[arg-type]
        with self.builder.into(new.body):
            for op in old.body.ops:
                self._op(op)
        return new

    def get(self, value: Value, layout: RegisterLayout | None) -> Value:
        if not value.type.shape:
            return self.scalars[value]
        assert layout is not None
        return self.tiles[value, layout]

    def _op(self, op: Op) -> None:
        assert isinstance(op, TileOp)
        if isinstance(op, (For, While, If)):
            self._structured(op)
            return
        plan = self.wants.plans.get(op)
        if plan is None:
            return  # no one asks for its result
        for layout in plan.layouts or (None,):
            operands = [self.get(v, plan.operands(layout, i)) for i, v in enumerate(op.operands)]
            new = op.clone({})
            new.set_operands(operands)
            if layout is not None:
                new.attrs["layout"] = str(layout)
            self.builder.insert(new)
            for old_result, result in zip(op.results, new.results, strict=True):
                self._define(old_result, result, layout)
        for r in op.results:
            self._convert(r)

    def _define(self, old: Value, new: Value, layout: RegisterLayout | None) -> None:
        if not old.type.shape:
            self.scalars[old] = new
        elif layout is not None:
            self.tiles[old, layout] = new

    def _convert(self, value: Value) -> None:
        """Conversions of `value` to the layouts it is wanted in and was not computed in."""
        have = [layout for v, layout in self.tiles if v is value]
        for wanted in self.wants[value]:
            if wanted not in have:
                made = ConvertLayout(self.tiles[value, have[0]], result_names=(value.name,))
                made.loc = _loc(value)
                made.attrs["layout"] = str(wanted)
                self.builder.insert(made)
                self.tiles[value, wanted] = made.result

    def _structured(self, op: For | While | If) -> None:
        layouts = [self.homes.home[r] if r.type.shape else None for r in op.results]
        heads = op.operands[: len(op.operands) - len(op.results)] if not isinstance(op, If) else op.operands
        inits = op.operands[len(heads) :]
        operands = [self.get(v, None) for v in heads]
        operands += [self.get(v, layout) for v, layout in zip(inits, layouts, strict=True)] if inits else []
        new = op.clone({})
        new.set_operands(operands)
        for old_region, region in zip(op.regions, new.regions, strict=True):
            self._region(old_region, region, layouts)
        new.attrs["layout"] = tuple(str(layout) if layout else None for layout in layouts)
        self.builder.insert(new)
        for old_result, result, layout in zip(op.results, new.results, layouts, strict=True):
            self._define(old_result, result, layout)
        for r in op.results:
            self._convert(r)

    def _region(self, old: Region, new: Region, layouts: list[RegisterLayout | None]) -> None:
        for nested in new.ops:
            nested.drop_uses()
        new.ops.clear()
        shift = len(old.args) - len(layouts)
        for i, (a, b) in enumerate(zip(old.args, new.args, strict=True)):
            self._define(a, b, layouts[i - shift] if i >= shift else None)
        with self.builder.into(new):
            for a in old.args:
                self._convert(a)
            for nested in old.ops[:-1]:
                self._op(nested)
            end = old.ops[-1]
            assert isinstance(end, TileOp)
            last = end.clone({})
            carried = layouts if len(end.operands) == len(layouts) else [None] * len(end.operands)
            last.set_operands([self.get(v, layout) for v, layout in zip(end.operands, carried, strict=True)])
            self.builder.insert(last)


def _loc(value: Value):  # type: ignore[no-untyped-def]
    op = value.defining_op
    return op.loc if op is not None else None
