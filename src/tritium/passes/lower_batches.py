"""Dots with a batch axis to machine IR: both operands in shared memory as a whole, then one dot after another.

::

    %d = tile.dot(%a, %b, _)                    [B, M, K] by [B, K, N]
    =>
    gpu.shared_store(%as, %a); gpu.shared_store(%bs, %b); gpu.barrier()
    for each matrix i: %d_i = gpu.dot_fma(%as + i, %bs + i); gpu.shared_store(%ds + i, %d_i)
    gpu.barrier()
    %d = gpu.shared_load(%ds)
    gpu.barrier()
"""

from __future__ import annotations

from math import prod

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import DType, float16, float32
from tritium.ops.arithmetic import Add
from tritium.ops.cast import Cast
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import RegisterLayout, layout_of
from tritium.ops.gpu_shared import Barrier, DotFma, SharedAlloc, SharedLoad, SharedStore, SharedView
from tritium.passes.lower_to_machine import SharedSpace


def run(function: Function, space: SharedSpace) -> None:
    """Lower every dot of rank 3 in place."""
    for op in function.find(Dot):
        assert isinstance(op, Dot)
        if len(op.result.type.shape) == 3:
            _dot(op, space)


def _dot(op: Dot, space: SharedSpace) -> None:
    layout = layout_of(op.result)
    assert layout is not None and op.parent is not None
    each = layout.drop(0)
    batch, rows, columns = op.result.type.shape
    depth = op.a.type.shape[2]
    half = op.out is float16
    out = float32 if half else op.out
    # Threads whose coordinates lie outside a matrix read on into what follows it, so the last one needs room behind.
    a_room = (each.axes[0].covered - rows) * depth
    b_room = each.axes[1].covered - columns
    a = _buffer(op, space, "matrices_a", op.a.type.scalar, batch * rows * depth + a_room)
    b = _buffer(op, space, "matrices_b", op.b.type.scalar, batch * depth * columns + b_room)
    c = _buffer(op, space, "products", out, batch * rows * columns)
    builder = Builder(op.parent, op.loc)
    with builder.before(op), builder.at(op.loc):
        for buffer, value in ((a, op.a), (b, op.b)):
            builder.insert(SharedStore(_view(builder, buffer, value.type.shape, 0), value))
        builder.insert(Barrier())
        for i in range(batch):
            x = _view(builder, a, (rows, depth), i * rows * depth)
            y = _view(builder, b, (depth, columns), i * depth * columns)
            made = builder.insert(DotFma(x, y, shape=(rows, columns, depth), out=out))
            made.attrs["layout"] = str(each)
            builder.insert(SharedStore(_view(builder, c, (rows, columns), i * rows * columns), made.result))
        builder.insert(Barrier())
        whole = _view(builder, c, op.result.type.shape, 0)
        loaded = builder.insert(SharedLoad(whole, shape=op.result.type.shape, result_names=(op.result.name,)))
        loaded.attrs["layout"] = str(layout)
        builder.insert(Barrier())
        result = loaded.result
        if op.acc is not None:
            acc = _cast(builder, op.acc, float32, layout) if half else op.acc
            total = builder.insert(Add(acc, result))
            total.attrs["layout"] = str(layout)
            result = total.result
        if half:
            result = _cast(builder, result, float16, layout)
    op.replace_with([result])


def _buffer(op: Op, space: SharedSpace, label: str, element: object, numel: int) -> Value:
    return space.scratch(SharedAlloc(label=label, element=element, shape=(numel,), order=(0,)), op)


def _view(builder: Builder, buffer: Value, shape: tuple[int, ...], offset: int) -> Value:
    assert offset + prod(shape) <= buffer.type.numel
    return builder.insert(SharedView(buffer, shape=shape, offset=offset)).result


def _cast(builder: Builder, value: Value, to: DType, layout: RegisterLayout) -> Value:
    made = builder.insert(Cast(value, to=to))
    made.attrs["layout"] = str(layout)
    return made.result
