"""Ranks, scattered writes and counters in shared memory."""

from __future__ import annotations

from math import inf, nan, prod
from typing import TYPE_CHECKING

from tritium.backends.cuda import memory, shared
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate
from tritium.ir.core import Op
from tritium.ir.types import DType, SharedType
from tritium.ops.emit import Expr, binary
from tritium.ops.gpu_sort import Rank, SharedCount, SharedScatter, SortLines

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


def sort_lines(e: Emitter, op: Op) -> None:
    """A bitonic network over the places of a buffer, its comparators dealt out to the threads, a barrier after each step."""
    assert isinstance(op, SortLines)
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    element = ty.element
    assert isinstance(element, DType)
    e.flush()
    e.w.at(op.loc)
    size, lines = ty.dims[-1], prod(ty.dims[:-1])
    keys, threads = e.buffers[op.buffer], e.threads
    i, run, step = (Expr(e.names.fresh(n)) for n in ("at", "run", "step"))
    if op.extent < size:
        last = e.literal(_last(element, op.descending), element)
        e.w.pragma("unroll 1")
        with e.w.block(f"for (int {i} = threadIdx.x; {i} < {lines * (size - op.extent)}; {i} += {threads})"):
            place = f"{i} / {size - op.extent} * {size} + {op.extent} + {i} % {size - op.extent}"
            e.w.line(f"{keys}[{place if lines > 1 else f'{op.extent} + {i}'}] = {last};")
        e.w.line("__syncthreads();")
    e.w.pragma("unroll 1")
    with e.w.block(f"for (int {run} = 2; {run} <= {size}; {run} *= 2)"):
        e.w.pragma("unroll 1")
        with e.w.block(f"for (int {step} = {run} / 2; {step} > 0; {step} /= 2)"):
            with e.w.block(f"for (int {i} = threadIdx.x; {i} < {lines * size // 2}; {i} += {threads})"):
                e.w.line(f"int low = 2 * {i} - ({i} & ({step} - 1));")
                e.w.line(f"{e.type(element)} x = {keys}[low], y = {keys}[low + {step}];")
                x, y = (order_key(e, Expr(v), element) for v in "xy")
                turned = f"(low & {size - 1} & {run}) {'==' if op.descending else '!='} 0"
                e.w.line(f"if ({turned} ? {x} < {y} : {y} < {x}) {keys}[low] = y, {keys}[low + {step}] = x;")
            e.w.line("__syncthreads();")
    e.loads.clear()
    e.stores.clear()


def _last(element: DType, descending: bool) -> float | int:
    """What orders last: of floats -inf, or a NaN."""
    if element.is_floating():
        return -inf if descending else nan
    return element.get_int_min_value() if descending else element.get_int_max_value()


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
