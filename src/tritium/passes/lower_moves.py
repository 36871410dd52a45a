"""Ops that move elements to other places, to machine IR: through shared memory, by coordinates.

The operand is written row-major; then every thread reads, for each element that it holds of the result, the place where
that element comes from::

    %r = tile.flip(%x) {axis = 0}
    =>
    gpu.shared_store(%buffer, %x, _); gpu.barrier()
    %i = 31 - (coordinate along axis 0)
    %r = gpu.shared_gather(%buffer, [%i])
    gpu.barrier()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import DType, Type, int32, tile
from tritium.ops.arithmetic import Add, Mul
from tritium.ops.base import TileOp
from tritium.ops.cast import Cast
from tritium.ops.compare import Less
from tritium.ops.create import Arange, Constant
from tritium.ops.gather import Gather
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout, layout_of
from tritium.ops.gpu_shared import Barrier, SharedAlloc, SharedGather, SharedStore, SharedView
from tritium.ops.index import Extract, Slice
from tritium.ops.join import Cat, Join, Split
from tritium.ops.minmax import Maximum, Minimum
from tritium.ops.reshape import Reshape
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast, ExpandDims, Flip
from tritium.passes.barriers import release
from tritium.passes.lower_to_machine import SharedSpace

Places = Callable[["_Mover"], Sequence[Value]]


def run(function: Function, space: SharedSpace) -> None:
    """Lower every op of this kind in place."""
    for op in list(function.walk()):
        if isinstance(op, Reshape) and op.moved_axes() is None:
            _reshape(op, space)
        elif isinstance(op, Flip):
            extent = op.x.type.shape[op.axis]
            _one(op, op.x, space, lambda m, a=op.axis, n=extent: m.affine({a: (-1, n - 1)}))
        elif isinstance(op, Slice):
            moves = {
                a: (step, start) for a, (start, step) in enumerate(zip(op.starts, op.steps, strict=True))
            }
            _one(op, op.x, space, lambda m, moves=moves: m.affine(moves))
        elif isinstance(op, Gather):
            _one(op, op.src, space, lambda m, op=op: _gathered(m, op))
        elif isinstance(op, Extract):
            _extract(op, space)
        elif isinstance(op, (Join, Cat)):
            _together(op, space)
        elif isinstance(op, Split):
            _split(op, space)


class _Mover:
    """Builds indices in front of an op, in the layout of its result."""

    def __init__(self, op: Op, builder: Builder, shape: tuple[int, ...], layout: RegisterLayout) -> None:
        self.op = op
        self.builder = builder
        self.shape = shape
        self.layout = layout

    def emit(
        self, cls: type[TileOp], *args: Value, layout: RegisterLayout | None = None, **attrs: Any
    ) -> Value:
        made = self.builder.insert(cls(*args, **attrs))
        if made.result.type.shape:
            made.attrs["layout"] = str(layout or self.layout)
        return made.result

    def coordinate(self, axis: int) -> Value:
        """The coordinate along `axis` of every element of the result."""
        rank = len(self.shape)
        layout = RegisterLayout((self.layout.axes[axis],), self.layout.threads)
        value = self.emit(Arange, start=0, end=self.shape[axis], layout=layout)
        for a in range(rank):
            if a != axis:
                layout = layout.insert(a)
                value = self.emit(ExpandDims, value, axis=a, layout=layout)
        return value if value.type.shape == self.shape else self.emit(Broadcast, value, shape=self.shape)

    def number(self, value: int, ty: Type | None = None) -> Value:
        """`value` everywhere."""
        return self.emit(Constant, value=value, type=ty or tile(int32, self.shape))

    def affine(self, moves: dict[int, tuple[int, int]]) -> list[Value]:
        """Coordinates, along the axes of `moves` scaled and shifted."""
        out: list[Value] = []
        for axis in range(len(self.shape)):
            at = self.coordinate(axis)
            scale, start = moves.get(axis, (1, 0))
            at = self.emit(Mul, at, self.number(scale)) if scale != 1 else at
            out.append(self.emit(Add, at, self.number(start)) if start else at)
        return out

    def clamped(self, index: Value, extent: int, wrap: bool) -> Value:
        """`index` of any integer type as an int32 within the axis; negative ones count from the end if `wrap`."""
        ty = index.type
        scalar = ty.scalar
        assert isinstance(scalar, DType)
        top = self.number(min(extent - 1, scalar.get_int_max_value()), ty)
        if scalar.is_int_signed():
            zero = self.number(0, ty)
            if wrap:
                index = self.emit(Maximum, index, self.number(max(-extent, scalar.get_int_min_value()), ty))
                index = self.emit(Minimum, index, top)
                index = self.emit(Cast, index, to=int32)
                shifted = self.emit(Add, index, self.number(extent, index.type))
                return self.emit(Select, self.emit(Less, index, self.number(0, index.type)), shifted, index)
            index = self.emit(Maximum, index, zero)
        index = self.emit(Minimum, index, top)
        return index if scalar is int32 else self.emit(Cast, index, to=int32)

    def spread(self, index: Value) -> Value:
        """A scalar index for every element."""
        return self.emit(Broadcast, index, shape=self.shape)


def _one(op: Op, source: Value, space: SharedSpace, places: Places) -> None:
    """`op` reads its result from `source` at `places`."""
    result = op.results[0]
    layout = layout_of(result)
    assert layout is not None and op.parent is not None
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        buffer = _stored(builder, op, [source], space)
        mover = _Mover(op, builder, result.type.shape, layout)
        made = _read(builder, buffer, places(mover), result.name, layout)
        release(builder, op)
    op.replace_with([made])


def _stored(builder: Builder, op: Op, sources: Sequence[Value], space: SharedSpace) -> Value:
    """A buffer with the sources one after another, seen as the first of them; a barrier behind the writes."""
    element = sources[0].type.scalar
    total = sum(v.type.numel for v in sources)
    whole = SharedAlloc(
        label=f"moved_{sources[0].name}".rstrip("_"), element=element, shape=(total,), order=(0,)
    )
    buffer = space.scratch(whole, op)
    views: list[Value] = []
    at = 0
    for v in sources:
        views.append(builder.insert(SharedView(buffer, shape=v.type.shape, offset=at)).result)
        builder.insert(SharedStore(views[-1], v))
        at += v.type.numel
    builder.insert(Barrier())
    return views[0] if len(views) == 1 else buffer


def _read(
    builder: Builder, buffer: Value, places: Sequence[Value], name: str, layout: RegisterLayout
) -> Value:
    made = builder.insert(SharedGather(buffer, list(places), result_names=(name,)))
    made.attrs["layout"] = str(layout)
    return made.result


def _reshape(op: Reshape, space: SharedSpace) -> None:
    def places(m: _Mover) -> list[Value]:
        return [m.coordinate(a) for a in range(len(m.shape))]

    result = op.result
    layout = layout_of(result)
    assert layout is not None and op.parent is not None
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        buffer = _stored(builder, op, [op.x], space)
        seen = builder.insert(SharedView(buffer, shape=result.type.shape)).result
        made = _read(
            builder, seen, places(_Mover(op, builder, result.type.shape, layout)), result.name, layout
        )
        release(builder, op)
    op.replace_with([made])


def _gathered(m: _Mover, op: Gather) -> list[Value]:
    out = m.affine({})
    out[op.axis] = m.clamped(op.index, op.src.type.shape[op.axis], wrap=False)
    return out


def _extract(op: Extract, space: SharedSpace) -> None:
    """Run-time positions along some axes; a result without axes is read as a tile of one element."""
    shape = op.result.type.shape or (1,)
    threads = layout_of(op.x).threads  # type: ignore[union-attr]
    layout = layout_of(op.result) or RegisterLayout((AxisLayout(1),), threads)
    assert op.parent is not None
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        buffer = _stored(builder, op, [op.x], space)
        m = _Mover(op, builder, shape, layout)
        kept = iter(range(len(op.result.type.shape)))
        places: list[Value] = []
        for axis, extent in enumerate(op.x.type.shape):
            if axis in op.axes:
                index = op.indices[op.axes.index(axis)]
                places.append(m.spread(m.clamped(index, extent, wrap=True)))
            else:
                places.append(m.coordinate(next(kept)))
        made = _read(builder, buffer, places, op.result.name, layout)
        release(builder, op)
        if not op.result.type.shape:
            made = builder.insert(Reshape(made, shape=())).result
    op.replace_with([made])


def _together(op: Join | Cat, space: SharedSpace) -> None:
    """Both operands in one buffer; where an element lies follows from its coordinates."""
    result = op.result
    layout = layout_of(result)
    assert layout is not None and op.parent is not None
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        buffer = _stored(builder, op, [op.a, op.b], space)
        m = _Mover(op, builder, result.type.shape, layout)
        if isinstance(op, Join):
            flat = _flat(m, op.a.type.shape, [m.coordinate(a) for a in range(len(op.a.type.shape))])
            far = m.emit(Mul, m.coordinate(len(m.shape) - 1), m.number(op.a.type.numel))
            place = m.emit(Add, flat, far)
        else:
            place = _concatenated(m, op)
        made = _read(builder, buffer, [place], result.name, layout)
        release(builder, op)
    op.replace_with([made])


def _concatenated(m: _Mover, op: Cat) -> Value:
    coordinates = [m.coordinate(a) for a in range(len(m.shape))]
    first = op.a.type.shape[op.axis]
    inside = m.emit(Less, coordinates[op.axis], m.number(first))
    from_a = _flat(m, op.a.type.shape, coordinates)
    shifted = list(coordinates)
    shifted[op.axis] = m.emit(Add, coordinates[op.axis], m.number(-first))
    from_b = m.emit(Add, _flat(m, op.b.type.shape, shifted), m.number(op.a.type.numel))
    return m.emit(Select, inside, from_a, from_b)


def _flat(m: _Mover, shape: tuple[int, ...], coordinates: Sequence[Value]) -> Value:
    """The row-major position in a tile of `shape`."""
    out: Value | None = None
    for axis, at in enumerate(coordinates):
        stride = prod(shape[axis + 1 :])
        term = m.emit(Mul, at, m.number(stride)) if stride != 1 else at
        out = term if out is None else m.emit(Add, out, term)
    assert out is not None
    return out


def _split(op: Split, space: SharedSpace) -> None:
    """Two reads of one buffer."""
    assert op.parent is not None
    threads = layout_of(op.x).threads  # type: ignore[union-attr]
    builder = Builder(op.parent, op.loc)
    results: list[Value] = []
    with builder.before(op), builder.at(op.loc):
        buffer = _stored(builder, op, [op.x], space)
        for half, r in enumerate(op.results):
            shape = r.type.shape or (1,)
            layout = layout_of(r) or RegisterLayout((AxisLayout(1),), threads)
            m = _Mover(op, builder, shape, layout)
            places = [m.coordinate(a) for a in range(len(r.type.shape))]
            made = _read(builder, buffer, [*places, m.number(half)], r.name, layout)
            results.append(made if r.type.shape else builder.insert(Reshape(made, shape=())).result)
        release(builder, op)
    op.replace_with(results)
