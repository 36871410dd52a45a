"""Values from nothing: constants, program ids, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, int1, int32, shaped, tile
from tritium.ops import facts as fx
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr
from tritium.ops.control import Poison
from tritium.ops.emit import CudaEmitter
from tritium.ops.facts import Axis, Facts, Poly
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, is_number
from tritium.ops.storage import constant, representable
from tritium.ops.surface import surface


class Constant(TileOp, name="tile.constant"):
    """The Python number `value` as `type`; of tile type, every element is `value`.

    >>> tl.full((2,), 7, tl.int8)
    [7, 7]
    """

    value = attr()
    type = attr()

    def infer(self) -> Sequence[Type]:
        return (self.type,)

    def check(self) -> None:
        scalar, value = self.type.scalar, self.value
        if scalar is int1 or not isinstance(scalar, DType):
            fits = isinstance(value, bool) if scalar is int1 else isinstance(value, int)
        elif scalar.is_int():
            fits = type(value) is int and scalar.get_int_min_value() <= value <= scalar.get_int_max_value()
        else:
            fits = isinstance(value, float)
        if not fits:
            raise TypeRuleError(f"{value!r} is not how a constant of {self.type} is written")

    def eval(self, *args: Array) -> Array:
        return constant(self.value, self.type)

    def facts(self, *operands: Facts) -> Facts | None:
        return None if isinstance(self.value, float) else fx.of_constant(self.value)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.constant(self)


@surface("full")
def full(s: Semantic, shape: Any, value: Any, dtype: Any) -> Tensor:
    """A tile of `shape` and type `dtype` with every element `value`, a number or a tensor of one element.

    An integer wraps to the width of `dtype` as in Triton, so 0xFFFFFFFF fills an int32 tile with -1; a negative one does
    not become unsigned, nor a float an integer. The shape ``()`` gives a 0-d value.

    >>> tl.full((2, 2), 7, tl.int32)
    [[7, 7], [7, 7]]
    """
    dims = _shape(s, shape)
    to = s.dtype_of(dtype)
    if not is_number(value):
        return _filled_with(s, value, to, dims)
    number = unwrap(value)
    if to is int1:
        number = bool(number)
    elif to.is_int():
        lowest, highest = (-(2**63), 2**63 - 1) if to.is_int_signed() else (0, 2**64 - 1)
        if isinstance(number, float) or not lowest <= number <= highest:
            s.fail("TRI0403", value=number, dtype=to)
        number = _wrapped(int(number), to)
    else:
        number = representable(float(number), to)
    return s.emit(Constant, value=number, type=shaped(to, dims))


def _wrapped(number: int, to: DType) -> int:
    bits = to.primitive_bitwidth
    low = number & ((1 << bits) - 1)
    return low - (1 << bits) if low > to.get_int_max_value() else low


def _filled_with(s: Semantic, value: Any, to: DType, dims: tuple[int, ...]) -> Tensor:
    filler = s.to_tensor(value, "the value of tl.full")
    if filler.type.numel != 1:
        s.fail("TRI0609", shape=list(filler.dims), target=list(dims))
    return s.broadcast_to(s.cast(reshape_to(s, filler, ()), to), dims)


def _shape(s: Semantic, shape: Any) -> tuple[int, ...]:
    value = unwrap(shape)
    return () if isinstance(value, (tuple, list)) and not value else s.shape_of(shape, "shape")


@surface("zeros")
def zeros(s: Semantic, shape: Any, dtype: Any) -> Tensor:
    """A tile of `shape` and type `dtype` filled with zero.

    >>> tl.zeros((3,), tl.float32)
    [0.0, 0.0, 0.0]
    """
    return full(s, shape, 0, dtype)


@surface("zeros_like")
def zeros_like(s: Semantic, input: Any) -> Tensor:
    """Zeros of the shape and type of `input`.

    >>> tl.zeros_like(tl.arange(0, 2))
    [0, 0]
    """
    x = s.to_tensor(input)
    return full(s, x.dims, 0, x.dtype)


@surface("empty")
def empty(s: Semantic, shape: Any, dtype: Any) -> Tensor:
    """A tile of `shape` and type `dtype` whose contents are undefined until something else takes its place.

    >>> tl.empty((2, 3), tl.float32).shape
    (2, 3)
    """
    return s.emit(Poison, type=shaped(s.dtype_of(dtype), _shape(s, shape)))


class ProgramId(TileOp, name="tile.program_id"):
    """Index of this program instance along `axis` (0, 1 or 2) of the grid; int32.

    >>> tl.program_id(0)
    0
    """

    axis = attr()

    def infer(self) -> Sequence[Type]:
        return (int32,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.program_id(self.axis)

    def facts(self, *operands: Facts) -> Facts | None:
        return Facts(0, 2**31 - 1)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.grid(self, "blockIdx", self.axis)

    @surface("program_id")
    @staticmethod
    def build(s: Semantic, axis: Any) -> Tensor:
        return s.emit(ProgramId, axis=_axis(s, axis))


class NumPrograms(TileOp, name="tile.num_programs"):
    """Number of program instances along `axis` (0, 1 or 2) of the grid; int32.

    >>> tl.num_programs(0)
    1
    """

    axis = attr()

    def infer(self) -> Sequence[Type]:
        return (int32,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.num_programs(self.axis)

    def facts(self, *operands: Facts) -> Facts | None:
        return Facts(1, 2**31 - 1)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.grid(self, "gridDim", self.axis)

    @surface("num_programs")
    @staticmethod
    def build(s: Semantic, axis: Any) -> Tensor:
        return s.emit(NumPrograms, axis=_axis(s, axis))


def _axis(s: Semantic, axis: Any) -> int:
    value = s.const_int(axis, "axis")
    if value not in (0, 1, 2):
        s.fail("TRI0618", function=s.current, axis=value)
    return value


class Arange(TileOp, name="tile.arange"):
    """The integers from `start` up to, not including, `end`, as an int32 tile of any extent.

    >>> tl.arange(2, 7)
    [2, 3, 4, 5, 6]
    """

    start = attr()
    end = attr()

    def infer(self) -> Sequence[Type]:
        return (tile(int32, (self.end - self.start,)),)

    def eval(self, *args: Array) -> Array:
        return np.arange(self.start, self.end, dtype=np.int32).reshape((1,) * BATCH_AXES + (-1,))

    def facts(self, *operands: Facts) -> Facts | None:
        coordinate = Poly.atom(Axis(0)) + Poly.constant(self.start)
        return Facts(self.start, self.end - 1, poly=coordinate, origin=abs(self.start))

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.arange(self)

    @surface("arange")
    @staticmethod
    def build(s: Semantic, start: Any, end: Any) -> Tensor:
        first, last = s.const_int(start, "start of arange"), s.const_int(end, "end of arange")
        if last <= first or not -(2**31) <= first <= last <= 2**31:
            s.fail("TRI0504", start=first, end=last)
        return s.emit(Arange, start=first, end=last)
