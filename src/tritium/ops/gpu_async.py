"""Machine ops for copies from global to shared memory that run beside the arithmetic: `cp.async` and its groups.

::

    gpu.copy_async(%a, %pointers, %mask, %stage) {across = "...", axis = 1, vector = 8}
    gpu.commit_copies()                                   what was started since the last commit is one group
    gpu.wait_copies() {pending = 1}                       all groups but the newest one have arrived
    gpu.barrier()                                         ... and every thread knows

A copy is complete for the thread that started it when it has waited, for the others after the next barrier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import PointerType, Type, like
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import owners, parse_layout
from tritium.ops.gpu_memory import SharedBuffer
from tritium.ops.gpu_shared import buffer_type, check_fits, check_stage, stage_number
from tritium.ops.machine import Machine
from tritium.ops.memory import check_mask

COPY_BYTES = (4, 8, 16)
"""What one `cp.async` may move (PTX ISA, "cp.async")."""


class CopyAsync(TileOp, name="gpu.copy_async"):
    """Starts to copy the elements at `ptr` into `buffer` at `stage`; zeros arrive where `mask` is false.

    across   register layout: which thread copies what
    axis     along which `vector` neighbours move at once, in `buffer` and in global memory

    The mask is the same for all elements of a vector, and global addresses of vectors are multiples of their size.

    >>> gpu.copy_async(%buffer, %pointers, %mask, %stage) {across = "16: t8@4 r2 | 32: r8 t4@1 / 32", axis = 1, vector = 8}
    """

    buffer = operand()
    ptr = operand()
    mask = operand(optional=True)
    stage = operand(optional=True)
    across = attr()
    axis = attr()
    vector = attr()
    effect = Effect.READ | Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        scalar = self.ptr.type.scalar
        if not isinstance(scalar, PointerType):
            raise TypeRuleError(f"{self.name} needs pointers, got {self.ptr.type}")
        check_fits(self.name, self.buffer, like(self.ptr.type, scalar.element_ty))
        check_mask(self.name, self.ptr.type, self.mask)
        check_stage(self.name, self.stage)
        layout = parse_layout(self.across)
        if layout.shape != self.ptr.type.shape:
            raise TypeRuleError(f"{self.across} is no layout of {self.ptr.type}")
        ty = buffer_type(self.name, self.buffer)
        if self.vector * ty.element.itemsize not in COPY_BYTES or layout.axes[self.axis].vector % self.vector:
            raise TypeRuleError(f"{self.name} cannot move {self.vector} elements of {ty.element} at once")
        if ty.order[0] != self.axis or any(s % self.vector for s in ty.strides if s != 1):
            raise TypeRuleError(f"neighbours along axis {self.axis} are no vectors in {ty}")
        return ()

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer, ptr, *rest = args
        mask = rest.pop(0) if self.mask is not None else None
        stage = stage_number(rest.pop(0)) if self.stage is not None else 0
        scalar = self.ptr.type.scalar
        assert isinstance(scalar, PointerType) and isinstance(buffer, SharedBuffer)
        layout = parse_layout(self.across)
        if mask is not None:
            self._check_uniform(full(mask, layout.shape).reshape(layout.shape))
        values = full(m.load(self, ptr, mask, None, scalar.element_ty), layout.shape)
        at = buffer.addresses(
            np.moveaxis(np.indices(layout.shape), 0, -1).reshape(-1, len(layout.shape)), stage
        )
        buffer.memory.start_copy(self, at, owners(layout).reshape(-1), values.reshape(-1))

    def _check_uniform(self, mask: Array) -> None:
        moved = np.moveaxis(mask, self.axis, -1)
        runs = moved.reshape(*moved.shape[:-1], -1, self.vector)
        if (runs != runs[..., :1]).any():
            raise TypeRuleError(f"the mask of {self.name} differs within a vector")

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.copy_async(self)


class CommitCopies(TileOp, name="gpu.commit_copies"):
    """The copies started since the last commit become one group, also if there are none.

    >>> gpu.commit_copies()
    """

    effect = Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.shared_memory().commit()

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.commit_copies(self)


class WaitCopies(TileOp, name="gpu.wait_copies"):
    """Waits until all groups of copies that this thread has committed, but the newest `pending`, have arrived.

    >>> gpu.wait_copies() {pending = 1}
    """

    pending = attr(0)
    effect = Effect.BARRIER
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.pending < 0:
            raise TypeRuleError(f"{self.name} cannot leave {self.pending} groups pending")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.shared_memory().wait(self.pending)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.wait_copies(self)
