"""Loads and stores: bounds, masks, views of storages, formats, alignment, addresses from integers, order."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.interp.kernels import FILE, Kernel
from tests.interp.launching import run
from tritium.errors import InterpreterError, OutOfBoundsError
from tritium.ir.types import (
    DTYPES,
    bfloat16,
    dtype_named,
    float32,
    int1,
    int8,
    int32,
    int64,
    pointer,
)

F32, I32, I64, I8, I1 = pointer(float32), pointer(int32), pointer(int64), pointer(int8), pointer(int1)


def copy_kernel(n: int, ty: Any = F32, masked: bool = True) -> Any:
    """out[i] = x[i * stride] for i < count, tiles of n."""
    k = Kernel("copy", x=ty, out=ty, count=int32, stride=int32)
    i = k.add(k.mul(k.pid(), n), k.arange(n))
    mask = k.lt(i, k.spread(k.count, (n,))) if masked else None
    v = k.at(7).load(k.ptr(k.x, k.mul(i, k.stride)), mask)
    k.at(8).store(k.ptr(k.out, i), v, mask)
    return k.done()


@pytest.mark.parametrize("n", (1, 3, 8, 24))
@pytest.mark.parametrize("stride", (1, 2, 3, -1, 0))
def test_copy_with_any_stride(n: int, stride: int) -> None:
    count = 50
    x = np.arange(400, dtype=np.float32)
    start = x[200:]
    out = np.full(count + 7, -1, np.float32)
    run(copy_kernel(n), (-(-count // n),), start, out, count, stride)
    assert np.array_equal(out[:count], start[0] + np.arange(count) * stride)
    assert (out[count:] == -1).all()


@pytest.mark.parametrize("name", [n for n in DTYPES if n != "void"])
def test_every_format_moves_bit_for_bit(name: str) -> None:
    ty = dtype_named(name)
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 256, 40 * ty.itemsize).astype(np.uint8)
    if ty is int1:
        bits &= 1
    x, out = bits.copy(), np.zeros_like(bits)
    k = Kernel(x=pointer(ty), out=pointer(ty))
    i = k.arange(40)
    k.store(k.ptr(k.out, i), k.load(k.ptr(k.x, i)))
    # The arrays are passed as bytes: the kernel's pointer type decides what they are.
    run(k.done(), (1,), x, out)
    assert np.array_equal(out, bits)


def test_bool_is_a_byte_and_normalised() -> None:
    x = np.array([0, 1, 2, 255], np.uint8)
    out = np.full(4, 9, np.uint8)
    run(copy_kernel(4, I1), (1,), x, out, 4, 1)
    assert out.tolist() == [0, 1, 1, 1]


def test_dead_lanes_never_touch_memory() -> None:
    k = Kernel(src=I32, dst=I32, far=int64)
    i = k.arange(8)
    at = k.mul(k.cast(k.sub(i, 6), int64), k.far)
    v = k.load(k.ptr(k.src, at), k.eq(i, 6), -1)
    k.store(k.ptr(k.dst, i), v)
    src, dst = np.array([1, 2, 3], np.int32), np.zeros(8, np.int32)
    run(k.done(), (1,), src, dst, 1 << 40)
    assert dst.tolist() == [-1] * 6 + [1, -1]


def test_inside_the_storage_but_outside_the_view_is_read() -> None:
    storage = np.arange(10, dtype=np.float32)
    out = np.zeros(8, np.float32)
    run(copy_kernel(8), (1,), storage[2:5], out, 8, 1)
    assert out.tolist() == [2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("chunk", (1, 1 << 18))
def test_out_of_bounds_load_names_program_lane_and_distance(chunk: int) -> None:
    x, out = np.zeros(20, np.float32), np.zeros(64, np.float32)
    with pytest.raises(OutOfBoundsError) as caught:
        run(copy_kernel(8), (4,), x, out, 23, 1, chunk_elements=chunk)
    e = caught.value
    assert e.code == "TRI0801" and e.loc is not None and (e.loc.file, e.loc.line) == (FILE, 7)
    assert e.fields["access"] == "load" and e.fields["function"] == "copy"
    assert e.fields["program"] == [2, 0, 0] and e.fields["lane"] == [4]
    assert (
        e.got == "program (2, 0, 0), element [4] of the tile: just past the end of `x`, fp32 of shape (20,)"
    )


def test_out_of_bounds_store_writes_nothing() -> None:
    out = np.zeros(12, np.float32)
    k = Kernel("fill", out=F32)
    i = k.add(k.mul(k.pid(), 8), k.arange(8))
    k.at(5).store(k.ptr(k.out, i), 1.0)
    with pytest.raises(OutOfBoundsError, match=r"program \(1, 0, 0\), element \[4\]"):
        run(k.done(), (2,), out)
    assert not out.any()


def test_before_the_start_and_partly_inside() -> None:
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    with pytest.raises(
        OutOfBoundsError, match=r"element \[1\] of the tile: 3 elements before the start of `x`"
    ):
        run(copy_kernel(8), (1,), x, out, 8, -3)
    k = Kernel(x=I8, out=I32)
    p = k.bitcast(k.ptr(k.x, 6), I32)
    k.store(k.out, k.load(p))
    byte = np.zeros(8, np.uint8)
    with pytest.raises(OutOfBoundsError):
        run(k.done(), (1,), byte[:8], np.zeros(1, np.int32))


def test_scalar_access_out_of_bounds_has_no_lane() -> None:
    k = Kernel(x=F32)
    k.store(k.ptr(k.x, k.pid()), 2.0)
    with pytest.raises(OutOfBoundsError) as caught:
        run(k.done(), (9,), np.zeros(8, np.float32))
    assert caught.value.got == "program (8, 0, 0): just past the end of `x`, fp32 of shape (8,)"


def test_read_only_array_is_refused() -> None:
    out = np.zeros(8, np.float32)
    out.flags.writeable = False
    for n in (8, 2):
        with pytest.raises(InterpreterError) as caught:
            run(copy_kernel(n), (1,), np.ones(8, np.float32), out, 8, 1)
        assert caught.value.code == "TRI0806" and "`out`" in str(caught.value)
    assert not out.any()


def test_negative_and_zero_strides_of_views() -> None:
    base = np.arange(12, dtype=np.float32)
    out = np.zeros(6, np.float32)
    backwards = base[::-2]
    run(copy_kernel(6), (1,), backwards, out, 6, backwards.strides[0] // 4)
    assert np.array_equal(out, backwards)
    same = np.broadcast_to(np.float32(3), (6,))
    run(copy_kernel(6), (1,), same, out, 6, 0)
    assert (out == 3).all()


def test_one_load_from_several_arrays() -> None:
    k = Kernel(x=F32, y=F32, out=F32)
    i = k.arange(16)
    odd = k.eq(k.band(i, 1), 1)
    p = k.where(odd, k.ptr(k.x, i), k.ptr(k.y, i))
    k.store(k.ptr(k.out, i), k.load(p))
    x, y, out = (
        np.arange(16.0, dtype=np.float32),
        -np.arange(16.0, dtype=np.float32),
        np.zeros(16, np.float32),
    )
    run(k.done(), (1,), x, y, out)
    assert np.array_equal(out, np.where(np.arange(16) % 2, x, y))


def test_misaligned_elements() -> None:
    """int32 elements at odd byte addresses, each lane with its own phase."""
    k = Kernel(x=I8, out=I32)
    i = k.arange(4)
    address = k.add(k.bitcast(k.spread(k.x, (4,)), int64), k.cast(k.mul(i, 5), int64))
    k.store(k.ptr(k.out, i), k.load(k.bitcast(address, I32)))
    raw = np.arange(32, dtype=np.uint8)
    out = np.zeros(4, np.int32)
    run(k.done(), (1,), raw, out)
    assert out.tolist() == [int.from_bytes(bytes(range(5 * n, 5 * n + 4)), "little") for n in range(4)]
    k = Kernel(x=I8, out=I32)
    i = k.arange(4)
    address = k.add(k.bitcast(k.spread(k.x, (4,)), int64), k.cast(k.mul(i, 3), int64))
    k.store(k.bitcast(address, I32), k.load(k.ptr(k.out, i)))
    run(k.done(), (1,), raw, out)
    expected = list(range(32))
    for n in range(4):
        expected[3 * n : 3 * n + 4] = list(int(out[n]).to_bytes(4, "little"))
    assert raw.tolist() == expected


def table_kernel() -> Any:
    """out[i] = (table[pid] as a pointer to float)[i]."""
    k = Kernel(table=I64, out=F32)
    i = k.arange(8)
    base = k.bitcast(k.load(k.ptr(k.table, k.pid())), F32)
    v = k.at(4).load(k.ptr(base, i))
    k.store(k.ptr(k.out, k.add(k.mul(k.pid(), 8), i)), v)
    return k.done()


def test_pointer_table_of_arrays_that_were_not_passed() -> None:
    arrays = [np.arange(8, dtype=np.float32) + 10 * n for n in range(3)]
    table = np.array([a.ctypes.data for a in arrays], np.int64)
    out = np.zeros((3, 8), np.float32)
    run(table_kernel(), (3,), table, out)
    assert np.array_equal(out, np.stack(arrays))


def test_pointer_table_with_a_wild_address_is_refused() -> None:
    out = np.zeros((1, 8), np.float32)
    for wild in (0, 64, 1 << 46):
        with pytest.raises(OutOfBoundsError) as caught:
            run(table_kernel(), (1,), np.array([wild], np.int64), out)
        assert caught.value.loc is not None and caught.value.loc.line == 4


def test_arguments_are_not_trusted_like_integers() -> None:
    """A stray offset from an argument is an error even where the process has memory at that address."""
    neighbour = np.zeros(8, np.float32)
    x = np.zeros(8, np.float32)
    offset = (neighbour.ctypes.data - x.ctypes.data) // 4
    k = Kernel(x=F32, far=int64)
    k.store(k.ptr(k.x, k.far), 5.0)
    with pytest.raises(OutOfBoundsError):
        run(k.done(), (1,), x, offset)
    assert not neighbour.any()


@pytest.mark.parametrize("grid", ((6, 1, 1), (3, 2, 1), (2, 3, 2), (1, 4, 3)))
@pytest.mark.parametrize("lanes", (1, 3, 8))
def test_the_last_lane_of_the_last_program_wins(grid: tuple[int, int, int], lanes: int) -> None:
    """Every program stores to overlapping runs; what stays is what the instances leave in order of their ids."""
    k = Kernel(out=I32, nx=int32, ny=int32)
    linear = k.add(k.mul(k.add(k.mul(k.pid(2), k.ny), k.pid(1)), k.nx), k.pid(0))
    i = k.arange(lanes)
    k.store(k.ptr(k.out, k.add(i, linear)), k.add(k.mul(linear, 100), i))
    single = k.ptr(k.out, 63)
    k.store(single, linear)
    out = np.full(64, -1, np.int32)
    run(k.done(), grid, out, grid[0], grid[1])
    expected = np.full(64, -1, np.int32)
    count = int(np.prod(grid))
    for p in range(count):
        expected[p : p + lanes] = p * 100 + np.arange(lanes)
        expected[63] = p
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("gap", (1, 4, 8, 11))
@pytest.mark.parametrize("count", (0, 3, 29, 40))
def test_masked_rows_overlapping_or_not(gap: int, count: int) -> None:
    """Rows of eight that start `gap` elements apart, under a mask that ends within a row."""
    k = Kernel(out=I32, count=int32, gap=int32)
    i = k.add(k.mul(k.pid(), 8), k.arange(8))
    at = k.add(k.mul(k.pid(), k.gap), k.arange(8))
    k.store(k.ptr(k.out, at), i, k.lt(i, k.spread(k.count, (8,))))
    out, expected = np.full(64, -1, np.int32), np.full(64, -1, np.int32)
    run(k.done(), (5,), out, count, gap)
    for n in range(min(count, 40)):
        expected[n // 8 * gap + n % 8] = n
    assert np.array_equal(out, expected)


def test_masked_rows_out_of_bounds_write_nothing() -> None:
    k = Kernel(out=I32)
    i = k.add(k.mul(k.pid(), 8), k.arange(8))
    k.store(k.ptr(k.out, i), i, k.lt(i, 29))
    out = np.full(28, -1, np.int32)
    with pytest.raises(OutOfBoundsError, match=r"program \(3, 0, 0\), element \[4\]"):
        run(k.done(), (4,), out)
    assert (out == -1).all()


def test_duplicate_lanes_of_a_scattered_store() -> None:
    k = Kernel(index=I32, out=I32)
    i = k.arange(8)
    at = k.load(k.ptr(k.index, i))
    k.store(k.ptr(k.out, at), i, k.ne(i, 7))
    out = np.full(4, -1, np.int32)
    run(k.done(), (1,), np.array([0, 1, 0, 2, 1, 0, 3, 3], np.int32), out)
    assert out.tolist() == [5, 4, 3, 6]


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int16, np.int32, np.uint32))
def test_offsets_that_wrap_are_not_runs(dtype: Any) -> None:
    """Offsets that wrap around in their own type address what they say, not the continued run."""
    ty = dtype_named(np.dtype(dtype).name)
    info = np.iinfo(dtype)
    offsets = np.arange(8).astype(dtype) + np.array(info.max - 3).astype(dtype)  # wraps after four elements
    k = Kernel(index=pointer(ty), base=F32, out=F32, shift=int64)
    i = k.arange(8)
    p = k.ptr(k.spread(k.ptr(k.base, k.shift), (8,)), k.load(k.ptr(k.index, i)))
    near = k.lt(i, 4) if info.max > 1 << 20 else None  # without 2**31 elements only half of them exist
    k.store(k.ptr(k.out, i), k.load(p, near, 0.0 if near is not None else None))
    whole = np.arange(1024, dtype=np.float32)
    shift = 512 if near is None else 100 - (info.max - 3)
    if info.max == 32767:
        whole = np.arange(1 << 17, dtype=np.float32)
        shift = 1 << 16
    out = np.zeros(8, np.float32)
    run(k.done(), (1,), offsets, whole, out, shift)
    expected = whole[(offsets.astype(np.int64) + shift) % whole.size]
    if near is not None:
        expected = np.where(np.arange(8) < 4, expected, 0)
    assert np.array_equal(out, expected)


def test_bfloat16_values() -> None:
    x = np.arange(8).astype(ml_dtypes.bfloat16)
    out = np.zeros(8, ml_dtypes.bfloat16)
    run(copy_kernel(4, pointer(bfloat16)), (2,), x, out, 8, 1)
    assert np.array_equal(out, x)


def test_views_of_one_storage_are_one_allocation() -> None:
    both = np.zeros(16, np.float32)
    low, high = both[:8], both[8:]
    run(copy_kernel(16), (1,), low, both, 16, 1)
    run(copy_kernel(8), (1,), np.ones(8, np.float32), high, 8, 1)
    assert both.tolist() == [0] * 8 + [1] * 8
