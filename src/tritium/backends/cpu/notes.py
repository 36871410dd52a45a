"""What the record of a compilation says about native code: how each access moves, what is kept in memory, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import access
from tritium.backends.cpu.code import V
from tritium.ir.match import Reject
from tritium.ir.types import DType

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

VECTORS, SCRATCH, REDUCE = "move whole vectors", "keep in scratch memory", "reduce in vectors"
_NO_VECTOR = "its elements move one by one"


def note_access(k: Lowering, op: Any, address: V, kind: str, mask: V | None) -> None:
    """Say once how the lanes of a load or store lie, as the fast version of its loops sees them."""
    if (
        op in k.noted
        or not k.mode.assume_masks
        or not op.ptr.type.shape
        or max(k.mode.lanes, address.lanes) == 1
    ):
        return
    k.noted.add(op)
    size, stride = access.size_of(kind), access.stride_of(address)
    if address.lanes == 1 and op.ptr.type.shape[-1] > 1 and stride == 0:
        k.record.plan(VECTORS, f"one element serves all lanes{_masked(op, mask)}", op)
    elif address.lanes > 1 and stride == size:
        k.record.plan(VECTORS, f"{address.lanes} neighbours at once{_masked(op, mask)}", op)
    elif address.lanes > 1 and stride == -size and mask is None:
        k.record.plan(VECTORS, f"{address.lanes} neighbours at once, turned around", op)
    elif address.lanes > 1:
        where = f"{stride} bytes apart"
        if stride is None:
            where = (
                "at computed addresses" if address.step is None else "as far apart as a run-time stride says"
            )
        hint = "let the last axis of the tile run along the contiguous axis of the array" if stride else ""
        k.record.reject(VECTORS, Reject(f"its lanes are {where}: {_NO_VECTOR}", op.loc, hint))


def _masked(op: Any, mask: V | None) -> str:
    if op.mask is None:
        return ""
    if mask is None:
        return "; where the tile lies within its mask, no mask is tested"
    return "; the mask, which is no comparison of indices with bounds, is tested in every lane"


def note_kept(k: Lowering) -> None:
    """Say which values have memory of their own."""
    for value, why in k.plan.reasons.items():
        op = value.defining_op
        if op is None or value not in k.buffers:
            continue
        ty = value.type.scalar
        size = value.type.numel * (ty.itemsize if isinstance(ty, DType) else 8)
        shape = "x".join(map(str, value.type.shape))
        k.record.plan(SCRATCH, f"{op.name.removeprefix('tile.')} {shape}, {size} bytes: {why}", op)


def note_reduction(k: Lowering, op: Any, how: str, vectors: bool) -> None:
    """Say once how a reduction goes along its axis."""
    if op in k.noted or not k.mode.assume_masks:
        return
    k.noted.add(op)
    if vectors:
        k.record.plan(REDUCE, how, op)
    else:
        k.record.reject(REDUCE, Reject(how, op.loc))
