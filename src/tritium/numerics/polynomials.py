"""Evaluation of the tabulated polynomials and of functions defined by pieces, on float64 blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tritium.numerics.formats import Array
from tritium.numerics.special_tables import SERIES

_SPLITTER = 134217729.0  # 2**27 + 1


def series(name: str, t: Array) -> Array:
    """The polynomial `name` at `t` in [-1, 1], by Horner's rule."""
    coefficients = SERIES[name]
    out = np.full(t.shape, coefficients[-1])
    for c in coefficients[-2::-1]:
        out *= t
        out += c
    return out


def piecewise(x: Array, *pieces: tuple[Array, Callable[[Array], Array]], default: float = np.nan) -> Array:
    """Each function applied to the lanes of its mask. Masks are disjoint; other lanes get `default`."""
    out = np.full(x.shape, default)
    for mask, function in pieces:
        if mask.all():
            return function(x)
        if mask.any():
            out[mask] = function(x[mask])
    return out


def square_parts(x: Array) -> tuple[Array, Array]:
    """``x * x`` as a rounded value and its error, exactly, for |x| below 2**480."""
    high = x * _SPLITTER
    high = high - (high - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


def product_parts(x: Array, y: Array | float) -> tuple[Array, Array]:
    """``x * y`` as a rounded value and its error, exactly, for factors below 2**480."""
    xh = x * _SPLITTER
    xh = xh - (xh - x)
    yh = y * _SPLITTER
    yh = yh - (yh - y)
    xl, yl = x - xh, y - yh
    product = x * y
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl
