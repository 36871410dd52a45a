"""Ops that act where they stand: stores, control flow, and everything that reads a whole tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import access, atomics, dot, formats, nest, notes, pull, reduce, regions, sorting
from tritium.backends.cpu.code import V
from tritium.backends.cpu.formats import held_as, is_signed, stored_as
from tritium.backends.cpu.lower import Fault
from tritium.ir.core import Region, Value

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Buffer, Lowering


def _store(k: Lowering, op: Any) -> None:
    e = k.e
    kind = stored_as(op.value.type.scalar)

    def body(at: list[V]) -> Callable[[], None]:
        lanes = max((i.lanes for i in at), default=1)
        address = pull.element(k, op.ptr, at)
        mask = None
        if op.mask is not None and not pull.masked_away(k, op.mask):
            mask = pull.element(k, op.mask, at)
        value = formats.to_memory(e, pull.element(k, op.value, at))
        pull.keep_up(k, at)
        notes.note_access(k, op, address, kind, mask)
        past_cache = mask is None and _may_stream(k, op, address, lanes, kind)
        return lambda: access.store(e, kind, address, value, mask, k.sink, lanes, past_cache=past_cache)

    if not op.ptr.type.shape:
        body([])()
        return
    nest.versions(k, lambda: nest.over(k, op.ptr.type.shape, body))


def _may_stream(k: Lowering, op: Any, address: V, lanes: int, kind: str) -> bool:
    """Whether a store may go past the caches: whole aligned lines of an array that is too large for them anyway."""
    if not k.stream or not k.mode.assume_masks or len(op.ptr.type.shape) != 1:
        return False
    if k.plan.weights.get(op.value, 0) > STREAM_WEIGHT:
        return False
    size = access.size_of(kind)
    if lanes * size < LINE or access.stride_of(address) != size:
        return False

    def aligned() -> V:
        e = k.e
        outer, k.mode = k.mode, nest.Mode(1)
        start = pull.element(k, op.ptr, [e.index(0)])
        k.mode = outer
        return e.compare("eq", e.both(start, e.index(LINE - 1)), e.index(0))

    k.mode.masks.setdefault(("aligned", op), aligned)
    return True


STREAM_WEIGHT = 24
"""Of values that take longer to compute, stores past the caches were measured to be slower (Zen 4)."""

LINE = 64
"""Bytes of a cache line."""


def _nothing(k: Lowering, op: Any) -> None:
    """Promises and barriers: one thread runs an instance, in order."""


def _assert(k: Lowering, op: Any) -> None:
    e = k.e
    shape = op.condition.type.shape
    fault = Fault("TRI0802", op.loc, op.message or "the condition is false", shape)

    def body(at: list[V]) -> None:
        fine = pull.element(k, op.condition, at)
        if op.mask is not None:
            fine = e.binary("or", fine, e.invert(pull.element(k, op.mask, at)))
        k.fault_unless(fine, fault, pull.flat_index(k, shape, at) if shape else None)

    if shape:
        one_by_one(k, shape, body)
    else:
        body([])


def _cat(k: Lowering, op: Any) -> None:
    if not op.result.uses:
        return
    shape = op.result.type.shape
    buffer = k.allocate(op.result.type.scalar, shape)
    start = 0
    for part in (op.a, op.b):
        first = start

        def body(at: list[V], part: Value = part, first: int = first) -> None:
            moved = [k.e.add(i, k.e.index(first)) if axis == op.axis else i for axis, i in enumerate(at)]
            pull.write(k, buffer, moved, pull.element(k, part, at), max(i.lanes for i in at))

        dims = part.type.shape
        nest.versions(k, lambda dims=dims, body=body: nest.over(k, dims, body))
        start += dims[op.axis]
    k.buffers[op.result] = buffer


def _histogram(k: Lowering, op: Any) -> None:
    e = k.e
    buffer = k.allocate(op.result.type.scalar, (op.bins,))
    zero = e.const(0, "i32")
    nest.versions(
        k,
        lambda: nest.over(
            k, (op.bins,), lambda at: pull.write(k, buffer, at, zero, max(i.lanes for i in at))
        ),
    )

    def body(at: list[V]) -> None:
        x = pull.element(k, op.x, at)
        signed = is_signed(op.x.type.scalar)
        wide = e.convert("sext" if signed else "zext", x, "i64")
        counted = e.compare("ult", wide, e.index(op.bins))
        if op.mask is not None:
            counted = e.both(counted, pull.element(k, op.mask, at))
        address = e.add(buffer.address, e.mul(wide, e.index(4)))
        address = e.select(counted, address, k.sink)
        pointer = e.pointer(address, e.top)
        old = e.emit("i32", 1, e.top, f"load i32, ptr {pointer}")
        e.line(f"store i32 {e.text(e.add(old, e.const(1, 'i32')), 1)}, ptr {pointer}")

    one_by_one(k, op.x.type.shape, body)
    k.buffers[op.result] = buffer


def one_by_one(k: Lowering, shape: Sequence[int], body: nest.Body) -> None:
    """`body` for every element in order, without vectors."""
    outer, floor = k.mode, k.e.floor
    k.mode = nest.Mode(1)
    k.e.push(first := k.e.fresh("each"))
    k.e.floor = k.e.top
    nest.over(k, shape, body)
    frame = k.e.pop()
    k.e.inline(frame, first)
    k.mode, k.e.floor = outer, floor


# ---- control flow ---------------------------------------------------------------------------------------------------


def _scalars(values: Sequence[Value]) -> list[Value]:
    return [v for v in values if not v.type.shape]


def _if(k: Lowering, op: Any) -> None:
    e = k.e
    tiles = [r for r in op.results if r.type.shape and r.uses]
    for r in tiles:
        k.buffers[r] = k.allocate(r.type.scalar, r.type.shape)
    arms: list[tuple[Any, str, list[tuple[str, V]]]] = []
    for region in (op.then_region, op.else_region):
        first = e.fresh("arm")
        e.push(first)
        mark = k.arena
        k.region(region)
        ends = region.ops[-1].operands
        for r in tiles:
            k.fill(k.buffers[r], ends[r.index])
        texts = [(e.text(k.env[v], 1), k.env[v]) for v in ends if not v.type.shape]
        k.arena = mark
        arms.append((e.pop(), first, texts))
    (yes, first_yes, yes_values), (no, first_no, no_values) = arms
    e.branch(k.env[op.condition], yes, first_yes, no, first_no)
    for r, (a, kind), (b, _) in zip(_scalars(op.results), yes_values, no_values, strict=True):
        k.env[r] = e.phi(kind.kind, 1, [(a, yes.label), (b, no.label)])


class Carried:
    """The values that a loop carries: scalars in registers, tiles in scratch memory."""

    def __init__(self, k: Lowering, op: Any, inits: Sequence[Value]) -> None:
        self.k = k
        self.op = op
        self.inits = list(inits)
        self.scalars = [i for i, v in enumerate(inits) if not v.type.shape]
        self.tiles = [i for i, v in enumerate(inits) if v.type.shape]
        self.buffers: dict[int, Buffer] = {}
        for i in self.tiles:
            v = inits[i]
            self.buffers[i] = k.allocate(v.type.scalar, v.type.shape)
            k.fill(self.buffers[i], v)

    def values(self) -> list[V]:
        return [reduce.widened(self.k, self.k.env[self.inits[i]], 1) for i in self.scalars]

    def bind(self, args: Sequence[Value], phis: Sequence[V]) -> None:
        """Let region arguments stand for what is carried."""
        for i, phi in zip(self.scalars, phis, strict=True):
            self.k.env[args[i]] = phi
        for i in self.tiles:
            self.k.buffers[args[i]] = self.buffers[i]

    def following(self, region: Region, args: Sequence[Value]) -> list[V]:
        """Move the yielded tiles into place; gives the yielded scalars."""
        k = self.k
        ends = region.ops[-1].operands
        pending: list[tuple[int, Buffer]] = []
        direct: list[int] = []
        for i in self.tiles:
            source = k.buffers.get(ends[i])
            if ends[i] is args[i] or (source is not None and source.offset == self.buffers[i].offset):
                continue
            if source is not None:
                if any(source is self.buffers[j] for j in self.tiles):
                    spare = k.allocate(source.ty, source.shape)
                    k.copy(spare, source)
                    source = spare
                pending.append((i, source))
            elif self._in_place(i, ends, args):
                direct.append(i)
            else:
                spare = k.allocate(args[i].type.scalar, args[i].type.shape)
                k.fill(spare, ends[i])
                pending.append((i, spare))
        for i in direct:
            k.fill(self.buffers[i], ends[i])
        for i, source in pending:
            k.copy(self.buffers[i], source)
        return [k.env[ends[i]] for i in self.scalars]

    def _in_place(self, i: int, ends: Sequence[Value], args: Sequence[Value]) -> bool:
        """Whether tile `i` may be overwritten element by element while its next value is computed."""
        if not self.k.plan.elementwise_path(ends[i], args[i]):
            return False
        return not any(j != i and self.k.plan.reaches(ends[j], args[i]) for j in self.tiles)

    def results(self, results: Sequence[Value], finals: Sequence[V]) -> None:
        for i, v in zip(self.scalars, finals, strict=True):
            self.k.env[results[i]] = v
        for i in self.tiles:
            self.k.buffers[results[i]] = self.buffers[i]


def _for(k: Lowering, op: Any) -> None:
    e = k.e
    carried = Carried(k, op, op.inits)
    lower, upper, step = (k.env[v] for v in (op.lower, op.upper, op.step))
    trips = trip_count(k, op, lower, upper, step)
    mark = k.arena
    phis = e.open_while([e.index(0), *carried.values()])
    e.test(e.compare("ult", phis[0], trips))
    iv = e.add(lower, e.mul(_narrowed(k, phis[0], lower.kind), step))
    k.env[op.body.args[0]] = iv
    carried.bind(op.body.args[1:], phis[1:])
    if op in k.spins:
        k.give_up_waiting()
    dot.plan_products(k, op, phis[0], trips)
    k.region(op.body)
    following = carried.following(op.body, op.body.args[1:])
    k.arena = mark
    finals = e.close_while([e.add(phis[0], e.index(1)), *following])
    carried.results(op.results, finals[1:])


def _narrowed(k: Lowering, x: V, kind: str) -> V:
    return x if kind == "i64" else k.e.convert("trunc", x, kind)


def trip_count(k: Lowering, op: Any, lower: V, upper: V, step: V) -> V:
    """How often the body runs, as an unsigned i64; exact for all bounds."""
    e = k.e
    word = "sext" if is_signed(op.lower.type.scalar) else "zext"
    lo, hi, by = (e.convert(word, v, "i64") for v in (lower, upper, step))
    zero, one = e.index(0), e.index(1)
    before = "slt" if word == "sext" else "ult"
    up = e.compare(before, zero, by)
    span_up, span_down = e.sub(e.sub(hi, lo), one), e.sub(e.sub(lo, hi), one)
    if by.const is not None and by.const > 0:
        count = e.add(e.binary("udiv", span_up, by), one) if by.const > 1 else e.add(span_up, one)
        return e.select(e.compare(before, lo, hi), count, zero)
    size = e.select(up, by, e.sub(zero, by))
    nonzero = e.compare("ne", by, zero)
    k.fault_unless(nonzero, Fault("TRI0807", op.loc))
    divisor = e.select(nonzero, size, one)
    span = e.select(up, span_up, span_down)
    runs = e.select(up, e.compare(before, lo, hi), e.compare(before, hi, lo))
    runs = e.both(runs, nonzero)
    return e.select(runs, e.add(e.binary("udiv", span, divisor), one), zero)


def _while(k: Lowering, op: Any) -> None:
    e = k.e
    carried = Carried(k, op, op.inits)
    mark = k.arena
    phis = e.open_while(carried.values())
    carried.bind(op.cond.args, phis)
    k.region(op.cond)
    e.test(k.env[op.cond.ops[-1].operands[0]])
    carried.bind(op.body.args, phis)
    if op in k.spins:
        k.give_up_waiting()
    k.region(op.body)
    following = carried.following(op.body, op.body.args)
    k.arena = mark
    finals = e.close_while(following)
    carried.results(op.results, finals)


def _reduce(k: Lowering, op: Any) -> None:
    if any(r.uses for r in op.results):
        reduce.reduce(k, op)


def _scan(k: Lowering, op: Any) -> None:
    if any(r.uses for r in op.results):
        reduce.scan(k, op)


def _map(k: Lowering, op: Any) -> None:
    if any(r.uses for r in op.results):
        regions.map_elements(k, op)


HANDLERS: dict[str, Callable[..., None]] = {
    "tile.store": _store,
    "tile.barrier": _nothing,
    "tile.assume": _nothing,
    "tile.grid_dependency": _nothing,
    "tile.assert": _assert,
    "tile.if": _if,
    "tile.for": _for,
    "tile.while": _while,
    "tile.reduce": _reduce,
    "tile.scan": _scan,
    "tile.cat": _cat,
    "tile.histogram": _histogram,
    "tile.map_elementwise": _map,
    "tile.sort": sorting.sort,
    "tile.dot": dot.dot,
    "tile.atomic_rmw": atomics.read_modify_write,
    "tile.atomic_cas": atomics.compare_and_swap,
}

__all__ = ["HANDLERS", "held_as", "one_by_one"]
