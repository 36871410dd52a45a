"""The corpus on a GPU, under both policies, and random matmuls against fp64."""

from __future__ import annotations

import pytest

from tests.gpu.corpus_run import LAYOUTS, run_layouts, wanted
from tests.gpu.matmul_run import random_cases, run_all
from tritium.backends.cuda import driver

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("layouts", LAYOUTS)
def test_the_corpus(layouts: str) -> None:
    found = run_layouts(layouts, wanted(), float("inf"))
    assert {n: v for n, v in found.items() if v != "ok"} == {}


def test_random_matmuls() -> None:
    """200 sizes, tiles, types and numbers of warps, odd ones such as (3, 17) included; none is too large."""
    found = run_all(random_cases(200), driver.device(0).arch)
    assert {n: v for n, v in found.items() if v != "ok"} == {}
    assert len(found) == 200
