"""Elements in memory: whole vectors where neighbouring lanes are neighbours in memory, single elements elsewhere.

Addresses are i64 bytes. Dead lanes of gathers and scatters go to the worker's sink, 64 bytes at the start of its scratch
memory, so that no branch is needed.
"""

from __future__ import annotations

from tritium.backends.cpu.code import FLOAT_BITS, INT_BITS, Code, V, vector_type


def size_of(kind: str) -> int:
    return (INT_BITS.get(kind) or FLOAT_BITS[kind]) // 8


def stride_of(address: V) -> int | None:
    """Bytes from lane to lane where that is a known number; 0 for the same address in all lanes."""
    if address.lanes == 1:
        return 0
    if address.base is None or address.step is None or address.step.const is None:
        return None
    return int(address.step.const)


def load(e: Code, kind: str, address: V, mask: V | None, other: V | None, sink: V, align: int = 0) -> V:
    """The elements of LLVM type `kind` at `address`; lanes without `mask` give `other`, else zero."""
    size = size_of(kind)
    align = align or size
    if mask is not None and mask.const is not None:
        if not mask.const:
            return other if other is not None else e.const(0, kind)
        mask = None
    stride = stride_of(address)
    if other is None and mask is not None:
        other = e.const(0, kind)
    if address.lanes == 1 and (mask is None or mask.lanes == 1):
        return _load_one(e, kind, address, mask, other, sink, align)
    if address.lanes == 1:  # one address, a mask of many lanes
        assert mask is not None and other is not None
        value = _load_one(e, kind, address, _any(e, mask), e.const(0, kind), sink, align)
        return e.select(mask, value, other)
    if stride == size:
        assert address.base is not None
        return _load_vector(e, kind, address.base, mask, other, address.lanes, align)
    if stride == -size and mask is None:
        assert address.base is not None
        lanes = address.lanes
        first = e.sub(address.base, e.index(size * (lanes - 1)))
        found = _load_vector(e, kind, first, None, None, lanes, align)
        order = ", ".join(f"i32 {i}" for i in reversed(range(lanes)))
        ty = vector_type(kind, lanes)
        return e.emit(
            *(kind, lanes, found.level),
            f"shufflevector {ty} {found.ssa}, {ty} poison, <{lanes} x i32> <{order}>",
        )
    return _gather(e, kind, address, mask, other, sink, align)


def _place(e: Code, *values: V | None) -> int:
    """The frame a memory access goes to: as far out as its operands and the floor allow."""
    return max(e.floor, *(v.level for v in values if v is not None))


def _load_one(e: Code, kind: str, address: V, mask: V | None, other: V | None, sink: V, align: int) -> V:
    if mask is not None:
        address = e.select(mask, address, sink)
    level = _place(e, address)
    pointer = e.pointer(address, level)
    value = e.emit(kind, 1, level, f"load {kind}, ptr {pointer}, align {align}")
    return value if mask is None or other is None else e.select(mask, value, other)


def _load_vector(e: Code, kind: str, base: V, mask: V | None, other: V | None, lanes: int, align: int) -> V:
    ty = vector_type(kind, lanes)
    level = _place(e, base, mask, other)
    pointer = e.pointer(base, level)
    if mask is None:
        return e.emit(kind, lanes, level, f"load {ty}, ptr {pointer}, align {align}")
    assert other is not None
    name = f"llvm.masked.load.v{lanes}{_short(kind)}.p0"
    flags = f"<{lanes} x i1>"
    e.declare(name, f"{ty} (ptr, {flags}, {ty})")
    given = f"ptr align {align} {pointer}, {e.typed(mask, lanes)}, {e.typed(other, lanes)}"
    return e.emit(kind, lanes, level, f"call {ty} @{name}({given})")


def _short(kind: str) -> str:
    return {"float": "f32", "double": "f64", "half": "f16"}.get(kind, kind)


def _any(e: Code, mask: V) -> V:
    name = f"llvm.vector.reduce.or.v{mask.lanes}i1"
    e.declare(name, f"i1 (<{mask.lanes} x i1>)")
    return e.emit("i1", 1, mask.level, f"call i1 @{name}({e.typed(mask, mask.lanes)})")


def _gather(e: Code, kind: str, address: V, mask: V | None, other: V | None, sink: V, align: int) -> V:
    if mask is not None:
        if address.base is not None:
            e.text(address, address.lanes)
        address = e.select(mask, address, sink)
    level = _place(e, address)
    parts: list[V] = []
    for lane in range(address.lanes):
        pointer = e.pointer(e.extract(address, lane), level)
        parts.append(e.emit(kind, 1, level, f"load {kind}, ptr {pointer}, align {align}"))
    value = e.gather_lanes(parts, level)
    return value if mask is None or other is None else e.select(mask, value, other)


def store(
    e: Code,
    kind: str,
    address: V,
    value: V,
    mask: V | None,
    sink: V,
    lanes: int,
    align: int = 0,
    past_cache: bool = False,
) -> None:
    """Write `value` at `address` in the top frame, lanes in order; `lanes` is the width of the loop.

    past_cache   whole aligned vectors go to memory directly
    """
    size = size_of(kind)
    align = align or size
    if mask is not None and mask.const is not None:
        if not mask.const:
            return
        mask = None
    level = e.top
    if lanes == 1:
        if mask is not None:
            address = e.select(mask, address, sink)
        e.line(f"store {e.typed(value, 1)}, ptr {e.pointer(address, level)}, align {align}")
        return
    if stride_of(address) == size:
        assert address.base is not None
        pointer = e.pointer(address.base, level)
        ty = vector_type(kind, lanes)
        if mask is None:
            how = f"align {lanes * size}, !nontemporal !0" if past_cache else f"align {align}"
            e.line(f"store {e.typed(value, lanes)}, ptr {pointer}, {how}")
            return
        name = f"llvm.masked.store.v{lanes}{_short(kind)}.p0"
        e.declare(name, f"void ({ty}, ptr, <{lanes} x i1>)")
        e.line(
            f"call void @{name}({e.typed(value, lanes)}, ptr align {align} {pointer}, {e.typed(mask, lanes)})"
        )
        return
    for lane in range(lanes):
        here = e.extract(address, lane) if address.lanes > 1 else address
        if mask is not None:
            live = e.extract(mask, lane) if mask.lanes > 1 else mask
            here = e.select(live, here, sink)
        element = e.extract(value, lane) if value.lanes > 1 else value
        e.line(f"store {e.typed(element, 1)}, ptr {e.pointer(here, level)}, align {align}")
