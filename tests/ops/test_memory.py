"""Loads and stores through their surfaces, on a machine that checks every address."""

from __future__ import annotations

import numpy as np
import pytest

from ops.edges import edge_values
from ops.emulate import INTEGERS, NUMBERS, Kernel
from ops.memory_machine import MemoryKernel, OutOfBounds
from ops.refusal import refused
from tritium.ir.types import bfloat16, float8e5, float16, float32, int1, int8, int32, pointer
from tritium.ops.base import Effect
from tritium.ops.handles import constexpr
from tritium.ops.memory import Load, Store


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_copy_keeps_the_bits(ty):
    x = edge_values(ty)
    k = MemoryKernel()
    p, q = k.array_arg(x, ty), k.array_arg(np.zeros_like(x), ty)
    (i,) = k.offsets(x.size)
    v = k.tl("load", k.add(p, i))
    assert v.dtype is ty and v.dims == x.shape
    k.tl("store", k.add(q, i), v)
    k.run()
    assert k.memory(1).tobytes() == x.tobytes()


def test_masked_lanes_touch_nothing():
    k = MemoryKernel()
    p = k.array_arg(np.arange(5, dtype=np.float32), float32)
    (i,) = k.offsets(8)
    v = k.tl("load", k.add(p, i), mask=k.lt(i, 5), other=-1.0)
    k.tl("store", k.add(p, i), k.add(v, 10.0), mask=k.lt(i, 3))
    assert k.value(v).tolist() == [0, 1, 2, 3, 4, -1, -1, -1]
    assert k.memory().tolist() == [10, 11, 12, 3, 4]
    k = MemoryKernel()
    p = k.array_arg(np.arange(5, dtype=np.float32), float32)
    k.tl("load", k.add(p, *k.offsets(8)))
    with pytest.raises(OutOfBounds):
        k.run()


def test_single_values():
    k = MemoryKernel()
    p = k.array_arg(np.arange(4, dtype=np.int32), int32)
    on, off = k.arg(np.array(True), int1), k.arg(np.array(False), int1)
    outs = [
        k.tl("load", p),
        k.tl("load", k.add(p, 3)),
        k.tl("load", p, mask=off, other=7),
        k.tl("load", p, mask=on, other=7),
        k.tl("load", p, mask=constexpr(False), other=8.9),
        k.tl("load", p, mask=None),
    ]
    assert [o.dims for o in outs] == [()] * 6
    k.tl("store", k.add(p, 1), 42)
    k.tl("store", k.add(p, 2), 43, mask=off)
    env = k.run()
    assert [int(env[o.value].item()) for o in outs] == [0, 3, 7, 0, 8, 0]
    assert k.memory().tolist() == [0, 42, 2, 3]


@pytest.mark.parametrize(
    ("element", "other", "want"),
    [
        (float32, 1, 1.0),
        (float32, float("-inf"), -np.inf),
        (int32, 2.9, 2),
        (int8, 300, 44),
        (float16, 1e10, np.inf),
    ],
)
def test_other_is_converted(element, other, want):
    k = MemoryKernel()
    p = k.array_arg(np.zeros(2, np.float64), element)
    v = k.tl("load", k.add(p, *k.offsets(2)), mask=False, other=other)
    assert v.dtype is element
    assert k.value(v).tolist() == [want] * 2


def test_masks_and_values_stretch_to_the_pointer():
    k = MemoryKernel()
    p = k.array_arg(np.zeros(12, np.float32), float32)
    r, c = k.offsets(3, 4)
    at = k.add(p, k.mul(r, 4), c)
    k.tl("store", at, k.add(k.mul(r, 10), 1), mask=k.lt(c, 2))
    v = k.tl("load", at, mask=k.lt(r, 2), other=k.mul(c, 1.0))
    assert k.value(v).tolist() == [[1, 1, 0, 0], [11, 11, 0, 0], [0, 1, 2, 3]]


def test_a_load_stretches_its_pointer_a_store_does_not():
    k = MemoryKernel()
    p = k.array_arg(np.arange(3, dtype=np.float32), float32)
    r, c = k.offsets(3, 4)
    mask = k.lt(k.add(r, c), 3)
    v = k.tl("load", k.add(p, r), mask=mask, other=9.0)
    assert k.value(v).tolist() == [[0, 0, 0, 9], [1, 1, 9, 9], [2, 9, 9, 9]]
    refused("TRI0643", k.tl, "store", k.add(p, r), 1.0, mask=mask)
    refused("TRI0643", k.tl, "store", k.add(p, r), c)
    refused("TRI0643", k.tl, "store", k.add(p, k.tl("arange", 0, 3)), k.tl("arange", 0, 4))
    refused("TRI0643", k.tl, "store", k.add(p, k.tl("arange", 0, 3)), r)
    refused("TRI0407", k.tl, "load", k.add(p, k.tl("arange", 0, 3)), mask=k.lt(k.tl("arange", 0, 4), 2))


@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_integers_stored_as_bools_become_0_or_1(ty):
    x = edge_values(ty)
    k = MemoryKernel()
    p = k.array_arg(np.full(x.size, 7, np.uint8), int1)
    k.tl("store", k.add(p, *k.offsets(x.size)), k.raw(x, ty, x.shape))
    k.run()
    assert k.memory().tolist() == [int(v != 0) for v in x]


def test_values_are_converted_to_the_element():
    k = MemoryKernel()
    p, q = k.array_arg(np.zeros(3, np.float32), bfloat16), k.array_arg(np.zeros(3, np.int8), int8)
    (i,) = k.offsets(3)
    x = k.arg([1.0, -2.75, 300.0], float32)
    k.method("store", k.add(p, i), x)
    k.method("store", k.add(q, i), x)
    k.run()
    assert k.memory(0).view(np.uint16)[:3].tolist() == [0x3F80, 0xC030, 0x4396]
    assert k.memory(1).tolist() == [1, -2, 127]


def test_pointers_in_memory():
    k = MemoryKernel()
    p = k.array_arg(np.array([5.0, 6.0], np.float32), float32)
    table = k.array_arg(np.array([(1 << 20) + 4], np.int64), pointer(float32))
    inner = k.tl("load", table)
    assert inner.dtype == pointer(float32)
    v = k.tl("load", inner)
    k.tl("store", table, p)
    assert k.value(v).item() == 6.0
    assert k.memory(1).tolist() == [1 << 20]


def test_hints():
    k = MemoryKernel()
    p = k.array_arg(np.zeros(2, np.float32), float32)
    for modifier in (".ca", ".cg", ".cs", ".cv", "", None):
        assert k.tl("load", p, cache_modifier=modifier).value.owner.cache == (modifier or "")
    for modifier in (".wb", ".cg", ".cs", ".wt"):
        k.tl("store", p, 1.0, cache_modifier=modifier, eviction_policy="evict_first")
        assert k.function.body.ops[-1].cache == modifier
    v = k.tl("load", p, eviction_policy=constexpr("evict_last"), volatile=True).value.owner
    assert (v.eviction, v.volatile) == ("evict_last", True)
    assert v.effects() == Effect.READ | Effect.VOLATILE
    assert k.tl("load", p).value.owner.effects() == Effect.READ
    refused("TRI0644", k.tl, "load", p, cache_modifier=".wb")
    refused("TRI0644", k.tl, "store", p, 1.0, cache_modifier=".ca")
    error = refused("TRI0645", k.tl, "load", p, eviction_policy="evict_normal")
    assert "evict_first" in error.hint and "evict_last" in error.hint


def test_refusals():
    k = MemoryKernel()
    p, c = (
        k.array_arg(np.zeros(8, np.float32), float32),
        k.array_arg(np.zeros(8, np.float32), float32, const=True),
    )
    (i,) = k.offsets(8)
    n = k.arg(np.array(3), int32)
    refused("TRI0416", k.tl, "load", i)
    refused("TRI0416", k.tl, "load", 3)
    refused("TRI0416", k.tl, "store", n, 1.0)
    refused("TRI0641", k.tl, "load", p, other=0.0)
    refused("TRI0642", k.tl, "load", k.add(p, i), mask=i)
    refused("TRI0642", k.tl, "store", k.add(p, i), 1.0, mask=1)
    refused("TRI0640", k.tl, "load", p, mask=k.lt(i, 3))
    refused("TRI0640", k.tl, "load", p, mask=True, other=i)
    refused("TRI0640", k.tl, "store", p, i)
    refused("TRI0640", k.tl, "store", p, 1.0, mask=k.lt(i, 3))
    refused("TRI0646", k.tl, "load", k.add(p, i), boundary_check=(0,))
    refused("TRI0646", k.tl, "load", k.add(p, i), padding_option="zero")
    refused("TRI0646", k.tl, "store", k.add(p, i), 1.0, boundary_check=[0])
    refused("TRI0415", k.tl, "store", p, None)
    refused("TRI0412", k.tl, "store", k.array_arg(np.zeros(1, np.int8), float8e5), 1)
    assert "`p2`" in refused("TRI0417", k.tl, "store", k.add(c, i), 1.0).message
    k.tl("load", k.add(c, i))


def test_type_rules():
    k = Kernel()
    p = k.raw(np.zeros(2, np.int64), pointer(float32), (2,))
    m, v, w = k.arg([True, True], int1), k.arg([1.0, 2.0], float32), k.arg([1.0], float32)
    assert Load(p.value, m.value, v.value).result.type == v.type
    for bad in (
        lambda: Load(v.value),
        lambda: Load(p.value, v.value),
        lambda: Load(p.value, m.value, w.value),
        lambda: Load(p.value, None, v.value),
        lambda: Store(p.value, w.value),
        lambda: Store(v.value, v.value),
        lambda: Store(p.value, v.value, v.value),
    ):
        with pytest.raises(Exception, match=r"pointer|mask|other|value"):
            bad()
