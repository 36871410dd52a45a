"""Bits and truth values through their surfaces, against Python integers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ops.edges import edge_values, pairs
from ops.emulate import FLOATS, INTEGERS, Kernel
from ops.refusal import refused
from tritium.ir.types import float32, int1, int8, int32, int64, pointer, uint8, uint32
from tritium.ops.handles import constexpr


def wrapped(value: int, ty) -> int:
    bits = ty.primitive_bitwidth
    value &= (1 << bits) - 1
    return value - (1 << bits) if ty.is_int_signed() and value >> (bits - 1) else value


def shifted_left(a: int, b: int, ty) -> int:
    amount = b & ((1 << ty.primitive_bitwidth) - 1)
    return 0 if amount >= ty.primitive_bitwidth else a << amount


def shifted_right(a: int, b: int, ty) -> int:
    amount = b & ((1 << ty.primitive_bitwidth) - 1)
    return a >> min(amount, 2 * ty.primitive_bitwidth)


EXACT = {
    "&": lambda a, b, ty: a & b,
    "|": lambda a, b, ty: a | b,
    "^": lambda a, b, ty: a ^ b,
    "<<": shifted_left,
    ">>": shifted_right,
}


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
@pytest.mark.parametrize("operator", EXACT)
def test_operators(operator, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator(operator, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    assert out.dtype is ty
    want = [wrapped(EXACT[operator](int(a), int(b), ty), ty) for a, b in zip(x, y, strict=True)]
    assert k.value(out).tolist() == want


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_invert(ty):
    x = edge_values(ty)
    k = Kernel()
    out = k.operator("unary ~", k.raw(x, ty, x.shape))
    assert k.value(out).tolist() == [wrapped(~int(v), ty) for v in x]


@pytest.mark.parametrize(
    ("x", "x_ty", "y", "y_ty", "result", "want"),
    [
        (-8, int32, 1, uint32, uint32, 2**32 - 4),  # promoted to unsigned, but the left side is signed
        (2**31, uint32, 31, int32, uint32, 1),
        (200, uint8, 1, int32, int32, 100),
        (-128, int8, 3, int64, int64, -16),
        (-1, int8, 4, uint8, uint8, 255),
    ],
)
def test_the_left_side_decides_how_a_right_shift_fills(x, x_ty, y, y_ty, result, want):
    k = Kernel()
    out = k.operator(">>", k.arg([x], x_ty), k.arg([y], y_ty))
    assert out.dtype is result
    assert k.value(out).tolist() == [want]


def test_number_on_the_left_of_a_shift():
    k = Kernel()
    x = k.arg([0, 1, 4], int32)
    y = k.arg([0, 1, 4], uint32)
    outs = [k.operator("<<", 1, x), k.operator(">>", -16, x), k.operator(">>", 16, y)]
    assert [k.value(o).tolist() for o in outs] == [[1, 2, 16], [-16, -8, -1], [16, 8, 1]]


def test_wide_shift_warns():
    k = Kernel()
    with pytest.warns(UserWarning, match="reaches the width of int8"):
        k.operator("<<", k.arg([1], int8), constexpr(8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k.operator(">>", k.arg([1], int8), 7)
        k.operator(">>", k.arg([1], int8), k.arg([9], int8))


def test_truth_values():
    x, y = pairs(np.array([False, True]), np.array([False, True]))
    k = Kernel()
    a, b = k.raw(x, int1, x.shape), k.raw(y, int1, y.shape)
    outs = [
        k.operator("and", a, b),
        k.operator("or", a, b),
        k.operator("not", a),
        k.method("logical_and", a, True),
    ]
    assert [o.dtype for o in outs] == [int1] * 4
    want = [[a and b for a, b in zip(x, y, strict=True)], (x | y).tolist(), (~x).tolist(), x.tolist()]
    assert [k.value(o).tolist() for o in outs] == want


def test_refusals():
    k = Kernel()
    i, b, f = k.arg([1], int32), k.arg([True], int1), k.arg([1.0], float32)
    p = k.operator("+", k.raw(np.array([0]), pointer(float32), (1,)), i)
    for operator in EXACT:
        refused("TRI0408", k.operator, operator, f, i)
        refused("TRI0408", k.operator, operator, i, f)
        refused("TRI0408", k.operator, operator, i, 1.5)
    refused("TRI0401", k.operator, "&", p, 7)
    refused("TRI0408", k.operator, "unary ~", f)
    refused("TRI0408", k.operator, "unary ~", p)
    refused("TRI0403", k.operator, "&", k.arg([1], int8), 256)
    for operator in ("and", "or"):
        refused("TRI0411", k.operator, operator, i, b)
        refused("TRI0411", k.operator, operator, b, i)
    refused("TRI0411", k.operator, "not", i)
    for ty in FLOATS:
        refused("TRI0411", k.operator, "not", k.arg([1.0], ty))
