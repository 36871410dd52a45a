"""Float arithmetic against exact rational arithmetic."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics import floating
from tritium.numerics.cast import cast, patterns_of
from tritium.numerics.formats import FLOAT_FORMATS, FORMATS

NARROW = [name for name in FLOAT_FORMATS if FORMATS[name].bits <= 16]
NEAREST = [name for name in FLOAT_FORMATS if name != "f8e4b15"]


def wide(x, name):
    return np.asarray(x if name == "f64" else cast(x, name, "f64"))


def round_fraction(value, fmt):
    """Exact rational to the nearest value of `fmt`, ties to even (unsigned zero)."""
    if value == 0:
        return 0.0
    a = abs(value)
    exponent = a.numerator.bit_length() - a.denominator.bit_length()
    if Fraction(2) ** exponent > a:
        exponent -= 1
    exponent = max(exponent, 1 - fmt.bias)
    unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
    rounded = round(a / unit) * unit
    if rounded > Fraction(fmt.max_finite):
        rounded = math.inf if fmt.bits > 8 else fmt.max_finite
    return float(rounded) if value > 0 else -float(rounded)


def samples(name, count, seed):
    """Random finite values over the whole exponent range, with subnormals and values close in exponent."""
    fmt = FORMATS[name]
    rng = np.random.default_rng(seed)
    if fmt.bits <= 16:
        x = rng.integers(0, 1 << fmt.bits, count).astype(fmt.pattern).view(fmt.storage)
    else:
        bits = rng.integers(0, 2**63, count, dtype=np.uint64) * 2 + rng.integers(0, 2, count, dtype=np.uint64)
        x = (bits >> np.uint64(64 - fmt.bits)).astype(fmt.pattern).view(fmt.storage)
        near = rng.standard_normal(count // 2).astype(fmt.storage)
        x = np.concatenate([x[: count - count // 2], near])
    values = wide(x, name)
    return x[np.isfinite(values)]


def match(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    equal = (got == want) | (np.isnan(got) & np.isnan(want))
    assert equal.all(), (np.flatnonzero(~equal)[:5], got[~equal][:5], want[~equal][:5])


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


@pytest.mark.parametrize("name", NEAREST)
@pytest.mark.parametrize("op", EXACT)
def test_arithmetic_rounds_once(op, name):
    x, y = samples(name, 6000, 1), samples(name, 6000, 2)
    n = min(len(x), len(y))
    x, y = x[:n], y[:n]
    if op == "div":
        keep = wide(y, name) != 0
        x, y = x[keep], y[keep]
    got = getattr(floating, op)(x, y, name)
    assert got.dtype == FORMATS[name].storage
    exact = [
        EXACT[op](Fraction(a), Fraction(b)) for a, b in zip(wide(x, name).tolist(), wide(y, name).tolist())
    ]
    match(wide(got, name), [round_fraction(v, FORMATS[name]) for v in exact])


@pytest.mark.parametrize("name", [n for n in NARROW if FORMATS[n].bits == 8 and n != "f8e4b15"])
@pytest.mark.parametrize("op", EXACT)
def test_all_pairs_of_fp8(op, name):
    fmt = FORMATS[name]
    x = np.arange(256, dtype=np.uint8).view(fmt.storage)
    values = wide(x, name)
    x, values = x[np.isfinite(values)], values[np.isfinite(values)]
    y, divisors = (x[values != 0], values[values != 0]) if op == "div" else (x, values)
    got = wide(getattr(floating, op)(x[:, None], y[None, :], name), name)
    want = [
        [round_fraction(EXACT[op](Fraction(a), Fraction(b)), fmt) for b in divisors.tolist()]
        for a in values.tolist()
    ]
    match(got, want)


def test_bf16_quotients_and_products_in_the_subnormal_range():
    rng = np.random.default_rng(5)
    fmt = FORMATS["bf16"]
    for op, low, high in (("mul", 0x2000, 0x2080), ("div", 0x0001, 0x0100)):
        x = rng.integers(low, high, 20000).astype(np.uint16).view(fmt.storage)
        other = (0x1E00, 0x2080) if op == "mul" else (0x3F00, 0x4300)
        y = rng.integers(*other, 20000).astype(np.uint16).view(fmt.storage)
        got = wide(getattr(floating, op)(x, y, "bf16"), "bf16")
        exact = [
            EXACT[op](Fraction(a), Fraction(b))
            for a, b in zip(wide(x, "bf16").tolist(), wide(y, "bf16").tolist())
        ]
        match(got, [round_fraction(v, fmt) for v in exact])
        assert (np.abs(got) < fmt.min_normal).mean() > 0.3


@pytest.mark.parametrize("name", NEAREST)
def test_fma_rounds_once(name):
    fmt = FORMATS[name]
    x, y, z = samples(name, 5000, 1), samples(name, 5000, 2), samples(name, 5000, 3)
    n = min(len(x), len(y), len(z))
    x, y, z = x[:n], y[:n], z[:n]
    # Addends that cancel the product, and addends far below a product that is a tie, are where two roundings show.
    product = floating.mul(x, y, name)
    tiny = np.full(n, fmt.min_normal).astype(fmt.storage)
    for addend in (z, floating.neg(product, name), tiny, floating.neg(tiny, name)):
        exact = zip(wide(x, name).tolist(), wide(y, name).tolist(), wide(addend, name).tolist())
        pairs = [
            (i, Fraction(a) * Fraction(b) + Fraction(c))
            for i, (a, b, c) in enumerate(exact)
            if math.isfinite(c)
        ]
        index = [i for i, _ in pairs]
        got = wide(floating.fma(x, y, addend, name), name)[index]
        match(got, [round_fraction(v, fmt) for _, v in pairs])


def test_fma_differs_from_two_roundings_where_it_must():
    one = np.float32(1 + 2.0**-12)
    assert floating.fma(one, one, np.float32(-1 - 2.0**-11), "f32") == 2.0**-24
    tie = np.array(1 + 2.0**-8, np.float64)
    x = cast(np.float32(1 + 2.0**-4), "f32", "bf16")
    assert wide(floating.fma(x, x, cast(np.float32(2.0**-100), "f32", "bf16"), "bf16"), "bf16") == 1.1328125
    assert tie > 1


def test_fma_specials():
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    for name in ("f32", "f64", "f16", "bf16"):

        def fma(a, b, c):
            return wide(
                floating.fma(*(cast(np.float32(v), "f32", name) for v in (a, b, c)), name), name
            ).item()

        assert math.isnan(fma(inf, 0, 1)) and math.isnan(fma(1, inf, -inf)) and math.isnan(fma(nan, 0, 0))
        assert fma(inf, 2, 1) == inf and fma(2, 3, -inf) == -inf and fma(-inf, -1, inf) == inf
        assert math.copysign(1, fma(-1, 0.0, -0.0)) == -1 and math.copysign(1, fma(1, 1, -1)) == 1
        assert math.copysign(1, fma(1, 0.0, -0.0)) == 1


@pytest.mark.parametrize("name", NEAREST)
def test_fmod_is_exact_with_the_sign_of_the_dividend(name):
    x, y = samples(name, 2000, 4), samples(name, 2000, 5)
    n = min(len(x), len(y))
    got = wide(floating.fmod(x[:n], y[:n], name), name)
    want = [
        math.fmod(a, b) if b else math.nan
        for a, b in zip(wide(x[:n], name).tolist(), wide(y[:n], name).tolist())
    ]
    match(got, want)
    assert floating.fmod(np.float32(-7.5), np.float32(2), "f32") == -1.5


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_extrema_nan_and_signed_zero(name):
    fmt = FORMATS[name]
    points = np.array(
        [0.0, -0.0, 1.0, -1.0, 1.5, -0.25, np.inf, -np.inf, np.nan, fmt.max_finite, -fmt.max_finite]
    )
    x = np.asarray(cast(points, "f64", name) if name != "f64" else points)
    values = wide(x, name)
    for smaller in (True, False):
        for propagate in (False, True):
            op = floating.minimum if smaller else floating.maximum
            got = op(x[:, None], x[None, :], name, propagate)
            assert got.dtype == fmt.storage
            got = wide(got, name)
            for i, a in enumerate(values.tolist()):
                for j, b in enumerate(values.tolist()):
                    if math.isnan(a) or math.isnan(b):
                        want = (
                            math.nan
                            if propagate or (math.isnan(a) and math.isnan(b))
                            else (b if math.isnan(a) else a)
                        )
                    else:
                        key = lambda v: (v, math.copysign(1, v))
                        want = min(a, b, key=key) if smaller else max(a, b, key=key)
                    result = got[i, j].item()
                    assert (math.isnan(want) and math.isnan(result)) or (
                        result == want and math.copysign(1, result) == math.copysign(1, want)
                    ), (a, b, result, want)


@pytest.mark.parametrize("name", ["f16", "bf16", "f8e5", "f8e4nv"])
def test_extrema_of_all_patterns(name):
    fmt = FORMATS[name]
    x = np.arange(1 << fmt.bits, dtype=fmt.pattern).view(fmt.storage)
    y = x[np.random.default_rng(0).permutation(len(x))]
    a, b = wide(x, name), wide(y, name)
    with np.errstate(all="ignore"):
        match(wide(floating.minimum(x, y, name), name), np.fmin(a, b))
        match(wide(floating.maximum(x, y, name), name), np.fmax(a, b))
        match(wide(floating.maximum(x, y, name, True), name), np.maximum(a, b))


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_comparisons_are_ordered_except_not_equal(name):
    points = np.array([0.0, -0.0, 1.0, -1.0, np.inf, np.nan])
    x = np.asarray(cast(points, "f64", name) if name != "f64" else points)
    v = wide(x, name)
    with np.errstate(all="ignore"):
        assert (floating.compare("lt", x[:, None], x, name) == (v[:, None] < v)).all()
        assert (floating.compare("le", x[:, None], x, name) == (v[:, None] <= v)).all()
        assert (floating.compare("eq", x[:, None], x, name) == (v[:, None] == v)).all()
        assert (floating.compare("ne", x[:, None], x, name) == (v[:, None] != v)).all()


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_sign_functions_on_all_patterns(name):
    fmt = FORMATS[name]
    x = np.arange(1 << min(fmt.bits, 16), dtype=fmt.pattern)
    x = (x << fmt.pattern.type(max(fmt.bits - 16, 0))).view(fmt.storage)
    values = wide(x, name)
    negated, magnitude = floating.neg(x, name), floating.absolute(x, name)
    match(wide(negated, name), -values)
    match(wide(magnitude, name), np.abs(values))
    assert (floating.isnan(x, name) == np.isnan(values)).all()
    if fmt.has_negative_zero:
        assert (
            patterns_of(negated, name) == patterns_of(x, name) ^ fmt.pattern.type(1 << (fmt.bits - 1))
        ).all()


def test_clamp():
    x = np.array([-2, 0.5, 7, np.nan], np.float32)
    assert floating.clamp(x, np.float32(0), np.float32(1), "f32").tolist() == [0, 0.5, 1, 0]
    assert math.isnan(floating.clamp(x, np.float32(0), np.float32(1), "f32", True)[3])


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_roundings_to_integers_and_sqrt(name):
    x = samples(name, 3000, 9)
    v = wide(x, name)
    match(wide(floating.floor(x, name), name), np.floor(v))
    match(wide(floating.ceil(x, name), name), np.ceil(v))
    roots = wide(floating.sqrt(floating.absolute(x, name), name), name)
    got = [Fraction(r) for r in roots.tolist()]
    for r, a in zip(got, np.abs(v).tolist()):
        if r:
            ulp = Fraction(2) ** (math.frexp(float(r))[1] - 1 - FORMATS[name].mantissa_bits)
            assert (r - ulp / 2) ** 2 <= Fraction(a) <= (r + ulp / 2) ** 2


def test_no_warnings_and_array_results():
    points = np.array([0.0, -0.0, 1e-8, 3e38, np.inf, -np.inf, np.nan], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in FLOAT_FORMATS:
            x = cast(points, "f32", name)
            for op in (
                floating.add,
                floating.sub,
                floating.mul,
                floating.div,
                floating.fmod,
                floating.minimum,
            ):
                assert op(x[:, None], x, name).shape == (7, 7)
                assert isinstance(op(x[0], x[1], name), np.ndarray)
            assert isinstance(floating.fma(x[0], x[1], x[2], name), np.ndarray)


@settings(max_examples=200, deadline=None)
@given(*[st.floats(allow_nan=False, allow_infinity=False, width=32)] * 3)
def test_any_float32_fma(x, y, z):
    a, b, c = (np.float32(v) for v in (x, y, z))
    got = floating.fma(a, b, c, "f32").item()
    assert got == round_fraction(Fraction(x) * Fraction(y) + Fraction(z), FORMATS["f32"])
