"""Program instances that part: a batch gives what the instances give one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interp.launching import run
from tests.interp.random_programs import ROW, TABLE, RandomKernel
from tritium.backends.interp.batch import Batch, Selection, merge

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
    second = Selection.where(condition, inner)
    both = first.then(second, inner.shape)
    small = inner.select(second)
    assert batch.select(both).shape == small.shape
    for _ in range(4):
        value = rng.integers(0, 1000, (*extents_of(shape, rng), *((3,) if seed % 2 else ())))
        twice, once = second.take(first.take(value)), both.take(value)
        assert np.array_equal(*np.broadcast_arrays(twice, once))
        # The two halves of the inner batch, put together again.
        halves = [Selection.where(c, inner) for c in (condition, ~condition)]
        whole = merge([(h, h.take(first.take(value))) for h in halves], inner)
        assert np.array_equal(*np.broadcast_arrays(whole, first.take(value)))
    ids = [small.program(p) for p in small.positions()]
    assert ids == sorted(ids, key=lambda p: p[::-1])
