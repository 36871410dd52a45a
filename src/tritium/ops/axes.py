"""Arguments that name axes and shapes, as surfaces take them: ``axis=-1``, ``*shape`` as a tuple or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic


def axis_of(s: Semantic, axis: Any, rank: int, function: str) -> int:
    """`axis` as a number from 0 to `rank` - 1; negative ones count from the end."""
    value = s.const_int(axis, f"the axis of {function}")
    if not -rank <= value < rank:
        s.fail("TRI0602", function=f"tl.{function}", axis=value, rank=rank)
    return value % rank


def sequence_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments given one by one or as one tuple: ``f(x, 4, 8)`` and ``f(x, (4, 8))``."""
    if len(values) == 1:
        only = unwrap(values[0])
        if isinstance(only, (tuple, list)):
            return tuple(only)
    return tuple(values)


def reshaped(s: Semantic, shape: Sequence[Any], x: Tensor) -> tuple[int, ...]:
    """The target of a reshape of `x`; one extent may be -1, which stands for what is left."""
    dims = [s.const_int(d, "every extent of a shape") for d in sequence_of(shape)]
    numel = x.type.numel
    if dims.count(-1) == 1:
        known = prod(d for d in dims if d != -1)
        if known > 0 and numel % known == 0:
            dims[dims.index(-1)] = numel // known
        elif known > 0:
            multiple = f"a multiple of {known}"
            s.fail("TRI0608", shape=list(x.dims), numel=numel, target=dims, target_numel=multiple)
    for d in dims:
        if d < 1:
            s.fail("TRI0506", got=d)
    if prod(dims) != numel:
        s.fail("TRI0608", shape=list(x.dims), numel=numel, target=dims, target_numel=prod(dims))
    return tuple(dims)
