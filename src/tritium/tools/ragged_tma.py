"""``triton.tools.ragged_tma``: tensor descriptors of arrays whose rows form batches of different sizes.

A ragged descriptor sees an array with two more axes in front, whose strides cancel each other modulo 2**64. A batch
that starts at row `start` and has `size` rows is then addressed so that its last row is the last one that the bounds
check of the ragged axis lets through: reads past its end give zero and writes are dropped, without touching the next
batch.

    axis        extent     stride              index of row r of the batch
    0           huge       2**34 - row         2**30
    1           huge       row                 start + size
    ragged      2**30      row                 2**30 - size + r

    2**30 * (2**34 - row) + (start + size) * row + (2**30 - size + r) * row  =  2**64 + (start + r) * row
"""

# Kernels: lists are joined with +, and compile-time values have operators that type checkers do not know.
# ruff: noqa: RUF005
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tritium.language as tl
from tritium.runtime.arrays import view_of
from tritium.runtime.descriptors import TensorDescriptor
from tritium.runtime.jit import jit

_ROWS = 2**30
_HUGE = 2**31 - 2**16
_WRAP = 2**34


def create_ragged_descriptor(T: Any, block_shape: Sequence[int], ragged_dim: int = 0) -> TensorDescriptor:
    """The ragged descriptor of a 2- or 3-D array, batches along `ragged_dim`, which is not the last axis."""
    view = view_of(T, "T")
    rank = len(view.shape)
    ragged_dim += rank if ragged_dim < 0 else 0
    if not 2 <= rank <= 3:
        raise ValueError(f"a ragged descriptor is of a 2- or 3-D array, not {rank}-D")
    if not 0 <= ragged_dim < rank - 1:
        raise ValueError("the last axis cannot be ragged")
    if len(block_shape) != rank:
        raise ValueError(f"block_shape has {len(block_shape)} extents, and the array {rank} axes")
    if view.shape[ragged_dim] > _ROWS:
        raise ValueError(f"the ragged axis has {view.shape[ragged_dim]} rows; at most 2**30 are possible")
    row = view.strides[ragged_dim]
    shape = [*view.shape]
    shape[ragged_dim] = _ROWS
    return TensorDescriptor(
        T, [_HUGE, _HUGE, *shape], [_WRAP - row, row, *view.strides], [1, 1, *block_shape]
    )


@jit
def to_ragged_indices(batch_offset, batch_size, row):  # type: ignore[no-untyped-def]
    """The indices of row `row` of a batch on the two axes in front and on the ragged one."""
    return 1073741824, batch_offset + batch_size, 1073741824 - batch_size + row


@jit
def load_ragged(TMA, batch_offset, batch_size, coords, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """A block at `coords` of the batch of `batch_size` rows that starts at row `batch_offset`; zero past its end."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "the descriptor is not a ragged one")
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = TMA.load([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :])
    return tl.reshape(data, data.shape[2:])


@jit
def store_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """Store a block at `coords` of a batch; what lies past its end is dropped."""
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.store([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], data)


@jit
def atomic_add_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """Add a block to memory at `coords` of a batch; what lies past its end is dropped."""
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.atomic_add([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], data)
