"""Whether memory that was named only by a number belongs to this process.

A kernel may read pointers from a table of integers (grouped matrix products do). Such an address names memory that no
argument holds. It is trusted as far as can be told: on Linux the process's memory map says whether touching it
would fault; elsewhere it is taken as it is.
"""

from __future__ import annotations

import sys

import numpy as np

from tritium.ops.base import Array

_MAP = "/proc/self/maps"


def mapped_block(at: Array, size: int) -> tuple[int, int, Array] | None:
    """The block ``[start, end)`` of readable and writable memory that holds ``at[0]``, and which of `at` lie in it.

    None if there is no such memory. Where the system gives no map, the block spans all of `at`.
    """
    first = int(at[0])
    if not sys.platform.startswith("linux"):
        if first < 4096:  # the null page is nowhere mapped
            return None
        start, end = int(at.min()), int(at.max()) + size
        return start, end, np.ones(at.shape, np.bool_)
    for start, end in _blocks():
        if start <= first and first + size <= end:
            inside = (at >= start) & (at + size <= end)
            return int(at[inside].min()), int(at[inside].max()) + size, inside
    return None


def _blocks() -> list[tuple[int, int]]:
    """Runs of adjacent mappings that may be read and written."""
    runs: list[tuple[int, int]] = []
    with open(_MAP, encoding="ascii", errors="replace") as lines:
        for line in lines:
            span, permissions, *_ = line.split(" ", 2)
            if not permissions.startswith("rw"):
                continue
            start, end = (int(x, 16) for x in span.split("-"))
            if runs and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
    return runs
