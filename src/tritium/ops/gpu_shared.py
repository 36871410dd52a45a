"""Machine ops on shared memory: buffers, copies, barriers, and the dot of rungs 1 to 4 of the ladder.

They work on whole tiles, as the language's ops do; which thread touches which element follows from the register layouts
(`tritium.ops.gpu_layout`). `execute` does the same on bytes with a race check (`tritium.ops.gpu_memory`), and the CUDA
backend only spells the op.

::

    %a = gpu.shared_alloc() {label = "shared_a", element = !f32, shape = (16, 8), order = (1, 0), ...} : shared<...>
    gpu.copy_to_shared(%a, %ptrs, %mask, %other, %stage)         each thread its registers of the tile, zero fill
    gpu.barrier()
    %d = gpu.dot_fma(%a, %b, _, %stage) {shape = (16, 16, 8), ...} : tile<16x16xf32>
    gpu.barrier()
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tritium.ir.core import Value
from tritium.ir.types import PointerType, SharedType, Type, int32, like, tile
from tritium.numerics.dot import dot as matrix_product
from tritium.ops.base import BATCH_AXES, Array, Effect, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout, layout_of, owners, parse_layout
from tritium.ops.gpu_memory import SharedBuffer
from tritium.ops.machine import Machine
from tritium.ops.memory import check_mask

ALIGNMENT = 16


class ConvertLayout(TileOp, name="gpu.convert_layout"):
    """`x` in another register layout; the elements stay what they are.

    >>> %offs_1 = gpu.convert_layout(%offs) {layout = "16: t16@1 / 32"} : tile<16xi32>
    """

    x = operand()

    def infer(self) -> Sequence[Type]:
        return (self.x.type,)

    def eval(self, *args: Array) -> Array:
        return args[0]


class SharedAlloc(TileOp, name="gpu.shared_alloc"):
    """A buffer in shared memory, at kernel scope: see `SharedType` for `order`, `padding` and `stages`.

    offset   byte where it begins, or None for a place of its own

    >>> %a = gpu.shared_alloc() {label = "a", element = !f32, shape = (4, 8), order = (1, 0), padding = 1, stages = 2}
    """

    label = attr("buffer")
    element = attr()
    shape = attr()
    order = attr((1, 0))
    padding = attr(0)
    stages = attr(1)
    swizzle = attr(())
    offset = attr(None)
    effect = Effect.VOLATILE

    def infer(self) -> Sequence[Type]:
        if sorted(self.order) != list(range(len(self.shape))):
            raise TypeRuleError(f"{self.order} is no order of the axes of {self.shape}")
        if self.padding < 0 or self.stages < 1:
            raise TypeRuleError(
                f"a shared buffer cannot have padding {self.padding} and {self.stages} stages"
            )
        swizzle = tuple(self.swizzle)
        if swizzle and (len(swizzle) != 3 or self.element.itemsize > 1 << swizzle[1]):
            raise TypeRuleError(f"a shared buffer of {self.element} cannot be swizzled by {swizzle}")
        made = SharedType(
            self.element, tuple(self.shape), tuple(self.order), self.padding, self.stages, swizzle
        )
        return (made,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        memory = m.shared_memory()
        base = -(-memory.size // ALIGNMENT) * ALIGNMENT if self.offset is None else self.offset
        ty = self.result.type
        assert isinstance(ty, SharedType)
        return SharedBuffer(memory, base, ty)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_alloc(self)


def buffer_type(name: str, value: Value) -> SharedType:
    """The type of the shared buffer that op `name` is given. TypeRuleError for another value."""
    if not isinstance(value.type, SharedType):
        raise TypeRuleError(f"{name} needs a shared buffer, got {value.type}")
    return value.type


def check_fits(name: str, buffer: Value, ty: Type) -> None:
    """TypeRuleError unless a tile of `ty` has room in `buffer`. It may be smaller: threads may overhang."""
    has = buffer_type(name, buffer)
    inside = len(has.dims) == len(ty.shape) and all(n <= d for n, d in zip(ty.shape, has.dims, strict=True))
    if not inside or has.element != ty.scalar:
        raise TypeRuleError(f"{name}: a tile of {ty} does not fit into {has}")


def check_stage(name: str, stage: Value | None) -> None:
    """TypeRuleError unless `stage` is left out or an i32 scalar."""
    if stage is not None and stage.type is not int32:
        raise TypeRuleError(f"the stage of {name} is a 0-d i32, got {stage.type}")


def stage_number(value: Array | None) -> int:
    """The stage that an operand names; 0 if it is left out."""
    return 0 if value is None else int(value.reshape(-1)[0])


def _grid(shape: Sequence[int]) -> Array:
    """All coordinates of a tile, [element, axis]."""
    return np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, len(shape))


def _layout(op: TileOp, value: Value) -> RegisterLayout:
    found = layout_of(value)
    if found is None:
        raise TypeRuleError(f"{op.name} needs to know which threads hold {value!r}")
    return found


def _write(op: TileOp, buffer: SharedBuffer, tile_value: Array, layout: RegisterLayout, stage: int) -> None:
    """The elements of a tile by the threads that own them."""
    values = full(tile_value, layout.shape).reshape(-1).view()
    at = buffer.addresses(_grid(layout.shape), stage)
    buffer.memory.write(op, at, owners(layout).reshape(-1), values)


def _read(op: TileOp, buffer: SharedBuffer, layout: RegisterLayout, stage: int) -> Array:
    """The tile, read by every thread that holds an element of it."""
    table = layout.table()
    threads = np.broadcast_to(np.arange(layout.threads)[:, None], table.shape[:2])
    inside = (table < np.array(layout.shape)).all(-1)
    coordinates = table[inside]
    values = buffer.memory.read(op, buffer.addresses(coordinates, stage), threads[inside], buffer.dtype)
    out = np.zeros(layout.shape, buffer.dtype)
    out[tuple(coordinates.T)] = values
    return out.reshape((1,) * BATCH_AXES + layout.shape)


class SharedStore(TileOp, name="gpu.shared_store"):
    """Writes the tile `value` into `buffer` at `stage`; of threads that hold the same element one writes.

    >>> gpu.shared_store(%buffer, %value, %stage)
    """

    buffer = operand()
    value = operand()
    stage = operand(optional=True)
    effect = Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        check_fits(self.name, self.buffer, self.value.type)
        check_stage(self.name, self.stage)
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        stage = stage_number(args[2]) if self.stage is not None else 0
        _write(self, args[0], args[1], _layout(self, self.value), stage)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_store(self)


class SharedLoad(TileOp, name="gpu.shared_load"):
    """The tile of `shape` in `buffer` at `stage`, in the layout of the result. `order` permutes: axis i of the result is
    axis ``order[i]`` of the buffer.

    >>> %x = gpu.shared_load(%buffer, _) {shape = (4, 8), layout = "4: r4 | 8: t8@1 / 8"} : tile<4x8xf32>
    """

    buffer = operand()
    stage = operand(optional=True)
    shape = attr()
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        ty = tile(buffer_type(self.name, self.buffer).element, tuple(self.shape))
        check_fits(self.name, self.buffer, ty)
        check_stage(self.name, self.stage)
        return (ty,)

    def execute(self, m: Machine, *args: Any) -> Any:
        stage = stage_number(args[1]) if self.stage is not None else 0
        return _read(self, args[0], _layout(self, self.result), stage)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_load(self)


class SharedView(TileOp, name="gpu.shared_view"):
    """The memory of `buffer` from element `offset` on, row-major as a tile of `shape`. The buffer has no padding.

    >>> %row = gpu.shared_view(%buffer) {offset = 8, shape = (2, 4)} : shared<2x4xf32, order 1 0, pad 0, stages 1>
    """

    buffer = operand()
    shape = attr()
    offset = attr(0)

    def infer(self) -> Sequence[Type]:
        has = buffer_type(self.name, self.buffer)
        plain = not has.padding and not has.swizzle and has.stages == 1
        if not plain or self.offset < 0 or self.offset + prod(self.shape) > has.numel:
            raise TypeRuleError(f"{self.name} cannot see {self.shape} from element {self.offset} of {has}")
        return (SharedType(has.element, tuple(self.shape), tuple(reversed(range(len(self.shape))))),)

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[0]
        ty = self.result.type
        assert isinstance(ty, SharedType)
        return SharedBuffer(buffer.memory, buffer.base + self.offset * buffer.dtype.itemsize, ty)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_view(self)


class SharedGather(TileOp, name="gpu.shared_gather"):
    """Element (i, j, ...) of the result is element (indices[0][i, j, ...], indices[1][...], ...) of `buffer`.

    One int32 tile of indices for each axis of the buffer, all within its extents.

    >>> %x = gpu.shared_gather(%buffer, [%rows, %cols]) {layout = "4: r4 | 8: t8@1 / 8"} : tile<4x8xf32>
    """

    buffer = operand()
    indices = operand(variadic=True)
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        has = buffer_type(self.name, self.buffer)
        shapes = {v.type.shape for v in self.indices}
        if (
            len(self.indices) != len(has.dims)
            or len(shapes) != 1
            or any(v.type.scalar is not int32 for v in self.indices)
        ):
            raise TypeRuleError(f"{self.name} needs an int32 tile of one shape for each axis of {has}")
        return (tile(has.element, self.indices[0].type.shape),)

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer, *indices = args
        layout = _layout(self, self.result)
        places = np.stack([full(x, layout.shape).reshape(layout.shape) for x in indices], -1)
        table = layout.table()
        threads = np.broadcast_to(np.arange(layout.threads)[:, None], table.shape[:2])
        inside = (table < np.array(layout.shape)).all(-1)
        coordinates = tuple(table[inside].T)
        at = buffer.addresses(places[coordinates].astype(np.int64), 0)
        out = np.zeros(layout.shape, buffer.dtype)
        out[coordinates] = buffer.memory.read(self, at, threads[inside], buffer.dtype)
        return out.reshape((1,) * BATCH_AXES + layout.shape)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout if operand else None

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.shared_gather(self)


class CopyToShared(TileOp, name="gpu.copy_to_shared"):
    """A load whose elements go straight into `buffer`: `other` (zero if there is none) where `mask` is false.

    All threads of the block copy together, each the elements that ``across`` (a register layout) gives it.

    >>> gpu.copy_to_shared(%buffer, %pointers, %mask, _, %stage) {across = "16: t4@8 r4 | 8: t8@1 / 32"}
    """

    buffer = operand()
    ptr = operand()
    mask = operand(optional=True)
    other = operand(optional=True)
    stage = operand(optional=True)
    across = attr()
    cache = attr("")
    eviction = attr("")
    volatile = attr(False)
    effect = Effect.READ | Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        scalar = self.ptr.type.scalar
        if not isinstance(scalar, PointerType):
            raise TypeRuleError(f"{self.name} needs pointers, got {self.ptr.type}")
        loaded = like(self.ptr.type, scalar.element_ty)
        check_fits(self.name, self.buffer, loaded)
        check_mask(self.name, self.ptr.type, self.mask)
        if self.other is not None and self.other.type != loaded:
            raise TypeRuleError(f"other has type {self.other.type}, the copy moves {loaded}")
        check_stage(self.name, self.stage)
        if parse_layout(self.across).shape != self.ptr.type.shape:
            raise TypeRuleError(f"{self.across} is no layout of {self.ptr.type}")
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer, ptr, *rest = args
        mask = rest.pop(0) if self.mask is not None else None
        other = rest.pop(0) if self.other is not None else None
        stage = stage_number(rest.pop(0)) if self.stage is not None else 0
        scalar = self.ptr.type.scalar
        assert isinstance(scalar, PointerType)
        values = m.load(self, ptr, mask, other, scalar.element_ty)
        _write(self, buffer, values, parse_layout(self.across), stage)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.copy_to_shared(self)


class Barrier(TileOp, name="gpu.barrier"):
    """All threads of the block wait for each other; what one wrote before, the others see after.

    >>> gpu.barrier()
    """

    effect = Effect.BARRIER
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.barrier(self)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.barrier(self)


class DotFma(TileOp, name="gpu.dot_fma"):
    """``a @ b`` or ``acc + a @ b`` by fused multiply-adds on CUDA cores, operands from shared memory at `stage`.

    shape       (M, N, K)
    precision   as for `tile.dot`; here always computed in full precision

    Every thread computes the elements that the layout of the result gives it; with `acc` each sum starts from there.

    >>> %d = gpu.dot_fma(%a, %b, %acc, %stage) {shape = (16, 16, 8), out = !f32, layout = "..."} : tile<16x16xf32>
    """

    a = operand()
    b = operand()
    acc = operand(optional=True)
    stage = operand(optional=True)
    shape = attr()
    out = attr()
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        m, n, k = self.shape
        a, b = buffer_type(self.name, self.a), buffer_type(self.name, self.b)
        if a.dims[0] < m or a.dims[1] != k or b.dims[0] != k or b.dims[1] < n:
            raise TypeRuleError(f"{self.name} of {self.shape} cannot multiply {a} by {b}")
        result = tile(self.out, (m, n))
        if self.acc is not None and self.acc.type != result:
            raise TypeRuleError(f"the accumulator of {self.name} is {self.acc.type}, the result {result}")
        check_stage(self.name, self.stage)
        return (result,)

    def execute(self, m: Machine, *args: Any) -> Any:
        a, b, *rest = args
        acc = rest.pop(0) if self.acc is not None else None
        stage = stage_number(rest.pop(0)) if self.stage is not None else 0
        layout = _layout(self, self.result)
        rows, columns, depth = self.shape
        left = self._operand(a, layout, 0, rows, depth, stage)
        right = self._operand(b, layout, 1, columns, depth, stage)
        kinds = (a.type.element.text, b.type.element.text, self.out.text)
        start = full(acc, (rows, columns)) if acc is not None else None
        shape = (1,) * BATCH_AXES
        return matrix_product(
            left.reshape(*shape, rows, depth), right.reshape(*shape, depth, columns), *kinds, "ieee", start
        )

    def _operand(
        self, buffer: SharedBuffer, layout: RegisterLayout, axis: int, extent: int, depth: int, stage: int
    ) -> Array:
        """Operand `axis`: the lines that each thread's results need, all of them read by that thread."""
        lines = layout.table()[:, :, axis]
        threads = np.broadcast_to(np.arange(layout.threads)[:, None], lines.shape)
        pairs = np.unique(np.stack([threads[lines < extent], lines[lines < extent]], -1), axis=0)
        at = np.zeros((len(pairs), depth, 2), np.int64)
        at[:, :, axis] = pairs[:, 1:2]
        at[:, :, 1 - axis] = np.arange(depth)
        reads = np.repeat(pairs[:, 0], depth)
        values = buffer.memory.read(
            self, buffer.addresses(at.reshape(-1, 2), stage), reads, buffer.dtype
        ).reshape(len(pairs), depth)
        out = np.zeros((extent, depth), buffer.dtype)
        out[pairs[:, 1]] = values
        return out if axis == 0 else np.ascontiguousarray(out.T)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.dot_fma(self)
