"""Conversions through their surfaces, against PyTorch, Python integers and the bits themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ops.edges import edge_values, same_bits
from ops.emulate import INTEGERS, NUMBERS, Kernel, widened
from ops.refusal import refused
from tritium.ir.types import (
    bfloat16,
    float8e4b15,
    float8e5,
    float16,
    float32,
    float64,
    int1,
    int8,
    int32,
    int64,
    pointer,
    tile,
    uint8,
    uint64,
)
from tritium.ops.storage import storage_dtype

WIDE = [float16, bfloat16, float32, float64]
TORCH = {float16: torch.float16, bfloat16: torch.bfloat16, float32: torch.float32, float64: torch.float64}


def wrapped(value: int, ty) -> int:
    bits = ty.primitive_bitwidth
    value &= (1 << bits) - 1
    return value - (1 << bits) if ty.is_int_signed() and value >> (bits - 1) else value


def cast(x: np.ndarray, source, target, **kw) -> np.ndarray:
    k = Kernel()
    out = k.method("to", k.raw(x, source, x.shape), target, **kw)
    assert out.dtype == target
    return k.value(out)


@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.text)
@pytest.mark.parametrize("source", INTEGERS, ids=lambda t: t.text)
def test_integers_wrap(source, target):
    x = edge_values(source)
    want = [bool(v) if target is int1 else wrapped(int(v), target) for v in x]
    assert cast(x, source, target).tolist() == want


@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.text)
@pytest.mark.parametrize("source", WIDE, ids=lambda t: t.text)
def test_floats_truncate_and_saturate(source, target):
    x = edge_values(source)

    def convert(v: float) -> int:
        if target is int1:
            return v != 0
        if math.isnan(v):
            return 0
        low, high = target.get_int_min_value(), target.get_int_max_value()
        return (high if v > 0 else low) if math.isinf(v) else max(low, min(high, math.trunc(v)))

    assert cast(x, source, target).tolist() == [convert(v) for v in widened(x, source).tolist()]


@pytest.mark.parametrize("target", WIDE, ids=lambda t: t.text)
@pytest.mark.parametrize("source", WIDE, ids=lambda t: t.text)
def test_floats_round_to_nearest(source, target):
    x = edge_values(source)
    exact = torch.from_numpy(widened(x, source))
    # PyTorch narrows fp64 through fp32; round to odd at fp32 first, so that it rounds once.
    if target in (float16, bfloat16):
        near = exact.to(torch.float32)
        bits = near.view(torch.int32)
        off = (near.to(torch.float64) != exact) & ~torch.isnan(exact) & (bits & 1 == 0) & ~torch.isinf(near)
        step = torch.where((exact.abs() > near.to(torch.float64).abs()), 1, -1).to(torch.int32)
        exact = torch.where(off, bits + step, bits).view(torch.float32)
    narrowed = exact.to(TORCH[target])
    signed = {2: torch.int16, 4: torch.int32, 8: torch.int64}[narrowed.element_size()]
    want = narrowed.view(signed).numpy().view(storage_dtype(target))
    assert same_bits(cast(x, source, target), want)


@pytest.mark.parametrize(("source", "target"), [(float32, float16), (float32, bfloat16), (float64, float32)])
def test_rounding_toward_zero(source, target):
    rng = np.random.default_rng(3)
    x = (rng.standard_normal(500) * 2.0 ** rng.integers(-20, 14, 500)).astype(storage_dtype(source))
    out = cast(x, source, target, fp_downcast_rounding="rtz")
    got, exact = widened(out, target), widened(x, source)
    bits = out.view(f"i{out.dtype.itemsize}")
    beyond = widened((bits + bits.dtype.type(1)).view(out.dtype), target)
    assert np.all(np.abs(got) <= np.abs(exact)) and np.all(np.abs(beyond) > np.abs(exact))
    assert not same_bits(out, cast(x, source, target))


def test_integers_become_floats_with_one_rounding():
    x = np.array([2**53 + 1, 2**24 + 1, -(2**24) - 3, 2**63 - 1, 1, 0], np.int64)
    assert cast(x, int64, float32).tolist() == [float(np.float32(int(v))) for v in x]
    assert cast(np.array([True, False]), int1, float16).tolist() == [1.0, 0.0]
    big = np.array([2**64 - 1], np.uint64)
    assert cast(big, uint64, float32).tolist() == [2.0**64]


@pytest.mark.parametrize("source", NUMBERS, ids=lambda t: t.text)
@pytest.mark.parametrize("target", NUMBERS, ids=lambda t: t.text)
def test_bitcast_keeps_the_bits(source, target):
    x = edge_values(source)
    if source.primitive_bitwidth == target.primitive_bitwidth:
        out = cast(x, source, target, bitcast=True)
        assert out.tobytes() == x.tobytes()
    else:
        k = Kernel()
        refused("TRI0413", k.method, "to", k.raw(x, source, x.shape), target, bitcast=True)


def test_same_type_is_the_same_value():
    k = Kernel()
    x = k.arg([1.0], float32)
    assert k.tl("cast", x, float32).value is x.value
    assert k.tl("cast", x, float32, bitcast=True).value is x.value
    assert k.tl("cast", x, float32, fp_downcast_rounding="rtz").value is x.value


def test_numbers_and_tile_types():
    k = Kernel()
    out = k.tl("cast", 3, int64)
    assert out.dtype is int64 and k.value(out).item() == 3
    assert k.tl("cast", k.arg([1.5], float32), tile(float16, (4, 4))).dtype is float16
    assert [k.tl("to_tensor", v).dtype for v in (1, 1.5, True, 2**31, 2**63)] == [
        int32, float32, int1, k.tl("to_tensor", 2**31).dtype, uint64,
    ]  # fmt: skip


def test_pointers():
    k = Kernel()
    p = k.raw(np.array([0, 4096]), pointer(float32), (2,))
    outs = {
        int64: [0, 4096],
        uint64: [0, 4096],
        int1: [False, True],
        pointer(int8): [0, 4096],
    }
    for target, want in outs.items():
        out = k.method("to", p, target)
        assert out.dtype == target and k.value(out).tolist() == want
        assert k.method("to", p, target, bitcast=True).dtype == target
    back = k.method("to", k.arg([64], int64), pointer(float16))
    assert back.dtype == pointer(float16) and k.value(back).tolist() == [64]
    assert k.value(k.method("to", k.arg([200], uint8), pointer(int8))).tolist() == [200]
    refused("TRI0412", k.method, "to", p, int32)
    refused("TRI0412", k.method, "to", p, float32)
    refused("TRI0412", k.method, "to", k.arg([1.0], float32), pointer(float32))


def test_refusals():
    k = Kernel()
    f, h, e = k.arg([1.0], float32), k.arg([1.0], float16), k.arg([1.0], float8e5)
    refused("TRI0603", k.method, "to", f, float16, fp_downcast_rounding="up")
    refused("TRI0617", k.method, "to", h, float32, fp_downcast_rounding="rtz")
    refused("TRI0617", k.method, "to", h, bfloat16, fp_downcast_rounding="rtne")
    refused("TRI0617", k.method, "to", f, int32, fp_downcast_rounding="rtz")
    refused("TRI0412", k.method, "to", e, int32)
    refused("TRI0412", k.method, "to", k.arg([1], int8), float8e5)
    refused("TRI0412", k.method, "to", k.arg([1.0], float64), float8e4b15)
    refused("TRI0510", k.method, "to", f, 3)
    refused("TRI0510", k.method, "to", f, "float16")
    refused("TRI0415", k.tl, "to_tensor", None)
    refused("TRI0403", k.tl, "to_tensor", 2**64)
