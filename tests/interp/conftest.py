"""Running IR text on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tritium.backends.interp import Options, run_grid
from tritium.ir.core import Function
from tritium.ir.parser import parse_function
from tritium.ops.base import REGISTRY
from tritium.runtime.arrays import view_of


def parse(text: str) -> Function:
    """The function in `text`, every op with the line of the text as its location unless one is written."""
    return parse_function(text, REGISTRY)


def run(function: Function | str, grid: tuple[int, ...], *args: Any, **options: Any) -> None:
    """Run on NumPy arrays and numbers; `options` are those of the interpreter."""
    if isinstance(function, str):
        function = parse(function)
    whole = (*grid, 1, 1)[:3]
    passed = [view_of(a) if isinstance(a, np.ndarray) else a for a in args]
    run_grid(function, whole, passed, options=Options(**options))  # type: ignore[arg-type]


@pytest.fixture
def printed() -> Any:
    """A list that collects what a run prints when its `write` option is `printed.append`."""
    return []
