"""erf and its relatives in float64.

One polynomial serves the upper half-line: ``(1 + 2x) * erfcx(x)`` in ``t = (x - 3.75) / (x + 3.75)``, as in
Shepherd and Laframboise ("Chebyshev approximation of (1 + 2x) exp(x**2) erfc x", 1981), with coefficients
of our own. The inverses start from Winitzki's closed form and refine with the functions themselves.
"""

from __future__ import annotations

import numpy as np

from tritium.numerics.formats import Array
from tritium.numerics.polynomials import piecewise, series, square_parts

_SQRT_PI = 1.7724538509055160
_INV_SQRT_PI = 0.56418958354775629
_SQRT_2 = 1.4142135623730951
_SQRT_HALF = 0.70710678118654752


def _erfcx_positive(x: Array) -> Array:
    """erfcx for 0 <= x <= 2**400."""
    return series("erfcx", (x - 3.75) / (x + 3.75)) / (1.0 + 2.0 * x)


def _exp_square(x: Array, factor: float) -> Array:
    """``exp(factor * x * x)`` without the error that rounding x * x would bring; factor a power of two."""
    square, error = square_parts(x)
    return np.exp(factor * square) * (1.0 + factor * error)


def _erfc_positive(x: Array) -> Array:
    x = np.minimum(x, 100.0)  # erfc is 0 long before
    return _exp_square(x, -1.0) * _erfcx_positive(x)


def _erf_small(x: Array) -> Array:
    return x * series("erf", 2.0 * x * x - 1.0)


def _erf_large(x: Array) -> Array:
    return np.copysign(1.0 - _erfc_positive(np.abs(x)), x)


def erf(x: Array) -> Array:
    small = np.abs(x) < 1.0
    return piecewise(x, (small, _erf_small), (~small, _erf_large))


def erf_single(x: Array) -> Array:
    """erf with a relative error of 1e-11, enough for f32 results, in one polynomial and without a branch."""
    x = np.clip(x, -4.0, 4.0)  # erf(4) rounds to 1 in float32
    return x * series("erf_to_4", 0.125 * x * x - 1.0)


def erfc(x: Array) -> Array:
    def middle(v: Array) -> Array:
        return 1.0 - _erf_small(v)

    def low(v: Array) -> Array:
        return 2.0 - _erfc_positive(-v)

    center = np.abs(x) < 0.5
    return piecewise(x, (center, middle), (x >= 0.5, _erfc_positive), (x <= -0.5, low))


def erfcx(x: Array) -> Array:
    """``exp(x * x) * erfc(x)``."""

    def negative(v: Array) -> Array:
        v = np.maximum(v, -100.0)  # infinite long before
        return 2.0 * _exp_square(v, 1.0) - _erfcx_positive(-v)

    def far(v: Array) -> Array:
        return _INV_SQRT_PI / v  # the next term is 2**-100 times as large

    return piecewise(x, (x < 0, negative), ((x >= 0) & (x <= 2.0**50), _erfcx_positive), (x > 2.0**50, far))


def normcdf(x: Array) -> Array:
    """Integral of the standard normal density up to `x`: ``erfc(-x / sqrt(2)) / 2``."""

    def tail(v: Array) -> Array:
        v = np.minimum(v, 100.0)
        # The exponent comes from x itself, so that the rounding of x / sqrt(2) is not amplified.
        return 0.5 * _exp_square(v, -0.5) * _erfcx_positive(v * _SQRT_HALF)

    return piecewise(x, (x <= 0, lambda v: tail(-v)), (x > 0, lambda v: 1.0 - tail(v)))


def _closed_form(log_product: Array) -> Array:
    """Winitzki's approximation of the inverse (relative error 2e-3), from ``log(1 - x * x)``."""
    a = 0.147
    u = 2.0 / (np.pi * a) + 0.5 * log_product
    v = -log_product / a
    return np.sqrt(v / (np.sqrt(u * u + v) + u))


def _inverse_center(x: Array) -> Array:
    """erfinv for |x| <= 0.5, by Halley's iteration."""
    y = np.copysign(_closed_form(np.log1p(-x * x)), x)
    y = np.where(np.abs(x) < 1e-8, 0.5 * _SQRT_PI * x, y)
    for _ in range(2):
        step = (_erf_small(y) - x) * (0.5 * _SQRT_PI) * np.exp(y * y)
        y = y - step / (1.0 + y * step)
    return y


def _inverse_tail(z: Array) -> Array:
    """The y with erfc(y) = z for 0 < z < 0.5, by Newton on the logarithm, which is nearly quadratic."""
    log_z = np.log(z)
    y = _closed_form(log_z + np.log(2.0 - z))
    for _ in range(4):
        scaled = _erfcx_positive(y)
        y = y + (np.log(scaled) - log_z - y * y) * scaled * (0.5 * _SQRT_PI)
    return y


def erfcinv(z: Array) -> Array:
    """The y with ``erfc(y) == z``; infinite at 0 and 2, NaN outside."""
    return piecewise(
        z,
        ((z >= 0.5) & (z <= 1.5), lambda v: _inverse_center(1.0 - v)),
        ((z > 0) & (z < 0.5), _inverse_tail),
        ((z > 1.5) & (z < 2), lambda v: -_inverse_tail(2.0 - v)),
        (z == 0, lambda v: np.full(v.shape, np.inf)),
        (z == 2, lambda v: np.full(v.shape, -np.inf)),
    )


def erfinv(x: Array) -> Array:
    """The y with ``erf(y) == x``; infinite at -1 and 1, NaN outside."""
    a = np.abs(x)
    return piecewise(
        x,
        (a <= 0.5, _inverse_center),
        ((a > 0.5) & (a < 1), lambda v: np.copysign(_inverse_tail(1.0 - np.abs(v)), v)),
        (a == 1, lambda v: np.copysign(np.inf, v)),
    )


def normcdfinv(p: Array) -> Array:
    """The y with ``normcdf(y) == p``; infinite at 0 and 1, NaN outside."""
    return -_SQRT_2 * erfcinv(2.0 * p) + 0.0
