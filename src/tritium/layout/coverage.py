"""Whether the places of a layout hold a tile: exactly once, several times, or not all of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from tritium.layout.digits import Layout


@dataclass(frozen=True)
class Coverage:
    """How often the elements of a tile are held: by `fewest` to `most` places; `outside` places hold none."""

    fewest: int
    most: int
    outside: int

    @property
    def kind(self) -> Literal["exactly once", "replicated", "partial"]:
        """ "partial" if some element has no place, "replicated" if some element has several."""
        if self.fewest == 0:
            return "partial"
        return "exactly once" if self.most == 1 else "replicated"

    @property
    def injective(self) -> bool:
        """No two places hold the same element: what a memory layout has to be."""
        return self.most <= 1


def count_places(layout: Layout) -> Coverage:
    """How many places hold each element of the tile."""
    flat = layout.flat_elements.reshape(-1)
    held = flat[flat >= 0]
    counts = np.bincount(held, minlength=prod(layout.shape.values()))
    return Coverage(int(counts.min()), int(counts.max()), int(flat.size - held.size))
