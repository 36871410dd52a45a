"""Random kernels with nested control flow and carried tiles: natively and on the interpreter, the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interp import random_programs
from tests.interp.random_programs import TABLE, RandomKernel
from tritium.backends.cpu import prepare
from tritium.backends.interp import run_grid
from tritium.ir.match import Record
from tritium.ir.types import int32, tile
from tritium.pipeline import run_passes

from .native import run_native, view
from .random_tiles import AREA, RandomTiles


@pytest.mark.parametrize("lanes", [5, 16, 37])
@pytest.mark.parametrize("seed", range(24))
def test_native_agrees(seed: int, lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_programs, "LANES", lanes)
    monkeypatch.setattr(random_programs, "ROW", 12 * lanes)
    monkeypatch.setattr(random_programs, "TILE", tile(int32, (lanes,)))
    function = RandomKernel(seed).function
    table = np.random.default_rng(seed).integers(-9, 9, TABLE).astype(np.int32)
    grid = (3, 2, 2)
    size = 12 * 12 * lanes
    want = np.zeros(size, np.int32)
    run_grid(function, grid, [view(table.copy(), int32), view(want, int32)])
    optimised = function.clone()
    run_passes(optimised, Record())
    prepare.run(optimised, Record())
    for candidate in (function, optimised):
        for distinct in (True, False):
            have = np.zeros(size, np.int32)
            run_native(candidate, grid, [view(table.copy(), int32), view(have, int32)], distinct)
            assert np.array_equal(have, want), (candidate is optimised, distinct)


@pytest.mark.parametrize("seed", range(40))
def test_tiles_agree(seed: int) -> None:
    function = RandomTiles(seed).function
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-9, 9, 3 * AREA).astype(np.int32) for _ in range(2))
    n = int(rng.integers(0, 20))
    want = y.copy()
    run_grid(function, (2, 1, 1), [view(x, int32), view(want, int32), n])
    optimised = function.clone()
    run_passes(optimised, Record())
    prepare.run(optimised, Record())
    for candidate in (function, optimised):
        for distinct in (True, False):
            have = y.copy()
            run_native(candidate, (2, 1, 1), [view(x, int32), view(have, int32), n], distinct)
            assert np.array_equal(have, want), (candidate is optimised, distinct)
