"""Minimum, maximum and clamp through their surfaces, against PyTorch and Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ops.edges import edge_values, pairs, same_bits
from ops.emulate import INTEGERS, NUMBERS, Kernel, widened
from ops.refusal import refused
from tritium.ir.types import bfloat16, float16, float32, float64, int8, int32, uint8
from tritium.ops.handles import constexpr
from tritium.ops.minmax import PropagateNan


def extremum(name: str, a: float, b: float, propagate: bool) -> float:
    """IEEE 754-2019 minimumNumber and maximumNumber, or minimum and maximum if NaN propagates."""
    if math.isnan(a) or math.isnan(b):
        if propagate or (math.isnan(a) and math.isnan(b)):
            return math.nan
        return b if math.isnan(a) else a
    if a == b == 0:
        negative = math.copysign(1, a) < 0 or math.copysign(1, b) < 0
        both = math.copysign(1, a) < 0 and math.copysign(1, b) < 0
        return -0.0 if (negative if name == "minimum" else both) else 0.0
    return min(a, b) if name == "minimum" else max(a, b)


def result_type(ty):
    return float32 if ty is bfloat16 else ty


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_every_pair_of_edges(name, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    for how in (PropagateNan.NONE, PropagateNan.ALL):
        k = Kernel()
        out = k.tl(name, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape), propagate_nan=how)
        assert out.dtype is result_type(ty)
        a, b = widened(x, ty).tolist(), widened(y, ty).tolist()
        if ty.is_int():
            want = [min(p, q) if name == "minimum" else max(p, q) for p, q in zip(a, b, strict=True)]
            assert k.value(out).tolist() == want
        else:
            want = [extremum(name, p, q, how is PropagateNan.ALL) for p, q in zip(a, b, strict=True)]
            assert same_bits(k.wide(out), np.array(want))


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        (float16, 0.0, float32),
        (bfloat16, 0.0, float32),
        (bfloat16, bfloat16, float32),
        (float16, float16, float16),
        (float16, 1, float16),
        (int8, 3, int32),
        (int8, 1.5, float32),
        (float64, 0.0, float64),
        (uint8, int8, uint8),
    ],
)
def test_numbers_are_not_weak(x, y, want):
    k = Kernel()
    other = k.arg([1], y) if hasattr(y, "name") else y
    assert k.tl("minimum", k.arg([1], x), other).dtype is want
    assert k.tl("maximum", other, k.arg([1], x)).dtype is want


@pytest.mark.parametrize("ty", [float16, bfloat16, float32, float64], ids=lambda t: t.text)
def test_clamp(ty):
    x = edge_values(ty)
    values = widened(x, ty)
    for lo, hi in ((-1.5, 2.0), (0.0, 0.0), (-math.inf, math.inf), (1.0, math.inf)):
        for how in PropagateNan:
            k = Kernel()
            out = k.tl("clamp", k.raw(x, ty, x.shape), k.arg([lo], ty), k.arg([hi], ty), how)
            assert out.dtype is result_type(ty)
            low = [extremum("maximum", v, lo, how is PropagateNan.ALL) for v in values]
            want = [extremum("minimum", v, hi, how is PropagateNan.ALL) for v in low]
            assert same_bits(k.wide(out), np.array(want))


def test_clamp_broadcasts_and_promotes():
    k = Kernel()
    x = k.raw(np.arange(3, dtype=np.float16).reshape(3, 1), float16, (3, 1))
    out = k.tl("clamp", x, 0.5, k.arg([1.0, 1.5], float32))
    assert out.dtype is float32
    assert k.value(out).tolist() == [[0.5, 0.5], [1.0, 1.0], [1.0, 1.5]]
    k = Kernel()
    assert k.value(k.tl("clamp", k.arg(7.0, float32), 0.0, 5.0)).item() == 5.0


def test_builtins():
    k = Kernel()
    assert k.tl("builtin.max", 3, constexpr(5), 4).value == 5
    assert k.tl("builtin.min", constexpr(3), 5, 4.5).value == 3
    x = k.arg(np.array(7), int32)
    out = k.tl("builtin.min", 9, x, 8)
    assert out.dtype is int32 and k.value(out).item() == 7
    assert k.value(k.tl("builtin.max", x, 2, 9)).item() == 9


def test_refusals():
    k = Kernel()
    i, f = k.arg([1], int32), k.arg([1.0], float32)
    refused("TRI0409", k.tl, "clamp", i, 0, 5)
    refused("TRI0603", k.tl, "minimum", f, f, propagate_nan=True)
    refused("TRI0603", k.tl, "maximum", f, f, "all")
    refused("TRI0415", k.tl, "maximum", f, None)
    refused("TRI0601", k.tl, "builtin.max", i)
    assert {t.text for t in INTEGERS} == {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}
