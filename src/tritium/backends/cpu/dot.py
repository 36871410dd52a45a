"""`tile.dot`: operands packed into scratch memory, then a register-blocked kernel over them.

The left operand is packed as rows, the right one as panels as wide as a register block, so that the kernel reads both in
order. The accumulator tile stays in scratch memory (L1 or L2); inside one product it is held in registers for the whole
depth. Where a loop only sums products into a carried tile, several of its steps are packed one after another and
multiplied at once (`Jam`), which loads and stores the accumulator less often. Narrow floats are converted while they
are packed; fp32 and fp64 sum with fused multiply-add in their own type, integers in int32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import access, formats, nest, panels, pull
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import V, vector_type
from tritium.backends.cpu.panels import Held
from tritium.ir.core import Value
from tritium.ir.match import Reject
from tritium.ir.types import DType, float32, float64, int32

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
    """Operands in scratch memory: `a` as m rows of `depth` elements, `b` as panels of `depth` rows each.

    The panel of the columns from c on starts at element ``height * c``; all have `block.columns` columns but the last.
    """

    a: Buffer
    b: Buffer
    kind: str
    m: int
    n: int
    depth: int
    height: int
    block: Blocking

    def panels(self) -> list[tuple[int, int, int]]:
        """(first column, end, columns of one panel): whole panels, then what is left as one."""
        whole = self.n // self.block.columns * self.block.columns
        parts = [(0, whole, self.block.columns)] if whole else []
        return parts if whole == self.n else [*parts, (whole, self.n, self.n - whole)]


@dataclass(frozen=True)
class Jam:
    """Steps of a loop whose products are summed at once: `steps` of them fit, `slot` counts those packed.

    trip    which step this is
    last    whether it is the last one
    held    what may keep the right operand's panels for the instances that follow; see `panels`
    """

    packed: Packed
    steps: int
    slot: str
    trip: V
    last: V
    held: Held | None


DEPTH_BYTES = 16 << 10
"""What a panel of the right operand may take of the first-level cache."""


def plan_jams(k: Lowering, loop: Any, trip: V, trips: V) -> None:
    """Find the products in the body of `loop` that may wait for later steps. `trip` counts the `trips` steps."""
    e = k.e
    last = e.compare("eq", e.add(trip, e.index(1)), trips)
    for op in loop.body.ops:
        if op.name != "tile.dot" or len(op.result.type.shape) != 2 or op.acc is None:
            continue
        work = _work_type(op)
        at = [i for i, v in enumerate(loop.body.ops[-1].operands) if v is op.result]
        args = loop.body.args[1:]
        alone = len(at) == 1 and op.acc is args[at[0]] and len(op.acc.uses) == len(op.result.uses) == 1
        if not alone or op.out != work:
            continue
        kind = formats.held_as(work)
        (m, depth), n = op.a.type.shape, op.b.type.shape[1]
        block = blocking(k.width, kind, m, n)
        steps = max(1, DEPTH_BYTES // (block.columns * size_of(kind)) // depth)
        if steps == 1:
            continue
        slot = k.slot("i64")
        e.line(f"store i64 0, ptr {slot}", e.top - 1)
        found = panels.match_held_panels(k, loop, op)
        held = None
        if isinstance(found, Reject):
            k.record.reject(panels.NAME, found)
        else:
            k.record.plan(panels.NAME, f"while {found.describe()}", op)
            held = panels.begin(k, found, e.mul(trips, e.index(depth)))
        packed = _packed(k, op, work, block, steps * depth, panels.HEIGHT if held else 0)
        k.jams[op] = Jam(packed, steps, slot, trip, last, held)
        k.record.plan("multiply several steps at once", f"{steps} steps of {depth}, {block}", op)


def _packed(k: Lowering, op: Any, work: DType, block: Blocking, depth: int, height: int = 0) -> Packed:
    (m, _), n = op.a.type.shape[-2:], op.b.type.shape[-1]
    # What outlives an instance has a place that nothing else gets.
    b = k.allocate_for_good(work, (height, n)) if height else k.allocate(work, (depth, n))
    return Packed(k.allocate(work, (m, depth)), b, formats.held_as(work), m, n, depth, height or depth, block)


def dot(k: Lowering, op: Any) -> None:
    if not op.result.uses:
        return
    e = k.e
    work = _work_type(op)
    shape = op.result.type.shape
    batch, (m, n) = shape[:-2], shape[-2:]
    depth = op.a.type.shape[-1]
    result, total = _destination(k, op, work)
    jam = k.jams.get(op)
    if jam is not None:
        _step(k, op, jam, total)
        k.buffers[op.result] = result
        return
    mark = k.arena
    packed = _packed(k, op, work, blocking(k.width, formats.held_as(work), m, n), depth)
    floor = e.floor

    def product(prefix: list[V]) -> None:
        _pack_left(k, op, packed, prefix, e.index(0))
        _pack_right(k, op, packed, prefix, e.index(0))
        offset = pull.flat_index(k, (*batch, 1), [*prefix, e.index(0)]) if batch else e.index(0)
        start = e.add(total.address, e.mul(offset, e.index(m * n * size_of(packed.kind))))
        multiply(k, packed, start, e.index(0), e.index(depth), depth)

    if batch:
        iv, _ = e.open_loop(e.index(0), e.index(batch[0]), 1)
        product([iv])
        e.close_loop()
    else:
        product([])
    e.floor = floor
    k.arena = mark
    if result is not total:
        _narrow(k, result, total)
    k.buffers[op.result] = result


def _step(k: Lowering, op: Any, jam: Jam, total: Buffer) -> None:
    """Pack one step; multiply when the panels are full or no step is left."""
    e = k.e
    depth = op.a.type.shape[-1]
    done = e.emit("i64", 1, e.top, f"load i64, ptr {jam.slot}")
    _pack_left(k, op, jam.packed, [], e.mul(done, e.index(depth)))
    start = e.index(0)
    if jam.held is None:
        _pack_right(k, op, jam.packed, [], e.mul(done, e.index(depth)))
    else:
        start = e.mul(e.select(jam.held.fits, e.sub(jam.trip, done), start), e.index(depth))
        e.push(label := e.fresh("panels"))
        _pack_right(k, op, jam.packed, [], e.add(start, e.mul(done, e.index(depth))))
        e.branch(jam.held.there, None, "", e.pop(), label)
    following = e.add(done, e.index(1))
    full = e.binary("or", e.compare("eq", following, e.index(jam.steps)), jam.last)
    left = e.select(full, e.index(0), following)
    e.line(f"store i64 {e.text(left, 1)}, ptr {jam.slot}")
    first = e.fresh("product")
    e.push(first)
    multiply(k, jam.packed, total.address, start, e.mul(following, e.index(depth)), depth)
    e.branch(full, e.pop(), first, None, "")


def _work_type(op: Any) -> DType:
    element = op.a.type.scalar
    if element.is_int():
        return int32
    return float64 if element.is_fp64() else float32


def _destination(k: Lowering, op: Any, work: DType) -> tuple[Buffer, Buffer]:
    """Where the result goes, and where it is summed; the accumulator is already in the latter."""
    shape = op.result.type.shape
    if op.out != work:
        result = k.allocate(op.out, shape)
        total = k.allocate(work, shape)
        _start(k, op, total, work)
        return result, total
    carried = _carried_home(k, op)
    if carried is not None:
        if op.acc is not None and k.buffers.get(op.acc) is not carried:
            k.fill(carried, op.acc)
        return carried, carried
    total = k.allocate(work, shape)
    _start(k, op, total, work)
    return total, total


def _carried_home(k: Lowering, op: Any) -> Buffer | None:
    """The memory of the carried tile whose next value this product is, if the tile is used for nothing else."""
    uses = list(op.result.uses)
    if op.acc is None or len(uses) != 1:
        return None
    end, at = uses[0]
    if not end.is_terminator or end.parent is not op.parent or op.parent is None:
        return None
    owner = op.parent.parent
    args = op.parent.args
    arg = (
        args[at + (len(args) - len(end.operands))]
        if owner is not None and len(args) >= len(end.operands)
        else None
    )
    if arg is None or arg not in k.buffers or arg.type != op.result.type:
        return None
    if not _only_through(arg, op.acc, op) or not k.plan.elementwise_path(op.acc, arg):
        return None
    return k.buffers[arg]


def _only_through(arg: Value, value: Value, op: Any) -> bool:
    """Whether every use of `arg` serves to compute `value`, the accumulator of `op`, and nothing later."""
    for user, _ in arg.uses:
        if user is op:
            if op.a is arg or op.b is arg:
                return False
            continue
        if not user.results or user.parent is not op.parent or user.regions:
            return False
        for r in user.results:
            if r is not value and not _only_through(r, value, op):
                return False
            if r is value and any(u is not op for u, _ in r.uses):
                return False
    return True


def _start(k: Lowering, op: Any, total: Buffer, work: DType) -> None:
    e = k.e

    def body(at: list[V]) -> None:
        if op.acc is None:
            x = formats.constant(e, 0, work)
        else:
            x = formats.cast(e, pull.element(k, op.acc, at), op.out, work)
        pull.write(k, total, at, x, max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, total.shape, body))


def _narrow(k: Lowering, result: Buffer, total: Buffer) -> None:
    def body(at: list[V]) -> None:
        x = formats.cast(k.e, pull.read(k, total, at), total.ty, result.ty)
        pull.write(k, result, at, x, max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, result.shape, body))


def _pack_left(k: Lowering, op: Any, packed: Packed, prefix: list[V], done: V) -> None:
    """The left matrix as rows, its columns put from `done` on."""
    e = k.e

    def body(at: list[V]) -> None:
        i, p = at
        place = e.add(e.mul(i, e.index(packed.depth)), e.add(p, done))
        _put(k, packed, packed.a.address, place, _converted(k, op, op.a, [*prefix, *at], packed), at)

    nest.versions(k, lambda: nest.over(k, (packed.m, op.a.type.shape[-1]), body))


def _pack_right(k: Lowering, op: Any, packed: Packed, prefix: list[V], done: V) -> None:
    """The right matrix as panels, its rows put from `done` on."""
    e = k.e
    for first, end, columns in packed.panels():

        def body(at: list[V], first: int = first, columns: int = columns) -> None:
            p, panel, c = at
            start = e.add(e.mul(panel, e.index(columns)), e.index(first))
            place = e.add(e.mul(start, e.index(packed.height)), e.mul(e.add(p, done), e.index(columns)))
            value = _converted(k, op, op.b, [*prefix, p, e.add(start, c)], packed)
            _put(k, packed, packed.b.address, e.add(place, c), value, at)

        shape = (op.a.type.shape[-1], (end - first) // columns, columns)
        nest.versions(k, lambda shape=shape, body=body: nest.over(k, shape, body))


def _put(k: Lowering, packed: Packed, base: V, place: V, value: V, at: list[V]) -> None:
    e = k.e
    address = e.add(base, e.mul(place, e.index(size_of(packed.kind))))
    access.store(e, packed.kind, address, value, None, k.sink, max(i.lanes for i in at))


def _converted(k: Lowering, op: Any, operand: Value, at: list[V], packed: Packed) -> V:
    e = k.e
    source = operand.type.scalar
    x = formats.cast(e, pull.element(k, operand, at), source, packed.a.ty)
    if op.precision == "tf32" and source.text == "f32":
        x = e.bits(e.both(e.bits(x, "i32"), e.const(~0x1FFF, "i32")), "float")
    return x


def multiply(k: Lowering, packed: Packed, c: V, start: V, depth: V, multiple: int) -> None:
    """``c += a @ b`` over `depth` steps, a multiple of `multiple`, rows of b from `start` on; c is m by n, row-major."""
    e = k.e
    block, m = packed.block, packed.m
    outer = k.mode, e.floor
    k.mode, e.floor = nest.Mode(1), e.top
    unroll = max(u for u in range(1, block.unroll + 1) if multiple % u == 0)
    whole = m // block.rows * block.rows
    rows = [(low, high, r) for low, high, r in ((0, whole, block.rows), (whole, m, m - whole)) if high > low]
    for first, end, columns in packed.panels():

        def panel(j: V, columns: int = columns) -> None:
            size = size_of(packed.kind)
            base = e.add(packed.b.address, e.mul(j, e.index(packed.height * size)))
            base = e.add(base, e.mul(start, e.index(columns * size)))
            for inside, vectors, lanes in _vectors(columns, block):
                for low, high, count in rows:
                    shape = Shape(count, vectors, lanes, columns, unroll)
                    _stepped(
                        k, low, high, count,
                        lambda i, inside=inside, shape=shape: _block(k, packed, (base, c), (i, j, inside), shape, depth),
                    )  # fmt: skip

        _stepped(k, first, end, columns, panel)
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


def _block(
    k: Lowering, packed: Packed, places: tuple[V, V], at: tuple[V, V, int], shape: Shape, depth: V
) -> None:
    """One register block of the result over the whole depth."""
    e = k.e
    (b, c), (i, j, inside) = places, at
    kind, lanes = packed.kind, shape.lanes
    size = size_of(kind)
    ty = vector_type(kind, lanes)

    def load(address: V) -> V:
        return e.emit(kind, lanes, e.top, f"load {ty}, ptr {e.pointer(address, e.top)}, align {size}")

    def spot(r: int, v: int) -> V:
        row = e.mul(e.add(i, e.index(r)), e.index(packed.n))
        return e.add(c, e.mul(e.add(row, e.add(j, e.index(inside + v * lanes))), e.index(size)))

    spots = [spot(r, v) for r in range(shape.rows) for v in range(shape.vectors)]
    sums = [load(s) for s in spots]
    a = e.add(packed.a.address, e.mul(i, e.index(packed.depth * size)))

    def step(p: V, total: list[V]) -> list[V]:
        row, column = e.add(b, e.mul(p, e.index(shape.columns * size))), e.add(a, e.mul(p, e.index(size)))
        for u in range(shape.unroll):
            right = [
                load(e.add(row, e.index((u * shape.columns + inside + v * lanes) * size)))
                for v in range(shape.vectors)
            ]
            for r in range(shape.rows):
                address = e.add(column, e.index((r * packed.depth + u) * size))
                x = e.emit(kind, 1, e.top, f"load {kind}, ptr {e.pointer(address, e.top)}, align {size}")
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
