"""Random control flow, judged by Python itself; also with flags in place of nesting, which long programs get."""

from __future__ import annotations

import pytest

from tests.frontend.compiling import define, lowered, run
from tests.frontend.random_programs import Generator, run_as_python
from tritium.frontend import statements

PROGRAMS = 6


@pytest.mark.parametrize("most_nested", [0, 3, 40])
@pytest.mark.parametrize("seed", range(24))
def test_control_flow_follows_python(monkeypatch: pytest.MonkeyPatch, seed: int, most_nested: int) -> None:
    monkeypatch.setattr(statements, "MOST_NESTED", most_nested)
    text = Generator(seed).program()
    function = lowered(define(text), {"m": "i32"}).function
    for n in (0, 3, 14):
        found = run(function, n, 2, grid=PROGRAMS, size=4 * PROGRAMS)
        assert found == run_as_python(text, PROGRAMS, n, 2), text
