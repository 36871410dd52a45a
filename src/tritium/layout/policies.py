"""Default register tiles: strided ownership for any shape and any number of warps, with the reason recorded.

Lanes stand in powers of two, warps in any factors of their number; what a tile lacks to a multiple is
overhang, which code masks, and threads that a small tile leaves over hold copies. Along the axis that is
contiguous in memory each thread holds `vector` neighbours, so that a warp's access is one run of whole
sectors.

>>> tile = register_tile((37, 41), num_warps=4)
>>> str(tile.layout)
'reg: 3 -> col 16, 5 -> row 8; lane: 16 -> col 1, 2 -> row 1; warp: 4 -> row 2 | row 37, col 41'
>>> tile.why
'lanes 2 x 16, warps 4 x 1 over (row, col): runs of 64 bytes along col, 15 registers for 11.9 elements a thread'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from tritium.layout.digits import Digit, Layout
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import LANES

SECTOR_BYTES = 32
MOST_WARPS = 32
LONG_RUN_BYTES = 512

Shape = tuple[int, ...]


@dataclass(frozen=True)
class RegisterTile:
    """A register layout and how it came about.

    `lanes` and `warps` per axis, `vector` neighbours per thread along each axis, `order` of the axes from the
    one contiguous in memory, `why` in one line.
    """

    layout: Layout
    lanes: Shape
    warps: Shape
    vector: Shape
    order: tuple[int, ...]
    why: str

    @property
    def registers(self) -> int:
        """Elements per thread, overhang included."""
        return self.layout.extent("reg")


def axis_names(rank: int) -> tuple[str, ...]:
    """The output names of a tile of this rank: `row, col` for two axes, `dim0, dim1, ...` otherwise."""
    return ("row", "col") if rank == 2 else tuple(f"dim{axis}" for axis in range(rank))


@lru_cache(maxsize=1024)
def register_tile(
    shape: Shape,
    num_warps: int,
    *,
    order: tuple[int, ...] | None = None,
    vector: int = 1,
    element_bytes: int = 4,
    names: tuple[str, ...] | None = None,
) -> RegisterTile:
    """The tile for element-wise work and memory accesses, of `shape` (any extents) on `num_warps` warps.

    `order` lists the axes from the one contiguous in memory (the last axis first if None). `vector` is the
    most elements that one access may move along it, as the access analysis found; it is cut down to a power
    of two that divides the extent and leaves every thread something. The split is the one with the fewest
    memory sectors, then the fewest registers, then the longest runs. LayoutError for an empty or non-positive
    shape, 0 or more than 32 warps, or an `order` that is none.
    """
    order, names = _checked(shape, num_warps, order, names)
    widths = [1] * len(shape)
    fast = order[0]
    share = -(-prod(shape) // (LANES * num_warps))
    widths[fast] = _vector(shape[fast], vector, share)
    units = tuple(-(-extent // width) for extent, width in zip(shape, widths, strict=True))

    def cost(lanes: Shape, warps: Shape) -> tuple[int, ...]:
        run = lanes[fast] * widths[fast] * element_bytes
        whole, rest = divmod(shape[fast] * element_bytes, run)
        sectors = whole * -(-run // SECTOR_BYTES) + -(-rest // SECTOR_BYTES)
        return (
            sectors,
            _registers(units, lanes, warps),
            -min(run, LONG_RUN_BYTES),
            *(-lanes[axis] for axis in order),
            *(warps[axis] for axis in order),
        )

    lanes, warps = _best_split(units, num_warps, cost)
    layout = _strided(shape, widths, lanes, warps, num_warps, order, names)
    registers = layout.extent("reg")
    run = min(lanes[fast] * widths[fast], shape[fast]) * element_bytes
    vectors = f" in vectors of {widths[fast]}" if widths[fast] > 1 else ""
    why = (
        f"{_grid(lanes, warps, names)}: runs of {run} bytes along {names[fast]}{vectors}, "
        f"{_usage(layout, registers, prod(shape), num_warps)}"
    )
    return RegisterTile(layout, lanes, warps, tuple(widths), order, why)


@lru_cache(maxsize=1024)
def flat_register_tile(shape: Shape, num_warps: int, *, vector: int = 1, name: str = "flat") -> RegisterTile:
    """The tile as one row-major run: thread after thread, `vector` elements each, round and round.

    It wastes less than one round of registers whatever the shape; the coordinates cost divisions by the
    extents. `vector` is cut down as in `register_tile`. The layout's one output is `name`.
    """
    _checked(shape, num_warps, None, None)
    size = prod(shape)
    width = _vector(size, vector, -(-size // (LANES * num_warps)))
    rounds = -(-size // (width * LANES * num_warps))
    layout = Layout.of(
        f"reg: {width} -> {name} 1, {rounds} -> {name} {width * LANES * num_warps}; "
        f"lane: {LANES} -> {name} {width}; warp: {num_warps} -> {name} {width * LANES}",
        {name: size},
    )
    why = f"row-major run in vectors of {width}, {_usage(layout, width * rounds, size, num_warps)}"
    return RegisterTile(layout, (LANES,), (num_warps,), (width,), (0,), why)


@lru_cache(maxsize=1024)
def dot_register_tile(
    shape: Shape, num_warps: int, *, vector: tuple[int, int] = (1, 4), names: tuple[str, str] = ("row", "col")
) -> RegisterTile:
    """The accumulator of a multiply-add dot of `shape` (rows, columns), both operands read from shared memory.

    `vector` is how many rows and columns one shared-memory access can deliver: neighbouring columns where B's
    columns are contiguous, neighbouring rows where A is stored by columns. The split is the one with the
    fewest registers, then the fewest operand reads for each step of k, then the squarest warp. LayoutError as
    for `register_tile`.
    """
    _checked(shape, num_warps, None, names if len(shape) == 2 else None)
    if len(shape) != 2:
        raise LayoutError(f"A dot result has two axes, and shape {shape} was given.")
    share = -(-prod(shape) // (LANES * num_warps))
    columns = _vector(shape[1], vector[1], share)
    rows = _vector(shape[0], vector[0], -(-share // columns))
    widths = (rows, columns)
    units = tuple(-(-extent // width) for extent, width in zip(shape, widths, strict=True))

    def cost(lanes: Shape, warps: Shape) -> tuple[int, ...]:
        repeats = _repeats(units, lanes, warps)
        words = sum(lane * repeat * width for lane, repeat, width in zip(lanes, repeats, widths, strict=True))
        return prod(repeats), sum(repeats), words, abs(lanes[0] - lanes[1]), -lanes[1], warps[1]

    lanes, warps = _best_split(units, num_warps, cost)
    layout = _strided(shape, widths, lanes, warps, num_warps, (1, 0), names)
    per_axis = [width * count for width, count in zip(widths, _repeats(units, lanes, warps), strict=True)]
    why = (
        f"{_grid(lanes, warps, names)}: {per_axis[0]} x {per_axis[1]} results a thread from "
        f"{per_axis[0]} + {per_axis[1]} operands, {_usage(layout, layout.extent('reg'), prod(shape), num_warps)}"
    )
    return RegisterTile(layout, lanes, warps, widths, (1, 0), why)


def _checked(
    shape: Shape, num_warps: int, order: tuple[int, ...] | None, names: tuple[str, ...] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if not shape or any(extent < 1 for extent in shape):
        raise LayoutError(f"A register tile needs positive extents, and {shape} was given.")
    if not 1 <= num_warps <= MOST_WARPS:
        raise LayoutError(f"A block has 1 to {MOST_WARPS} warps, and {num_warps} was given.")
    order = tuple(reversed(range(len(shape)))) if order is None else order
    if sorted(order) != list(range(len(shape))):
        raise LayoutError(f"{order} is not an order of the {len(shape)} axes of a tile of shape {shape}.")
    names = axis_names(len(shape)) if names is None else names
    if len(set(names)) != len(shape):
        raise LayoutError(f"A tile of shape {shape} needs as many different names, and {names} was given.")
    return order, names


def _vector(extent: int, most: int, share: int) -> int:
    """The largest power of two up to `most` that divides `extent` and is no more than a thread's share needs."""
    width = 1
    while width * 2 <= most and extent % (width * 2) == 0 and width < share:
        width *= 2
    return width


def _best_split(
    units: Shape, num_warps: int, cost: Callable[[Shape, Shape], tuple[int, ...]]
) -> tuple[Shape, Shape]:
    """Lanes and warps per axis with the least cost, among the splits that use the most threads."""
    caps = [1 << (unit - 1).bit_length() for unit in units]
    powers = [1, 2, 4, 8, 16, 32]
    factors = [count for count in range(1, num_warps + 1) if num_warps % count == 0]
    best: tuple[tuple[int, ...], Shape, Shape] | None = None
    for lanes in _fullest(caps, powers, LANES):
        needed = [-(-unit // lane) for unit, lane in zip(units, lanes, strict=True)]
        room = [min((count for count in factors if count >= need), default=num_warps) for need in needed]
        for warps in _fullest(room, factors, num_warps):
            key = (-prod(warps), *cost(lanes, warps))
            if best is None or key < best[0]:
                best = key, lanes, warps
    assert best is not None
    return best[1], best[2]


def _fullest(caps: Sequence[int], factors: Sequence[int], total: int) -> list[Shape]:
    """Every choice of one factor per axis, each within its cap, whose product divides `total` and is largest."""
    choices = list(_choices(caps, factors, total))
    most = max(prod(choice) for choice in choices)
    return [choice for choice in choices if prod(choice) == most]


def _choices(caps: Sequence[int], factors: Sequence[int], total: int) -> Iterator[Shape]:
    if not caps:
        yield ()
        return
    for factor in factors:
        if factor <= caps[0] and total % factor == 0:
            for rest in _choices(caps[1:], factors, total // factor):
                yield (factor, *rest)


def _repeats(units: Shape, lanes: Shape, warps: Shape) -> Shape:
    return tuple(-(-unit // (lane * warp)) for unit, lane, warp in zip(units, lanes, warps, strict=True))


def _registers(units: Shape, lanes: Shape, warps: Shape) -> int:
    return prod(_repeats(units, lanes, warps))


def _strided(
    shape: Shape,
    widths: Sequence[int],
    lanes: Shape,
    warps: Shape,
    num_warps: int,
    order: Sequence[int],
    names: Sequence[str],
) -> Layout:
    units = tuple(-(-extent // width) for extent, width in zip(shape, widths, strict=True))
    repeats = _repeats(units, lanes, warps)
    digits = [Digit("reg", widths[axis], {names[axis]: 1}) for axis in order]
    digits += [
        Digit("reg", repeats[axis], {names[axis]: widths[axis] * lanes[axis] * warps[axis]}) for axis in order
    ]
    digits += [Digit("lane", lanes[axis], {names[axis]: widths[axis]}) for axis in order]
    digits.append(Digit("lane", LANES // prod(lanes), {}))
    digits += [Digit("warp", warps[axis], {names[axis]: widths[axis] * lanes[axis]}) for axis in order]
    digits.append(Digit("warp", num_warps // prod(warps), {}))
    return Layout(tuple(digits), dict(zip(names, shape, strict=True)), ("reg", "lane", "warp"))


def _grid(lanes: Shape, warps: Shape, names: Sequence[str]) -> str:
    def times(counts: Shape) -> str:
        return " x ".join(map(str, counts))

    return f"lanes {times(lanes)}, warps {times(warps)} over ({', '.join(names)})"


def _usage(layout: Layout, registers: int, size: int, num_warps: int) -> str:
    copies = prod(extent for _, _, extent in layout.replicas)
    if copies > 1:
        return f"{registers} {_plural('register', registers)} a thread, {copies} copies of each element"
    needed = size / (LANES * num_warps)
    if needed == registers:
        return f"{registers} {_plural('register', registers)} a thread"
    return f"{registers} {_plural('register', registers)} for {needed:.1f} elements a thread"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
