"""Program instances that part: a batch gives what the instances give one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interp.launching import run
from tests.interp.random_programs import ROW, TABLE, RandomKernel

GRIDS = ((7, 1, 1), (4, 3, 1), (2, 3, 2), (1, 5, 1), (1, 1, 1))


@pytest.mark.parametrize("seed", range(120))
def test_batch_equals_instances_one_by_one(seed: int) -> None:
    function = RandomKernel(seed, depth=1 + seed % 4).function
    table = np.random.default_rng(seed).integers(-50, 50, TABLE).astype(np.int32)
    grid = GRIDS[seed % len(GRIDS)]
    results = []
    for chunk in (1, 17, 1 << 18):
        out = np.zeros((int(np.prod(grid)), ROW), np.int32)
        run(function, grid, table.copy(), out, chunk_elements=chunk)
        results.append(out)
    assert np.array_equal(results[0], results[2])
    assert np.array_equal(results[1], results[2])
    assert results[0].any()
