"""Layouts agree: every op finds its operands in the threads and registers where it needs them.

Runs after layouts are assigned and after lowering to machine IR, so that values distributed in different ways never meet
in an op without a conversion. Raises the catalogue error TRI0904.
"""

from __future__ import annotations

from tritium.errors import make_error
from tritium.ir.core import Function, Op, Value
from tritium.ops.base import TileOp
from tritium.ops.gpu_layout import layout_of
from tritium.ops.memory import Store


def run(function: Function, stage: str) -> None:
    """Check every op of `function`."""
    for op in function.walk():
        assert isinstance(op, TileOp)
        for value in op.results:
            if value.type.shape and layout_of(value) is None:
                _fail(op, stage, f"{value!r} has no layout")
        if isinstance(op, Store) and op.ptr.type.shape:
            wanted = layout_of(op.ptr)
            for value in op.operands:
                if layout_of(value) != wanted:
                    _fail(op, stage, f"{value!r} is in {layout_of(value)}, the pointers in {wanted}")
        elif len(op.results) == 1 and op.results[0].type.shape:
            _operands(op, op.results[0], stage)


def _operands(op: TileOp, result: Value, stage: str) -> None:
    layout = layout_of(result)
    assert layout is not None
    for i, value in enumerate(op.operands):
        wanted = op.operand_layout(layout, i) if value.type.shape else None
        if wanted is not None and layout_of(value) != wanted:
            _fail(op, stage, f"operand {value!r} is in {layout_of(value)}, needed is {wanted}")


def _fail(op: Op, stage: str, problem: str) -> None:
    raise make_error("TRI0904", op.loc, stage=stage, problem=f"{op.name}: {problem}")
