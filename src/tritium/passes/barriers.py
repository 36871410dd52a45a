"""Barriers around the buffers that lowerings make in shared memory."""

from __future__ import annotations

from tritium.ir.builder import Builder
from tritium.ir.core import Op
from tritium.ops.control import For, While
from tritium.ops.gpu_shared import Barrier


def release(builder: Builder, op: Op) -> None:
    """A barrier after the last read of a buffer that serves `op` alone, if `op` may run again and write it anew."""
    region = op.parent
    while region is not None:
        holder = region.parent
        if isinstance(holder, (For, While)):
            builder.insert(Barrier())
            return
        region = holder.parent if isinstance(holder, Op) else None
