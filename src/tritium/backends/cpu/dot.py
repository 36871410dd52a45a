"""`tile.dot`: operands in scratch memory as rows, then a register-blocked kernel over them.

The accumulator tile stays in scratch memory (L1 or L2) between steps of a K loop; inside one product it is held in
registers for the whole depth. Narrow floats are converted while they are copied; fp32 and fp64 sum with fused
multiply-add in their own type, integers in int32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import formats, nest, pull
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import V, vector_type
from tritium.ir.core import Value
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


def blocking(k: Lowering, kind: str, m: int, n: int) -> Blocking:
    """The block for an accumulator of m by n: as many registers as the host has, dividing the extents if it can."""
    lanes = k.width if kind != "double" else max(k.width // 2, 1)
    while lanes > 1 and lanes > n:
        lanes //= 2
    registers = 28 if k.width >= 16 else 12
    vectors = 2 if n >= 2 * lanes else 1
    best = max(1, min(m, registers // vectors - (2 if vectors == 2 else 1)))
    for rows in range(best, max(best // 2, 1) - 1, -1):
        if m % rows == 0:
            best = rows
            break
    return Blocking(best, vectors, lanes)


def dot(k: Lowering, op: Any) -> None:
    if not op.result.uses:
        return
    e = k.e
    work = _work_type(op)
    shape = op.result.type.shape
    batch, (m, n) = shape[:-2], shape[-2:]
    depth = op.a.type.shape[-1]
    result, total = _destination(k, op, work)
    mark = k.arena
    a = k.allocate(work, (m, depth))
    b = k.allocate(work, (depth, n))
    floor = e.floor

    def product(prefix: list[V]) -> None:
        _pack(k, op, op.a, a, prefix)
        _pack(k, op, op.b, b, prefix)
        offset = pull.flat_index(k, (*batch, 1), [*prefix, e.index(0)]) if batch else e.index(0)
        size = size_of(formats.stored_as(work))
        start = e.add(total.address, e.mul(offset, e.index(m * n * size)))
        multiply(k, a.address, b.address, start, formats.held_as(work), (m, n, depth))

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


def _pack(k: Lowering, op: Any, operand: Value, buffer: Buffer, prefix: list[V]) -> None:
    """An operand's matrix as rows of the working type."""
    e = k.e
    source = operand.type.scalar
    cut = op.precision == "tf32" and source.text == "f32"

    def body(at: list[V]) -> None:
        x = pull.element(k, operand, [*prefix, *at])
        x = formats.cast(e, x, source, buffer.ty)
        if cut:
            x = e.bits(e.both(e.bits(x, "i32"), e.const(~0x1FFF, "i32")), "float")
        pull.write(k, buffer, at, x, max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, buffer.shape, body))


def multiply(k: Lowering, a: V, b: V, c: V, kind: str, extents: tuple[int, int, int]) -> None:
    """``c += a @ b`` for row-major matrices in scratch memory: addresses of m*depth, depth*n and m*n elements."""
    e = k.e
    m, n, depth = extents
    block = blocking(k, kind, m, n)
    outer = k.mode, e.floor
    k.mode, e.floor = nest.Mode(1), e.top
    columns = block.vectors * block.lanes
    places = [(0, n // columns * columns, block.vectors, block.lanes)]
    start, lanes = places[0][1], block.lanes
    while start < n:
        while lanes > n - start:
            lanes //= 2
        stop = start + (n - start) // lanes * lanes
        places.append((start, stop, 1, lanes))
        start = stop
    for first, stop, vectors, lanes in places:
        if stop == first:
            continue
        step = vectors * lanes

        def column(j: V, vectors: int = vectors, lanes: int = lanes) -> None:
            whole = m // block.rows * block.rows
            for low, high, rows in ((0, whole, block.rows), (whole, m, m - whole)):
                if high > low:
                    shape = (rows, vectors, lanes)
                    _stepped(
                        k,
                        low,
                        high,
                        rows,
                        lambda i, shape=shape: _block(
                            k, (a, b, c), kind, (n, depth), (i, j), shape, block.unroll
                        ),
                    )

        _stepped(k, first, stop, step, column)
    k.mode, e.floor = outer


def _stepped(k: Lowering, start: int, stop: int, step: int, body: Any) -> None:
    e = k.e
    if stop - start == step:
        body(e.index(start))
        return
    iv, _ = e.open_loop(e.index(start), e.index(stop), step)
    body(iv)
    e.close_loop()


def _block(
    k: Lowering,
    places: tuple[V, V, V],
    kind: str,
    extents: tuple[int, int],
    at: tuple[V, V],
    shape: tuple[int, int, int],
    unroll: int,
) -> None:
    """One register block: rows i... and columns j... of the result over the whole depth."""
    e = k.e
    a, b, c = places
    n, depth = extents
    i, j = at
    rows, vectors, lanes = shape
    size = size_of(kind)
    ty = vector_type(kind, lanes)

    def vector_at(base: V, row: V, v: int) -> V:
        column = e.add(j, e.index(v * lanes))
        return e.add(base, e.mul(e.add(e.mul(row, e.index(n)), column), e.index(size)))

    def load(address: V) -> V:
        return e.emit(kind, lanes, e.top, f"load {ty}, ptr {e.pointer(address, e.top)}, align {size}")

    spots = [[vector_at(c, e.add(i, e.index(r)), v) for v in range(vectors)] for r in range(rows)]
    sums = [load(s) for row in spots for s in row]
    unroll = max(u for u in range(1, unroll + 1) if depth % u == 0)
    a_rows = [
        e.add(a, e.mul(e.mul(e.add(i, e.index(r)), e.index(depth)), e.index(size))) for r in range(rows)
    ]

    def step(p: V, total: list[V]) -> list[V]:
        for u in range(unroll):
            q = e.add(p, e.index(u))
            right = [load(vector_at(b, q, v)) for v in range(vectors)]
            for r in range(rows):
                address = e.add(a_rows[r], e.mul(q, e.index(size)))
                x = e.emit(kind, 1, e.top, f"load {kind}, ptr {e.pointer(address, e.top)}, align {size}")
                for v in range(vectors):
                    total[r * vectors + v] = _multiply_add(k, kind, x, right[v], total[r * vectors + v])
        return total

    if depth == unroll:
        sums = step(e.index(0), sums)
    else:
        p, phis = e.open_loop(e.index(0), e.index(depth), unroll, sums)
        sums = e.close_loop(step(p, list(phis)))
    for spot, value in zip([s for row in spots for s in row], sums, strict=True):
        e.line(f"store {e.typed(value, lanes)}, ptr {e.pointer(spot, e.top)}, align {size}")


def _multiply_add(k: Lowering, kind: str, x: V, y: V, z: V) -> V:
    e = k.e
    if kind.startswith("i"):
        return e.add(e.mul(x, y), z)
    return e.intrinsic("fma", x, y, z)
