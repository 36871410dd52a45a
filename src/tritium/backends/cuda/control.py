"""Structured control flow: carried values are variables that the yield assigns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.registers import Fragments, Local, Uniform
from tritium.ir.core import Op, Region, Value
from tritium.ir.types import DType
from tritium.ops.control import For, If, Return, While
from tritium.ops.create import Constant
from tritium.ops.emit import Expr

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


def finish(e: Emitter, op: Op) -> None:
    if isinstance(op, Return):
        e.flush()


# ---- carried values ------------------------------------------------------------------------------


def _variables(e: Emitter, op: Op, inits: Sequence[Value] | None) -> list[Value]:
    """Declare a variable for every result of `op`, set to `inits` if there are any."""
    for v in inits or ():
        e.settle(v)
    e.flush()
    e.w.at(op.loc)
    for i, r in enumerate(op.results):
        _declare(e, r, inits[i] if inits is not None else None)
    return op.results


def _declare(e: Emitter, value: Value, init: Value | None) -> None:
    kind = e.type(value.type.scalar)  # type: ignore[arg-type]
    if not value.type.shape:
        name = e.names.of(value)
        e.w.line(f"{kind} {name};" if init is None else f"{kind} {name} = {e.scalar(init)};")
        e.held[value] = Uniform(Expr(name))
        return
    source = e.held.get(init) if init is not None else None
    if isinstance(source, Fragments):
        e.held[value] = made = replace(source, name=e.names.of(value))
        e.w.line(f"{made.declaration()};")
        _copy_fragments(e, made, source)
        return
    layout = e.layout(value)
    local = e.local(value, layout)
    group = Group(layout, tuple(1 for _ in layout.axes))
    if init is None:
        if e.spelled:
            group.statements.append(
                Statement(None, layout.register_shape, lambda index: [f"{kind} {local.at(index)};"])
            )
            group.write(e.w, e.users, True)
        else:
            e.w.line(f"{local.declaration()};")
        return
    group.statements.append(
        Statement(None, layout.register_shape, lambda index: [e.text(init, index)], local, None)
    )
    group.write(e.w, e.users, e.spelled)


def _copy_fragments(e: Emitter, target: Fragments, source: Fragments) -> None:
    count, registers = target.shape
    e.w.pragma("unroll")
    with e.w.block(f"for (int i = 0; i < {count}; ++i)"):
        e.w.pragma("unroll")
        e.w.line(f"for (int j = 0; j < {registers}; ++j) {target.name}[i][j] = {source.name}[i][j];")


def _assign(e: Emitter, targets: Sequence[Value], values: Sequence[Value]) -> None:
    """The yield: all targets take their new values at once."""
    for v in values:
        e.settle(v)
    e.flush()
    moves = [(t, v) for t, v in zip(targets, values, strict=True) if e.held[v] is not e.held[t]]
    _in_order(e, [(t, v) for t, v in moves if not isinstance(e.held[t], Fragments)])
    for t, v in moves:  # no other value is made of fragments
        to, source = e.held[t], e.held[v]
        if isinstance(to, Fragments):
            assert isinstance(source, Fragments)
            _copy_fragments(e, to, source)


def _in_order(e: Emitter, moves: list[tuple[Value, Value]]) -> None:
    """Assign one by one, through temporaries where a later move reads what an earlier one has set."""
    names = {_name(e, t): i for i, (t, _) in enumerate(moves)}
    late: dict[int, str] = {}
    for i, (t, v) in enumerate(moves):
        words = set(re.findall(r"\w+", _sample(e, v)))
        if any(names[w] < i for w in words if w in names):
            late[i] = _keep(e, t, v)
    for i, (t, v) in enumerate(moves):
        _move(e, t, v, late.get(i))


def _name(e: Emitter, value: Value) -> str:
    held = e.held[value]
    return held.name if isinstance(held, Local) else str(held.at(()))


def _sample(e: Emitter, value: Value) -> str:
    """Some text of the value, for the variables in it."""
    if not value.type.shape:
        return e.scalar(value)
    held = e.held[value]
    text = held.at(tuple(0 for _ in e.layout(value).axes))
    return held.name if isinstance(held, Local) else text


def _keep(e: Emitter, target: Value, value: Value) -> str:
    """Copy `value` into a temporary; gives its name."""
    name = e.names.fresh(f"next_{_name(e, target)}")
    kind = e.type(target.type.scalar)  # type: ignore[arg-type]
    if not target.type.shape:
        e.w.line(f"{kind} {name} = {e.scalar(value)};")
        return name
    layout = e.layout(target)
    local = Local(name, kind, layout.register_shape, e.spelled)
    group = Group(layout, tuple(1 for _ in layout.axes))
    group.statements.append(
        Statement(None, layout.register_shape, lambda index: [e.text(value, index)], local, None)
    )
    group.write(e.w, e.users, e.spelled)
    return name


def _move(e: Emitter, target: Value, value: Value, kept: str | None) -> None:
    if not target.type.shape:
        e.w.line(f"{e.scalar(target)} = {kept or e.scalar(value)};")
        return
    layout = e.layout(target)
    source = Local(kept, "", layout.register_shape, e.spelled) if kept else e.held[value]
    group = Group(layout, tuple(1 for _ in layout.axes))
    group.statements.append(
        Statement(
            None,
            layout.register_shape,
            lambda index: [f"{e.text(target, index)} = {source.at(index)};"],
        )
    )
    group.write(e.w, e.users, e.spelled)


# ---- ops -----------------------------------------------------------------------------------------


def run_if(e: Emitter, op: Op) -> None:
    assert isinstance(op, If)
    for region in op.regions:
        e.settle_for(region)
    _variables(e, op, None)
    with e.w.block(f"if ({e.scalar(op.condition)})"):
        _branch(e, op, op.then_region)
    if len(op.else_region.ops) > 1 or op.results:
        with e.w.block("else"):
            _branch(e, op, op.else_region)
    _forget_order(e)


def _branch(e: Emitter, op: If, region: Region) -> None:
    before = list(e.loads), list(e.stores)
    e.region(region)
    _assign(e, op.results, region.ops[-1].operands)
    e.flush()
    e.loads[:0], e.stores[:0] = before


def _forget_order(e: Emitter) -> None:
    """Accesses of a nested region may come before any that follow: they all count."""


def run_for(e: Emitter, op: Op) -> None:
    assert isinstance(op, For)
    e.settle_for(op.body)
    _variables(e, op, op.inits)
    for arg, r in zip(op.body.args[1:], op.results, strict=True):
        e.held[arg] = e.held[r]
    iv = op.body.args[0]
    name = e.names.of(iv)
    kind = e.type(iv.type.scalar)  # type: ignore[arg-type]
    e.held[iv] = Uniform(Expr(name))
    lower, upper, step = (e.scalar(v) for v in (op.lower, op.upper, op.step))
    fixed = op.step.defining_op
    if isinstance(fixed, Constant) and not _overshoots(e, op, fixed.value):
        sign = "<" if fixed.value > 0 else ">"
        head = f"for ({kind} {name} = {lower}; {name} {sign} {upper}; {name} += {step})"
    else:
        trips = e.names.fresh(f"{name}_trips")
        e.used.add("trip_count")
        e.w.line(f"long long {trips} = trip_count<{kind}>({lower}, {upper}, {step});")
        after = e.helper("wrapping_add", Expr(name), step)
        head = f"for ({kind} {name} = {lower}; {trips} > 0; --{trips}, {name} = {after})"
    loop_accesses(e, op)
    with e.w.block(head):
        e.region(op.body)
        _assign(e, op.body.args[1:], op.body.ops[-1].operands)
        e.flush()


def _overshoots(e: Emitter, op: For, step: int) -> bool:
    """Whether the counter, one step behind the end, is known to leave its type: then trips are counted."""
    ty = op.upper.type
    assert isinstance(ty, DType)
    upper = e.facts[op.upper]
    if step > 0:
        return upper.lo is not None and upper.lo - 1 + step > ty.get_int_max_value()
    return upper.hi is not None and upper.hi + 1 + step < ty.get_int_min_value()


def run_while(e: Emitter, op: Op) -> None:
    assert isinstance(op, While)
    for region in op.regions:
        e.settle_for(region)
    _variables(e, op, op.inits)
    for region in op.regions:
        for arg, r in zip(region.args, op.results, strict=True):
            e.held[arg] = e.held[r]
    loop_accesses(e, op)
    with e.w.block("while (true)"):
        e.region(op.cond)
        e.flush()
        e.w.line(f"if (!({e.scalar(op.cond.ops[-1].operands[0])})) break;")
        e.region(op.body)
        _assign(e, op.body.args, op.body.ops[-1].operands)
        e.flush()


def loop_accesses(e: Emitter, op: Op) -> None:
    """An iteration follows the one before it: the accesses of the loop itself come before its first."""
    for inner in op.walk():
        if inner.name == "tile.store":
            e.stores.append(inner)
        elif inner.name == "tile.load":
            e.loads.append(inner)
