"""Special functions against mpmath (accuracy), known special values, and every float format."""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics import special
from tritium.numerics.cast import cast
from tritium.numerics.convert import narrow
from tritium.numerics.formats import FLOAT_FORMATS, FORMATS


def uniform(low, high):
    return lambda rng, n: rng.uniform(low, high, n)


def logarithmic(low, high):
    """Magnitudes from 2**low to 2**high."""
    return lambda rng, n: 2.0 ** rng.uniform(low, high, n)


def around(center, width):
    return lambda rng, n: center + width * rng.standard_normal(n)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def inverse_erfc(z):
    if z > 0.1:
        return mp.erfinv(1 - z)
    y = mp.sqrt(-mp.log(z))
    for _ in range(80):
        step = (mp.log(mp.erfc(y)) - mp.log(z)) * erfcx(y) * mp.sqrt(mp.pi) / 2
        y += step
        if abs(step) < mp.mpf(10) ** -40 * abs(y):
            break
    return y


def log_gamma(x):
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


# NumPy's own functions are within 1.2 ulp since 2.0; the vector loops of 1.26 promise 4.
NUMPY = 1.2 if int(np.__version__.split(".")[0]) >= 2 else 4

# name: (reference, bound on the f64 error in ulp, samplers of the argument)
UNARY = {
    "exp": (mp.exp, NUMPY, [uniform(-700, 700), logarithmic(-40, 3)]),
    "exp2": (lambda x: mp.power(2, x), NUMPY, [uniform(-1000, 1000), logarithmic(-40, 3)]),
    "exp10": (lambda x: mp.power(10, x), NUMPY, [uniform(-300, 300)]),
    "expm1": (mp.expm1, NUMPY, [logarithmic(-40, 9), uniform(-40, 2)]),
    "log": (mp.log, NUMPY, [logarithmic(-1000, 1000), around(1, 0.01)]),
    "log2": (lambda x: mp.log(x, 2), NUMPY, [logarithmic(-1000, 1000), uniform(0.9, 1.1)]),
    "log10": (mp.log10, NUMPY, [logarithmic(-1000, 1000), uniform(0.9, 1.1)]),
    "log1p": (mp.log1p, NUMPY, [logarithmic(-60, 60), uniform(-0.99, 0)]),
    "sin": (mp.sin, NUMPY, [around(0, 10), logarithmic(-40, 1000)]),
    "cos": (mp.cos, NUMPY, [around(0, 10), logarithmic(-40, 1000)]),
    "tan": (mp.tan, NUMPY, [around(0, 10), logarithmic(-40, 1000)]),
    "sinpi": (lambda x: mp.sin(mp.pi * x), 2, [uniform(-20, 20), logarithmic(-60, 20)]),
    "cospi": (lambda x: mp.cos(mp.pi * x), 2, [uniform(-20, 20), logarithmic(-60, 20)]),
    "asin": (mp.asin, NUMPY, [uniform(-1, 1)]),
    "acos": (mp.acos, NUMPY, [uniform(-1, 1)]),
    "atan": (mp.atan, NUMPY, [around(0, 3), logarithmic(-40, 60)]),
    "sinh": (mp.sinh, NUMPY, [around(0, 5), logarithmic(-40, 9)]),
    "cosh": (mp.cosh, NUMPY, [around(0, 5)]),
    "tanh": (mp.tanh, NUMPY, [around(0, 2), logarithmic(-40, 3)]),
    "asinh": (mp.asinh, NUMPY, [around(0, 5), logarithmic(-40, 100)]),
    "acosh": (mp.acosh, NUMPY, [lambda rng, n: 1 + 2.0 ** rng.uniform(-30, 100, n)]),
    "atanh": (mp.atanh, NUMPY, [uniform(-1, 1)]),
    "cbrt": (mp.cbrt, NUMPY, [logarithmic(-1000, 1000)]),
    "rcbrt": (lambda x: 1 / mp.cbrt(x), NUMPY + 1, [logarithmic(-1000, 1000)]),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), 2, [logarithmic(-1000, 1000)]),
    "erf": (mp.erf, 2, [uniform(-6, 6), logarithmic(-60, 0)]),
    "erfc": (mp.erfc, 4, [uniform(-6, 26.5), uniform(-1, 2)]),
    "erfcx": (erfcx, 3, [uniform(-26, 60), uniform(-1, 2)]),
    "erfinv": (mp.erfinv, 3, [uniform(-1, 1), logarithmic(-80, 0)]),
    "erfcinv": (inverse_erfc, 4, [uniform(0, 2), logarithmic(-1000, -1)]),
    "normcdf": (lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, 6, [uniform(-37, 8), uniform(-3, 3)]),
    "normcdfinv": (lambda p: -mp.sqrt(2) * inverse_erfc(2 * p), 4, [uniform(0, 1), logarithmic(-1000, -1)]),
    "lgamma": (
        log_gamma,
        6,
        [
            uniform(0, 12),
            logarithmic(-300, 0),
            logarithmic(3, 1000),
            around(1, 0.01),
            around(2, 0.01),
            uniform(-2.2, 0),
        ],
    ),
    "tgamma": (
        mp.gamma,
        7,
        [uniform(0, 20), uniform(12, 171.6), uniform(-20, 0), uniform(-170, -12), logarithmic(-1000, 0)],
    ),
    "j0": (lambda x: mp.besselj(0, x), 10, [uniform(0, 8), logarithmic(-40, 3)]),
    "j1": (lambda x: mp.besselj(1, x), 12, [uniform(0, 8), logarithmic(-40, 3)]),
    "y0": (lambda x: mp.bessely(0, x), 6, [uniform(0, 8), logarithmic(-40, 3)]),
    "y1": (lambda x: mp.bessely(1, x), 6, [uniform(0, 8), logarithmic(-40, 3)]),
    "cyl_bessel_i0": (lambda x: mp.besseli(0, x), 6, [uniform(0, 20), uniform(8, 713)]),
    "cyl_bessel_i1": (lambda x: mp.besseli(1, x), 7, [uniform(0, 20), uniform(8, 713)]),
}


def ulp_error(got, exact, fmt):
    """|got - exact| in units of the last place of `exact`."""
    exponent = max(int(mp.floor(mp.log(abs(exact), 2))), 1 - fmt.bias)
    return abs(mp.mpf(got) - exact) / mp.mpf(2) ** (exponent - fmt.mantissa_bits)


def check_accuracy(got, exact, name, bound):
    fmt = FORMATS[name]
    for value, want in zip(np.asarray(got, np.float64).tolist(), exact):
        if abs(want) > fmt.max_finite * 0.999 or abs(want) < fmt.min_normal:
            continue
        assert ulp_error(value, want, fmt) <= bound, (value, float(want), float(ulp_error(value, want, fmt)))


@pytest.mark.parametrize("name", UNARY)
def test_float64_accuracy(name):
    reference, bound, samplers = UNARY[name]
    with mp.workprec(200):
        for seed, sampler in enumerate(samplers):
            x = sampler(np.random.default_rng(seed), 80)
            check_accuracy(
                getattr(special, name)(x, "f64"), [reference(mp.mpf(v)) for v in x.tolist()], "f64", bound
            )


@pytest.mark.parametrize("name", UNARY)
def test_float32_is_rounded_once(name):
    reference, _, samplers = UNARY[name]
    with mp.workprec(200), np.errstate(all="ignore"):
        for seed, sampler in enumerate(samplers):
            x = sampler(np.random.default_rng(seed + 50), 60).astype(np.float32)
            x = x[
                np.isfinite(x)
                & (x != 0)
                & ((np.abs(x) < 1) | (name not in ("asin", "acos", "atanh", "erfinv")))
            ]
            got = getattr(special, name)(x, "f32")
            assert got.dtype == np.float32
            check_accuracy(got, [reference(mp.mpf(v)) for v in x.tolist()], "f32", 0.501)


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_beyond_8_is_accurate_against_its_envelope(order):
    x = logarithmic(3, 20)(np.random.default_rng(order), 150)
    with mp.workprec(200):
        for name, reference in ((f"j{order}", mp.besselj), (f"y{order}", mp.bessely)):
            got = getattr(special, name)(x, "f64")
            for value, v in zip(got.tolist(), x.tolist()):
                assert abs(value - reference(order, mp.mpf(v))) <= 2.5 * 2.0**-52 * math.sqrt(
                    2 / (math.pi * v)
                )


def test_bessel_of_higher_order():
    rng = np.random.default_rng(0)
    n = rng.integers(0, 40, 200).astype(np.int32)
    x = np.concatenate([rng.uniform(0, 60, 150), n[150:] * rng.uniform(0.02, 1, 50)])
    with mp.workprec(200):
        j, y = special.jn(n, x, "f64"), special.yn(n, x, "f64")
        for k in range(len(x)):
            exact = mp.besselj(int(n[k]), mp.mpf(x[k])), mp.bessely(int(n[k]), mp.mpf(x[k]))
            assert abs(j[k] - exact[0]) <= 40 * 2.0**-52 * abs(exact[0]) + 2 * 2.0**-52 * (
                abs(exact[0]) > 1e-3
            )
            if abs(exact[1]) < 1e300:
                assert abs(y[k] - exact[1]) <= 60 * 2.0**-52 * abs(exact[1]) + 2.0**-51
    assert special.jn(np.int32(3), np.float64(-2.0), "f64") == -special.jn(
        np.int32(3), np.float64(2.0), "f64"
    )
    assert np.isnan(special.jn(np.int32(-1), np.float64(2.0), "f64")) and np.isnan(
        special.yn(np.int32(2), np.float64(-1), "f64")
    )
    assert (
        special.yn(np.int32(5), np.float64(0), "f64") == -np.inf
        and special.jn(np.int32(5), np.float64(0), "f64") == 0
    )
    assert np.isnan(special.jn(np.int32(2**31 - 1), np.float64(3.0), "f64"))


@pytest.mark.parametrize("pair", [("pow", mp.power), ("hypot", mp.hypot), ("atan2", mp.atan2)])
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_two_arguments(pair, name):
    rng = np.random.default_rng(0)
    x, y = (np.exp(rng.uniform(-5, 5, 150)).astype(FORMATS[name].storage) for _ in range(2))
    if pair[0] == "atan2":
        x = x * rng.choice([-1, 1], 150).astype(x.dtype)
    got = getattr(special, pair[0])(x, y, name)
    with mp.workprec(200):
        exact = [pair[1](mp.mpf(a), mp.mpf(b)) for a, b in zip(x.tolist(), y.tolist())]
        check_accuracy(got, exact, name, max(NUMPY, 1.5) if name == "f64" else 0.501)


def test_norms():
    rng = np.random.default_rng(0)
    parts = [np.exp(rng.uniform(-3, 3, 100)) for _ in range(4)]
    with mp.workprec(200):
        exact = [mp.sqrt(sum(mp.mpf(v) ** 2 for v in row)) for row in zip(*(p.tolist() for p in parts))]
        check_accuracy(special.norm(*parts, fmt="f64"), exact, "f64", 2)
        check_accuracy(special.rnorm(*parts, fmt="f64"), [1 / e for e in exact], "f64", 3)
    big, tiny = np.float64(1e308), np.float64(3e-320)
    assert special.hypot(big, big, "f64") == np.hypot(1e308, 1e308)
    assert special.norm(tiny, tiny, tiny, fmt="f64") > 5e-320 and special.rhypot(big, big, "f64") > 0
    assert special.hypot(np.float64(np.inf), np.float64(np.nan), "f64") == np.inf
    assert special.rhypot(np.float64(np.nan), np.float64(-np.inf), "f64") == 0
    assert special.rhypot(np.float64(0), np.float64(0), "f64") == np.inf


INF, NAN = math.inf, math.nan
SPECIAL_VALUES = {
    "exp": [(-INF, 0), (INF, INF), (0, 1), (-0.0, 1), (1000, INF), (-1000, 0)],
    "exp2": [(k, 2.0**k) for k in (-20, -1, 0, 1, 10, 30)] + [(-INF, 0)],
    "exp10": [(k, 10.0**k) for k in (0, 1, 2, 5, 10)] + [(-INF, 0), (INF, INF)],
    "expm1": [(-INF, -1), (0.0, 0.0), (-0.0, -0.0)],
    "log": [(0, -INF), (-0.0, -INF), (-1, NAN), (1, 0.0), (INF, INF)],
    "log2": [(2.0**k, k) for k in (-20, -1, 0, 3, 30)] + [(0, -INF), (-1, NAN)],
    "log10": [(10.0**k, k) for k in (0, 1, 5, 10)] + [(0, -INF)],
    "log1p": [(-1, -INF), (-2, NAN), (-0.0, -0.0)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN)],
    "cos": [(0, 1), (-INF, NAN)],
    "sinpi": [
        (0.5, 1),
        (1.5, -1),
        (1, 0.0),
        (-1, -0.0),
        (2, 0.0),
        (-0.0, -0.0),
        (2.0**60, 0.0),
        (INF, NAN),
        (-0.5, -1),
        (0.25, math.sqrt(0.5)),
    ],
    "cospi": [(0.5, 0.0), (1, -1), (2, 1), (-1.5, 0.0), (2.0**60, 1), (INF, NAN), (1.25, -math.sqrt(0.5))],
    "asin": [(1, math.pi / 2), (2, NAN), (-0.0, -0.0)],
    "acos": [(1, 0.0), (-2, NAN)],
    "tanh": [(INF, 1), (-INF, -1), (-0.0, -0.0)],
    "atanh": [(1, INF), (-1, -INF), (2, NAN)],
    "acosh": [(1, 0.0), (0.5, NAN), (INF, INF)],
    "rsqrt": [(0, INF), (-0.0, -INF), (INF, 0), (-1, NAN), (4, 0.5)],
    "cbrt": [(-8, -2), (27, 3), (-0.0, -0.0)],
    "rcbrt": [(-8, -0.5), (0, INF), (-0.0, -INF), (INF, 0)],
    "erf": [(INF, 1), (-INF, -1), (0.0, 0.0), (-0.0, -0.0), (7, 1)],
    "erfc": [(INF, 0), (-INF, 2), (0, 1)],
    "erfcx": [(INF, 0), (-INF, INF), (0, 1), (-30, INF)],
    "erfinv": [(1, INF), (-1, -INF), (1.5, NAN), (0.0, 0.0), (-0.0, -0.0)],
    "erfcinv": [(0, INF), (2, -INF), (-1, NAN), (3, NAN), (1, 0.0)],
    "normcdf": [(INF, 1), (-INF, 0), (0, 0.5)],
    "normcdfinv": [(0, -INF), (1, INF), (0.5, 0.0), (-1, NAN), (2, NAN)],
    "lgamma": [(1, 0.0), (2, 0.0), (0, INF), (-3, INF), (INF, INF), (-INF, INF)],
    "tgamma": [
        (0.0, INF),
        (-0.0, -INF),
        (-1, NAN),
        (-INF, NAN),
        (INF, INF),
        (5, 24),
        (1, 1),
        (2, 1),
        (200, INF),
        (0.5, math.sqrt(math.pi)),
    ],
    "j0": [(0, 1), (INF, 0), (-INF, 0)],
    "j1": [(0.0, 0.0), (-0.0, -0.0), (INF, 0)],
    "y0": [(0, -INF), (-1, NAN), (INF, 0)],
    "y1": [(0, -INF), (-1, NAN), (INF, 0), (1e-310, -INF)],
    "cyl_bessel_i0": [(0, 1), (INF, INF), (-INF, INF)],
    "cyl_bessel_i1": [(0.0, 0.0), (-INF, -INF)],
    "logb": [(0, -INF), (INF, INF), (-INF, INF), (8, 3), (0.75, -1), (-3, 1)],
    "saturate": [(NAN, 0.0), (-0.0, 0.0), (2, 1), (0.25, 0.25), (-INF, 0)],
    "rint": [(0.5, 0.0), (1.5, 2), (2.5, 2), (-0.5, -0.0), (INF, INF)],
    "round_half_away": [(0.5, 1), (-2.5, -3), (2.4, 2), (-0.3, -0.0), (INF, INF), (0.49999999999999994, 0.0)],
    "trunc": [(-1.9, -1), (1.9, 1), (-0.3, -0.0)],
}


@pytest.mark.parametrize("name", SPECIAL_VALUES)
def test_special_values(name):
    cases = SPECIAL_VALUES[name] + ([(NAN, NAN)] if name != "saturate" else [])
    x = np.array([case[0] for case in cases], np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = getattr(special, name)(x, "f64")
    for (argument, want), value in zip(cases, got.tolist()):
        if math.isnan(want):
            assert math.isnan(value), argument
        else:
            assert math.isclose(value, want, rel_tol=4e-16, abs_tol=0), (argument, value)
            if want == 0 or name in ("exp2", "log2"):
                assert value == want
            if want == 0 and isinstance(want, float):
                assert math.copysign(1, value) == math.copysign(1, want), argument


POW_CASES = [
    (1, NAN, 1),
    (NAN, 0, 1),
    (-1, INF, 1),
    (-2, 3, -8),
    (-2, 0.5, NAN),
    (0, -1, INF),
    (-0.0, -1, -INF),
    (-0.0, -2, INF),
    (0.5, -INF, INF),
    (2, -INF, 0),
    (-INF, 3, -INF),
    (-INF, -3, -0.0),
    (INF, -1, 0),
    (0, 0, 1),
    (-8, 1 / 3, NAN),
    (10, 2, 100),
]


def test_pow_special_values():
    for name in ("f32", "f64"):
        x, y, want = (np.array(column, FORMATS[name].storage) for column in zip(*POW_CASES))
        got = special.pow(x, y, name)
        assert ((got == want) | (np.isnan(got) & np.isnan(want))).all(), got
    assert (
        special.powi(np.float32(-3), np.int32(3), "f32") == -27
        and special.powi(np.float64(2), np.int32(-2), "f64") == 0.25
    )


def test_remainder_and_fdim():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.standard_normal(3000) * 10.0 ** rng.integers(-5, 6, 3000), rng.integers(-50, 50, 3000) / 2]
    )
    y = np.concatenate([rng.standard_normal(3000), rng.integers(1, 20, 3000) / 2])
    got = special.remainder(x, y, "f64")
    assert [v == math.remainder(a, b) for v, a, b in zip(got.tolist(), x.tolist(), y.tolist())].count(
        False
    ) == 0
    edge = [
        (5e-324, 1.5e-323),
        (1e-310, 3e-311),
        (1.7e308, 1e308),
        (1.6e308, 1.7e308),
        (3.0, INF),
        (-4.0, 2.0),
        (7.0, -2.0),
    ]
    for a, b in edge:
        value = special.remainder(np.float64(a), np.float64(b), "f64").item()
        assert value == math.remainder(a, b) and math.copysign(1, value) == math.copysign(
            1, math.remainder(a, b)
        ), (a, b)
    for a, b in ((INF, 1.0), (1.0, 0.0), (NAN, 1.0), (1.0, NAN)):
        assert math.isnan(special.remainder(np.float64(a), np.float64(b), "f64"))
    assert (
        special.fdim(np.float32(3), np.float32(1), "f32") == 2
        and special.fdim(np.float32(1), np.float32(3), "f32") == 0
    )
    assert (
        np.isnan(special.fdim(np.float32(NAN), np.float32(3), "f32"))
        and special.fdim(np.float32(INF), np.float32(INF), "f32") == 0
    )


def test_bits_and_exponents():
    assert special.copysign(np.float32(3), np.float32(-0.0), "f32") == -3
    assert special.nextafter(np.float32(1), np.float32(2), "f32") == np.float32(1) + np.float32(2.0**-23)
    assert special.ldexp(np.float32(1.5), np.int32(-149), "f32") == np.float32(2.0**-148)
    assert special.ldexp(np.float64(1), np.int32(2**31 - 1), "f64") == np.inf
    got = special.ilogb(np.array([0, NAN, INF, 8, 2.0**-149, -3], np.float32), "f32")
    assert got.dtype == np.int32 and got.tolist() == [-(2**31), -(2**31), 2**31 - 1, 3, -149, 1]


@pytest.mark.parametrize("name", [n for n in FLOAT_FORMATS if FORMATS[n].bits <= 16 and n != "f8e4b15"])
def test_narrow_formats_are_rounded_once_from_float64(name):
    fmt = FORMATS[name]
    x = np.arange(1 << fmt.bits, dtype=fmt.pattern).view(fmt.storage)
    wide = cast(x, name, "f64")
    for op in ("exp", "tanh", "erf", "log", "rsqrt"):
        got = getattr(special, op)(x, name)
        want = narrow(np.asarray(getattr(special, op)(wide, "f64")), fmt)
        assert got.dtype == fmt.storage and got.tobytes() == want.tobytes()


def test_large_arrays_agree_with_scipy():
    x = np.random.default_rng(0).uniform(-6, 6, 60000)
    for ours, theirs in (
        (special.erf, scipy.special.erf),
        (special.erfcx, scipy.special.erfcx),
        (special.j0, scipy.special.j0),
        (special.lgamma, scipy.special.gammaln),
        (special.cyl_bessel_i1, scipy.special.i1),
    ):
        got, want = ours(x.reshape(100, 600), "f64"), theirs(x).reshape(100, 600)
        assert np.allclose(got, want, rtol=1e-12, atol=1e-13)


def test_shapes_and_no_warnings():
    points = np.array([0.0, -0.0, 1e-40, -3.3, 1e30, INF, -INF, NAN])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in FLOAT_FORMATS:
            x = np.asarray(cast(points, "f64", name) if name != "f64" else points)
            for op in UNARY:
                assert getattr(special, op)(x, name).shape == (8,)
            assert special.pow(x[:, None], x, name).shape == (8, 8)
            assert isinstance(special.exp(x[0], name), np.ndarray) and special.exp(x[0], name).shape == ()
        special.jn(np.arange(8, dtype=np.int32), points, "f64")
        special.yn(np.arange(8, dtype=np.int32)[:, None], points, "f64")
    assert special.exp(np.zeros((0, 3), np.float32), "f32").shape == (0, 3)


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_any_float32_against_the_c_library(x):
    for name, reference in (("exp", math.exp), ("tanh", math.tanh), ("erf", math.erf), ("atan", math.atan)):
        try:
            want = np.float32(reference(x))
        except OverflowError:
            want = np.float32(INF)
        got = getattr(special, name)(np.float32(x), "f32")
        with np.errstate(all="ignore"):
            near = {
                float(want),
                float(np.nextafter(want, np.float32(INF))),
                float(np.nextafter(want, np.float32(-INF))),
            }
        assert got.item() in near
