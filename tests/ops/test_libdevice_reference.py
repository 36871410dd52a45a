"""Every function of the device library, called in a kernel, against mpmath, exact fractions, bits and Python integers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.ir.types import dtype_named
from tritium.numerics.formats import format_of
from tritium.numerics.libdevice import LIBDEVICE, Variant
from tritium.ops.storage import storage_dtype

mp = mpmath.mp
CASES = [(name, v) for name, variants in LIBDEVICE.items() for v in variants]


@triton.jit
def _call1(f: tl.constexpr, a, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, f(tl.load(a + lanes)))


@triton.jit
def _call2(f: tl.constexpr, a, b, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, f(tl.load(a + lanes), tl.load(b + lanes)))


@triton.jit
def _call3(f: tl.constexpr, a, b, c, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, f(tl.load(a + lanes), tl.load(b + lanes), tl.load(c + lanes)))


@triton.jit
def _call4(f: tl.constexpr, a, b, c, d, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, f(tl.load(a + lanes), tl.load(b + lanes), tl.load(c + lanes), tl.load(d + lanes)))


KERNELS = {1: _call1, 2: _call2, 3: _call3, 4: _call4}


def in_kernel(name: str, variant: Variant, inputs: list[np.ndarray]) -> np.ndarray:
    out = np.zeros(inputs[0].size, storage_dtype(dtype_named(variant.result)))
    function = getattr(tl.extra.libdevice, name)
    KERNELS[len(inputs)][(1,)](function, *inputs, out, inputs[0].size)
    return out


# ---- real functions: mpmath, to a few units in the last place -----------------------------------------------------

REAL: dict[str, Callable[..., Any]] = {
    **{n: getattr(mpmath, n) for n in ("exp", "expm1", "sin", "cos", "tan", "sinpi", "cospi", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "hypot", "sqrt", "log1p", "atan2")},
    **{n: getattr(mpmath, f) for n, f in {"log": "log", "log10": "log10", "tgamma": "gamma", "normcdf": "ncdf"}.items()},
    "exp2": lambda x: mpmath.power(2, x), "exp10": lambda x: mpmath.power(10, x), "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x), "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rcbrt": lambda x: mpmath.sign(x) / mpmath.cbrt(abs(x)), "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "erfcinv": lambda x: mpmath.erfinv(1 - x), "normcdfinv": lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))), "j0": mpmath.j0, "j1": mpmath.j1,
    "y0": lambda x: mpmath.bessely(0, x), "y1": lambda x: mpmath.bessely(1, x), "jn": lambda n, x: mpmath.besselj(int(n), x),
    "yn": lambda n, x: mpmath.bessely(int(n), x), "cyl_bessel_i0": lambda x: mpmath.besseli(0, x),
    "cyl_bessel_i1": lambda x: mpmath.besseli(1, x), "pow": lambda x, y: mpmath.power(x, y), "rhypot": lambda x, y: 1 / mpmath.hypot(x, y),
    "norm3d": lambda *v: mpmath.norm(v), "norm4d": lambda *v: mpmath.norm(v), "rnorm3d": lambda *v: 1 / mpmath.norm(v),
    "rnorm4d": lambda *v: 1 / mpmath.norm(v), "fast_dividef": lambda x, y: x / y, "rsqrt_rn": lambda x: 1 / mpmath.sqrt(x),
}  # fmt: skip
REAL |= {
    f"fast_{n}f": REAL[n]
    for n in ("sin", "cos", "tan", "tanh", "exp", "exp10", "log", "log2", "log10", "pow")
}
ANYWHERE = [0.3, -0.75, 1.5, 2.6, -3.4, 0.01, 5.25]
POSITIVE = [abs(p) for p in ANYWHERE]
DOMAIN = {
    **{n: [0.3, -0.75, 0.95, -0.01, 0.5, 0.125, -0.6] for n in ("asin", "acos", "atanh", "erfinv")},
    **{n: [0.3, 0.75, 0.95, 0.01, 0.5, 0.125, 0.6] for n in ("erfcinv", "normcdfinv")},
    **{n: [0.3, -0.75, 1.5, 2.6, -0.5, 0.01, 5.25] for n in ("log1p",)},
    **{n: POSITIVE for n in ("log", "log2", "log10", "sqrt", "rsqrt", "rsqrt_rn", "y0", "y1", "fast_logf", "fast_log2f", "fast_log10f", "tgamma", "lgamma")},
    "acosh": [1.3, 1.75, 1.5, 2.6, 3.4, 1.01, 5.25],
}  # fmt: skip


def numbers(name: str, position: int, fmt: str) -> np.ndarray:
    kind = storage_dtype(dtype_named(fmt))
    if kind.kind in "iu":
        return np.array([1, 2, 3, 0, 4, 2, 1], kind)
    usual = POSITIVE if name in ("pow", "fast_powf", "yn") else ANYWHERE
    points = DOMAIN.get(name, usual)
    return np.array(points[position:] + points[:position]).astype(kind)


@pytest.mark.parametrize(("name", "variant"), [c for c in CASES if c[0] in REAL],
                         ids=[f"{n}-{'-'.join(v.arguments)}" for n, v in CASES if n in REAL])  # fmt: skip
def test_real_functions(name, variant):
    inputs = [numbers(name, p, fmt) for p, fmt in enumerate(variant.arguments)]
    got = in_kernel(name, variant, inputs)
    fmt = format_of(variant.result)
    with mpmath.workprec(250):
        for lane, value in enumerate(got.tolist()):
            want = mpmath.mpf(REAL[name](*(mpmath.mpf(x[lane].item()) for x in inputs)))
            ulp = (
                mpmath.power(2, max(mpmath.floor(mpmath.log(abs(want), 2)), -126) - fmt.mantissa_bits)
                if want
                else 0
            )
            assert abs(mpmath.mpf(value) - want) <= (1 if variant.result == "f32" else 8) * ulp, (
                lane,
                value,
                want,
            )


# ---- rounded arithmetic: exact fractions --------------------------------------------------------------------------

EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
}


def neighbours(value: float, kind: Any) -> tuple[Fraction, Fraction]:
    x = kind.type(value)
    return tuple(Fraction(float(np.nextafter(x, kind.type(side)))) for side in (-np.inf, np.inf))


def is_rounded(result: float, exact: Fraction, mode: str, kind: Any) -> bool:
    """Whether `result` is `exact` rounded in `mode`."""
    below, above = neighbours(result, kind)
    r = Fraction(result)
    if mode == "rz":
        mode = "rd" if exact >= 0 else "ru"
    if mode == "rd":
        return r <= exact < above
    if mode == "ru":
        return below < exact <= r
    return abs(r - exact) <= min(abs(below - exact), abs(above - exact))


ROUNDED = [(n, v) for n, v in CASES if n.rpartition("_")[0] in (*EXACT, "sqrt") or n == "fma"]


@pytest.mark.parametrize(("name", "variant"), ROUNDED, ids=[f"{n}-{v.result}" for n, v in ROUNDED])
def test_rounded_arithmetic(name, variant):
    kind = storage_dtype(dtype_named(variant.result))
    rng = np.random.default_rng(len(name))
    inputs = [
        (rng.standard_normal(64) * 10.0 ** rng.integers(-6, 6, 64)).astype(kind) for _ in variant.arguments
    ]
    operation, _, mode = name.rpartition("_") if "_" in name else (name, "", "rn")
    if operation == "sqrt":
        inputs = [np.abs(inputs[0])]
    for lane, result in enumerate(in_kernel(name, variant, inputs).tolist()):
        given = [Fraction(x[lane].item()) for x in inputs]
        if operation == "sqrt":  # compare squares
            below, above = neighbours(result, kind)
            r, x = Fraction(result), given[0]
            low = (below + r) / 2 if mode == "rn" else below
            high = (r + above) / 2 if mode == "rn" else above
            assert {"rn": low**2 <= x <= high**2, "ru": low**2 < x <= r**2}.get(mode, r**2 <= x < high**2), (
                x,
                result,
            )
        else:
            assert is_rounded(result, EXACT[operation](*given), mode, kind), (given, result)


# ---- whole numbers, integers, predicates, bits: Python ------------------------------------------------------------


def signed(x: int, bits: int) -> int:
    return (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def half_away(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x)


def leading_zeros(x: int, bits: int) -> int:
    return bits - (x % (1 << bits)).bit_length()


def next_in_f(x: float, y: float, kind: Any) -> float:
    return float(np.nextafter(kind.type(x), kind.type(y)))


def picked(x: int, y: int, z: int) -> int:
    """Four bytes of the eight of (x, y), chosen by the low three bits of each nibble of z."""
    both = (x % 2**32) | (y % 2**32) << 32
    return signed(sum((both >> 8 * (z >> 4 * i & 7) & 255) << 8 * i for i in range(4)), 32)


def limited(x: float, bits: int, is_signed: bool) -> int:
    """A whole number as an integer that saturates; NaN is 0; the bits as a signed integer."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isnan(x):
        return 0
    return signed(int(min(max(x, low), high)), bits)


def bits_as(source: str, target: str) -> Callable[[Any], Any]:
    return lambda x: struct.unpack("<" + target, struct.pack("<" + source, x))[0]


FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.49,
    -7.75,
    1e30,
    -1e-30,
    math.inf,
    -math.inf,
    math.nan,
    2.0**31,
    -(2.0**63),
    4e9,
]
WIDTH = {"int": (32, True), "uint": (32, False), "ll": (64, True), "ull": (64, False)}
WHOLE = {"rn": lambda x: float(np.rint(x)), "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
PYTHON: dict[str, Callable[..., Any]] = {
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
    "round": lambda x: half_away(x) if math.isfinite(x) else x,
    "llrint": lambda x: limited(float(np.rint(x)), 64, True),
    "llround": lambda x: limited(half_away(x) if math.isfinite(x) else x, 64, True),
    "logb": lambda x: math.nan if math.isnan(x) else math.inf if math.isinf(x) else -math.inf if x == 0 else float(math.frexp(x)[1] - 1),
    "isnan": math.isnan, "isinf": math.isinf, "finitef": math.isfinite, "isfinited": math.isfinite,
    "signbit": lambda x: int(math.copysign(1, x) < 0), "saturatef": lambda x: 0.0 if math.isnan(x) else min(max(0.0, x), 1.0),
    "copysign": math.copysign, "fmod": lambda x, y: math.nan if not math.isfinite(x) or y == 0 or y != y else math.fmod(x, y),
    "remainder": lambda x, y: math.nan if not math.isfinite(x) or y == 0 or y != y else math.remainder(x, y),
    "fdim": lambda x, y: math.nan if x != x or y != y else x - y if x > y else 0.0,
    "float_as_int": bits_as("f", "i"), "float_as_uint": bits_as("f", "i"), "int_as_float": bits_as("i", "f"),
    "uint_as_float": bits_as("I", "f"), "double_as_longlong": bits_as("d", "q"), "longlong_as_double": bits_as("q", "d"),
    "double2hiint": lambda x: bits_as("d", "q")(x) >> 32, "double2loint": lambda x: signed(bits_as("d", "q")(x), 32),
    "hiloint2double": lambda h, low: bits_as("Q", "d")((h % 2**32) << 32 | low % 2**32),
    "byte_perm": picked,
    **{f"{f}2{k}_{m}": (lambda w, b: lambda x: limited(w(x), *b))(WHOLE[m], WIDTH[k])
       for f in ("float", "double") for k in WIDTH for m in WHOLE},
}  # fmt: skip


def low24(x: int, is_signed: bool) -> int:
    return signed(x, 24) if is_signed else x % 2**24


def python_value(name: str, variant: Variant, args: list[Any]) -> Any:
    """What the function gives by its definition, for Python numbers."""
    first = variant.arguments[0]
    bits, is_signed = int(first[1:]), first[0] == "i"
    fit = (lambda v: signed(v, bits)) if is_signed else (lambda v: v % 2**bits)
    x, *rest = args
    y = rest[0] if rest else None
    by_bits = {
        "clz": lambda: leading_zeros(x, bits),
        "popc": lambda: bin(x % 2**bits).count("1"),
        "ffs": lambda: (x & -x).bit_length(),
        "brev": lambda: signed(int(f"{x % 2**bits:0{bits}b}"[::-1], 2), bits),
        "mulhi": lambda: fit(x * y >> bits),
        "mul24": lambda: fit(low24(x, is_signed) * low24(y, is_signed)),
        "hadd": lambda: fit(x + y >> 1),
        "rhadd": lambda: fit(x + y + 1 >> 1),
        "sad": lambda: fit(abs(x - y) + rest[1]),
        "abs": lambda: fit(abs(x)) if first[0] != "f" else abs(x),
    }
    if name in by_bits:
        return by_bits[name]()
    if name == "nextafter":
        return next_in_f(x, y, storage_dtype(dtype_named(first)))
    if name == "ilogb":
        return None if not math.isfinite(x) or x == 0 else math.frexp(x)[1] - 1
    return PYTHON[name](*args)


def spread(fmt: str, position: int) -> np.ndarray:
    """17 numbers of the format, its extremes among them, in an order of their own for each operand."""
    kind = storage_dtype(dtype_named(fmt))
    with np.errstate(over="ignore"):
        if kind.kind == "f":
            values = np.array(FLOATS).astype(kind)
        else:
            info = np.iinfo(kind)
            picks = [
                0,
                1,
                2,
                3,
                7,
                8,
                100,
                0x7531,
                2**24 - 1,
                2**24,
                0x03020100,
                info.max,
                info.max - 1,
                info.min,
                info.min + 1,
                info.max // 3,
                12345,
            ]
            values = np.array(picks, kind)
    return np.roll(values, 5 * position)


BY_PYTHON = [
    (n, v)
    for n, v in CASES
    if n in PYTHON
    or n
    in ("clz", "popc", "ffs", "brev", "mulhi", "mul24", "hadd", "rhadd", "sad", "abs", "nextafter", "ilogb")
]


@pytest.mark.parametrize(
    ("name", "variant"), BY_PYTHON, ids=[f"{n}-{'-'.join(v.arguments)}" for n, v in BY_PYTHON]
)
def test_by_definition(name, variant):
    inputs = [spread(fmt, p) for p, fmt in enumerate(variant.arguments)]
    got = in_kernel(name, variant, inputs)
    for lane, value in enumerate(got.tolist()):
        want = python_value(name, variant, [x[lane].item() for x in inputs])
        if want is None:
            continue
        same = (
            (math.isnan(want) and math.isnan(value))
            if want != want
            else (want == value and (want != 0 or math.copysign(1, want) == math.copysign(1, value)))
        )
        assert same, (lane, [x[lane] for x in inputs], value, want)


SCALED = [(n, v) for n, v in CASES if n in ("ldexp", "scalbn")]


@pytest.mark.parametrize(("name", "variant"), SCALED, ids=[f"{n}-{v.result}" for n, v in SCALED])
def test_scaling_by_powers_of_two(name, variant):
    kind = storage_dtype(dtype_named(variant.result))
    x = np.array([0.75, -1.5, 3.0, 1.0, math.inf, math.nan, -0.0, 1.999], kind)
    n = np.array([0, 3, -4, 5000, 1, 2, 7, -5000], np.int32)
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    np.testing.assert_array_equal(in_kernel(name, variant, [x, n]), want)


WIDENED = [
    (n, v)
    for n, v in CASES
    if n.partition("2")[0] in WIDTH and n.partition("_")[0].endswith(("2float", "2double"))
]
NARROWED = [(n, v) for n, v in CASES if n.startswith("double2float")]


@pytest.mark.parametrize(("name", "variant"), WIDENED + NARROWED, ids=[n for n, _ in WIDENED + NARROWED])
def test_conversions_to_floats(name, variant):
    kind = storage_dtype(dtype_named(variant.result))
    rng = np.random.default_rng(3)
    source = storage_dtype(dtype_named(variant.arguments[0]))
    if source.kind == "f":
        x = rng.standard_normal(64) * 10.0 ** rng.integers(-30, 30, 64)
    else:
        info = np.iinfo(source)
        x = np.concatenate(
            [rng.integers(info.min, info.max, 60, source, True), np.array([0, 1, info.max, info.min], source)]
        )
    mode = name.rpartition("_")[2]
    for lane, value in enumerate(in_kernel(name, variant, [x]).tolist()):
        assert is_rounded(value, Fraction(x[lane].item()), mode, kind), (x[lane], value)


def test_the_high_half_of_a_reciprocal():
    (variant,) = LIBDEVICE["rcp64h"]
    x = np.array([4.0, 3.0, -7.0, 0.1, 1e10, 1.5])
    got = in_kernel("rcp64h", variant, [x])
    assert np.all(got.view(np.uint64) & np.uint64(2**32 - 1) == 0)
    np.testing.assert_allclose(got, 1 / x, rtol=2.0**-19)


def test_every_function_is_tested_here():
    tested = {n for n, _ in [*ROUNDED, *BY_PYTHON, *SCALED, *WIDENED, *NARROWED]} | set(REAL) | {"rcp64h"}
    assert tested == set(LIBDEVICE), sorted(set(LIBDEVICE) ^ tested)
