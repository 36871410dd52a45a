"""The dot on CUDA cores: operands from shared memory, sums in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda import shared
from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.registers import Local, coordinate, spelled_coordinates
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, SharedType
from tritium.ops.emit import Expr, binary, call
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_shared import DotFma

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


def dot_fma(e: Emitter, op: Op) -> None:
    assert isinstance(op, DotFma)
    if op.acc is not None:
        e.settle(op.acc)
    e.flush()
    e.w.at(op.loc)
    if e.spelled:
        _dot_spelled(e, op)
    else:
        _dot_fragments(e, op)


def _factor(e: Emitter, buffer: Value, place: list[Expr], stage: Value | None, out: DType) -> Expr:
    """An operand's element in the type of the sum."""
    ty = buffer.type
    assert isinstance(ty, SharedType)
    slot = shared.slot(e, buffer, place, stage)
    return slot if ty.element == out or out.is_int() else e.widened(slot, ty.element)


def _dot_spelled(e: Emitter, op: DotFma) -> None:
    """Every sum a variable, all of them updated in one loop over the reduction."""
    layout = e.layout(op.result)
    local = e.local(op.result, layout)
    k = e.names.fresh(f"dot_k_{local.name.removeprefix('v')}")
    zero = e.literal(0, op.out)
    for index in spelled_coordinates(local.shape):
        start = e.text(op.acc, index) if op.acc is not None else zero
        e.w.line(f"{local.type} {local.at(index)} = {start};")
    e.w.pragma("unroll" if e.unrolled else "unroll 1")
    with e.w.block(f"for (int {k} = 0; {k} < {op.shape[2]}; ++{k})"):
        for index in spelled_coordinates(local.shape):
            row, column = shared.place(e, layout, index)
            x = _factor(e, op.a, [row, Expr(k)], op.stage, op.out)
            y = _factor(e, op.b, [Expr(k), column], op.stage, op.out)
            e.w.line(f"{local.at(index)} += {binary('*', x, y)};")


def _dot_fragments(e: Emitter, op: DotFma) -> None:
    """Per step of the reduction: a run of A and a run of B into registers, then all their products."""
    layout = e.layout(op.result)
    rows, columns = layout.register_shape
    kind = e.type(op.out)
    local = _accumulator(e, op, layout)
    k, a, b = (e.names.fresh(n) for n in ("kk", "a_run", "b_run"))
    e.w.pragma("unroll")
    with e.w.block(f"for (int {k} = 0; {k} < {op.shape[2]}; ++{k})"):
        _fragment(e, op, op.a, 0, layout, a, Expr(k), kind)
        _fragment(e, op, op.b, 1, layout, b, Expr(k), kind)
        i, j = Expr("i"), Expr("j")
        e.w.pragma("unroll")
        with e.w.block(f"for (int i = 0; i < {rows}; ++i)"):
            e.w.pragma("unroll")
            with e.w.block(f"for (int j = 0; j < {columns}; ++j)"):
                cell = local.at((i if rows > 1 else 0, j if columns > 1 else 0))
                x, y = f"{a}[i]", f"{b}[j]"
                if op.out.is_floating():
                    fma = "fma" if op.out.is_fp64() else "fmaf"
                    e.w.line(f"{cell} = {call(fma, x, y, cell)};")
                else:
                    e.w.line(f"{cell} += {x} * {y};")


def _accumulator(e: Emitter, op: DotFma, layout: RegisterLayout) -> Local:
    """Registers of the result, set to the accumulator or zero."""
    held = e.held.get(op.acc) if op.acc is not None else None
    if op.acc is not None and isinstance(held, Local) and len(e.users(op.acc)) == 1:
        e.held[op.result] = held  # nobody else reads the old sums
        return held
    local = e.local(op.result, layout)
    group = Group(layout, (1, 1))
    start = (
        (lambda index: [e.text(op.acc, index)])
        if op.acc is not None
        else (lambda index: [e.literal(0, op.out)])
    )
    group.statements.append(Statement(op.loc, local.shape, start, local, None))
    group.write(e.w, e.users, e.spelled)
    return local


def _fragment(
    e: Emitter,
    op: DotFma,
    buffer: Value,
    axis: int,
    layout: RegisterLayout,
    name: str,
    k: Expr,
    kind: str,
) -> None:
    """One thread's run of an operand at reduction step `k`, in vectors where the buffer lies that way."""
    ty = buffer.type
    assert isinstance(ty, SharedType)
    side = layout.axes[axis]
    count = side.registers
    e.w.line(f"{kind} {name}[{count}];")
    width = _shared_vector(e, ty, axis, side.vector)
    at = Expr("i")
    here = coordinate(e.thread_coordinate(layout, axis), side, at if count > width else 0)
    place = [here, k] if axis == 0 else [k, here]
    convert = "" if ty.element == op.out or op.out.is_int() else "to_float"
    e.w.pragma("unroll")
    step = "++i" if width == 1 else f"i += {width}"
    with e.w.block(f"for (int i = 0; i < {count}; {step})"):
        slot = shared.slot(e, buffer, place, op.stage)
        if width == 1:
            e.w.line(f"{name}[i] = {call(convert, slot) if convert else slot};")
            return
        e.used.add("vec")
        e.w.line(f"vec<{e.type(ty.element)}, {width}> t = load_vec<{width}>(&{slot});")
        for u in range(width):
            cell = f"t.v[{u}]"
            e.w.line(f"{name}[i{f' + {u}' if u else ''}] = {call(convert, cell) if convert else cell};")


def _shared_vector(e: Emitter, ty: SharedType, axis: int, run: int) -> int:
    """How many elements of a run one load may take from shared memory: 16 bytes at most, aligned."""
    if ty.order[0] != axis:
        return 1
    size = ty.element.itemsize
    other = [s for a, s in enumerate(ty.strides) if a != axis] + [ty.stage_size]
    width = 1
    while width * 2 <= run and width * 2 * size <= 16 and all(s % (width * 2) == 0 for s in other):
        width *= 2
    return width
