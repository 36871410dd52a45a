"""Rounding-mode arithmetic against exact rational arithmetic, special values included."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics import directed
from tritium.numerics.formats import FORMATS

MODES = ["rn", "rz", "rd", "ru"]


def unit_of(a, fmt):
    """Spacing of the format at the positive rational `a`."""
    exponent = a.numerator.bit_length() - a.denominator.bit_length()
    if Fraction(2) ** exponent > a:
        exponent -= 1
    return Fraction(2) ** (max(exponent, 1 - fmt.bias) - fmt.mantissa_bits)


def finish(floor_units, unit, exact, half, negative, fmt, mode):
    """Round |value| = (floor_units + part) * unit, where `half` compares part with 1/2 (-1, 0, 1)."""
    if exact:
        up = False
    elif mode == "rn":
        up = half > 0 or (half == 0 and floor_units % 2 == 1)
    else:
        up = mode == ("rd" if negative else "ru")
    value = (floor_units + up) * unit
    largest = Fraction(fmt.max_finite)
    if value > largest:
        toward_zero = mode == "rz" or mode == ("ru" if negative else "rd")
        value = largest if toward_zero else math.inf
    return -float(value) if negative else float(value)


def round_exact(value, fmt, mode):
    if value == 0:
        return 0.0
    a = abs(value)
    unit = unit_of(a, fmt)
    units = a / unit
    part = units - math.floor(units)
    return finish(
        math.floor(units),
        unit,
        part == 0,
        (part > Fraction(1, 2)) - (part < Fraction(1, 2)),
        value < 0,
        fmt,
        mode,
    )


def round_root(x, fmt, mode):
    a = Fraction(x)
    if a == 0:
        return 0.0
    estimate = Fraction(math.isqrt(math.floor(a * Fraction(4) ** 1200))) / Fraction(2) ** 1200
    unit = unit_of(estimate, fmt)
    units = math.floor(estimate / unit)
    middle = (units + Fraction(1, 2)) * unit
    return finish(units, unit, (units * unit) ** 2 == a, (a > middle**2) - (a < middle**2), False, fmt, mode)


def samples(name, count, seed):
    fmt = FORMATS[name]
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 256, count * fmt.bits // 8, dtype=np.uint8).view(fmt.storage)
    near = rng.standard_normal(count).astype(fmt.storage)
    short = rng.integers(-40, 40, count).astype(fmt.storage) / fmt.storage.type(8)
    small = (rng.standard_normal(count) * fmt.min_normal).astype(fmt.storage)
    x = np.concatenate([bits, near, short, small])
    x = x[np.isfinite(x)]
    return x[rng.permutation(len(x))]


def check(got, want):
    got = np.asarray(got, np.float64)
    want = np.asarray(want, np.float64)
    assert ((got == want) | (np.isnan(got) & np.isnan(want))).all(), np.flatnonzero(got != want)[:5]


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("op", BINARY)
def test_binary(op, name, mode):
    with np.errstate(all="ignore"):
        x, y = samples(name, 1200, 1), samples(name, 1200, 2)
        n = min(len(x), len(y))
        x, y = x[:n], y[:n]
    if op == "div":
        x, y = x[y != 0], y[y != 0]
    got = getattr(directed, op)(x, y, name, mode)
    assert got.dtype == FORMATS[name].storage
    pairs = zip(x.tolist(), y.tolist())
    check(got, [round_exact(BINARY[op](Fraction(a), Fraction(b)), FORMATS[name], mode) for a, b in pairs])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_fma(name, mode):
    fmt = FORMATS[name]
    with np.errstate(all="ignore"):
        x, y, z = (samples(name, 1000, k) for k in (1, 2, 3))
        n = min(len(x), len(y), len(z))
        x, y, z = x[:n], y[:n], z[:n]
        product = x * y
    product = np.where(np.isfinite(product), product, 0).astype(fmt.storage)
    for addend in (
        z,
        -product,
        np.full(n, fmt.min_normal, fmt.storage),
        -np.nextafter(product, fmt.storage.type(0)),
    ):
        got = directed.fma(x, y, addend, name, mode)
        triples = zip(x.tolist(), y.tolist(), addend.tolist())
        check(got, [round_exact(Fraction(a) * Fraction(b) + Fraction(c), fmt, mode) for a, b, c in triples])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_sqrt_and_rcp(name, mode):
    fmt = FORMATS[name]
    with np.errstate(all="ignore"):
        x = samples(name, 700, 4)
    check(directed.sqrt(np.abs(x), name, mode), [round_root(abs(v), fmt, mode) for v in x.tolist()])
    x = x[x != 0]
    check(directed.rcp(x, name, mode), [round_exact(1 / Fraction(v), fmt, mode) for v in x.tolist()])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_special_operands(name, mode):
    dtype = FORMATS[name].storage
    points = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 4.0], dtype)
    x, y = points[:, None, None], points[None, :, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = {op: getattr(directed, op)(x, y, name, mode) for op in BINARY}
        fused = directed.fma(x, y, points, name, mode)
        roots = directed.sqrt(points, name, mode)
    with np.errstate(all="ignore"):
        plain = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}
        finite_result = {op: np.isfinite(plain[op]) for op in plain}
        for op in BINARY:
            want = plain[op]
            overflow = np.isinf(want) & np.isfinite(x) & np.isfinite(y) & ~((op == "div") & (y == 0))
            same = (got[op] == want) | (np.isnan(got[op]) & np.isnan(want)) | overflow
            assert same.all(), op
            zero = finite_result[op] & (want == 0)
            sign = np.signbit(got[op])
            if op in ("mul", "div"):
                assert (sign == (np.signbit(x) ^ np.signbit(y)))[zero].all()
            else:
                other = y if op == "add" else -y
                both_plus = ~np.signbit(x) & ~np.signbit(other)
                both_minus = np.signbit(x) & np.signbit(other)
                want_sign = ~both_plus if mode == "rd" else both_minus
                assert (sign == want_sign)[zero].all()
        for i, a in enumerate(points):
            for j, b in enumerate(points):
                for k, c in enumerate(points):
                    # Wider arithmetic gives the class of the result without overflow on the way.
                    want = float(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))
                    result = float(fused[i, j, k])
                    if math.isnan(want):
                        assert math.isnan(result), (a, b, c, result)
                    elif want == 0:
                        p, q = math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c)
                        minus = (p < 0 or q < 0) if mode == "rd" else (p < 0 and q < 0)
                        assert result == 0 and (math.copysign(1, result) < 0) == minus, (a, b, c)
                    elif not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
                        assert result == want, (a, b, c, result)
    assert np.isnan(roots[[3, 6]]).all() and roots[4] == np.inf
    assert roots[1] == 0 and np.signbit(roots[1])


def test_other_formats_are_refused():
    with pytest.raises(ValueError, match="f32 and f64"):
        directed.add(np.float16(1), np.float16(1), "f16", "rz")


@settings(max_examples=400, deadline=None)
@given(*[st.floats(allow_nan=False, allow_infinity=False)] * 3, st.sampled_from(MODES))
def test_any_float64(x, y, z, mode):
    fmt = FORMATS["f64"]
    a, b, c = (np.float64(v) for v in (x, y, z))
    assert directed.fma(a, b, c, "f64", mode) == round_exact(
        Fraction(x) * Fraction(y) + Fraction(z), fmt, mode
    )
    assert directed.add(a, b, "f64", mode) == round_exact(Fraction(x) + Fraction(y), fmt, mode)
    if y:
        assert directed.div(a, b, "f64", mode) == round_exact(Fraction(x) / Fraction(y), fmt, mode)
