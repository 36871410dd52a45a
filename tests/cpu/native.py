"""Running tile IR natively and on the interpreter, on the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tritium.backends.cpu import launch
from tritium.backends.cpu.module import lower
from tritium.backends.interp import run_grid
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import DType, Type, dtype_named, pointer, tile
from tritium.ops.base import TileOp
from tritium.ops.control import Return
from tritium.ops.create import Arange
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.shape import Broadcast
from tritium.ops.storage import storage_dtype
from tritium.runtime.arrays import view_of

Arrays = Sequence[np.ndarray[Any, Any]]


class Sheet:
    """A kernel under construction, straight-line: `load` and `store` move whole one-dimensional tiles."""

    def __init__(self, extent: int) -> None:
        self.extent = extent
        self.function = Function("sheet")
        self.lanes = self.emit(Arange(start=0, end=extent))

    def emit(self, op: Op) -> Any:
        self.function.body.append(op)
        return op.results[0] if len(op.results) == 1 else op.results

    def argument(self, ty: DType) -> Value:
        return self.function.add_arg(pointer(ty), f"p{len(self.function.args)}")

    def places(self, ty: DType) -> Value:
        spread = self.emit(Broadcast(self.argument(ty), shape=(self.extent,)))
        return self.emit(AddPtr(spread, self.lanes))

    def load(self, ty: DType) -> Value:
        return self.emit(Load(self.places(ty)))

    def store(self, value: Value) -> None:
        scalar = value.type.scalar
        assert isinstance(scalar, DType)
        self.emit(Store(self.places(scalar), value))

    def finish(self) -> Function:
        self.emit(Return())
        return self.function


def elementwise(make: Callable[..., TileOp], types: Sequence[DType], extent: int) -> Function:
    """The kernel that applies one op to `extent` elements of each operand."""
    sheet = Sheet(extent)
    out = sheet.emit(make(*(sheet.load(t) for t in types)))
    for value in out if isinstance(out, list) else [out]:
        sheet.store(value)
    return sheet.finish()


def run_native(
    function: Function, grid: tuple[int, int, int], arguments: Sequence[Any], distinct: bool = True
) -> None:
    """Compile and run; an op without native form is a failure."""
    module = lower(function, None, distinct)
    assert module.reject is None, module.text
    views = [view_of(a) if isinstance(a, np.ndarray) else a for a in arguments]
    launch.load(module, function).launch(grid, views)


def both(
    function: Function, inputs: Arrays, outputs: Sequence[tuple[Type, int]]
) -> tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
    """What one program instance stores natively, and what it stores on the interpreter."""
    results: list[list[np.ndarray[Any, Any]]] = []
    for native in (True, False):
        made = [np.zeros(n, storage_dtype(ty)) for ty, n in outputs]
        arguments = [*inputs, *made]
        if native:
            run_native(
                function, (1, 1, 1), [view(a, t) for a, t in zip(arguments, _types(function), strict=True)]
            )
        else:
            views = [view(a, t) for a, t in zip(arguments, _types(function), strict=True)]
            run_grid(function, (1, 1, 1), views)
        results.append(made)
    return results[0], results[1]


def _types(function: Function) -> list[DType]:
    return [a.type.element_ty for a in function.args]  # type: ignore[union-attr]


def view(array: np.ndarray[Any, Any], ty: DType) -> Any:
    """The array as an argument of element type `ty`, whatever NumPy calls its dtype."""
    made = view_of(array.view(f"u{array.dtype.itemsize}"))
    made.dtype = ty
    return made


@contextmanager
def counting() -> Iterator[Callable[[], tuple[int, int]]]:
    """Counts launches: (native, interpreted) since the start of the block."""
    before = launch.LAUNCHES.copy()

    def so_far() -> tuple[int, int]:
        now = launch.LAUNCHES
        return now["native"] - before["native"], now["interpreted"] - before["interpreted"]

    yield so_far


__all__ = ["Sheet", "both", "counting", "dtype_named", "elementwise", "run_native", "tile", "view"]
