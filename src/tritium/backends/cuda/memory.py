"""Loads and stores of global memory: predicates, vectors, and barriers where threads would overtake each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.analysis.disjoint import never_meet
from tritium.analysis.vectors import vectors_of
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.registers import Computed, Coordinate, coordinate
from tritium.backends.cuda.types import memory_type
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, PointerType, ScalarType
from tritium.ops.emit import PRECEDENCE, UNARY, Expr, binary, call, conditional
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.memory import AddPtr, Load, Store

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

WORD = 4
"""Bytes of a register."""


# ---- addresses -----------------------------------------------------------------------------------


def cell(e: Emitter, pointer: Value, index: Coordinate) -> Expr:
    """The C++ lvalue that an element of a pointer tile names."""
    op = pointer.defining_op
    if isinstance(op, AddPtr) and isinstance(e.held.get(pointer), Computed):
        base, offset = e.text(op.ptr, index), e.text(op.offset_, index)
        return Expr(f"{base.within(16)}[{offset}]")
    return Expr(f"*{e.text(pointer, index).within(UNARY)}", UNARY)


def address(e: Emitter, pointer: Value, index: Coordinate) -> Expr:
    return e.text(pointer, index)


def inside(e: Emitter, layout: RegisterLayout, index: Coordinate) -> list[Expr]:
    """Conditions that the coordinates at `index` lie in the tile, where some might not."""
    found: list[Expr] = []
    for a, axis in enumerate(layout.axes):
        if not axis.overhangs:
            continue
        at = coordinate(e.thread_coordinate(layout, a), axis, index[a])
        found.append(binary("<", at, Expr(str(axis.extent))))
    return found


def first_of_replicas(e: Emitter, layout: RegisterLayout) -> list[Expr]:
    """Conditions that pick one of the threads that hold the same elements."""
    found: list[Expr] = []
    for stride, count in layout.replicas:
        if stride * count >= e.threads:
            found.append(Expr(f"threadIdx.x < {stride}", PRECEDENCE["<"]))
        else:
            part = "threadIdx.x" if stride == 1 else f"threadIdx.x / {stride}"
            found.append(Expr(f"{part} % {count} == 0", PRECEDENCE["=="]))
    return found


def order(e: Emitter, op: Op, writes: bool) -> None:
    """A barrier where another thread's access to the same memory might otherwise come too late or too early."""
    pointer = op.operands[0]
    earlier = [*e.stores, *(e.loads if writes else [])]
    if any(_collide(e, op, other, pointer) for other in earlier):
        e.flush()
        e.w.at(op.loc)
        synchronize(e)
    (e.stores if writes else e.loads).append(op)


def _collide(e: Emitter, op: Op, other: Op, pointer: Value) -> bool:
    mine, others = e.alias_classes.class_of(pointer), e.alias_classes.class_of(other.operands[0])
    if not (mine.anywhere or others.anywhere or mine.arguments & others.arguments):
        return False
    if other.operands[0] is pointer and _where(e, op) == _where(e, other):
        return False  # equal addresses in an equal layout: every thread meets only its own elements
    return not never_meet(e.facts, op, other)


def _where(e: Emitter, op: Op) -> RegisterLayout | None:
    pointer = op.operands[0]
    return e.layout(pointer) if pointer.type.shape else None


def synchronize(e: Emitter) -> None:
    """A barrier, after which nothing that came before needs another."""
    e.w.line("__syncthreads();")
    e.loads.clear()
    e.stores.clear()


def barrier(e: Emitter, op: Op) -> None:
    e.flush()
    e.w.at(op.loc)
    synchronize(e)


# ---- loads ---------------------------------------------------------------------------------------


def load(e: Emitter, op: Op) -> None:
    assert isinstance(op, Load)
    order(e, op, False)
    if not op.result.type.shape:
        e.flush()
        e.w.at(op.loc)
        e.define_scalar(op.result, _loaded(e, op, ()))
        return
    layout = e.layout(op.result)
    width, axis, uniform = _vector(e, op, layout)
    steps = tuple(width if a == axis else 1 for a in range(len(layout.axes)))
    group = e.group_for(layout, steps=steps)
    for v in op.operands:
        e.need(v, group)
    local = e.local(op.result, layout)
    group.ops.add(op)
    e.placed[op.result] = group
    if width == 1:
        group.statements.append(
            Statement(op.loc, local.shape, lambda index: [_loaded(e, op, index)], local, op.result)
        )
        return
    group.statements.append(
        Statement(op.loc, local.shape, lambda index: _load_vector(e, op, index, width, axis, uniform))
    )
    group.arrays.append(local)


def _loaded(e: Emitter, op: Load, index: Coordinate) -> Expr:
    """One element: zero or `other` where the mask is false."""
    element = op.result.type.scalar
    value = _read(e, op, cell(e, op.ptr, index), element)
    conditions = [e.text(op.mask, index)] if op.mask is not None else []
    if op.result.type.shape:
        conditions += inside(e, e.layout(op.result), index)
    if not conditions:
        return value
    other = e.text(op.other, index) if op.other is not None else e.literal(0, element)  # type: ignore[arg-type]
    return conditional(all_of(conditions), value, other)


def _read(e: Emitter, op: Load, cell: Expr, element: ScalarType) -> Expr:
    if op.volatile:
        cell = Expr(f"*(volatile {memory_type(element)}*)&{cell.within(UNARY)}", UNARY)
    return binary("!=", cell, Expr("0")) if element.text == "i1" else cell


def _load_vector(e: Emitter, op: Load, index: Coordinate, width: int, axis: int, uniform: bool) -> list[str]:
    element = op.result.type.scalar
    assert isinstance(element, (DType, PointerType))
    start = address(e, op.ptr, index)
    target = e.held[op.result]
    lanes = [shifted(index, axis, u) for u in range(width)]
    whole = _whole(e, op, lanes, uniform)
    narrow = element.itemsize < WORD and width * element.itemsize % WORD == 0
    if narrow or (element.itemsize == WORD and whole is not None and uniform):
        return _load_words(e, op, [target.at(lane) for lane in lanes], lanes, whole, uniform)
    e.used.add("vec")
    found = Expr(f"load_vec<{width}>({start})")
    kind = f"vec<{e.type(element)}, {width}>"
    copies = [f"{target.at(lane)} = " for lane in lanes]
    if whole is None:
        return [f"{{ {kind} t = {found};", *(f"  {c}t.v[{u}];" for u, c in enumerate(copies)), "}"]
    out = [f"if ({whole}) {{", f"  {kind} t = {found};"]
    out += [f"  {c}t.v[{u}];" for u, c in enumerate(copies)]
    out.append("} else {")
    out += [f"  {c}{_fallback(e, op, lane, uniform)};" for c, lane in zip(copies, lanes, strict=True)]
    return [*out, "}"]


def _load_words(
    e: Emitter, op: Load, targets: list[Expr], lanes: list[Coordinate], whole: Expr | None, uniform: bool
) -> list[str]:
    """Elements of up to a register travel in whole registers, also where two ways of having them meet."""
    e.used.add("words")
    element = op.result.type.scalar
    assert isinstance(element, (DType, PointerType))
    per = WORD // element.itemsize
    count = len(lanes) // per
    name = e.type(element)
    found = f"load_words<{count}>({address(e, op.ptr, lanes[0])})"
    parts = [f"  {t} = part_of<{name}>(t.v[{u // per}], {u % per});" for u, t in enumerate(targets)]
    if whole is None:
        return [f"{{ words<{count}> t = {found};", *parts, "}"]
    others = [_fallback(e, op, lane, uniform) for lane in lanes]
    made = _words(others, name, per)
    if uniform:
        e.used.add("load_if")
        start = address(e, op.ptr, lanes[0])
        out = [f"{{ words<{count}> t = load_if({whole}, {start}, words<{count}>{{{{{', '.join(made)}}}}});"]
    else:
        out = [f"{{ words<{count}> t;", f"  if ({whole}) t = {found};"]
        out += [f"  else t = words<{count}>{{{{{', '.join(made)}}}}};"]
    return [*out, *parts, "}"]


def _words(values: list[Expr], name: str, per: int) -> list[Expr]:
    """`values` of the type `name`, `per` of them in each word."""
    return [call(f"word_of<{name}>", *values[i : i + per]) for i in range(0, len(values), per)]


def _whole(e: Emitter, op: Load | Store, lanes: list[Coordinate], uniform: bool) -> Expr | None:
    """The condition that all elements of a vector are wanted."""
    layout = e.layout(op.ptr)
    conditions = inside(e, layout, lanes[-1])
    if op.mask is not None:
        conditions = [e.text(op.mask, lane) for lane in (lanes[:1] if uniform else lanes)] + conditions
    return all_of(list(dict.fromkeys(conditions))) if conditions else None


def _fallback(e: Emitter, op: Load, lane: Coordinate, uniform: bool) -> Expr:
    """An element of a vector that is not wanted whole."""
    if not uniform:
        return _loaded(e, op, lane)
    element = op.result.type.scalar
    return e.text(op.other, lane) if op.other is not None else e.literal(0, element)  # type: ignore[arg-type]


def shifted(index: Coordinate, axis: int, by: int) -> Coordinate:
    """The register coordinate `by` further along `axis`."""
    at = index[axis]
    moved = at + by if isinstance(at, int) else at if not by else binary("+", at, Expr(str(by)))
    return tuple(moved if a == axis else i for a, i in enumerate(index))


def _vector(e: Emitter, op: Op, layout: RegisterLayout) -> tuple[int, int, bool]:
    """(elements moved at once, their axis, whether the mask is the same for all of them)."""
    if e.spelled:
        return 1, 0, False
    pointer: Value = op.operands[0]
    scalar = pointer.type.scalar
    assert isinstance(scalar, PointerType)
    if scalar.element_ty.text == "i1" or getattr(op, "volatile", False):
        return 1, 0, False
    found = vectors_of(e.facts, pointer, getattr(op, "mask", None))
    axis = found.order[0]
    width = 1
    while width * 2 <= found.count and layout.axes[axis].vector % (width * 2) == 0:
        width *= 2
    return width, axis, found.uniform_mask


# ---- stores --------------------------------------------------------------------------------------


def store(e: Emitter, op: Op) -> None:
    assert isinstance(op, Store)
    order(e, op, True)
    if not op.ptr.type.shape:
        e.flush()
        e.w.at(op.loc)
        conditions = [Expr("threadIdx.x == 0", PRECEDENCE["=="])]
        conditions += [e.text(op.mask)] if op.mask is not None else []
        e.w.all([f"if ({all_of(conditions)}) {_stored(e, op, ())}"])
        return
    layout = e.layout(op.ptr)
    width, axis, uniform = _vector(e, op, layout)
    steps = tuple(width if a == axis else 1 for a in range(len(layout.axes)))
    group = e.group_for(layout, stores=True, steps=steps)
    for v in op.operands:
        e.need(v, group)
    group.ops.add(op)
    if width == 1:
        write = lambda index: _store_one(e, op, index)
    else:
        write = lambda index: _store_vector(e, op, index, width, axis, uniform)
    group.statements.append(Statement(op.loc, layout.register_shape, write))


def _stored(e: Emitter, op: Store, index: Coordinate) -> str:
    return f"{cell(e, op.ptr, index)} = {e.text(op.value, index)};"


def _store_one(e: Emitter, op: Store, index: Coordinate) -> list[str]:
    layout = e.layout(op.ptr)
    conditions = first_of_replicas(e, layout)
    conditions += [e.text(op.mask, index)] if op.mask is not None else []
    conditions += inside(e, layout, index)
    text = _stored(e, op, index)
    if not conditions:
        return [text]
    return (
        [f"if ({all_of(conditions)}) {{", f"  {text}", "}"]
        if e.spelled
        else [f"if ({all_of(conditions)}) {text}"]
    )


def _store_vector(
    e: Emitter, op: Store, index: Coordinate, width: int, axis: int, uniform: bool
) -> list[str]:
    element = op.value.type.scalar
    assert isinstance(element, (DType, PointerType))
    lanes = [shifted(index, axis, u) for u in range(width)]
    start = address(e, op.ptr, index)
    values = [e.text(op.value, lane) for lane in lanes]
    layout = e.layout(op.ptr)
    first = first_of_replicas(e, layout)
    whole = _whole(e, op, lanes, uniform)
    conditions = first if whole is None else [*first, whole]
    if conditions and (whole is None or uniform) and element.itemsize <= WORD <= width * element.itemsize:
        e.used.add("store_if")
        packed = _words(values, e.type(element), WORD // element.itemsize)
        return [f"store_if({all_of(conditions)}, {start}, words<{len(packed)}>{{{{{', '.join(packed)}}}}});"]
    if element.itemsize < WORD and width * element.itemsize % WORD == 0:
        e.used.add("words")
        values = _words(values, e.type(element), WORD // element.itemsize)
        go = f"store_words({start}, words<{len(values)}>{{{{{', '.join(values)}}}}});"
    else:
        e.used.add("vec")
        go = f"store_vec({start}, vec<{e.type(element)}, {width}>{{{{{', '.join(values)}}}}});"
    if whole is None:
        return [f"if ({all_of(first)}) {go}"] if first else [go]
    if uniform:
        return [f"if ({all_of(conditions)}) {go}"]
    out = [f"if ({all_of(conditions)}) {{", f"  {go}", "} else {"]
    for lane in lanes:
        out += [f"  {line}" for line in _store_one(e, op, lane)]
    return [*out, "}"]


def all_of(conditions: list[Expr]) -> Expr:
    """All of `conditions`, of which there is one or more."""
    out = conditions[0]
    for c in conditions[1:]:
        out = binary("&&", out, c)
    return out
