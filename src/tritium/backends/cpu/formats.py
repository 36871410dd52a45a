"""Scalar formats in LLVM: which type holds them, how narrow floats widen and round, how numbers convert.

bf16 and the 8-bit floats live as integers of their size and are converted by integer arithmetic, so that no rounding
is left to the code generator. The rules are those of `tritium.numerics.cast` and `tritium.numerics.convert`.
"""

from __future__ import annotations

from tritium.backends.cpu.code import INT_BITS, Code, V
from tritium.ir.types import DType, PointerType
from tritium.numerics.formats import Format, format_of

_HELD = {"f32": "float", "f64": "double", "f16": "half", "bf16": "i16", "i1": "i1"}


def held_as(ty: DType | PointerType) -> str:
    """The LLVM scalar type that holds an element of `ty`."""
    if isinstance(ty, PointerType):
        return "i64"
    found = _HELD.get(ty.text)
    if found is None:
        found = "i8" if ty.is_fp8() else f"i{ty.primitive_bitwidth}"
    return found


def stored_as(ty: DType | PointerType) -> str:
    """The LLVM type of an element in memory: a truth value takes a byte."""
    kind = held_as(ty)
    return "i8" if kind == "i1" else kind


def format_for(ty: DType | PointerType) -> Format:
    assert isinstance(ty, DType)
    return format_of(ty.text)


def is_float(ty: DType | PointerType) -> bool:
    return isinstance(ty, DType) and ty.is_floating()


def is_signed(ty: DType | PointerType) -> bool:
    return isinstance(ty, DType) and ty.is_int_signed()


def constant(e: Code, value: bool | int | float, ty: DType | PointerType) -> V:
    """A Python number as an element of `ty`."""
    kind = held_as(ty)
    if isinstance(ty, DType) and ty.is_floating() and ty.text not in ("f32", "f64"):
        import numpy as np

        from tritium.ops.storage import constant as array_constant

        array = array_constant(value, ty)
        bits = int(array.reshape(-1).view(f"u{array.dtype.itemsize}")[0])
        if kind == "half":
            return e.const(float(np.uint16(bits).view(np.float16)), "half")
        return e.const(bits, kind)
    return e.const(value, kind)


# ---- widening -------------------------------------------------------------------------------------------------------

_FP8_FIELDS = {"f8e4nv": (20, 120), "f8e4b8": (20, 119), "f8e5b16": (21, 111), "f8e4b15": (20, 112)}
"""Left shift to fp32's mantissa, and the power of two that moves the exponent bias to fp32's."""


def widen(e: Code, x: V, ty: DType) -> V:
    """A float of any format as fp32 (fp64 stays as it is). Exact."""
    name = ty.text
    if name in ("f32", "f64"):
        return x
    if name == "f16":
        return e.convert("fpext", x, "float")
    if name == "bf16":
        return e.bits(e.binary("shl", e.convert("zext", x, "i32"), e.const(16, "i32")), "float")
    if name == "f8e5":
        half = e.bits(e.binary("shl", e.convert("zext", x, "i16"), e.const(8, "i16")), "half")
        return e.convert("fpext", half, "float")
    wide = e.convert("zext", x, "i32")
    shift, power = _FP8_FIELDS[name]
    magnitude = e.binary("shl", e.both(wide, e.const(0x7F, "i32")), e.const(shift, "i32"))
    scaled = e.binary("fmul", e.bits(magnitude, "float"), e.const(2.0**power, "float"))
    sign = e.binary("shl", e.both(wide, e.const(0x80, "i32")), e.const(24, "i32"))
    value = e.bits(e.binary("or", e.bits(scaled, "i32"), sign), "float")
    nan = format_of(name).nan_bits
    if nan is None:
        return value
    pattern = wide if name != "f8e4nv" else e.both(wide, e.const(0x7F, "i32"))
    return e.select(e.compare("eq", pattern, e.const(nan, "i32")), e.const(float("nan"), "float"), value)


# ---- narrowing ------------------------------------------------------------------------------------------------------


def narrow(e: Code, x: V, ty: DType, toward_zero: bool = False) -> V:
    """fp32 or fp64 `x` rounded once to `ty`."""
    name = ty.text
    if name == "f64":
        return e.convert("fpext", x, "double")
    if x.kind == "double":
        if name == "f32":
            return _truncated(e, x) if toward_zero else e.convert("fptrunc", x, "float")
        x = _truncated(e, x) if toward_zero and not ty.is_fp8() else odd_single(e, x)
    if name == "f32":
        return x
    if name == "f16":
        return _to_half(e, x, toward_zero)
    if name == "bf16":
        return _to_bf16(e, x, toward_zero)
    return _to_fp8(e, x, format_of(name), toward_zero)


def _nan(e: Code, x: V) -> V:
    return e.compare("uno", x, x)


def _past(e: Code, back: V, x: V) -> V:
    """Where `back` is larger in magnitude than `x`."""
    return e.compare("ogt", e.intrinsic("fabs", back), e.intrinsic("fabs", x))


def _truncated(e: Code, x: V) -> V:
    """fp64 to fp32 toward zero."""
    near = e.convert("fptrunc", x, "float")
    bits = e.bits(near, "i32")
    past = _past(e, e.convert("fpext", near, "double"), x)
    return e.bits(e.select(past, e.sub(bits, e.const(1, "i32")), bits), "float")


def odd_single(e: Code, x: V) -> V:
    """fp64 to fp32 rounded to odd: rounding on to a format of at most 22 bits is then the same as rounding once."""
    near = e.convert("fptrunc", x, "float")
    back = e.convert("fpext", near, "double")
    bits = e.bits(near, "i32")
    cut = e.select(_past(e, back, x), e.sub(bits, e.const(1, "i32")), bits)
    inexact = e.convert("zext", e.compare("une", back, x), "i32")
    return e.bits(e.binary("or", cut, inexact), "float")


def _to_half(e: Code, x: V, toward_zero: bool) -> V:
    near = e.convert("fptrunc", x, "half")
    if not toward_zero:
        return near
    bits = e.bits(near, "i16")
    past = _past(e, e.convert("fpext", near, "float"), x)
    return e.bits(e.select(past, e.sub(bits, e.const(1, "i16")), bits), "half")


def _to_bf16(e: Code, x: V, toward_zero: bool) -> V:
    bits = e.bits(x, "i32")
    high = e.binary("lshr", bits, e.const(16, "i32"))
    if toward_zero:
        code = high
    else:
        tie = e.add(e.both(high, e.const(1, "i32")), e.const(0x7FFF, "i32"))
        code = e.binary("lshr", e.add(bits, tie), e.const(16, "i32"))
    code = e.select(_nan(e, x), e.binary("or", high, e.const(0x40, "i32")), code)
    return e.convert("trunc", code, "i16")


def _to_fp8(e: Code, x: V, fmt: Format, toward_zero: bool) -> V:
    """The additive scheme of `tritium.numerics.convert.narrow_bits`, on fp32."""
    p, m = 23, fmt.mantissa_bits
    c = lambda value: e.const(value, "i32")
    field = lambda code: (code << (p - m)) + ((127 - fmt.bias) << p)
    pattern = e.bits(x, "i32")
    original = e.both(pattern, c(0x7FFFFFFF))
    magnitude = e.intrinsic("umin", original, c(field(fmt.max_finite_bits)))
    q = e.intrinsic("umax", e.both(magnitude, c(0x7F800000)), c(field(1 << m)))
    offset = e.add(q, c((p - m) << p))
    value, shifted = e.bits(magnitude, "float"), e.bits(offset, "float")
    total = e.binary("fadd", value, shifted)
    code = e.sub(e.bits(total, "i32"), offset)
    code = e.add(code, e.binary("lshr", q, c(p - m)))
    code = e.sub(code, c((127 - fmt.bias + 1) << m))
    rounded = e.binary("fsub", total, shifted)
    if toward_zero:
        code = e.sub(code, e.convert("zext", e.compare("ogt", rounded, value), "i32"))
    elif fmt.name == "f8e4b15":
        rest = e.binary("fmul", e.binary("fsub", value, rounded), e.const(2.0 ** (p + 1), "float"))
        code = e.add(code, e.convert("zext", e.compare("oeq", rest, shifted), "i32"))
    sign = e.both(e.binary("lshr", pattern, c(24)), c(0x80))
    code = e.binary("or", code, sign)
    if not fmt.has_negative_zero:
        code = e.select(e.compare("eq", code, c(0x80)), c(0), code)
    if fmt.has_inf and toward_zero:
        infinity = e.binary("or", sign, c(((1 << fmt.exponent_bits) - 1) << m))
        code = e.select(e.compare("eq", original, c(0x7F800000)), infinity, code)
    nan = fmt.max_finite_bits if fmt.nan_bits is None else fmt.nan_bits
    code = e.select(e.compare("ugt", original, c(0x7F800000)), c(nan), code)
    return e.convert("trunc", code, "i8")


# ---- conversion -----------------------------------------------------------------------------------------------------


def cast(
    e: Code, x: V, source: DType | PointerType, target: DType | PointerType, toward_zero: bool = False
) -> V:
    """`x` of type `source` as `target`; see `tritium.numerics.cast` for the rules."""
    if source == target:
        return x
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return _cast_address(e, x, source, target)
    if target.text == "i1":
        return _truth(e, x, source)
    if source.is_floating():
        if target.is_floating():
            return narrow(e, widen(e, x, source), target, toward_zero)
        return _float_to_int(e, widen(e, x, source), target)
    if target.is_floating():
        return _int_to_float(e, x, source, target)
    kind = held_as(target)
    if INT_BITS[kind] < INT_BITS[x.kind]:
        return e.convert("trunc", x, kind)
    return e.convert("sext" if source.is_int_signed() else "zext", x, kind)


def _cast_address(e: Code, x: V, source: DType | PointerType, target: DType | PointerType) -> V:
    if isinstance(source, PointerType):
        if isinstance(target, PointerType):
            return x
        return _truth(e, x, source) if target.text == "i1" else e.convert("trunc", x, held_as(target))
    return e.convert("sext" if source.is_int_signed() else "zext", x, "i64")


def _truth(e: Code, x: V, source: DType | PointerType) -> V:
    if isinstance(source, DType) and source.is_floating():
        wide = widen(e, x, source)
        return e.compare("une", wide, e.const(0.0, wide.kind))
    return e.compare("ne", x, e.const(0, x.kind))


def _float_to_int(e: Code, x: V, target: DType) -> V:
    """Truncated and saturated; NaN gives 0."""
    kind, signed = held_as(target), target.is_int_signed()
    name = "fptosi.sat" if signed else "fptoui.sat"
    if x.const is not None:
        x = e.emit(x.kind, 1, 0, f"bitcast {x.kind} {x.literal()} to {x.kind}")
    over = f"v{x.lanes}" if x.lanes > 1 else ""
    short = {"float": "f32", "double": "f64"}[x.kind]
    full = f"llvm.{name}.{over}{kind}.{over}{short}"
    result = kind if x.lanes == 1 else f"<{x.lanes} x {kind}>"
    argument = x.kind if x.lanes == 1 else f"<{x.lanes} x {x.kind}>"
    e.declare(full, f"{result} ({argument})")
    return e.emit(kind, x.lanes, x.level, f"call {result} @{full}({argument} {x.ssa})")


def _int_to_float(e: Code, x: V, source: DType, target: DType) -> V:
    word = "sitofp" if source.is_int_signed() else "uitofp"
    if target.text in ("f32", "f64"):
        return e.convert(word, x, held_as(target))
    if INT_BITS[x.kind] <= 32:
        return narrow(e, e.convert(word, x, "double"), target)
    return narrow(e, _odd_double(e, x, word), target)


def _odd_double(e: Code, x: V, word: str) -> V:
    """A 64-bit integer as fp64, rounded to odd at 48 bits where it does not fit."""
    shift = "ashr" if word == "sitofp" else "lshr"
    high = e.binary(shift, x, e.const(16, "i64"))
    lost = e.compare("ne", e.both(x, e.const(0xFFFF, "i64")), e.const(0, "i64"))
    high = e.binary("or", high, e.convert("zext", lost, "i64"))
    large = e.binary("fmul", e.convert(word, high, "double"), e.const(65536.0, "double"))
    plain = e.convert(word, x, "double")
    is_large = e.compare("oge", e.intrinsic("fabs", plain), e.const(2.0**48, "double"))
    return e.select(is_large, large, plain)


def to_memory(e: Code, x: V) -> V:
    return e.convert("zext", x, "i8") if x.kind == "i1" else x


def from_memory(e: Code, x: V, ty: DType | PointerType) -> V:
    return e.compare("ne", x, e.const(0, "i8")) if held_as(ty) == "i1" else x
