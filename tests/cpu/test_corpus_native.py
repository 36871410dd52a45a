"""The whole corpus on the native backend, each case known to have run there."""

from __future__ import annotations

import pytest

from tests.corpus.protocol import Case, run_case, select

from .native import counting

CASES = select()


@pytest.fixture(autouse=True)
def on_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_corpus_runs_natively(case: Case) -> None:
    with counting() as launches:
        run_case(case)
    native, interpreted = launches()
    assert interpreted == 0
    assert native > 0 or 0 in _grid(case)


def _grid(case: Case) -> tuple[int, ...]:
    import numpy as np

    grid = case.make(np.random.default_rng(0)).grid
    return grid if isinstance(grid, tuple) else (1,)
