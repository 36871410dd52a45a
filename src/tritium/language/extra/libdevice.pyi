# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

def abs(arg0: Any) -> tensor:
    """Magnitude of x, per element.

    Types: (int32) -> int32; (int64) -> int64; (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.abs(x)"""

def acos(arg0: Any) -> tensor:
    """Arc cosine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.acos(x)"""

def acosh(arg0: Any) -> tensor:
    """Inverse hyperbolic cosine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.acosh(x)"""

def add_rd(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rd(x, y)"""

def add_rn(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rn(x, y)"""

def add_ru(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_ru(x, y)"""

def add_rz(arg0: Any, arg1: Any) -> tensor:
    """x + y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.add_rz(x, y)"""

def asin(arg0: Any) -> tensor:
    """Arc sine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.asin(x)"""

def asinh(arg0: Any) -> tensor:
    """Inverse hyperbolic sine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.asinh(x)"""

def atan(arg0: Any) -> tensor:
    """Arc tangent of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.atan(x)"""

def atan2(arg0: Any, arg1: Any) -> tensor:
    """Angle of the point (x, y) given as (y, x), in radians, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.atan2(x, y)"""

def atanh(arg0: Any) -> tensor:
    """Inverse hyperbolic tangent of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.atanh(x)"""

def brev(arg0: Any) -> tensor:
    """The bits of x in reverse order, per element.

    Types: (int32) -> int32; (int64) -> int64.

    >>> tl.extra.libdevice.brev(x)"""

def byte_perm(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """Four bytes picked from the eight of x (low) and y (high) by the low nibbles of z, per element.

    Types: (int32, int32, int32) -> int32.

    >>> tl.extra.libdevice.byte_perm(x, y, z)"""

def cbrt(arg0: Any) -> tensor:
    """Cube root of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cbrt(x)"""

def ceil(arg0: Any) -> tensor:
    """Smallest whole number not below x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.ceil(x)"""

def clz(arg0: Any) -> tensor:
    """Number of leading zero bits of x, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.clz(x)"""

def copysign(arg0: Any, arg1: Any) -> tensor:
    """Magnitude of x with the sign of y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.copysign(x, y)"""

def cos(arg0: Any) -> tensor:
    """Cosine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cos(x)"""

def cosh(arg0: Any) -> tensor:
    """Hyperbolic cosine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cosh(x)"""

def cospi(arg0: Any) -> tensor:
    """Cosine of pi times x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cospi(x)"""

def cyl_bessel_i0(arg0: Any) -> tensor:
    """Modified Bessel function of the first kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cyl_bessel_i0(x)"""

def cyl_bessel_i1(arg0: Any) -> tensor:
    """Modified Bessel function of the first kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.cyl_bessel_i1(x)"""

def div_rd(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rd(x, y)"""

def div_rn(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rn(x, y)"""

def div_ru(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_ru(x, y)"""

def div_rz(arg0: Any, arg1: Any) -> tensor:
    """x / y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.div_rz(x, y)"""

def double2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rd(x)"""

def double2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rn(x)"""

def double2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_ru(x)"""

def double2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> fp32.

    >>> tl.extra.libdevice.double2float_rz(x)"""

def double2hiint(arg0: Any) -> tensor:
    """High 32 bits of x, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2hiint(x)"""

def double2int_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rd(x)"""

def double2int_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rn(x)"""

def double2int_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_ru(x)"""

def double2int_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2int_rz(x)"""

def double2ll_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rd(x)"""

def double2ll_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rn(x)"""

def double2ll_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_ru(x)"""

def double2ll_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ll_rz(x)"""

def double2loint(arg0: Any) -> tensor:
    """Low 32 bits of x, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2loint(x)"""

def double2uint_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rd(x)"""

def double2uint_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rn(x)"""

def double2uint_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_ru(x)"""

def double2uint_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int32.

    >>> tl.extra.libdevice.double2uint_rz(x)"""

def double2ull_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rd(x)"""

def double2ull_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rn(x)"""

def double2ull_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_ru(x)"""

def double2ull_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double2ull_rz(x)"""

def double_as_longlong(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp64) -> int64.

    >>> tl.extra.libdevice.double_as_longlong(x)"""

def erf(arg0: Any) -> tensor:
    """Error function of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erf(x)"""

def erfc(arg0: Any) -> tensor:
    """1 - erf(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfc(x)"""

def erfcinv(arg0: Any) -> tensor:
    """Inverse of erfc, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfcinv(x)"""

def erfcx(arg0: Any) -> tensor:
    """exp(x * x) * erfc(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfcx(x)"""

def erfinv(arg0: Any) -> tensor:
    """Inverse of erf, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.erfinv(x)"""

def exp(arg0: Any) -> tensor:
    """e to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp(x)"""

def exp10(arg0: Any) -> tensor:
    """10 to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp10(x)"""

def exp2(arg0: Any) -> tensor:
    """2 to the power of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.exp2(x)"""

def expm1(arg0: Any) -> tensor:
    """exp(x) - 1, exact near 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.expm1(x)"""

def fast_cosf(arg0: Any) -> tensor:
    """Fast form of cos, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_cosf(x)"""

def fast_dividef(arg0: Any, arg1: Any) -> tensor:
    """Approximate quotient of x and y, per element.

    Types: (fp32, fp32) -> fp32.

    >>> tl.extra.libdevice.fast_dividef(x, y)"""

def fast_exp10f(arg0: Any) -> tensor:
    """Fast form of exp10, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_exp10f(x)"""

def fast_expf(arg0: Any) -> tensor:
    """Fast form of exp, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_expf(x)"""

def fast_log10f(arg0: Any) -> tensor:
    """Fast form of log10, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_log10f(x)"""

def fast_log2f(arg0: Any) -> tensor:
    """Fast form of log2, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_log2f(x)"""

def fast_logf(arg0: Any) -> tensor:
    """Fast form of log, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_logf(x)"""

def fast_powf(arg0: Any, arg1: Any) -> tensor:
    """Approximate x to the power of y, per element.

    Types: (fp32, fp32) -> fp32.

    >>> tl.extra.libdevice.fast_powf(x, y)"""

def fast_sinf(arg0: Any) -> tensor:
    """Fast form of sin, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_sinf(x)"""

def fast_tanf(arg0: Any) -> tensor:
    """Fast form of tan, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_tanf(x)"""

def fast_tanhf(arg0: Any) -> tensor:
    """Fast form of tanh, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.fast_tanhf(x)"""

def fdim(arg0: Any, arg1: Any) -> tensor:
    """x - y where that is positive, else 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fdim(x, y)"""

def ffs(arg0: Any) -> tensor:
    """Position of the lowest set bit of x, counted from 1; 0 for 0, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.ffs(x)"""

def finitef(arg0: Any) -> tensor:
    """Whether x is neither infinite nor NaN, per element.

    Types: (fp32) -> int1.

    >>> tl.extra.libdevice.finitef(x)"""

def float2int_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rd(x)"""

def float2int_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rn(x)"""

def float2int_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_ru(x)"""

def float2int_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2int_rz(x)"""

def float2ll_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rd(x)"""

def float2ll_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rn(x)"""

def float2ll_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_ru(x)"""

def float2ll_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ll_rz(x)"""

def float2uint_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rd(x)"""

def float2uint_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rn(x)"""

def float2uint_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_ru(x)"""

def float2uint_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float2uint_rz(x)"""

def float2ull_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rd(x)"""

def float2ull_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rn(x)"""

def float2ull_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_ru(x)"""

def float2ull_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (fp32) -> int64.

    >>> tl.extra.libdevice.float2ull_rz(x)"""

def float_as_int(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float_as_int(x)"""

def float_as_uint(arg0: Any) -> tensor:
    """The bits of x as an integer, per element.

    Types: (fp32) -> int32.

    >>> tl.extra.libdevice.float_as_uint(x)"""

def floor(arg0: Any) -> tensor:
    """Largest whole number not above x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.floor(x)"""

def fma(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded once, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma(x, y, z)"""

def fma_rd(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded down, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rd(x, y, z)"""

def fma_rn(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded to nearest, ties to even, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rn(x, y, z)"""

def fma_ru(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded up, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_ru(x, y, z)"""

def fma_rz(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """x * y + z rounded toward 0, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fma_rz(x, y, z)"""

def fmod(arg0: Any, arg1: Any) -> tensor:
    """Remainder of x / y truncated, with the sign of x, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.fmod(x, y)"""

def hadd(arg0: Any, arg1: Any) -> tensor:
    """(x + y) / 2 rounded down, without overflow, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.hadd(x, y)"""

def hiloint2double(arg0: Any, arg1: Any) -> tensor:
    """The double with high bits x and low bits y, per element.

    Types: (int32, int32) -> fp64.

    >>> tl.extra.libdevice.hiloint2double(x, y)"""

def hypot(arg0: Any, arg1: Any) -> tensor:
    """sqrt(x * x + y * y) without overflow, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.hypot(x, y)"""

def ilogb(arg0: Any) -> tensor:
    """Exponent of x as an integer, per element.

    Types: (fp32) -> int32; (fp64) -> int32.

    >>> tl.extra.libdevice.ilogb(x)"""

def int2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int32) -> fp64.

    >>> tl.extra.libdevice.int2double_rn(x)"""

def int2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rd(x)"""

def int2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rn(x)"""

def int2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_ru(x)"""

def int2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int2float_rz(x)"""

def int_as_float(arg0: Any) -> tensor:
    """The float with the bits x, per element.

    Types: (int32) -> fp32.

    >>> tl.extra.libdevice.int_as_float(x)"""

def isfinited(arg0: Any) -> tensor:
    """Whether x is neither infinite nor NaN, per element.

    Types: (fp64) -> int1.

    >>> tl.extra.libdevice.isfinited(x)"""

def isinf(arg0: Any) -> tensor:
    """Whether x is infinite, per element.

    Types: (fp32) -> int1; (fp64) -> int1.

    >>> tl.extra.libdevice.isinf(x)"""

def isnan(arg0: Any) -> tensor:
    """Whether x is NaN, per element.

    Types: (fp32) -> int1; (fp64) -> int1.

    >>> tl.extra.libdevice.isnan(x)"""

def j0(arg0: Any) -> tensor:
    """Bessel function of the first kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.j0(x)"""

def j1(arg0: Any) -> tensor:
    """Bessel function of the first kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.j1(x)"""

def jn(arg0: Any, arg1: Any) -> tensor:
    """Bessel function of the first kind of order x at y, per element.

    Types: (int32, fp32) -> fp32; (int32, fp64) -> fp64.

    >>> tl.extra.libdevice.jn(x, y)"""

def ldexp(arg0: Any, arg1: Any) -> tensor:
    """x * 2**y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64.

    >>> tl.extra.libdevice.ldexp(x, y)"""

def lgamma(arg0: Any) -> tensor:
    """Logarithm of the magnitude of the gamma function, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.lgamma(x)"""

def ll2double_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rd(x)"""

def ll2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rn(x)"""

def ll2double_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_ru(x)"""

def ll2double_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.ll2double_rz(x)"""

def ll2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rd(x)"""

def ll2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rn(x)"""

def ll2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_ru(x)"""

def ll2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (int64) -> fp32.

    >>> tl.extra.libdevice.ll2float_rz(x)"""

def llrint(arg0: Any) -> tensor:
    """x rounded to the nearest integer, ties to even, per element.

    Types: (fp32) -> int64; (fp64) -> int64.

    >>> tl.extra.libdevice.llrint(x)"""

def llround(arg0: Any) -> tensor:
    """x rounded to the nearest integer, ties away from 0, per element.

    Types: (fp32) -> int64; (fp64) -> int64.

    >>> tl.extra.libdevice.llround(x)"""

def log(arg0: Any) -> tensor:
    """Natural logarithm of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log(x)"""

def log10(arg0: Any) -> tensor:
    """Logarithm of x to base 10, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log10(x)"""

def log1p(arg0: Any) -> tensor:
    """log(1 + x), exact near 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log1p(x)"""

def log2(arg0: Any) -> tensor:
    """Logarithm of x to base 2, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.log2(x)"""

def logb(arg0: Any) -> tensor:
    """Exponent of x as a float, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.logb(x)"""

def longlong_as_double(arg0: Any) -> tensor:
    """The double with the bits x, per element.

    Types: (int64) -> fp64.

    >>> tl.extra.libdevice.longlong_as_double(x)"""

def mul24(arg0: Any, arg1: Any) -> tensor:
    """Low 32 bits of the product of the low 24 bits of x and y, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.mul24(x, y)"""

def mul_rd(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rd(x, y)"""

def mul_rn(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rn(x, y)"""

def mul_ru(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_ru(x, y)"""

def mul_rz(arg0: Any, arg1: Any) -> tensor:
    """x * y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.mul_rz(x, y)"""

def mulhi(arg0: Any, arg1: Any) -> tensor:
    """High half of the product of x and y, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32; (int64, int64) -> int64; (uint64, uint64) -> uint64.

    >>> tl.extra.libdevice.mulhi(x, y)"""

def nearbyint(arg0: Any) -> tensor:
    """x rounded to a whole number, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.nearbyint(x)"""

def nextafter(arg0: Any, arg1: Any) -> tensor:
    """The number next to x in the direction of y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.nextafter(x, y)"""

def norm3d(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """Euclidean norm of three components, per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.norm3d(x, y, z)"""

def norm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> tensor:
    """Euclidean norm of four components, per element.

    Types: (fp32, fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.norm4d(x, y, z, w)"""

def normcdf(arg0: Any) -> tensor:
    """Cumulative distribution function of the standard normal distribution, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.normcdf(x)"""

def normcdfinv(arg0: Any) -> tensor:
    """Inverse of normcdf, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.normcdfinv(x)"""

def popc(arg0: Any) -> tensor:
    """Number of set bits of x, per element.

    Types: (int32) -> int32; (int64) -> int32.

    >>> tl.extra.libdevice.popc(x)"""

def pow(arg0: Any, arg1: Any) -> tensor:
    """x to the power of y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64; (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.pow(x, y)"""

def rcbrt(arg0: Any) -> tensor:
    """1 / cbrt(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcbrt(x)"""

def rcp64h(arg0: Any) -> tensor:
    """The high 32 bits of 1 / x, as a double, per element.

    Types: (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp64h(x)"""

def rcp_rd(arg0: Any) -> tensor:
    """1 / x rounded down, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rd(x)"""

def rcp_rn(arg0: Any) -> tensor:
    """1 / x rounded to nearest, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rn(x)"""

def rcp_ru(arg0: Any) -> tensor:
    """1 / x rounded up, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_ru(x)"""

def rcp_rz(arg0: Any) -> tensor:
    """1 / x rounded toward 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rcp_rz(x)"""

def remainder(arg0: Any, arg1: Any) -> tensor:
    """x - n * y for the whole n nearest to x / y, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.remainder(x, y)"""

def rhadd(arg0: Any, arg1: Any) -> tensor:
    """(x + y + 1) / 2 rounded down, without overflow, per element.

    Types: (int32, int32) -> int32; (uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.rhadd(x, y)"""

def rhypot(arg0: Any, arg1: Any) -> tensor:
    """1 / hypot(x, y), per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rhypot(x, y)"""

def rint(arg0: Any) -> tensor:
    """x rounded to a whole number, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rint(x)"""

def rnorm3d(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """1 / norm3d(x, y, z), per element.

    Types: (fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rnorm3d(x, y, z)"""

def rnorm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> tensor:
    """1 / norm4d(x, y, z, w), per element.

    Types: (fp32, fp32, fp32, fp32) -> fp32; (fp64, fp64, fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.rnorm4d(x, y, z, w)"""

def round(arg0: Any) -> tensor:
    """x rounded to a whole number, ties away from 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.round(x)"""

def rsqrt(arg0: Any) -> tensor:
    """1 / sqrt(x), per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.rsqrt(x)"""

def rsqrt_rn(arg0: Any) -> tensor:
    """1 / sqrt(x) rounded to nearest, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.rsqrt_rn(x)"""

def sad(arg0: Any, arg1: Any, arg2: Any) -> tensor:
    """abs(x - y) + z, per element.

    Types: (int32, int32, uint32) -> int32; (uint32, uint32, uint32) -> uint32.

    >>> tl.extra.libdevice.sad(x, y, z)"""

def saturatef(arg0: Any) -> tensor:
    """x limited to 0...1, NaN as 0, per element.

    Types: (fp32) -> fp32.

    >>> tl.extra.libdevice.saturatef(x)"""

def scalbn(arg0: Any, arg1: Any) -> tensor:
    """x * 2**y, per element.

    Types: (fp32, int32) -> fp32; (fp64, int32) -> fp64.

    >>> tl.extra.libdevice.scalbn(x, y)"""

def signbit(arg0: Any) -> tensor:
    """1 where the sign bit of x is set, else 0, per element.

    Types: (fp32) -> int32; (fp64) -> int32.

    >>> tl.extra.libdevice.signbit(x)"""

def sin(arg0: Any) -> tensor:
    """Sine of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sin(x)"""

def sinh(arg0: Any) -> tensor:
    """Hyperbolic sine of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sinh(x)"""

def sinpi(arg0: Any) -> tensor:
    """Sine of pi times x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sinpi(x)"""

def sqrt(arg0: Any) -> tensor:
    """Square root of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt(x)"""

def sqrt_rd(arg0: Any) -> tensor:
    """Square root of x rounded down, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rd(x)"""

def sqrt_rn(arg0: Any) -> tensor:
    """Square root of x rounded to nearest, ties to even, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rn(x)"""

def sqrt_ru(arg0: Any) -> tensor:
    """Square root of x rounded up, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_ru(x)"""

def sqrt_rz(arg0: Any) -> tensor:
    """Square root of x rounded toward 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.sqrt_rz(x)"""

def sub_rd(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded down, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rd(x, y)"""

def sub_rn(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded to nearest, ties to even, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rn(x, y)"""

def sub_ru(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded up, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_ru(x, y)"""

def sub_rz(arg0: Any, arg1: Any) -> tensor:
    """x - y rounded toward 0, per element.

    Types: (fp32, fp32) -> fp32; (fp64, fp64) -> fp64.

    >>> tl.extra.libdevice.sub_rz(x, y)"""

def tan(arg0: Any) -> tensor:
    """Tangent of x in radians, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tan(x)"""

def tanh(arg0: Any) -> tensor:
    """Hyperbolic tangent of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tanh(x)"""

def tgamma(arg0: Any) -> tensor:
    """Gamma function of x, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.tgamma(x)"""

def trunc(arg0: Any) -> tensor:
    """x without its fraction, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.trunc(x)"""

def uint2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint32) -> fp64.

    >>> tl.extra.libdevice.uint2double_rn(x)"""

def uint2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rd(x)"""

def uint2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rn(x)"""

def uint2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_ru(x)"""

def uint2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint2float_rz(x)"""

def uint_as_float(arg0: Any) -> tensor:
    """The float with the bits x, per element.

    Types: (uint32) -> fp32.

    >>> tl.extra.libdevice.uint_as_float(x)"""

def ull2double_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rd(x)"""

def ull2double_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rn(x)"""

def ull2double_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_ru(x)"""

def ull2double_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint64) -> fp64.

    >>> tl.extra.libdevice.ull2double_rz(x)"""

def ull2float_rd(arg0: Any) -> tensor:
    """Conversion rounded down, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rd(x)"""

def ull2float_rn(arg0: Any) -> tensor:
    """Conversion rounded to nearest, ties to even, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rn(x)"""

def ull2float_ru(arg0: Any) -> tensor:
    """Conversion rounded up, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_ru(x)"""

def ull2float_rz(arg0: Any) -> tensor:
    """Conversion rounded toward 0, per element.

    Types: (uint64) -> fp32.

    >>> tl.extra.libdevice.ull2float_rz(x)"""

def y0(arg0: Any) -> tensor:
    """Bessel function of the second kind of order 0, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.y0(x)"""

def y1(arg0: Any) -> tensor:
    """Bessel function of the second kind of order 1, per element.

    Types: (fp32) -> fp32; (fp64) -> fp64.

    >>> tl.extra.libdevice.y1(x)"""

def yn(arg0: Any, arg1: Any) -> tensor:
    """Bessel function of the second kind of order x at y, per element.

    Types: (int32, fp32) -> fp32; (int32, fp64) -> fp64.

    >>> tl.extra.libdevice.yn(x, y)"""
