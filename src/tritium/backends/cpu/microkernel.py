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

    def __str__(self) -> str:
        return f"{self.rows} rows by {self.vectors} vectors of {self.lanes}"

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
    Where `paired`, an element is a pair of 16-bit numbers.
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
    paired: bool = False

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


@dataclass(frozen=True)
class Columns:
    """Where the right operand lies: in the panels from their row `start` on, or in place if `fine` says so at run time.

    There it is at `address`, `row` bytes from one step of k to the next.
    """

    start: V
    fine: V | None = None
    address: V | None = None
    row: V | None = None


def multiply(
    k: Lowering,
    packed: Packed,
    rows: Rows,
    right: Columns,
    c: V,
    depth: V,
    multiple: int,
    fresh: bool = False,
) -> None:
    """``c += a @ b`` over `depth` steps, a multiple of `multiple`; c is m by n, row-major. ``c = a @ b`` if `fresh`."""
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
                b, step = _panel(k, packed, right, j, columns)
                for inside, vectors, lanes in _vectors(columns, block):
                    shape = Shape(count, vectors, lanes, unroll, fresh)
                    corner = e.add(e.mul(i, e.index(packed.n)), e.add(j, e.index(inside)))
                    place = e.add(c, e.mul(corner, e.index(size)))
                    places = (a, rows, e.add(b, e.index(inside * size)), step, place)
                    _block(k, packed, places, shape, depth)

            _stepped(k, first, end, columns, panel)

    for low, high, count in ((0, whole, block.rows), (whole, m, m - whole)):
        if high > low:
            _stepped(k, low, high, count, lambda i, count=count: along(i, count))
    k.mode, e.floor = outer


def _panel(k: Lowering, packed: Packed, right: Columns, j: V, columns: int) -> tuple[V, V]:
    """Where the columns from `j` on start, and bytes from one step of k to the next."""
    e = k.e
    size = size_of(packed.kind)
    b = e.add(packed.b.address, e.mul(j, e.index(packed.height * size)))
    b = e.add(b, e.mul(right.start, e.index(columns * size)))
    step = e.index(columns * size)
    if right.fine is None or right.address is None or right.row is None:
        return b, step
    there = e.add(right.address, e.mul(j, e.index(size)))
    return e.select(right.fine, there, b), e.select(right.fine, right.row, step)


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
    """One register block: `rows` by `vectors` of `lanes`, `unroll` steps of k at once, from zero if `fresh`."""

    rows: int
    vectors: int
    lanes: int
    unroll: int
    fresh: bool


def _block(k: Lowering, packed: Packed, places: tuple[V, Rows, V, V, V], shape: Shape, depth: V) -> None:
    """One register block of the result over the whole depth.

    `places` are its left rows, its right panel, bytes from one step of that to the next, and its corner of the result.
    """
    e = k.e
    a, rows, b, forward, c = places
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
    zero = V(kind, lanes, 0, "zeroinitializer") if lanes > 1 else e.const(0, kind)
    sums = [zero if shape.fresh else load(s) for s in spots]
    lefts = [e.add(a, e.mul(rows.row, e.index(r))) for r in range(shape.rows)]

    def step(p: V, total: list[V]) -> list[V]:
        for u in range(shape.unroll):
            panel = e.add(b, e.mul(e.add(p, e.index(u)), forward))
            right = [load(e.add(panel, e.index(v * lanes * size))) for v in range(shape.vectors)]
            along = e.mul(e.add(p, e.index(u)), rows.step)
            for r, left in enumerate(lefts):
                pointer = e.pointer(e.add(left, along), e.top)
                x = e.emit(kind, 1, e.top, f"load {kind}, ptr {pointer}, align {size}")
                for v in range(shape.vectors):
                    n = r * shape.vectors + v
                    total[n] = _multiply_add(k, packed, x, right[v], total[n])
        return total

    p, phis = e.open_loop(e.index(0), depth, shape.unroll, sums)
    sums = e.close_loop(step(p, list(phis)))
    for place, value in zip(spots, sums, strict=True):
        e.line(f"store {e.typed(value, lanes)}, ptr {e.pointer(place, e.top)}, align {size}")


def _multiply_add(k: Lowering, packed: Packed, x: V, y: V, z: V) -> V:
    e = k.e
    if packed.paired:
        return e.add(_pairs_product(k, x, y), z)
    if packed.kind.startswith("i"):
        return e.add(e.mul(x, y), z)
    return e.intrinsic("fma", x, y, z)


_PAIRS = {16: "avx512.pmaddw.d.512", 8: "avx2.pmadd.wd", 4: "sse2.pmadd.wd"}


def _pairs_product(k: Lowering, x: V, y: V) -> V:
    """Products of the low and of the high halves, added; with VNNI, LLVM makes one instruction of this and the sum."""
    e = k.e
    lanes = y.lanes
    if lanes not in _PAIRS:
        sixteen = e.const(16, "i32")
        low = [e.binary("ashr", e.binary("shl", v, sixteen), sixteen) for v in (x, y)]
        high = [e.binary("ashr", v, sixteen) for v in (x, y)]
        return e.add(e.mul(*low), e.mul(*high))
    name, halves = f"llvm.x86.{_PAIRS[lanes]}", f"<{2 * lanes} x i16>"
    e.declare(name, f"<{lanes} x i32> ({halves}, {halves})")
    parts = [e.emit("i32", lanes, v.level, f"bitcast {e.typed(v, lanes)} to {halves}").ssa for v in (x, y)]
    level = max(x.level, y.level)
    return e.emit(
        "i32", lanes, level, f"call <{lanes} x i32> @{name}({halves} {parts[0]}, {halves} {parts[1]})"
    )
