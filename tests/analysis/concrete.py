"""Executing a function one program instance at a time with every value in the open, to compare facts with what happens.

Independent of the interpreter, with which it shares the ops' ``eval``: no batching, Python loops, and loads that give
numbers made from their address, so that any address is fine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType, PointerType
from tritium.ops.base import BATCH_AXES, TileOp
from tritium.ops.control import For, If, While
from tritium.ops.create import NumPrograms, ProgramId
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.polynomial import Axis, Poly, Trip, Unknown
from tritium.ops.storage import storage_dtype

Array = np.ndarray[Any, Any]
Observe = Callable[["Instance", Value, Array], Array]


@dataclass
class Instance:
    """The state of one program instance: current values, trip numbers, what has wrapped, what was stored."""

    pid: tuple[int, int, int]
    grid: tuple[int, int, int]
    values: dict[Value, Array] = field(default_factory=dict)
    trips: dict[Op, int] = field(default_factory=dict)
    wrapped: set[Op] = field(default_factory=set)
    lost: bool = False  # an address left the 64 bits: nothing is claimed of what follows
    stored: list[tuple[int, Any]] = field(default_factory=list)

    def number(self, poly: Poly, shape: tuple[int, ...]) -> Array:
        """A polynomial at every coordinate of a tile, in Python's integers."""
        total = np.zeros(shape, object)
        for monomial, coefficient in poly.terms.items():
            term = np.full(shape, coefficient, object)
            for atom in monomial:
                term = term * self.atom(atom, shape)
            total = total + term
        return total

    def atom(self, atom: Any, shape: tuple[int, ...]) -> Any:
        if isinstance(atom, Trip):
            return self.trips[atom.loop]
        if isinstance(atom, Axis):
            return _coordinates(shape)[atom.axis]
        assert isinstance(atom, Unknown)
        held = self.values[atom.value].astype(object)
        if all(a is None for a in atom.axes):
            return held[(0,) * len(atom.axes)]
        where = _coordinates(shape)
        return held[tuple(np.zeros(shape, int) if a is None else where[a] for a in atom.axes)]


@cache
def _coordinates(shape: tuple[int, ...]) -> Array:
    return np.indices(shape, dtype=int)


class Execution:
    """Runs `function` for one instance.

    observe(instance, value, array)   sees every value as it is computed; what it returns takes its place
    before(instance, op)              is called before each op
    """

    def __init__(
        self,
        function: Function,
        observe: Observe | None = None,
        before: Callable[[Instance, Op], None] | None = None,
    ) -> None:
        self.function = function
        self.observe = observe
        self.before = before

    def run(self, pid: tuple[int, int, int], grid: tuple[int, int, int], args: Sequence[int]) -> Instance:
        here = Instance(pid, grid)
        with np.errstate(all="ignore"):
            given = zip(self.function.args, args, strict=True)
            self._region(here, self.function.body, *(np.array(n, storage_dtype(v.type)) for v, n in given))
        return here

    def _define(self, here: Instance, value: Value, array: Array) -> None:
        array = np.broadcast_to(array, value.type.shape)
        here.values[value] = array if self.observe is None else self.observe(here, value, array)

    def _region(self, here: Instance, region: Region, *args: Array) -> list[Array]:
        for arg, array in zip(region.args, args, strict=True):
            self._define(here, arg, array)
        for op in region.ops:
            assert isinstance(op, TileOp)
            if op.is_terminator:
                return [here.values[v] for v in op.operands]
            for value, array in zip(op.results, self._op(here, op), strict=True):
                self._define(here, value, array)
        return []

    def _op(self, here: Instance, op: TileOp) -> list[Array]:
        given = [here.values[v] for v in op.operands]
        if self.before is not None:
            self.before(here, op)
        if isinstance(op, For):
            return self._for(here, op, given)
        if isinstance(op, While):
            return self._while(here, op, given)
        if isinstance(op, If):
            return self._region(here, op.regions[0 if given[0] else 1])
        if isinstance(op, ProgramId):
            return [np.array(here.pid[op.axis], np.int32)]
        if isinstance(op, NumPrograms):
            return [np.array(here.grid[op.axis], np.int32)]
        if isinstance(op, Load):
            return [self._load(op, here)]
        if isinstance(op, Store):
            return self._store(op, here)
        out = op.eval(*(x.reshape((1,) * BATCH_AXES + x.shape) for x in given))
        arrays = list(out) if isinstance(out, tuple) else [out]
        arrays = [a[(0,) * BATCH_AXES] for a in arrays]
        if isinstance(op, AddPtr):
            size = op.ptr.type.scalar.element_ty.itemsize
            exact = given[0].astype(object) + given[1].astype(object) * size
            here.lost |= bool(np.any(exact != arrays[0].astype(object)))
        elif len(op.results) == 1 and _wraps(op, given, arrays[0]):
            here.wrapped.add(op)
        return arrays

    def _for(self, here: Instance, op: For, given: list[Array]) -> list[Array]:
        carried = given[3:]
        saved = here.trips.get(op)
        for trip, i in enumerate(range(*(int(g) for g in given[:3]))):
            here.trips[op] = trip
            carried = self._region(here, op.body, np.array(i, given[0].dtype), *carried)
        here.trips[op] = saved if saved is not None else 0
        return carried

    def _while(self, here: Instance, op: While, carried: list[Array]) -> list[Array]:
        for trip in range(1000):
            here.trips[op] = trip
            here.values.update(zip(op.body.args, carried, strict=True))  # what facts call the carried values
            if not self._region(here, op.cond, *carried)[0]:
                return carried
            carried = self._region(here, op.body, *carried)
        raise AssertionError("the loop does not end")

    def _load(self, op: Load, here: Instance) -> Array:
        """A number made from each address."""
        addresses = here.values[op.ptr].astype(np.int64)
        scalar = op.results[0].type.scalar
        mixed = (addresses * np.int64(2654435761) >> np.int64(7)) & np.int64(0x7FFFFFFF)
        if isinstance(scalar, PointerType):
            found = mixed
        elif scalar.is_int() and not scalar.is_bool():
            found = (mixed % 41 - 20 if scalar.is_int_signed() else mixed % 41).astype(storage_dtype(scalar))
        else:
            found = (mixed % 2).astype(storage_dtype(scalar))
        if op.mask is None:
            return found
        other = here.values[op.other] if op.other is not None else np.zeros((), found.dtype)
        return np.where(here.values[op.mask], found, other)

    def _store(self, op: Store, here: Instance) -> list[Array]:
        mask = here.values[op.mask] if op.mask is not None else np.array(True)
        pieces = np.broadcast_arrays(here.values[op.ptr], here.values[op.value], mask)
        for address, value, wanted in zip(*(p.reshape(-1) for p in pieces), strict=True):
            if wanted:
                here.stored.append((int(address), value.tobytes()))
        return []


_EXACT: dict[str, Callable[..., Any]] = {
    "tile.add": lambda x, y: x + y,
    "tile.sub": lambda x, y: x - y,
    "tile.mul": lambda x, y: x * y,
    "tile.shl": lambda x, y: x * 2 ** np.clip(y, 0, 128),
    "tile.cast": lambda x: x,
    "tile.idiv": lambda x, y: np.where(
        y == 0, 0, np.abs(x) // np.where(y == 0, 1, np.abs(y)) * np.sign(x) * np.sign(y)
    ),
}


def _wraps(op: Op, given: list[Array], out: Array) -> bool:
    """Whether the result is not the exact one, for the ops that may be listed in ``wraps``."""
    scalar = op.results[0].type.scalar
    if op.name not in _EXACT or not isinstance(scalar, DType) or not scalar.is_int() or scalar.is_bool():
        return False
    if not all(isinstance(v.type.scalar, DType) and v.type.scalar.is_int() for v in op.operands):
        return False
    exact = _EXACT[op.name](*(g.astype(object) for g in given))
    return bool(np.any(exact != out.astype(object)))
