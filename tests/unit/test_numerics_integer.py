"""Integer arithmetic against Python integers: all pairs of the 8-bit formats, edges and random values of the wide ones."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritium.numerics import integer
from tritium.numerics.formats import FORMATS, INTEGER_FORMATS

WIDE = ("i32", "u32", "i64", "u64")


def wrap(value, fmt):
    value &= (1 << fmt.bits) - 1
    return value - (1 << fmt.bits) if fmt.kind == "int" and value >> (fmt.bits - 1) else value


def trunc_div(x, y):
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def edges(fmt):
    points = [
        0,
        1,
        2,
        3,
        7,
        100,
        fmt.max_int,
        fmt.max_int - 1,
        fmt.min_int,
        fmt.min_int + 1,
        1 << (fmt.bits // 2),
    ]
    points += [-p for p in points]
    rng = np.random.default_rng(fmt.bits)
    points += [int(v) >> int(s) for v, s in zip(rng.integers(-(2**63), 2**63, 150), rng.integers(0, 63, 150))]
    return sorted({wrap(p, fmt) for p in points})


def pairs(name):
    fmt = FORMATS[name]
    values = list(range(fmt.min_int, fmt.max_int + 1)) if fmt.bits <= 8 else edges(fmt)
    x = np.array(values, dtype=fmt.storage)
    return fmt, x[:, None], x[None, :], values


def shift(x, y, fmt, left):
    amount = y & ((1 << fmt.bits) - 1)
    if left:
        return x << amount if amount < fmt.bits else 0
    return x >> min(amount, fmt.bits)


BINARY = {
    "add": lambda x, y, fmt: x + y,
    "sub": lambda x, y, fmt: x - y,
    "mul": lambda x, y, fmt: x * y,
    "div": lambda x, y, fmt: trunc_div(x, y),
    "rem": lambda x, y, fmt: x - trunc_div(x, y) * y,
    "bitwise_and": lambda x, y, fmt: x & y,
    "bitwise_or": lambda x, y, fmt: x | y,
    "bitwise_xor": lambda x, y, fmt: x ^ y,
    "shl": lambda x, y, fmt: shift(x, y, fmt, True),
    "shr": lambda x, y, fmt: shift(x, y, fmt, False),
    "minimum": lambda x, y, fmt: min(x, y),
    "maximum": lambda x, y, fmt: max(x, y),
}


@pytest.mark.parametrize("name", INTEGER_FORMATS)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op, name):
    fmt, x, y, values = pairs(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = getattr(integer, op)(x, y, name)
    assert got.dtype == fmt.storage
    want = [[wrap(BINARY[op](int(a), int(b), fmt), fmt) for b in values] for a in values]
    assert got.tolist() == want


@pytest.mark.parametrize("name", INTEGER_FORMATS)
def test_quotient_and_remainder_rebuild_the_dividend(name):
    _, x, y, _ = pairs(name)
    product = integer.mul(integer.div(x, y, name), y, name)
    assert (integer.add(product, integer.rem(x, y, name), name) == x).all()


@pytest.mark.parametrize("name", INTEGER_FORMATS)
def test_scalar_divisors(name):
    fmt, x, _, values = pairs(name)
    for d in (0, 1, 3, 100, -1, -3):
        if not fmt.min_int <= d <= fmt.max_int:
            continue
        scalar = np.array(d, dtype=fmt.storage)
        got = integer.div(x[:, 0], scalar, name).tolist()
        assert got == [wrap(trunc_div(int(v), d), fmt) for v in values]
        single = integer.rem(x[0, 0], scalar, name)
        assert isinstance(single, np.ndarray) and single.shape == ()


@pytest.mark.parametrize("name", INTEGER_FORMATS)
def test_unary(name):
    fmt, x, _, values = pairs(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert integer.neg(x, name)[:, 0].tolist() == [wrap(-int(v), fmt) for v in values]
        assert integer.absolute(x, name)[:, 0].tolist() == [wrap(abs(int(v)), fmt) for v in values]
        assert integer.invert(x, name)[:, 0].tolist() == [wrap(~int(v), fmt) for v in values]


@pytest.mark.parametrize("name", INTEGER_FORMATS)
def test_comparisons(name):
    _, x, y, values = pairs(name)
    assert integer.compare("lt", x, y, name).tolist() == [[a < b for b in values] for a in values]
    assert integer.compare("ge", x, y, name).tolist() == [[a >= b for b in values] for a in values]
    assert integer.compare("eq", x, y, name).tolist() == [[a == b for b in values] for a in values]
    assert integer.compare("ne", x, y, name).dtype == np.bool_


@pytest.mark.parametrize("name", WIDE)
def test_high_products(name):
    fmt, x, y, values = pairs(name)
    mask = (1 << fmt.bits) - 1
    want = [[wrap(((a & mask) * (b & mask)) >> fmt.bits, fmt) for b in values] for a in values]
    assert integer.umulhi(x, y, name).tolist() == want
    want = [[wrap((a * b) >> fmt.bits, fmt) for b in values] for a in values]
    assert integer.mulhi(x, y, name).tolist() == want


@pytest.mark.parametrize("name", WIDE)
def test_averages_and_distance(name):
    fmt, x, y, values = pairs(name)
    assert integer.hadd(x, y, name).tolist() == [[wrap((a + b) >> 1, fmt) for b in values] for a in values]
    assert integer.rhadd(x, y, name).tolist() == [
        [wrap((a + b + 1) >> 1, fmt) for b in values] for a in values
    ]
    if fmt.bits == 32:
        z = np.array(4000000000, np.uint32)
        want = [[(abs(a - b) + 4000000000) % 2**32 for b in values] for a in values]
        assert integer.sad(x, y, z, name).tolist() == want


def test_mul24_ignores_the_top_byte():
    for name in ("i32", "u32"):
        fmt, x, y, values = pairs(name)

        def low(v):
            v &= 0xFFFFFF
            return v - (1 << 24) if fmt.kind == "int" and v >> 23 else v

        want = [[wrap(low(a) * low(b), fmt) for b in values] for a in values]
        assert integer.mul24(x, y, name).tolist() == want


def test_byte_perm_picks_bytes():
    x, y = np.array([0x03020100], np.int32), np.array([0x07060504], np.int32)
    picked = integer.byte_perm(x, y, np.array([0x7531, 0x0000, 0xFEDC, 0x3210], np.int32))
    assert picked.tolist() == [0x07050301, 0, 0x07060504, 0x03020100]
    assert integer.byte_perm(np.int32(-1), np.int32(0), np.int32(0x0000)).tolist() == -1


@pytest.mark.parametrize("name", WIDE)
def test_bit_counts(name):
    fmt = FORMATS[name]
    values = sorted(
        {wrap(v, fmt) for k in range(fmt.bits) for v in (1 << k, (1 << k) - 1, (1 << k) + 1, -(1 << k))}
    )
    values += edges(fmt)
    x = np.array(values, dtype=fmt.storage)
    patterns = [v & ((1 << fmt.bits) - 1) for v in values]
    clz, popc, ffs = integer.clz(x, name), integer.popc(x, name), integer.ffs(x, name)
    assert clz.dtype == popc.dtype == ffs.dtype == np.int32
    assert clz.tolist() == [fmt.bits - p.bit_length() for p in patterns]
    assert popc.tolist() == [p.bit_count() for p in patterns]
    assert ffs.tolist() == [(p & -p).bit_length() for p in patterns]
    assert integer.brev(x, name).tolist() == [wrap(int(f"{p:0{fmt.bits}b}"[::-1], 2), fmt) for p in patterns]
    assert integer.brev(x[0], name).shape == ()


@given(st.data(), st.sampled_from([name for name in INTEGER_FORMATS if name != "i1"]))
def test_any_pair(data, name):
    fmt = FORMATS[name]
    x = data.draw(st.integers(fmt.min_int, fmt.max_int))
    y = data.draw(st.integers(fmt.min_int, fmt.max_int))
    a, b = np.array(x, dtype=fmt.storage), np.array(y, dtype=fmt.storage)
    for op, reference in BINARY.items():
        assert getattr(integer, op)(a, b, name).item() == wrap(reference(x, y, fmt), fmt), op
