"""Program instances that part: a batch gives what the instances give one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.launching import run
from tests.interp.random_programs import ROW, TABLE, RandomKernel
from tritium.backends.interp.batch import Batch, Selection, merge
from tritium.ir.types import int32, pointer

UNWRITTEN = 987654321
GRIDS = ((7, 1, 1), (4, 3, 1), (2, 3, 2), (1, 5, 1), (1, 1, 1))


@pytest.mark.parametrize("seed", range(120))
def test_batch_equals_instances_one_by_one(seed: int) -> None:
    function = RandomKernel(seed, depth=1 + seed % 4).function
    table = np.random.default_rng(seed).integers(-50, 50, TABLE).astype(np.int32)
    grid = GRIDS[seed % len(GRIDS)]
    results = []
    for chunk in (1, 17, 1 << 18):
        out = np.full((int(np.prod(grid)), ROW), UNWRITTEN, np.int32)
        run(function, grid, table.copy(), out, chunk_elements=chunk)
        results.append(out)
    assert np.array_equal(results[0], results[2])
    assert np.array_equal(results[1], results[2])
    assert (results[0] != UNWRITTEN).any()


def extents_of(shape: tuple[int, int, int], rng: np.random.Generator) -> list[int]:
    """Batch axes of an array of a batch: whole, or 1 where the array does not vary."""
    return [n if rng.random() < 0.6 else 1 for n in shape]


def random_condition(shape: tuple[int, int, int], rng: np.random.Generator) -> Any:
    """A condition over a batch that holds for some instances and not for others."""
    while True:
        condition = rng.random(extents_of(shape, rng)) < 0.6
        if condition.any() and not condition.all():
            return condition


@pytest.mark.parametrize("seed", range(60))
def test_selections_follow_each_other_and_merge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(2, 4)))
    batch = Batch.box((0, 0, 0), shape, shape)
    first = Selection.where(random_condition(shape, rng), batch)
    inner = batch.select(first)
    if inner.count == 1:
        return
    condition = random_condition(inner.shape, rng)
    second = first.continued(condition, inner)
    both = first.then(second)
    small = inner.select(second)
    assert batch.select(both).shape == small.shape
    for _ in range(4):
        value = rng.integers(0, 1000, (*extents_of(shape, rng), *((3,) if seed % 2 else ())))
        twice, once = second.take(first.take(value)), both.take(value)
        assert np.array_equal(*np.broadcast_arrays(twice, once))
        # The two halves of the inner batch, put together again.
        halves = [first.continued(c, inner) for c in (condition, ~condition)]
        whole = merge([(h, h.take(first.take(value))) for h in halves], inner)
        assert np.array_equal(*np.broadcast_arrays(whole, first.take(value)))
    ids = [small.program(p) for p in small.positions()]
    assert ids == sorted(ids, key=lambda p: p[::-1])


@pytest.mark.parametrize("grid", ((4, 4, 1), (3, 4, 5)))
def test_a_loop_left_first_along_one_axis_and_then_along_another(grid: tuple[int, int, int]) -> None:
    """Iteration n goes on where the program id of axis n is not 0, and adds 10 to the power of n."""
    k = Kernel(out=pointer(int32), nx=int32, ny=int32)
    ids = [k.pid(axis) for axis in range(3)]
    zero = k.value(0, int32)

    def going(n: Any, power: Any, total: Any) -> Any:
        chosen = k.where(k.eq(n, 0), ids[0], k.where(k.eq(n, 1), ids[1], k.where(k.eq(n, 2), ids[2], zero)))
        return k.lt(zero, chosen)

    def body(n: Any, power: Any, total: Any) -> list[Any]:
        return [k.add(n, 1), k.mul(power, 10), k.add(total, power)]

    total = k.while_([zero, k.value(1, int32), ids[1]], going, body)[2]
    row = k.add(k.mul(k.add(k.mul(ids[2], k.ny), ids[1]), k.nx), ids[0])
    k.store(k.ptr(k.out, row), total)
    out = np.zeros(grid[::-1], np.int32)
    run(k.done(), grid, out, grid[0], grid[1])
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                expected = y + (0 if not x else 1 if not y else 11 if not z else 111)
                assert out[z, y, x] == expected
