"""Block pointers: what is read and written, checked against slices of the array."""

from __future__ import annotations

import numpy as np
import pytest

from ops.memory_machine import MemoryKernel, OutOfBounds
from ops.refusal import refused
from tritium.ir.types import TileType, bfloat16, float16, float32, int1, int8, int32, int64, pointer, tile
from tritium.ops.blockptr import BlockPointer
from tritium.ops.handles import Tensor, constexpr


def block(k: MemoryKernel, p: Tensor, shape, strides, offsets, extents, order=None) -> BlockPointer:
    return k.tl(
        "make_block_ptr", p, shape, strides, offsets, extents, order or tuple(reversed(range(len(extents))))
    )


@pytest.mark.parametrize("offsets", [(0, 0), (2, 3), (-1, -2), (3, 5), (7, 9)])
def test_boundary_check_reads_padding_outside(offsets):
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    for padding, fill in (("zero", 0.0), ("nan", np.nan), ("", 0.0)):
        k = MemoryKernel()
        bp = block(k, k.array_arg(x, float32), (5, 7), (7, 1), offsets, (4, 3))
        v = k.tl("load", bp, boundary_check=(0, 1), padding_option=padding)
        assert v.type == tile(float32, (4, 3))
        want = np.full((4, 3), fill, np.float32)
        for r in range(4):
            for c in range(3):
                row, column = r + offsets[0], c + offsets[1]
                if 0 <= row < 5 and 0 <= column < 7:
                    want[r, c] = x[row, column]
        assert np.array_equal(k.value(v), want, equal_nan=True)


def test_boundary_check_drops_writes_outside():
    k = MemoryKernel()
    p = k.array_arg(np.zeros((5, 7), np.float32), float32)
    bp = block(k, p, (5, 7), (7, 1), (3, 5), (4, 4))
    k.tl("store", bp, k.tl("full", (4, 4), 2.0, float32), boundary_check=[1, 0])
    k.run()
    want = np.zeros((5, 7), np.float32)
    want[3:, 5:] = 2
    assert np.array_equal(k.memory(), want)


def test_only_the_named_axes_are_checked():
    """Rows past the end are read if only columns are checked: memory beyond the view, here beyond the array."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    k = MemoryKernel()
    bp = block(k, k.array_arg(x, float32), (2, 3), (4, 1), (0, 0), (3, 4))
    v = k.tl("load", bp, boundary_check=(1,), padding_option="zero")
    assert k.value(v).tolist() == [[0, 1, 2, 0], [4, 5, 6, 0], [8, 9, 10, 0]]
    k = MemoryKernel()
    bp = block(k, k.array_arg(x, float32), (2, 3), (4, 1), (1, 0), (3, 4))
    k.tl("load", bp, boundary_check=(1,))
    with pytest.raises(OutOfBounds):
        k.run()
    k = MemoryKernel()
    bp = block(k, k.array_arg(x, float32), (3, 4), (4, 1), (0, 0), (3, 4))
    assert np.array_equal(k.value(k.tl("load", bp)), x)
    assert "tile.and" not in k.ops()


def test_run_time_numbers_of_any_width():
    x = np.arange(20, dtype=np.float16).reshape(4, 5)
    k = MemoryKernel()
    p = k.array_arg(x, float16)
    n, m = k.arg(np.array(4), "i64"), k.arg(np.array(5), "u8")
    start = k.arg(np.array(-1), "i16")
    bp = block(k, p, (n, m), (m, constexpr(1)), [start, k.arg(np.array(2), "i64")], (2, 2))
    v = k.tl("load", bp, boundary_check=(0, 1), padding_option="zero")
    assert k.value(v).tolist() == [[0, 0], [2, 3]]
    assert {t.dtype for t in bp.flatten()[1:]} == {int64}


def test_offsets_do_not_wrap_at_32_bits():
    """Row 2**20 of rows of 2**13 elements lies 2**33 elements away."""
    k = MemoryKernel()
    p = k.array_arg(np.zeros(1, np.int64), int64)
    bp = block(k, p, (2**21, 2**13), (2**13, 1), (2**20, 1), (1, 1))
    v = k.tl("load", bp)
    k.machine.load = lambda op, ptr, mask, other: ptr - (1 << 20)  # type: ignore[method-assign]
    assert k.value(v).item() == 8 * (2**33 + 1)


def test_strides_of_any_kind():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    for strides, want in (((1, 4), x.T), ((4, 0), x[:, :1]), ((-4, -1), None)):
        k = MemoryKernel()
        p = k.array_arg(x, int32)
        if want is None:
            bp = block(k, k.add(p, 11), (3, 4), strides, (0, 0), (3, 4))
            assert np.array_equal(k.value(k.tl("load", bp)), x[::-1, ::-1])
        elif strides[1] == 0:
            bp = block(k, p, (3, 4), strides, (0, 0), (3, 4))
            assert np.array_equal(k.value(k.tl("load", bp)), np.broadcast_to(want, (3, 4)))
        else:
            bp = block(k, p, (4, 3), strides, (0, 0), (4, 3), (0, 1))
            assert np.array_equal(k.value(k.tl("load", bp)), want)


def test_advance_makes_a_new_one():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    k = MemoryKernel()
    first = block(k, k.array_arg(x, float32), (4, 6), (6, 1), (0, 1), (2, 2))
    second = k.tl("advance", first, (2, k.arg(np.array(2), int32)))
    third = k.tl("block_ptr.advance", second, [-1, 0])
    outs = [k.tl("load", b) for b in (first, second, third)]
    assert [k.value(o).tolist() for o in outs] == [
        x[:2, 1:3].tolist(),
        x[2:, 3:5].tolist(),
        x[1:3, 3:5].tolist(),
    ]
    k.tl("block_ptr.store", third, 0.0)
    k.run()
    assert not k.memory()[1:3, 3:5].any() and k.memory()[0].tolist() == x[0].tolist()


def test_as_an_aggregate():
    k = MemoryKernel()
    p = k.array_arg(np.zeros((4, 4), np.float32), float32)
    a = block(k, p, (4, 4), (4, 1), (0, 0), (2, 2))
    b = k.tl("advance", a, (0, 1))
    assert a.key() == b.key() and a.key() != block(k, p, (4, 4), (4, 1), (0, 0), (2, 1)).key()
    assert [t.value for t in a.rebuild(a.flatten()).flatten()] == [t.value for t in a.flatten()]
    assert [t.type for t in a.flatten()] == [t.type for t in b.flatten()]
    moved = a.rebuild(b.flatten())
    assert moved.offsets[1].value is b.offsets[1].value and moved.block == (2, 2)
    assert len(a.flatten()) == 1 + 3 * 2


def test_what_kernels_read():
    k = MemoryKernel()
    bp = block(k, k.array_arg(np.zeros(8, np.uint16), bfloat16), (8,), (1,), (0,), (4,))
    assert isinstance(bp.dtype.element_ty, TileType) and bp.dtype.element_ty.element_ty is bfloat16
    x = k.method("to", k.arg([1.0, 2.0, 3.0, 4.0], float32), bp.dtype.element_ty)
    assert x.dtype is bfloat16 and bp.type == bp.dtype
    assert "block pointer" in str(bp)


def test_values_are_converted_and_numbers_fill():
    k = MemoryKernel()
    bp = block(k, k.array_arg(np.zeros(4, np.int8), int8), (4,), (1,), (0,), (4,))
    k.tl("store", bp, k.arg([1.5, -2.5, 3.0, 4.0], float32))
    k.run()
    assert k.memory().tolist() == [1, -2, 3, 4]
    k = MemoryKernel()
    bp = block(k, k.array_arg(np.zeros(4, np.int8), int8), (4,), (1,), (0,), (4,))
    k.tl("store", bp, 7)
    k.run()
    assert k.memory().tolist() == [7] * 4


def test_booleans_are_loaded_as_int8():
    k = MemoryKernel()
    bp = block(k, k.array_arg(np.array([0, 1, 1, 0], np.uint8), int1), (4,), (1,), (0,), (4,))
    v = k.tl("load", bp)
    assert v.dtype is int8 and k.value(v).tolist() == [0, 1, 1, 0]
    k.tl("store", bp, k.arg([256, 0, -1, 0], int32))
    k.run()
    assert k.memory().tolist() == [1, 0, 1, 0]


def test_refusals():
    k = MemoryKernel()
    p, n = k.array_arg(np.zeros(16, np.float32), float32), k.arg(np.array(4), int32)
    q = k.array_arg(np.zeros(16, np.int32), int32)
    good = block(k, p, (4, 4), (4, 1), (0, 0), (2, 2))
    make = lambda *a: k.tl("make_block_ptr", *a)
    refused("TRI0649", make, p, (4, 4), (4,), (0, 0), (2, 2), (1, 0))
    refused("TRI0649", make, p, (4, 4), (4, 1), (0, 0), (2, 2), (0,))
    refused("TRI0610", make, p, (4, 4), (4, 1), (0, 0), (2, 2), (1, 1))
    refused("TRI0501", make, p, (4, 4), (4, 1), (0, 0), (n, 2), (1, 0))
    refused("TRI0506", make, p, (4, 4), (4, 1), (0, 0), (0, 2), (1, 0))
    refused("TRI0415", make, p, (4, 4.5), (4, 1), (0, 0), (2, 2), (1, 0))
    refused("TRI0415", make, p, (4, 4), (4, 1), (0, k.tl("arange", 0, 2)), (2, 2), (1, 0))
    refused("TRI0416", make, n, (4,), (1,), (0,), (2,), (0,))
    refused("TRI0416", make, k.add(p, k.tl("arange", 0, 2)), (4,), (1,), (0,), (2,), (0,))
    refused("TRI0416", k.tl, "advance", p, (1,))
    refused("TRI0649", k.tl, "advance", good, (1,))
    refused("TRI0647", k.tl, "load", good, mask=True)
    refused("TRI0647", k.tl, "load", good, other=1.0)
    refused("TRI0647", k.tl, "store", good, 1.0, mask=True)
    refused("TRI0602", k.tl, "load", good, boundary_check=(2,))
    refused("TRI0602", k.tl, "load", good, boundary_check=(0, 0))
    refused("TRI0603", k.tl, "load", good, padding_option="one")
    refused(
        "TRI0648",
        k.tl,
        "load",
        block(k, q, (4,), (1,), (0,), (2,)),
        boundary_check=(0,),
        padding_option="nan",
    )
    refused("TRI0643", k.tl, "store", good, k.tl("full", (2, 4), 1.0, float32))
    refused("TRI0416", k.tl, "atomic_add", good, 1.0)
    const = k.array_arg(np.zeros(4, np.float32), float32, const=True)
    refused("TRI0417", k.tl, "store", block(k, const, (4,), (1,), (0,), (2,)), 1.0)
    assert pointer(float32) == p.dtype
