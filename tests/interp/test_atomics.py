"""Atomic operations against the same operations applied one lane after the other."""

from __future__ import annotations

import zlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.launching import run
from tritium.errors import OutOfBoundsError
from tritium.ir.types import dtype_named, float32, int32, int64, pointer
from tritium.ops.storage import storage_dtype

LANES = 8


def ordered_key(x: Any) -> int:
    """A float's place in the order of bits: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    width = x.dtype.itemsize * 8
    bits = int(np.asarray(x).view(f"u{x.dtype.itemsize}"))
    return bits if bits < 1 << (width - 1) else (1 << (width - 1)) - 1 - bits


def apply_one(kind: str, held: Any, value: Any) -> Any:
    with np.errstate(all="ignore"):
        if kind in ("add", "fadd"):
            return held + value
        if kind == "xchg":
            return value
        if kind in ("and", "or", "xor"):
            return {"and": held & value, "or": held | value, "xor": held ^ value}[kind]
        if held.dtype.kind == "f":
            keys = ordered_key(held), ordered_key(value)
        elif kind[0] == "u":
            u = f"u{held.dtype.itemsize}"
            keys = int(held.view(u)), int(value.view(u))
        else:
            keys = int(held), int(value)
        larger = keys[1] > keys[0]
        return (value if larger else held) if kind.endswith("max") else (held if larger else value)


def rmw_kernel(kind: str, name: str, masked: bool) -> Any:
    ty = dtype_named(name)
    k = Kernel(index=pointer(int32), x=pointer(ty), cells=pointer(ty), olds=pointer(ty))
    i = k.add(k.mul(k.pid(), LANES), k.arange(LANES))
    at = k.ptr(k.cells, k.load(k.ptr(k.index, i)))
    mask = k.ne(k.band(i, 3), 3) if masked else None
    old = k.atomic(kind, at, k.load(k.ptr(k.x, i)), mask)
    k.store(k.ptr(k.olds, i), old)
    return k.done()


def random_values(rng: np.random.Generator, name: str, count: int) -> Any:
    dtype = storage_dtype(dtype_named(name))
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    special = np.array([0.0, -0.0, np.inf, -np.inf, 1.0, -1.0])
    drawn = rng.normal(0, 100, count)
    chosen = rng.random(count) < 0.2
    drawn[chosen] = rng.choice(special, int(chosen.sum()))
    return drawn.astype(dtype)


INTEGERS = ("int32", "uint32", "int64", "uint64")
CASES = [
    *((kind, name) for kind in ("add", "and", "or", "xor", "xchg") for name in INTEGERS),
    *((kind, name) for kind in ("max", "min") for name in ("int32", "int64", "fp32", "fp64")),
    *((kind, name) for kind in ("umax", "umin") for name in ("uint32", "uint64")),
    *(("fadd", name) for name in ("fp16", "bf16", "fp32", "fp64")),
    ("xchg", "fp32"),
]


@pytest.mark.parametrize(
    "kind, name", [c for c in CASES if not (c[0] in ("max", "min") and c[1].startswith("fp"))]
)
@pytest.mark.parametrize("cells", (1, 3, 40))
@pytest.mark.parametrize("masked", (False, True))
def test_lanes_apply_in_order(kind: str, name: str, cells: int, masked: bool) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{kind}{name}{cells}".encode()))
    count = 6 * LANES
    index = rng.integers(0, cells, count).astype(np.int32)
    x, held = random_values(rng, name, count), random_values(rng, name, cells)
    expected, olds = held.copy(), np.zeros_like(x)
    for i in range(count):
        if masked and i % 4 == 3:
            continue
        olds[i] = expected[index[i]]
        expected[index[i]] = apply_one(kind, expected[index[i]], x[i])
    for chunk in (1, 1 << 18):
        got, got_olds = held.copy(), np.full_like(x, 1)
        run(rmw_kernel(kind, name, masked), (6,), index, x, got, got_olds, chunk_elements=chunk)
        assert got.tobytes() == expected.tobytes()
        assert got_olds.tobytes() == olds.tobytes()


@pytest.mark.parametrize("kind", ("max", "min"))
@pytest.mark.parametrize("name", ("fp32", "fp64"))
def test_float_extremes_follow_the_order_of_bits(kind: str, name: str) -> None:
    from tritium.backends.interp.atomics import read_modify_write
    from tritium.backends.interp.memory import Memory
    from tritium.runtime.arrays import view_of

    dtype = storage_dtype(dtype_named(name))
    values = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan], dtype)
    for first in values:
        for second in values:
            cell = np.array([first])
            memory = Memory([("cell", view_of(cell))])
            at = np.full((1, 1, 1, 1), cell.ctypes.data, np.int64)
            value = np.full((1, 1, 1, 1), second, dtype)
            old = read_modify_write(memory, kind, at, value, None, dtype_named(name), (1, 1, 1, 1), False)
            assert old.tobytes() == np.array([first]).tobytes()
            assert cell.tobytes() == np.array([apply_one(kind, first, second)]).tobytes()


def test_each_program_counts_though_nothing_depends_on_it() -> None:
    k = Kernel(tick=pointer(int32))
    k.atomic("add", k.tick, 1)
    tick = np.zeros(1, np.int32)
    run(k.done(), (5, 3, 2), tick)
    assert tick[0] == 30
    k = Kernel(tick=pointer(int32))
    k.atomic("add", k.spread(k.tick, (16,)), 1)
    run(k.done(), (7,), tick)
    assert tick[0] == 30 + 7 * 16


def test_old_values_of_a_2d_grid_come_in_order_of_ids() -> None:
    k = Kernel(tick=pointer(int32), out=pointer(int32), nx=int32)
    place = k.add(k.mul(k.pid(1), k.nx), k.pid(0))
    k.store(k.ptr(k.out, place), k.atomic("add", k.tick, 1))
    tick, out = np.zeros(1, np.int32), np.zeros((4, 3), np.int32)
    run(k.done(), (3, 4), tick, out, 3)
    assert out.ravel().tolist() == list(range(12))


@pytest.mark.parametrize("dtype", (np.float16, ml_dtypes.bfloat16))
def test_sixteen_bit_sums_round_after_every_addition(dtype: Any) -> None:
    name = "fp16" if dtype is np.float16 else "bf16"
    k = Kernel(cell=pointer(dtype_named(name)))
    k.atomic("fadd", k.spread(k.cell, (512,)), 1.0)
    cell = np.zeros(1, dtype)
    run(k.done(), (8,), cell)
    assert float(cell[0]) == (2048.0 if name == "fp16" else 256.0)  # where 1 is lost in rounding


def test_many_lanes_on_one_cell_are_fast_enough() -> None:
    """A million float additions to one cell, in order: the sum of a cumulative sum."""
    k = Kernel(x=pointer(float32), cell=pointer(float32))
    i = k.add(k.mul(k.pid(), 1024), k.arange(1024))
    k.atomic("fadd", k.spread(k.cell, (1024,)), k.load(k.ptr(k.x, i)))
    x = np.random.default_rng(3).random(1 << 20, dtype=np.float32)
    cell = np.zeros(1, np.float32)
    run(k.done(), (1024,), x, cell)
    assert cell[0] == np.add.accumulate(x)[-1]


@pytest.mark.parametrize("name", ("int32", "int64", "uint64"))
@pytest.mark.parametrize("cells", (1, 4, 64))
def test_compare_and_swap(name: str, cells: int) -> None:
    ty = dtype_named(name)
    rng = np.random.default_rng(cells)
    count = 48
    index = (
        rng.integers(0, cells, count).astype(np.int32)
        if cells < count
        else rng.permutation(count).astype(np.int32)
    )
    dtype = storage_dtype(ty)
    compare, value = rng.integers(0, 3, count).astype(dtype), rng.integers(0, 3, count).astype(dtype)
    held = np.zeros(cells, dtype)
    k = Kernel(index=pointer(int32), c=pointer(ty), v=pointer(ty), cells=pointer(ty), olds=pointer(ty))
    i = k.add(k.mul(k.pid(), LANES), k.arange(LANES))
    at = k.ptr(k.cells, k.load(k.ptr(k.index, i)))
    k.store(k.ptr(k.olds, i), k.cas(at, k.load(k.ptr(k.c, i)), k.load(k.ptr(k.v, i))))
    function = k.done()
    expected, olds = held.copy(), np.zeros(count, dtype)
    for n in range(count):
        olds[n] = expected[index[n]]
        if olds[n] == compare[n]:
            expected[index[n]] = value[n]
    for chunk in (1, 1 << 18):
        got, got_olds = held.copy(), np.ones(count, dtype)
        run(function, (count // LANES,), index, compare, value, got, got_olds, chunk_elements=chunk)
        assert np.array_equal(got, expected) and np.array_equal(got_olds, olds)


def test_out_of_bounds_atomic_changes_nothing() -> None:
    k = Kernel(cells=pointer(int64))
    i = k.arange(8)
    k.atomic("add", k.ptr(k.cells, i), 1)
    cells = np.zeros(6, np.int64)
    with pytest.raises(OutOfBoundsError, match=r"element \[6\] of the tile") as caught:
        run(k.done(), (1,), cells)
    assert caught.value.fields["access"] == "atomic operation"
    assert not cells.any()
