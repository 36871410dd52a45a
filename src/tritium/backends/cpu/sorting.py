"""Sorting along the last axis: order-preserving integer keys, a Shell sort on them in scratch memory, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import nest, pull
from tritium.backends.cpu.code import INT_BITS, V
from tritium.backends.cpu.formats import is_float, is_signed
from tritium.backends.cpu.verbs import Unsupported
from tritium.ir.types import dtype_named
from tritium.numerics.formats import format_of

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

_KEY_TYPES = {8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64", 1: "uint8"}


def sort(k: Lowering, op: Any) -> None:
    if not op.result.uses:
        return
    e = k.e
    ty, shape = op.x.type.scalar, op.x.type.shape
    if is_float(ty) and ty.text in ("f8e4b8", "f8e5b16"):
        raise Unsupported(op, f"sorting {ty} has no native form")
    extent = shape[-1]
    bits = ty.primitive_bitwidth
    keys = k.allocate(dtype_named(_KEY_TYPES[bits]), shape)

    def encode(at: list[V]) -> None:
        lanes = max(i.lanes for i in at)
        pull.write(k, keys, at, _key(k, ty, pull.element(k, op.x, at)), lanes)

    nest.versions(k, lambda: nest.over(k, shape, encode))
    width = 8 if bits == 1 else bits
    name = _sorter(k, width)

    def row(at: list[V]) -> None:
        start = pull.flat_index(k, (*shape[:-1], 1), [*at, e.index(0)])
        address = e.add(keys.address, e.mul(start, e.index(extent * width // 8)))
        e.line(f"call void @{name}(ptr {e.pointer(address, e.top)}, i64 {extent})")

    from tritium.backends.cpu.roots import one_by_one

    one_by_one(k, shape[:-1], row)
    out = k.allocate(ty, op.result.type.shape)

    def decode(at: list[V]) -> None:
        last = e.sub(e.index(extent - 1), at[-1]) if op.descending else at[-1]
        key = pull.read(k, keys, [*at[:-1], last])
        pull.write(k, out, at, _value(k, ty, key), max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, op.result.type.shape, decode))
    k.buffers[op.result] = out


def _key(k: Lowering, ty: Any, x: V) -> V:
    e = k.e
    if x.kind == "i1":
        return e.convert("zext", x, "i8")
    if not is_float(ty):
        sign = 1 << (INT_BITS[x.kind] - 1)
        return e.binary("xor", x, e.const(sign, x.kind)) if is_signed(ty) else x
    fmt = format_of(ty.text)
    kind = f"i{fmt.bits}"
    pattern = e.bits(x, kind)
    sign = e.const(1 << (fmt.bits - 1), kind)
    magnitude = e.both(pattern, e.const((1 << (fmt.bits - 1)) - 1, kind))
    negative = e.compare("slt", pattern, e.const(0, kind))
    key = e.select(negative, e.invert(pattern), e.binary("or", pattern, sign))
    if fmt.nan_bits is None:
        return key
    limit = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits if fmt.has_inf else fmt.max_finite_bits
    nan = e.compare("ugt", magnitude, e.const(limit, kind))
    return e.select(nan, e.binary("or", magnitude, sign), key)


def _value(k: Lowering, ty: Any, key: V) -> V:
    e = k.e
    if ty.text == "i1":
        return e.compare("ne", key, e.const(0, "i8"))
    if not is_float(ty):
        sign = 1 << (INT_BITS[key.kind] - 1)
        return e.binary("xor", key, e.const(sign, key.kind)) if is_signed(ty) else key
    sign = e.const(1 << (INT_BITS[key.kind] - 1), key.kind)
    upper = e.compare("slt", key, e.const(0, key.kind))
    pattern = e.select(upper, e.binary("xor", key, sign), e.invert(key))
    held = {"f32": "float", "f64": "double", "f16": "half"}.get(ty.text)
    return e.bits(pattern, held) if held else pattern


def _sorter(k: Lowering, width: int) -> str:
    """The function that sorts unsigned integers of `width` bits in place."""
    name = f"sort_u{width}"
    t = f"i{width}"
    k.e.globals[name] = f"""
define internal void @{name}(ptr %p, i64 %n) noinline {{
entry:
  br label %gaps
gaps:
  %wide = phi i64 [ %n, %entry ], [ %gap, %gapdone ]
  %scaled = mul i64 %wide, 5
  %less = udiv i64 %scaled, 11
  %zero = icmp eq i64 %less, 0
  %gap = select i1 %zero, i64 1, i64 %less
  %any = icmp ult i64 %gap, %n
  br i1 %any, label %items, label %gapdone
items:
  %i = phi i64 [ %gap, %gaps ], [ %inext, %placed ]
  %ip = getelementptr {t}, ptr %p, i64 %i
  %item = load {t}, ptr %ip
  br label %shift
shift:
  %j = phi i64 [ %i, %items ], [ %before, %move ]
  %room = icmp uge i64 %j, %gap
  br i1 %room, label %look, label %placed
look:
  %before = sub i64 %j, %gap
  %bp = getelementptr {t}, ptr %p, i64 %before
  %b = load {t}, ptr %bp
  %larger = icmp ugt {t} %b, %item
  br i1 %larger, label %move, label %placed
move:
  %jp = getelementptr {t}, ptr %p, i64 %j
  store {t} %b, ptr %jp
  br label %shift
placed:
  %at = phi i64 [ %j, %shift ], [ %j, %look ]
  %ap = getelementptr {t}, ptr %p, i64 %at
  store {t} %item, ptr %ap
  %inext = add i64 %i, 1
  %more = icmp ult i64 %inext, %n
  br i1 %more, label %items, label %gapdone
gapdone:
  %last = icmp eq i64 %gap, 1
  br i1 %last, label %done, label %gaps
done:
  ret void
}}"""
    return name
