"""Fixtures of the interpreter's tests."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def printed() -> Any:
    """A list that collects what a run prints when its `write` option is `printed.append`."""
    return []
