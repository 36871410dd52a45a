"""Bessel functions in float64.

Below 8: polynomials with the zeros factored out, each zero held as two doubles, so that the relative error
stays small around it. Above: the modulus-phase form ``sqrt(2 / (pi x)) * (P cos(chi) - Q sin(chi))``, whose
error is absolute: a few 1e-16 times that square root. Higher orders use the three-term recurrence in its
stable direction.
"""

from __future__ import annotations

import numpy as np

from tritium.numerics.formats import Array
from tritium.numerics.polynomials import piecewise, product_parts, series
from tritium.numerics.special_tables import ZEROS

_TWO_OVER_PI, _TWO_OVER_PI_LOW = 0.6366197723675814, -3.935735335036497e-17
_INV_SQRT_PI = 0.56418958354775629

MAX_ORDER = 1 << 20  # above it the recurrences would run for too long; such orders give NaN


def _minus_zero(x: Array, name: str, index: int) -> Array:
    high, low = ZEROS[name][index]
    return (x - high) - low


def _minus_square(x: Array, name: str, index: int) -> Array:
    """``x**2 - z**2`` with the relative accuracy of ``x - z``."""
    high, low = ZEROS[name][index]
    return ((x - high) - low) * (x + high)


def _asymptotic(x: Array, order: int, second_kind: bool) -> Array:
    inverse = 8.0 / x
    t = 2.0 * inverse * inverse - 1.0
    p, q = series(f"p{order}", t), series(f"q{order}", t) * inverse
    # cos and sin of x - pi/4 (order 0) or x - 3 pi/4 (order 1), times sqrt(2), from those of x: nothing is
    # subtracted from x.
    sine, cosine = np.sin(x), np.cos(x)
    plus, minus = sine + cosine, sine - cosine
    cos_chi, sin_chi = (plus, minus) if order == 0 else (minus, -plus)
    wave = p * sin_chi + q * cos_chi if second_kind else p * cos_chi - q * sin_chi
    return _INV_SQRT_PI * wave / np.sqrt(x)


def _j0_small(x: Array) -> Array:
    value = series("j0", x * x / 32.0 - 1.0)
    for index in range(3):
        value *= _minus_square(x, "j0", index)
    return value


def _j1_small(x: Array) -> Array:
    value = x * series("j1", x * x / 32.0 - 1.0)
    for index in range(3):
        value *= _minus_square(x, "j1", index)
    return value


def j0(x: Array) -> Array:
    a = np.abs(x)
    far = (a > 8) & np.isfinite(a)
    zero = (np.isinf(a), np.zeros_like)
    return piecewise(a, (a <= 8, _j0_small), (far, lambda v: _asymptotic(v, 0, False)), zero)


def j1(x: Array) -> Array:
    a = np.abs(x)
    far = (a > 8) & np.isfinite(a)
    zero = (np.isinf(a), np.zeros_like)
    value = piecewise(a, (a <= 8, _j1_small), (far, lambda v: _asymptotic(v, 1, False)), zero)
    return np.where(np.signbit(x), -value, value)


def _y0_origin(x: Array) -> Array:
    return _TWO_OVER_PI * np.log(x) * _j0_small(x) + series("y0_small", 8.0 * x * x - 1.0)


def _y1_origin(x: Array) -> Array:
    regular = _TWO_OVER_PI * np.log(x) * _j1_small(x) + x * series("y1_small", 2.0 * x * x - 1.0)
    quotient = _TWO_OVER_PI / x
    # The error of the leading quotient, by its exact remainder.
    product, error = product_parts(np.minimum(quotient, 2.0**400), x)
    rest = (_TWO_OVER_PI - product) - error
    return np.where(x > 2.0**-300, regular - (rest + _TWO_OVER_PI_LOW) / x, 0.0) - quotient


def y0(x: Array) -> Array:
    return piecewise(
        x,
        ((x > 0) & (x < 0.5), _y0_origin),
        ((x >= 0.5) & (x < 1.5), lambda v: _minus_zero(v, "y0", 0) * series("y0_1", 2.0 * (v - 1.0))),
        ((x >= 1.5) & (x < 3), lambda v: series("y0_2", (v - 2.25) / 0.75)),
        ((x >= 3) & (x < 5.5), lambda v: _minus_zero(v, "y0", 1) * series("y0_3", (v - 4.25) / 1.25)),
        ((x >= 5.5) & (x <= 8), lambda v: _minus_zero(v, "y0", 2) * series("y0_4", (v - 6.75) / 1.25)),
        ((x > 8) & np.isfinite(x), lambda v: _asymptotic(v, 0, True)),
        (np.isposinf(x), np.zeros_like),
        (x == 0, lambda v: np.full(v.shape, -np.inf)),
    )


def y1(x: Array) -> Array:
    return piecewise(
        x,
        ((x > 0) & (x < 1), _y1_origin),
        ((x >= 1) & (x < 3), lambda v: _minus_zero(v, "y1", 0) * series("y1_1", v - 2.0)),
        ((x >= 3) & (x < 6.5), lambda v: _minus_zero(v, "y1", 1) * series("y1_2", (v - 4.75) / 1.75)),
        ((x >= 6.5) & (x <= 8), lambda v: series("y1_3", (v - 7.25) / 0.75)),
        ((x > 8) & np.isfinite(x), lambda v: _asymptotic(v, 1, True)),
        (np.isposinf(x), np.zeros_like),
        (x == 0, lambda v: np.full(v.shape, -np.inf)),
    )


def _scaled_exponential(x: Array, value: Array) -> Array:
    half = np.exp(0.5 * x)  # exp(x) overflows a little before the Bessel functions do
    return half * value * half


def cyl_bessel_i0(x: Array) -> Array:
    a = np.abs(x)
    near = a <= 8
    far = (a > 8) & np.isfinite(a)
    return piecewise(
        a,
        (near, lambda v: np.exp(v) * series("i0", v / 4.0 - 1.0)),
        (far, lambda v: _scaled_exponential(v, series("i0_large", 16.0 / v - 1.0) / np.sqrt(v))),
        (np.isinf(a), lambda v: v),
    )


def cyl_bessel_i1(x: Array) -> Array:
    a = np.abs(x)
    near = a <= 8
    far = (a > 8) & np.isfinite(a)
    value = piecewise(
        a,
        (near, lambda v: v * np.exp(v) * series("i1", v / 4.0 - 1.0)),
        (far, lambda v: _scaled_exponential(v, series("i1_large", 16.0 / v - 1.0) / np.sqrt(v))),
        (np.isinf(a), lambda v: v),
    )
    return np.where(np.signbit(x), -value, value)


def yn(n: Array, x: Array) -> Array:
    """Second kind of order `n`: NaN for n < 0, x < 0 or n above MAX_ORDER."""
    n, x = np.broadcast_arrays(n.astype(np.int64), x)
    valid = (n >= 0) & (n <= MAX_ORDER)
    previous, current = y0(x), y1(x)
    out = np.where(n == 0, previous, current)
    last = int(np.max(n, where=valid & np.isfinite(current) & (x > 0), initial=1))
    for k in range(1, last):
        following = np.where(np.isinf(current), current, (2.0 * k / x) * current - previous)
        previous, current = current, following
        out = np.where(n > k, current, out)
        if not np.isfinite(current).any():
            break
    return np.where(valid, out, np.nan)


def jn(n: Array, x: Array) -> Array:
    """First kind of order `n`: NaN for n < 0 or n above MAX_ORDER."""
    n, x = np.broadcast_arrays(n.astype(np.int64), x)
    valid = (n >= 0) & (n <= MAX_ORDER)
    order, a = np.where(valid, n, 0), np.abs(x)
    out = np.where(order == 0, j0(a), j1(a))
    higher = (order > 1) & np.isfinite(a)
    up = higher & (a >= order)
    power = higher & (a * a <= order)
    down = higher & ~up & ~power
    for mask, function in ((up, _jn_up), (power, _jn_power), (down, _jn_down)):
        if mask.any():
            out[mask] = function(order[mask], a[mask])
    out = np.where(np.signbit(x) & (order % 2 == 1), -out, out)
    return np.where(valid, out, np.nan)


def _jn_up(n: Array, x: Array) -> Array:
    previous, current = j0(x), j1(x)
    out = current
    for k in range(1, int(n.max())):
        previous, current = current, (2.0 * k / x) * current - previous
        out = np.where(n > k, current, out)
    return out


def _jn_power(n: Array, x: Array) -> Array:
    """Power series for x**2 <= n, where its terms fall at least fourfold."""
    half = 0.5 * x
    lead = np.ones(x.shape)
    for k in range(1, int(n.max()) + 1):
        lead = np.where(k <= n, lead * (half / k), lead)
        if not lead.any():
            break
    quarter = -half * half
    total, term = np.ones(x.shape), np.ones(x.shape)
    for k in range(1, 20):
        term = term * quarter / (k * (n + k))
        total = total + term
    return lead * total


def _jn_down(n: Array, x: Array) -> Array:
    """Miller's backward recurrence from well above n, normalised by ``J0 + 2 J2 + 2 J4 + ... = 1``."""
    start = 2 * ((n + 16 + np.sqrt(160.0 * n).astype(np.int64)) // 2)
    above, current = np.zeros(x.shape), np.zeros(x.shape)
    total, wanted = np.zeros(x.shape), np.zeros(x.shape)
    for k in range(int(start.max()), 0, -1):
        current = np.where(start == k, 1.0, current)
        below = (2.0 * k / x) * current - above
        above, current = current, below
        wanted = np.where(n == k - 1, current, wanted)
        if k % 2 == 1:
            total = total + (2.0 if k > 1 else 1.0) * current
        big = np.abs(current) > 1e100
        if big.any():
            scale = np.where(big, 1e-100, 1.0)
            above, current, total, wanted = above * scale, current * scale, total * scale, wanted * scale
    return wanted / total
