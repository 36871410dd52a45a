"""Casts against an independent reference: tables of exact values and exact midpoints, and Python integers."""

import math
import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics.cast import bitcast, cast, patterns_of
from tritium.numerics.convert import narrow, widen
from tritium.numerics.formats import FLOAT_FORMATS, FORMATS, INTEGER_FORMATS, format_of, storage

NARROW = [name for name in FLOAT_FORMATS if FORMATS[name].bits <= 16]
FP8 = [name for name in NARROW if FORMATS[name].bits == 8]


def decode(bits, fmt):
    """Value of a bit pattern from the definition of the format; None for NaN."""
    sign = -1 if bits >> (fmt.bits - 1) else 1
    field = (bits >> fmt.mantissa_bits) & ((1 << fmt.exponent_bits) - 1)
    mantissa = bits & ((1 << fmt.mantissa_bits) - 1)
    if not fmt.has_negative_zero and bits == 1 << (fmt.bits - 1):
        return None
    if fmt.has_inf and field == (1 << fmt.exponent_bits) - 1:
        return None if mantissa else sign * math.inf
    if fmt.name == "f8e4nv" and bits & 0x7F == 0x7F:
        return None
    if field == 0:
        return sign * math.ldexp(mantissa, 1 - fmt.bias - fmt.mantissa_bits)
    return sign * math.ldexp((1 << fmt.mantissa_bits) + mantissa, field - fmt.bias - fmt.mantissa_bits)


def grid(fmt):
    """All finite non-negative values that a conversion may give, ascending, as exact float64."""
    return np.array([decode(bits, fmt) for bits in range(fmt.max_finite_bits + 1)])


def reference_round(x, fmt, rounding):
    """`x` (float64) rounded to the grid of `fmt` by comparing it with exact grid values and midpoints."""
    values = grid(fmt)
    nxt = values[-1] + (values[-1] - values[-2])
    ladder = np.append(values, nxt)
    a = np.abs(x)
    below = np.clip(np.searchsorted(ladder, a, side="right") - 1, 0, len(ladder) - 2)
    low, high = ladder[below], ladder[below + 1]
    mid = low + (high - low) / 2  # exact: one bit more than the format has
    away_on_tie = below % 2 == 1 if fmt.name != "f8e4b15" else np.ones_like(below, bool)
    up = (a > mid) | ((a == mid) & away_on_tie)
    negative = np.signbit(x)
    if rounding == "rz":
        up = np.zeros_like(up)
    elif rounding in ("rd", "ru"):
        up = (a > low) & (negative == (rounding == "rd"))
    result = np.where(up, high, low)
    over = (result >= nxt) | (a >= nxt)
    result = np.where(over, values[-1] if fmt.bits == 8 or rounding == "rz" else math.inf, result)
    if rounding in ("rd", "ru") and fmt.bits != 8:
        result = np.where(over, np.where(negative == (rounding == "rd"), math.inf, values[-1]), result)
    if fmt.has_inf and not (fmt.bits == 8 and rounding == "rn"):
        result = np.where(np.isinf(x), math.inf, result)
    result = np.where(np.isnan(x), np.nan if fmt.nan_bits is not None else values[-1], result)
    signed = np.where(negative & ~np.isnan(x), -result, result)
    return signed if fmt.has_negative_zero else signed + 0.0


def hard_values(fmt, dtype):
    """Every grid value and midpoint of `fmt`, one source ulp to each side of both, extremes, both signs."""
    values = grid(fmt)
    points = np.concatenate(
        [values, (values[1:] + values[:-1]) / 2, [values[-1] * 1.0625, values[-1] * 1.125, values[-1] * 2]]
    )
    with np.errstate(all="ignore"):
        points = points.astype(dtype)
        around = np.concatenate([points, np.nextafter(points, dtype(0)), np.nextafter(points, dtype(np.inf))])
    info = np.finfo(dtype)
    extremes = np.array([0, info.tiny, info.smallest_subnormal, info.max, np.inf, np.nan], dtype)
    random = np.random.default_rng(7).integers(0, 256, 80000, dtype=np.uint8).view(dtype)
    magnitudes = np.concatenate([around, extremes, random])
    return np.concatenate([magnitudes, -magnitudes])


def same(got, want):
    with np.errstate(all="ignore"):
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    equal = (got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(got) & np.isnan(want)
    assert equal.all(), (got[~equal][:5], want[~equal][:5])


@pytest.mark.parametrize("name", NARROW)
def test_widening_gives_the_value_the_format_defines(name):
    fmt = FORMATS[name]
    patterns = np.arange(1 << fmt.bits, dtype=fmt.pattern)
    want = [decode(int(bits), fmt) for bits in patterns]
    want = np.array([math.nan if value is None else value for value in want])
    for wide in ("f32", "f64"):
        got = cast(patterns.view(fmt.storage), name, wide)
        assert got.dtype == storage(wide)
        same(got, want)


@pytest.mark.parametrize("rounding", ["rn", "rz", "rd", "ru"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NARROW)
def test_narrowing_rounds_once(name, dtype, rounding):
    fmt = FORMATS[name]
    x = hard_values(fmt, dtype)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
    got = narrow(x, fmt, rounding)
    assert got.dtype == fmt.storage and got.shape == x.shape
    same(widen(got, fmt, "float64"), reference_round(wide, fmt, rounding))


@pytest.mark.parametrize("rounding", ["rd", "ru", "rz"])
def test_directed_narrowing_to_float32(rounding):
    bits = np.random.default_rng(3).integers(0, 2**64, 200000, dtype=np.uint64)
    small = np.random.default_rng(4).standard_normal(100000) * 2.0 ** np.random.default_rng(5).integers(
        -160, 140, 100000
    )
    x = np.concatenate(
        [bits.view(np.float64), small, [0.0, -0.0, 1e-320, -1e-320, 3.5e38, -3.5e38, 2.0**-149, 1e300]]
    )
    x = x[~np.isnan(x)]
    got = narrow(x, FORMATS["f32"], rounding).astype(np.float64)
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float32)
        down = np.where(nearest.astype(np.float64) > x, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        up = np.where(nearest.astype(np.float64) < x, np.nextafter(nearest, np.float32(np.inf)), nearest)
    want = {"rd": down, "ru": up, "rz": np.where(x < 0, up, down)}[rounding]
    same(got, np.where(got == 0, np.copysign(want, x), want))


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("src", [name for name in NARROW if FORMATS[name].bits == 16])
@pytest.mark.parametrize("dst", NARROW)
def test_all_16_bit_patterns(src, dst, rounding):
    if src == dst:
        return
    fmt = FORMATS[src]
    x = np.arange(1 << 16, dtype=np.uint16).view(fmt.storage)
    got = cast(x, src, dst, rounding)
    want = reference_round(cast(x, src, "f64"), FORMATS[dst], {"rtne": "rn", "rtz": "rz"}[rounding])
    same(cast(got, dst, "f64"), want)


@pytest.mark.parametrize("src", FP8)
@pytest.mark.parametrize("dst", NARROW)
def test_all_8_bit_patterns(src, dst):
    x = np.arange(256, dtype=np.uint8).view(FORMATS[src].storage)
    if src == dst:
        assert (patterns_of(cast(x, src, dst), dst) == np.arange(256)).all()
        return
    same(cast(cast(x, src, dst), dst, "f64"), reference_round(cast(x, src, "f64"), FORMATS[dst], "rn"))


def test_fp8_agrees_with_torch_in_range():
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).uniform(-440, 440, 100000).astype(np.float32)
    for name, dtype in (("f8e4nv", torch.float8_e4m3fn), ("f8e5", torch.float8_e5m2)):
        want = torch.from_numpy(x).to(dtype).view(torch.uint8).numpy()
        assert (patterns_of(cast(x, "f32", name), name) == want).all()


def test_fp8_overflow_and_nan_patterns():
    x = np.array([np.inf, -np.inf, 1e30, -1e30, np.nan, 465.0], np.float32)
    assert patterns_of(cast(x, "f32", "f8e4nv"), "f8e4nv").tolist() == [0x7E, 0xFE, 0x7E, 0xFE, 0x7F, 0x7E]
    assert patterns_of(cast(x, "f32", "f8e5"), "f8e5").tolist()[:5] == [0x7B, 0xFB, 0x7B, 0xFB, 0x7F]
    assert patterns_of(cast(x, "f32", "f8e5", "rtz"), "f8e5").tolist()[:5] == [0x7C, 0xFC, 0x7B, 0xFB, 0x7F]
    assert patterns_of(cast(x, "f32", "f8e4b15"), "f8e4b15").tolist()[:5] == [0x7E, 0xFE, 0x7E, 0xFE, 0x7E]
    assert patterns_of(cast(-x, "f32", "f8e4b8"), "f8e4b8").tolist()[:5] == [0xFF, 0x7F, 0xFF, 0x7F, 0x80]


@pytest.mark.parametrize("dst", [name for name in INTEGER_FORMATS if name != "i1"])
@pytest.mark.parametrize("src", FLOAT_FORMATS)
def test_float_to_integer_truncates_and_saturates(src, dst):
    fmt, target = FORMATS[src], FORMATS[dst]
    if fmt.bits <= 16:
        x = np.arange(1 << fmt.bits, dtype=fmt.pattern).view(fmt.storage)
    else:
        edges = [sign * (2.0**k + d) for k in range(66) for d in (-1, -0.5, 0, 0.5, 1) for sign in (1, -1)]
        points = np.array([*edges, 0.9, -0.9, 1e30, -1e30, np.inf, -np.inf, np.nan, -0.0]).astype(fmt.storage)
        x = np.concatenate(
            [points, np.nextafter(points, fmt.storage.type(0)), np.nextafter(points, fmt.storage.type(9e30))]
        )
    got = cast(x, src, dst)
    assert got.dtype == target.storage
    for value, result in zip(cast(x, src, "f64").tolist() if src != "f64" else x.tolist(), got.tolist()):
        if math.isnan(value):
            want = 0
        elif math.isinf(value):
            want = target.max_int if value > 0 else target.min_int
        else:
            want = min(max(math.trunc(value), target.min_int), target.max_int)
        assert result == want, (value, result, want)


def nearest(value, fmt):
    """Python integer to the nearest value of `fmt`, ties to even, by exact rational arithmetic."""
    if value == 0:
        return 0.0
    a = abs(value)
    exponent = max(a.bit_length() - 1, 1 - fmt.bias)
    unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
    rounded = round(Fraction(a) / unit) * unit
    if rounded > Fraction(fmt.max_finite):
        rounded = math.inf if fmt.bits > 8 else fmt.max_finite
    return math.copysign(float(rounded), value)


@pytest.mark.parametrize("dst", [name for name in FLOAT_FORMATS if name != "f8e4b15"])
@pytest.mark.parametrize("src", INTEGER_FORMATS)
def test_integer_to_float_rounds_once(src, dst):
    source, target = FORMATS[src], FORMATS[dst]
    values = {source.min_int, source.max_int, 0, 1}
    for k in range(source.bits):
        for j in range(k):
            for d in (-1, 0, 1):
                values |= {(1 << k) + (1 << j) + d, (1 << k) + (3 << j) + d, -(1 << k) - (1 << j) + d}
    values |= set(range(-300, 300))
    inside = sorted(v for v in values if source.min_int <= v <= source.max_int)
    got = cast(np.array(inside, dtype=source.storage), src, dst)
    same(cast(got, dst, "f64"), [nearest(int(v), target) for v in inside])


def test_i64_to_narrow_formats_at_random():
    x = np.random.default_rng(0).integers(-(2**63), 2**63, 40000) >> np.random.default_rng(1).integers(
        0, 63, 40000
    )
    for dst in ("bf16", "f16"):
        got = cast(cast(x, "i64", dst), dst, "f64")
        same(got, [nearest(v, FORMATS[dst]) for v in x.tolist()])


def test_integer_narrowing_wraps():
    x = np.array([300, -1, 128, -129, 2**40 + 5, -(2**63)])
    assert cast(x, "i64", "i8").tolist() == [44, -1, -128, 127, 5, 0]
    assert cast(x, "i64", "u16").tolist() == [300, 65535, 128, 65407, 5, 0]
    assert cast(np.array([-1], np.int8), "i8", "u64").tolist() == [2**64 - 1]


@pytest.mark.parametrize("src", [*FLOAT_FORMATS, *INTEGER_FORMATS])
def test_to_bool_is_not_equal_zero(src):
    fmt = FORMATS[src]
    x = np.arange(256, dtype=np.uint8)
    x = x.view(fmt.storage) if fmt.bits == 8 else cast(x, "u8", src)
    want = [v != 0 for v in (cast(x, src, "f64") if src != "f64" else x).tolist()]
    assert cast(x, src, "i1").tolist() == want
    if fmt.is_float and fmt.nan_bits is not None:
        nan = cast(np.array([np.nan, -0.0], np.float32), "f32", src)
        assert cast(nan, src, "i1").tolist() == [True, False]


def test_from_bool_is_unsigned():
    x = np.array([True, False])
    for dst in (*FLOAT_FORMATS, *INTEGER_FORMATS):
        assert cast(cast(x, "i1", dst), dst, "f64").tolist() == [1.0, 0.0] if dst != "f64" else True


def test_bitcast_round_trips_and_checks_width():
    x = np.array([1.0, -2.0, np.nan], np.float32)
    assert bitcast(x, "f32", "i32").tolist()[:2] == [0x3F800000, -0x40000000]
    assert bitcast(bitcast(x, "f32", "u32"), "u32", "f32").tobytes() == x.tobytes()
    assert bitcast(np.array([0x3F80], np.uint16), "u16", "bf16").astype(np.float32).tolist() == [1.0]
    with pytest.raises(ValueError, match="32 bits"):
        bitcast(x, "f32", "i64")


def test_shapes_strides_and_scalars():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for dst in ("f8e4nv", "f16", "bf16", "i8", "i1", "f64"):
        for view in (x.T, x[::2, ::-1], np.broadcast_to(x[:1], (5, 6)), x[0, 0], np.float32(3), x[:0]):
            got = cast(view, "f32", dst)
            assert isinstance(got, np.ndarray) and got.shape == np.shape(view)
            assert (
                cast(got, dst, "f32") == cast(cast(np.ascontiguousarray(view), "f32", dst), dst, "f32")
            ).all()
    large = np.random.default_rng(0).standard_normal(50000).astype(np.float32)
    assert (cast(large, "f32", "f8e5") == large.astype(ml_dtypes.float8_e5m2)).all()


def test_no_warnings_and_no_mutation():
    x = np.array([np.nan, np.inf, -np.inf, 1e38, -1e-45, 0.0, 3.7], np.float32)
    before = x.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for src in FLOAT_FORMATS:
            values = cast(x, "f32", src)
            for dst in FORMATS:
                for rounding in ("rtne", "rtz"):
                    cast(values, src, dst, rounding)
    assert x.tobytes() == before


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown scalar format 'fp16'"):
        cast(1.0, "fp16", "f32")
    with pytest.raises(ValueError, match="rounding"):
        cast(np.float32(1), "f32", "f16", "up")


@settings(max_examples=300, deadline=None)
@given(st.floats(width=64), st.sampled_from(NARROW), st.sampled_from(["rn", "rz"]))
def test_any_double_rounds_once(value, name, rounding):
    fmt = format_of(name)
    x = np.array([value])
    same(widen(narrow(x, fmt, rounding), fmt, "float64"), reference_round(x, fmt, rounding))
