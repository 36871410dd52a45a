"""Mathematical functions through their surfaces, against mpmath and exact rules."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from ops.edges import edge_values, same_bits
from ops.emulate import NUMBERS, Kernel, widened
from ops.refusal import refused
from tritium.ir.types import float16, float32, float64, int1, int8, int32, pointer, uint8
from tritium.numerics.formats import format_of
from tritium.ops.handles import constexpr
from tritium.ops.math import Sqrt
from tritium.ops.surface import METHODS, SURFACES

EXACT = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "cos": mpmath.cos,
    "sin": mpmath.sin,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "erf": mpmath.erf,
}
POSITIVE = ("log", "log2", "sqrt", "rsqrt")
POINTS = [1e-30, 1e-4, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 3.7, 10.0, 80.0]


@pytest.mark.parametrize("ty", [float32, float64], ids=lambda t: t.text)
@pytest.mark.parametrize("name", EXACT)
def test_values(name, ty):
    points = POINTS if name in POSITIVE else POINTS + [-p for p in POINTS]
    k = Kernel()
    x = k.arg(points, ty)
    out = k.tl(name, x)
    assert out.dtype is ty
    mantissa = format_of(ty.text).mantissa_bits
    with mpmath.workprec(200):
        for given, got in zip(k.wide(x).tolist(), k.wide(out).tolist(), strict=True):
            want = EXACT[name](mpmath.mpf(given))
            ulp = mpmath.power(2, max(mpmath.floor(mpmath.log(abs(want), 2)), -126) - mantissa) if want else 0
            # What tritium.numerics.special promises: 0.51 ulp for f32, up to 3.1 for f64.
            assert abs(mpmath.mpf(got) - want) <= (0.51 if ty is float32 else 3.1) * ulp, (name, given, got)


SPECIAL = {
    "exp": [(0.0, 1.0), (math.inf, math.inf), (-math.inf, 0.0), (1000.0, math.inf), (-1000.0, 0.0)],
    "exp2": [(0.0, 1.0), (math.inf, math.inf), (-math.inf, 0.0), (10.0, 1024.0), (-1.0, 0.5)],
    "log": [(1.0, 0.0), (0.0, -math.inf), (-0.0, -math.inf), (math.inf, math.inf), (-1.0, math.nan)],
    "log2": [(8.0, 3.0), (0.0, -math.inf), (math.inf, math.inf), (-1.0, math.nan)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (math.inf, math.nan)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (-math.inf, math.nan)],
    "sqrt": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (9.0, 3.0),
        (math.inf, math.inf),
        (-1.0, math.nan),
        (-math.inf, math.nan),
    ],
    "sqrt_rn": [(0.0, 0.0), (-0.0, -0.0), (9.0, 3.0), (math.inf, math.inf), (-1.0, math.nan)],
    "rsqrt": [(4.0, 0.5), (0.0, math.inf), (-0.0, -math.inf), (math.inf, 0.0), (-1.0, math.nan)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (math.inf, 1.0), (-math.inf, -1.0)],
    "floor": [(1.5, 1.0), (-1.5, -2.0), (-0.0, -0.0), (0.3, 0.0), (1e30, 1e30), (-math.inf, -math.inf)],
    "ceil": [(1.5, 2.0), (-1.5, -1.0), (-0.3, -0.0), (-0.0, -0.0), (1e30, 1e30), (math.inf, math.inf)],
}


@pytest.mark.parametrize("ty", [float32, float64], ids=lambda t: t.text)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, ty):
    if name == "sqrt_rn" and ty is float64:
        return
    k = Kernel()
    x = k.arg([*(given for given, _ in SPECIAL[name]), math.nan], ty)
    want = k.arg([*(wanted for _, wanted in SPECIAL[name]), math.nan], ty)
    out = k.tl(name, x)
    assert same_bits(k.value(out), k.inputs[want.value][0, 0, 0]), k.value(out)


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_abs(ty):
    x = edge_values(ty)
    k = Kernel()
    out = k.tl("abs", k.raw(x, ty, x.shape))
    assert out.dtype is ty
    if ty.is_floating():
        assert same_bits(k.wide(out), np.abs(widened(x, ty)))
    else:
        low = ty.get_int_min_value()
        assert k.value(out).tolist() == [int(v) if v == low else abs(int(v)) for v in x]


def test_builtin_abs():
    k = Kernel()
    assert k.tl("builtin.abs", constexpr(-3)).value == 3
    assert k.value(k.tl("builtin.abs", k.arg([-3, 4], int8))).tolist() == [3, 4]
    x = k.arg([3], uint8)
    assert k.tl("abs", x).value is x.value


def test_precise_square_root():
    x = np.random.default_rng(0).random(1000).astype(np.float32)
    k = Kernel()
    out = k.tl("sqrt_rn", k.raw(x, float32, x.shape))
    assert same_bits(k.value(out), np.sqrt(x.astype(np.float64)).astype(np.float32))
    assert k.function.find(Sqrt)[0].precise
    assert not Kernel().tl("sqrt", 2.0).value.owner.precise


def test_sigmoid():
    x = np.array([0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan])
    for ty in (float32, float64):
        k = Kernel()
        out = k.method("sigmoid", k.arg(x, ty))
        assert out.dtype is ty
        with np.errstate(all="ignore"):
            want = 1 / (1 + np.exp(0 - x))
        assert np.allclose(k.wide(out), want, rtol=2e-7, atol=1e-38, equal_nan=True)
    k = Kernel()
    assert k.value(k.tl("sigmoid", 0.0)).item() == 0.5


def test_softmax():
    x = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32) * 10
    e = np.exp(x - x.max(0)[None])
    k = Kernel()
    assert np.allclose(k.value(k.tl("softmax", k.raw(x, float32, (3, 5)))), e / e.sum(0)[None], rtol=1e-6)
    e = np.exp(x - x.max(1)[:, None])
    k = Kernel()
    out = k.method("softmax", k.raw(x, float32, (3, 5)), 1, keep_dims=True)
    assert np.allclose(k.value(out), e / e.sum(1)[:, None], rtol=1e-6)
    k = Kernel()
    assert k.tl("softmax", k.arg([1.0, 2.0], float16)).dtype is float32


def test_math_has_the_same_objects():
    names = [*EXACT, "floor", "ceil", "abs", "sqrt_rn", "div_rn", "fdiv", "fma", "umulhi"]
    for name in names:
        assert SURFACES[f"math.{name}"] is SURFACES[f"tl.{name}"]
    assert {n.removeprefix("math.") for n in SURFACES if n.startswith("math.")} == set(names)
    for name in (*EXACT, "floor", "ceil", "abs", "sqrt_rn", "sigmoid", "softmax", "cdiv"):
        assert METHODS[name] is SURFACES[f"tl.{name}"]


@pytest.mark.parametrize("name", [*EXACT, "floor", "ceil"])
def test_only_fp32_and_fp64(name):
    for ty in NUMBERS:
        k = Kernel()
        x = k.arg([1], ty)
        if ty in (float32, float64):
            assert k.tl(name, x).dtype is ty
        else:
            error = refused("TRI0409", k.tl, name, x)
            assert ".to(tl.float32)" in error.hint and name in error.message
    k = Kernel()
    refused("TRI0409", k.tl, name, k.raw(np.array([0]), pointer(float32), (1,)))
    refused("TRI0409", k.tl, name, 1)
    refused("TRI0415", k.tl, name, None)
    assert k.tl(name, 1.0).dtype is float32


def test_refusals():
    k = Kernel()
    refused("TRI0409", k.tl, "sqrt_rn", k.arg([1.0], float64))
    refused("TRI0409", k.tl, "abs", k.raw(np.array([0]), pointer(float32), (1,)))
    refused("TRI0409", k.tl, "sigmoid", k.arg([1], int32))
    refused("TRI0409", k.tl, "sigmoid", k.arg([True], int1))
