"""Scans against sequential loops: every axis and extent, reverse, pairs, operators that do not commute."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import FLOATS, INTEGERS, Kernel
from ops.test_reduce import concatenate, sample
from tritium.errors import CompilationError
from tritium.ir.types import DTYPES, bfloat16, float16, float32, int1, int8, int32, uint32
from tritium.ops.surface import OPERATORS, SURFACES


def along(x, axis, step, reverse=False):
    """The sequential scan of `x` along `axis`."""
    parts = np.moveaxis(x, axis, 0)
    order = range(len(parts) - 1, -1, -1) if reverse else range(len(parts))
    out = np.empty_like(parts)
    total = None
    for i in order:
        total = parts[i] if total is None else step(total, parts[i])
        out[i] = total
    return np.moveaxis(out, 0, axis)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_running_sums_and_products_of_integers(ty, axis, reverse):
    k = Kernel()
    x = sample(ty)
    tensor = k.arg(x, ty)
    total = k.tl("cumsum", tensor, axis, reverse=reverse)
    wide = ty if ty.primitive_bitwidth >= 32 else uint32 if ty.is_int_unsigned() else int32
    assert total.dtype is wide
    want = along(x.astype(k.value(total).dtype), axis, np.add, reverse)
    np.testing.assert_array_equal(k.value(total), want)
    product = k.tl("cumprod", tensor, axis, reverse)
    assert product.dtype is ty  # products do not widen
    step = np.logical_and if ty is int1 else np.multiply
    np.testing.assert_array_equal(k.value(product), along(x, axis, step, reverse))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("ty", FLOATS, ids=lambda t: t.text)
def test_running_sums_of_floats(ty, axis, reverse):
    k = Kernel()
    x = np.clip(sample(ty), -0.25, 0.25)
    out = k.tl("cumsum", k.arg(x, ty), axis=axis, reverse=reverse)
    assert out.dtype is (float32 if ty is bfloat16 else ty)
    np.testing.assert_array_equal(k.wide(out), along(x, axis, np.add, reverse))


def test_types_of_running_products_and_dtype():
    k = Kernel()
    assert k.tl("cumprod", k.arg([1.5, 2], bfloat16)).dtype is float32
    assert k.tl("cumprod", k.arg([1.5, 2], float16)).dtype is float16
    assert k.tl("cumsum", k.arg([1.5, 2], float16), dtype=float32).dtype is float32
    assert k.tl("cumsum", k.arg([100, 100], int8), dtype=int8).dtype is int8
    assert k.method("cumsum", k.arg([1, 2, 3], int32), reverse=True).dims == (3,)


@pytest.mark.parametrize("extent", [1, 2, 3, 7, 16, 33, 1000])
def test_fp32_running_sum_is_close_to_exact(extent):
    x = np.random.default_rng(extent).standard_normal((2, extent)).astype(np.float32)
    k = Kernel()
    out = k.value(k.tl("cumsum", k.arg(x, float32), axis=1))
    np.testing.assert_allclose(out, np.cumsum(x.astype(np.float64), 1), rtol=0, atol=2e-5)


def decay_then_add(s, g0, x0, g1, x1):
    add, mul = OPERATORS["+"], OPERATORS["*"]
    return mul(s, g0, g1), add(s, mul(s, x0, g1), x1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("extent", [1, 2, 5, 8, 31])
def test_linear_recurrence(extent, axis, reverse):
    """The state of h = h * g + x after every step; the operator is associative and does not commute."""
    shape = (extent, 3) if axis == 0 else (3, extent)
    rng = np.random.default_rng(extent)
    g = rng.choice([0.5, 1.0, 2.0], shape)
    x = rng.integers(-4, 5, shape).astype(np.float64)
    want = np.moveaxis(np.empty(shape), axis, 0)
    gs, xs = np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    order = list(range(extent))[:: -1 if reverse else 1]
    h = np.zeros(3)
    for i in order:
        h = h * gs[i] + xs[i]
        want[i] = h
    k = Kernel()
    f64 = DTYPES["fp64"]
    _, out = k.tl("associative_scan", (k.arg(g, f64), k.arg(x, f64)), axis, decay_then_add, reverse=reverse)
    np.testing.assert_allclose(k.value(out), np.moveaxis(want, 0, axis), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("extent", [1, 2, 6, 11])
def test_order_of_a_non_commutative_scan(extent):
    digits = np.arange(1, extent + 1) % 10
    k = Kernel()
    i64 = DTYPES["int64"]
    value, scale = k.arg(digits, i64), k.tl("full", (extent,), 10, i64)
    number, _ = k.tl("associative_scan", (value, scale), 0, concatenate)
    assert k.value(number).tolist() == [int("".join(map(str, digits[: i + 1]))) for i in range(extent)]
    back, _ = k.tl("associative_scan", (value, scale), 0, concatenate, reverse=True)
    want = [int("".join(map(str, digits[i:][::-1]))) for i in range(extent)]
    assert k.value(back).tolist() == want


def test_batches_and_repeated_axes():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    k = Kernel()
    tensor = k.arg(x, int32, batch=1)
    wide = k.tl("broadcast_to", k.tl("expand_dims", tensor, 1), 3, 4)
    np.testing.assert_array_equal(
        k.array(k.tl("cumsum", wide, axis=1))[:, 0, 0], x[:, :, None] * np.arange(1, 5)
    )
    np.testing.assert_array_equal(
        k.array(k.tl("cumsum", wide, axis=0))[:, 0, 0], np.repeat(x.cumsum(1)[:, :, None], 4, 2)
    )


def test_scan_with_a_function_of_the_language():
    k = Kernel()
    x = k.arg([3, 1, 4, 1, 5], int32)
    assert k.value(k.tl("associative_scan", x, 0, SURFACES["tl.maximum"])).tolist() == [3, 3, 4, 4, 5]
    (only,) = k.tl("associative_scan", (x,), -1, SURFACES["tl.minimum"], True)
    assert k.value(only).tolist() == [1, 1, 1, 1, 5]


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0602", lambda k, x: k.tl("cumsum", x, axis=3)),
        ("TRI0501", lambda k, x: k.tl("cumsum", x, axis=None)),
        ("TRI0501", lambda k, x: k.tl("cumsum", x, reverse=k.arg(1, int32))),
        ("TRI0612", lambda k, x: k.tl("associative_scan", x, 0, lambda s, a, b: (a, b))),
        ("TRI0611", lambda k, x: k.tl("associative_scan", (x, k.arg([1], int32)), 0, None)),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg(sample(float32), float32))
    assert caught.value.code == code and caught.value.loc is not None
