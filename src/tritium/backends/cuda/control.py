"""Structured control flow: carried values are variables that the yield assigns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.registers import Local, Uniform
from tritium.ir.core import Op, Region, Value
from tritium.ops.control import For, If, Return, While
from tritium.ops.create import Constant
from tritium.ops.emit import Expr

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


class Control:
    """The verbs of `tritium.ops.control`."""

    def finish(self: Emitter, op: Op) -> None:
        if isinstance(op, Return):
            self.flush()

    # ---- carried values ------------------------------------------------------------------------------

    def _variables(self: Emitter, op: Op, inits: Sequence[Value] | None) -> list[Value]:
        """Declare a variable for every result of `op`, set to `inits` if there are any."""
        for v in inits or ():
            self.settle(v)
        self.flush()
        self.w.at(op.loc)
        for i, r in enumerate(op.results):
            self._declare(r, inits[i] if inits is not None else None)
        return op.results

    def _declare(self: Emitter, value: Value, init: Value | None) -> None:
        kind = self.type(value.type.scalar)  # type: ignore[arg-type]
        if not value.type.shape:
            name = self.names.of(value)
            self.w.line(f"{kind} {name};" if init is None else f"{kind} {name} = {self.scalar(init)};")
            self.held[value] = Uniform(Expr(name))
            return
        layout = self.layout(value)
        local = self.local(value, layout)
        group = Group(layout, tuple(1 for _ in layout.axes))
        if init is None:
            if self.spelled:
                group.statements.append(
                    Statement(None, layout.register_shape, lambda index: [f"{kind} {local.at(index)};"])
                )
                group.write(self.w, self.users, True)
            else:
                self.w.line(f"{local.declaration()};")
            return
        group.statements.append(
            Statement(None, layout.register_shape, lambda index: [self.text(init, index)], local, None)
        )
        group.write(self.w, self.users, self.spelled)

    def _assign(self: Emitter, targets: Sequence[Value], values: Sequence[Value]) -> None:
        """The yield: all targets take their new values at once."""
        for v in values:
            self.settle(v)
        self.flush()
        self._in_order(
            [(t, v) for t, v in zip(targets, values, strict=True) if self.held[v] is not self.held[t]]
        )

    def _in_order(self: Emitter, moves: list[tuple[Value, Value]]) -> None:
        """Assign one by one, through temporaries where a later move reads what an earlier one has set."""
        names = {self._name(t): i for i, (t, _) in enumerate(moves)}
        late: dict[int, str] = {}
        for i, (t, v) in enumerate(moves):
            words = set(re.findall(r"\w+", self._sample(v)))
            if any(names[w] < i for w in words if w in names):
                late[i] = self._keep(t, v)
        for i, (t, v) in enumerate(moves):
            self._move(t, v, late.get(i))

    def _name(self: Emitter, value: Value) -> str:
        held = self.held[value]
        return held.name if isinstance(held, Local) else str(held.at(()))

    def _sample(self: Emitter, value: Value) -> str:
        """Some text of the value, for the variables in it."""
        if not value.type.shape:
            return self.scalar(value)
        held = self.held[value]
        text = held.at(tuple(0 for _ in self.layout(value).axes))
        return held.name if isinstance(held, Local) else text

    def _keep(self: Emitter, target: Value, value: Value) -> str:
        """Copy `value` into a temporary; gives its name."""
        name = self.names.fresh(f"next_{self._name(target)}")
        kind = self.type(target.type.scalar)  # type: ignore[arg-type]
        if not target.type.shape:
            self.w.line(f"{kind} {name} = {self.scalar(value)};")
            return name
        layout = self.layout(target)
        local = Local(name, kind, layout.register_shape, self.spelled)
        group = Group(layout, tuple(1 for _ in layout.axes))
        group.statements.append(
            Statement(None, layout.register_shape, lambda index: [self.text(value, index)], local, None)
        )
        group.write(self.w, self.users, self.spelled)
        return name

    def _move(self: Emitter, target: Value, value: Value, kept: str | None) -> None:
        if not target.type.shape:
            self.w.line(f"{self.scalar(target)} = {kept or self.scalar(value)};")
            return
        layout = self.layout(target)
        source = Local(kept, "", layout.register_shape, self.spelled) if kept else self.held[value]
        group = Group(layout, tuple(1 for _ in layout.axes))
        group.statements.append(
            Statement(
                None,
                layout.register_shape,
                lambda index: [f"{self.text(target, index)} = {source.at(index)};"],
            )
        )
        group.write(self.w, self.users, self.spelled)

    # ---- ops -----------------------------------------------------------------------------------------

    def run_if(self: Emitter, op: Op) -> None:
        assert isinstance(op, If)
        for region in op.regions:
            self.settle_for(region)
        self._variables(op, None)
        with self.w.block(f"if ({self.scalar(op.condition)})"):
            self._branch(op, op.then_region)
        if len(op.else_region.ops) > 1 or op.results:
            with self.w.block("else"):
                self._branch(op, op.else_region)
        self._forget_order()

    def _branch(self: Emitter, op: If, region: Region) -> None:
        before = list(self.loads), list(self.stores)
        self.region(region)
        self._assign(op.results, region.ops[-1].operands)
        self.flush()
        self.loads[:0], self.stores[:0] = before

    def _forget_order(self: Emitter) -> None:
        """Accesses of a nested region may come before any that follow: they all count."""

    def run_for(self: Emitter, op: Op) -> None:
        assert isinstance(op, For)
        self.settle_for(op.body)
        self._variables(op, op.inits)
        for arg, r in zip(op.body.args[1:], op.results, strict=True):
            self.held[arg] = self.held[r]
        iv = op.body.args[0]
        name = self.names.of(iv)
        kind = self.type(iv.type.scalar)  # type: ignore[arg-type]
        self.held[iv] = Uniform(Expr(name))
        lower, upper, step = (self.scalar(v) for v in (op.lower, op.upper, op.step))
        fixed = op.step.defining_op
        if isinstance(fixed, Constant):
            sign = "<" if fixed.value > 0 else ">"
            head = f"for ({kind} {name} = {lower}; {name} {sign} {upper}; {name} += {step})"
        else:
            trips = self.names.fresh(f"{name}_trips")
            self.used.add("trip_count")
            self.w.line(f"long long {trips} = trip_count<{kind}>({lower}, {upper}, {step});")
            head = f"for ({kind} {name} = {lower}; {trips} > 0; --{trips}, {name} += {step})"
        self.loop_accesses(op)
        with self.w.block(head):
            self.region(op.body)
            self._assign(op.body.args[1:], op.body.ops[-1].operands)
            self.flush()

    def run_while(self: Emitter, op: Op) -> None:
        assert isinstance(op, While)
        for region in op.regions:
            self.settle_for(region)
        self._variables(op, op.inits)
        for region in op.regions:
            for arg, r in zip(region.args, op.results, strict=True):
                self.held[arg] = self.held[r]
        self.loop_accesses(op)
        with self.w.block("while (true)"):
            self.region(op.cond)
            self.flush()
            self.w.line(f"if (!({self.scalar(op.cond.ops[-1].operands[0])})) break;")
            self.region(op.body)
            self._assign(op.body.args, op.body.ops[-1].operands)
            self.flush()

    def loop_accesses(self: Emitter, op: Op) -> None:
        """An iteration follows the one before it: the accesses of the loop itself come before its first."""
        for inner in op.walk():
            if inner.name == "tile.store":
                self.stores.append(inner)
            elif inner.name == "tile.load":
                self.loads.append(inner)
