"""add, sub, mul, div, fma, rcp and sqrt of f32 and f64 in the rounding modes rn, rz, rd and ru.

float32 goes through float64: a sum or fma rounded to odd there, a product exact there, or a quotient or
root rounded to nearest there, rounds on to float32 in any mode as the exact value does. (A quotient or root
of 24-bit operands that is no float32 value differs from each by more than 2**-49 relative; float64 resolves
2**-53.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tritium.numerics import softfloat
from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import Rounding, narrow, narrow_bits
from tritium.numerics.floating import neg, odd_fma, odd_sum
from tritium.numerics.formats import Array, format_of, stored


def _operands(values: tuple[npt.ArrayLike, ...], fmt: str) -> list[Array]:
    form = format_of(fmt)
    if form.name not in ("f32", "f64"):
        raise ValueError(f"directed rounding is defined for f32 and f64, not for {fmt}")
    return [stored(v, form) for v in values]


def _float32(kernel: Callable[..., Array], rounding: Rounding, *operands: Array) -> Array:
    form = format_of("f32")
    if rounding == "rn":
        return blockwise(lambda *parts: kernel(*parts), np.float32, *operands)
    return blockwise(lambda *parts: narrow_bits(kernel(*parts), form, rounding), np.uint32, *operands).view(
        np.float32
    )


@quiet
def add(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    a, b = _operands((x, y), fmt)
    if fmt == "f64":
        return softfloat.add64(a, b, rounding)
    if rounding == "rn":
        return np.asarray(a + b)
    return _float32(
        lambda p, q: _down_zero(odd_sum(p.astype(np.float64), q.astype(np.float64)), p, q, rounding),
        rounding,
        a,
        b,
    )


def sub(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    return add(x, neg(y, fmt), fmt, rounding)


@quiet
def mul(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    a, b = _operands((x, y), fmt)
    if fmt == "f64":
        return softfloat.mul64(a, b, rounding)
    return _float32(lambda p, q: np.multiply(p, q, dtype=np.float64), rounding, a, b)


@quiet
def div(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    a, b = _operands((x, y), fmt)
    if fmt == "f64":
        return softfloat.div64(a, b, rounding)
    return _float32(lambda p, q: np.divide(p, q, dtype=np.float64), rounding, a, b)


def rcp(x: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    """``1 / x``."""
    return div(np.ones((), format_of(fmt).storage), x, fmt, rounding)


@quiet
def sqrt(x: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    (a,) = _operands((x,), fmt)
    if fmt == "f64":
        return softfloat.sqrt64(a, rounding)
    return _float32(lambda p: np.sqrt(p, dtype=np.float64), rounding, a)


@quiet
def fma(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, fmt: str, rounding: Rounding) -> Array:
    a, b, c = _operands((x, y, z), fmt)
    if fmt == "f64":
        return softfloat.fma64(a, b, c, rounding)

    def kernel(p: Array, q: Array, r: Array) -> Array:
        return _down_zero(odd_fma(p, q, r), np.multiply(p, q, dtype=np.float64), r, rounding)

    return _float32(kernel, rounding, a, b, c)


def _down_zero(total: Array, a: Array, b: Array, rounding: Rounding) -> Array:
    """Give zero sums the sign of rounding down: minus, unless both terms are +0."""
    if rounding != "rd":
        return total
    return np.where((total == 0) & (np.signbit(a) | np.signbit(b)), -0.0, total)


def to_float32(x: npt.ArrayLike, rounding: Rounding) -> Array:
    """float64 to float32 in the given mode."""
    return narrow(stored(x, format_of("f64")), format_of("f32"), rounding)
