"""Texts that are compared in full. ``pytest tests/golden --update-golden`` writes them anew, for review as a diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)``: `text` equals the file `name`; a missing file fails unless it is being written."""

    def check(name: str, text: str) -> None:
        file = HERE / name
        if request.config.getoption("--update-golden"):
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"{name} does not exist; write it with --update-golden and look at it"
        assert text == file.read_text(encoding="utf-8")

    return check
