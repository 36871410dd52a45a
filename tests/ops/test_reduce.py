"""Reductions against NumPy: every format and axis, NaN and ties, custom and non-commutative combine functions."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import FLOATS, INTEGERS, NUMBERS, Kernel, stored, widened
from tritium.errors import CompilationError
from tritium.ir.types import DTYPES, bfloat16, float16, float32, int1, int8, int32, uint8, uint32
from tritium.ops.combine import single_op
from tritium.ops.extremum import extremum_region, is_extremum
from tritium.ops.handles import constexpr
from tritium.ops.reduce import Reduce

NAN, INF = float("nan"), float("inf")
SHAPE = (3, 5, 4)
AXES = [0, 1, 2, -1, -3]


def sample(ty, shape=SHAPE, seed=0):
    rng = np.random.default_rng(seed)
    if ty.is_bool():
        return rng.integers(0, 2, shape).astype(bool)
    if ty.is_int():
        low, high = ty.get_int_min_value(), ty.get_int_max_value()
        x = rng.integers(low, high, shape, dtype=np.int64 if low else np.uint64, endpoint=True)
        return stored(x, ty)
    return widened(stored(rng.integers(-8, 9, shape) / 4, ty), ty)


def reduce_op(k):
    (op,) = k.function.find(Reduce)
    return op


# ---- sum ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [*AXES, None])
@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_integer_sums_widen_by_sign_and_wrap(ty, axis):
    k = Kernel()
    x = sample(ty)
    out = k.tl("sum", k.arg(x, ty), axis=axis)
    wide = ty if ty.primitive_bitwidth >= 32 else uint32 if ty.is_int_unsigned() else int32
    assert out.dtype is wide
    want = np.add.reduce(
        x.astype(np.uint64 if ty.is_int_unsigned() else np.int64),
        axis=axis if axis is not None else (0, 1, 2),
    )
    np.testing.assert_array_equal(k.value(out), want.astype(k.value(out).dtype))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("ty", FLOATS, ids=lambda t: t.text)
def test_float_sums_keep_the_type(ty, axis):
    """The sample is exact in every format, sums of a few quarters included."""
    k = Kernel()
    x = np.clip(sample(ty), -0.25, 0.25)
    out = k.tl("sum", k.arg(x, ty), axis=axis)
    assert out.dtype is ty
    np.testing.assert_array_equal(k.wide(out), x.sum(axis))


def test_sum_in_fp16_rounds_every_addition():
    k = Kernel()
    x = np.full(4096, 1.0)
    x[0] = 2048.0
    out = k.value(k.tl("sum", k.arg(x, float16), axis=0))
    assert out.dtype == np.float16
    # 2048 + 1 is not representable, so a sum in fp16 depends on the order; the order is a balanced tree.
    values = x.astype(np.float16)
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    assert out == values[0]


def test_fp32_sum_is_accurate_and_independent_of_layout():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((7, 1000)).astype(np.float32)
    k = Kernel()
    rows = k.value(k.tl("sum", k.arg(x, "fp32"), axis=1))
    columns = k.value(k.tl("sum", k.arg(x.T.copy(), "fp32"), axis=0))
    alone = [Kernel() for _ in range(7)]
    single = [q.value(q.tl("sum", q.arg(row, "fp32"), axis=0)) for q, row in zip(alone, x)]
    assert rows.tobytes() == columns.tobytes() == np.array(single).tobytes()
    np.testing.assert_allclose(rows, x.astype(np.float64).sum(1), rtol=0, atol=2e-5)


def test_sum_dtype_and_keep_dims():
    k = Kernel()
    x = k.arg(np.full((2, 300), 100), int8)
    assert k.tl("sum", x, 1, dtype=DTYPES["int64"]).dtype is DTYPES["int64"]
    assert k.value(k.tl("sum", x, axis=1, dtype=constexpr(int8))).tolist() == [np.int8(30000 & 255)] * 2
    assert k.tl("sum", x, axis=1, keep_dims=True).dims == (2, 1)
    assert k.tl("sum", x, keep_dims=True).dims == (1, 1)
    assert k.tl("sum", x).dims == ()
    assert k.method("sum", x, -1).dims == (2,)
    assert k.value(k.tl("sum", k.arg(3, int8))) == 3
    assert k.value(k.tl("sum", k.arg([7], int32), axis=0)) == 7


def test_sum_of_a_repeated_axis_counts_every_element():
    k = Kernel()
    ones = k.tl("broadcast_to", k.tl("expand_dims", k.arg([1.5, 2.5], float32), 1), 2, 6)
    assert k.value(k.tl("sum", ones, axis=1)).tolist() == [9.0, 15.0]
    assert k.value(k.tl("sum", k.tl("full", (5, 3), 2, int32))) == 30
    bits = k.tl("full", (5,), True, int1)
    assert k.value(k.tl("xor_sum", bits, axis=0)).item() is True
    assert k.value(k.tl("sum", bits, axis=0)) == 5


def test_batches_reduce_separately():
    x = np.arange(2 * 3 * 5, dtype=np.int32).reshape(2, 3, 5)
    k = Kernel()
    out = k.array(k.tl("sum", k.arg(x, int32, batch=2), axis=0))
    np.testing.assert_array_equal(out[:, :, 0], x.sum(-1))


# ---- max and min -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_extremes_of_every_format(ty, name):
    for axis in [*AXES, None]:
        k = Kernel()
        x = sample(ty)
        out = k.tl(name, k.arg(x, ty), axis=axis)
        narrow = ty.primitive_bitwidth < 32
        assert out.dtype is (ty if not narrow else float32 if ty.is_floating() else int32)
        np.testing.assert_array_equal(k.wide(out), getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize(
    ("row", "largest", "smallest"),
    [
        ([NAN, 6, 8, -INF], 8, -INF),
        ([1, NAN, 3], 3, 1),
        ([NAN, NAN, 2], 2, 2),
        ([NAN] * 4, NAN, NAN),
        ([-0.0, 0.0], 0.0, -0.0),
        ([0.0, -0.0, -0.0], 0.0, -0.0),
    ],
)
def test_extremes_drop_nan(row, largest, smallest):
    for ty in FLOATS:
        kept = widened(stored(row, ty), ty)
        if not np.array_equal(kept, row, equal_nan=True) or (np.signbit(kept) != np.signbit(row)).any():
            continue  # a format without NaN, infinities or -0
        k = Kernel()
        x = k.arg(row, ty)
        for name, want in (("max", largest), ("min", smallest)):
            got = float(k.wide(k.tl(name, x, axis=0)))
            assert (np.isnan(got) and np.isnan(want)) or (got == want and np.signbit(got) == np.signbit(want))


# ---- argmax and argmin -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_indices_of_every_format(ty, name):
    for axis in [0, 1, -1, None]:
        k = Kernel()
        x = sample(ty)
        tensor = k.arg(x, ty)
        value, index = k.tl(name, tensor, axis, return_indices=True)
        assert index.dtype is int32 and value.dtype is (float32 if ty is bfloat16 else ty)
        want = getattr(np, f"arg{name}")(x, axis=axis)
        np.testing.assert_array_equal(k.value(index), want)
        np.testing.assert_array_equal(k.value(k.tl(f"arg{name}", tensor, axis)), want)
        np.testing.assert_array_equal(k.wide(value), getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize(
    ("row", "high", "low"),
    [
        ([NAN, 6, 8, -INF], 2, 3),
        ([5, 5, 5, 5], 0, 0),
        ([-INF, 3, 3, -INF], 1, 0),
        ([NAN, -INF, NAN], 1, 1),
        ([NAN, NAN, NAN], 0, 0),
        ([2, NAN], 0, 0),
        ([0.0, -0.0], 0, 0),
        ([NAN], 0, 0),
    ],
)
def test_a_nan_never_wins_and_ties_take_the_first(row, high, low):
    k = Kernel()
    x = k.arg(row, float32)
    assert (k.value(k.tl("argmax", x, 0)), k.value(k.tl("argmin", x, 0))) == (high, low)
    value, _ = k.tl("max", x, 0, return_indices=True)
    np.testing.assert_array_equal(k.value(value), np.float32(row[high]))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("ty", [float32, float16, int32, uint8], ids=lambda t: t.text)
@pytest.mark.parametrize("name", ["max", "min"])
def test_the_recognised_pair_computes_what_its_region_does(ty, name, left, monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, (40, 7)).astype(np.float64)
    if ty.is_floating():
        values[rng.random(values.shape) < 0.3] = NAN
        values[3] = NAN
        values[values == 0] *= np.where(rng.random((values == 0).sum()) < 0.5, -1, 1)
    k = Kernel()
    x = k.arg(values, ty)
    out = k.tl(name, x, 1, return_indices=True, return_indices_tie_break_left=left)
    op = reduce_op(k)
    assert is_extremum(op.combine) is not None
    fast = [a.tobytes() for a in k.arrays(*out)]
    monkeypatch.setattr("tritium.ops.reduce.is_extremum", lambda region: None)
    assert fast == [a.tobytes() for a in k.arrays(*out)]


def test_the_recognised_pair_takes_any_index(monkeypatch):
    """Ties go to the smaller index, not the first position, when the indices do not rise."""
    values = np.array([[5, 9, 9, 9], [1, 1, 1, 1], [2, 3, 1, 3]])
    index = np.array([[3, 2, 0, 1], [9, 4, 7, 5], [0, 8, 1, 6]])
    for kind in ("max", "min"):
        for left in (True, False):
            k = Kernel()
            x, i = k.arg(values, int32), k.arg(index, int32)
            region = extremum_region(k.s, int32, kind, left)
            out = k.s.emit(Reduce, [x, i], axis=1, combine=region)
            fast = [a.tobytes() for a in k.arrays(*out)]
            with monkeypatch.context() as patch:
                patch.setattr("tritium.ops.reduce.is_extremum", lambda region: None)
                assert fast == [a.tobytes() for a in k.arrays(*out)]


def test_ties_without_tie_break_still_give_an_index_of_the_winner():
    k = Kernel()
    x = [1, 7, 3, 7, 2]
    assert k.value(k.tl("argmax", k.arg(x, int32), 0, tie_break_left=False)) in (1, 3)


def test_arg_reductions_keep_dims():
    k = Kernel()
    x = k.arg(sample(float32), float32)
    assert k.tl("argmax", x, 1, keep_dims=True).dims == (3, 1, 4)
    value, index = k.tl("min", x, None, return_indices=True, keep_dims=True)
    assert value.dims == index.dims == (1, 1, 1)


def test_argmax_of_a_repeated_axis_is_the_first():
    k = Kernel()
    assert k.value(k.tl("argmax", k.tl("full", (6,), 3.0, float32), 0)) == 0


# ---- bits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_xor_and_or(ty):
    x = sample(ty)
    for axis in AXES:
        k = Kernel()
        tensor = k.arg(x, ty)
        np.testing.assert_array_equal(
            k.value(k.tl("xor_sum", tensor, axis)), np.bitwise_xor.reduce(x, axis=axis)
        )
        np.testing.assert_array_equal(
            k.value(k.tl("reduce_or", tensor, axis)), np.bitwise_or.reduce(x, axis=axis)
        )


# ---- custom combine functions ------------------------------------------------------------------------------------


def concatenate(s, a_value, a_scale, b_value, b_scale):
    """Decimal digits side by side: associative, not commutative."""
    from tritium.ops.surface import OPERATORS

    value = OPERATORS["+"](s, OPERATORS["*"](s, a_value, b_scale), b_value)
    return value, OPERATORS["*"](s, a_scale, b_scale)


@pytest.mark.parametrize("extent", [1, 2, 3, 5, 8, 13])
def test_non_commutative_combine_keeps_the_order(extent):
    digits = np.arange(1, extent + 1) % 10
    k = Kernel()
    value = k.arg(np.stack([digits, digits[::-1]], 1), "int64")
    scale = k.tl("full", (extent, 2), 10, DTYPES["int64"])
    number, _ = k.tl("reduce", (value, scale), 0, concatenate)
    want = ["".join(map(str, d)) for d in (digits, digits[::-1])]
    assert [str(v) for v in k.value(number)] == [w.lstrip("0") or "0" for w in want]


def test_reduce_of_a_tile_gives_a_tile_and_of_a_tuple_a_tuple():
    def add(s, a, b):
        from tritium.ops.surface import OPERATORS

        return OPERATORS["+"](s, a, b)

    k = Kernel()
    x = k.arg(sample(int32), int32)
    one = k.tl("reduce", x, -1, add, keep_dims=True)
    assert one.dims == (3, 5, 1)
    (same,) = k.tl("reduce", (x,), constexpr(2), add)
    np.testing.assert_array_equal(k.value(same), sample(int32).sum(-1, dtype=np.int32))
    assert k.method("reduce", x, None, add).dims == ()
    assert single_op(k.function.find(Reduce)[0].combine) is not None


def test_reduce_with_a_function_of_the_language():
    from tritium.ops.surface import SURFACES

    k = Kernel()
    assert k.value(k.tl("reduce", k.arg([3, 9, 4], int32), 0, SURFACES["tl.maximum"])) == 9


def test_a_combine_function_may_return_a_constant():
    k = Kernel()
    x = k.arg(np.arange(10).reshape(2, 5), int32)
    assert k.value(k.tl("reduce", x, 1, lambda s, a, b: 7)).tolist() == [7, 7]
    assert k.value(k.tl("reduce", x, 1, lambda s, a, b: a)).tolist() == [0, 5]
    assert k.value(k.tl("reduce", x, 1, lambda s, a, b: b)).tolist() == [4, 9]


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0602", lambda k, x: k.tl("sum", x, axis=3)),
        ("TRI0602", lambda k, x: k.tl("max", x, axis=-4)),
        ("TRI0602", lambda k, x: k.tl("argmax", x, 5)),
        ("TRI0409", lambda k, x: k.tl("xor_sum", x, 0)),
        ("TRI0409", lambda k, x: k.tl("reduce_or", x, 0)),
        ("TRI0501", lambda k, x: k.tl("sum", x, axis=k.arg(0, int32))),
        ("TRI0510", lambda k, x: k.tl("sum", x, axis=0, dtype=1)),
        ("TRI0612", lambda k, x: k.tl("reduce", x, 0, lambda s, a, b: (a, b))),
        ("TRI0612", lambda k, x: k.tl("reduce", x, 0, lambda s, a, b: s.cast(a, int32))),
        ("TRI0611", lambda k, x: k.tl("reduce", (x, k.arg([1], int32)), 0, lambda s, *v: v[:2])),
        ("TRI0611", lambda k, x: k.tl("reduce", (), 0, lambda s: ())),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg(sample(float32), float32))
    assert caught.value.code == code and caught.value.loc is not None
    assert "{" not in caught.value.message
