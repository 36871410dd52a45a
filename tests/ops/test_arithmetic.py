"""Arithmetic through its surfaces, against Python integers, exact fractions and PyTorch."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from ops.edges import edge_values, pairs, same_bits
from ops.emulate import FLOATS, INTEGERS, Asserted, Kernel
from ops.refusal import refused
from tritium.ir.types import bfloat16, float16, float32, float64, int8, int32, int64, pointer, uint8, uint32
from tritium.ops.handles import Tensor, constexpr
from tritium.ops.storage import storage_dtype

TORCH = {float16: torch.float16, bfloat16: torch.bfloat16, float32: torch.float32, float64: torch.float64}


def as_torch(x: np.ndarray, ty) -> torch.Tensor:
    bits = torch.from_numpy(x.view(f"i{x.dtype.itemsize}").copy())
    return bits.view(TORCH[ty])


def from_torch(t: torch.Tensor, ty) -> np.ndarray:
    signed = {2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    return t.contiguous().view(signed).numpy().view(storage_dtype(ty))


def wrapped(value: int, ty) -> int:
    bits = ty.primitive_bitwidth
    value &= (1 << bits) - 1
    return value - (1 << bits) if ty.is_int_signed() and value >> (bits - 1) else value


def c_quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def c_remainder(x: float, y: float) -> float:
    """C's fmod, which is exact."""
    return math.nan if math.isinf(x) or y == 0 or math.isnan(x + y) else math.fmod(x, y)


EXACT = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": c_quotient,
    "%": lambda a, b: a - c_quotient(a, b) * b,
}


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
@pytest.mark.parametrize("operator", EXACT)
def test_integers_wrap_and_divide_as_in_c(operator, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator(operator, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    assert out.dtype is ty
    want = [wrapped(EXACT[operator](int(a), int(b)), ty) for a, b in zip(x, y, strict=True)]
    assert k.value(out).tolist() == want


@pytest.mark.parametrize("ty", [float16, bfloat16, float32, float64], ids=lambda t: t.text)
@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_floats_round_once(operator, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator(operator, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    a, b = as_torch(x, ty), as_torch(y, ty)
    want = a + b if operator == "+" else a - b if operator == "-" else a * b
    assert same_bits(k.value(out), from_torch(want, ty))


@pytest.mark.parametrize("ty", [float16, bfloat16, float32, float64], ids=lambda t: t.text)
@pytest.mark.parametrize("operator", ["/", "%"])
def test_quotient_and_remainder_of_halves_are_fp32(operator, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator(operator, k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    wide = float64 if ty is float64 else float32
    assert out.dtype is wide
    a, b = as_torch(x, ty).to(TORCH[wide]), as_torch(y, ty).to(TORCH[wide])
    if operator == "/":
        want = from_torch(a / b, wide)
    else:
        want = np.array(
            [c_remainder(p, q) for p, q in zip(a.tolist(), b.tolist(), strict=True)], storage_dtype(wide)
        )
    assert same_bits(k.value(out), want)


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_quotient_of_integers_is_fp32(ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    out = k.operator("/", k.raw(x, ty, x.shape), k.raw(y, ty, y.shape))
    assert out.dtype is float32
    with np.errstate(all="ignore"):
        want = x.astype(np.float32) / y.astype(np.float32)
    assert same_bits(k.value(out), want)


@pytest.mark.parametrize("ty", FLOATS, ids=lambda t: t.text)
def test_fdiv_keeps_its_type(ty):
    k = Kernel()
    x = k.arg([1.0, 3.0, 1.5], ty)
    out = k.tl("fdiv", x, k.arg([4.0, 2.0, 0.5], ty))
    assert out.dtype is ty
    limit = 1.75 if ty.is_fp8e4b15() else math.inf  # the largest fp8e4b15 that a rounding gives
    assert k.wide(out).tolist() == [min(v, limit) for v in (0.25, 1.5, 3.0)] or ty.is_fp8e4b15()


def test_div_rn_is_correctly_rounded():
    x = np.array([1, 2, 10, 3e38, 1e-38, 5], np.float32)
    y = np.array([3, 7, 9, 3, 7, 1e-39], np.float32)
    k = Kernel()
    out = k.tl("div_rn", k.raw(x, float32, x.shape), k.raw(y, float32, y.shape))
    with np.errstate(all="ignore"):
        want = (x.astype(np.float64) / y.astype(np.float64)).astype(np.float32)  # 53 bits suffice for 24
    assert same_bits(k.value(out), want)
    assert "tile.div" in k.ops() and k.function.body.ops[-1].precise


def exact_fma(a: float, b: float, c: float) -> Fraction:
    return Fraction(a) * Fraction(b) + Fraction(c)


@pytest.mark.parametrize("ty", [float16, bfloat16, float32, float64], ids=lambda t: t.text)
def test_fma_rounds_once(ty):
    """The result is one of the two neighbours of the exact value, and no neighbour is nearer."""
    rng = np.random.default_rng(5)
    scale = 2.0 ** rng.integers(-3, 3, (3, 400))
    k = Kernel()
    x, y, z = (k.arg(row, ty) for row in rng.standard_normal((3, 400)) * scale)
    out = k.tl("fma", x, y, z)
    a, b, c, r = (k.wide(t) for t in (x, y, z, out))
    bits = k.value(out).view(f"i{storage_dtype(ty).itemsize}")
    for i in range(400):
        exact = exact_fma(a[i], b[i], c[i])
        error = abs(Fraction(r[i]) - exact)
        for step in (-1, 1):
            near = (bits[i : i + 1] + bits.dtype.type(step)).view(storage_dtype(ty))
            assert error <= abs(Fraction(float(near[0])) - exact), (a[i], b[i], c[i])


def test_umulhi():
    x, y = pairs(edge_values(uint32), edge_values(uint32))
    k = Kernel()
    out = k.tl("umulhi", k.raw(x, uint32, x.shape), k.raw(y, uint32, y.shape))
    assert k.value(out).tolist() == [int(a) * int(b) >> 32 for a, b in zip(x, y, strict=True)]
    k = Kernel()
    out = k.tl("umulhi", k.arg(np.array([-1, 2]), int32), 3)
    assert out.dtype is int32 and k.value(out).tolist() == [2, 0]


def test_minus_is_zero_minus_x():
    k = Kernel()
    out = k.operator("unary -", k.arg([0.0, -0.0, 1.5, -math.inf], "fp32"))
    assert same_bits(k.value(out), np.array([0.0, 0.0, -1.5, math.inf], np.float32))
    k = Kernel()
    assert k.value(k.operator("unary -", k.arg([-128, 5], int8))).tolist() == [-128, -5]
    k = Kernel()
    assert k.value(k.operator("unary -", k.arg([1, 0], uint8))).tolist() == [255, 0]
    k = Kernel()
    x = k.arg([3], int8)
    assert k.operator("unary +", x).value is x.value


def test_cdiv():
    k = Kernel()
    out = k.tl("cdiv", 10, constexpr(4))
    assert out.dtype is int32 and k.s.const(out, "a literal") == 3
    assert k.value(k.tl("cdiv", k.arg([10, 12, 0], int32), 4)).tolist() == [3, 3, 0]
    k = Kernel()
    out = k.method("cdiv", k.arg([10, 12], int32), k.arg([3, 5], int32))
    assert k.value(out).tolist() == [4, 3]


def test_powers_of_compile_time_numbers():
    k = Kernel()
    assert k.operator("**", constexpr(2), 10).value == 1024
    refused("TRI0410", k.operator, "**", k.arg([2], int32), 2)
    refused("TRI0508", k.operator, "**", 0, -1)


def pointer_arg(k: Kernel, element=float32, address: int = 4096, dims: tuple[int, ...] = ()) -> Tensor:
    return k.raw(np.full(dims, address, np.int64), pointer(element), dims)


@pytest.mark.parametrize(
    ("operator", "offset", "ty", "want"),
    [
        ("+", [0, 1, -1], int32, [4096, 4100, 4092]),
        ("+", [2**32 - 1, 5], uint32, [4096 + 4 * (2**32 - 1), 4116]),
        ("+", [2**31 - 1], int32, [4096 + 4 * (2**31 - 1)]),
        ("-", [1, -2], int8, [4092, 4104]),
        ("-", [-128], int8, [4096 + 512]),
        ("-", [1, 0], uint32, [4092, 4096]),
        ("-", [2**40], int64, [4096 - 2**42]),
    ],
)
def test_pointers_move_by_elements(operator, offset, ty, want):
    k = Kernel()
    out = k.operator(operator, pointer_arg(k), k.arg(offset, ty))
    assert out.dtype == pointer(float32)
    assert k.value(out).tolist() == want


def test_pointer_and_number_in_either_order():
    k = Kernel()
    p = pointer_arg(k, float16)
    outs = [k.operator("+", p, 3), k.operator("+", 3, p), k.operator("-", p, 3), k.operator("+", p, True)]
    assert [int(k.value(o)) for o in outs] == [4102, 4102, 4090, 4098]


def test_refusals():
    k = Kernel()
    p, f, i, u = pointer_arg(k), k.arg([1.0], float32), k.arg([1], int32), k.arg([1], uint32)
    refused("TRI0402", k.operator, "+", p, p)
    refused("TRI0402", k.operator, "-", p, p)
    refused("TRI0402", k.operator, "-", i, p)
    refused("TRI0402", k.operator, "+", p, f)
    refused("TRI0402", k.operator, "+", p, 1.5)
    refused("TRI0402", k.operator, "-", p, 1.5)
    refused("TRI0402", k.operator, "-", p, f)
    refused("TRI0401", k.operator, "*", p, i)
    refused("TRI0401", k.operator, "unary -", p)
    refused("TRI0406", k.operator, "//", f, i)
    refused("TRI0405", k.operator, "//", i, u)
    refused("TRI0405", k.operator, "%", i, u)
    refused("TRI0405", k.operator, "/", k.arg([True], "int1"), i)
    refused("TRI0403", k.operator, "+", k.arg([1], int8), 300)
    refused("TRI0404", k.operator, "+", u, -1)
    refused("TRI0403", k.operator, "+", i, 2**64)
    refused("TRI0401", k.operator, "+", k.arg([1.0], "fp8e5"), i)
    refused("TRI0407", k.operator, "+", k.arg([1, 2, 3], int32), k.arg([1, 2], int32))
    refused("TRI0415", k.operator, "+", i, None)
    refused("TRI0409", k.tl, "fdiv", i, i)
    refused("TRI0409", k.tl, "fma", i, i, i)
    refused("TRI0409", k.tl, "div_rn", k.arg([1.0], float64), f)
    refused("TRI0409", k.tl, "umulhi", k.arg([1], int8), 1)
    refused("TRI0508", k.tl, "cdiv", 3, 0)


@pytest.mark.parametrize(("operator", "x", "y"), [("+", 127, 1), ("-", -128, 1), ("*", 16, -9)])
def test_debug_mode_reports_overflow(operator, x, y):
    k = Kernel(debug=True)
    k.operator(operator, k.arg([x, 0], int8), k.arg([y, 0], int8))
    with pytest.raises(Asserted, match="overflows int8"):
        k.run()
    for options in ({}, {"debug": True, "sanitize_overflow": False}):
        k = Kernel(**options)
        k.operator(operator, k.arg([x], int8), k.arg([y], int8))
        k.run()
    k = Kernel(debug=True)
    k.tl(
        {"+": "add", "-": "sub", "*": "mul"}[operator],
        k.arg([x], int8),
        k.arg([y], int8),
        sanitize_overflow=False,
    )
    k.run()
    k = Kernel(debug=True)
    k.operator(operator, k.arg([x], int32), k.arg([y], int32))
    k.run()
    assert k.ops().count("tile.assert") == 2
