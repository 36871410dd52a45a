"""Which dtypes the functions of ``triton.language.extra.libdevice`` take, and what they give."""

from __future__ import annotations

from .matrix import Matrix, Snippet, tile

_ONE = """clz popc brev abs floor rcp64h rsqrt ceil trunc exp2 saturatef sqrt ffs rint llrint nearbyint isnan signbit
finitef isinf sin cos sinpi cospi tan log2 exp exp10 cosh sinh tanh atan asin acos log log10 log1p acosh asinh atanh
expm1 cbrt rcbrt j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 erf erfinv erfc erfcx erfcinv normcdfinv normcdf lgamma
tgamma round llround ilogb logb isfinited rsqrt_rn fast_sinf fast_cosf fast_log2f fast_logf fast_expf fast_tanf
fast_exp10f fast_log10f double2loint double2hiint int_as_float float_as_int uint_as_float float_as_uint
longlong_as_double double_as_longlong int2double_rn uint2double_rn"""
_ROUNDED = """rcp sqrt double2float double2int double2uint float2int float2uint int2float uint2float float2ll
float2ull double2ll double2ull ll2float ull2float ll2double ull2double"""
_TWO = """mulhi mul24 fast_dividef hadd rhadd copysign nextafter atan2 hypot rhypot fmod remainder pow fdim
fast_powf hiloint2double"""
_TWO_ROUNDED = "div add mul sub"
_MODES = ("rn", "rz", "rd", "ru")
FUNCTIONS = (
    *((name, 1) for name in _ONE.split()),
    *((f"{name}_{mode}", 1) for name in _ROUNDED.split() for mode in _MODES),
    *((name, 2) for name in _TWO.split()),
    *((f"{name}_{mode}", 2) for name in _TWO_ROUNDED.split() for mode in _MODES),
    *((name, 3) for name in ("byte_perm", "sad", "norm3d", "rnorm3d", "fma")),
    *((f"fma_{mode}", 3) for mode in _MODES),
    *((name, 4) for name in ("norm4d", "rnorm4d")),
)
_ARITY = dict(FUNCTIONS)
_DTYPES = ("i1", "i8", "i32", "i64", "u32", "u64", "fp16", "bf16", "fp32", "fp64")


def _same(name: str, dtype: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(params, [*body, f"r{{i}} = libdevice.{name}({', '.join(['x{i}'] * _ARITY[name])})"])


def _mixed(name: str, lhs: str, rhs: str) -> Snippet:
    (p, a), (q, b) = tile("x", lhs), tile("y", rhs)
    return Snippet({**p, **q}, [*a, *b, f"r{{i}} = libdevice.{name}(x{{i}}, y{{i}})"])


_PRELUDE = "from triton.language.extra import libdevice\n"

LIBRARY = (
    Matrix("libdevice", [("name", tuple(_ARITY)), ("dtype", _DTYPES)], _same, _PRELUDE),
    Matrix(
        "libdevice_mixed",
        [
            ("name", ("ldexp", "scalbn", "jn", "yn", "pow", "atan2", "fmod")),
            ("lhs", _DTYPES),
            ("rhs", _DTYPES),
        ],
        _mixed,
        _PRELUDE,
    ),
)
