"""The steps of a scan in which every warp holds chunks of neighbouring elements: runs of registers, side by side in lanes.

::

    %s = gpu.scan_chunks([%x]) {axis = 0, chunk = 4}            every chunk by itself
    gpu.store_totals(%totals, %s) {axis = 0, chunk = 4}         what each chunk comes to
    gpu.barrier()
    %r = gpu.add_carries([%s], [%totals]) {axis = 0, chunk = 4} all chunks before one in front of its elements
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import SharedType, Type
from tritium.ops import combine as tree
from tritium.ops.base import BATCH_AXES, Array, Effect, TileOp, TypeRuleError, attr, operand, region
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout, layout_of, owners
from tritium.ops.gpu_memory import SharedBuffer
from tritium.ops.machine import Machine


def _check_chunk(name: str, dims: Sequence[int], axis: int, chunk: int) -> None:
    if chunk < 1 or dims[axis] % chunk:
        raise TypeRuleError(f"{name}: chunks of {chunk} do not divide axis {axis} of {tuple(dims)}")


class ScanChunks(TileOp, name="gpu.scan_chunks"):
    """`tile.scan` within every run of `chunk` elements along `axis`, which one warp holds.

    >>> %s = gpu.scan_chunks([%x]) {axis = 0, chunk = 4, reverse = false, layout = "128: r4 t32@1 / 32"}
    """

    inputs = operand(variadic=True)
    axis = attr()
    chunk = attr()
    reverse = attr(False)
    combine = region()
    isolated = True

    def infer(self) -> Sequence[Type]:
        dims = tree.check_combine(self.name, self.inputs, self.axis, self.combine)
        _check_chunk(self.name, dims, self.axis, self.chunk)
        return tuple(v.type for v in self.inputs)

    def check(self) -> None:
        tree.check_isolated(self.name, self.combine)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        at, extent = BATCH_AXES + self.axis, self.inputs[0].type.shape[self.axis]
        parts = tree.aligned(args, self.axis, extent)  # type: ignore[arg-type]
        pieces = [
            tree.scan_axis(
                tuple(np.take(x, range(i, i + self.chunk), at) for x in parts),
                at,
                self.combine,
                m.apply_region,
                self.reverse,
            )
            for i in range(0, extent, self.chunk)
        ]
        out = tuple(np.concatenate([p[i] for p in pieces], at) for i in range(len(parts)))
        return out[0] if len(out) == 1 else out

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.scan_chunks(self)


class StoreTotals(TileOp, name="gpu.store_totals"):
    """The last element of every chunk of a chunk-wise scan `x` (the first if `reverse`) into `buffer`.

    `buffer` has the shape of `x` with one place for each chunk along `axis`.

    >>> gpu.store_totals(%totals, %s) {axis = 0, chunk = 4, reverse = false}
    """

    buffer = operand()
    x = operand()
    axis = attr()
    chunk = attr()
    reverse = attr(False)
    effect = Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        _check_chunk(self.name, dims, self.axis, self.chunk)
        wanted = (*dims[: self.axis], dims[self.axis] // self.chunk, *dims[self.axis + 1 :])
        has = self.buffer.type
        if not isinstance(has, SharedType) or has.dims != wanted or has.element != self.x.type.scalar:
            raise TypeRuleError(f"{self.name} needs a buffer of {wanted}, got {has}")
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[0]
        layout = layout_of(self.x)
        assert layout is not None
        at = BATCH_AXES + self.axis
        values = np.broadcast_to(args[1], (*args[1].shape[:BATCH_AXES], *self.x.type.shape))
        picked = np.arange(0 if self.reverse else self.chunk - 1, self.x.type.shape[self.axis], self.chunk)
        totals = np.take(values, picked, at)
        threads = np.take(owners(layout), picked, self.axis)
        places = np.stack(np.meshgrid(*map(np.arange, threads.shape), indexing="ij"), -1).reshape(
            -1, threads.ndim
        )
        buffer.memory.write(self, buffer.addresses(places, 0), threads.reshape(-1), totals.reshape(-1))

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.store_totals(self)


class AddCarries(TileOp, name="gpu.add_carries"):
    """Every element of the chunk-wise scans `parts` with all the totals of chunks before its own in front.

    >>> %r = gpu.add_carries([%s], [%totals]) {axis = 0, chunk = 4, reverse = false, layout = "128: r4 t32@1 / 32"}
    """

    parts = operand(variadic=True)
    totals = operand(variadic=True)
    axis = attr()
    chunk = attr()
    reverse = attr(False)
    combine = region()
    isolated = True
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        dims = tree.check_combine(self.name, self.parts, self.axis, self.combine)
        _check_chunk(self.name, dims, self.axis, self.chunk)
        if len(self.totals) != len(self.parts):
            raise TypeRuleError(
                f"{self.name} needs a buffer of totals for each of its {len(self.parts)} parts"
            )
        return tuple(v.type for v in self.parts)

    def check(self) -> None:
        tree.check_isolated(self.name, self.combine)

    def execute(self, m: Machine, *args: Any) -> Any:
        count = len(self.parts)
        at, extent = BATCH_AXES + self.axis, self.parts[0].type.shape[self.axis]
        parts = [np.array(x) for x in tree.aligned(args[:count], self.axis, extent)]
        parts = [np.broadcast_to(x, (*x.shape[:BATCH_AXES], *self.parts[0].type.shape)).copy() for x in parts]
        totals = [self._totals(b) for b in args[count:]]
        chunks = extent // self.chunk
        order = range(chunks - 1, -1, -1) if self.reverse else range(chunks)
        carry: list[Array] | None = None
        for c in order:
            own = [np.take(t, [c], at) for t in totals]
            if carry is not None:
                inside = (*(slice(None),) * at, slice(c * self.chunk, (c + 1) * self.chunk))
                members = [x[inside] for x in parts]
                spread = [np.broadcast_to(k, x.shape) for k, x in zip(carry, members, strict=True)]
                for x, y in zip(parts, self._combined(m, spread, members), strict=True):
                    x[inside] = y
            carry = own if carry is None else self._combined(m, carry, own)
        return parts[0] if count == 1 else tuple(parts)

    def _combined(self, m: Machine, left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
        out = tree.combiner(self.combine, m.apply_region)(*left, *right)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    def _totals(self, buffer: SharedBuffer) -> Array:
        """All totals; every thread that has elements reads those of its line that come before."""
        layout = layout_of(self.results[0])
        assert layout is not None
        table = layout.table()
        threads = np.broadcast_to(np.arange(layout.threads)[:, None], table.shape[:2])
        inside = (table < np.array(layout.shape)).all(-1)
        at, who = table[inside].copy(), threads[inside]
        chunk = at[:, self.axis] // self.chunk
        for c in range(buffer.type.dims[self.axis]):
            before = chunk < c if self.reverse else chunk > c
            places = at[before].copy()
            places[:, self.axis] = c
            buffer.memory.read(self, buffer.addresses(places, 0), who[before], buffer.dtype)
        every = np.stack(np.meshgrid(*map(np.arange, buffer.type.dims), indexing="ij"), -1)
        raw = buffer.memory.peek(buffer.addresses(every.reshape(-1, every.shape[-1]), 0), buffer.dtype)
        return raw.reshape((1,) * BATCH_AXES + buffer.type.dims)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout if operand < len(self.parts) else None

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.add_carries(self)
