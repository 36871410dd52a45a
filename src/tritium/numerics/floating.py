"""Floating-point arithmetic in the precision of each format.

f32 and f64 are IEEE 754 with subnormals, rounded to nearest even. The narrower formats are computed in f32
and rounded once more, which gives the correctly rounded result of each operation: for ``+ - * / sqrt``
rounding first to p' bits and then to p is the same as rounding once when p' >= 2p + 2 (Figueroa, "When is
double rounding innocuous?", 1995), and f32 has 24 bits against 11 (f16), 8 (bf16) and fewer. The theorem
assumes normal results. For subnormal f16 and fp8 results the f32 value is still normal and the target has
even fewer bits. Subnormal bf16 results are subnormal in f32 too, but there sums are exact, products are
exact above half the smallest bf16 number, and a quotient of two 8-bit significands stays at least 2**-142
away from a bf16 midpoint it does not meet, while f32 resolves 2**-149.

All functions take operands in the storage dtype of the format they name and return that dtype, unless they
say else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import narrow, widen
from tritium.numerics.formats import Array, Format, format_of, stored
from tritium.numerics.integer import COMPARISONS, Predicate


def _pair(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> tuple[Array, Array, Format]:
    form = format_of(fmt)
    return stored(x, form), stored(y, form), form


def _binary(ufunc: Callable[..., Any], x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, form = _pair(x, y, fmt)
    if form.bits >= 32:
        return np.asarray(ufunc(a, b))
    return narrow(np.asarray(ufunc(widen(a, form), widen(b, form))), form)


def unary(ufunc: Callable[..., Any], x: npt.ArrayLike, fmt: str) -> Array:
    """A NumPy function applied to `x`; the narrow formats go through f32 and round once."""
    form = format_of(fmt)
    a = stored(x, form)
    if form.bits >= 32:
        return np.asarray(ufunc(a))
    return narrow(np.asarray(ufunc(widen(a, form))), form)


@quiet
def add(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    return _binary(np.add, x, y, fmt)


@quiet
def sub(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    return _binary(np.subtract, x, y, fmt)


@quiet
def mul(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    return _binary(np.multiply, x, y, fmt)


@quiet
def div(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Correctly rounded quotient."""
    return _binary(np.divide, x, y, fmt)


@quiet
def fmod(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Exact remainder of the quotient truncated toward zero, signed as `x`; NaN for y = 0 or infinite x."""
    return _binary(np.fmod, x, y, fmt)


@quiet
def sqrt(x: npt.ArrayLike, fmt: str) -> Array:
    """Correctly rounded square root."""
    return unary(np.sqrt, x, fmt)


@quiet
def floor(x: npt.ArrayLike, fmt: str) -> Array:
    return unary(np.floor, x, fmt)


@quiet
def ceil(x: npt.ArrayLike, fmt: str) -> Array:
    return unary(np.ceil, x, fmt)


def neg(x: npt.ArrayLike, fmt: str) -> Array:
    """`x` with the other sign, zeros and NaN included (``0 - x`` would keep +0)."""
    form = format_of(fmt)
    a = stored(x, form)
    pattern = a.view(form.pattern)
    sign = form.pattern.type(1 << (form.bits - 1))
    flip = sign if form.has_negative_zero else ((pattern & ~sign) != 0) * sign
    return np.asarray(np.bitwise_xor(pattern, flip)).view(form.storage)


def absolute(x: npt.ArrayLike, fmt: str) -> Array:
    """`x` without its sign."""
    form = format_of(fmt)
    a = stored(x, form)
    pattern = a.view(form.pattern)
    sign = form.pattern.type(1 << (form.bits - 1))
    drop = sign if form.has_negative_zero else ((pattern & ~sign) != 0) * sign
    return np.asarray(np.bitwise_and(pattern, ~drop)).view(form.storage)


def isnan(x: npt.ArrayLike, fmt: str) -> Array:
    """Where `x` is NaN, as a bool array."""
    form = format_of(fmt)
    a = stored(x, form)
    if form.bits >= 32:
        return np.asarray(np.isnan(a))
    pattern = a.view(form.pattern)
    if form.nan_bits is None:
        return np.zeros(a.shape, np.bool_)
    if not form.has_negative_zero:
        return np.asarray(pattern == form.pattern.type(form.nan_bits))
    last = form.max_finite_bits + (1 if form.has_inf else 0)
    return np.asarray((pattern & form.pattern.type((1 << (form.bits - 1)) - 1)) > form.pattern.type(last))


@quiet
def compare(predicate: Predicate, x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """`x` compared with `y`, as a bool array. With a NaN every predicate but "ne" is false."""
    a, b, form = _pair(x, y, fmt)
    if form.bits < 32:
        a, b = widen(a, form), widen(b, form)
    return np.asarray(COMPARISONS[predicate](a, b))


@quiet
def minimum(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, propagate_nan: bool = False) -> Array:
    """Smaller of `x` and `y`, -0 below +0. A NaN gives way to the other one, or wins if `propagate_nan`."""
    return _extremum(x, y, fmt, propagate_nan, smaller=True)


@quiet
def maximum(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, propagate_nan: bool = False) -> Array:
    """Larger of `x` and `y`, -0 below +0. A NaN gives way to the other one, or wins if `propagate_nan`."""
    return _extremum(x, y, fmt, propagate_nan, smaller=False)


def _extremum(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, propagate_nan: bool, smaller: bool) -> Array:
    a, b, form = _pair(x, y, fmt)
    if form.bits < 32:
        return _narrow_extremum(a, b, form, propagate_nan, smaller)
    if propagate_nan:
        out = np.asarray(np.minimum(a, b) if smaller else np.maximum(a, b))
    else:
        out = np.asarray(np.fmin(a, b) if smaller else np.fmax(a, b))
    zero = out == 0
    if zero.any():
        # NumPy leaves the sign open where both are zero.
        both = zero & (a == 0) & (b == 0)
        left, right = a.view(form.pattern), b.view(form.pattern)
        sign = np.bitwise_or(left, right) if smaller else np.bitwise_and(left, right)
        np.copyto(out.view(form.pattern), sign, where=both)
    return out


def _order_key(pattern: Array, form: Format) -> Array:
    """Bit patterns as integers of the same order, -0 below +0; its own inverse."""
    signed = pattern.view(f"i{form.pattern.itemsize}")
    flip = signed >> signed.dtype.type(form.bits - 1)
    flip &= signed.dtype.type((1 << (form.bits - 1)) - 1)
    return np.bitwise_xor(signed, flip)


def _narrow_extremum(a: Array, b: Array, form: Format, propagate_nan: bool, smaller: bool) -> Array:
    # Integer keys need no widening; for f16 this is 8 times faster than going through f32.
    left, right = _order_key(a.view(form.pattern), form), _order_key(b.view(form.pattern), form)
    key = np.minimum(left, right) if smaller else np.maximum(left, right)
    out = np.asarray(_order_key(np.asarray(key).view(form.pattern), form)).view(form.storage)
    nan_a, nan_b = isnan(a, form.name), isnan(b, form.name)
    if nan_a.any() or nan_b.any():
        raw = out.view(form.pattern)
        np.copyto(raw, b.view(form.pattern), where=nan_b if propagate_nan else nan_a)
        np.copyto(raw, a.view(form.pattern), where=nan_a if propagate_nan else nan_b)
    return out


def clamp(
    x: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, fmt: str, propagate_nan: bool = False
) -> Array:
    """``minimum(maximum(x, low), high)``: a NaN in `x` gives `low`, or NaN with `propagate_nan`."""
    return minimum(maximum(x, low, fmt, propagate_nan), high, fmt, propagate_nan)


@quiet
def fma(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, fmt: str) -> Array:
    """``x * y + z`` rounded once."""
    form = format_of(fmt)
    a, b, c = (stored(v, form) for v in (x, y, z))
    if form.name == "f64":
        from tritium.numerics.softfloat import fma64  # loaded when first needed: float64 fma is rare

        return fma64(a, b, c, "rn")
    if form.bits < 32:
        a, b, c = widen(a, form), widen(b, form), widen(c, form)
    out = np.float32 if form.name == "f32" else np.float64
    return narrow(blockwise(lambda x, y, z: _fma_to_round(x, y, z, form), out, a, b, c), form)


def _fma_to_round(a: Array, b: Array, c: Array, form: Format) -> Array:
    """``a * b + c`` of float32 operands as a float64 that rounds to the narrower `form` as the exact value
    does.

    The nearest float64 does so, unless it is a midpoint of the target (then the error of the sum decides) or
    below the target's normal range (where midpoints lie elsewhere). Only those lanes are rounded to odd.
    """
    product = np.multiply(a, b, dtype=np.float64)
    total = np.asarray(product + c)
    drop = 52 - form.mantissa_bits
    pattern = total.view(np.uint64)
    doubt = (pattern & np.uint64((1 << drop) - 1)) == np.uint64(1 << (drop - 1))
    small = np.abs(total) < form.min_normal
    small &= total != 0
    doubt |= small
    if doubt.any():
        product, c = np.broadcast_to(product, total.shape), np.broadcast_to(c, total.shape)
        total[doubt] = odd_sum(product[doubt], c[doubt].astype(np.float64))
    return total


def odd_fma(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of float32 operands as float64, rounded to odd.

    The product is exact in float64. Rounding to odd at 53 bits and then to at most 24 is the same as rounding
    once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    return odd_sum(np.multiply(a, b, dtype=np.float64), c.astype(np.float64))


def odd_sum(a: Array, b: Array) -> Array:
    """Sum of two float64 arrays rounded to odd: to the neighbour whose last bit is set, where inexact."""
    total = np.asarray(a + b)
    virtual = total - a
    error = (a - (total - virtual)) + (b - virtual)
    pattern = total.view(np.int64)
    # One step of the pattern is one ulp of magnitude; NaN errors (from infinities) compare false.
    step = (error > 0).astype(np.int64) - (error < 0)
    step *= 1 - ((pattern >> 63) & 1) * 2
    step *= 1 - (pattern & 1)
    return np.asarray(pattern + step).view(np.float64)
