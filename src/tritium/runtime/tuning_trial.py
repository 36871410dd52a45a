"""One candidate's trial run while tuning: on copies of what the kernel writes, and compared with the other candidates'.

The copies are made once per tuning and filled from the caller's arrays before each candidate, so that all start alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tritium.runtime.copies import arrays_in, assign, copy_arguments, host_values

_TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-3, "float64": 1e-9}
_OF_8_BIT_FLOATS = 0.25
_MOST_COMPARED = 1 << 24
"""Elements of an array that are compared; beyond, that many from its start."""


class Trials:
    """The copies and results of one tuning.

    copies   arguments that stand in for the caller's, by name: those with arrays that may be written
    """

    def __init__(self, named: Mapping[str, Any], written: Iterable[str] | None) -> None:
        """`written` are the arguments that the kernel may change; None for all of them."""
        made = copy_arguments(named, written)
        self.copies = {name: argument for name, argument in made.items() if argument is not named[name]}
        self._pairs: list[tuple[str, Any, Any]] = []  # name, the caller's array, its copy
        for name, argument in self.copies.items():
            for theirs, copied in zip(arrays_in(named[name]), arrays_in(argument), strict=True):
                if copied is not theirs:
                    self._pairs.append((name, theirs, copied))
        self._first: list[np.ndarray[Any, Any] | None] = []

    def refill(self) -> None:
        """Put the caller's values into the copies."""
        for _, theirs, copied in self._pairs:
            assign(copied, theirs)

    def differences(self) -> list[tuple[str, float]]:
        """Arguments that differ from the first candidate's results, with the largest relative difference."""
        now = [self._sample(copied) for _, _, copied in self._pairs]
        if not self._first:
            self._first = now
            return []
        found: list[tuple[str, float]] = []
        for (name, _, _), first, values in zip(self._pairs, self._first, now, strict=True):
            worst = difference(first, values) if first is not None and values is not None else 0.0
            if worst > 0:
                found.append((name, worst))
        return found

    @staticmethod
    def _sample(array: Any) -> np.ndarray[Any, Any] | None:
        values = host_values(array)
        return None if values is None else values.reshape(-1)[:_MOST_COMPARED].copy()


def difference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Largest difference relative to the largest number, if beyond what reordered float arithmetic explains; else 0."""
    if a.shape != b.shape:
        return float("inf")
    kind = a.dtype.kind
    tolerance = _TOLERANCE.get(str(a.dtype), 0.0 if kind in "biu" else _OF_8_BIT_FLOATS)
    if np.array_equal(a, b):
        return 0.0
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        finite = np.abs(x[np.isfinite(x)])
        gap = np.abs(x - y) / max(1e-30, float(finite.max(initial=0.0)))
    gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.nan_to_num(gap, nan=np.inf))
    worst = float(gap.max(initial=0.0))
    return worst if worst > tolerance else 0.0


def written_names(kernel: Any, arg_names: Iterable[str]) -> set[str] | None:
    """Parameters that a compiled kernel may write to; None if it may be any."""
    written: Callable[[], set[str] | None] | None = getattr(kernel, "written_parameters", None)
    found = written() if written is not None else None
    return None if found is None else found & set(arg_names)
