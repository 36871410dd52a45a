"""`tile.dot`: operands brought into order (`operands`), then a register-blocked kernel over them (`microkernel`).

The right operand is packed as panels as wide as a register block; the left one is read where it lies if it can, else
packed too. The accumulator tile stays in scratch memory (L1 or L2); inside one product it is held in registers for the
whole depth. Where a loop only sums products into a carried tile, several of its steps are brought together and
multiplied at once (`Jam`), which loads and stores the accumulator less often. Narrow floats are converted while they
are packed; fp32 and fp64 sum with fused multiply-add in their own type, int8 in int32, two products at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import formats, nest, operands, panels, pull
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import V
from tritium.backends.cpu.microkernel import Blocking, Columns, Packed, Rows, blocking, multiply
from tritium.backends.cpu.operands import InPlace
from tritium.backends.cpu.panels import Held
from tritium.ir.core import Value
from tritium.ir.match import Reject
from tritium.ir.types import DType, float32, float64, int32

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Buffer, Lowering


@dataclass(frozen=True)
class Jam:
    """Steps of a loop whose products are summed at once: `steps` of them fit, `slot` counts those packed.

    loop    whose steps these are
    trip    which step this is
    last    whether it is the last one
    held    what may keep the right operand's panels for the instances that follow; see `panels`
    """

    packed: Packed
    steps: int
    slot: str
    loop: Any
    trip: V
    last: V
    held: Held | None


@dataclass(frozen=True)
class Hold:
    """A product in a loop whose right operand's panels, for all `trip`s of the loop, may serve the next instances too."""

    packed: Packed
    trip: V
    held: Held


DEPTH_BYTES = 16 << 10
"""What a panel of the right operand may take of the first-level cache."""


def plan_products(k: Lowering, loop: Any, trip: V, trips: V) -> None:
    """What to do about the products in the body of `loop`. `trip` counts the `trips` steps."""
    e = k.e
    last = e.compare("eq", e.add(trip, e.index(1)), trips)
    for op in loop.body.ops:
        if op.name != "tile.dot" or len(op.result.type.shape) != 2 or not op.result.uses:
            continue
        work = _work_type(op)
        depth = operands.steps_of(k, op)
        block = blocking(k.width, formats.held_as(work), *op.result.type.shape)
        steps = DEPTH_BYTES // (block.columns * size_of(formats.held_as(work))) // depth
        if steps > 1 and op.out == work and _sums_alone(op, loop):
            slot = k.slot("i64")
            e.line(f"store i64 0, ptr {slot}", e.top - 1)
            held = _held(k, loop, op, trips)
            packed = _packed(k, op, work, block, steps * depth, panels.HEIGHT if held else 0)
            k.jams[op] = Jam(packed, steps, slot, loop, trip, last, held)
            k.record.plan(
                "multiply several steps at once", f"{steps} steps of {depth}, in blocks of {block}", op
            )
        else:
            held = _held(k, loop, op, trips, True)
            if held is not None:
                k.holds[op] = Hold(_packed(k, op, work, block, depth, panels.HEIGHT), trip, held)


def _sums_alone(op: Any, loop: Any) -> bool:
    """Whether `op` sums into a tile that the loop carries and does nothing else with."""
    at = [i for i, v in enumerate(loop.body.ops[-1].operands) if v is op.result]
    if op.acc is None or len(at) != 1 or op.acc is not loop.body.args[1 + at[0]]:
        return False
    return len(op.acc.uses) == len(op.result.uses) == 1


def _held(k: Lowering, loop: Any, op: Any, trips: V, near: bool = False) -> Held | None:
    found = panels.match_held_panels(k, loop, op, near)
    if isinstance(found, Reject):
        k.record.reject(panels.NAME, found)
        return None
    k.record.plan(panels.NAME, found.describe(), op)
    return panels.begin(k, found, k.e.mul(trips, k.e.index(operands.steps_of(k, op))))


def _packed(k: Lowering, op: Any, work: DType, block: Blocking, depth: int, height: int = 0) -> Packed:
    (m, _), n = op.a.type.shape[-2:], op.b.type.shape[-1]
    # What outlives an instance has a place that nothing else gets.
    b = k.allocate_for_good(work, (height, n)) if height else k.allocate(work, (depth, n))
    a = None if _in_memory(k, op, work) else k.allocate(work, (m, depth))
    across = operands.contiguous_axis(k, op.a) == len(op.a.type.shape) - 2
    return Packed(a, b, work, m, n, depth, height or depth, block, across, operands.is_paired(k, op))


def _in_memory(k: Lowering, op: Any, work: DType) -> bool:
    """Whether the left operand is a kept tile that the kernel can read as it is."""
    kept = k.buffers.get(op.a)
    return kept is not None and kept.ty == work and op.precision != "tf32"


def dot(k: Lowering, op: Any) -> None:
    if not op.result.uses:
        return
    e = k.e
    work = _work_type(op)
    shape = op.result.type.shape
    batch, (m, n) = shape[:-2], shape[-2:]
    depth = operands.steps_of(k, op)
    result, total = _destination(k, op, work)
    jam = k.jams.get(op)
    if jam is not None:
        _step(k, op, jam, total)
        k.buffers[op.result] = result
        return
    mark = k.arena
    hold = k.holds.get(op)
    packed = (
        _packed(k, op, work, blocking(k.width, formats.held_as(work), m, n), depth)
        if hold is None
        else hold.packed
    )
    floor = e.floor

    def product(prefix: list[V]) -> None:
        rows = _left(k, op, packed, work, prefix)
        right = _right(k, op, packed, prefix, hold)
        start = e.add(total.address, _matrix(k, batch, prefix, m * n * size_of(packed.kind)))
        multiply(k, packed, rows, right, start, e.index(depth), depth, fresh=op.acc is None)

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


def _matrix(k: Lowering, batch: tuple[int, ...], prefix: list[V], nbytes: int) -> V:
    """How far the matrix of a batch that `prefix` names is from the first one."""
    e = k.e
    offset = pull.flat_index(k, (*batch, 1), [*prefix, e.index(0)]) if batch else e.index(0)
    return e.mul(offset, e.index(nbytes))


def _left(k: Lowering, op: Any, packed: Packed, work: DType, prefix: list[V]) -> Rows:
    """Where the kernel finds the left operand, which is packed if it must be."""
    e = k.e
    size = size_of(packed.kind)
    if packed.a is None:
        kept = k.buffers[op.a]
        depth = operands.steps_of(k, op)
        first = e.add(kept.address, _matrix(k, op.a.type.shape[:-2], prefix, packed.m * depth * size))
        return Rows(first, e.index(depth * size), e.index(size))
    plan = _in_place(k, op, op.a, operands.LEFT, work)
    if plan is None:
        operands.pack_left(k, op, packed, prefix, e.index(0))
        return operands.packed_rows(k, packed)
    spot = operands.look(k, plan)
    e.push(label := e.fresh("packed"))
    operands.pack_left(k, op, packed, prefix, e.index(0))
    e.branch(spot.fine, None, "", e.pop(), label)
    scratch = operands.packed_rows(k, packed)
    address = e.select(spot.fine, spot.address, scratch.address)
    return Rows(address, e.select(spot.fine, spot.row, scratch.row), scratch.step)


def _right(k: Lowering, op: Any, packed: Packed, prefix: list[V], hold: Hold | None) -> Columns:
    """Where the kernel finds the right operand, which is packed if it must be."""
    e = k.e
    depth = operands.steps_of(k, op)
    start, there = e.index(0), e.const(0, "i1")
    if hold is not None:
        start = e.mul(e.select(hold.held.fits, hold.trip, start), e.index(depth))
        there = hold.held.there
    plan = _in_place(k, op, op.b, operands.RIGHT, packed.ty)
    spot = operands.look(k, plan) if plan is not None else None
    fine = there
    if spot is not None:
        near = e.compare("ule", spot.row, e.index(operands.NEAR_BYTES // depth))
        spot = replace(spot, fine=e.both(spot.fine, near))
        fine = e.binary("or", fine, spot.fine)
    e.push(label := e.fresh("panels"))
    operands.pack_right(k, op, packed, prefix, start)
    e.branch(fine, None, "", e.pop(), label)
    return Columns(start) if spot is None else Columns(start, spot.fine, spot.address, spot.row)


def _in_place(
    k: Lowering, op: Any, operand: Value, name: str, work: DType, loop: Any = None
) -> InPlace | None:
    found = operands.match_in_place(k, op, operand, work, loop)
    if isinstance(found, Reject):
        k.record.reject(name, found)
        return None
    k.record.plan(name, found.describe(), op)
    return found


def _step(k: Lowering, op: Any, jam: Jam, total: Buffer) -> None:
    """Bring one step's operands; multiply when the panels are full or no step is left."""
    e = k.e
    packed = jam.packed
    depth = operands.steps_of(k, op)
    done = e.emit("i64", 1, e.top, f"load i64, ptr {jam.slot}")
    columns = e.mul(done, e.index(depth))
    plan = _in_place(k, op, op.a, operands.LEFT, packed.ty, jam.loop)
    direct = operands.InPlaceSteps(k, plan) if plan is not None else None
    if direct is not None:
        direct.step(op, packed, columns)
    else:
        operands.pack_left(k, op, packed, [], columns)
    start = e.index(0)
    if jam.held is None:
        operands.pack_right(k, op, packed, [], columns)
    else:
        start = e.mul(e.select(jam.held.fits, e.sub(jam.trip, done), start), e.index(depth))
        e.push(label := e.fresh("panels"))
        operands.pack_right(k, op, packed, [], e.add(start, columns))
        e.branch(jam.held.there, None, "", e.pop(), label)
    following = e.add(done, e.index(1))
    full = e.binary("or", e.compare("eq", following, e.index(jam.steps)), jam.last)
    left = e.select(full, e.index(0), following)
    e.line(f"store i64 {e.text(left, 1)}, ptr {jam.slot}")
    first = e.fresh("product")
    e.push(first)
    rows = direct.rows(packed) if direct is not None else operands.packed_rows(k, packed)
    multiply(k, packed, rows, Columns(start), total.address, e.mul(following, e.index(depth)), depth)
    e.branch(full, e.pop(), first, None, "")


def _work_type(op: Any) -> DType:
    element = op.a.type.scalar
    if element.is_int():
        return int32
    return float64 if element.is_fp64() else float32


def _destination(k: Lowering, op: Any, work: DType) -> tuple[Buffer, Buffer]:
    """Where the result goes, and where it is summed; the accumulator, if there is one, is already in the latter."""
    shape = op.result.type.shape
    if op.out != work:
        result = k.allocate(op.out, shape)
        total = k.allocate(work, shape)
        if op.acc is not None:
            _start(k, op, total, work)
        return result, total
    carried = _carried_home(k, op)
    if carried is not None:
        if op.acc is not None and k.buffers.get(op.acc) is not carried:
            k.fill(carried, op.acc)
        return carried, carried
    total = k.allocate(work, shape)
    if op.acc is not None:
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
        x = formats.cast(e, pull.element(k, op.acc, at), op.out, work)
        pull.write(k, total, at, x, max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, total.shape, body))


def _narrow(k: Lowering, result: Buffer, total: Buffer) -> None:
    def body(at: list[V]) -> None:
        x = formats.cast(k.e, pull.read(k, total, at), total.ty, result.ty)
        pull.write(k, result, at, x, max(i.lanes for i in at))

    nest.versions(k, lambda: nest.over(k, result.shape, body))
