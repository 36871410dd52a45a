"""Tensor descriptors: blocks read and written against slices, checks of strides, gather, scatter, atomics."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import Asserted
from ops.memory_machine import MemoryKernel
from ops.refusal import refused
from tritium.ir.types import float16, float32, float64, int8, int32, int64, pointer, tile, uint32
from tritium.ops.descriptor import TensorDescriptor
from tritium.ops.handles import constexpr


def outside(x: np.ndarray, offsets, extents, fill) -> np.ndarray:
    """The block of `x` at `offsets`, with `fill` outside."""
    out = np.full(extents, fill, x.dtype)
    for index in np.ndindex(*extents):
        at = tuple(i + o for i, o in zip(index, offsets, strict=True))
        if all(0 <= a < n for a, n in zip(at, x.shape, strict=True)):
            out[index] = x[at]
    return out


@pytest.mark.parametrize("offsets", [(0, 0), (3, 4), (-2, 8), (4, -4), (9, 9)])
@pytest.mark.parametrize(("padding", "fill"), [("zero", 0), ("nan", np.nan)])
def test_loads_pad_and_stores_drop(offsets, padding, fill):
    x = np.arange(40, dtype=np.float32).reshape(5, 8)
    k = MemoryKernel()
    n = k.arg(np.array(8), int32)
    d = k.tl("make_tensor_descriptor", k.array_arg(x, float32), [5, n], [n, constexpr(1)], [4, 4], padding)
    v = k.tl("desc.load", d, list(offsets))
    k.tl("desc.store", d, offsets, k.tl("full", (4, 4), -1.0, float32))
    assert v.type == tile(float32, (4, 4))
    assert np.array_equal(k.value(v), outside(x, offsets, (4, 4), fill), equal_nan=True)
    want = x.copy()
    for index in np.ndindex(4, 4):
        r, c = index[0] + offsets[0], index[1] + offsets[1]
        if 0 <= r < 5 and 0 <= c < 8:
            want[r, c] = -1
    assert np.array_equal(k.memory(), want)


def test_five_axes():
    x = np.arange(2 * 3 * 2 * 3 * 4, dtype=np.float32).reshape(2, 3, 2, 3, 4)
    strides = [s // 4 for s in x.strides]
    k = MemoryKernel()
    d = k.tl("make_tensor_descriptor", k.array_arg(x, float32), list(x.shape), strides, [1, 2, 2, 2, 4])
    v = k.tl("load_tensor_descriptor", d, [1, 2, 0, 2, 1])
    assert np.array_equal(k.value(v), outside(x, (1, 2, 0, 2, 1), (1, 2, 2, 2, 4), 0))


def test_what_kernels_read():
    k = MemoryKernel()
    m = k.arg(np.array(5), int64)
    d = k.tl(
        "make_tensor_descriptor", k.array_arg(np.zeros((5, 8), np.float16), float16), [m, 8], [8, 1], [4, 8]
    )
    assert d.dtype is float16 and [b.value for b in d.block_shape] == [4, 8]
    assert d.block_type == tile(float16, (4, 8))
    assert [t.dtype for t in d.shape] == [int32] * 2 and [t.dtype for t in d.strides] == [int64] * 2
    again = d.rebuild(d.flatten())
    assert isinstance(again, TensorDescriptor) and again.key() == d.key()
    assert [t.value for t in again.flatten()] == [t.value for t in d.flatten()]
    assert "descriptor" in str(d)


def test_older_names():
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    k = MemoryKernel()
    d = k.tl("_experimental_make_tensor_descriptor", k.array_arg(x, float32), [4, 4], [4, 1], [2, 4])
    v = k.tl("_experimental_descriptor_load", d, [1, 0], [2, 4], float32)
    k.tl("_experimental_descriptor_store", d, v, [0, 0])
    k.tl("store_tensor_descriptor", d, [3, 0], k.tl("full", (2, 4), 9, int32))
    assert k.value(v).tolist() == x[1:3].tolist()
    assert k.memory().tolist() == [x[1].tolist(), x[2].tolist(), x[2].tolist(), [9] * 4]
    refused("TRI0654", k.tl, "_experimental_descriptor_load", d, [0, 0], [4, 4], float32)


def test_gather_and_scatter():
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    k = MemoryKernel()
    d = k.tl("make_tensor_descriptor", k.array_arg(x, float32), [6, 4], [4, 1], [1, 4])
    rows = k.arg([5, 0, 7, -1, 2, 2, 3, 1], int32)
    v = k.tl("desc.gather", d, rows, 1)
    want = np.zeros((8, 4), np.float32)
    for i, r in enumerate([5, 0, 7, -1, 2, 2, 3, 1]):
        if 0 <= r < 6:
            want[i, :3] = x[r, 1:]
    assert np.array_equal(k.value(v), want)
    k = MemoryKernel()
    d = k.tl("make_tensor_descriptor", k.array_arg(x, float32), [6, 4], [4, 1], [1, 4])
    k.tl("desc.scatter", d, k.tl("full", (2, 4), -1.0, float32), k.arg([4, 6], int32), 2)
    k.run()
    want = x.copy()
    want[4, 2:] = -1
    assert np.array_equal(k.memory(), want)


@pytest.mark.parametrize(
    ("name", "start", "value", "want"),
    [
        ("add", 5, 3, 8), ("min", 5, 3, 3), ("max", 5, 3, 5), ("and", 5, 3, 1), ("or", 5, 3, 7), ("xor", 5, 3, 6),
    ],
)  # fmt: skip
def test_atomics(name, start, value, want):
    k = MemoryKernel()
    d = k.tl(
        "make_tensor_descriptor",
        k.array_arg(np.full((2, 4), start, np.uint32), uint32),
        [2, 3],
        [4, 1],
        [2, 4],
    )
    k.tl(f"desc.atomic_{name}", d, [1, 0], k.tl("full", (2, 4), value, uint32))
    k.run()
    assert k.memory().tolist() == [[start] * 4, [want] * 3 + [start]]


def test_atomic_extrema_of_halves():
    k = MemoryKernel()
    x = np.array([[-1.0, 2.0, -3.0, 0.0]], np.float16)
    d = k.tl("make_tensor_descriptor", k.array_arg(x, float16), [1, 4], [8, 1], [1, 4])
    k.tl("desc.atomic_max", d, [0, 0], k.arg([[-2.0, 3.0, 1.0, -0.0]], float16))
    k.run()
    assert k.memory().tolist() == [[-1.0, 3.0, 1.0, 0.0]]
    refused("TRI0650", k.tl, "desc.atomic_and", d, [0, 0], k.arg([[1.0] * 4], float16))


def test_run_time_strides_are_checked():
    x = np.zeros((4, 6), np.float32)
    for stride, good in ((6, False), (8, True), (4, True), (0, True), (-4, True), (5, False)):
        k = MemoryKernel()
        n = k.arg(np.array(stride), int32)
        k.tl("make_tensor_descriptor", k.array_arg(x, float32), [4, 6], [n, 1], [2, 4])
        if good:
            k.run()
        else:
            with pytest.raises(Asserted, match=r"stride of axis 0 .* 16 bytes \(4 elements of fp32\)"):
                k.run()


def test_compile_time_strides_are_checked():
    k = MemoryKernel()
    p, h = k.array_arg(np.zeros(99, np.float32), float32), k.array_arg(np.zeros(99, np.float16), float16)
    make = lambda *a, **kw: k.tl("make_tensor_descriptor", *a, **kw)
    make(p, [4, 6], [constexpr(4), 1], [2, 4])
    make(h, [2, 4, 6], [32, 8, 1], [1, 2, 8])
    assert "tile.assert" not in k.ops()
    error = refused("TRI0652", make, p, [4, 6], [6, 1], [2, 4])
    assert "axis 0" in error.message and "24 bytes" in error.message
    error = refused("TRI0652", make, h, [2, 4, 6], [32, 4, 1], [1, 2, 8])
    assert "axis 1" in error.message
    error = refused("TRI0652", make, p, [4, 6], [8, 2], [2, 4])
    assert "axis 1" in error.message
    refused("TRI0652", make, p, [4, 6], [8, k.arg(np.array(1), int32)], [2, 4])


def test_refusals():
    k = MemoryKernel()
    p, q = k.array_arg(np.zeros(99, np.float32), float32), k.array_arg(np.zeros(99, np.int32), int32)
    make = lambda *a, **kw: k.tl("make_tensor_descriptor", *a, **kw)
    d = make(p, [4, 8], [8, 1], [2, 4])
    refused("TRI0652", make, p, [4, 8], [1], [2, 4])
    refused("TRI0652", make, p, [4], [8, 1], [2, 4])
    refused("TRI0652", make, p, [1] * 6, [4] * 5 + [1], [1] * 5 + [4])
    refused("TRI0648", make, q, [4, 8], [8, 1], [2, 4], padding_option="nan")
    refused("TRI0603", make, p, [4, 8], [8, 1], [2, 4], padding_option="one")
    refused("TRI0416", make, k.arg([1.0], float32), [4], [1], [4])
    refused("TRI0416", make, k.add(p, k.tl("arange", 0, 4)), [4], [1], [4])
    refused("TRI0416", make, k.array_arg(np.zeros(1, np.int64), pointer(int8)), [4], [1], [4])
    refused("TRI0415", make, p, [4, 8.5], [8, 1], [2, 4])
    refused("TRI0653", k.tl, "desc.load", d, [0])
    refused("TRI0415", k.tl, "desc.load", d, [0, 1.5])
    refused("TRI0654", k.tl, "desc.store", d, [0, 0], k.tl("full", (4, 2), 1.0, float32))
    refused("TRI0655", k.tl, "desc.gather", d, k.tl("arange", 0, 8), 0)
    one = make(p, [4, 8], [8, 1], [1, 4])
    refused("TRI0655", k.tl, "desc.gather", one, k.arg([1.0] * 8, float32), 0)
    refused("TRI0655", k.tl, "desc.scatter", one, k.tl("full", (8, 4), 1.0, float32), 3, 0)
    refused("TRI0654", k.tl, "desc.scatter", one, k.tl("full", (4, 4), 1.0, float32), k.tl("arange", 0, 8), 0)
    refused("TRI0416", k.tl, "load_tensor_descriptor", p, [0, 0])
    refused(
        "TRI0650", k.tl, "desc.atomic_add", make(k.array_arg(np.zeros(99), float64), [4], [1], [4]), [0], 1.0
    )
    const = make(k.array_arg(np.zeros(99, np.float32), float32, const=True), [4], [1], [4])
    refused("TRI0417", k.tl, "desc.store", const, [0], 1.0)
