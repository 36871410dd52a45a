"""Atomics through their surfaces: kinds and types, old values, masks, orders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ops.emulate import NUMBERS
from ops.memory_machine import MemoryKernel
from ops.refusal import refused
from tritium.ir.types import (
    bfloat16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int32,
    int64,
    pointer,
    uint32,
    uint64,
)
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.base import Effect
from tritium.ops.handles import constexpr
from tritium.ops.storage import storage_dtype

WORDS = [int32, uint32, int64, uint64]


def update(name: str, start, values, ty, **kw):
    """One element of memory after each of `values` was combined into its own copy, and the old values."""
    k = MemoryKernel()
    memory = np.full(len(values), start).astype(storage_dtype(ty))
    p = k.array_arg(memory, ty)
    old = k.tl(f"atomic_{name}", k.add(p, *k.offsets(len(values))), k.arg(values, ty), **kw)
    assert old.dtype is ty
    was = k.value(old)
    assert was.tobytes() == memory.tobytes()
    return k.memory()


@pytest.mark.parametrize("ty", WORDS, ids=lambda t: t.text)
def test_integers(ty):
    x = [0, 1, 5, 100, ty.get_int_max_value()] + ([-1, ty.get_int_min_value()] if ty.is_int_signed() else [])
    width = (1 << ty.primitive_bitwidth) - 1
    start = 12
    exact = {
        "add": lambda v: start + v,
        "max": lambda v: max(start, v),
        "min": lambda v: min(start, v),
        "and": lambda v: start & v,
        "or": lambda v: start | v,
        "xor": lambda v: start ^ v,
        "xchg": lambda v: v,
    }
    for name, fn in exact.items():
        out = update(name, start, np.array(x, storage_dtype(ty)), ty)
        assert [int(v) & width for v in out] == [fn(v) & width for v in x], name


@pytest.mark.parametrize("ty", [float16, bfloat16, float32, float64], ids=lambda t: t.text)
def test_float_addition(ty):
    x = np.array([0.5, -1.0, math.inf])
    out = update("add", 1.5, x, ty)
    assert out.astype(np.float64).tolist() == [2.0, 0.5, math.inf]


@pytest.mark.parametrize("ty", [float32, float64], ids=lambda t: t.text)
def test_float_extrema_follow_the_bits(ty):
    values = [-math.inf, -2.0, -0.0, 0.0, 1.0, math.inf]
    for i, start in enumerate(values):
        top, bottom = update("max", start, np.array(values), ty), update("min", start, np.array(values), ty)
        for j, v in enumerate(values):
            larger, smaller = (start, v) if i >= j else (v, start)
            assert (top[j], math.copysign(1, top[j])) == (larger, math.copysign(1, larger))
            assert (bottom[j], math.copysign(1, bottom[j])) == (smaller, math.copysign(1, smaller))
    assert np.isnan(update("max", 1.0, np.array([math.nan]), ty))[0]
    assert update("min", 1.0, np.array([math.nan]), ty)[0] == 1.0


@pytest.mark.parametrize("ty", [float32, float64], ids=lambda t: t.text)
def test_float_exchange_and_bits(ty):
    assert (
        update("xchg", 1.5, np.array([-0.0, 3.0]), ty).tobytes()
        == np.array([-0.0, 3.0], storage_dtype(ty)).tobytes()
    )
    assert update("xor", 1.5, np.array([1.5]), ty).tolist() == [0.0]
    assert (
        update("and", -2.0, np.array([-0.0]), ty).tobytes() == np.array([-0.0], storage_dtype(ty)).tobytes()
    )
    assert update("or", 2.0, np.array([-0.0]), ty).tolist() == [-2.0]


def test_every_lane_counts():
    k = MemoryKernel()
    p = k.array_arg(np.zeros(1, np.int32), int32)
    at = k.add(p, k.mul(k.tl("arange", 0, 8), 0))
    old = k.tl("atomic_add", at, 1)
    assert sorted(k.value(old).tolist()) == list(range(8))
    assert k.memory().tolist() == [8]


def test_masks_values_and_numbers():
    k = MemoryKernel()
    p = k.array_arg(np.zeros(8, np.float32), float32)
    (i,) = k.offsets(8)
    k.method("atomic_add", k.add(p, i), 1, mask=k.lt(i, 3))
    k.tl("atomic_add", k.add(p, 4), 2.5, mask=k.arg(np.array(True), int1))
    k.tl("atomic_max", k.add(p, 5), 7)
    k.tl("atomic_add", k.add(p, i), k.arg(np.array(10), int32), mask=False)
    k.run()
    assert k.memory().tolist() == [1, 1, 1, 0, 2.5, 7, 0, 0]


def test_compare_and_swap():
    k = MemoryKernel()
    p = k.array_arg(np.array([0, 1, 2, 0], np.int32), int32)
    (i,) = k.offsets(4)
    old = k.tl("atomic_cas", k.add(p, i), k.mul(i, 0), k.add(i, 100))
    assert k.value(old).tolist() == [0, 1, 2, 0]
    assert k.memory().tolist() == [100, 1, 2, 103]
    k = MemoryKernel()
    q = k.array_arg(np.array([5], np.int64), int64)
    old = k.tl("atomic_cas", q, 5, constexpr(6), sem="acquire", scope="cta")
    assert old.dtype is int64
    assert k.value(old).item() == 5 and k.memory().tolist() == [6]
    cas = k.function.find(AtomicCas)[0]
    assert (cas.sem, cas.scope) == ("acquire", "cta")


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_compare_and_swap_by_width(ty):
    k = MemoryKernel()
    p = k.array_arg(np.zeros(2, storage_dtype(ty)), ty)
    x = k.arg([1, 1], ty)
    at = k.add(p, *k.offsets(2))
    if ty.primitive_bitwidth in (16, 32, 64):
        assert k.tl("atomic_cas", at, x, x).dtype is ty
    else:
        refused("TRI0650", k.tl, "atomic_cas", at, x, x)


def test_orders_and_scopes():
    k = MemoryKernel()
    p = k.array_arg(np.zeros(1, np.int32), int32)
    k.tl("atomic_add", p, 1)
    assert (k.function.find(AtomicRmw)[0].sem, k.function.find(AtomicRmw)[0].scope) == ("acq_rel", "gpu")
    for sem in ("acquire", "release", "acq_rel", "relaxed"):
        for scope in ("cta", "gpu", "sys"):
            k.tl("atomic_add", p, 1, sem=constexpr(sem), scope=scope)
            op = k.function.body.ops[-1]
            assert (op.sem, op.scope) == (sem, scope)
    assert op.effects() == Effect.READ | Effect.WRITE | Effect.ATOMIC
    refused("TRI0651", k.tl, "atomic_add", p, 1, sem="seq_cst")
    error = refused("TRI0651", k.tl, "atomic_add", p, 1, scope="warp")
    assert "cta" in error.hint


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("add", {"int32", "uint32", "int64", "uint64", "fp16", "bf16", "fp32", "fp64"}),
        *(
            (name, {"int32", "uint32", "int64", "uint64", "fp32", "fp64"})
            for name in ("max", "min", "and", "or", "xor")
        ),
        ("xchg", {"int32", "uint32", "int64", "uint64", "fp32", "fp64"}),
    ],
)
def test_types(name, accepted):
    for ty in NUMBERS:
        k = MemoryKernel()
        p, v = k.array_arg(np.zeros(1, np.int64), ty), k.arg(np.array(1), ty)
        if ty.name in accepted:
            assert k.tl(f"atomic_{name}", p, v).dtype is ty
        else:
            error = refused("TRI0650", k.tl, f"atomic_{name}", p, v)
            assert all(t in error.hint for t in accepted)


def test_refusals():
    k = MemoryKernel()
    p, c = k.array_arg(np.zeros(8, np.int32), int32), k.array_arg(np.zeros(8, np.int32), int32, const=True)
    (i,) = k.offsets(8)
    refused("TRI0416", k.tl, "atomic_add", i, 1)
    refused("TRI0417", k.tl, "atomic_add", c, 1)
    refused("TRI0417", k.tl, "atomic_cas", c, 0, 1)
    refused("TRI0640", k.tl, "atomic_add", p, i)
    refused("TRI0640", k.tl, "atomic_add", p, 1, mask=k.lt(i, 3))
    refused("TRI0642", k.tl, "atomic_add", k.add(p, i), 1, mask=i)
    refused("TRI0643", k.tl, "atomic_add", k.add(p, i), k.tl("arange", 0, 4))
    refused("TRI0656", k.tl, "atomic_cas", p, k.arg(np.array(1), int64), 1)
    refused("TRI0656", k.tl, "atomic_cas", p, 0.5, 1)
    refused("TRI0415", k.tl, "atomic_add", p, None)
    refused("TRI0650", k.tl, "atomic_xchg", k.array_arg(np.zeros(1, np.int64), pointer(int8)), 1)
