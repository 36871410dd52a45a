"""Matrix products: exact for small integers in every format, rounded once, batch broadcasting, reduced precisions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics.cast import cast
from tritium.numerics.dot import PRECISIONS, dot
from tritium.numerics.formats import FLOAT_FORMATS, FORMATS
from tritium.numerics.relaxed import round_tf32, split, truncate_tf32


def small(shape, seed, low=-2, high=3):
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.float64)


@pytest.mark.parametrize("name", [n for n in FLOAT_FORMATS if n != "f8e4b15"])
def test_small_integers_are_exact(name):
    a, b = small((2, 5, 7), 1), small((2, 7, 3), 2)
    out = "f64" if name == "f64" else "f32"
    got = dot(
        a if name == "f64" else cast(a, "f64", name),
        b if name == "f64" else cast(b, "f64", name),
        name,
        name,
        out,
    )
    assert got.dtype == FORMATS[out].storage and (got == a @ b).all()


def test_mixed_fp8_operands():
    a, b = small((4, 8), 1), small((8, 4), 2)
    assert (dot(cast(a, "f64", "f8e5"), cast(b, "f64", "f8e4nv"), "f8e5", "f8e4nv", "f32") == a @ b).all()


def test_f32_is_plain_matmul_then_accumulator():
    rng = np.random.default_rng(0)
    for m, n, k in ((4, 4, 4), (1, 5, 9), (16, 8, 32)):
        a = (rng.standard_normal((m, k)) * 999).astype(np.float32)
        b, acc = (
            rng.standard_normal((k, n)).astype(np.float32),
            rng.standard_normal((m, n)).astype(np.float32),
        )
        assert (dot(a, b, "f32", "f32", "f32") == np.matmul(a, b)).all()
        assert (dot(a, b, "f32", "f32", "f32", acc=acc) == np.matmul(a, b) + acc).all()


def test_f16_result_is_rounded_once_after_the_accumulator():
    a = cast(np.array([[1.0, 1.0]]), "f64", "f16")
    b = cast(np.array([[2048.0], [1.0]]), "f64", "f16")
    acc = cast(np.array([[1.0]]), "f64", "f16")
    # 2049 alone would round to 2048 and 2048 + 1 again to 2048; 2050 is representable.
    assert dot(a, b, "f16", "f16", "f16", acc=acc).item() == 2050
    assert dot(a, b, "f16", "f16", "f16").dtype == np.float16


@pytest.mark.parametrize("k", [1, 32, 1024, 1025, 4096])
@pytest.mark.parametrize("pair", [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i16", "i16")])
def test_small_integer_formats_are_exact_modulo_2_32(k, pair):
    low = [FORMATS[name].min_int for name in pair]
    a, b = np.full((3, k), low[0] or 255), np.full((k, 2), low[1] or 255)
    a[1], b[:, 1] = FORMATS[pair[0]].max_int, FORMATS[pair[1]].max_int
    want = (a.astype(object) @ b.astype(object)).tolist()
    got = dot(a.astype(FORMATS[pair[0]].storage), b.astype(FORMATS[pair[1]].storage), *pair, "i32")
    assert got.dtype == np.int32
    assert got.tolist() == [[(v + 2**31) % 2**32 - 2**31 for v in row] for row in want]


def test_wide_integers_wrap():
    a = np.full((2, 4), 2**31 - 1, np.int32)
    assert dot(a, a.T, "i32", "i32", "i32").tolist() == [[4, 4], [4, 4]]
    acc = np.full((2, 2), 2**31 - 1, np.int32)
    assert (dot(a, a.T, "i32", "i32", "i32", acc=acc) == -(2**31) + 3).all()


def test_batch_dimensions_broadcast():
    for shapes in (
        ((6, 1, 4, 8), (5, 8, 3)),
        ((7, 4, 8), (8, 3)),
        ((4, 8), (7, 8, 3)),
        ((1, 4, 8), (2, 1, 8, 3)),
    ):
        a, b = small(shapes[0], 1), small(shapes[1], 2)
        want = a @ b
        for name in ("f32", "f16", "f64"):
            x, y = (v if name == "f64" else cast(v, "f64", name) for v in (a, b))
            assert (dot(x, y, name, name, "f64" if name == "f64" else "f32") == want).all()
        got = dot(a.astype(np.int8), b.astype(np.int8), "i8", "i8", "i32")
        assert got.shape == want.shape and (got == want).all()


def test_repeated_and_strided_operands():
    a, b = small((4, 8), 1).astype(np.float32), small((8, 3), 2).astype(np.float32)
    repeated = np.broadcast_to(a, (9, 4, 8)), np.broadcast_to(b, (9, 8, 3))
    assert (dot(*repeated, "f32", "f32", "f32") == a @ b).all()
    large = small((9, 8, 16), 3).astype(np.float32)
    for view in (
        large[:, ::2, ::2],
        large[:, :4, ::-1],
        large.transpose(0, 2, 1)[:, :4, :],
        large[:, :4, :8],
    ):
        other = small((9, view.shape[-1], 3), 4).astype(np.float32)
        assert (dot(view, other, "f32", "f32", "f32") == np.ascontiguousarray(view) @ other).all()
    row = np.broadcast_to(np.float32(2), (3, 4, 8))
    assert (dot(row, b, "f32", "f32", "f32") == np.full((4, 8), 2) @ b).all()


def test_bits_do_not_depend_on_the_batch():
    rng = np.random.default_rng(2)
    for _ in range(40):
        p, m, n, k = (int(v) for v in rng.integers(2, (6, 20, 20, 200)))
        a, b = (
            rng.standard_normal((p, m, k)).astype(np.float32),
            rng.standard_normal((k, n)).astype(np.float32),
        )
        one_by_one = np.stack([dot(a[i], b, "f32", "f32", "f32") for i in range(p)])
        assert (dot(a, b, "f32", "f32", "f32") == one_by_one).all()
        assert (dot(a, np.broadcast_to(b, (p, k, n)), "f32", "f32", "f32") == one_by_one).all()


def test_tf32_rounding():
    x = np.array(
        [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, 3.4028235e38, np.inf, -np.inf],
        np.float32,
    )
    truncated = [1, 1 + 2.0**-10, -1, 1, 3.4011621342146535e38, np.inf, -np.inf]
    assert truncate_tf32(x).tolist() == truncated
    away = [1 + 2.0**-10, 1 + 2.0**-9, -1 - 2.0**-10, 1, np.inf, np.inf, -np.inf]
    assert round_tf32(x).tolist() == away
    nan = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(truncate_tf32(nan)).all() and np.isnan(round_tf32(nan)).all()


def test_splits_add_up():
    x = np.random.default_rng(0).standard_normal(10000).astype(np.float32)
    for precision, bits in (("tf32x3", 20), ("bf16x3", 15), ("bf16x6", 23)):
        parts = split(x, precision)
        total = sum(part.astype(np.float64) for part in parts)
        assert (np.abs(total - x) <= np.abs(x) * 2.0**-bits).all()
        for part in parts:
            kept = 13 if precision == "tf32x3" else 16
            assert (part.view(np.uint32) & ((1 << kept) - 1) == 0).all()


def test_reduced_precisions_have_their_error():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((64, 64)).astype(np.float32), rng.standard_normal((64, 64)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    error = {p: np.max(np.abs(dot(a, b, "f32", "f32", "f32", p) - exact) / bound) for p in PRECISIONS}
    assert error["ieee"] < 3e-7 and error["tf32x3"] < 1e-6 and error["bf16x6"] < 5e-7
    assert 1e-6 < error["bf16x3"] < 3e-5
    assert 1e-5 < error["tf32"] < 2e-3
    near_one, eye = np.full((16, 16), 1 + 2.0**-12, np.float32), np.eye(16, dtype=np.float32)
    assert (dot(near_one, eye, "f32", "f32", "f32", "tf32") == 1).all()
    assert (dot(near_one, eye, "f32", "f32", "f32", "tf32x3") == near_one).all()


def test_infinities_survive_the_splits():
    a = np.ones((2, 2), np.float32)
    b = np.array([[np.inf, 1], [1, 1]], np.float32)
    for precision in PRECISIONS:
        assert dot(a, b, "f32", "f32", "f32", precision).tolist() == [[np.inf, 2], [np.inf, 2]]


def test_empty_reduction_and_errors():
    assert (
        dot(np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32), "f32", "f32", "f32")
        == np.zeros((2, 3))
    ).all()
    with pytest.raises(ValueError, match="precision 'fp19'"):
        dot(np.ones((1, 1)), np.ones((1, 1)), "f32", "f32", "f32", "fp19")
    with pytest.raises(ValueError, match="no dot of i8 and f32"):
        dot(np.ones((1, 1)), np.ones((1, 1)), "i8", "f32", "f32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = np.array([[np.inf, np.nan], [3e38, -np.inf]], np.float32)
        for precision in PRECISIONS:
            dot(x, x, "f32", "f32", "f16", precision)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 40), st.integers(0, 10**6))
def test_any_int8_product(m, n, k, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
    assert (dot(a, b, "i8", "i8", "i32") == a.astype(np.int64) @ b.astype(np.int64)).all()
