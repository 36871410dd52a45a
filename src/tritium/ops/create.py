"""Values from nothing: constants, program ids, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, int32, tile
from tritium.ops.base import BATCH_AXES, Array, TileOp, attr
from tritium.ops.handles import Tensor
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic
from tritium.ops.storage import constant
from tritium.ops.surface import surface


class Constant(TileOp, name="tile.constant"):
    """The Python number `value` as `type`; of tile type, every element is `value`."""

    value = attr()
    type = attr()

    def infer(self) -> Sequence[Type]:
        return (self.type,)

    def eval(self, *args: Array) -> Array:
        return constant(self.value, self.type)


class ProgramId(TileOp, name="tile.program_id"):
    """Index of this program instance along `axis` (0, 1 or 2) of the grid; int32."""

    axis = attr()

    def infer(self) -> Sequence[Type]:
        return (int32,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.program_id(self.axis)

    @surface("program_id")
    def build(s: Semantic, axis: Any) -> Tensor:
        return s.emit(ProgramId, axis=_axis(s, axis))


class NumPrograms(TileOp, name="tile.num_programs"):
    """Number of program instances along `axis` (0, 1 or 2) of the grid; int32."""

    axis = attr()

    def infer(self) -> Sequence[Type]:
        return (int32,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.num_programs(self.axis)

    @surface("num_programs")
    def build(s: Semantic, axis: Any) -> Tensor:
        return s.emit(NumPrograms, axis=_axis(s, axis))


def _axis(s: Semantic, axis: Any) -> int:
    value = s.const_int(axis, "axis")
    if value not in (0, 1, 2):
        s.fail("TRI0618", function=s.current, axis=value)
    return value


class Arange(TileOp, name="tile.arange"):
    """The integers from `start` up to, not including, `end`, as an int32 tile of any extent."""

    start = attr()
    end = attr()

    def infer(self) -> Sequence[Type]:
        return (tile(int32, (self.end - self.start,)),)

    def eval(self, *args: Array) -> Array:
        return np.arange(self.start, self.end, dtype=np.int32).reshape((1,) * BATCH_AXES + (-1,))

    @surface("arange")
    def build(s: Semantic, start: Any, end: Any) -> Tensor:
        first, last = s.const_int(start, "start of arange"), s.const_int(end, "end of arange")
        if last <= first or not -(2**31) <= first <= last <= 2**31:
            s.fail("TRI0504", start=first, end=last)
        return s.emit(Arange, start=first, end=last)
