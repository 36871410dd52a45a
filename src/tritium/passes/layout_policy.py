"""Which register layouts the compiler prefers: the policies behind `tritium.passes.assign_layouts`.

``default``   32 * num_warps threads; vectors along the contiguous axis; power-of-two thread shapes with overhang;
              dots as tensor cores give them where `tensor_cores` has a plan
``seed``      one result per thread without a dot, at most one warp with one (divisors only, strided register tiles)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Protocol

from tritium.ir.core import Op
from tritium.layout import seed_dot_thread_shape
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import AxisLayout, Digit, RegisterLayout, blocked, divisors, strided
from tritium.passes.specialize.tensor_cores import MmaPlan, TensorCores

WARP = 32


class LayoutPolicy(Protocol):
    """`name` and `threads` of a policy, and the layouts it gives to tiles of a shape."""

    @property
    def name(self) -> str: ...

    @property
    def threads(self) -> int: ...

    def dot(self, op: Dot) -> RegisterLayout:
        """For the result of a dot."""
        ...

    def memory(self, shape: tuple[int, ...], order: Sequence[int], vector: int) -> RegisterLayout:
        """For a load or store whose addresses run along ``order[0]``, `vector` elements of which may go at once."""
        ...

    def run(self, op: Op) -> int:
        """How many neighbours a thread should hold of what `op` loads, even if they may not be moved at once."""
        ...


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
        return seed_dot_thread_shape(self.shape)

    @property
    def threads(self) -> int:
        return prod(self.thread_shape)

    def dot(self, op: Dot) -> RegisterLayout:
        shape = op.result.type.shape
        matrix = shape[-2:]
        threads = self.thread_shape if matrix == self.shape else seed_dot_thread_shape(matrix, self.threads)
        return strided(shape, (*(1 for _ in shape[:-2]), *threads), self.threads)

    def memory(self, shape: tuple[int, ...], order: Sequence[int], vector: int) -> RegisterLayout:
        if shape == self.shape:
            return strided(shape, self.thread_shape, self.threads)
        return blocked(shape, self.threads, list(reversed(range(len(shape)))))

    def run(self, op: Op) -> int:
        return 1


@dataclass(frozen=True)
class DefaultPolicy:
    """`warps` warps; see the module text. `cores`: the tensor cores, if dots may use them."""

    warps: int
    cores: TensorCores | None = None
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

    def run(self, op: Op) -> int:
        return self.cores.run(op) if self.cores is not None else 1

    def dot(self, op: Dot) -> RegisterLayout:
        """What tensor cores give; else a rectangle of warps, each a rectangle of threads, each with a register tile as
        square as can be."""
        found = self.cores.match(op) if self.cores is not None else None
        if isinstance(found, MmaPlan):
            return found.warps.results
        shape = op.result.type.shape
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


def scan_layout(shape: Sequence[int], axis: int, threads: int) -> RegisterLayout:
    """A layout in which every thread holds a run of neighbours along `axis`, all runs equally long.

    As many threads share the axis as divide it evenly; the rest go to the other axes.
    """
    extent = shape[axis]
    along = max(d for d in divisors(extent) if d <= threads)
    run = extent // along
    digits = ([Digit(run)] if run > 1 else []) + ([Digit(along, 1)] if along > 1 else [])
    axes = [AxisLayout(1)] * len(shape)
    axes[axis] = AxisLayout(extent, tuple(digits))
    left, stride = threads // along, along
    for a in reversed(range(len(shape))):
        if a == axis:
            continue
        count = min(left, shape[a])
        registers = -(-shape[a] // count)
        digits = ([Digit(count, stride)] if count > 1 else []) + ([Digit(registers)] if registers > 1 else [])
        axes[a] = AxisLayout(shape[a], tuple(digits))
        left, stride = left // count, stride * count
    return RegisterLayout(tuple(axes), threads)


@dataclass(frozen=True)
class ScanChunk:
    """What one warp scans by itself: `run` neighbouring registers of each of `lanes` lanes, `stride` lanes apart."""

    run: int
    lanes: int
    stride: int

    @property
    def length(self) -> int:
        return self.run * self.lanes


def scan_chunk(layout: RegisterLayout, axis: int) -> ScanChunk | None:
    """The chunks of a line along `axis`; None for a layout in which elements are missing or too many chunks are apart."""
    side = layout.axes[axis]
    digits = [d for d in side.split_at(WARP) if d.count > 1]
    run = digits.pop(0).count if digits and not digits[0].is_thread else 1
    lanes, stride = 1, 1
    if digits and digits[0].is_thread:
        first = digits[0]
        power = first.count & (first.count - 1) == 0 and first.stride & (first.stride - 1) == 0
        if power and first.stride * first.count <= WARP and layout.threads % WARP == 0:
            lanes, stride = first.count, first.stride
    if side.covered != side.extent:
        return None
    return ScanChunk(run, lanes, stride)


MOST_CHUNKS = 32
"""As many totals every thread looks at."""


def scan_home(source: RegisterLayout | None, shape: Sequence[int], axis: int, threads: int) -> RegisterLayout:
    """The layout of a scan: that of its operand where chunks are long enough."""
    chunk = scan_chunk(source, axis) if source is not None and source.shape == tuple(shape) else None
    if source is not None and chunk is not None and shape[axis] <= MOST_CHUNKS * chunk.length:
        return source
    return scan_layout(shape, axis, threads)
