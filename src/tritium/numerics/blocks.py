"""Evaluation without warnings and in cache-sized blocks.

A chain of NumPy operations over a large array is bound by memory: every step writes and reads a temporary
as large as the array. The same chain over blocks that stay in the L2 cache runs several times faster, so
the multi-step functions of this package evaluate block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tritium.numerics.formats import Array

P = ParamSpec("P")
R = TypeVar("R")

BLOCK = 16384  # elements; a dozen float64 temporaries of this size fit a 1-2 MiB L2 cache


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` with every NumPy floating-point warning off."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return run


def blockwise(kernel: Callable[..., Any], dtype: Any, *operands: Array) -> Array:
    """Apply an elementwise `kernel` to broadcast `operands`, block by block.

    The kernel gets one-dimensional arrays of equal length (size-1 operands stay size 1) and returns values
    of that length, which are stored as `dtype`. It must not write into its arguments.
    """
    shape = operands[0].shape
    if any(operand.shape != shape for operand in operands):
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    out = np.empty(shape, dtype)
    size = out.size
    flat = [_flat(operand, shape) for operand in operands]
    result = out.reshape(-1)
    if size <= BLOCK:
        if size:
            result[...] = kernel(*flat)
        return out
    for start in range(0, size, BLOCK):
        stop = start + BLOCK
        result[start:stop] = kernel(*(part if part.size == 1 else part[start:stop] for part in flat))
    return out


def _flat(operand: Array, shape: tuple[int, ...]) -> Array:
    if operand.size == 1:
        return operand.reshape(1)
    if operand.shape != shape:
        operand = np.broadcast_to(operand, shape)
    return np.ascontiguousarray(operand).reshape(-1)
