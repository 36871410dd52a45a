"""Elementary and special functions in every float format.

Each function evaluates a float64 kernel. f32 and narrower results are that value rounded once, so they are
within 0.51 ulp of the exact one (Bessel functions at arguments above 8: absolutely, in ulps of their
envelope). f64 results are within the following number of ulps, measured against mpmath on 1500 or more
points per function:

====================================================  ===================================================
exp exp2 exp10 expm1 log log2 log10 log1p cbrt pow     0.7
sin cos tan asin acos atan atan2 sinh cosh asinh       0.8 (any size of argument)
acosh atanh tanh                                       1.2
rsqrt rcbrt sinpi cospi hypot norm3d norm4d            1.6
rhypot rnorm3d rnorm4d                                 2.4
erf erfc erfcx erfinv erfcinv normcdfinv               3.1
normcdf                                                4.4
lgamma (above -2.2; below, 4 ulp of the argument)      4.6
tgamma                                                 5.0
j0 j1 y0 y1 (up to 8)                                  8.5
j0 j1 y0 y1 (above 8)                                  2 ulp of their envelope sqrt(2 / (pi x))
cyl_bessel_i0 cyl_bessel_i1                            5.1
jn yn (orders to 40)                                   14, or 1 ulp of 1 near a zero
====================================================  ===================================================

The functions of the first three lines are NumPy's own, measured with NumPy 2.4 on x86-64 (1.26: up to 4 ulp).
Special values follow C99 Annex F and CUDA's documentation of its math functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tritium.numerics import bessel, elementary, error_functions, gamma_functions
from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import narrow_bits, widen
from tritium.numerics.floating import unary
from tritium.numerics.formats import Array, Format, format_of, stored

Unary = Callable[[npt.ArrayLike, str], Array]
Binary = Callable[[npt.ArrayLike, npt.ArrayLike, str], Array]
Kernel = Callable[..., Any]


@quiet
def evaluate(kernel: Kernel, fmt: str, *operands: npt.ArrayLike) -> Array:
    """Apply a float64 kernel to operands of format `fmt` (integers pass as they are), rounding once."""
    form = format_of(fmt)
    arrays = [_operand(x, form) for x in operands]

    def run(*parts: Array) -> Any:
        return kernel(*(part if part.dtype.kind == "i" else widen(part, form, "float64") for part in parts))

    if form.name in ("f64", "f32", "f16"):
        return blockwise(run, form.storage, *arrays)
    pattern = blockwise(lambda *parts: narrow_bits(np.asarray(run(*parts)), form), form.pattern, *arrays)
    return pattern.view(form.storage)


def _operand(x: npt.ArrayLike, form: Format) -> Array:
    array = np.asarray(x)
    return array if array.dtype.kind == "i" else stored(array, form)


def _unary(kernel: Kernel) -> Unary:
    return lambda x, fmt: evaluate(kernel, fmt, x)


def _binary(kernel: Kernel) -> Binary:
    return lambda x, y, fmt: evaluate(kernel, fmt, x, y)


def _exact(ufunc: Kernel) -> Unary:
    """A function whose result is always representable: computed in the format or in f32."""

    @quiet
    def function(x: npt.ArrayLike, fmt: str) -> Array:
        return unary(ufunc, x, fmt)

    return function


exp = _unary(np.exp)
exp2 = _unary(np.exp2)
exp10 = _unary(elementary.exp10)
expm1 = _unary(np.expm1)
log = _unary(np.log)
log2 = _unary(np.log2)
log10 = _unary(np.log10)
log1p = _unary(np.log1p)
sin = _unary(np.sin)
cos = _unary(np.cos)
tan = _unary(np.tan)
sinpi = _unary(elementary.sinpi)
cospi = _unary(elementary.cospi)
asin = _unary(np.arcsin)
acos = _unary(np.arccos)
atan = _unary(np.arctan)
atan2 = _binary(np.arctan2)
sinh = _unary(np.sinh)
cosh = _unary(np.cosh)
tanh = _unary(np.tanh)
asinh = _unary(np.arcsinh)
acosh = _unary(np.arccosh)
atanh = _unary(np.arctanh)
cbrt = _unary(np.cbrt)
rcbrt = _unary(elementary.rcbrt)
rsqrt = _unary(elementary.rsqrt)
pow = _binary(elementary.pow)
hypot = _binary(elementary.norm)
rhypot = _binary(elementary.rnorm)
erfc = _unary(error_functions.erfc)
erfcx = _unary(error_functions.erfcx)
erfinv = _unary(error_functions.erfinv)
erfcinv = _unary(error_functions.erfcinv)
normcdf = _unary(error_functions.normcdf)
normcdfinv = _unary(error_functions.normcdfinv)
lgamma = _unary(gamma_functions.lgamma)
tgamma = _unary(gamma_functions.tgamma)
j0 = _unary(bessel.j0)
j1 = _unary(bessel.j1)
y0 = _unary(bessel.y0)
y1 = _unary(bessel.y1)
cyl_bessel_i0 = _unary(bessel.cyl_bessel_i0)
cyl_bessel_i1 = _unary(bessel.cyl_bessel_i1)
fdim = _binary(elementary.fdim)
remainder = _binary(elementary.remainder)
saturate = _unary(elementary.saturate)
logb = _unary(elementary.logb)
trunc = _exact(np.trunc)
rint = _exact(np.rint)
round_half_away = _exact(elementary.round_half_away)


def erf(x: npt.ArrayLike, fmt: str) -> Array:
    return evaluate(error_functions.erf if fmt == "f64" else error_functions.erf_single, fmt, x)


def norm(*components: npt.ArrayLike, fmt: str) -> Array:
    """Euclidean norm of two or more components, as `hypot`, `norm3d` and `norm4d`."""
    return evaluate(elementary.norm, fmt, *components)


def rnorm(*components: npt.ArrayLike, fmt: str) -> Array:
    """Reciprocal of the Euclidean norm of two or more components."""
    return evaluate(elementary.rnorm, fmt, *components)


def jn(n: npt.ArrayLike, x: npt.ArrayLike, fmt: str) -> Array:
    """Bessel function of the first kind of integer order `n` (int32) at `x`; NaN for n < 0."""
    return evaluate(bessel.jn, fmt, np.asarray(n, np.int32), x)


def yn(n: npt.ArrayLike, x: npt.ArrayLike, fmt: str) -> Array:
    """Bessel function of the second kind of integer order `n` (int32) at `x`; NaN for n < 0 or x < 0."""
    return evaluate(bessel.yn, fmt, np.asarray(n, np.int32), x)


def ldexp(x: npt.ArrayLike, n: npt.ArrayLike, fmt: str) -> Array:
    """``x * 2**n`` with `n` in int32, rounded once."""
    return evaluate(elementary.ldexp, fmt, x, np.asarray(n, np.int32))


def powi(x: npt.ArrayLike, n: npt.ArrayLike, fmt: str) -> Array:
    """`x` to the integer power `n` (int32), rounded once."""
    return evaluate(elementary.pow, fmt, x, np.asarray(n, np.int32))


@quiet
def copysign(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Magnitude of `x` with the sign of `y`."""
    form = format_of(fmt)
    sign = form.pattern.type(1 << (form.bits - 1))
    a, b = stored(x, form).view(form.pattern), stored(y, form).view(form.pattern)
    return np.asarray((a & ~sign) | (b & sign)).view(form.storage)


@quiet
def nextafter(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """The f32 or f64 neighbour of `x` toward `y`."""
    form = format_of(fmt)
    return np.asarray(np.nextafter(stored(x, form), stored(y, form)))


@quiet
def ilogb(x: npt.ArrayLike, fmt: str) -> Array:
    """Exponent of `x` as int32; the smallest int32 for 0 and NaN, the largest for the infinities."""
    form = format_of(fmt)
    return np.asarray(elementary.ilogb(widen(stored(x, form), form, "float64")))
