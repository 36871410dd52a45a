# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

def abs(arg0: Any) -> tensor:
    """Magnitude of x, per element.

    Types: (int32) -> int32; (int64) -> int64; (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.abs(6)"""

def acos(arg0: Any) -> tensor:
    """Arc cosine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.acos(0.6)"""

def acosh(arg0: Any) -> tensor:
    """Inverse hyperbolic cosine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.acosh(1.5)"""

def add_rd(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rd(0.6, 0.3)"""

def add_rn(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rn(0.6, 0.3)"""

def add_ru(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_ru(0.6, 0.3)"""

def add_rz(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rz(0.6, 0.3)"""

def asin(arg0: Any) -> tensor:
    """Arc sine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.asin(0.6)"""

def asinh(arg0: Any) -> tensor:
    """Inverse hyperbolic sine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.asinh(0.6)"""

def atan(arg0: Any) -> tensor:
    """Arc tangent of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.atan(0.6)"""

def atan2(arg0: Any, arg1: Any) -> tensor:
    """Angle of the point (x, y) given as (y, x), in radians, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.atan2(0.6, 0.3)"""

def atanh(arg0: Any) -> tensor:
    """Inverse hyperbolic tangent of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.atanh(0.6)"""

def brev(arg0: Any) -> tensor:
    """The bits of x in reverse order, per element.

    Types: (int32) -> int32; (int64) -> int64.

    >>> tl.extra.libdevice.brev(6)"""

def byte_perm(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """Four bytes picked from the eight of x (low) and y (high) by the low nibbles of z, per element.

    Types: (int32, int32, int32) -> int32.

    >>> tl.extra.libdevice.byte_perm(6, 3, 1)"""

def cbrt(arg0: Any) -> tensor:
    """Cube root of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cbrt(0.6)"""

def ceil(arg0: Any) -> tensor:
    """Smallest whole number not below x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.ceil(2.5)"""

def clz(arg0: Any) -> tensor:
    """Number of leading zero bits of x, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.clz(6)"""

def copysign(arg0: Any, arg1: Any) -> tensor:
    """Magnitude of x with the sign of y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.copysign(0.6, 0.3)"""

def cos(arg0: Any) -> tensor:
    """Cosine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cos(0.6)"""

def cosh(arg0: Any) -> tensor:
    """Hyperbolic cosine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cosh(0.6)"""

def cospi(arg0: Any) -> tensor:
    """Cosine of pi times x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cospi(0.6)"""

def cyl_bessel_i0(arg0: Any) -> tensor:
    """Modified Bessel function of the first kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cyl_bessel_i0(0.6)"""

def cyl_bessel_i1(arg0: Any) -> tensor:
    """Modified Bessel function of the first kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cyl_bessel_i1(0.6)"""

def div_rd(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rd(0.6, 0.3)"""

def div_rn(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rn(0.6, 0.3)"""

def div_ru(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_ru(0.6, 0.3)"""

def div_rz(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rz(0.6, 0.3)"""

def double2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rd(tl.full((), 0.6, tl.float64))"""

def double2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rn(tl.full((), 0.6, tl.float64))"""

def double2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_ru(tl.full((), 0.6, tl.float64))"""

def double2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rz(tl.full((), 0.6, tl.float64))"""

def double2hiint(arg0: Any) -> tensor:
    """High 32 bits of x, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2hiint(tl.full((), 0.6, tl.float64))"""

def double2int_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rd(tl.full((), 0.6, tl.float64))"""

def double2int_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rn(tl.full((), 0.6, tl.float64))"""

def double2int_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_ru(tl.full((), 0.6, tl.float64))"""

def double2int_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rz(tl.full((), 0.6, tl.float64))"""

def double2ll_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rd(tl.full((), 0.6, tl.float64))"""

def double2ll_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rn(tl.full((), 0.6, tl.float64))"""

def double2ll_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_ru(tl.full((), 0.6, tl.float64))"""

def double2ll_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rz(tl.full((), 0.6, tl.float64))"""

def double2loint(arg0: Any) -> tensor:
    """Low 32 bits of x, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2loint(tl.full((), 0.6, tl.float64))"""

def double2uint_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rd(tl.full((), 0.6, tl.float64))"""

def double2uint_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rn(tl.full((), 0.6, tl.float64))"""

def double2uint_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_ru(tl.full((), 0.6, tl.float64))"""

def double2uint_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rz(tl.full((), 0.6, tl.float64))"""

def double2ull_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rd(tl.full((), 0.6, tl.float64))"""

def double2ull_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rn(tl.full((), 0.6, tl.float64))"""

def double2ull_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_ru(tl.full((), 0.6, tl.float64))"""

def double2ull_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rz(tl.full((), 0.6, tl.float64))"""

def double_as_longlong(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double_as_longlong(tl.full((), 0.6, tl.float64))"""

def erf(arg0: Any) -> tensor:
    """Error function of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erf(0.6)"""

def erfc(arg0: Any) -> tensor:
    """1 - erf(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfc(0.6)"""

def erfcinv(arg0: Any) -> tensor:
    """Inverse of erfc, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfcinv(0.6)"""

def erfcx(arg0: Any) -> tensor:
    """exp(x * x) * erfc(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfcx(0.6)"""

def erfinv(arg0: Any) -> tensor:
    """Inverse of erf, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfinv(0.6)"""

def exp(arg0: Any) -> tensor:
    """e to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp(0.6)"""

def exp10(arg0: Any) -> tensor:
    """10 to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp10(0.6)"""

def exp2(arg0: Any) -> tensor:
    """2 to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp2(0.6)"""

def expm1(arg0: Any) -> tensor:
    """exp(x) - 1, exact near 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.expm1(0.6)"""

def fast_cosf(arg0: Any) -> tensor:
    """Fast form of cos, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_cosf(0.6)"""

def fast_dividef(arg0: Any, arg1: Any) -> tensor:
    """Approximate quotient of x and y, per element.

    Types: (fp32, fp32) -> fp32.

    >>> tl.extra.libdevice.fast_dividef(0.6, 0.3)"""

def fast_exp10f(arg0: Any) -> tensor:
    """Fast form of exp10, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_exp10f(0.6)"""

def fast_expf(arg0: Any) -> tensor:
    """Fast form of exp, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_expf(0.6)"""

def fast_log10f(arg0: Any) -> tensor:
    """Fast form of log10, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_log10f(0.6)"""

def fast_log2f(arg0: Any) -> tensor:
    """Fast form of log2, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_log2f(0.6)"""

def fast_logf(arg0: Any) -> tensor:
    """Fast form of log, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_logf(0.6)"""

def fast_powf(arg0: Any, arg1: Any) -> tensor:
    """Approximate x to the power of y, per element.

    Types: (fp32, fp32) -> fp32.

    >>> tl.extra.libdevice.fast_powf(0.6, 0.3)"""

def fast_sinf(arg0: Any) -> tensor:
    """Fast form of sin, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_sinf(0.6)"""

def fast_tanf(arg0: Any) -> tensor:
    """Fast form of tan, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_tanf(0.6)"""

def fast_tanhf(arg0: Any) -> tensor:
    """Fast form of tanh, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_tanhf(0.6)"""

def fdim(arg0: Any, arg1: Any) -> tensor:
    """x - y where that is positive, else 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fdim(0.6, 0.3)"""

def ffs(arg0: Any) -> tensor:
    """Position of the lowest set bit of x, counted from 1; 0 for 0, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.ffs(6)"""

def finitef(arg0: Any) -> tensor:
    """Whether x is neither infinite nor NaN, per element.

    Types: (fp32) -> int1.

    >>> tl.extra.libdevice.finitef(0.6)"""

def float2int_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rd(0.6)"""

def float2int_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rn(0.6)"""

def float2int_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_ru(0.6)"""

def float2int_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rz(0.6)"""

def float2ll_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rd(0.6)"""

def float2ll_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rn(0.6)"""

def float2ll_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_ru(0.6)"""

def float2ll_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rz(0.6)"""

def float2uint_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rd(0.6)"""

def float2uint_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rn(0.6)"""

def float2uint_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_ru(0.6)"""

def float2uint_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rz(0.6)"""

def float2ull_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rd(0.6)"""

def float2ull_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rn(0.6)"""

def float2ull_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_ru(0.6)"""

def float2ull_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rz(0.6)"""

def float_as_int(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float_as_int(0.6)"""

def float_as_uint(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float_as_uint(0.6)"""

def floor(arg0: Any) -> tensor:
    """Largest whole number not above x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.floor(2.5)"""

def fma(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded once, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma(0.6, 0.3, 0.2)"""

def fma_rd(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded down, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rd(0.6, 0.3, 0.2)"""

def fma_rn(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded to nearest, ties to even, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rn(0.6, 0.3, 0.2)"""

def fma_ru(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded up, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_ru(0.6, 0.3, 0.2)"""

def fma_rz(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded toward 0, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rz(0.6, 0.3, 0.2)"""

def fmod(arg0: Any, arg1: Any) -> tensor:
    """Remainder of x / y truncated, with the sign of x, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fmod(0.6, 0.3)"""

def hadd(arg0: Any, arg1: Any) -> tensor:
    """(x + y) / 2 rounded down, without overflow, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.hadd(6, 3)"""

def hiloint2double(arg0: Any, arg1: Any) -> tensor:
    """The double with high bits x and low bits y, per element.

    Types: (int32, int32) -> fp64.

    >>> tl.extra.libdevice.hiloint2double(0x3FF00000, 0)"""

def hypot(arg0: Any, arg1: Any) -> tensor:
    """sqrt(x * x + y * y) without overflow, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.hypot(0.6, 0.3)"""

def ilogb(arg0: Any) -> tensor:
    """Exponent of x as an integer, per element.

    Types: (fp32) -> int32; (fp64) -> int32.

    >>> tl.extra.libdevice.ilogb(0.6)"""

def int2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int32) -> fp64.

    >>> tl.extra.libdevice.int2double_rn(6)"""

def int2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rd(6)"""

def int2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rn(6)"""

def int2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_ru(6)"""

def int2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rz(6)"""

def int_as_float(arg0: Any) -> tensor:
    """The float with the bits x, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int_as_float(0x3F800000)"""

def isfinited(arg0: Any) -> tensor:
    """Whether x is neither infinite nor NaN, per element.

    Types: (fp64) -> int1.

    >>> tl.extra.libdevice.isfinited(tl.full((), 0.6, tl.float64))"""

def isinf(arg0: Any) -> tensor:
    """Whether x is infinite, per element.

    Types: (fp32) -> int1; (fp64) -> int1.

    >>> tl.extra.libdevice.isinf(0.6)"""

def isnan(arg0: Any) -> tensor:
    """Whether x is NaN, per element.

    Types: (fp32) -> int1; (fp64) -> int1.

    >>> tl.extra.libdevice.isnan(0.6)"""

def j0(arg0: Any) -> tensor:
    """Bessel function of the first kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.j0(0.6)"""

def j1(arg0: Any) -> tensor:
    """Bessel function of the first kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.j1(0.6)"""

def jn(arg0: Any, arg1: Any) -> tensor:
    """Bessel function of the first kind of order x at y, per element.

    Types: (int32, fp32) -> fp32; (int32, fp64) -> fp64.

    >>> tl.extra.libdevice.jn(6, 0.3)"""

def ldexp(arg0: Any, arg1: Any) -> tensor:
    """x * 2**y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64.

    >>> tl.extra.libdevice.ldexp(0.6, 3)"""

def lgamma(arg0: Any) -> tensor:
    """Logarithm of the magnitude of the gamma function, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.lgamma(0.6)"""

def ll2double_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rd(tl.full((), 6, tl.int64))"""

def ll2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rn(tl.full((), 6, tl.int64))"""

def ll2double_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_ru(tl.full((), 6, tl.int64))"""

def ll2double_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rz(tl.full((), 6, tl.int64))"""

def ll2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rd(tl.full((), 6, tl.int64))"""

def ll2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rn(tl.full((), 6, tl.int64))"""

def ll2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_ru(tl.full((), 6, tl.int64))"""

def ll2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rz(tl.full((), 6, tl.int64))"""

def llrint(arg0: Any) -> tensor:
    """x rounded to the nearest integer, ties to even, per element.

    Types: (fp32) -> int64; (fp64) -> int64.

    >>> tl.extra.libdevice.llrint(2.5)"""

def llround(arg0: Any) -> tensor:
    """x rounded to the nearest integer, ties away from 0, per element.

    Types: (fp32) -> int64; (fp64) -> int64.

    >>> tl.extra.libdevice.llround(2.5)"""

def log(arg0: Any) -> tensor:
    """Natural logarithm of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log(0.6)"""

def log10(arg0: Any) -> tensor:
    """Logarithm of x to base 10, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log10(0.6)"""

def log1p(arg0: Any) -> tensor:
    """log(1 + x), exact near 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log1p(0.6)"""

def log2(arg0: Any) -> tensor:
    """Logarithm of x to base 2, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log2(0.6)"""

def logb(arg0: Any) -> tensor:
    """Exponent of x as a float, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.logb(0.6)"""

def longlong_as_double(arg0: Any) -> tensor:
    """The double with the bits x, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.longlong_as_double(tl.full((), 0x3FF0000000000000, tl.int64))"""

def mul24(arg0: Any, arg1: Any) -> tensor:
    """Low 32 bits of the product of the low 24 bits of x and y, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.mul24(6, 3)"""

def mul_rd(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rd(0.6, 0.3)"""

def mul_rn(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rn(0.6, 0.3)"""

def mul_ru(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_ru(0.6, 0.3)"""

def mul_rz(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rz(0.6, 0.3)"""

def mulhi(arg0: Any, arg1: Any) -> tensor:
    """High half of the product of x and y, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32; (int64, int64) -> int64; (uint64, uint64) -> uint64.

    >>> tl.extra.libdevice.mulhi(6, 3)"""

def nearbyint(arg0: Any) -> tensor:
    """x rounded to a whole number, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.nearbyint(2.5)"""

def nextafter(arg0: Any, arg1: Any) -> tensor:
    """The number next to x in the direction of y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.nextafter(0.6, 0.3)"""

def norm3d(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """Euclidean norm of three components, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.norm3d(0.6, 0.3, 0.2)"""

def norm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> tensor:
    """Euclidean norm of four components, per element.

    Types: (fp32, fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.norm4d(0.6, 0.3, 0.2, 0.1)"""

def normcdf(arg0: Any) -> tensor:
    """Cumulative distribution function of the standard normal distribution, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.normcdf(0.6)"""

def normcdfinv(arg0: Any) -> tensor:
    """Inverse of normcdf, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.normcdfinv(0.6)"""

def popc(arg0: Any) -> tensor:
    """Number of set bits of x, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.popc(6)"""

def pow(arg0: Any, arg1: Any) -> tensor:
    """x to the power of y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64; (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.pow(0.6, 3)"""

def rcbrt(arg0: Any) -> tensor:
    """1 / cbrt(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcbrt(0.6)"""

def rcp64h(arg0: Any) -> tensor:
    """The high 32 bits of 1 / x, as a double, per element.

    Types: (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp64h(tl.full((), 0.6, tl.float64))"""

def rcp_rd(arg0: Any) -> tensor:
    """1 / x rounded down, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rd(0.6)"""

def rcp_rn(arg0: Any) -> tensor:
    """1 / x rounded to nearest, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rn(0.6)"""

def rcp_ru(arg0: Any) -> tensor:
    """1 / x rounded up, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_ru(0.6)"""

def rcp_rz(arg0: Any) -> tensor:
    """1 / x rounded toward 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rz(0.6)"""

def remainder(arg0: Any, arg1: Any) -> tensor:
    """x - n * y for the whole n nearest to x / y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.remainder(0.6, 0.3)"""

def rhadd(arg0: Any, arg1: Any) -> tensor:
    """(x + y + 1) / 2 rounded down, without overflow, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.rhadd(6, 3)"""

def rhypot(arg0: Any, arg1: Any) -> tensor:
    """1 / hypot(x, y), per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rhypot(0.6, 0.3)"""

def rint(arg0: Any) -> tensor:
    """x rounded to a whole number, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rint(2.5)"""

def rnorm3d(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """1 / norm3d(x, y, z), per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rnorm3d(0.6, 0.3, 0.2)"""

def rnorm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> tensor:
    """1 / norm4d(x, y, z, w), per element.

    Types: (fp32, fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rnorm4d(0.6, 0.3, 0.2, 0.1)"""

def round(arg0: Any) -> tensor:
    """x rounded to a whole number, ties away from 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.round(2.5)"""

def rsqrt(arg0: Any) -> tensor:
    """1 / sqrt(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rsqrt(0.6)"""

def rsqrt_rn(arg0: Any) -> tensor:
    """1 / sqrt(x) rounded to nearest, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.rsqrt_rn(0.6)"""

def sad(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """abs(x - y) + z, per element.

    Types: (int32, int32, uint32) -> int32; (uint32, uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.sad(tl.full((), 6, tl.int32), tl.full((), 3, tl.int32), tl.full((), 1, tl.uint32))"""

def saturatef(arg0: Any) -> tensor:
    """x limited to 0...1, NaN as 0, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.saturatef(0.6)"""

def scalbn(arg0: Any, arg1: Any) -> tensor:
    """x * 2**y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64.

    >>> tl.extra.libdevice.scalbn(0.6, 3)"""

def signbit(arg0: Any) -> tensor:
    """1 where the sign bit of x is set, else 0, per element.

    Types: (fp32) -> int32; (fp64) -> int32.

    >>> tl.extra.libdevice.signbit(0.6)"""

def sin(arg0: Any) -> tensor:
    """Sine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sin(0.6)"""

def sinh(arg0: Any) -> tensor:
    """Hyperbolic sine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sinh(0.6)"""

def sinpi(arg0: Any) -> tensor:
    """Sine of pi times x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sinpi(0.6)"""

def sqrt(arg0: Any) -> tensor:
    """Square root of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt(0.6)"""

def sqrt_rd(arg0: Any) -> tensor:
    """Square root of x rounded down, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rd(0.6)"""

def sqrt_rn(arg0: Any) -> tensor:
    """Square root of x rounded to nearest, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rn(0.6)"""

def sqrt_ru(arg0: Any) -> tensor:
    """Square root of x rounded up, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_ru(0.6)"""

def sqrt_rz(arg0: Any) -> tensor:
    """Square root of x rounded toward 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rz(0.6)"""

def sub_rd(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rd(0.6, 0.3)"""

def sub_rn(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rn(0.6, 0.3)"""

def sub_ru(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_ru(0.6, 0.3)"""

def sub_rz(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rz(0.6, 0.3)"""

def tan(arg0: Any) -> tensor:
    """Tangent of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tan(0.6)"""

def tanh(arg0: Any) -> tensor:
    """Hyperbolic tangent of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tanh(0.6)"""

def tgamma(arg0: Any) -> tensor:
    """Gamma function of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tgamma(0.6)"""

def trunc(arg0: Any) -> tensor:
    """x without its fraction, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.trunc(2.5)"""

def uint2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint32) -> fp64.

    >>> tl.extra.libdevice.uint2double_rn(tl.full((), 6, tl.uint32))"""

def uint2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rd(tl.full((), 6, tl.uint32))"""

def uint2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rn(tl.full((), 6, tl.uint32))"""

def uint2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_ru(tl.full((), 6, tl.uint32))"""

def uint2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rz(tl.full((), 6, tl.uint32))"""

def uint_as_float(arg0: Any) -> tensor:
    """The float with the bits x, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint_as_float(tl.full((), 0x3F800000, tl.uint32))"""

def ull2double_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rd(tl.full((), 6, tl.uint64))"""

def ull2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rn(tl.full((), 6, tl.uint64))"""

def ull2double_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_ru(tl.full((), 6, tl.uint64))"""

def ull2double_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rz(tl.full((), 6, tl.uint64))"""

def ull2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rd(tl.full((), 6, tl.uint64))"""

def ull2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rn(tl.full((), 6, tl.uint64))"""

def ull2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_ru(tl.full((), 6, tl.uint64))"""

def ull2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rz(tl.full((), 6, tl.uint64))"""

def y0(arg0: Any) -> tensor:
    """Bessel function of the second kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.y0(0.6)"""

def y1(arg0: Any) -> tensor:
    """Bessel function of the second kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.y1(0.6)"""

def yn(arg0: Any, arg1: Any) -> tensor:
    """Bessel function of the second kind of order x at y, per element.

    Types: (int32, fp32) -> fp32; (int32, fp64) -> fp64.

    >>> tl.extra.libdevice.yn(6, 0.3)"""
