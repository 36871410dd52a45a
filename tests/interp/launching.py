"""Running functions on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.backends.interp import Options, Program, run_grid
from tritium.ir.core import Function
from tritium.runtime.arrays import view_of


def run(function: Function | Program, grid: tuple[int, ...], *args: Any, **options: Any) -> None:
    """Run with arrays and numbers as arguments; `options` are those of the interpreter."""
    extents = (*grid, 1, 1)[:3]
    passed = [view_of(a) if isinstance(a, np.ndarray) else a for a in args]
    run_grid(function, (extents[0], extents[1], extents[2]), passed, options=Options(**options))
