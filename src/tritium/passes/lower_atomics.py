"""Atomic operations whose results are used: one thread per element does them, and the others learn what it found.

The same for volatile loads of a scalar: memory may change between the reads of two threads, and control flow must not.

::

    %old = tile.atomic_rmw(%ptr, %one, _)          a scalar: every thread needs the old value
    =>
    %old = tile.atomic_rmw(%ptr_1, %one_1, _)      on a tile of one element, which thread 0 owns
    gpu.shared_store(%slot, %old, _); gpu.barrier()
    %all = gpu.shared_load(%slot, _)
    gpu.barrier()
"""

from __future__ import annotations

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Value
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.gpu_layout import AxisLayout, RegisterLayout, layout_of
from tritium.ops.gpu_shared import Barrier, SharedLoad, SharedStore
from tritium.ops.memory import Load
from tritium.ops.reshape import Reshape
from tritium.passes.lower_to_machine import SharedSpace

_Access = AtomicRmw | AtomicCas | Load


def run(function: Function, space: SharedSpace) -> None:
    """Lower in place."""
    one = RegisterLayout((AxisLayout(1),), function.attrs["threads"])
    for op in list(function.walk()):
        watched = isinstance(op, Load) and op.volatile and not op.ptr.type.shape
        if not (watched or isinstance(op, (AtomicRmw, AtomicCas))) or not op.results[0].uses:
            continue
        assert isinstance(op, (AtomicRmw, AtomicCas, Load))
        if not op.ptr.type.shape:
            op = _as_tile(op, one)
        layout = layout_of(op.result)
        assert layout is not None
        if layout.replicas:
            _share(op, layout, space)


def _as_tile(op: _Access, layout: RegisterLayout) -> _Access:
    """The same on tiles of one element."""
    builder = Builder(op.parent, op.loc)  # type: ignore[arg-type]
    with builder.before(op), builder.at(op.loc):
        wide: list[Value] = []
        for v in op.operands:
            made = builder.insert(Reshape(v, shape=(1,)))
            made.attrs["layout"] = str(layout)
            wide.append(made.result)
        attrs = {k: v for k, v in op.attrs.items() if k != "order"}
        new = builder.insert(type(op)(*wide, result_names=(op.result.name,), **attrs))
        new.attrs["layout"] = str(layout)
        scalar = builder.insert(Reshape(new.result, shape=()))
    op.replace_with([scalar.result])
    return new


def _share(op: _Access, layout: RegisterLayout, space: SharedSpace) -> None:
    """Through shared memory to all threads that hold the element."""
    buffer = space.alloc(space.policy.conversion("found", op.result.type.scalar, layout, layout), op)  # type: ignore[arg-type]
    assert op.parent is not None
    after = op.parent.ops[op.parent.ops.index(op) + 1]
    builder = Builder(op.parent, op.loc)
    with builder.before(after), builder.at(op.loc):
        builder.insert(Barrier())
        store = builder.insert(SharedStore(buffer, op.result))
        builder.insert(Barrier())
        made = builder.insert(SharedLoad(buffer, shape=op.result.type.shape, result_names=(op.result.name,)))
        made.attrs["layout"] = str(layout)
    op.result.replace_uses_with(made.result)
    store.set_operand(1, op.result)
