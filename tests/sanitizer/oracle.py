"""An address oracle that shares no code with the checker: every access of a plain run, element by element, in Python sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.backends.interp import Program, run_grid
from tritium.backends.interp.planes import Plane
from tritium.errors import TritiumError
from tritium.ir.core import Op
from tritium.runtime import launch_check
from tritium.runtime.arrays import ArrayView


def addresses_of(view: Any) -> set[int]:
    """The first byte of every element of a view, one by one."""
    found = {view.address}
    for extent, stride in zip(view.shape, view.strides, strict=True):
        step = stride * view.dtype.itemsize
        found = {a + i * step for a in found for i in range(extent)}
    return found


class Accesses(Plane):
    """Collects the (line, kind) of every access that touches no element of the array its pointer comes from."""

    def __init__(self, allowed: set[int]) -> None:
        self.allowed = allowed
        self.outside: set[tuple[int, str]] = set()
        self.count = 0

    def accessed(
        self, m: Any, op: Op, access: str, at: np.ndarray, mask: np.ndarray | None, value: np.ndarray
    ) -> None:
        shape = np.broadcast_shapes(at.shape, np.shape(mask) if mask is not None else ())
        live = np.broadcast_to(True if mask is None else mask, shape)
        for address in np.broadcast_to(at, shape)[live].tolist():
            if address not in self.allowed:
                self.outside.add((op.loc.line if op.loc else 0, access))
                self.count += 1


class Oracle:
    """Runs launches on the plain interpreter, with room around every array, and says which lines leave their view.

    One storage must not hold two arguments: the oracle asks only whether an address belongs to some argument.
    """

    def __init__(self) -> None:
        self.outside: set[tuple[int, str]] = set()
        self.failed: int | None = None
        self.count = 0

    def __call__(self, kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        allowed: set[int] = set()
        for leaf in leaves:
            if isinstance(leaf, ArrayView):
                allowed |= addresses_of(leaf)
        plane = Accesses(allowed)
        try:
            run_grid(Program(kernel.compilation.artefacts["tir"]), grid, leaves, planes=[plane])
        except TritiumError as error:
            if error.code != "TRI0801":
                raise
            self.failed = error.loc.line if error.loc is not None else 0
        self.outside |= plane.outside
        self.count += plane.count


def oracle_of(launch: Any) -> Oracle:
    """What the oracle says about the launches that `launch` does."""
    oracle = Oracle()
    with launch_check.installed(oracle):
        launch()
    return oracle
