"""Two stages of shared memory for the canonical K loop, and one barrier an iteration instead of two.

::

    for k in range(0, K, BK):                     stage = (k / BK) & 1
        a = tl.load(... k ...)                    writes go to that stage,
        b = tl.load(... k ...)                    barrier,
        acc += tl.dot(a, b)                       reads come from it

The next iteration writes the other stage, so threads that are still reading this one are safe: before anyone writes it
again, all have met at the next iteration's barrier. Copy and arithmetic do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.ir.builder import Builder
from tritium.ir.core import Op, Value


@dataclass(frozen=True)
class StagePlan:
    """Double buffering of one dot: the loop whose induction variable picks the stage, and its step."""

    dot: Op
    loop: Op
    depth: int
    stage_count: int = 2

    def stage_value(self, builder: Builder) -> Value:
        """The stage of the current iteration, computed once for writes and reads."""
        raise AssertionError
