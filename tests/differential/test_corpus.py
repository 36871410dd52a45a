"""The whole corpus on the interpreter, launched as a program would, against the references."""

from __future__ import annotations

import pytest

from tests.corpus.protocol import Case, run_case, select


@pytest.fixture(autouse=True)
def on_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "interpret")


@pytest.mark.parametrize("case", select(without={"large"}), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    run_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", select(having={"large"}), ids=lambda case: case.name)
def test_large_case(case: Case) -> None:
    run_case(case)


@pytest.mark.parametrize("case", select(having={"random"}, without={"large"}), ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_numbers_with_other_inputs(case: Case, seed: int) -> None:
    run_case(case, seed=seed)
