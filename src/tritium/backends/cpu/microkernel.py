"""The register-blocked kernel of `tile.dot`: a block of the result stays in registers while the depth goes by.

Per step of k: vectors of the right operand from its panel, and one element of the left operand for every row of the
block, spread over the lanes. The left operand may have any distance between rows and between steps. Blocks of one set of
rows follow each other, so that the rows stay in the first-level cache and panels stream from the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import nest
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import V, vector_type
from tritium.backends.cpu.formats import held_as
from tritium.ir.types import DType

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Buffer, Lowering


@dataclass(frozen=True)
class Blocking:
    """The register block: `rows` of the accumulator by `vectors` of `lanes` elements, `unroll` steps of k at once."""

    rows: int
    vectors: int
    lanes: int
    unroll: int = 4

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def blocking(width: int, kind: str, m: int, n: int) -> Blocking:
    """The block for an accumulator of m by n: as many registers as the host has, dividing the extents if it can."""
    lanes = width if kind != "double" else max(width // 2, 1)
    while lanes > 1 and lanes > n:
        lanes //= 2
    registers = 28 if width >= 16 else 12
    vectors = 2 if n >= 2 * lanes else 1
    best = max(1, min(m, registers // vectors - (2 if vectors == 2 else 1)))
    for rows in range(best, max(best // 2, 1) - 1, -1):
        if m % rows == 0:
            best = rows
            break
    return Blocking(best, vectors, lanes)


@dataclass(frozen=True)
class Packed:
    """Operands in scratch memory: `b` as panels of `height` rows each, `a` as m rows of `depth` elements.

    The panel of the columns from c on starts at element ``height * c``; all have `block.columns` columns but the last.
    `a` is None if the left operand is read where it lies. Where `across`, it is kept transposed: `depth` rows of m.
    """

    a: Buffer | None
    b: Buffer
    ty: DType
    m: int
    n: int
    depth: int
    height: int
    block: Blocking
    across: bool = False

    @property
    def kind(self) -> str:
        return held_as(self.ty)

    def panels(self) -> list[tuple[int, int, int]]:
        """(first column, end, columns of one panel): whole panels, then what is left as one."""
        whole = self.n // self.block.columns * self.block.columns
        parts = [(0, whole, self.block.columns)] if whole else []
        return parts if whole == self.n else [*parts, (whole, self.n, self.n - whole)]


@dataclass(frozen=True)
class Rows:
    """Where the left operand lies: bytes from row to row, and from step to step of k."""

    address: V
    row: V
    step: V


def multiply(k: Lowering, packed: Packed, rows: Rows, c: V, start: V, depth: V, multiple: int) -> None:
    """``c += a @ b`` over `depth` steps, a multiple of `multiple`, rows of b from `start` on; c is m by n, row-major."""
    e = k.e
    block, m = packed.block, packed.m
    outer = k.mode, e.floor
    k.mode, e.floor = nest.Mode(1), e.top
    unroll = max(u for u in range(1, block.unroll + 1) if multiple % u == 0)
    whole = m // block.rows * block.rows
    size = size_of(packed.kind)

    def along(i: V, count: int) -> None:
        a = e.add(rows.address, e.mul(i, rows.row))
        for first, end, columns in packed.panels():

            def panel(j: V, columns: int = columns) -> None:
                b = e.add(packed.b.address, e.mul(j, e.index(packed.height * size)))
                b = e.add(b, e.mul(start, e.index(columns * size)))
                for inside, vectors, lanes in _vectors(columns, block):
                    shape = Shape(count, vectors, lanes, columns, unroll)
                    corner = e.add(e.mul(i, e.index(packed.n)), e.add(j, e.index(inside)))
                    place = e.add(c, e.mul(corner, e.index(size)))
                    _block(k, packed, (a, rows, e.add(b, e.index(inside * size)), place), shape, depth)

            _stepped(k, first, end, columns, panel)

    for low, high, count in ((0, whole, block.rows), (whole, m, m - whole)):
        if high > low:
            _stepped(k, low, high, count, lambda i, count=count: along(i, count))
    k.mode, e.floor = outer


def _vectors(columns: int, block: Blocking) -> list[tuple[int, int, int]]:
    """The columns of a panel as (first, vectors, lanes)."""
    if columns == block.columns:
        return [(0, block.vectors, block.lanes)]
    parts: list[tuple[int, int, int]] = []
    start, lanes = 0, block.lanes
    while start < columns:
        while lanes > columns - start:
            lanes //= 2
        parts.append((start, 1, lanes))
        start += lanes
    return parts


def _stepped(k: Lowering, start: int, stop: int, step: int, body: Any) -> None:
    e = k.e
    if stop - start == step:
        body(e.index(start))
        return
    iv, _ = e.open_loop(e.index(start), e.index(stop), step)
    body(iv)
    e.close_loop()


@dataclass(frozen=True)
class Shape:
    """One register block: `rows` by `vectors` of `lanes`, in a panel of `columns`, `unroll` steps at once."""

    rows: int
    vectors: int
    lanes: int
    columns: int
    unroll: int


def _block(k: Lowering, packed: Packed, places: tuple[V, Rows, V, V], shape: Shape, depth: V) -> None:
    """One register block of the result over the whole depth: its left rows, right panel and corner are at `places`."""
    e = k.e
    a, rows, b, c = places
    kind, lanes = packed.kind, shape.lanes
    size = size_of(kind)
    ty = vector_type(kind, lanes)

    def load(address: V) -> V:
        return e.emit(kind, lanes, e.top, f"load {ty}, ptr {e.pointer(address, e.top)}, align {size}")

    spots = [
        e.add(c, e.index((r * packed.n + v * lanes) * size))
        for r in range(shape.rows)
        for v in range(shape.vectors)
    ]
    sums = [load(s) for s in spots]
    lefts = [e.add(a, e.mul(rows.row, e.index(r))) for r in range(shape.rows)]

    def step(p: V, total: list[V]) -> list[V]:
        panel = e.add(b, e.mul(p, e.index(shape.columns * size)))
        for u in range(shape.unroll):
            right = [
                load(e.add(panel, e.index((u * shape.columns + v * lanes) * size)))
                for v in range(shape.vectors)
            ]
            along = e.mul(e.add(p, e.index(u)), rows.step)
            for r, left in enumerate(lefts):
                pointer = e.pointer(e.add(left, along), e.top)
                x = e.emit(kind, 1, e.top, f"load {kind}, ptr {pointer}, align {size}")
                for v in range(shape.vectors):
                    n = r * shape.vectors + v
                    total[n] = _multiply_add(k, kind, x, right[v], total[n])
        return total

    p, phis = e.open_loop(e.index(0), depth, shape.unroll, sums)
    sums = e.close_loop(step(p, list(phis)))
    for place, value in zip(spots, sums, strict=True):
        e.line(f"store {e.typed(value, lanes)}, ptr {e.pointer(place, e.top)}, align {size}")


def _multiply_add(k: Lowering, kind: str, x: V, y: V, z: V) -> V:
    e = k.e
    if kind.startswith("i"):
        return e.add(e.mul(x, y), z)
    return e.intrinsic("fma", x, y, z)
