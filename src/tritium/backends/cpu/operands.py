"""How the operands of a product come to its kernel: read where they lie, or packed into scratch memory.

An operand is read in place (`match_in_place`) if it is loaded from rows whose elements are neighbours, in the type that
the product computes in; whether the tile is whole is tested at run time, and else it is packed. The right operand has to
be small besides: its rows come by once for every block of the result. Packing goes in vectors along the axis in which
the source is contiguous: for the left operand that decides how it is kept, for the right one a square of registers is
transposed on the way into the panels.

On x86, int8 is packed in pairs of neighbouring steps of k, two 16-bit numbers to an element, which one instruction
multiplies and adds; a step of the kernel is then two of k. No sum of two products of 8-bit numbers overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import access, formats, nest, pull
from tritium.backends.cpu.access import size_of
from tritium.backends.cpu.code import V, vector_type
from tritium.backends.cpu.microkernel import Packed, Rows
from tritium.ir.core import Value
from tritium.ir.match import Reject, matching
from tritium.ir.types import DType
from tritium.ops import arithmetic, bitwise, cast, hints, memory, shape
from tritium.ops.select import Select

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

LEFT, RIGHT = "read the left operand in place", "read the right operand in place"
NEAR_BYTES = 32 << 10
"""From the first row of a right operand to the last, if it is to stay in the first-level cache without being packed."""


# ---- in place -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InPlace:
    """The plan: the rows of `load` are read by the kernel itself, where the tile turns out to be whole."""

    load: memory.Load

    def describe(self) -> str:
        return "where the tile lies within its mask"


def match_in_place(k: Lowering, op: Any, operand: Value, work: DType, loop: Any = None) -> InPlace | Reject:
    """Whether an operand of the product `op` can be read where it lies, up to the end of several steps of `loop`."""
    with matching() as m:
        load = operand.defining_op
        m.require(len(op.result.type.shape) == 2, "it is one of a batch", at=op)
        m.require(isinstance(load, memory.Load), "the operand is computed", at=op)
        assert isinstance(load, memory.Load)
        m.require(
            operand.type.scalar == work and op.precision != "tf32", "its elements are converted", at=load
        )
        m.require(
            load.result not in k.plan.kept and load.parent is op.parent, "it is kept in memory", at=load
        )
        m.require(not load.volatile, "it is volatile", at=load)
        found = k.plan.access.accesses.get(load)
        m.require(found is not None and found.affine, "its addresses are no sum over the axes", at=load)
        assert found is not None
        stride = found.axes[1].stride.as_constant
        m.require(stride is None or stride == 1, "elements of a row are not neighbours", at=load)
        m.require(_straight(k, load.ptr), "its addresses may wrap around", at=load)
        m.require(
            load.mask is None or k.ranges.decidable(load.mask),
            "its mask is no comparison of indices",
            at=load,
        )
        if loop is not None:
            quiet = not any(k.plan.disturbs(other, load) for other in loop.body.ops)
            m.require(quiet, "the loop may write the array", at=load)
        return InPlace(load)
    return m.reject


def _straight(k: Lowering, ptr: Value) -> bool:
    """Whether `ptr` is made of scalars and offsets whose exact values are known."""
    if not ptr.type.shape:
        return True
    op = ptr.defining_op
    if ptr in k.buffers or ptr in k.plan.kept:
        return False
    if isinstance(op, memory.AddPtr):
        offset = op.offset_
        return (not offset.type.shape or k.ranges.known(offset)) and _straight(k, op.ptr)
    if isinstance(op, (shape.Broadcast, shape.ExpandDims, hints.Hint)):
        return _straight(k, op.operands[0])
    return False


@dataclass(frozen=True)
class Spot:
    """A tile at run time: whether it can be read in place, where it starts, bytes from row to row."""

    fine: V
    address: V
    row: V


def look(k: Lowering, plan: InPlace) -> Spot:
    """Where the operand lies at this point."""
    e = k.e
    load = plan.load
    outer, floor = k.mode, e.floor
    k.mode, e.floor = nest.Mode(1, True, True), e.top
    mode = k.mode
    m, depth = load.result.type.shape

    def place(i: int, p: int) -> V:
        return pull.element(k, load.ptr, [e.index(min(i, m - 1)), e.index(min(p, depth - 1))])

    start = place(0, 0)
    row, step = e.sub(place(1, 0), start), e.sub(place(0, 1), start)
    fine = e.compare("eq", step, e.index(load.result.type.scalar.itemsize if depth > 1 else 0))
    if load.mask is not None:
        fine = e.both(fine, k.ranges.all_true(load.mask))
    for make in mode.ranges.values():
        fine = e.both(fine, make())
    k.mode, e.floor = outer, floor
    return Spot(fine, start, row)


class InPlaceSteps:
    """Steps of a loop that are read in place together, as long as each goes on where the one before ended."""

    def __init__(self, k: Lowering, plan: InPlace) -> None:
        self.k = k
        self.plan = plan
        self.first, self.row, self.direct = (k.slot("i64") for _ in range(3))
        for slot in (self.first, self.row, self.direct):
            k.e.line(f"store i64 0, ptr {slot}", k.e.top - 1)

    def _now(self, slot: str) -> V:
        return self.k.e.emit("i64", 1, self.k.e.top, f"load i64, ptr {slot}")

    def step(self, op: Any, packed: Packed, done: V) -> None:
        """Note or pack the rows of one step, `done` columns after the first of these steps."""
        k, e = self.k, self.k.e
        spot = look(k, self.plan)
        behind = e.mul(done, e.index(size_of(packed.kind)))
        first, row, direct = (self._now(s) for s in (self.first, self.row, self.direct))
        was = e.compare("ne", direct, e.index(0))
        follows = e.both(e.compare("eq", e.add(first, behind), spot.address), e.compare("eq", row, spot.row))
        none = e.compare("eq", done, e.index(0))
        fine = e.both(spot.fine, e.binary("or", none, e.both(was, follows)))
        e.push(yes := e.fresh("inplace"))
        for slot, value in (
            (self.first, e.sub(spot.address, behind)),
            (self.row, spot.row),
            (self.direct, e.index(1)),
        ):
            e.line(f"store i64 {e.text(value, 1)}, ptr {slot}")
        kept = e.pop()
        e.push(no := e.fresh("packed"))
        e.push(copy := e.fresh("catchup"))
        self._catch_up(packed, done, first, row)
        e.branch(e.both(was, e.invert(none)), e.pop(), copy, None, "")
        e.line(f"store i64 0, ptr {self.direct}")
        pack_left(k, op, packed, [], done)
        e.branch(fine, kept, yes, e.pop(), no)

    def _catch_up(self, packed: Packed, done: V, first: V, row: V) -> None:
        """Pack the rows of the steps so far, which were only noted."""
        e = self.k.e
        size = size_of(packed.kind)
        depth = self.plan.load.result.type.shape[1]
        lanes = next(w for w in (16, 8, 4, 2, 1) if depth % w == 0 and w <= packed.block.lanes)
        ty = vector_type(packed.kind, lanes)
        assert packed.a is not None
        i, _ = e.open_loop(e.index(0), e.index(packed.m), 1)
        source = e.add(first, e.mul(i, row))
        target = e.add(packed.a.address, e.mul(i, e.index(packed.depth * size)))
        p, _ = e.open_loop(e.index(0), done, lanes)
        along = e.mul(p, e.index(size))
        x = e.emit(
            *(packed.kind, lanes, e.top),
            f"load {ty}, ptr {e.pointer(e.add(source, along), e.top)}, align {size}",
        )
        e.line(f"store {ty} {x.ssa}, ptr {e.pointer(e.add(target, along), e.top)}, align {size}")
        e.close_loop()
        e.close_loop()

    def rows(self, packed: Packed) -> Rows:
        """Where the steps so far lie, in the end."""
        e = self.k.e
        first, row, direct = (self._now(s) for s in (self.first, self.row, self.direct))
        there = e.compare("ne", direct, e.index(0))
        scratch = packed_rows(self.k, packed)
        return Rows(e.select(there, first, scratch.address), e.select(there, row, scratch.row), scratch.step)


# ---- packed ---------------------------------------------------------------------------------------------------------


def is_paired(k: Lowering, op: Any) -> bool:
    """Whether two steps of k make one of the kernel's."""
    return k.x86 and op.a.type.scalar.text == op.b.type.scalar.text == "i8" and op.a.type.shape[-1] % 2 == 0


def steps_of(k: Lowering, op: Any) -> int:
    """Steps of the kernel for the whole depth of `op`."""
    depth: int = op.a.type.shape[-1]
    return depth // 2 if is_paired(k, op) else depth


def packed_rows(k: Lowering, packed: Packed) -> Rows:
    """The left operand in scratch memory."""
    e = k.e
    assert packed.a is not None
    size = size_of(packed.kind)
    row, step = (size, packed.m * size) if packed.across else (packed.depth * size, size)
    return Rows(packed.a.address, e.index(row), e.index(step))


def contiguous_axis(k: Lowering, value: Value) -> int | None:
    """The axis of a tile along which neighbours are neighbours in memory, as far as that is known beforehand."""
    dims = value.type.shape
    if value in k.buffers or value in k.plan.kept:
        return len(dims) - 1
    op = value.defining_op
    if isinstance(op, memory.Load):
        found = k.plan.access.accesses.get(op)
        if found is None or not found.affine:
            return None
        near = [i for i, a in enumerate(found.axes) if a.stride.as_constant == 1 and a.extent > 1]
        return near[0] if len(near) == 1 else None
    if isinstance(op, shape.Permute):
        inner = contiguous_axis(k, op.x)
        return None if inner is None else list(op.order).index(inner)
    if isinstance(op, _EACH):
        found_axes = {contiguous_axis(k, v) for v in op.operands if v.type.shape == dims} - {None}
        return found_axes.pop() if len(found_axes) == 1 else None
    return None


_EACH = (
    arithmetic.Add,
    arithmetic.Sub,
    arithmetic.Mul,
    arithmetic.Div,
    bitwise.And,
    cast.Cast,
    hints.Hint,
    Select,
)


def pack_left(k: Lowering, op: Any, packed: Packed, prefix: list[V], done: V) -> None:
    """The left matrix into scratch memory, its columns put from `done` on."""
    e = k.e
    assert packed.a is not None
    base = packed.a.address

    def body(at: list[V]) -> None:
        i, p = at
        place = e.add(e.mul(i, e.index(packed.depth)), e.add(p, done))
        _put(k, packed, base, place, _converted(k, op, op.a, [*prefix, *at], packed, -1), at)

    def across(at: list[V]) -> None:
        p, i = at
        place = e.add(e.mul(e.add(p, done), e.index(packed.m)), i)
        _put(k, packed, base, place, _converted(k, op, op.a, [*prefix, i, p], packed, -1), at)

    m, depth = packed.m, steps_of(k, op)
    if packed.across:
        nest.versions(k, lambda: nest.over(k, (depth, m), across))
    else:
        nest.versions(k, lambda: nest.over(k, (m, depth), body))


def pack_right(k: Lowering, op: Any, packed: Packed, prefix: list[V], done: V) -> None:
    """The right matrix as panels, its rows put from `done` on."""
    e = k.e
    lanes = packed.block.lanes
    depth = steps_of(k, op)
    turn = contiguous_axis(k, op.b) == len(op.b.type.shape) - 2 and lanes in (4, 8, 16) and depth % lanes == 0
    for first, end, columns in packed.panels():

        def place(p: V, panel: V, first: int = first, columns: int = columns) -> tuple[V, V]:
            start = e.add(e.mul(panel, e.index(columns)), e.index(first))
            row = e.add(e.mul(start, e.index(packed.height)), e.mul(e.add(p, done), e.index(columns)))
            return start, row

        def body(at: list[V], place: Any = place) -> None:
            p, panel, c = at
            start, row = place(p, panel)
            value = _converted(k, op, op.b, [*prefix, p, e.add(start, c)], packed, -2)
            _put(k, packed, packed.b.address, e.add(row, c), value, at)

        def square(at: list[V], place: Any = place, columns: int = columns) -> None:
            """`lanes` steps of k by `lanes` columns: read along k, written along the columns."""
            panel, block = at
            p = e.mul(block, e.index(lanes))
            start, row = place(p, panel)
            for c in range(0, columns, lanes):
                along = e.affine(p, e.index(1), lanes)
                read = [
                    _wide(
                        k,
                        _converted(k, op, op.b, [*prefix, along, e.add(start, e.index(c + j))], packed, -2),
                        lanes,
                    )
                    for j in range(lanes)
                ]
                for j, value in enumerate(transposed(k, read)):
                    there = e.affine(e.add(row, e.index(j * columns + c)), e.index(1), lanes)
                    _put(k, packed, packed.b.address, there, value, [value])

        count = (end - first) // columns
        if turn and columns % lanes == 0:
            nest.versions(k, lambda square=square, body=body, count=count, columns=columns: _turned(
                k, (depth, count, columns), square, body, lanes))  # fmt: skip
        else:
            dims = (depth, count, columns)
            nest.versions(k, lambda dims=dims, body=body: nest.over(k, dims, body))


def _turned(k: Lowering, dims: tuple[int, int, int], square: Any, body: Any, lanes: int) -> None:
    """Squares where the nest works in vectors, single elements where it does not."""
    if k.mode.lanes == 1:
        nest.over(k, dims, body)
        return
    depth, count, _ = dims
    outer, k.mode.lanes = k.mode.lanes, 1
    nest.over(k, (count, depth // lanes), square)
    k.mode.lanes = outer


def _wide(k: Lowering, v: V, lanes: int) -> V:
    return V(v.kind, lanes, v.level, k.e.text(v, lanes))


def transposed(k: Lowering, rows: list[V]) -> list[V]:
    """A square of registers, turned over: as many shuffles per register as its lanes have bits."""
    e = k.e
    n = len(rows)
    ty = vector_type(rows[0].kind, n)
    distance = 1
    while distance < n:
        new = list(rows)
        for i in range(n):
            if i & distance:
                continue
            x, y = rows[i], rows[i + distance]
            low = [lane if not lane & distance else n + lane - distance for lane in range(n)]
            high = [lane + distance if not lane & distance else n + lane for lane in range(n)]
            for at, order in ((i, low), (i + distance, high)):
                lanes = ", ".join(f"i32 {lane}" for lane in order)
                new[at] = e.emit(
                    *(x.kind, n, max(x.level, y.level)),
                    f"shufflevector {ty} {x.ssa}, {ty} {y.ssa}, <{n} x i32> <{lanes}>",
                )
        rows = new
        distance *= 2
    return rows


def _put(k: Lowering, packed: Packed, base: V, place: V, value: V, at: list[V]) -> None:
    e = k.e
    address = e.add(base, e.mul(place, e.index(size_of(packed.kind))))
    access.store(e, packed.kind, address, value, None, k.sink, max(i.lanes for i in at))


def _converted(k: Lowering, op: Any, operand: Value, at: list[V], packed: Packed, axis: int) -> V:
    """An element of an operand as the kernel wants it; ``at[axis]`` counts steps of k."""
    e = k.e
    if packed.paired:
        return _pair(k, operand, at, axis)
    source = operand.type.scalar
    x = formats.cast(e, pull.element(k, operand, at), source, packed.ty)
    if op.precision == "tf32" and source.text == "f32":
        x = e.bits(e.both(e.bits(x, "i32"), e.const(~0x1FFF, "i32")), "float")
    return x


def _pair(k: Lowering, operand: Value, at: list[V], axis: int) -> V:
    """Two neighbours along `axis` as the halves of an i32, the first in the low one."""
    e = k.e
    p = at[axis]

    def element(place: V) -> V:
        return pull.element(k, operand, [place if i is p else i for i in at])

    if p.lanes > 1 and p.base is not None:
        lanes = 2 * p.lanes
        x = _wide(k, element(e.affine(e.mul(p.base, e.index(2)), e.index(1), lanes)), lanes)
        halves = e.convert("sext", x, "i16")
        return e.emit("i32", p.lanes, x.level, f"bitcast {e.typed(halves, lanes)} to <{p.lanes} x i32>")
    twice = e.mul(p, e.index(2))
    low, high = (e.convert("sext", element(e.add(twice, e.index(i))), "i32") for i in (0, 1))
    return e.binary("or", e.both(low, e.const(0xFFFF, "i32")), e.binary("shl", high, e.const(16, "i32")))
