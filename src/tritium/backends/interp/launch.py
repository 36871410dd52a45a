"""Running a function over a grid: arguments to memory and values, the grid to batches, batches to the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tritium.backends.interp import scheduler
from tritium.backends.interp.batch import Batch, Extents
from tritium.backends.interp.machine import Interpreter
from tritium.backends.interp.memory import Memory
from tritium.backends.interp.options import Options
from tritium.backends.interp.planes import Plane, PlaneInterpreter
from tritium.backends.interp.program import Program
from tritium.ir.core import Function
from tritium.ir.types import DType, PointerType
from tritium.ops.base import BATCH_AXES, Array
from tritium.ops.storage import constant


def run_grid(
    function: Function | Program,
    grid: tuple[int, int, int],
    args: Sequence[Any],
    *,
    options: Options | None = None,
    planes: Sequence[Plane] = (),
) -> None:
    """Execute `function` for every program instance of `grid` on host memory.

    args: per argument of the function a number (Python or NumPy), or an array as `tritium.runtime.arrays.ArrayView`
    describes it; a pointer may also be a plain byte address, which is then trusted.
    planes: shadow planes that watch the run (see `tritium.backends.interp.planes`).
    Raises InterpreterError and its subclasses, with the kernel's line.
    """
    options = options or Options()
    program = (
        function if isinstance(function, Program) else Program(function, trace_lines=options.trace_lines)
    )
    if 0 in grid:
        return
    names = [a.name or f"argument {i}" for i, a in enumerate(program.function.args)]
    arrays = [(n, a) for n, a in zip(names, args, strict=True) if hasattr(a, "storage_address")]
    memory = Memory(arrays)
    values = [argument_value(v.type, a) for v, a in zip(program.function.args, args, strict=True)]
    machine = (
        PlaneInterpreter(program, memory, options, planes)
        if planes
        else Interpreter(program, memory, options)
    )
    for plane in planes:
        plane.start(machine)
    with np.errstate(all="ignore"):
        if program.spins:
            scheduler.run_fairly(machine, grid, values)
            return
        together = 1 if program.alone else max(1, options.chunk_elements // program.largest)
        for start, stop in boxes(grid, together):
            machine.run(Batch.box(start, stop, grid), values)


def argument_value(ty: Any, arg: Any) -> Array:
    """An argument as the machine holds it: the same for every program instance."""
    shape = (1,) * BATCH_AXES
    if isinstance(ty, PointerType):
        address = arg.address if hasattr(arg, "address") else int(arg)
        return np.full(shape, address - (1 << 64) if address >= 1 << 63 else address, np.int64)
    assert isinstance(ty, DType)
    value = arg.item() if isinstance(arg, np.generic) else arg
    return constant(value, ty)


def boxes(grid: Extents, count: int) -> Iterator[tuple[Extents, Extents]]:
    """Boxes of at most `count` instances (at least one) that cover the grid in order of the program ids."""
    nx, ny, nz = grid
    if count < nx:
        for z in range(nz):
            for y in range(ny):
                for x0, x1 in _parts(nx, count):
                    yield (x0, y, z), (x1, y + 1, z + 1)
    elif count < nx * ny:
        for z in range(nz):
            for y0, y1 in _parts(ny, count // nx):
                yield (0, y0, z), (nx, y1, z + 1)
    else:
        for z0, z1 in _parts(nz, count // (nx * ny)):
            yield (0, 0, z0), (nx, ny, z1)


def _parts(n: int, size: int) -> Iterator[tuple[int, int]]:
    """``range(n)`` in as few parts of at most `size` as possible, of nearly equal length."""
    parts = -(-n // size)
    for i in range(parts):
        yield i * n // parts, (i + 1) * n // parts
