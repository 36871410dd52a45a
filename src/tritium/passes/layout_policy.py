"""Which register layouts the compiler prefers: the policies behind `tritium.passes.assign_layouts`.

``default``   32 * num_warps threads; vectors along the contiguous axis; power-of-two thread shapes with overhang
``seed``      one result per thread without a dot, at most one warp with one (divisors only, strided register tiles)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Protocol

from tritium.ops.gpu_layout import AxisLayout, Digit, RegisterLayout, blocked, divisors, strided

DOT_MAX_THREADS = 32
"""Threads of a dot under the seed policy: one warp."""

WARP = 32


class LayoutPolicy(Protocol):
    """`name` and `threads` of a policy, and the layouts it gives to tiles of a shape."""

    @property
    def name(self) -> str: ...

    @property
    def threads(self) -> int: ...

    def dot(self, shape: tuple[int, ...]) -> RegisterLayout:
        """For the result of a dot."""
        ...

    def memory(self, shape: tuple[int, ...], order: Sequence[int], vector: int) -> RegisterLayout:
        """For a load or store whose addresses run along ``order[0]``, `vector` elements of which may go at once."""
        ...


@lru_cache(maxsize=256)
def dot_thread_shape(rows: int, columns: int, threads: int = DOT_MAX_THREADS) -> tuple[int, int]:
    """The seed policy's thread shape: of all pairs of divisors with a product of at most `threads`, the one with the
    largest (product, smaller side, columns)."""
    pairs = [(r, c) for r in divisors(rows) for c in divisors(columns) if r * c <= threads]
    return max(pairs, key=lambda p: (p[0] * p[1], min(p), p[1]))


@dataclass(frozen=True)
class SeedPolicy:
    """The layouts of the seed documents: `shape` is that of the tile that decides, a dot's result if there is one."""

    shape: tuple[int, ...]
    has_dot: bool
    name: str = "seed"

    @property
    def thread_shape(self) -> tuple[int, ...]:
        if not self.has_dot or len(self.shape) != 2:
            return self.shape
        return dot_thread_shape(*self.shape)

    @property
    def threads(self) -> int:
        return prod(self.thread_shape)

    def dot(self, shape: tuple[int, ...]) -> RegisterLayout:
        if shape == self.shape:
            return strided(shape, self.thread_shape, self.threads)
        return strided(shape, dot_thread_shape(*shape, self.threads), self.threads)

    def memory(self, shape: tuple[int, ...], order: Sequence[int], vector: int) -> RegisterLayout:
        if shape == self.shape:
            return strided(shape, self.thread_shape, self.threads)
        return blocked(shape, self.threads, list(reversed(range(len(shape)))))


@dataclass(frozen=True)
class DefaultPolicy:
    """`warps` warps; see the module text."""

    warps: int
    name: str = "default"

    @property
    def threads(self) -> int:
        return self.warps * WARP

    def memory(self, shape: tuple[int, ...], order: Sequence[int], vector: int) -> RegisterLayout:
        fair = -(-prod(shape) // self.threads)  # a longer vector than a thread's share leaves threads idle
        run = 1
        while run * 2 <= min(vector, fair) and shape[order[0]] % (run * 2) == 0:
            run *= 2
        return blocked(shape, self.threads, order, run)

    def dot(self, shape: tuple[int, ...]) -> RegisterLayout:
        """A rectangle of warps, each a rectangle of threads, each with a register tile as square as can be."""
        rows, columns = shape[-2:]
        lanes, warps = _dot_threads(rows, columns, self.warps)
        row = _dot_axis(rows, ((lanes[0], lanes[1]), (warps[0], WARP)))
        column = _dot_axis(columns, ((lanes[1], 1), (warps[1], WARP * warps[0])))
        batch = [AxisLayout(n, (Digit(n),) if n > 1 else ()) for n in shape[:-2]]
        return RegisterLayout((*batch, row, column), self.threads)


@lru_cache(maxsize=256)
def _dot_threads(rows: int, columns: int, warps: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(rows, columns) of the threads of a warp and of the warps of a block.

    What counts, in order: results computed for nothing, operand elements read per step of the reduction (the sides of
    a register tile), and a warp of 4 x 8 threads, whose rows of results fill cache lines.
    """

    def cost(choice: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int, int]:
        (lane_rows, lane_columns), (down, across) = choice
        tall = -(-rows // (lane_rows * down))
        wide = -(-columns // (lane_columns * across))
        return tall * wide, tall + wide, abs(lane_columns - 8)

    lanes = [(WARP // c, c) for c in (8, 4, 16, 2, 32, 1)]
    grids = [(d, warps // d) for d in divisors(warps)]
    return min(((lane, grid) for lane in lanes for grid in grids), key=cost)


def _dot_axis(extent: int, threads: Sequence[tuple[int, int]]) -> AxisLayout:
    """Digits of one axis of a dot's result: a run of up to four, the lanes, the rest of the warp's part, the warps."""
    total = 1
    for count, _ in threads:
        total *= count
    share = -(-extent // total)
    run = 4 if share >= 4 else 2 if share >= 2 else 1
    rest = -(-extent // (run * total))
    (lanes, stride), (warps, warp_stride) = threads
    digits = [Digit(run)] if run > 1 else []
    digits += [Digit(lanes, stride)] if lanes > 1 else []
    digits += [Digit(rest)] if rest > 1 else []
    digits += [Digit(warps, warp_stride)] if warps > 1 else []
    return AxisLayout(extent, tuple(digits))
