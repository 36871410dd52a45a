"""tl.where: which value, which type, which shape."""

from __future__ import annotations

import numpy as np
import pytest

from ops.edges import edge_values
from ops.emulate import NUMBERS, Kernel
from ops.refusal import refused
from tritium.ir.types import bfloat16, float16, float32, int1, int8, int32, pointer


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_bits_are_kept(ty):
    x = edge_values(ty)
    y = x[::-1].copy()
    c = np.arange(x.size) % 3 == 0
    k = Kernel()
    out = k.tl("where", k.raw(c, int1, c.shape), k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    bits = f"u{x.dtype.itemsize}"
    assert np.array_equal(k.value(out).view(bits), np.where(c, x.view(bits), y.view(bits)))


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        (float16, 1.5, float16),
        (bfloat16, 0, bfloat16),
        (int32, 0.0, float32),
        (int8, 1, int8),
        (float16, bfloat16, float16),
        (int1, 1, int32),
        (1, 0, int32),
        (1, 0.5, float32),
        (True, False, int1),
    ],
)
def test_numbers_are_weak(x, y, want):
    k = Kernel()
    m = k.arg([True, False], int1)
    a, b = (k.arg([1, 0], v) if hasattr(v, "name") else v for v in (x, y))
    assert k.tl("where", m, a, b).dtype is want
    assert k.tl("where", m, b, a).dtype is want


def test_shapes_broadcast_together():
    k = Kernel()
    c = k.raw(np.array([[True], [False]]), int1, (2, 1))
    out = k.tl("where", c, k.arg([1, 2, 3], int32), k.arg(np.array(9), int32))
    assert k.value(out).tolist() == [[1, 2, 3], [9, 9, 9]]
    k = Kernel()
    out = k.tl("where", k.arg(np.array(True), int1), k.arg([1, 2], int32), 0)
    assert k.value(out).tolist() == [1, 2]
    k = Kernel()
    out = k.tl("where", k.arg(np.array(False), int1), 1.5, 2.5)
    assert out.dims == () and k.value(out).item() == 2.5


def test_condition_of_another_type_is_compared_with_zero():
    k = Kernel()
    outs = [
        k.tl("where", k.arg([0, 2, -1], int32), 1, 0),
        k.tl("where", k.arg([0.0, -0.0, 0.5], float32), 1, 0),
    ]
    assert [k.value(o).tolist() for o in outs] == [[0, 1, 1], [0, 0, 1]]


def test_pointers():
    k = Kernel()
    p = k.raw(np.array(64), pointer(float32), ())
    out = k.tl("where", k.arg([True, False], int1), p, k.operator("+", p, 1))
    assert out.dtype == pointer(float32) and k.value(out).tolist() == [64, 68]
    h = k.raw(np.array(64), pointer(float16), ())
    refused("TRI0401", k.tl, "where", k.arg([True], int1), p, h)
    refused("TRI0401", k.tl, "where", k.arg([True], int1), p, 0)


def test_refusals():
    k = Kernel()
    m, i = k.arg([True, False], int1), k.arg([1, 2, 3], int32)
    refused("TRI0407", k.tl, "where", m, i, 0)
    refused("TRI0403", k.tl, "where", m, k.arg([1], int8), 300)
    refused("TRI0415", k.tl, "where", m, i, None)
