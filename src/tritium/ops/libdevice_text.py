"""One sentence for each function of the device math library."""

from __future__ import annotations

from collections.abc import Sequence

from tritium.ir.types import DType, dtype_named, float32, int32

_PHRASES = {
    "abs": "Magnitude of x",
    "acos": "Arc cosine of x in radians",
    "acosh": "Inverse hyperbolic cosine of x",
    "asin": "Arc sine of x in radians",
    "asinh": "Inverse hyperbolic sine of x",
    "atan": "Arc tangent of x in radians",
    "atan2": "Angle of the point (x, y) given as (y, x), in radians",
    "atanh": "Inverse hyperbolic tangent of x",
    "brev": "The bits of x in reverse order",
    "byte_perm": "Four bytes picked from the eight of x (low) and y (high) by the low nibbles of z",
    "cbrt": "Cube root of x",
    "ceil": "Smallest whole number not below x",
    "clz": "Number of leading zero bits of x",
    "copysign": "Magnitude of x with the sign of y",
    "cos": "Cosine of x in radians",
    "cosh": "Hyperbolic cosine of x",
    "cospi": "Cosine of pi times x",
    "cyl_bessel_i0": "Modified Bessel function of the first kind of order 0",
    "cyl_bessel_i1": "Modified Bessel function of the first kind of order 1",
    "double2hiint": "High 32 bits of x",
    "double2loint": "Low 32 bits of x",
    "double_as_longlong": "The bits of x as an integer",
    "erf": "Error function of x",
    "erfc": "1 - erf(x)",
    "erfcinv": "Inverse of erfc",
    "erfcx": "exp(x * x) * erfc(x)",
    "erfinv": "Inverse of erf",
    "exp": "e to the power of x",
    "exp10": "10 to the power of x",
    "exp2": "2 to the power of x",
    "expm1": "exp(x) - 1, exact near 0",
    "fast_dividef": "Approximate quotient of x and y",
    "fast_powf": "Approximate x to the power of y",
    "fdim": "x - y where that is positive, else 0",
    "ffs": "Position of the lowest set bit of x, counted from 1; 0 for 0",
    "finitef": "Whether x is neither infinite nor NaN",
    "float_as_int": "The bits of x as an integer",
    "float_as_uint": "The bits of x as an integer",
    "floor": "Largest whole number not above x",
    "fma": "x * y + z rounded once",
    "fmod": "Remainder of x / y truncated, with the sign of x",
    "hadd": "(x + y) / 2 rounded down, without overflow",
    "hiloint2double": "The double with high bits x and low bits y",
    "hypot": "sqrt(x * x + y * y) without overflow",
    "ilogb": "Exponent of x as an integer",
    "int_as_float": "The float with the bits x",
    "isfinited": "Whether x is neither infinite nor NaN",
    "isinf": "Whether x is infinite",
    "isnan": "Whether x is NaN",
    "j0": "Bessel function of the first kind of order 0",
    "j1": "Bessel function of the first kind of order 1",
    "jn": "Bessel function of the first kind of order x at y",
    "ldexp": "x * 2**y",
    "lgamma": "Logarithm of the magnitude of the gamma function",
    "llrint": "x rounded to the nearest integer, ties to even",
    "llround": "x rounded to the nearest integer, ties away from 0",
    "log": "Natural logarithm of x",
    "log10": "Logarithm of x to base 10",
    "log1p": "log(1 + x), exact near 0",
    "log2": "Logarithm of x to base 2",
    "logb": "Exponent of x as a float",
    "longlong_as_double": "The double with the bits x",
    "mul24": "Low 32 bits of the product of the low 24 bits of x and y",
    "mulhi": "High half of the product of x and y",
    "nearbyint": "x rounded to a whole number, ties to even",
    "nextafter": "The number next to x in the direction of y",
    "norm3d": "Euclidean norm of three components",
    "norm4d": "Euclidean norm of four components",
    "normcdf": "Cumulative distribution function of the standard normal distribution",
    "normcdfinv": "Inverse of normcdf",
    "popc": "Number of set bits of x",
    "pow": "x to the power of y",
    "rcbrt": "1 / cbrt(x)",
    "rcp64h": "The high 32 bits of 1 / x, as a double",
    "remainder": "x - n * y for the whole n nearest to x / y",
    "rhadd": "(x + y + 1) / 2 rounded down, without overflow",
    "rhypot": "1 / hypot(x, y)",
    "rint": "x rounded to a whole number, ties to even",
    "rnorm3d": "1 / norm3d(x, y, z)",
    "rnorm4d": "1 / norm4d(x, y, z, w)",
    "round": "x rounded to a whole number, ties away from 0",
    "rsqrt": "1 / sqrt(x)",
    "rsqrt_rn": "1 / sqrt(x) rounded to nearest",
    "sad": "abs(x - y) + z",
    "saturatef": "x limited to 0...1, NaN as 0",
    "scalbn": "x * 2**y",
    "signbit": "1 where the sign bit of x is set, else 0",
    "sin": "Sine of x in radians",
    "sinh": "Hyperbolic sine of x",
    "sinpi": "Sine of pi times x",
    "sqrt": "Square root of x",
    "tan": "Tangent of x in radians",
    "tanh": "Hyperbolic tangent of x",
    "tgamma": "Gamma function of x",
    "trunc": "x without its fraction",
    "uint_as_float": "The float with the bits x",
    "y0": "Bessel function of the second kind of order 0",
    "y1": "Bessel function of the second kind of order 1",
    "yn": "Bessel function of the second kind of order x at y",
}
_ROUNDED = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "fma": "x * y + z",
    "rcp": "1 / x",
    "sqrt": "Square root of x",
}
_DIRECTIONS = {
    "rn": "to nearest, ties to even",
    "rz": "toward 0",
    "rd": "down",
    "ru": "up",
}


def _phrase(function: str) -> str:
    if function in _PHRASES:
        return _PHRASES[function]
    if function.startswith("fast_"):
        return f"Fast form of {function[5:-1]}"
    stem, _, direction = function.rpartition("_")
    if stem in _ROUNDED:
        return f"{_ROUNDED[stem]} rounded {_DIRECTIONS[direction]}"
    return f"Conversion rounded {_DIRECTIONS[direction]}"


_TIES = ("ceil", "floor", "llrint", "llround", "nearbyint", "rint", "round", "trunc")
_SAMPLES = {
    **{name: ("2.5",) for name in _TIES},
    "acosh": ("1.5",),
    "hiloint2double": ("0x3FF00000", "0"),
    "int_as_float": ("0x3F800000",),
    "longlong_as_double": ("0x3FF0000000000000",),
    "uint_as_float": ("0x3F800000",),
}


def _sample(function: str, types: Sequence[DType]) -> list[str]:
    """Arguments for an example call: numbers where those take the type, else 0-d values of it."""
    usual = [floats if ty.is_floating() else integers for ty, floats, integers in zip(
        types, ("0.6", "0.3", "0.2", "0.1"), ("6", "3", "1", "2"), strict=False)]  # fmt: skip
    numbers = _SAMPLES.get(function, usual)
    plain = all(ty in (float32, int32) for ty in types)
    return [
        number if plain or ty is float32 else f"tl.full((), {number}, tl.{ty.name.replace('fp', 'float')})"
        for number, ty in zip(numbers, types, strict=True)
    ]


def describe_function(function: str, variants: Sequence[tuple[tuple[str, ...], str]]) -> str:
    """The docstring of ``libdevice.<function>``: what it gives, and for which types.

    Raises KeyError for a function that has no sentence.
    """
    lists = [
        f"({', '.join(dtype_named(a).name for a in arguments)}) -> {dtype_named(result).name}"
        for arguments, result in variants
    ]
    given = _sample(function, [dtype_named(a) for a in variants[0][0]])
    example = f">>> tl.extra.libdevice.{function}({', '.join(given)})"
    return f"{_phrase(function)}, per element.\n\nTypes: {'; '.join(lists)}.\n\n{example}"
