"""Float-to-float conversion at the level of bit patterns: exact widening, narrowing in one rounding.

Narrowing works without branches. For a magnitude a with leading power of two q (raised to the target's
smallest normal number, so that subnormal targets need no case of their own) and a target of m mantissa
bits, the sum a + C with C = q * 2**(p - m), p the source's mantissa bits, has a last place of exactly one
target ulp: the addition itself rounds a to the target's grid, once, ties to even. The integer difference of
the bit patterns of a + C and C counts target ulps, and adding the target's exponent field to it gives the
target's pattern, carries into the exponent included.

Overflow: f16, bf16 and f32 follow IEEE 754. The 8-bit floats follow compiled Triton on sm_90, whose
round-to-nearest conversions are `cvt.rn.satfinite`: everything beyond the largest finite value, infinities
included, becomes that value with its sign, and NaN stays NaN. Rounding toward zero keeps infinities where
the format has them (Triton goes through `cvt.rz.f16.f32`). `f8e4b15` rounds ties away from zero, as
Triton's conversion sequence does, and NaN becomes +1.75.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.formats import FORMATS, Array, Format, format_of

Rounding = Literal["rn", "rz", "rd", "ru"]


class _Source(NamedTuple):
    """Layout of float32 or float64 as the source of a narrowing."""

    fmt: Format
    magnitude: int
    infinity: int


def _source(fmt: Format) -> _Source:
    magnitude = (1 << (fmt.bits - 1)) - 1
    return _Source(fmt, magnitude, ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits)


_F32 = _source(FORMATS["f32"])
_F64 = _source(FORMATS["f64"])


def _field(src: _Source, fmt: Format, code: int) -> int:
    """Source pattern of the normal target value with pattern `code`."""
    shift = src.fmt.mantissa_bits - fmt.mantissa_bits
    return (code << shift) + ((src.fmt.bias - fmt.bias) << src.fmt.mantissa_bits)


def narrow_bits(x: Array, fmt: Format, rounding: Rounding = "rn") -> Array:
    """Bit patterns (the source's unsigned width) of the float32/float64 block `x` rounded once to the
    narrower `fmt`.

    Not for float32 to bf16, where C would overflow.
    """
    src = _F32 if x.dtype.itemsize == 4 else _F64
    uint = src.fmt.pattern.type
    p, m = src.fmt.mantissa_bits, fmt.mantissa_bits
    pattern = x.view(uint)
    magnitude = pattern & uint(src.magnitude)
    special = magnitude.size > 0 and magnitude.max() >= src.infinity
    original = magnitude.copy() if special else magnitude

    nearest_ieee = rounding == "rn" and not fmt.is_fp8
    largest = fmt.max_finite_bits + (1 if nearest_ieee or rounding in ("rd", "ru") else 0)
    np.minimum(magnitude, uint(_field(src, fmt, largest)), out=magnitude)
    q = magnitude & uint(src.infinity)
    np.maximum(q, uint(_field(src, fmt, 1 << m)), out=q)
    offset = q + uint((p - m) << p)
    total = magnitude.view(x.dtype) + offset.view(x.dtype)
    code = total.view(uint) - offset
    q >>= uint(p - m)
    code += q
    code -= uint((src.fmt.bias - fmt.bias + 1) << m)
    if rounding != "rn":
        rounded = total - offset.view(x.dtype)
        code = _directed(code, rounded, magnitude.view(x.dtype), _away(pattern, src, rounding), fmt)
    elif fmt.name == "f8e4b15":
        remainder = magnitude.view(x.dtype) - (total - offset.view(x.dtype))
        code += remainder * x.dtype.type(2.0 ** (p + 1)) == offset.view(x.dtype)

    sign = pattern >> uint(src.fmt.bits - fmt.bits)
    sign &= uint(1 << (fmt.bits - 1))
    code |= sign
    if not fmt.has_negative_zero:
        code *= code != uint(0x80)
    if special:
        _fix_special(code, original, sign, src, fmt, rounding)
    return code


def _away(pattern: Array, src: _Source, rounding: Rounding) -> Array:
    """Which lanes round away from zero, as 0 or 1 in the source's unsigned width."""
    uint = src.fmt.pattern.type
    negative = pattern >> uint(src.fmt.bits - 1)
    if rounding == "rd":
        return negative
    if rounding == "ru":
        return negative ^ uint(1)
    return np.zeros_like(negative)


def _directed(code: Array, rounded: Array, magnitude: Array, away: Array, fmt: Format) -> Array:
    """Nearest patterns made directed: an ulp back where they passed the value, one on where short."""
    uint = code.dtype.type
    code -= (rounded > magnitude) & (away == 0)
    code += (rounded < magnitude) & (away != 0)
    limit = away + uint(fmt.max_finite_bits) if not fmt.is_fp8 else uint(fmt.max_finite_bits)
    return np.minimum(code, limit)


def _fix_special(
    code: Array, magnitude: Array, sign: Array, src: _Source, fmt: Format, rounding: Rounding
) -> None:
    if fmt.has_inf and not (fmt.is_fp8 and rounding == "rn"):
        infinite = magnitude == src.infinity
        infinity = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
        code[infinite] = sign[infinite] | code.dtype.type(infinity)
    code[magnitude > src.infinity] = fmt.max_finite_bits if fmt.nan_bits is None else fmt.nan_bits


def _truncate_to_bf16(x: Array) -> Array:
    pattern = x.view(np.uint32)
    code = pattern >> np.uint32(16)
    magnitude = pattern & np.uint32(_F32.magnitude)
    if magnitude.max() > _F32.infinity:
        code[magnitude > _F32.infinity] = 0x7FC0
    return code


@quiet
def narrow(x: Array, fmt: Format, rounding: Rounding = "rn") -> Array:
    """float32 or float64 `x` rounded once to `fmt`, as an array of the format's storage dtype."""
    if x.dtype == fmt.storage:
        return x
    # Measured per element (AVX-512, 1 M elements): f32 to bf16 0.4 ns by ml_dtypes, 0.45 by integer
    # operations, 2.7 here; f32 to f16 2.4 by NumPy, 2.7 here. ml_dtypes takes f64 through f32, which would
    # round twice.
    if rounding == "rn" and (fmt.name in ("f32", "f16") or (fmt.name == "bf16" and x.dtype.itemsize == 4)):
        return x.astype(fmt.storage)
    if rounding == "rz" and fmt.name == "bf16" and x.dtype.itemsize == 4:
        return blockwise(_truncate_to_bf16, fmt.pattern, x).view(fmt.storage)
    if fmt.name == "bf16":
        x = x.astype(np.float64)
    return blockwise(lambda part: narrow_bits(part, fmt, rounding), fmt.pattern, x).view(fmt.storage)


@cache
def _widening_table(name: str, wide: str) -> Array:
    fmt = format_of(name)
    pattern = np.arange(1 << fmt.bits, dtype=fmt.pattern)
    if name == "f8e4b15":
        half = (pattern & 0x7F).astype(np.uint16) << 7 | (pattern & 0x80).astype(np.uint16) << 8
        pattern = half.view(np.float16)
    with np.errstate(all="ignore"):
        table = pattern.view(fmt.storage if name != "f8e4b15" else np.float16).astype(wide)
    table.setflags(write=False)
    return table


def widen(x: Array, fmt: Format, wide: Literal["float32", "float64"] = "float32") -> Array:
    """`x` of any float format as float32 or float64. Exact, except that ``f64`` rounds to float32."""
    if fmt.bits >= 32 or fmt.name == "bf16":
        with np.errstate(all="ignore"):
            return x.astype(wide, copy=False)
    return np.asarray(_widening_table(fmt.name, wide).take(x.view(fmt.pattern)))
