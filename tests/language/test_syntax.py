"""Python syntax, control flow and calls in kernels: accepted with the right types, or refused in place."""

from __future__ import annotations

import pytest

from . import case_check
from .observe import Frontend


@pytest.mark.parametrize("name", case_check.names(accepted=True, syntax=True))
def test_accepted(frontend: Frontend, name: str) -> None:
    case_check.assert_types(frontend, name)


@pytest.mark.parametrize("name", case_check.names(accepted=False, syntax=True))
def test_refused(frontend: Frontend, name: str) -> None:
    case_check.assert_refused(frontend, name)
