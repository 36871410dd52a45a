"""float64 fma, division and square root in all four rounding modes, exactly, on integer significands.

NumPy offers neither a fused multiply-add nor a rounding mode, and error-free transformations fail near
overflow and underflow. Here a value is a sign, an integer significand and an exponent. Bits that a shift
drops are or-ed into the last bit kept ("jamming"), which never changes the outcome of a later rounding that
drops that bit. Division and square root take the nearest quotient or root from the hardware and the sign of
its exact remainder from 64-bit integers: the remainder is small, so it is right although the products wrap.
"""

from __future__ import annotations

import numpy as np

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import Rounding
from tritium.numerics.formats import Array
from tritium.numerics.integer import bit_length, unsigned_high

_U = np.uint64
_FAR = -(1 << 20)  # exponent of zero: below every other, so that alignment shifts it out


@quiet
def fma64(a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
    """``a * b + c`` of float64 arrays, rounded once."""
    return blockwise(lambda x, y, z: _fma(x, y, z, rounding), np.float64, a, b, c)


@quiet
def add64(a: Array, b: Array, rounding: Rounding) -> Array:
    """``a + b`` of float64 arrays."""
    if rounding == "rn":
        return np.asarray(a + b)
    return blockwise(lambda x, y: _fma(x, np.ones(1), y, rounding), np.float64, a, b)


@quiet
def mul64(a: Array, b: Array, rounding: Rounding) -> Array:
    """``a * b`` of float64 arrays."""
    if rounding == "rn":
        return np.asarray(a * b)
    # The zero added has the sign of the product, so that a zero product keeps it.
    return blockwise(lambda x, y: _fma(x, y, (x * y) * 0.0, rounding, True), np.float64, a, b)


@quiet
def div64(a: Array, b: Array, rounding: Rounding) -> Array:
    """``a / b`` of float64 arrays."""
    if rounding == "rn":
        return np.asarray(a / b)
    return blockwise(lambda x, y: _div(x, y, rounding), np.float64, a, b)


@quiet
def sqrt64(a: Array, rounding: Rounding) -> Array:
    """Square root of a float64 array."""
    if rounding == "rn":
        return np.asarray(np.sqrt(a))
    return blockwise(lambda x: _sqrt(x, rounding), np.float64, a)


def _unpack(x: Array) -> tuple[Array, Array]:
    """Significand in [2**52, 2**53), or 0, and the exponent of its unit. Infinities and NaN give anything."""
    fraction, exponent = np.frexp(np.where(np.isfinite(x), x, 1.0))
    significand = (np.abs(fraction) * 2.0**53).astype(np.uint64)
    return significand, np.where(fraction == 0, np.int64(_FAR), exponent.astype(np.int64) - 53)


def _shift_right_jam(high: Array, low: Array, by: Array) -> tuple[Array, Array]:
    """The 128-bit value (high, low) shifted right by `by` >= 0, dropped bits jammed into the last."""
    by = np.minimum(by, 127).astype(np.uint64)
    wide = by >= _U(64)
    near, rest = np.where(wide, high, low), np.where(wide, _U(0), high)
    lost = wide & (low != 0)
    count = by & _U(63)
    # NumPy defines a shift by 64 as 0, which is what a count of 0 needs here.
    carry = rest << (_U(64) - count)
    dropped = near << (_U(64) - count)
    out = (near >> count) | carry
    return rest >> count, out | (lost | (dropped != 0))


def _round(negative: Array, significand: Array, exponent: Array, rounding: Rounding) -> Array:
    """``significand * 2**exponent`` with its sign, rounded to float64. A jammed significand exceeds 2**54."""
    length = bit_length(significand).astype(np.int64)
    lift = np.maximum(63 - length, 0)
    significand = significand << lift.astype(np.uint64)
    exponent = exponent - lift
    unit = np.maximum(exponent + 10 + (length > 63), -1074)  # of 63 or 64 bits, 53 stay
    drop = np.minimum(unit - exponent, 64).astype(np.uint64)
    kept = significand >> drop
    rest = significand << (_U(64) - drop)  # the dropped bits, at the top
    far = unit - exponent > 64  # less than half a unit
    rest = np.where(far, (significand != 0).astype(np.uint64), rest)
    if rounding == "rn":
        half = _U(1 << 63)
        up = (rest > half) | ((rest == half) & ((kept & _U(1)) != 0))
    elif rounding == "rz":
        up = np.zeros(rest.shape, np.bool_)
    else:
        up = (rest != 0) & (negative if rounding == "rd" else ~negative)
    result = np.ldexp((kept + up).astype(np.float64), unit.astype(np.int32))
    if rounding != "rn":
        toward_zero = True if rounding == "rz" else (~negative if rounding == "rd" else negative)
        result = np.where(np.isinf(result) & toward_zero, np.finfo(np.float64).max, result)
    return np.where(negative, -result, result)


def _fma(a: Array, b: Array, c: Array, rounding: Rounding, product_only: bool = False) -> Array:
    finite = np.isfinite(a) & np.isfinite(b)
    special = ~finite | ~np.isfinite(c) if not product_only else ~finite
    (ma, ea), (mb, eb), (mc, ec) = _unpack(a), _unpack(b), _unpack(c)
    negative_product = np.signbit(a) ^ np.signbit(b)
    negative_c = np.broadcast_to(np.signbit(c), special.shape)

    # The product and c as 128-bit values in [2**126, 2**127), or 0.
    left, right = ma << _U(10), mb << _U(11)
    high, low = unsigned_high(*np.broadcast_arrays(left, right)), left * right
    small = (high >> _U(62)) == 0
    high, low = np.where(small, (high << _U(1)) | (low >> _U(63)), high), np.where(small, low << _U(1), low)
    exponent = np.where((ma == 0) | (mb == 0), np.int64(_FAR), ea + eb - 21 - small)
    high_c, exponent_c = np.broadcast_to(mc << _U(10), high.shape), ec - 74
    zero_c = np.zeros(high.shape, np.uint64)

    # Order by magnitude and align the smaller one.
    c_first = (exponent_c > exponent) | ((exponent_c == exponent) & (high_c > high))
    distance = np.abs(exponent_c - exponent)
    big_high, big_low = np.where(c_first, high_c, high), np.where(c_first, zero_c, low)
    small_high, small_low = np.where(c_first, high, high_c), np.where(c_first, low, zero_c)
    small_high, small_low = _shift_right_jam(small_high, small_low, distance)
    negative = np.where(c_first, negative_c, negative_product)
    minus = negative_c ^ negative_product
    add_low, sub_low = big_low + small_low, big_low - small_low
    add_high = big_high + small_high + (add_low < big_low)
    sub_high = big_high - small_high - (big_low < small_low)
    high, low = np.where(minus, sub_high, add_high), np.where(minus, sub_low, add_low)
    exponent = np.maximum(exponent, exponent_c)

    # Bring the leading bit into the high word, then jam the low word into it.
    only_low = high == 0
    high, low = np.where(only_low, low, high), np.where(only_low, _U(0), low)
    exponent = np.where(only_low, exponent, exponent + 64)
    lift = np.maximum(63 - bit_length(high).astype(np.int64), 0).astype(np.uint64)
    high = (high << lift) | np.where(lift != 0, low >> (_U(64) - lift), _U(0))
    exponent = exponent - lift.astype(np.int64)
    high = high | ((low << lift) != 0)
    zero = high == 0
    both_negative = negative_c & negative_product
    cancelled = (minus | ~both_negative) if rounding != "rd" else ~(minus | both_negative)
    negative = np.where(zero, ~cancelled, negative)
    result = _round(negative, high, exponent, rounding)
    fallback = np.where(finite, 0.0, a * b) + (0.0 if product_only else c)
    return np.where(special, fallback, result)


def _div(a: Array, b: Array, rounding: Rounding) -> Array:
    ordinary = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    (ma, ea), (mb, eb) = _unpack(np.where(ordinary, a, 1.0)), _unpack(np.where(ordinary, b, 1.0))
    quotient = ma.astype(np.float64) / mb.astype(np.float64)
    scale = np.where(quotient < 1, np.int64(53), np.int64(52))
    nearest = np.ldexp(quotient, scale.astype(np.int32)).astype(np.uint64)
    remainder = ((ma << scale.astype(np.uint64)) - nearest * mb).astype(np.int64)
    jammed = (nearest << _U(2)).astype(np.int64) + np.sign(remainder)
    exact = _round(np.signbit(a) ^ np.signbit(b), jammed.astype(np.uint64), ea - eb - scale - 2, rounding)
    return np.where(ordinary, exact, a / b)


def _sqrt(a: Array, rounding: Rounding) -> Array:
    ordinary = np.isfinite(a) & (a > 0)
    fraction, exponent = np.frexp(np.where(ordinary, a, 1.0))
    odd = (exponent & 1) != 0
    fraction, exponent = np.where(odd, fraction / 2, fraction), exponent + odd
    nearest = (np.sqrt(fraction) * 2.0**53).astype(np.uint64)
    square = (fraction * 2.0**54).astype(np.uint64) << _U(52)
    remainder = (square - nearest * nearest).astype(np.int64)
    jammed = (nearest << _U(2)).astype(np.int64) + np.sign(remainder)
    unit = exponent.astype(np.int64) // 2 - 55
    exact = _round(np.zeros(a.shape, np.bool_), jammed.astype(np.uint64), unit, rounding)
    return np.where(ordinary, exact, np.sqrt(a))
