"""What compiled Triton 3.6 refuses is refused, with an error that quotes the kernel's line."""

from __future__ import annotations

import pytest

from . import case_check, matrix_check
from .matrix import kernel_text
from .observe import Frontend, observe

# About 10,000 combinations are refused; each needs a kernel of its own. One in six is checked here, always the
# same ones and some of every operator; tests/oracle/compare.py checks all.
SHARE = 6


@pytest.mark.parametrize(("name", "first"), matrix_check.groups())
def test_refused_dtypes(frontend: Frontend, name: str, first: str) -> None:
    matrix = matrix_check.MATRICES[name]
    _, refused, _ = matrix_check.split(matrix, first)
    found = matrix_check.wrongly_accepted(frontend, matrix, matrix_check.sample(matrix, refused, SHARE))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", list(matrix_check.MATRICES))
def test_accidents_of_triton_do_not_crash(frontend: Frontend, name: str) -> None:
    """Where Triton falls over inside itself either answer will do, but only a located refusal or types."""
    matrix = matrix_check.MATRICES[name]
    for first in matrix.axes[0][1] if len(matrix.axes) > 1 else ("",):
        _, _, either = matrix_check.split(matrix, first)
        for item in matrix_check.sample(matrix, either, SHARE):
            observe(frontend, kernel_text(matrix, [item.coordinates]))


@pytest.mark.parametrize("name", case_check.names(accepted=False, syntax=False))
def test_refused_case(frontend: Frontend, name: str) -> None:
    case_check.assert_refused(frontend, name)


@pytest.mark.parametrize("name", case_check.undecided())
def test_undecided_case_does_not_crash(frontend: Frontend, name: str) -> None:
    observe(frontend, case_check.all_cases()[name].kernel)
