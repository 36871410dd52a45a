"""Ranks, scattered writes and counters in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda import memory, shared
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate
from tritium.ir.core import Op
from tritium.ir.types import DType, SharedType
from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_sort import Rank, SharedCount, SharedScatter

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


def order_key(e: Emitter, x: Expr, ty: DType) -> Expr:
    """An integer that is ordered as the language orders elements: -0 before +0, NaN last."""
    if not ty.is_floating():
        return x
    return e.helper("order_key", e.widened(x, ty))


def rank(e: Emitter, op: Op) -> None:
    assert isinstance(op, Rank)
    layout = e.layout(op.result)
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    element = ty.element
    assert isinstance(element, DType)
    group = e.group_for(layout)
    e.need(op.x, group)
    target = e.local(op.result, layout)
    group.ops.add(op)
    e.placed[op.result] = group
    group.arrays.append(target)
    count = ty.dims[-1]

    def lines(index: Coordinate) -> list[str]:
        *outer, own = shared.place(e, layout, index)
        clipped = [
            Expr(f"min({p}, {side.extent - 1})") if side.overhangs else p
            for p, side in zip(outer, layout.axes, strict=False)
        ]
        other = order_key(e, shared.slot(e, op.buffer, [*clipped, Expr("at")], None), element)
        mine = order_key(e, e.text(op.x, index), element)
        before = f"key > mine || (key == mine && at < {own.within(11)})"
        if not op.descending:
            before = before.replace("key > mine", "key < mine")
        kind = "auto"
        return [
            "{",
            f"  {kind} mine = {mine};",
            "  int before = 0;",
            f"  for (int at = 0; at < {count}; ++at) {{",
            f"    {kind} key = {other};",
            f"    before += {before};",
            "  }",
            f"  {target.at(index)} = before;",
            "}",
        ]

    group.statements.append(Statement(op.loc, layout.register_shape, lines))
    e.flush()


def shared_scatter(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedScatter)
    layout = e.layout(op.value)
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    group = e.group_for(layout, stores=True)
    for v in (op.value, op.index):
        e.need(v, group)
    group.ops.add(op)

    def lines(index: Coordinate) -> list[str]:
        *outer, _ = shared.place(e, layout, index)
        at = e.text(op.index, index)
        conditions = [*memory.first_of_replicas(e, layout), *memory.inside(e, layout, index)]
        if ty.dims[-1] < op.value.type.shape[-1]:
            conditions.append(binary("<", at, Expr(str(ty.dims[-1]))))
        text = f"{shared.slot(e, op.buffer, [*outer, at], None)} = {e.text(op.value, index)};"
        return [f"if ({all_of(conditions)}) {text}" if conditions else text]

    group.statements.append(Statement(op.loc, layout.register_shape, lines))


def shared_count(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedCount)
    layout = e.layout(op.index)
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    scalar = op.index.type.scalar
    assert isinstance(scalar, DType)
    group = e.group_for(layout, stores=True)
    for v in (op.index, op.mask):
        if v is not None:
            e.need(v, group)
    group.ops.add(op)

    def lines(index: Coordinate) -> list[str]:
        at = e.text(op.index, index)
        conditions = [*memory.first_of_replicas(e, layout), *memory.inside(e, layout, index)]
        conditions += [e.text(op.mask, index)] if op.mask is not None else []
        if scalar.is_int_signed():
            conditions.append(binary(">=", at, Expr("0")))
        if scalar.get_int_max_value() >= ty.dims[0]:
            conditions.append(binary("<", at, Expr(str(ty.dims[0]))))
        place = e.cast(at, scalar, scalar)
        text = f"atomicAdd(&{shared.slot(e, op.buffer, [place], None)}, 1);"
        return [f"if ({all_of(conditions)}) {text}" if conditions else text]

    group.statements.append(Statement(op.loc, layout.register_shape, lines))
