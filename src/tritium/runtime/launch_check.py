"""The one place where a checker takes launches over: while one is installed, every launch in the process is its.

The checker is called with the compiled kernel, the grid and the run-time parts of the arguments, arrays in host memory;
it runs the launch. Kernels are then compiled for the interpreter whatever the launch asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from tritium.runtime.grid import Grid

Checker = Callable[[Any, Grid, Sequence[Any]], None]

_installed: list[Checker] = []


def active() -> Checker | None:
    """The checker in force, or None."""
    return _installed[-1] if _installed else None


@contextmanager
def installed(checker: Checker) -> Generator[None]:
    """Hand every launch in the block, of any thread, to `checker`."""
    _installed.append(checker)
    try:
        yield
    finally:
        _installed.remove(checker)
