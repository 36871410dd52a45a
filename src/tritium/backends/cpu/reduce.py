"""Reductions and scans.

A commutative operator with a neutral element reduces in vectors along the last axis, in up to four accumulators that are
combined pairwise, then across lanes. So do argmax and argmin, whose result does not depend on the order in which pairs
meet. Any other combine function goes along the axis element by element; where the axis is not the last one, the lanes
are neighbouring results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import formats, nest, notes, pull, regions
from tritium.backends.cpu.code import V, vector_type
from tritium.ir.types import DType
from tritium.ops.base import TileOp
from tritium.ops.combine import single_op
from tritium.ops.extremum import is_extremum

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

ACCUMULATORS = 4


def neutral(op: TileOp | None, ty: DType) -> bool | int | float | None:
    """The element that changes nothing under `op`, as a Python number; None if there is none."""
    if op is None or not op.commutative:
        return None
    floating = ty.is_floating()
    name = op.name
    if name == "tile.add":
        return -0.0 if floating else 0
    if name == "tile.mul":
        return 1.0 if floating else 1
    if name in ("tile.maximum", "tile.minimum"):
        top = name == "tile.minimum"
        if floating:
            if op.attrs["propagate_nan"]:
                return None if ty.is_fp8() else (inf if top else -inf)
            return None if ty.is_fp8() else nan
        return ty.get_int_max_value() if top else ty.get_int_min_value()
    if name == "tile.and":
        return -1 if ty.is_int_signed() else ty.get_int_max_value()
    return 0 if name in ("tile.or", "tile.xor") else None


def reduce(k: Lowering, op: Any) -> None:
    shape, axis = op.inputs[0].type.shape, op.axis
    kept = shape[:axis] + shape[axis + 1 :]
    results = Results(k, op, kept)
    single = single_op(op.combine)
    start = neutral(single, op.inputs[0].type.scalar) if single is not None else None
    last = axis == len(shape) - 1
    inner = [op.inputs[0].type.scalar] if start is not None and last else None

    def write() -> None:
        if inner is not None:
            init = formats.constant(k.e, start, inner[0])  # type: ignore[arg-type]
            lanes, k.mode.lanes = k.mode.lanes, 1
            notes.note_reduction(
                k, op, "along the last axis, in up to four accumulators, then across lanes", True
            )
            one = _extreme_across if _is_plain_extremum(single, inner[0]) else _across
            nest.over(k, kept, lambda at: results.put(at, [one(k, op, at, init, lanes)]))
            k.mode.lanes = lanes
            return
        narrow = last or not regions.is_lanewise(op.combine)
        lanes = k.mode.lanes
        if narrow:
            k.mode.lanes = 1
        any_order = _in_any_order(op, single)
        if not last:
            how = (
                "across rows: lanes are neighbouring results"
                if not narrow
                else "the combine function has loops"
            )
        elif any_order:
            how = "along the last axis, in up to four accumulators, then across lanes"
        else:
            how = "the combine function is not known to give the same in any order: it runs on one element at a time"
        notes.note_reduction(k, op, how, not narrow or any_order)
        if last and lanes > 1 and any_order:
            nest.over(k, kept, lambda at: results.put(at, _groups_across(k, op, at, lanes)))
        else:
            nest.over(k, kept, lambda at: results.put(at, _along(k, op, at)))
        k.mode.lanes = lanes

    nest.versions(k, write)
    results.finish()


def _in_any_order(op: Any, single: TileOp | None) -> bool:
    """Whether the combine function gives the same bits however the elements are grouped."""
    if single is not None:
        return single.name in ("tile.maximum", "tile.minimum")
    what = is_extremum(op.combine)
    return what is not None and what.ties_left


class Results:
    """Where reductions leave what they found: kept tiles, or stack slots that become scalars."""

    def __init__(self, k: Lowering, op: Any, shape: tuple[int, ...]) -> None:
        self.k = k
        self.op = op
        self.shape = shape
        self.slots: list[str] = []
        for r in op.results:
            if shape:
                k.buffers[r] = k.allocate(r.type.scalar, shape)
            else:
                self.slots.append(k.slot(formats.held_as(r.type.scalar)))

    def put(self, at: list[V], values: Sequence[V]) -> None:
        k = self.k
        for i, (r, v) in enumerate(zip(self.op.results, values, strict=True)):
            if self.shape:
                pull.write(k, k.buffers[r], at, v, max(j.lanes for j in at))
            else:
                k.e.line(f"store {k.e.typed(v, 1)}, ptr {self.slots[i]}")

    def finish(self) -> None:
        k = self.k
        for r, slot in zip(self.op.results, self.slots, strict=False):
            kind = formats.held_as(r.type.scalar)
            k.env[r] = k.e.emit(kind, 1, k.e.top, f"load {kind}, ptr {slot}")


def _element(k: Lowering, value: Any, at: list[V]) -> V:
    found = pull.element(k, value, at)
    pull.keep_up(k, at)
    return found


def _at(at: Sequence[V], axis: int, i: V) -> list[V]:
    return [*at[:axis], i, *at[axis:]]


def _is_plain_extremum(op: TileOp | None, ty: DType) -> bool:
    """Whether `op` is a maximum or minimum of fp32 or fp64 that lets NaN lose."""
    if op is None or op.name not in ("tile.maximum", "tile.minimum") or ty.text not in ("f32", "f64"):
        return False
    return not op.attrs["propagate_nan"]


def _extreme_across(k: Lowering, op: Any, at: list[V], init: V, lanes: int) -> V:
    """A maximum (minimum) in one instruction per vector, and again with all rules where that may have been wrong.

    ``select(x > best, x, best)`` never takes a NaN. It does not order zeros by sign, and leaves the start value if
    there are only NaN: both show in the result, which is then 0 or the start value.
    """
    from tritium.backends.cpu.vector_math import rarely

    e = k.e
    single = single_op(op.combine)
    assert single is not None
    top = single.name == "tile.maximum"
    bottom = e.const(-inf if top else inf, init.kind)

    def pick(x: V, y: V) -> V:
        return e.select(e.compare("ogt" if top else "olt", y, x), y, x)

    quick = _across(k, op, at, bottom, lanes, pick)
    zero = e.compare("oeq", quick, e.const(0.0, init.kind))
    doubtful = e.binary("or", zero, e.compare("oeq", quick, bottom))
    return rarely(e, doubtful, quick, lambda: _across(k, op, at, init, lanes))


def _across(k: Lowering, op: Any, at: list[V], init: V, lanes: int, pick: Any = None) -> V:
    """One result of a reduction along the last axis, by the op's own rule or by `pick`, which starts from `init`."""
    e = k.e
    (value,) = op.inputs
    axis = op.axis
    extent = value.type.shape[axis]

    def combine(x: V, y: V) -> V:
        return pick(x, y) if pick is not None else regions.inline(k, op.combine, [x, y])[0]

    partial: list[V] = []
    for start, stop, width in nest.spans(extent, lanes):
        count = (stop - start) // width
        accumulators = min(ACCUMULATORS, count)
        step = width * accumulators
        whole = start + (stop - start) // step * step

        def _started(x: V) -> V:
            return combine(init, x) if pick is not None else x

        vectors = _accumulate(k, value, at, axis, (start, whole, width, accumulators), init, combine)
        if whole - start == step:
            vectors = [_started(x) for x in vectors]
        for rest in range(whole, stop, width):
            vectors.append(_started(_element(k, value, _at(at, axis, _lanes_from(k, e.index(rest), width)))))
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [*(combine(vectors[i], vectors[i + half]) for i in range(half)), *vectors[2 * half :]]
        partial.append(horizontal(k, vectors[0], width, combine))
    total = partial[0]
    for p in partial[1:]:
        total = combine(total, p)
    return total


def _lanes_from(k: Lowering, start: V, width: int) -> V:
    return k.e.affine(start, k.e.index(1), width) if width > 1 else start


def _accumulate(
    k: Lowering, value: Any, at: list[V], axis: int, span: tuple[int, int, int, int], init: V, combine: Any
) -> list[V]:
    e = k.e
    start, stop, width, accumulators = span
    step = width * accumulators

    def elements(base: V) -> list[V]:
        return [
            _element(k, value, _at(at, axis, _lanes_from(k, e.add(base, e.index(i * width)), width)))
            for i in range(accumulators)
        ]

    if stop - start == step:
        return elements(e.index(start))
    wide = V(init.kind, width, init.level, e.text(init, width)) if width > 1 else init
    iv, phis = e.open_loop(e.index(start), e.index(stop), step, [wide] * accumulators)
    new = [combine(p, x) for p, x in zip(phis, elements(iv), strict=True)]
    return e.close_loop(new)


def _groups_across(k: Lowering, op: Any, at: list[V], lanes: int) -> list[V]:
    """One group of results of a reduction along the last axis that may meet its elements in any order."""
    e = k.e
    axis = op.axis

    def elements(first: V, width: int) -> list[V]:
        place = _at(at, axis, _lanes_from(k, first, width))
        return [widened(k, _element(k, v, place), width) for v in op.inputs]

    def combine(x: list[V], y: list[V]) -> list[V]:
        return regions.inline(k, op.combine, [*x, *y])

    total: list[V] | None = None
    for start, stop, width in nest.spans(op.inputs[0].type.shape[axis], lanes):
        count = min(ACCUMULATORS, (stop - start) // width)
        step = count * width
        groups = [elements(e.index(start + i * width), width) for i in range(count)]
        whole = start + (stop - start) // step * step
        if whole - start > step:
            iv, phis = e.open_loop(
                e.index(start + step), e.index(whole), step, [v for g in groups for v in g]
            )
            size = len(op.inputs)
            new: list[V] = []
            for i in range(count):
                out = combine(phis[i * size : (i + 1) * size], elements(e.add(iv, e.index(i * width)), width))
                new += [widened(k, v, width) for v in out]
            flat = e.close_loop(new)
            groups = [flat[i * size : (i + 1) * size] for i in range(count)]
        groups += [elements(e.index(rest), width) for rest in range(whole, stop, width)]
        while len(groups) > 1:
            half = (len(groups) + 1) // 2
            pairs = zip(groups, groups[half:], strict=False)
            groups = [*(combine(x, y) for x, y in pairs), *groups[len(groups) - half : half]]
        group = groups[0]
        while width > 1:
            split = [_halves(k, widened(k, v, width), width) for v in group]
            group = combine([low for low, _ in split], [high for _, high in split])
            width //= 2
        total = group if total is None else combine(total, group)
    assert total is not None
    return total


def _halves(k: Lowering, x: V, width: int) -> tuple[V, V]:
    """The first and the last half of the lanes."""
    e = k.e
    half, ty = width // 2, vector_type(x.kind, width)
    if half == 1:
        low, high = (e.emit(x.kind, 1, x.level, f"extractelement {ty} {x.ssa}, i64 {i}") for i in (0, 1))
        return low, high
    parts: list[V] = []
    for first in (0, half):
        order = ", ".join(f"i32 {first + i}" for i in range(half))
        text = f"shufflevector {ty} {x.ssa}, {ty} poison, <{half} x i32> <{order}>"
        parts.append(e.emit(x.kind, half, x.level, text))
    return parts[0], parts[1]


def horizontal(k: Lowering, x: V, width: int, combine: Any) -> V:
    """All lanes of `x` combined, halves onto each other."""
    while width > 1:
        x = combine(*_halves(k, widened(k, x, width), width))
        width //= 2
    return x


def _along(k: Lowering, op: Any, at: list[V]) -> list[V]:
    """Results of a reduction element by element along the axis, for one place or one vector of places."""
    e = k.e
    axis, extent = op.axis, op.inputs[0].type.shape[op.axis]
    lanes = max((i.lanes for i in at), default=1)
    first = [widened(k, _element(k, v, _at(at, axis, e.index(0))), lanes) for v in op.inputs]
    if extent == 1:
        return first
    iv, phis = e.open_loop(e.index(1), e.index(extent), 1, first)
    new = [_element(k, v, _at(at, axis, iv)) for v in op.inputs]
    out = regions.inline(k, op.combine, [*phis, *new])
    return e.close_loop([widened(k, v, lanes) for v in out])


def widened(k: Lowering, v: V, lanes: int) -> V:
    """`v` with a register of `lanes` lanes, for a phi."""
    if v.lanes == lanes and v.ssa is not None:
        return v
    return V(v.kind, lanes, v.level, k.e.text(v, lanes))


def scan(k: Lowering, op: Any) -> None:
    shape, axis = op.inputs[0].type.shape, op.axis
    others = shape[:axis] + shape[axis + 1 :]
    for r in op.results:
        k.buffers[r] = k.allocate(r.type.scalar, shape)
    narrow = axis == len(shape) - 1 or not regions.is_lanewise(op.combine)

    def write() -> None:
        lanes = k.mode.lanes
        if narrow:
            k.mode.lanes = 1
        nest.over(k, others, lambda at: _scan_along(k, op, at))
        k.mode.lanes = lanes

    nest.versions(k, write)


def _scan_along(k: Lowering, op: Any, at: list[V]) -> None:
    e = k.e
    axis, extent = op.axis, op.inputs[0].type.shape[op.axis]
    lanes = max((i.lanes for i in at), default=1)

    def place(i: V) -> list[V]:
        return _at(at, axis, e.sub(e.index(extent - 1), i) if op.reverse else i)

    def put(i: V, values: Sequence[V]) -> None:
        for r, v in zip(op.results, values, strict=True):
            pull.write(k, k.buffers[r], place(i), v, lanes)

    zero = e.index(0)
    first = [widened(k, pull.element(k, v, place(zero)), lanes) for v in op.inputs]
    put(zero, first)
    if extent == 1:
        return
    iv, phis = e.open_loop(e.index(1), e.index(extent), 1, first)
    new = [pull.element(k, v, place(iv)) for v in op.inputs]
    out = [widened(k, v, lanes) for v in regions.inline(k, op.combine, [*phis, *new])]
    put(iv, out)
    e.close_loop(out)
