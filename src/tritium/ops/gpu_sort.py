"""Machine ops on shared memory for sorting and counting: ranks, scattered writes, counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.core import Value
from tritium.ir.types import (
    DType,
    SharedType,
    Type,
    float32,
    float64,
    int32,
    int64,
    like,
    tile,
    uint32,
    uint64,
)
from tritium.numerics.formats import format_of
from tritium.ops import combine as tree
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout, layout_of, owners
from tritium.ops.gpu_memory import SharedBuffer
from tritium.ops.machine import Machine
from tritium.ops.sort import from_order_keys, order_keys


def _held(value: Value) -> RegisterLayout:
    found = layout_of(value)
    assert found is not None, f"{value!r} has no layout"
    return found


class Rank(TileOp, name="gpu.rank"):
    """For every element of `x` its position when its line along the last axis is sorted; equal ones keep their order.

    `buffer` holds `x` as well, for the threads to compare with.

    >>> %at = gpu.rank(%x, %buffer) {descending = false, layout = "32: t32@1 / 32"} : tile<32xi32>
    """

    x = operand()
    buffer = operand()
    descending = attr(False)
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        has = self.buffer.type
        if (
            not isinstance(has, SharedType)
            or has.dims != self.x.type.shape
            or has.element != self.x.type.scalar
        ):
            raise TypeRuleError(f"{self.name} needs a buffer that holds {self.x.type}, got {has}")
        return (like(self.x.type, int32),)

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[1]
        layout = _held(self.result)
        shape = layout.shape
        table = layout.table()
        threads = np.broadcast_to(np.arange(layout.threads)[:, None], table.shape[:2])
        inside = (table < np.array(shape)).all(-1)
        at, who = table[inside].copy(), threads[inside]
        for i in range(shape[-1]):
            at[:, -1] = i
            buffer.memory.read(self, buffer.addresses(at, 0), who, buffer.dtype)
        form = format_of(buffer.type.element.text)
        keys = order_keys(np.ascontiguousarray(full(args[0], shape)), form)
        line = np.arange(shape[-1])
        order = np.argsort(keys, axis=-1, kind="stable")
        if self.descending:  # the last of equal ones comes first when the order is turned around
            flipped = np.argsort(np.flip(keys, -1), axis=-1, kind="stable")
            order = np.flip(shape[-1] - 1 - flipped, -1)
        ranks = np.empty(keys.shape, np.int32)
        np.put_along_axis(ranks, order, np.broadcast_to(line, keys.shape).astype(np.int32), -1)
        return ranks

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout if operand == 0 else None

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.rank(self)


class TopGroups(TileOp, name="gpu.top_groups"):
    """The first `k` elements in order of every group of `x` along its last axis; element c is in group ``c // low % groups``.

    The results stand one group after another, each `k` long: the largest of its group first if `descending`. Groups of
    fewer elements are filled up with what orders last. The register layout of `x` must have every group within one warp;
    in that of the result, the threads that share a group all hold its result, in `k` registers.

    >>> %t = gpu.top_groups(%x) {k = 2, low = 64, groups = 1, descending = true, layout = "2: r2 / 32"} : tile<2xf32>
    """

    x = operand()
    k = attr()
    low = attr()
    groups = attr()
    descending = attr(False)

    def infer(self) -> Sequence[Type]:
        dims, scalar = self.x.type.shape, self.x.type.scalar
        if not dims or scalar not in TOP_TYPES:
            raise TypeRuleError(f"{self.name} orders 32-bit and 64-bit numbers, got {self.x.type}")
        if self.k < 1 or self.low < 1 or not 1 <= self.groups <= -(-dims[-1] // self.low):
            raise TypeRuleError(
                f"{self.name} has no {self.groups} groups of {self.low} elements of {self.x.type}"
            )
        return (tile(scalar, (*dims[:-1], self.groups * self.k)),)

    def execute(self, m: Machine, *args: Any) -> Any:
        scalar = self.x.type.scalar
        assert isinstance(scalar, DType)
        form = format_of(scalar.text)
        (x,) = tree.aligned(args, len(self.x.type.shape) - 1, self.x.type.shape[-1])
        keys = order_keys(np.ascontiguousarray(x), form)
        group = np.arange(keys.shape[-1]) // self.low % self.groups
        last = order_keys(np.full(1, last_value(scalar, self.descending), x.dtype), form)
        found: list[Array] = []
        for g in range(self.groups):
            mine = np.sort(np.compress(group == g, keys, axis=-1), axis=-1)
            mine = (mine[..., ::-1] if self.descending else mine)[..., : self.k]
            fill = np.broadcast_to(last, (*mine.shape[:-1], self.k - mine.shape[-1]))
            found.append(np.concatenate([mine, fill], -1))
        return from_order_keys(np.concatenate(found, -1), form)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.top_groups(self)


class SortLines(TileOp, name="gpu.sort_lines"):
    """Sorts every line of `buffer` along its last axis in place, `extent` elements of it; further places are overwritten.

    The buffer's last extent is a power of two. The threads of the block take part together: there must be a barrier behind
    what was written before, and what comes after sees the sorted lines.

    >>> gpu.sort_lines(%buffer) {extent = 100, descending = false}
    """

    buffer = operand()
    extent = attr()
    descending = attr(False)
    effect = Effect.READ | Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        has = self.buffer.type
        if (
            not isinstance(has, SharedType)
            or has.padding
            or has.order != tuple(reversed(range(len(has.dims))))
        ):
            raise TypeRuleError(f"{self.name} sorts rows of a packed buffer, got {has}")
        size = has.dims[-1]
        if size & (size - 1) or not 1 <= self.extent <= size:
            raise TypeRuleError(
                f"{self.name} sorts a power of two of places, {self.extent} of them in use, got {has}"
            )
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[0]
        dims = (*buffer.type.dims[:-1], self.extent)
        every = np.stack(np.meshgrid(*map(np.arange, dims), indexing="ij"), -1).reshape(-1, len(dims))
        places = buffer.addresses(every, 0)
        form = format_of(buffer.type.element.text)
        values = np.ascontiguousarray(buffer.memory.peek(places, buffer.dtype)).reshape(dims)
        keys = np.sort(order_keys(values, form), axis=-1)
        keys = keys[..., ::-1] if self.descending else keys
        nobody = np.full(len(places), -3, np.int32)  # between barriers of its own no two threads meet
        buffer.memory.write(
            self, places, nobody, from_order_keys(np.ascontiguousarray(keys), form).reshape(-1)
        )
        buffer.memory.barrier()

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.sort_lines(self)


TOP_TYPES = (float32, float64, int32, uint32, int64, uint64)
"""What `gpu.top_groups` takes: narrower types become these first, as in `tl.topk`."""


def last_value(scalar: DType, descending: bool) -> Any:
    """The value after which none comes in order: of floats -inf, or the NaN with all bits set."""
    if scalar.is_floating():
        wide = scalar is float64
        bits = np.array((1 << (63 if wide else 31)) - 1, np.uint64 if wide else np.uint32)
        return -np.inf if descending else bits.view(np.float64 if wide else np.float32)[()]
    return scalar.get_int_min_value() if descending else scalar.get_int_max_value()


class SharedScatter(TileOp, name="gpu.shared_scatter"):
    """Writes element i of every line of `value` along the last axis to place ``index[i]`` of its line in `buffer`.

    Elements whose place lies outside the buffer are dropped; no two may have one place.

    >>> gpu.shared_scatter(%buffer, %x, %at)
    """

    buffer = operand()
    value = operand()
    index = operand()
    effect = Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        has = self.buffer.type
        ty = self.value.type
        if not isinstance(has, SharedType) or has.dims[:-1] != ty.shape[:-1] or has.element != ty.scalar:
            raise TypeRuleError(f"{self.name} needs a buffer for lines of {ty}, got {has}")
        if self.index.type != like(ty, int32):
            raise TypeRuleError(f"the places of {self.name} are int32, got {self.index.type}")
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer, value, index = args
        layout = _held(self.value)
        values, places = (full(x, layout.shape).reshape(layout.shape) for x in (value, index))
        at = np.stack(np.meshgrid(*map(np.arange, layout.shape), indexing="ij"), -1)
        at[..., -1] = places
        inside = (places >= 0) & (places < buffer.type.dims[-1])
        buffer.memory.write(self, buffer.addresses(at[inside], 0), owners(layout)[inside], values[inside])

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_scatter(self)


class SharedCount(TileOp, name="gpu.shared_count"):
    """Adds one to place ``index[i]`` of `buffer` for every element whose `mask` is true; places outside do not count.

    >>> gpu.shared_count(%bins, %x, %mask)
    """

    buffer = operand()
    index = operand()
    mask = operand(optional=True)
    effect = Effect.READ | Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        has = self.buffer.type
        scalar = self.index.type.scalar
        if not isinstance(has, SharedType) or len(has.dims) != 1 or has.element is not int32:
            raise TypeRuleError(f"{self.name} needs a buffer of int32 counters, got {has}")
        if not isinstance(scalar, DType) or not scalar.is_int():
            raise TypeRuleError(f"{self.name} counts integers, got {self.index.type}")
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[0]
        index = full(args[1], self.index.type.shape).reshape(-1)
        counted = (index >= 0) & (index < buffer.type.dims[0])
        if self.mask is not None:
            counted = counted & full(args[2], self.index.type.shape).reshape(-1)
        bins = buffer.addresses(np.arange(buffer.type.dims[0])[:, None], 0)
        counts = np.bincount(index[counted].astype(np.int64), minlength=buffer.type.dims[0]).astype(np.int32)
        nobody = np.full(len(bins), -3, np.int32)  # atomic operations do not race with each other
        buffer.memory.write(self, bins, nobody, buffer.memory.peek(bins, np.dtype(np.int32)) + counts)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_count(self)
