"""Elementary functions that NumPy lacks, in float64."""

from __future__ import annotations

import numpy as np

from tritium.numerics.formats import Array

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def exp10(x: Array) -> Array:
    return np.power(10.0, x)


def rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def rcbrt(x: Array) -> Array:
    return 1.0 / np.cbrt(x)


def _turn(x: Array) -> tuple[Array, Array]:
    """`x` half turns as a number of quarter turns in [-2, 2] and a rest of at most 1/4 half turn."""
    reduced = np.where(np.abs(x) < 2.0**54, x - 2.0 * np.rint(0.5 * x), 0.0 * x)
    quadrant = np.rint(2.0 * reduced)
    return quadrant, reduced - 0.5 * quadrant


def sinpi(x: Array) -> Array:
    """``sin(pi * x)``, exact at multiples of 1/2; a zero has the sign of `x`."""
    quadrant, rest = _turn(x)
    angle = np.pi * rest
    value = np.where(np.abs(quadrant) == 1, np.cos(angle) * quadrant, np.sin(angle))
    value = np.where(np.abs(quadrant) == 2, -value, value)
    return np.where(value == 0, np.copysign(0.0, x), value)


def cospi(x: Array) -> Array:
    """``cos(pi * x)``, exact at multiples of 1/2, where a zero is +0."""
    quadrant, rest = _turn(np.abs(x))
    angle = np.pi * rest
    value = np.where(np.abs(quadrant) == 1, -np.sin(angle) * quadrant, np.cos(angle))
    return np.where(np.abs(quadrant) == 2, -value, value) + 0.0


def pow(x: Array, y: Array) -> Array:
    return np.power(x, y)


def norm(*components: Array) -> Array:
    """Euclidean norm without overflow on the way; infinite if any component is, even beside a NaN."""
    scaled, exponent = _scaled_norm(components)
    return _with_infinity(np.ldexp(scaled, exponent), components, np.inf)


def rnorm(*components: Array) -> Array:
    """Reciprocal of the Euclidean norm; 0 if any component is infinite, even beside a NaN."""
    scaled, exponent = _scaled_norm(components)
    return _with_infinity(np.ldexp(1.0 / scaled, -exponent), components, 0.0)


def _scaled_norm(components: tuple[Array, ...]) -> tuple[Array, Array]:
    """The norm as a value in [0.5, 2) (or 0) and a power of two."""
    largest = np.abs(components[0])
    for component in components[1:]:
        largest = np.maximum(largest, np.abs(component))
    exponent = np.frexp(largest)[1]
    total = np.zeros(largest.shape)
    for component in components:
        part = np.ldexp(component, -exponent)
        total = total + part * part
    return np.sqrt(total), exponent


def _with_infinity(value: Array, components: tuple[Array, ...], result: float) -> Array:
    infinite = np.isinf(components[0])
    for component in components[1:]:
        infinite = infinite | np.isinf(component)
    return np.where(infinite, result, value)


def fdim(x: Array, y: Array) -> Array:
    """``x - y`` where positive, else +0; NaN if either is."""
    return np.where(x <= y, 0.0, x - y)


def remainder(x: Array, y: Array) -> Array:
    """IEEE remainder ``x - n * y``, n nearest to x / y (ties to even): exact; a zero has the sign of `x`."""
    a, b = np.abs(x), np.abs(y)
    rest = np.where(b < 2.0**1022, np.fmod(a, b + b), a)
    # Twice the remainder is compared with b; where b is tiny or huge, one of the two forms would round.
    tiny = b < 2.0**-1021
    above = np.where(tiny, rest + rest > b, rest > 0.5 * b)
    rest = np.where(above, rest - b, rest)
    again = above & np.where(tiny, rest + rest >= b, rest >= 0.5 * b)
    rest = np.where(again, rest - b, rest)
    rest = np.where(np.isinf(b) & np.isfinite(a), a, rest)
    rest = np.where(np.isinf(a) | (b == 0) | np.isnan(a) | np.isnan(b), np.nan, rest)
    return np.where(rest == 0, np.copysign(0.0, x), np.where(np.signbit(x), -rest, rest))


def round_half_away(x: Array) -> Array:
    """`x` rounded to an integer, ties away from zero."""
    whole = np.trunc(x)
    one = np.copysign(x.dtype.type(1), x)
    return np.where(np.abs(x - whole) >= x.dtype.type(0.5), whole + one, whole)


def saturate(x: Array) -> Array:
    """`x` clamped to [0, 1], NaN as 0."""
    return np.fmin(np.fmax(x, 0.0), 1.0) + 0.0


def ldexp(x: Array, n: Array) -> Array:
    """``x * 2**n`` rounded once."""
    return np.ldexp(x, n.astype(np.int32))


def logb(x: Array) -> Array:
    """Exponent of `x` as a float: -infinity at 0, +infinity at the infinities."""
    exponent = np.frexp(x)[1].astype(np.float64) - 1.0
    exponent = np.where(x == 0, -np.inf, exponent)
    return np.where(np.isfinite(x), exponent, np.abs(x))


def ilogb(x: Array) -> Array:
    """Exponent of `x` as int32: the smallest int32 for 0 and NaN, the largest for the infinities."""
    exponent = np.frexp(x)[1] - np.int32(1)
    exponent = np.where((x == 0) | np.isnan(x), np.int32(_INT_MIN), exponent)
    return np.where(np.isinf(x), np.int32(_INT_MAX), exponent)
