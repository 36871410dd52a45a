"""Which layouts every value is wanted in, walking backwards from what must be computed.

Part of `tritium.passes.assign_layouts`, which says what layouts are for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tritium.ir.core import Function, Op, Region, Value
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, If, While, Yield
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout
from tritium.ops.memory import Load, Store
from tritium.ops.reduce import Reduce
from tritium.ops.reshape import Reshape
from tritium.ops.scan import Scan
from tritium.passes.layout_homes import FREE, Homes, is_transparent

SMALL = 4096
"""A load of at most so many elements may be repeated by several threads rather than converted."""


@dataclass
class OpPlan:
    """How an op is computed: the layouts of its result (none for scalars), and what its operands need for each."""

    layouts: list[RegisterLayout] = field(default_factory=list)
    operands: Callable[[RegisterLayout | None, int], RegisterLayout | None] = lambda layout, i: layout


class Wants:
    """``wants[value]``: layouts in the order they were asked for; ``plans[op]`` for ops without control flow."""

    def __init__(self, function: Function, homes: Homes) -> None:
        self.homes = homes
        self.plans: dict[Op, OpPlan] = {}
        self._wanted: dict[Value, list[RegisterLayout]] = {}
        self._scalars: set[Value] = set()
        self._region(function.body)

    def __getitem__(self, value: Value) -> Sequence[RegisterLayout]:
        return self._wanted.get(value, ())

    def want(self, value: Value, layout: RegisterLayout | None) -> None:
        if not value.type.shape:
            self._scalars.add(value)
            return
        assert layout is not None and layout.shape == value.type.shape, (value, layout)
        wanted = self._wanted.setdefault(value, [])
        if layout not in wanted:
            wanted.append(layout)

    def _region(self, region: Region) -> None:
        for op in reversed(region.ops):
            assert isinstance(op, TileOp)
            if isinstance(op, (For, While)):
                self._loop(op)
            elif isinstance(op, If):
                self._if(op)
            elif not isinstance(op, Yield):
                self._op(op)

    def _op(self, op: TileOp) -> None:
        needed = op.is_terminator or op.effects() & ~Effect.READ
        if not needed and not any(r in self._scalars or self._wanted.get(r) for r in op.results):
            return
        plan = self._plan(op)
        self.plans[op] = plan
        for layout in plan.layouts or [None]:
            for i, v in enumerate(op.operands):
                self.want(v, plan.operands(layout, i))

    def _plan(self, op: TileOp) -> OpPlan:
        if isinstance(op, Reduce):
            source = self.homes.reduced[op]
            own = [source.drop(op.axis)] if op.results[0].type.shape else []
            return OpPlan(own, lambda layout, i: source)
        if isinstance(op, Scan):
            return OpPlan([self.homes.home[op.results[0]]])
        if isinstance(op, Dot):
            home = self.homes.home[op.result]
            return OpPlan([home], lambda layout, i: home if i == 2 else self._own(op.operands[i]))
        if isinstance(op, Load) and op.result.type.shape:
            return OpPlan([self._loaded(op)])
        if isinstance(op, Store):
            return OpPlan([], self._stored(op))
        if not op.results or not op.results[0].type.shape:
            return self._to_scalar(op)
        return self._computed(op)

    def _computed(self, op: TileOp) -> OpPlan:
        wanted = [layout for r in op.results for layout in self._wanted.get(r, ())]
        home = self.homes[op.results[0]]
        if op.effects() & Effect.ATOMIC:
            assert home is not None
            return OpPlan([home])
        if isinstance(op, FREE):
            return OpPlan(wanted)
        if not is_transparent(op):
            own = home or self.homes.default(op.results[0].type.shape)
            return OpPlan([own], lambda layout, i: self._own(op.operands[i]))
        cheap = all(r in self.homes.cheap for r in op.results)
        if len(wanted) > 1 and not cheap:
            wanted = [home if home in wanted else wanted[0]]  # type: ignore[list-item]
        return OpPlan(wanted, lambda layout, i: op.operand_layout(layout, i))  # type: ignore[arg-type]

    def _own(self, value: Value) -> RegisterLayout | None:
        """The layout of an operand that is read in whatever layout it has."""
        if not value.type.shape:
            return None
        wanted = self._wanted.get(value)
        return self.homes[value] or (wanted[0] if wanted else self.homes.default(value.type.shape))

    def _loaded(self, op: Load) -> RegisterLayout:
        """A load follows its addresses, but small tiles follow the one layout they are used in."""
        home = self.homes.home[op.result]
        wanted = self._wanted.get(op.result, [])
        if home in wanted or len(wanted) != 1:
            return home
        follows = all(v in self.homes.cheap for v in op.operands)
        return wanted[0] if follows and op.result.type.numel <= SMALL and len(home.shape) == 1 else home

    def _stored(self, op: Store) -> Callable[[RegisterLayout | None, int], RegisterLayout | None]:
        """A store goes in the layout its value has, unless that is cheap to have in any or would scatter the elements."""
        if not op.ptr.type.shape:
            return lambda layout, i: None
        fixed = next(
            (self.homes[v] for v in op.operands[1:] if v not in self.homes.cheap and self.homes[v]), None
        )
        if fixed is None or (self.homes.policy.name != "seed" and self.homes.scatters(op, fixed)):
            fixed = self.homes.memory(op)
        layout = fixed
        return lambda _, i: layout

    def _to_scalar(self, op: TileOp) -> OpPlan:
        if isinstance(op, Reshape):  # every thread needs the only element
            units = tuple(AxisLayout(1) for _ in op.x.type.shape)
            return OpPlan([], lambda layout, i: RegisterLayout(units, self.homes.policy.threads))
        return OpPlan([], lambda layout, i: self._own(op.operands[i]))

    # ---- control flow --------------------------------------------------------------------------------

    def _layouts(self, op: For | While | If) -> list[RegisterLayout | None]:
        return [self.homes.home[r] if r.type.shape else None for r in op.results]

    def _if(self, op: If) -> None:
        for region in op.regions:
            self._yields(region, self._layouts(op))
            self._region(region)
        self.want(op.condition, None)

    def _loop(self, op: For | While) -> None:
        layouts = self._layouts(op)
        for region in reversed(op.regions):
            same = len(region.ops[-1].operands) == len(layouts) and region is op.body
            self._yields(region, layouts if same else [None])
            self._region(region)
        for v in op.operands[: len(op.operands) - len(layouts)]:
            self.want(v, None)
        for v, layout in zip(op.inits, layouts, strict=True):
            self.want(v, layout)

    def _yields(self, region: Region, layouts: Sequence[RegisterLayout | None]) -> None:
        for v, layout in zip(region.ops[-1].operands, layouts, strict=True):
            self.want(v, layout)
