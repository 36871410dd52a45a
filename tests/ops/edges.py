"""Values at the edges of every format, and what the ops under test are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.ir.types import DType
from tritium.numerics.formats import format_of
from tritium.ops.storage import storage_dtype


def edge_values(ty: DType) -> np.ndarray:
    """The edge values of `ty` in its storage: extremes, signed zeros, infinities, NaN, subnormals, ties, all of fp8."""
    fmt = format_of(ty.text)
    if ty.is_int1():
        return np.array([False, True])
    if ty.is_int():
        low, high = ty.get_int_min_value(), ty.get_int_max_value()
        wanted = {
            low,
            low + 1,
            high,
            high - 1,
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            10,
            high // 2,
            high // 3,
            low // 2,
            -1,
            -2,
            -3,
            -7,
        }
        return np.array(sorted(v for v in wanted if low <= v <= high), storage_dtype(ty))
    if fmt.bits == 8:
        return np.arange(256, dtype=np.uint8).view(storage_dtype(ty))
    top, mantissa = fmt.max_finite_bits, 1 << fmt.mantissa_bits
    infinity, one, sign = top + 1, fmt.bias << fmt.mantissa_bits, 1 << (fmt.bits - 1)
    patterns = [0, 1, 2, mantissa - 1, mantissa, mantissa + 1, one - 1, one, one + 1, one + mantissa // 2]
    patterns += [one + mantissa, one + mantissa + mantissa // 2, one + 3 * mantissa, one + 3 * mantissa + 1]
    patterns += [
        one // 2,
        one + (top - one) // 2,
        top - 1,
        top,
        infinity,
        fmt.nan_bits or infinity + mantissa // 2,
    ]
    return np.array([*patterns, *(p | sign for p in patterns)], fmt.pattern).view(storage_dtype(ty))


def pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every element of `x` with every element of `y`."""
    a, b = np.meshgrid(np.arange(x.size), np.arange(y.size), indexing="ij")
    return x[a.ravel()], y[b.ravel()]


def same_bits(have: Any, want: Any) -> bool:
    """Equal to the bit, except that any NaN is any other."""
    a, b = np.ascontiguousarray(have), np.ascontiguousarray(want)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    equal = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{b.dtype.itemsize}")
    with np.errstate(all="ignore"):
        both_nan = (a != a) & (b != b)
    return bool(np.all(equal | both_nan))
