"""Shared memory: buffers, views, and tiles going in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda import memory
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate, coordinate
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType
from tritium.layout import Swizzle
from tritium.ops.emit import Expr, binary, conditional
from tritium.ops.gpu_layout import RegisterLayout, parse_layout
from tritium.ops.gpu_mma import LoadFragments
from tritium.ops.gpu_shared import (
    CopyToShared,
    SharedAlloc,
    SharedGather,
    SharedLoad,
    SharedStore,
    SharedView,
)
from tritium.passes.lower_to_machine import end_of, shared_bytes

SHARED_MEMORY = "shared_memory"
STATIC_LIMIT = 48 * 1024
"""Bytes that a kernel may declare; more is asked for at launch."""

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


def shared_alloc(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedAlloc)
    ty = op.result.type
    assert isinstance(ty, SharedType)
    name = e.names.fresh(op.label)
    kind = e.type(ty.element)
    e.buffers[op.result] = name
    if op.offset is None and not e.dynamic:
        e.head.line(f"__shared__ __align__(16) {kind} {name}[{ty.stages * ty.stage_size}];")
        return
    whole, offset = _arena(e, op, ty)
    e.head.line(f"{kind}* const {name} = ({kind}*)({whole}{f' + {offset}' if offset else ''});")


def _arena(e: Emitter, op: SharedAlloc, ty: SharedType) -> tuple[str, int]:
    """The bytes that a buffer is part of, and where it begins among them: all, or those of scratch buffers."""
    if e.dynamic:
        if not e.arena:
            e.arena = SHARED_MEMORY
            e.head.line(f"extern __shared__ __align__(16) unsigned char {SHARED_MEMORY}[];")
        if op.offset is not None:
            return e.arena, op.offset
        e.shared_end = end_of(e.shared_end, [ty])
        return e.arena, e.shared_end - ty.nbytes
    first = min(x.offset for x in e.function.find(SharedAlloc) if x.offset is not None)  # type: ignore[attr-defined]
    if not e.arena:
        e.arena = e.names.fresh("scratch")
        nbytes = shared_bytes(e.function) - first
        e.head.line(f"__shared__ __align__(16) unsigned char {e.arena}[{nbytes}];")
    return e.arena, op.offset - first


def slot(e: Emitter, buffer: Value, place: list[Expr], stage: Value | None) -> Expr:
    """The lvalue of an element of `buffer`."""
    ty = buffer.type
    assert isinstance(ty, SharedType)
    terms: list[Expr] = []
    for at, stride in sorted(zip(place, ty.strides, strict=True), key=lambda t: -t[1]):
        if at != "0":
            terms.append(at if stride == 1 else binary("*", at, Expr(str(stride))))
    if ty.swizzle and terms:
        e.used.add("swizzled")
        swizzle = Swizzle(*ty.swizzle)
        fields = f"{swizzle.shift}, {swizzle.mask // ty.element.itemsize}"
        terms = [Expr(f"swizzled<{fields}>({_sum(terms)})")]
    if stage is not None and e.scalar(stage) != "0":
        terms.insert(0, binary("*", e.scalar(stage), Expr(str(ty.stage_size))))
    return Expr(f"{e.buffers[buffer]}[{_sum(terms)}]")


def _sum(terms: list[Expr]) -> Expr:
    out = terms[0] if terms else Expr("0")
    for t in terms[1:]:
        out = binary("+", out, t)
    return out


def place(e: Emitter, layout: RegisterLayout, index: Coordinate) -> list[Expr]:
    """The tile coordinate at a register coordinate."""
    return [coordinate(e.thread_coordinate(layout, a), axis, index[a]) for a, axis in enumerate(layout.axes)]


def _guarded(e: Emitter, layout: RegisterLayout, index: Coordinate, text: str) -> list[str]:
    conditions = [*memory.first_of_replicas(e, layout), *memory.inside(e, layout, index)]
    return [f"if ({all_of(conditions)}) {text}"] if conditions else [text]


def shared_store(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedStore)
    layout = e.layout(op.value)
    width, axis = _stored_at_once(e, op, layout)
    steps = tuple(width if a == axis else 1 for a in range(len(layout.axes)))
    group = e.group_for(layout, stores=True, steps=steps)
    e.need(op.value, group)
    group.ops.add(op)

    def write(index: Coordinate) -> list[str]:
        target = slot(e, op.buffer, place(e, layout, index), op.stage)
        if width == 1:
            return _guarded(e, layout, index, f"{target} = {e.text(op.value, index)};")
        lanes = [memory.shifted(index, axis, u) for u in range(width)]
        values = ", ".join(e.text(op.value, lane) for lane in lanes)
        kind = e.type(op.value.type.scalar)  # type: ignore[arg-type]
        e.used.add("vec")
        return _guarded(e, layout, index, f"store_vec(&{target}, vec<{kind}, {width}>{{{{{values}}}}});")

    group.statements.append(Statement(op.loc, layout.register_shape, write))


def _stored_at_once(e: Emitter, op: SharedStore, layout: RegisterLayout) -> tuple[int, int]:
    """(elements of a run that one store may take to a buffer of a dot on tensor cores, their axis): whole chunks of a
    swizzle or parts of them, aligned."""
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    fast = ty.order[0]
    fragments = any(isinstance(user, LoadFragments) for user, _ in op.buffer.uses)
    if e.spelled or not fragments or layout.axes[fast].overhangs:
        return 1, fast
    size = ty.element.itemsize
    strides = [s for a, s in enumerate(ty.strides) if a != fast]
    width = 1
    while layout.axes[fast].vector % (width * 2) == 0 and width * 2 * size <= 16:
        if any(s % (width * 2) for s in (*strides, ty.stage_size)):
            break
        width *= 2
    return width, fast


def shared_load(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedLoad)
    layout = e.layout(op.result)
    group = e.group_for(layout)
    local = e.local(op.result, layout)
    group.ops.add(op)
    e.placed[op.result] = group

    def write(index: Coordinate) -> list[str]:
        target = slot(e, op.buffer, place(e, layout, index), op.stage)
        conditions = memory.inside(e, layout, index)
        if not conditions:
            return [target]
        return [conditional(all_of(conditions), target, e.literal(0, op.result.type.scalar))]  # type: ignore[arg-type]

    group.statements.append(Statement(op.loc, local.shape, write, local, op.result))


def shared_view(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedView)
    whole = e.buffers[op.buffer]
    e.buffers[op.result] = f"({whole} + {op.offset})" if op.offset else whole


def shared_gather(e: Emitter, op: Op) -> None:
    assert isinstance(op, SharedGather)
    layout = e.layout(op.result)
    group = e.group_for(layout)
    for v in op.indices:
        e.need(v, group)
    local = e.local(op.result, layout)
    group.ops.add(op)
    e.placed[op.result] = group

    def write(index: Coordinate) -> list[str]:
        target = slot(e, op.buffer, [e.text(v, index) for v in op.indices], None)
        conditions = memory.inside(e, layout, index)
        if not conditions:
            return [target]
        return [conditional(all_of(conditions), target, e.literal(0, op.result.type.scalar))]  # type: ignore[arg-type]

    group.statements.append(Statement(op.loc, local.shape, write, local, op.result))


def copy_to_shared(e: Emitter, op: Op) -> None:
    assert isinstance(op, CopyToShared)
    layout = parse_layout(op.across)
    group = e.group_for(layout, stores=True)
    for v in (op.ptr, op.mask, op.other):
        if v is not None:
            e.need(v, group)
    group.ops.add(op)
    buffer_type = op.buffer.type
    assert isinstance(buffer_type, SharedType)

    def write(index: Coordinate) -> list[str]:
        target = slot(e, op.buffer, place(e, layout, index), op.stage)
        value = memory.cell(e, op.ptr, index)
        if buffer_type.element.is_bool():
            value = binary("!=", value, Expr("0"))
        if op.mask is not None:
            zero = e.literal(0, buffer_type.element) if op.other is None else e.text(op.other, index)
            value = Expr(f"{e.text(op.mask, index).within(4)} ? {value.within(4)} : {zero}", 3)
        return _guarded(e, layout, index, f"{target} = {value};")

    group.statements.append(Statement(op.loc, layout.register_shape, write))
