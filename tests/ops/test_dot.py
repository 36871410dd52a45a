"""Products of matrices: types, shapes and options of `tl.dot`, values against NumPy; `tl.dot_scaled` against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import FLOATS, Kernel, stored, widened
from tritium.config import override
from tritium.errors import CompilationError
from tritium.ir.types import (
    bfloat16,
    float8e4nv,
    float8e5,
    float16,
    float32,
    float64,
    int8,
    int32,
    uint8,
    uint16,
)
from tritium.ops.dot import Dot

SHAPES = [(1, 1, 1), (1, 4, 2), (5, 7, 6), (3, 1, 17), (16, 8, 16), (33, 2, 3)]
OPERANDS = [*FLOATS, int8]


def integers(shape, seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float64)


@pytest.mark.parametrize("ty", OPERANDS, ids=lambda t: t.text)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_small_integers_multiply_exactly(shape, ty):
    m, n, depth = shape
    a, b = integers((m, depth)), integers((depth, n), 1)
    if ty.text == "f8e4b15":
        a, b = a / 2, b / 2
    k = Kernel()
    out = k.tl("dot", k.arg(a, ty), k.arg(b, ty))
    assert out.dtype is (int32 if ty is int8 else float64 if ty is float64 else float32)
    np.testing.assert_array_equal(k.wide(out), a @ b)


@pytest.mark.parametrize("ty", [float16, *[t for t in FLOATS if t.is_fp8()]], ids=lambda t: t.text)
def test_fp16_results_are_rounded_once(ty):
    a, b = integers((4, 40)) / 2, integers((40, 3), 1) / 2
    acc = np.full((4, 3), 2048.0)
    k = Kernel()
    x, y = k.arg(a, ty), k.arg(b, ty)
    out = k.tl("dot", x, y, out_dtype=float16)
    assert out.dtype is float16
    np.testing.assert_array_equal(k.value(out), (a @ b).astype(np.float16))
    added = k.tl("dot", x, y, acc=k.arg(acc, float16))
    assert added.dtype is float16  # the accumulator's type is the default
    np.testing.assert_array_equal(k.value(added), (a @ b + acc).astype(np.float16))


def test_random_fp32_and_bf16_products():
    rng = np.random.default_rng(0)
    for ty, bound in ((float32, 2e-6), (bfloat16, 2e-6), (float64, 1e-14)):
        k = Kernel()
        a = widened(stored(rng.standard_normal((20, 30)), ty), ty)
        b = widened(stored(rng.standard_normal((30, 10)), ty), ty)
        out = k.wide(k.tl("dot", k.arg(a, ty), k.arg(b, ty)))
        np.testing.assert_array_less(np.abs(out - a @ b), bound * (np.abs(a) @ np.abs(b)) + 1e-300)


def test_int8_extremes():
    a, b = np.full((2, 300), -128), np.full((300, 2), -128)
    k = Kernel()
    acc = k.arg(np.full((2, 2), 2**31 - 1), int32)
    x, y = k.arg(a, int8), k.arg(b, int8)
    assert k.value(k.tl("dot", x, y)).tolist() == [[300 * 2**14] * 2] * 2
    assert k.value(k.tl("dot", x, y, acc)).tolist() == [[300 * 2**14 - 2**31 - 1] * 2] * 2
    assert k.tl("dot", x, y, acc, out_dtype=int32).dtype is int32


def test_mixed_fp8_and_the_operator():
    a, b = integers((3, 5)), integers((5, 2))
    k = Kernel()
    out = k.tl("dot", k.arg(a, float8e5), k.arg(b, float8e4nv))
    np.testing.assert_array_equal(k.wide(out), a @ b)
    np.testing.assert_array_equal(k.wide(k.operator("@", k.arg(a, float32), k.arg(b, float32))), a @ b)


def test_product_is_summed_before_the_accumulator_is_added():
    k = Kernel()
    big = 2.0**24
    out = k.tl(
        "dot",
        k.arg([[1.0] * 8], float32),
        k.arg([[0.25]] * 8, float32),
        acc=k.arg([[big]], float32),
    )
    assert k.value(out) == big + 2  # one by one, each 0.25 would be lost
    (op,) = k.function.find(Dot)
    assert op.acc is not None


def test_batches():
    a, b = integers((2, 3, 4, 5, 6)), integers((2, 3, 4, 6, 7))
    k = Kernel()
    out = k.tl("dot", k.arg(a, float16), k.arg(b, float16), acc=k.tl("zeros", (2, 3, 4, 5, 7), float32))
    assert out.dims == (2, 3, 4, 5, 7)
    np.testing.assert_array_equal(k.value(out), a @ b)
    three = k.tl("dot", k.arg(a[0, 0], float16), k.arg(b[0, 0], float16))
    np.testing.assert_array_equal(k.value(three), a[0, 0] @ b[0, 0])


def test_program_axes_that_one_operand_lacks_stay_short():
    a, b = integers((2, 1, 1, 4, 6)), integers((1, 3, 1, 6, 5), 1)
    k = Kernel()
    x, y = k.arg(a[:, :, 0], float32, batch=2), k.arg(b[:, :, 0], float32, batch=2)
    acc = k.tl("zeros", (4, 5), float32)
    out = k.tl("dot", x, y, acc)
    np.testing.assert_array_equal(k.array(out), (a @ b).astype(np.float32))
    alone = k.tl("dot", x, x_transposed(k, x))
    assert k.run()[alone.value].shape == (2, 1, 1, 4, 4)


def x_transposed(k, x):
    return k.tl("trans", x)


@pytest.mark.parametrize("a_real", [(4, 6), (1, 6), (4, 1), (1, 1)])
@pytest.mark.parametrize("b_real", [(6, 5), (6, 1), (1, 5), (1, 1)])
def test_repeated_axes(a_real, b_real):
    a, b = integers(a_real).astype(np.float32), integers(b_real, 1).astype(np.float32)
    k = Kernel()
    out = k.tl("dot", k.raw(a, float32, (4, 6)), k.raw(b, float32, (6, 5)))
    np.testing.assert_array_equal(k.value(out), np.broadcast_to(a, (4, 6)) @ np.broadcast_to(b, (6, 5)))


# ---- precision ---------------------------------------------------------------------------------------------------


def precision(ty=float32, options=None, **kw):
    k = Kernel(**(options or {}))
    x = k.arg(integers((2, 2)), ty)
    k.tl("dot", x, x, **kw)
    (op,) = k.function.find(Dot)
    return op.precision


def test_which_precision_is_asked_for():
    assert precision() == "default"
    assert precision(allow_tf32=True) == "tf32"
    assert precision(allow_tf32=False) == "ieee"
    for name in ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"):
        assert precision(input_precision=name) == name
    assert precision(input_precision="IEEE") == "ieee"
    assert precision(float16, input_precision="tf32") == "ieee"  # no meaning there
    forced = {"fp32_default": "tf32x3"}
    assert precision(options=forced) == "tf32x3"
    assert precision(options=forced, allow_tf32=False) == "tf32x3"
    assert precision(options=forced, input_precision="ieee") == "ieee"
    launch = {"default_dot_input_precision": "bf16x3"}
    assert precision(options=launch) == "bf16x3" and precision(options=launch, allow_tf32=True) == "tf32"
    with override(f32_default="tf32"):
        assert precision(allow_tf32=False) == "tf32"
    with pytest.raises(CompilationError, match="TRITON_F32_DEFAULT"):
        precision(options={"fp32_default": "tf64"})


def test_values_of_the_precisions():
    a = np.full((16, 16), 1.0 + 2.0**-12)
    errors = {}
    for name in ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", None):
        k = Kernel()
        out = k.wide(k.tl("dot", k.arg(a, float32), k.arg(np.eye(16), float32), input_precision=name))
        errors[name] = np.abs(out - a).max()
    assert errors[None] == errors["ieee"] == errors["tf32x3"] == errors["bf16x6"] == 0
    assert errors["tf32"] == 2.0**-12 and errors["bf16x3"] <= 2.0**-16


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0604", lambda k, a: k.tl("dot", a, k.arg(integers((4, 3)), float32))),
        ("TRI0604", lambda k, a: k.tl("dot", a, k.arg([1.0] * 5, float32))),
        ("TRI0604", lambda k, a: k.tl("dot", k.arg([1.0], float32), k.arg([1.0], float32))),
        (
            "TRI0604",
            lambda k, a: k.tl(
                "dot", k.arg(integers((2, 4, 5)), float32), k.arg(integers((3, 5, 4)), float32)
            ),
        ),
        ("TRI0605", lambda k, a: k.tl("dot", a, k.arg(integers((5, 2)), float16))),
        ("TRI0605", lambda k, a: k.tl("dot", k.arg([[1]], uint8), k.arg([[1]], uint8))),
        ("TRI0605", lambda k, a: k.tl("dot", k.arg([[1]], int32), k.arg([[1]], int32))),
        ("TRI0606", lambda k, a: k.tl("dot", a, k.tl("trans", a), acc=k.tl("zeros", (4, 5), float32))),
        ("TRI0606", lambda k, a: k.tl("dot", a, k.tl("trans", a), acc=k.tl("zeros", (4, 4), float16))),
        ("TRI0606", lambda k, a: k.tl("dot", a, k.tl("trans", a), out_dtype=bfloat16)),
        ("TRI0606", lambda k, a: half(k, out_dtype=float64)),
        ("TRI0606", lambda k, a: half(k, acc=k.arg([[1]], int32))),
        ("TRI0606", lambda k, a: half(k, acc=k.arg([[1.0]], float16), out_dtype=float32)),
        (
            "TRI0606",
            lambda k, a: k.tl("dot", a, k.tl("trans", a), k.tl("zeros", (4, 4), float32), out_dtype=int32),
        ),
        ("TRI0607", lambda k, a: k.tl("dot", a, k.tl("trans", a), input_precision="ieee", allow_tf32=True)),
        ("TRI0603", lambda k, a: k.tl("dot", a, k.tl("trans", a), input_precision="fp32")),
        ("TRI0603", lambda k, a: fp8(k, max_num_imprecise_acc=3)),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg(integers((4, 5)), float32))
    assert caught.value.code == code and caught.value.loc is not None
    assert "{" not in caught.value.message


def half(k, **kw):
    return k.tl("dot", k.arg([[1.0]], float16), k.arg([[1.0]], float16), **kw)


def fp8(k, **kw):
    return k.tl("dot", k.arg([[1.0, 1]], float8e5), k.arg([[1.0], [1]], float8e5), **kw)


def test_imprecise_accumulation_is_a_hint_for_fp8():
    k = Kernel()
    fp8(k, max_num_imprecise_acc=2)
    half(k, max_num_imprecise_acc=128)
    assert [op.imprecise for op in k.function.find(Dot)] == [2, None]


# ---- dot_scaled --------------------------------------------------------------------------------------------------

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def e2m1(nibbles):
    return np.where(nibbles & 8, -1, 1) * E2M1[nibbles & 7]


def operand(rng, form, shape, axis, packed):
    """A tile in format `form`, and its elements."""
    if form == "e2m1":
        nibbles = rng.integers(0, 16, shape, dtype=np.uint8)
        low = np.take(nibbles, np.arange(0, shape[packed], 2), packed)
        high = np.take(nibbles, np.arange(1, shape[packed], 2), packed)
        return low | high << 4, uint8, e2m1(nibbles)
    ty = {"e4m3": float8e4nv, "e5m2": float8e5, "bf16": bfloat16, "fp16": float16}[form]
    values = widened(stored(rng.integers(-6, 7, shape), ty), ty)
    return stored(values, ty), ty, values


@pytest.mark.parametrize("rhs", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
@pytest.mark.parametrize("lhs", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
def test_formats_and_scales(lhs, rhs):
    rng = np.random.default_rng(7)
    m, n, depth = 6, 4, 96
    a, a_ty, a_values = operand(rng, lhs, (m, depth), 1, 1)
    b, b_ty, b_values = operand(rng, rhs, (depth, n), 0, 0)
    a_scale, b_scale = rng.integers(124, 131, (m, depth // 32)), rng.integers(124, 131, (n, depth // 32))
    k = Kernel()
    acc = k.arg(np.full((m, n), 100.0), float32)
    out = k.tl(
        "dot_scaled",
        k.raw(a, a_ty, a.shape),
        k.arg(a_scale, uint8),
        lhs,
        k.raw(b, b_ty, b.shape),
        k.arg(b_scale, uint8),
        rhs,
        acc=acc,
    )
    x = a_values * np.repeat(2.0 ** (a_scale - 127), 32, 1)
    y = b_values * np.repeat(2.0 ** (b_scale - 127), 32, 1).T
    assert out.dtype is float32
    np.testing.assert_allclose(k.value(out), 100 + x @ y, rtol=1e-5, atol=1e-4)


def test_one_scale_or_none_and_bits():
    a, b = integers((2, 32)), integers((32, 3))
    k = Kernel()
    bits = stored(a, float8e4nv).view(np.uint8)
    out = k.tl(
        "dot_scaled",
        k.raw(bits, uint8, bits.shape),
        None,
        "e4m3",
        k.arg(b, bfloat16),
        k.arg([[128]] * 3, uint8),
        "bf16",
    )
    np.testing.assert_array_equal(k.value(out), 2 * (a @ b))
    half = stored(b, float16).view(np.uint16)
    out = k.tl("dot_scaled", k.arg(a, float16), None, "fp16", k.raw(half, uint16, half.shape), None, "fp16")
    np.testing.assert_array_equal(k.value(out), a @ b)


def test_scales_at_the_ends():
    k = Kernel()
    a = np.zeros((1, 64))
    a[0, 0], a[0, 32] = 1, 1
    ones = k.tl("full", (64, 1), 1.0, float8e5)
    least = k.tl("dot_scaled", k.arg(a, float8e5), k.arg([[0, 0]], uint8), "e5m2", ones, None, "e5m2")
    assert k.value(least) == 2.0**-126
    most = k.tl("dot_scaled", k.arg(a / 2, float8e5), k.arg([[254, 0]], uint8), "e5m2", ones, None, "e5m2")
    assert k.value(most) == 2.0**126
    nan = k.tl("dot_scaled", k.arg(a, float8e5), k.arg([[255, 0]], uint8), "e5m2", ones, None, "e5m2")
    assert np.isnan(k.value(nan))


def test_fp8_scales_come_every_sixteen():
    rng = np.random.default_rng(8)
    a, _, values = operand(rng, "e2m1", (3, 32), 1, 1)
    scale = np.array([[0.5, 2], [1, 1.5], [4, 8]])
    k = Kernel()
    out = k.tl(
        "dot_scaled",
        k.raw(a, uint8, a.shape),
        k.arg(scale, float8e4nv),
        "e2m1",
        k.arg(np.eye(32), bfloat16),
        None,
        "bf16",
    )
    np.testing.assert_array_equal(k.value(out), values * np.repeat(scale, 16, 1))


def test_packing_along_the_outer_axes():
    rng = np.random.default_rng(9)
    a, _, a_values = operand(rng, "e2m1", (6, 32), 1, 0)
    b, _, b_values = operand(rng, "e2m1", (32, 4), 0, 1)
    k = Kernel()
    out = k.tl(
        "dot_scaled",
        k.raw(a, uint8, a.shape),
        k.arg([[127]] * 6, uint8),
        "e2m1",
        k.raw(b, uint8, b.shape),
        k.arg([[128]] * 4, uint8),
        "e2m1",
        lhs_k_pack=False,
        rhs_k_pack=False,
    )
    assert out.dims == (6, 4)
    np.testing.assert_array_equal(k.value(out), 2 * (a_values @ b_values))


def test_batched_scaled_product():
    rng = np.random.default_rng(10)
    a, b = integers((2, 3, 32)), integers((2, 32, 4), 1)
    scale = rng.integers(125, 130, (2, 3, 1))
    k = Kernel()
    out = k.tl(
        "dot_scaled", k.arg(a, bfloat16), k.arg(scale, uint8), "bf16", k.arg(b, bfloat16), None, "bf16"
    )
    np.testing.assert_array_equal(k.value(out), (a * 2.0 ** (scale - 127)) @ b)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lhs_format": "e3m2"}, "no format"),
        ({"lhs_format": "e5m2"}, "does not hold"),
        ({"lhs_scale": "wrong"}, "lhs_scale has shape"),
        ({"rhs_k_pack": False}, 'only "e2m1" is packed'),
        ({"out_dtype": float16}, "the result is fp32"),
        ({"acc": "wrong"}, "acc is"),
        ({"rhs": "wrong"}, "cannot be multiplied"),
    ],
    ids=str,
)
def test_scaled_mistakes_are_located_errors(change, problem):
    k = Kernel()
    wrong = {
        "lhs_scale": k.arg([[127, 127]] * 2, uint8),
        "acc": k.tl("zeros", (3, 2), float32),
        "rhs": k.arg(integers((64, 3)), bfloat16),
    }
    given = {
        "lhs": k.arg(integers((2, 32)), float8e4nv),
        "lhs_scale": k.arg([[127]] * 2, uint8),
        "lhs_format": "e4m3",
        "rhs": k.arg(integers((32, 3)), bfloat16),
        "rhs_scale": None,
        "rhs_format": "bf16",
    }
    given.update({n: wrong[n] if isinstance(v, str) and v == "wrong" else v for n, v in change.items()})
    with pytest.raises(CompilationError, match=problem) as caught:
        k.tl("dot_scaled", **given)
    assert caught.value.code == "TRI0622" and caught.value.loc is not None
