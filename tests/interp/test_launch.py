"""Grids, chunks, arguments, nesting, threads: what a run must not depend on."""

from __future__ import annotations

import sys
import threading
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.launching import run
from tritium.backends.interp import Program
from tritium.backends.interp.launch import boxes
from tritium.errors import InterpreterError
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
    tile,
    uint8,
    uint64,
)
from tritium.ops.base import Array
from tritium.ops.dot import Dot

I32, F32 = pointer(int32), pointer(float32)


@pytest.mark.parametrize("grid", ((1, 1, 1), (10, 1, 1), (7, 5, 1), (3, 4, 5), (1, 1, 9), (1, 6, 2)))
@pytest.mark.parametrize("count", (1, 2, 3, 7, 16, 1000))
def test_boxes_cover_the_grid_in_order_of_ids(grid: tuple[int, int, int], count: int) -> None:
    seen: list[tuple[int, int, int]] = []
    for start, stop in boxes(grid, count):
        ids = [
            (x, y, z)
            for z in range(start[2], stop[2])
            for y in range(start[1], stop[1])
            for x in range(start[0], stop[0])
        ]
        assert 1 <= len(ids) <= count
        seen += ids
    nx, ny, nz = grid
    assert seen == [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]


def test_empty_grids_run_nothing() -> None:
    k = Kernel(out=I32)
    k.store(k.out, 1)
    out = np.zeros(1, np.int32)
    for grid in ((0, 1, 1), (3, 0, 2)):
        run(k.done() if not k.function.body.terminator else k.function, grid, out)
    assert out[0] == 0


@pytest.mark.parametrize(
    "ty, value, expected",
    (
        (int32, 7, 7),
        (int32, np.int64(-3), -3),
        (int64, 1 << 40, 1 << 40),
        (uint64, (1 << 64) - 1, (1 << 64) - 1),
        (uint8, 200, 200),
        (int8, -128, -128),
        (int1, True, True),
        (float32, 0.1, float(np.float32(0.1))),
        (float64, 0.1, 0.1),
        (float16, np.float32(0.1), float(np.float16(0.1))),
        (bfloat16, 1.0, 1.0),
    ),
)
def test_numbers_as_arguments(ty: Any, value: Any, expected: Any) -> None:
    from tritium.ops.storage import storage_dtype

    k = Kernel(out=pointer(ty), n=ty)
    k.store(k.out, k.n)
    out = np.zeros(1, np.uint8 if ty is int1 else storage_dtype(ty))
    run(k.done(), (1,), out, value)
    assert out[0] == expected


def matmul(block: int) -> Any:
    """Three-mask matrix product, c = a @ b, square blocks."""
    k = Kernel("matmul", a=F32, b=F32, c=F32, M=int32, N=int32, K=int32)
    rm = k.add(k.mul(k.pid(0), block), k.arange(block))
    rn = k.add(k.mul(k.pid(1), block), k.arange(block))
    rows, columns = k.rows(rm), k.columns(rn)
    row_mask = k.lt(rows, k.spread(k.M, (block, 1)))
    column_mask = k.lt(columns, k.spread(k.N, (1, block)))

    def body(at: Any, acc: Any) -> list[Any]:
        ks = k.add(at, k.arange(block))
        a_offsets = k.add(k.mul(rows, k.spread(k.K, (block, 1))), k.columns(ks))
        b_offsets = k.add(k.mul(k.rows(ks), k.spread(k.N, (block, 1))), columns)
        a_mask = k.band(row_mask, k.lt(k.columns(ks), k.spread(k.K, (1, block))))
        b_mask = k.band(k.lt(k.rows(ks), k.spread(k.K, (block, 1))), column_mask)
        a = k.load(k.ptr(k.a, a_offsets), a_mask, 0.0)
        b = k.load(k.ptr(k.b, b_offsets), b_mask, 0.0)
        return [k.add(acc, k.emit(Dot, a, b, None, out=float32))]

    acc = k.for_(0, k.K, block, [k.value(0.0, tile(float32, (block, block)))], body)
    offsets = k.add(k.mul(rows, k.spread(k.N, (block, 1))), columns)
    k.store(k.ptr(k.c, offsets), acc, k.band(row_mask, column_mask))
    return k.done()


@pytest.mark.parametrize("shape", ((5, 7, 6), (1, 1, 1), (37, 41, 23), (64, 48, 32)))
def test_matmul_does_not_depend_on_chunks(shape: tuple[int, int, int]) -> None:
    m, n, depth = shape
    rng = np.random.default_rng(0)
    a, b = rng.random((m, depth), dtype=np.float32), rng.random((depth, n), dtype=np.float32)
    for block in (4, 8):
        results: list[Array] = []
        for chunk in (1, 100, 700, 1 << 18):
            c = np.full((m, n), np.nan, np.float32)
            run(matmul(block), (-(-m // block), -(-n // block)), a, b, c, m, n, depth, chunk_elements=chunk)
            results.append(c)
        assert np.allclose(results[0], a @ b, rtol=1e-5)
        assert all(np.array_equal(results[0], r) for r in results[1:])


def test_deeply_nested_branches() -> None:
    """A chain of 1,000 elifs nests 1,000 regions deep; every program takes another one."""
    k = Kernel(out=I32)

    def chain(n: int) -> Any:
        if n == 1000:
            return [k.value(-1, int32)]
        return [k.if_(k.eq(pid, n), lambda: [k.value(3 * n, int32)], lambda: chain(n + 1))]

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # for building the chain
    try:
        pid = k.pid()
        (value,) = chain(0)
        k.store(k.ptr(k.out, k.pid()), value)
        function = k.done()
    finally:
        sys.setrecursionlimit(limit)
    out = np.zeros(1005, np.int32)
    run(function, (1005,), out)
    assert out.tolist() == [3 * n for n in range(1000)] + [-1] * 5
    out[:] = 0
    run(function, (30,), out, chunk_elements=1)
    assert out[:30].tolist() == [3 * n for n in range(30)]


@pytest.mark.parametrize(
    "lower, upper, step", ((0, 5, 2), (5, 0, -2), (3, 3, 1), (4, 2, 1), (-128, 127, 100))
)
def test_loops_of_small_integers(lower: int, upper: int, step: int) -> None:
    from tritium.ops.control import For

    def kernel(varying: bool) -> Any:
        k = Kernel(out=I32)
        extra = k.cast(k.mul(k.pid(), 0 if not varying else 1), int8)
        bounds = [k.add(k.value(b, int8), k.value(0, int8)) for b in (lower, upper, step)]
        if varying:
            bounds[0] = k.add(bounds[0], extra)

        def body(iv: Any, acc: Any) -> list[Any]:
            return [k.add(k.mul(acc, 3), k.cast(iv, int32))]

        acc = k.emit(For, *bounds, [k.value(1, int32)], k.region(body, [int8, int32]))
        k.store(k.ptr(k.out, k.pid()), acc)
        return k.done()

    for varying in (False, True):
        expected = []
        for pid in range(3):
            acc = 1
            for i in range(lower + (pid if varying else 0), upper, step):
                acc = acc * 3 + i
            expected.append(acc)
        out = np.zeros(3, np.int32)
        run(kernel(varying), (3,), out)
        assert out.tolist() == expected


def test_a_step_of_zero_is_refused() -> None:
    k = Kernel(n=int32)
    k.at(4).for_(0, 5, k.n, [], lambda iv: [])
    with pytest.raises(InterpreterError) as caught:
        run(k.done(), (2,), 0)
    assert caught.value.code == "TRI0807" and caught.value.loc is not None and caught.value.loc.line == 4


def test_64_bit_bounds_do_not_overflow() -> None:
    from tritium.ops.control import For

    k = Kernel(out=pointer(int64))
    top = (1 << 63) - 1
    pid = k.cast(k.pid(), int64)
    lower = k.sub(k.value(top - 3, int64), pid)
    acc = k.emit(
        For,
        *(lower, k.value(top, int64), k.value(2, int64), [k.value(0, int64)]),
        k.region(lambda iv, acc: [k.add(acc, 1)], [int64, int64]),
    )
    k.store(k.ptr(k.out, k.pid()), acc)
    out = np.zeros(3, np.int64)
    run(k.done(), (3,), out)
    assert out.tolist() == [2, 2, 3]


def test_no_warnings_from_numpy() -> None:
    k = Kernel(out=F32)
    big = k.value(3e38, tile(float32, (4,)))
    k.store(k.ptr(k.out, k.arange(4)), k.add(big, big))
    out = np.zeros(4, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(k.done(), (1,), out)
    assert np.isinf(out).all()


def test_many_threads_run_one_program() -> None:
    """Eight threads launch at once, atomics of all of them land in one array."""
    k = Kernel(x=I32, out=I32, total=I32)
    i = k.add(k.mul(k.pid(), 32), k.arange(32))
    v = k.load(k.ptr(k.x, i))
    k.store(k.ptr(k.out, i), k.mul(v, 2))
    k.atomic("add", k.spread(k.total, (32,)), v)
    program = Program(k.done())
    x = np.arange(32 * 50, dtype=np.int32)
    outs = [np.zeros_like(x) for _ in range(8)]
    total = np.zeros(1, np.int32)
    failures: list[BaseException] = []

    def work(out: Array) -> None:
        try:
            for _ in range(5):
                run(program, (50,), x, out, total, chunk_elements=64)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(o,)) for o in outs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    assert all(np.array_equal(o, 2 * x) for o in outs)
    assert total[0] == np.int64(x.sum() * 40).astype(np.int32)


def test_a_million_programs_stay_within_memory() -> None:
    """Blocks of 64 over 64 million elements' worth of programs, all on one small array."""
    k = Kernel(x=F32, out=F32)
    i = k.band(k.add(k.mul(k.pid(), 8), k.arange(8)), 1023)
    p = k.ptr(k.out, i)
    v = k.load(k.ptr(k.x, i))
    k.store(p, k.add(k.mul(v, v), v))
    x, out = np.random.default_rng(0).random(1024, dtype=np.float32), np.zeros(1024, np.float32)
    tracemalloc.start()
    run(k.done(), (1_000_000,), x, out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(out, x * x + x)
    assert peak < 100 << 20


def test_dead_values_are_released() -> None:
    """A chain of 200 tile operations holds a few tiles at a time, not 200."""
    k = Kernel(out=F32)
    n = 1 << 16
    v = k.cast(k.add(k.arange(n), k.pid()), float32)
    for _ in range(200):
        v = k.add(v, v)
    k.store(k.ptr(k.out, k.arange(n)), v)
    function = k.done()
    out = np.zeros(n, np.float32)
    tracemalloc.start()
    run(function, (1,), out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * 4 * n
