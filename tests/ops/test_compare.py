"""Comparisons through their surfaces, against Python's on exact values."""

from __future__ import annotations

import math
import operator as python

import numpy as np
import pytest

from ops.edges import edge_values, pairs
from ops.emulate import NUMBERS, Kernel, widened
from ops.refusal import refused
from tritium.ir.types import bfloat16, float16, float32, int1, int8, int32, int64, pointer, uint32

EXACT = {
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
    "==": python.eq,
    "!=": python.ne,
}


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
@pytest.mark.parametrize("operator", EXACT)
def test_every_pair_of_edges(operator, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator(operator, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    assert out.dtype is int1
    want = [
        EXACT[operator](a, b) for a, b in zip(widened(x, ty).tolist(), widened(y, ty).tolist(), strict=True)
    ]
    assert k.value(out).tolist() == want


def test_numbers_are_not_weak():
    """1.1 is compared in fp32, so fp16's nearest number to it is less; as a weak number it would be equal."""
    k = Kernel()
    h, b = k.arg([1.1], float16), k.arg([1.1], bfloat16)
    outs = [k.operator("<", h, 1.1), k.operator("==", h, 1.1), k.operator(">", b, 1.1)]
    assert [k.value(o).tolist() for o in outs] == [[True], [False], [True]]
    assert np.float16(1.1) < np.float32(1.1)


def test_mixed_integers_compare_in_the_promoted_type():
    k = Kernel()
    x = k.arg([-1], int32)
    outs = [
        k.operator("<", x, k.arg([1], uint32)),  # -1 becomes 2**32 - 1
        k.operator("<", x, k.arg([1], int64)),
        k.operator("==", k.arg([-1], int8), 255),
    ]
    assert [k.value(o).tolist() for o in outs] == [[False], [True], [False]]


def test_shapes_broadcast():
    k = Kernel()
    rows = k.raw(np.arange(3, dtype=np.int32).reshape(3, 1), int32, (3, 1))
    out = k.operator("<", rows, k.arg(np.arange(4), int32))
    assert k.value(out).tolist() == [[r < c for c in range(4)] for r in range(3)]


def test_nan():
    k = Kernel()
    x = k.arg([math.nan], float32)
    assert {o: k.value(k.operator(o, x, x)).item() for o in EXACT} == {o: o == "!=" for o in EXACT}


def test_refusals():
    k = Kernel()
    p = k.raw(np.array([0]), pointer(float32), (1,))
    refused("TRI0401", k.operator, "==", p, p)
    refused("TRI0401", k.operator, "!=", p, 0)
    refused("TRI0415", k.operator, "<", k.arg([1], int32), None)
    refused("TRI0403", k.operator, "<", k.arg([1], int32), 2**70)
    refused("TRI0401", k.operator, "<", k.arg([1.0], "fp8e5"), 1)
    refused("TRI0407", k.operator, "<", k.arg([1, 2], int32), k.arg([1, 2, 3], int32))
