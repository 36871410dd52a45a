"""Atomic operations, lane by lane in order; dead lanes work on the worker's sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import formats, pull
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import INT_BITS, V
from tritium.backends.cpu.formats import held_as, stored_as

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

_ORDERS = {"acq_rel": "acq_rel", "acquire": "acquire", "release": "release", "relaxed": "monotonic"}
_INSTRUCTIONS = {
    "add": "add", "max": "max", "min": "min", "umax": "umax", "umin": "umin", "and": "and", "or": "or",
    "xor": "xor", "xchg": "xchg",
}  # fmt: skip


def _each(k: Lowering, op: Any, act: Callable[[list[V]], V]) -> None:
    """`act` for every lane in order, its values kept if anybody asks."""
    from tritium.backends.cpu.roots import one_by_one

    result = op.results[0]
    shape = result.type.shape
    if not shape:
        k.env[result] = act([])
        return
    buffer = k.allocate(result.type.scalar, shape) if result.uses else None

    def body(at: list[V]) -> None:
        old = act(at)
        if buffer is not None:
            pull.write(k, buffer, at, old, 1)

    one_by_one(k, shape, body)
    if buffer is not None:
        k.buffers[result] = buffer


def read_modify_write(k: Lowering, op: Any) -> None:
    e = k.e
    ty = op.value.type.scalar
    order = _ORDERS[op.sem]

    def act(at: list[V]) -> V:
        address, value = pull.element(k, op.ptr, at), pull.element(k, op.value, at)
        live = pull.element(k, op.mask, at) if op.mask is not None else None
        if live is not None:
            address = e.select(live, address, k.sink)
        old = _update(k, op.kind, ty, address, value, order)
        return old if live is None else e.select(live, old, formats.constant(e, 0, ty))

    _each(k, op, act)


def _update(k: Lowering, kind: str, ty: Any, address: V, value: V, order: str) -> V:
    e = k.e
    held = held_as(ty)
    align = size_of(stored_as(ty))
    if kind in _INSTRUCTIONS:
        bits = f"i{size_of(stored_as(ty)) * 8}"
        pointer = e.pointer(address, e.top)
        given = e.typed(e.bits(value, bits), 1)
        old = e.emit(
            bits, 1, e.top, f"atomicrmw {_INSTRUCTIONS[kind]} ptr {pointer}, {given} {order}, align {align}"
        )
        return e.bits(old, held)
    if kind == "fadd" and held in ("float", "double"):
        pointer = e.pointer(address, e.top)
        return e.emit(
            held, 1, e.top, f"atomicrmw fadd ptr {pointer}, {e.typed(value, 1)} {order}, align {align}"
        )
    if kind == "fadd":
        wide = formats.widen(e, value, ty)
        return _loop(
            k, ty, address, order,
            lambda old: formats.narrow(e, e.binary("fadd", formats.widen(e, old, ty), wide), ty),
        )  # fmt: skip
    mine = _order_key(k, value)
    predicate = "sgt" if kind == "fmax" else "slt"
    return _loop(
        k, ty, address, order,
        lambda old: e.select(e.compare(predicate, mine, _order_key(k, old)), value, old),
    )  # fmt: skip


def _order_key(k: Lowering, x: V) -> V:
    """The bits of a float as an integer of the order -NaN, -inf, ..., -0, +0, ..., inf, NaN."""
    e = k.e
    bits = {"float": "i32", "double": "i64", "half": "i16"}.get(x.kind, x.kind)
    pattern = e.bits(x, bits)
    width = INT_BITS[bits]
    sign = e.binary("ashr", pattern, e.const(width - 1, bits))
    return e.binary("xor", pattern, e.both(sign, e.const((1 << (width - 1)) - 1, bits)))


def _loop(k: Lowering, ty: Any, address: V, order: str, change: Callable[[V], V]) -> V:
    """Compare and swap until nobody was faster."""
    e = k.e
    held, size = held_as(ty), size_of(stored_as(ty))
    bits = f"i{8 * size}"
    pointer = e.pointer(address, e.top)
    first = e.emit(bits, 1, e.top, f"load atomic {bits}, ptr {pointer} monotonic, align {size}")
    slot = k.slot(bits)
    (seen,) = e.open_while([first])
    new = e.bits(change(e.bits(seen, held)), bits)
    success = "acq_rel" if order == "acq_rel" else order
    failure = "acquire" if order in ("acq_rel", "acquire") else "monotonic"
    pair = e.fresh("swap")
    e.line(
        f"%{pair} = cmpxchg ptr {pointer}, {bits} {e.text(seen, 1)}, {bits} {e.text(new, 1)} "
        f"{success} {failure}, align {size}"
    )
    found = e.emit(bits, 1, e.top, f"extractvalue {{ {bits}, i1 }} %{pair}, 0")
    done = e.emit("i1", 1, e.top, f"extractvalue {{ {bits}, i1 }} %{pair}, 1")
    e.line(f"store {bits} {found.ssa}, ptr {slot}")
    e.test(e.invert(done))
    e.close_while([found])
    old = e.emit(bits, 1, e.top, f"load {bits}, ptr {slot}")
    return e.bits(old, held)


def compare_and_swap(k: Lowering, op: Any) -> None:
    e = k.e
    ty = op.value.type.scalar
    order = _ORDERS[op.sem]
    failure = "acquire" if order in ("acq_rel", "acquire") else "monotonic"
    size = size_of(stored_as(ty))
    bits = f"i{8 * size}"

    def act(at: list[V]) -> V:
        address = pull.element(k, op.ptr, at)
        compare, value = (e.bits(pull.element(k, v, at), bits) for v in (op.compare, op.value))
        pointer = e.pointer(address, e.top)
        pair = e.fresh("swap")
        e.line(
            f"%{pair} = cmpxchg ptr {pointer}, {bits} {e.text(compare, 1)}, {bits} {e.text(value, 1)} "
            f"{order} {failure}, align {size}"
        )
        return e.bits(e.emit(bits, 1, e.top, f"extractvalue {{ {bits}, i1 }} %{pair}, 0"), held_as(ty))

    _each(k, op, act)
