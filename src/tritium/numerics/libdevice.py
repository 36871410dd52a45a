"""The device math library: signatures and NumPy implementations of its functions.

`LIBDEVICE[name]` lists the variants of a function in the order in which they are tried; a variant holds the
argument formats, the result format and the implementation, which takes and gives arrays in those formats'
storage.

Names, argument formats and result formats are those of Triton 3.6 for NVIDIA (`isnan`, `isinf`, `finitef`
and `isfinited` give i1 there; the conversions to unsigned integers give the bits as i32 or i64), with
`fast_tanhf` from its target-independent list. Values differ from the GPU's in this: results are rounded as
`tritium.numerics.special` states, also for the `fast_` forms; subnormal f32 numbers are kept, not flushed;
a NaN converts to the integer 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tritium.numerics import directed, elementary, floating, integer, special
from tritium.numerics.blocks import quiet
from tritium.numerics.cast import bitcast, cast, float_to_integer
from tritium.numerics.convert import Rounding, narrow
from tritium.numerics.formats import FORMATS, Array

Implementation = Callable[..., Array]


@dataclass(frozen=True)
class Variant:
    """One overload: argument formats, result format, and a function of as many arrays."""

    arguments: tuple[str, ...]
    result: str
    evaluate: Implementation


LIBDEVICE: dict[str, tuple[Variant, ...]] = {}
ROUNDINGS: tuple[Rounding, ...] = ("rn", "rz", "rd", "ru")


def find_variant(name: str, arguments: tuple[str, ...]) -> Variant | None:
    """The variant of function `name` for exactly these argument formats, or None."""
    for variant in LIBDEVICE.get(name, ()):
        if variant.arguments == arguments:
            return variant
    return None


def _add(name: str, *variants: tuple[str, str, Implementation]) -> None:
    """Register `name` with variants given as ("f32 f32", "f32", function)."""
    LIBDEVICE[name] = tuple(
        Variant(tuple(args.split()), result, function) for args, result, function in variants
    )


def _both(name: str, count: int, function: Callable[..., Array]) -> None:
    """Register a function of `count` equal floats, given as ``function(*operands, fmt)``, for f32 and f64."""
    _add(name, *((" ".join([fmt] * count), fmt, _in(function, fmt)) for fmt in ("f32", "f64")))


def _single(name: str, count: int, function: Callable[..., Array]) -> None:
    _add(name, (" ".join(["f32"] * count), "f32", _in(function, "f32")))


def _in(function: Callable[..., Array], fmt: str) -> Implementation:
    """``function(*operands, fmt)`` with the format filled in."""
    return lambda *operands: function(*operands, fmt)


def _components(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *operands: function(*operands[:-1], fmt=operands[-1])


_UNARY: dict[str, Callable[..., Array]] = {
    "floor": floating.floor,
    "ceil": floating.ceil,
    "trunc": special.trunc,
    "rint": special.rint,
    "nearbyint": special.rint,
    "round": special.round_half_away,
    "sqrt": floating.sqrt,
    "logb": special.logb,
}
_SPECIAL_UNARY = [
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "rsqrt",
    "cbrt",
    "rcbrt",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "erfcinv",
    "normcdf",
    "normcdfinv",
    "lgamma",
    "tgamma",
    "j0",
    "j1",
    "y0",
    "y1",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
]
_BINARY: dict[str, Callable[..., Array]] = {
    "atan2": special.atan2,
    "hypot": special.hypot,
    "rhypot": special.rhypot,
    "fmod": floating.fmod,
    "remainder": special.remainder,
    "fdim": special.fdim,
    "copysign": special.copysign,
    "nextafter": special.nextafter,
}
_FAST = {
    "sinf": "sin",
    "cosf": "cos",
    "tanf": "tan",
    "tanhf": "tanh",
    "expf": "exp",
    "exp10f": "exp10",
    "logf": "log",
    "log2f": "log2",
    "log10f": "log10",
}


def _register_float_functions() -> None:
    for name, function in _UNARY.items():
        _both(name, 1, function)
    for name in _SPECIAL_UNARY:
        _both(name, 1, getattr(special, name))
    for name, function in _BINARY.items():
        _both(name, 2, function)
    for name, count in (("norm3d", 3), ("norm4d", 4)):
        _both(name, count, _components(special.norm))
        _both(f"r{name}", count, _components(special.rnorm))
    _both("fma", 3, floating.fma)
    for name, function in (("jn", special.jn), ("yn", special.yn)):
        _add(name, *((f"i32 {fmt}", fmt, _in(function, fmt)) for fmt in ("f32", "f64")))
    for name in ("ldexp", "scalbn"):
        _add(name, *((f"{fmt} i32", fmt, _in(special.ldexp, fmt)) for fmt in ("f32", "f64")))
    powers = [(f"{fmt} i32", fmt, _in(special.powi, fmt)) for fmt in ("f32", "f64")]
    _add("pow", *powers, *((f"{fmt} {fmt}", fmt, _in(special.pow, fmt)) for fmt in ("f32", "f64")))
    for fast, name in _FAST.items():
        _single(f"fast_{fast}", 1, getattr(special, name))
    _single("fast_powf", 2, special.pow)
    _single("fast_dividef", 2, floating.div)
    _single("saturatef", 1, special.saturate)
    _single("rsqrt_rn", 1, special.rsqrt)  # correctly rounded: checked for every significand
    _add("rcp64h", ("f64", "f64", _reciprocal_high))


def _register_rounded_functions() -> None:
    for mode in ROUNDINGS:
        for name, count in (
            ("add", 2),
            ("sub", 2),
            ("mul", 2),
            ("div", 2),
            ("fma", 3),
            ("rcp", 1),
            ("sqrt", 1),
        ):
            _both(f"{name}_{mode}", count, partial(_directed, getattr(directed, name), mode))


def _directed(function: Callable[..., Array], mode: Rounding, *operands: Any) -> Array:
    return function(*operands, mode)


def _register_predicates() -> None:
    floats = ("f32", "f64")
    _add("isnan", *((fmt, "i1", _in(floating.isnan, fmt)) for fmt in floats))
    _add("isinf", *((fmt, "i1", lambda x: np.asarray(np.isinf(x))) for fmt in floats))
    _add("finitef", ("f32", "i1", lambda x: np.asarray(np.isfinite(x))))
    _add("isfinited", ("f64", "i1", lambda x: np.asarray(np.isfinite(x))))
    _add("signbit", *((fmt, "i32", lambda x: np.asarray(np.signbit(x)).astype(np.int32)) for fmt in floats))
    _add("ilogb", *((fmt, "i32", _in(special.ilogb, fmt)) for fmt in floats))


def _register_integer_functions() -> None:
    for name, function in (("clz", integer.clz), ("popc", integer.popc), ("ffs", integer.ffs)):
        _add(name, *((fmt, "i32", _in(function, fmt)) for fmt in ("i32", "i64")))
    _add("brev", *((fmt, fmt, _in(integer.brev, fmt)) for fmt in ("i32", "i64")))
    _add("byte_perm", ("i32 i32 i32", "i32", integer.byte_perm))
    _add("mulhi", *((f"{fmt} {fmt}", fmt, _in(integer.mulhi, fmt)) for fmt in ("i32", "u32", "i64", "u64")))
    for name, function in (("mul24", integer.mul24), ("hadd", integer.hadd), ("rhadd", integer.rhadd)):
        _add(name, *((f"{fmt} {fmt}", fmt, _in(function, fmt)) for fmt in ("i32", "u32")))
    _add(
        "sad",
        ("i32 i32 u32", "i32", lambda x, y, z: integer.sad(x, y, z, "i32").view(np.int32)),
        ("u32 u32 u32", "u32", _in(integer.sad, "u32")),
    )
    absolute = [(fmt, fmt, _in(integer.absolute, fmt)) for fmt in ("i32", "i64")]
    _add("abs", *absolute, *((fmt, fmt, _in(floating.absolute, fmt)) for fmt in ("f32", "f64")))


# CUDA's names of the scalar types in conversion functions.
_TYPES = {"int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}
_TO_WHOLE: dict[str, Callable[..., Any]] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def _register_conversions() -> None:
    for mode in ROUNDINGS:
        for kind, fmt in _TYPES.items():
            result = fmt.replace("u", "i")  # unsigned results are handed over as signed bits
            for source, name in (("f32", "float"), ("f64", "double")):
                _add(f"{name}2{kind}_{mode}", (source, result, partial(_to_integer, fmt, mode)))
            _add(f"{kind}2float_{mode}", (fmt, "f32", partial(_from_integer, "f32", mode)))
            if fmt.endswith("64") or mode == "rn":
                _add(f"{kind}2double_{mode}", (fmt, "f64", partial(_from_integer, "f64", mode)))
        _add(f"double2float_{mode}", ("f64", "f32", partial(_to_float32, mode)))
    for name, source, target in (
        ("int_as_float", "i32", "f32"),
        ("float_as_int", "f32", "i32"),
        ("uint_as_float", "u32", "f32"),
        ("float_as_uint", "f32", "i32"),
        ("longlong_as_double", "i64", "f64"),
        ("double_as_longlong", "f64", "i64"),
    ):
        _add(name, (source, target, partial(_reinterpret, source, target)))
    _add("hiloint2double", ("i32 i32", "f64", _join_double))
    _add("double2loint", ("f64", "i32", lambda x: _double_pattern(x).astype(np.int32)))
    _add("double2hiint", ("f64", "i32", _high_half))
    _add("llrint", *((fmt, "i64", partial(_to_integer, "i64", "rn")) for fmt in ("f32", "f64")))
    _add("llround", *((fmt, "i64", _round_to_int64) for fmt in ("f32", "f64")))


@quiet
def _to_integer(fmt: str, mode: Rounding, x: Array) -> Array:
    out = float_to_integer(np.asarray(_TO_WHOLE[mode](x)), FORMATS[fmt])
    return out.view(f"i{out.dtype.itemsize}")


@quiet
def _round_to_int64(x: Array) -> Array:
    return float_to_integer(np.asarray(elementary.round_half_away(x)), FORMATS["i64"])


@quiet
def _from_integer(fmt: str, mode: Rounding, x: Array) -> Array:
    target = FORMATS[fmt]
    source = f"{'i' if x.dtype.kind == 'i' else 'u'}{x.dtype.itemsize * 8}"
    if mode == "rn":
        return cast(x, source, fmt)
    if x.dtype.itemsize == 4:
        return narrow(x.astype(np.float64), target, mode)
    # Two exact halves; a directed sum of them rounds once.
    high = (x >> x.dtype.type(32)).astype(np.float64) * 2.0**32
    low = (x & x.dtype.type(0xFFFFFFFF)).astype(np.float64)
    if fmt == "f64":
        return directed.add(high, low, "f64", mode)
    return narrow(
        np.asarray(floating.odd_sum(np.atleast_1d(high), np.atleast_1d(low))).reshape(x.shape), target, mode
    )


def _to_float32(mode: Rounding, x: Array) -> Array:
    return directed.to_float32(x, mode)


def _reinterpret(source: str, target: str, x: Array) -> Array:
    return bitcast(x, source, target)


def _double_pattern(x: Array) -> Array:
    return bitcast(x, "f64", "i64")


def _high_half(x: Array) -> Array:
    return np.asarray(np.asarray(_double_pattern(x) >> 32).astype(np.int32))


def _join_double(high: Array, low: Array) -> Array:
    pattern = (np.asarray(high).astype(np.int64) << 32) | (np.asarray(low).astype(np.int64) & 0xFFFFFFFF)
    return np.asarray(pattern).view(np.float64)


@quiet
def _reciprocal_high(x: Array) -> Array:
    """``1 / x`` cut to its high 32 bits; the low half of `x` does not count."""
    high = np.asarray(np.asarray(x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    return np.asarray(np.asarray(1.0 / high).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


_register_float_functions()
_register_rounded_functions()
_register_predicates()
_register_integer_functions()
_register_conversions()
