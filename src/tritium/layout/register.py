"""Register tiles: which thread of a CUDA block holds which elements of a tile, and in which registers.

`CudaRegisterTileLayout` is strided ownership over a two-dimensional tile, the layout of the policy
`layouts=seed`. `policies.py` holds the default policies, which are free of its limits.

>>> tile = CudaRegisterTileLayout((8, 8), (4, 8))
>>> tile.register_shape, tile.registers_per_thread
((2, 1), 2)
>>> [coordinate for _, coordinate in tile.owned((1, 3))]
[(1, 3), (5, 3)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from tritium.layout.digits import Layout
from tritium.layout.faults import LayoutError

CUDA_DOT_MAX_THREADS = 32
CUDA_MAX_THREADS_PER_BLOCK = 1024

Shape = tuple[int, ...]


@dataclass(frozen=True)
class CudaRegisterTileLayout:
    """A `logical_shape` tile on `thread_shape` threads: logical = thread + register * thread_shape, per axis.

    LayoutError unless both shapes are positive, of rank 2, and each logical extent is a multiple of the
    thread extent.
    """

    logical_shape: Shape
    thread_shape: Shape

    def __post_init__(self) -> None:
        for what, shape in (("logical shape", self.logical_shape), ("thread shape", self.thread_shape)):
            if len(shape) != 2 or any(extent < 1 for extent in shape):
                raise LayoutError(
                    f"The {what} of a register tile must be two positive extents, and {shape} was given."
                )
        for axis, (logical, threads) in enumerate(zip(self.logical_shape, self.thread_shape, strict=True)):
            if logical % threads:
                raise LayoutError(
                    f"A register tile of shape {self.logical_shape} cannot be spread over threads of shape "
                    f"{self.thread_shape}: along axis {axis}, {logical} is not a multiple of {threads}."
                )

    @property
    def register_shape(self) -> Shape:
        """Elements of one thread along each axis."""
        return tuple(
            logical // threads for logical, threads in zip(self.logical_shape, self.thread_shape, strict=True)
        )

    @property
    def registers_per_thread(self) -> int:
        return prod(self.register_shape)

    @property
    def threads(self) -> int:
        return prod(self.thread_shape)

    def registers(self) -> Iterator[Shape]:
        """Every register coordinate, in the order of the registers."""
        return product(*map(range, self.register_shape))

    def logical_coordinate(self, thread_coordinate: Shape, register_coordinate: Shape) -> Shape:
        """The tile element that a register of a thread holds. LayoutError for a coordinate out of range."""
        _require_inside("thread", thread_coordinate, self.thread_shape)
        _require_inside("register", register_coordinate, self.register_shape)
        return tuple(
            thread + register * threads
            for thread, register, threads in zip(
                thread_coordinate, register_coordinate, self.thread_shape, strict=True
            )
        )

    def owned(self, thread_coordinate: Shape) -> list[tuple[Shape, Shape]]:
        """(register coordinate, tile coordinate) of everything one thread holds, in register order."""
        return [(reg, self.logical_coordinate(thread_coordinate, reg)) for reg in self.registers()]

    @cached_property
    def layout(self) -> Layout:
        """The same map as digits: inputs `reg` and `thread`, outputs `row` and `col`."""
        (rows, columns), (register_rows, register_columns) = self.thread_shape, self.register_shape
        return Layout.of(
            f"reg: {register_columns} -> col {columns}, {register_rows} -> row {rows}; "
            f"thread: {columns} -> col 1, {rows} -> row 1",
            {"row": self.logical_shape[0], "col": self.logical_shape[1]},
        )

    def thread_coordinate(self, thread: str = "threadIdx.x") -> tuple[str, str]:
        """C expressions of the row and the column of `thread`, which counts row by row."""
        columns = self.thread_shape[1]
        return f"{thread} / {columns}", f"{thread} % {columns}"

    def coordinate_text(self, register_coordinate: Shape, thread: tuple[str, str]) -> tuple[str, str]:
        """C expressions of the tile coordinate of one register, from the texts of the thread's coordinate.

        `("tile_i", "tile_j")` gives `tile_i + 4` for register row 1 of a tile with four thread rows.
        """
        _require_inside("register", register_coordinate, self.register_shape)
        row, column = (
            f"{text} + {register * threads}" if register else text
            for text, register, threads in zip(thread, register_coordinate, self.thread_shape, strict=True)
        )
        return row, column


@dataclass(frozen=True)
class CudaRegisterTileRef:
    """The C locals that hold one tile value: `base` with the register coordinate appended.

    A tile of register shape (1, 1) is the plain `base`. Along `broadcast_axes` the value does not vary, so
    only coordinate 0 is stored there and every other coordinate is redirected to it. LayoutError for an axis
    that the layout does not have.
    """

    base: str
    layout: CudaRegisterTileLayout
    broadcast_axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for axis in self.broadcast_axes:
            if axis not in range(len(self.layout.register_shape)):
                raise LayoutError(
                    f"{self.base} cannot be broadcast along axis {axis}: a register tile has axes 0 and 1."
                )

    @property
    def storage_shape(self) -> Shape:
        """Locals along each axis: the register shape, 1 where the value is broadcast."""
        return tuple(
            1 if axis in self.broadcast_axes else extent
            for axis, extent in enumerate(self.layout.register_shape)
        )

    def stored(self) -> Iterator[tuple[Shape, str]]:
        """(register coordinate, name) of every local to declare, in register order."""
        for coordinate in product(*map(range, self.storage_shape)):
            yield coordinate, self._name(coordinate)

    def element(self, register_coordinate: Shape, layout: CudaRegisterTileLayout | None = None) -> str:
        """The local that holds a register coordinate.

        LayoutError for a coordinate out of range, or if `layout`, that of the operation which asks, is not the
        one this value is distributed by.
        """
        if layout is not None:
            require_same_layout(self.base, self.layout, layout)
        _require_inside("register", register_coordinate, self.layout.register_shape)
        return self._name(
            tuple(
                0 if axis in self.broadcast_axes else position
                for axis, position in enumerate(register_coordinate)
            )
        )

    def _name(self, coordinate: Shape) -> str:
        if self.layout.registers_per_thread == 1:
            return self.base
        return "_".join([self.base, *map(str, coordinate)])


def require_same_layout(name: str, has: CudaRegisterTileLayout, wanted: CudaRegisterTileLayout) -> None:
    """LayoutError unless the two layouts are equal: tiles spread differently never combine in silence."""
    if has != wanted:
        raise LayoutError(
            f"{name} has tile shape {has.logical_shape} on threads {has.thread_shape}, and the operation works on "
            f"tile shape {wanted.logical_shape} on threads {wanted.thread_shape}: its registers do not match."
        )


def seed_dot_thread_shape(logical_shape: Shape, max_threads: int = CUDA_DOT_MAX_THREADS) -> Shape:
    """Thread shape of a dot under `layouts=seed`: at most one warp, every extent a divisor of the tile's.

    Among such pairs the one with the most threads, then the larger smaller side, then more columns.
    LayoutError unless the shape is two positive extents.
    """
    if len(logical_shape) != 2 or any(extent < 1 for extent in logical_shape):
        raise LayoutError(f"A dot result must have two positive extents, and {logical_shape} was given.")
    rows, columns = (_divisors(extent, max_threads) for extent in logical_shape)
    pairs = [(r, c) for r in rows for c in columns if r * c <= max_threads]
    return max(pairs, key=lambda pair: (pair[0] * pair[1], min(pair), pair[1]))


def seed_elementwise_thread_shape(logical_shape: Shape) -> Shape:
    """Thread shape of a kernel without dots under `layouts=seed`: one thread per element, any rank.

    LayoutError if the tile has more elements than a block has threads.
    """
    if prod(logical_shape) > CUDA_MAX_THREADS_PER_BLOCK or any(extent < 1 for extent in logical_shape):
        raise LayoutError(
            f"Under layouts=seed a kernel without dots has one thread per element: a tile of shape {logical_shape} "
            f"must have 1 to {CUDA_MAX_THREADS_PER_BLOCK} elements, and it has {prod(logical_shape)}."
        )
    return logical_shape


def _divisors(extent: int, most: int) -> list[int]:
    return [divisor for divisor in range(1, min(extent, most) + 1) if extent % divisor == 0]


def _require_inside(what: str, coordinate: Shape, shape: Shape) -> None:
    inside = len(coordinate) == len(shape) and all(
        0 <= at < extent for at, extent in zip(coordinate, shape, strict=True)
    )
    if not inside:
        raise LayoutError(f"The {what} coordinate {coordinate} is outside the {what} shape {shape}.")
