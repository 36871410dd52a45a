"""Errors of a running kernel: which instance, which lane, which address, which line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.memory import BadAddress, NotWritable, View
from tritium.errors import InterpreterError, TritiumError, make_error
from tritium.ir.core import Op
from tritium.ops.base import BATCH_AXES, Array

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter


def internal_fault(error: Exception, op: Op | None) -> TritiumError:
    """Our own failure while executing `op`, told with the kernel's line."""
    problem = f"{type(error).__name__}: {error}"
    return make_error(
        "TRI0808", op.loc if op is not None else None, op=op.name if op is not None else "?", problem=problem
    )


def report_access(
    m: Interpreter,
    op: Op,
    access: str,
    at: Array,
    mask: Array | None,
    size: int,
    fault: BadAddress | NotWritable,
) -> TritiumError:
    """The error for an access that memory refused."""
    function = m.program.function.name
    if isinstance(fault, NotWritable):
        names = " and ".join(f"`{v.name}`" for v in fault.allocation.views if not v.writable)
        return make_error("TRI0806", op.loc, function=function, name=names)
    shape = np.broadcast_shapes(at.shape, mask.shape if mask is not None else (1,) * at.ndim)
    position, address = first_lane(m, np.broadcast_to(at, shape), mask, size, fault)
    return make_error(
        "TRI0801",
        op.loc,
        access=access,
        function=function,
        got=f"{_lane(m, op, position)}: {_relative(m, address)}",
        program=m.frame.batch.program(position[:BATCH_AXES]),
        lane=position[BATCH_AXES:],
        address=address,
    )


def first_lane(
    m: Interpreter, at: Array, mask: Array | None, size: int, fault: BadAddress
) -> tuple[tuple[int, ...], int]:
    """Position (batch and tile axes) and address of the first live lane, in program order, that is out of bounds."""
    live = np.broadcast_to(True if mask is None else mask, at.shape)
    outside = np.ones(at.shape, np.bool_)
    for allocation in m.memory.allocations:
        outside &= (at < allocation.base) | (at + size > allocation.end)
    outside &= live
    if m.options.raw_access or not outside.any():
        outside = live & (at == fault.address)
    position = first_true(outside)
    return position, int(at[position])


def first_true(x: Array) -> tuple[int, ...]:
    """Position of the first true element of a bool array, in order of program ids, then of lanes."""
    ordered = x.transpose(2, 1, 0, *range(BATCH_AXES, x.ndim))
    found = [int(i) for i in np.unravel_index(int(ordered.argmax()), ordered.shape)]
    return (*reversed(found[:BATCH_AXES]), *found[BATCH_AXES:])


def _lane(m: Interpreter, op: Op, position: tuple[int, ...]) -> str:
    lane = list(position[BATCH_AXES:])
    where = f", element {lane} of the tile" if lane else ""
    return f"{m.frame.batch.label(position[:BATCH_AXES])}{where}"


def _relative(m: Interpreter, address: int) -> str:
    nearest = m.memory.nearest(address)
    if nearest is None:
        return f"address {address:#x}, and the launch passed no array"
    view = nearest[1]
    low, high = view.bounds()
    what = f"`{view.name}`, {_described(view)}"
    if address < low:
        return f"{_distance(low - address, view)} before the start of {what}"
    return f"{_distance(address - high, view)} past the end of {what}"


def _described(view: View) -> str:
    shape: Any = view.shape
    return f"{view.dtype} of shape {shape}"


def _distance(nbytes: int, view: View) -> str:
    if nbytes == 0:
        return "just"
    size = view.dtype.itemsize
    if nbytes % size == 0:
        count = nbytes // size
        return f"{count} element{'s' if count != 1 else ''}"
    return f"{nbytes} bytes"


__all__ = ["InterpreterError", "first_lane", "internal_fault", "report_access"]
