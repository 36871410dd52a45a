"""lgamma and tgamma in float64: polynomials below 8.5 or 12, Stirling's series above, reflection below 0."""

from __future__ import annotations

import numpy as np

from tritium.numerics.elementary import sinpi
from tritium.numerics.formats import Array
from tritium.numerics.polynomials import piecewise, series

_HALF_LOG_2PI = 0.91893853320467274
_SQRT_2PI = 2.5066282746310005
_EULER = 0.57721566490153286


def _lgamma_large(x: Array) -> Array:
    inverse = 8.5 / x
    rest = series("lgamma_large", 2.0 * inverse * inverse - 1.0) / x
    # log(x) - 1 first: (x - 0.5) * log(x) alone would overflow before lgamma does.
    return (x - 0.5) * (np.log(x) - 1.0) + (_HALF_LOG_2PI - 0.5) + rest


def _lgamma_near_1(x: Array) -> Array:
    s = x - 1.0
    return s * series("lgamma_1", 2.0 * s) + 0.0  # +0 at 1


def _lgamma_near_2(x: Array) -> Array:
    s = x - 2.0
    return s * series("lgamma_2", 2.0 * s) + 0.0  # +0 at 2


def _lgamma_below_half(x: Array) -> Array:
    return x * series("lgamma_1", 2.0 * x) - np.log(x)


def _lgamma_positive(x: Array) -> Array:
    return piecewise(
        x,
        ((x > 0) & (x < 0.5), _lgamma_below_half),
        ((x >= 0.5) & (x < 1.5), _lgamma_near_1),
        ((x >= 1.5) & (x < 2.5), _lgamma_near_2),
        ((x >= 2.5) & (x < 4.5), lambda v: series("lgamma_3", v - 3.5)),
        ((x >= 4.5) & (x < 8.5), lambda v: series("lgamma_4", (v - 6.5) * 0.5)),
        ((x >= 8.5) & np.isfinite(x), _lgamma_large),
        (np.isposinf(x), lambda v: v),
    )


def _lgamma_negative(x: Array) -> Array:
    a = -x
    reflected = np.log(np.pi / np.abs(a * sinpi(a))) - _lgamma_positive(a)
    return np.where(a < 1e-10, _EULER * a - np.log(a), reflected)


def lgamma(x: Array) -> Array:
    """Logarithm of ``|gamma(x)|``; infinite at the poles 0, -1, -2, ... and at both infinities."""
    pole = ((x <= 0) & (x == np.floor(x))) | np.isinf(x)
    return piecewise(
        x,
        ((x > 0) & ~pole, _lgamma_positive),
        ((x < 0) & ~pole, _lgamma_negative),
        (pole, lambda v: np.full(v.shape, np.inf)),
    )


def _gamma_below_12(x: Array) -> Array:
    """gamma for 0 < x < 12, brought into [2, 3) by its recurrence."""
    factor, divisor = np.ones(x.shape), np.ones(x.shape)
    for _ in range(2):
        low = x < 2
        divisor = np.where(low, divisor * x, divisor)
        x = np.where(low, x + 1.0, x)
    for _ in range(9):
        high = x >= 3
        x = np.where(high, x - 1.0, x)
        factor = np.where(high, factor * x, factor)
    return factor * series("gamma_2", 2.0 * (x - 2.5)) / divisor


def _gamma_factors(x: Array) -> tuple[Array, Array]:
    """Two factors of gamma(x) for x >= 12, neither of which overflows where the other one would be needed."""
    x = np.minimum(x, 200.0)  # infinite from 171.6 on, and 1 / gamma is 0
    root = np.power(x, 0.5 * x - 0.25)
    return root, root * np.exp(-x) * (_SQRT_2PI * series("gamma_large", 24.0 / x - 1.0))


def _gamma_from_12(x: Array) -> Array:
    root, rest = _gamma_factors(x)
    return root * rest


def _gamma_negative(x: Array) -> Array:
    a = -x
    outer = np.pi / (a * sinpi(a))

    def far(v: Array) -> Array:
        root, rest = _gamma_factors(-v)
        return np.pi / (-v * sinpi(-v)) / root / rest

    near = a < 12
    return -piecewise(x, (near, lambda v: outer[near] / _gamma_below_12(-v)), (~near, far))


def tgamma(x: Array) -> Array:
    """The gamma function; signed infinity at the zeros, NaN at the negative integers and -infinity."""
    negative = (x < 0) & (x != np.floor(x))
    return piecewise(
        x,
        ((x > 0) & (x < 12), _gamma_below_12),
        (x >= 12, _gamma_from_12),
        (negative, _gamma_negative),
        (x == 0, lambda v: np.copysign(np.inf, v)),
    )
