"""The static type of every op on every dtype is the one that compiled Triton 3.6 gives."""

from __future__ import annotations

import pytest

from . import case_check, matrix_check
from .observe import Frontend


@pytest.mark.parametrize(("name", "first"), matrix_check.groups())
def test_result_types(frontend: Frontend, name: str, first: str) -> None:
    matrix = matrix_check.MATRICES[name]
    typed, _, _ = matrix_check.split(matrix, first)
    found = matrix_check.mismatches(frontend, matrix, typed)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", case_check.names(accepted=True, syntax=False))
def test_types_of_a_case(frontend: Frontend, name: str) -> None:
    case_check.assert_types(frontend, name)


def test_every_recording_is_used() -> None:
    assert matrix_check.recorded().keys() == matrix_check.MATRICES.keys()
    assert case_check.recorded().keys() == case_check.all_cases().keys()
