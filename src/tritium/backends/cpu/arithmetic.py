"""Elementwise ops as instructions, with the exact rules of `tritium.numerics`.

Every function takes the writer, the op and its operands' elements, and gives the element of the result. Narrow floats
compute in fp32 and round once; nothing here traps or is undefined for any input.
"""

from __future__ import annotations

from typing import Any

from tritium.backends.cpu.code import INT_BITS, Code, V
from tritium.backends.cpu.formats import cast, is_float, is_signed, narrow, widen
from tritium.ir.types import DType


def element(op: Any) -> Any:
    return op.operands[0].type.scalar


def _float_binary(e: Code, ty: DType, name: str, x: V, y: V) -> V:
    return narrow(e, e.binary(name, widen(e, x, ty), widen(e, y, ty)), ty)


def add(e: Code, op: Any, x: V, y: V) -> V:
    ty = element(op)
    if is_float(ty):
        return _float_binary(e, ty, "fadd", x, y)
    return e.binary("xor", x, y) if x.kind == "i1" else e.add(x, y)


def sub(e: Code, op: Any, x: V, y: V) -> V:
    ty = element(op)
    if is_float(ty):
        return _float_binary(e, ty, "fsub", x, y)
    return e.binary("xor", x, y) if x.kind == "i1" else e.sub(x, y)


def mul(e: Code, op: Any, x: V, y: V) -> V:
    ty = element(op)
    if is_float(ty):
        return _float_binary(e, ty, "fmul", x, y)
    return e.both(x, y) if x.kind == "i1" else e.mul(x, y)


def div(e: Code, op: Any, x: V, y: V) -> V:
    return _float_binary(e, element(op), "fdiv", x, y)


def int_div(e: Code, op: Any, x: V, y: V) -> V:
    return e.both(x, y) if x.kind == "i1" else _quotient(e, is_signed(element(op)), x, y)


def rem(e: Code, op: Any, x: V, y: V) -> V:
    ty = element(op)
    if is_float(ty):
        wide = widen(e, x, ty), widen(e, y, ty)
        name = "fmod" if wide[0].kind == "double" else "fmodf"
        return narrow(e, e.library(name, wide[0].kind, *wide), ty)
    if x.kind == "i1":
        return e.both(x, e.invert(y))
    return e.sub(x, e.mul(_quotient(e, is_signed(ty), x, y), y))


def _quotient(e: Code, signed: bool, x: V, y: V) -> V:
    """Truncated quotient; 0 for y = 0, and MIN for MIN / -1."""
    kind, bits = x.kind, INT_BITS[x.kind]
    word = "sdiv" if signed else "udiv"
    if y.const is not None and y.const not in (0, -1):
        return e.binary(word, x, y)
    zero = e.compare("eq", y, e.const(0, kind))
    unsafe = zero
    if signed:
        lowest = e.compare("eq", x, e.const(1 << (bits - 1), kind))
        minus = e.compare("eq", y, e.const(-1, kind))
        unsafe = e.binary("or", zero, e.both(lowest, minus))
    divisor = e.select(unsafe, e.const(1, kind), y)
    if max(x.lanes, y.lanes) > 1 and bits <= 32:
        # Exact: quotients of 32-bit integers keep a distance of 2**-32 from the next integer.
        to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        ratio = e.binary("fdiv", e.convert(to, x, "double"), e.convert(to, divisor, "double"))
        quotient = e.convert(back, ratio, kind)
    else:
        quotient = e.binary(word, x, divisor)
    return e.select(zero, e.const(0, kind), quotient)


def fma(e: Code, op: Any, x: V, y: V, z: V) -> V:
    ty = element(op)
    if ty.text in ("f32", "f64"):
        return e.intrinsic("fma", x, y, z)
    wide = [e.convert("fpext", widen(e, v, ty), "double") for v in (x, y, z)]
    return narrow(e, _odd_sum(e, e.binary("fmul", wide[0], wide[1]), wide[2]), ty)


def _odd_sum(e: Code, a: V, b: V) -> V:
    """Sum of two fp64 rounded to odd."""
    total = e.binary("fadd", a, b)
    virtual = e.binary("fsub", total, a)
    error = e.binary(
        "fadd", e.binary("fsub", a, e.binary("fsub", total, virtual)), e.binary("fsub", b, virtual)
    )
    pattern = e.bits(total, "i64")
    zero = e.const(0.0, "double")
    up = e.convert("zext", e.compare("ogt", error, zero), "i64")
    down = e.convert("zext", e.compare("olt", error, zero), "i64")
    step = e.sub(up, down)
    step = e.select(e.compare("slt", pattern, e.const(0, "i64")), e.sub(e.const(0, "i64"), step), step)
    odd = e.compare("ne", e.both(pattern, e.const(1, "i64")), e.const(0, "i64"))
    return e.bits(e.add(pattern, e.select(odd, e.const(0, "i64"), step)), "double")


def umulhi(e: Code, op: Any, x: V, y: V) -> V:
    return multiply_high(e, x, y)


def multiply_high(e: Code, x: V, y: V, signed: bool = False) -> V:
    """High half of the product."""
    bits = INT_BITS[x.kind]
    wide = f"i{2 * bits}"
    word = "sext" if signed else "zext"

    def widened(v: V) -> V:
        if v.const is not None and not signed:
            return V(wide, 1, 0, None, int(v.const) & ((1 << bits) - 1))
        return e.emit(wide, v.lanes, v.level, f"{word} {e.typed(v, v.lanes)} to {_vector(wide, v.lanes)}")

    product = e.binary("mul", widened(x), widened(y))
    high = e.binary("lshr", product, V(wide, 1, 0, None, bits))
    return e.convert("trunc", high, x.kind)


def _vector(kind: str, lanes: int) -> str:
    return kind if lanes == 1 else f"<{lanes} x {kind}>"


# ---- bits -----------------------------------------------------------------------------------------------------------


def bit_and(e: Code, op: Any, x: V, y: V) -> V:
    return e.binary("and", x, y)


def bit_or(e: Code, op: Any, x: V, y: V) -> V:
    return e.binary("or", x, y)


def bit_xor(e: Code, op: Any, x: V, y: V) -> V:
    return e.binary("xor", x, y)


def shl(e: Code, op: Any, x: V, y: V) -> V:
    return _shift(e, "shl", x, y)


def shr(e: Code, op: Any, x: V, y: V) -> V:
    return _shift(e, "ashr" if is_signed(element(op)) else "lshr", x, y)


def _shift(e: Code, word: str, x: V, y: V) -> V:
    if x.kind == "i1":
        return e.both(x, e.invert(y))
    bits, kind = INT_BITS[x.kind], x.kind
    last = e.const(bits - 1, kind)
    if y.const is not None and 0 <= y.const < bits:
        return e.binary(word, x, y)
    if word == "ashr":
        return e.binary(word, x, e.intrinsic("umin", y, last))
    inside = e.compare("ule", y, last)
    return e.select(inside, e.binary(word, x, e.both(y, last)), e.const(0, kind))


# ---- comparison and choice ------------------------------------------------------------------------------------------

_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(e: Code, op: Any, x: V, y: V) -> V:
    ty, predicate = element(op), op.predicate
    if is_float(ty):
        return e.compare(_FLOAT_PREDICATES[predicate], widen(e, x, ty), widen(e, y, ty))
    if predicate not in ("eq", "ne"):
        predicate = ("s" if is_signed(ty) else "u") + predicate
    return e.compare(predicate, x, y)


def select(e: Code, op: Any, c: V, x: V, y: V) -> V:
    return e.select(c, x, y)


def extremum(e: Code, op: Any, x: V, y: V) -> V:
    return larger(e, element(op), op.largest, op.propagate_nan, x, y)


def larger(e: Code, ty: Any, largest: bool, propagate_nan: bool, x: V, y: V) -> V:
    """Maximum (or minimum); -0 below +0, a NaN loses unless it propagates."""
    if not is_float(ty):
        if x.kind == "i1":
            return e.binary("or" if largest else "and", x, y)
        return e.intrinsic(("s" if is_signed(ty) else "u") + ("max" if largest else "min"), x, y)
    name = "max" if largest else "min"
    name = f"{name}imum" if propagate_nan else f"{name}imumnum"
    a, b = widen(e, x, ty), widen(e, y, ty)
    out = e.intrinsic(name, a, b)
    if a is x:
        return out
    # The narrow formats keep their bits: an 8-bit infinity would saturate on the way back.
    same = e.compare("eq", e.bits(out, "i32"), e.bits(a, "i32"))
    if propagate_nan:
        same = e.binary("or", same, e.compare("uno", a, a))
    return e.select(same, x, y)


def clamp(e: Code, op: Any, x: V, lo: V, hi: V) -> V:
    ty = element(op)
    raised = larger(e, ty, True, op.propagate_nan, x, lo)
    return larger(e, ty, False, op.propagate_nan, raised, hi)


def absolute(e: Code, op: Any, x: V) -> V:
    ty = element(op)
    if is_float(ty):
        if ty.text in ("f32", "f64", "f16"):
            return e.intrinsic("fabs", x)
        sign = 1 << (INT_BITS[x.kind] - 1)
        cleared = e.both(x, e.const(~sign, x.kind))
        if not ty.is_fp8() or ty.text not in ("f8e4b8", "f8e5b16"):
            return cleared
        return e.select(e.compare("eq", x, e.const(sign, x.kind)), x, cleared)
    if not is_signed(ty):
        return x
    negative = e.compare("slt", x, e.const(0, x.kind))
    return e.select(negative, e.sub(e.const(0, x.kind), x), x)


def floor(e: Code, op: Any, x: V) -> V:
    return narrow(e, e.intrinsic("floor", widen(e, x, element(op))), element(op))


def ceil(e: Code, op: Any, x: V) -> V:
    return narrow(e, e.intrinsic("ceil", widen(e, x, element(op))), element(op))


def sqrt(e: Code, op: Any, x: V) -> V:
    return narrow(e, e.intrinsic("sqrt", widen(e, x, element(op))), element(op))


# ---- conversion -----------------------------------------------------------------------------------------------------


def convert(e: Code, op: Any, x: V) -> V:
    return cast(e, x, element(op), op.results[0].type.scalar, op.rounding == "rtz")


def bitcast(e: Code, op: Any, x: V) -> V:
    from tritium.backends.cpu.formats import held_as

    return e.bits(x, held_as(op.results[0].type.scalar))


def same(e: Code, op: Any, x: V, *rest: V) -> V:
    return x


def add_pointer(e: Code, op: Any, ptr: V, offset: V) -> V:
    size = op.ptr.type.scalar.element_ty.itemsize
    wide = e.convert("sext" if is_signed(op.offset_.type.scalar) else "zext", offset, "i64")
    return e.add(ptr, e.mul(wide, e.index(size)))
