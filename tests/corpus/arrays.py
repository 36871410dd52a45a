"""NumPy arrays for corpus cases: any strides, guarded storage, poisoned outputs, awkward values.

Every array is a view into a larger storage filled with poison, so that a store outside the view, and an
element of an output that nobody wrote, are both visible afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
"""Short names used in case names, to the array type that carries them."""

GUARD_BYTES = 64
"""Poison before and after every view; a multiple of every alignment that a backend asks about."""

_NAN_POISON: dict[str, int] = {
    "f16": 0x7E5A,
    "bf16": 0x7FDA,
    "f32": 0x7FDA5A5A,
    "f64": 0x7FFA5A5A5A5A5A5A,
}


def short_name(dtype: Any) -> str:
    """The short name of a dtype, such as ``"bf16"``."""
    wanted = np.dtype(dtype)
    return next(name for name, dtype in DTYPES.items() if dtype == wanted)


def is_float(dtype: Any) -> bool:
    """True for the IEEE types and for the bf16 and fp8 types of ml_dtypes."""
    return short_name(dtype) in ("f16", "bf16", "f32", "f64", "e4m3", "e5m2")


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bit patterns of an array, as unsigned integers of the same width and shape (a copy)."""
    unsigned = np.dtype(f"u{array.dtype.itemsize}")
    return np.ascontiguousarray(array).view(unsigned).reshape(array.shape)


def poison_bits(dtype: Any) -> int:
    """The bit pattern of an element that nobody wrote: a NaN with a 5A payload, else 5A in every byte.

    The 8-bit floats have no NaN to spare, so their poison is the finite 0x5A like that of integers and bools.
    """
    width = np.dtype(dtype).itemsize
    return _NAN_POISON.get(short_name(dtype), int.from_bytes(b"\x5a" * width, "little"))


def _contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return tuple(strides)


def poisoned(
    shape: int | Sequence[int], dtype: Any, strides: Sequence[int] | None = None, offset: int = 0
) -> np.ndarray:
    """An array full of poison inside a guarded storage.

    ``strides`` are in elements, may be zero or negative, and default to row-major; ``offset`` shifts the
    first element by that many elements from a 64-byte boundary (a pointer that is not aligned).
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = np.dtype(dtype)
    steps = _contiguous_strides(shape) if strides is None else tuple(strides)
    reach = [step * (extent - 1) for step, extent in zip(steps, shape, strict=True)]
    lowest = sum(min(0, r) for r in reach)
    count = sum(max(0, r) for r in reach) - lowest + 1
    body = (count + abs(offset)) * dtype.itemsize
    raw = np.empty(2 * GUARD_BYTES + body + 128, np.uint8)
    start = -raw.ctypes.data % 64
    storage = raw[start : start + 2 * GUARD_BYTES + body + (-body % 64)]
    storage.view(np.dtype(f"u{dtype.itemsize}"))[...] = poison_bits(dtype)
    first = GUARD_BYTES + (offset - lowest) * dtype.itemsize
    return np.ndarray(shape, dtype, storage, first, tuple(s * dtype.itemsize for s in steps))


def placed(values: Any, strides: Sequence[int] | None = None, offset: int = 0) -> np.ndarray:
    """A copy of ``values`` in a guarded storage with the given element strides.

    An axis of stride zero holds its last row everywhere, so pass values that repeat along it.
    """
    values = np.asarray(values)
    out = poisoned(values.shape, values.dtype, strides, offset)
    out[...] = values
    return out


def element_strides(array: np.ndarray) -> tuple[int, ...]:
    """Strides in elements, as kernels take them."""
    return tuple(step // array.dtype.itemsize for step in array.strides)


def storage_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def special_floats(dtype: Any) -> np.ndarray:
    """NaN, infinities (where the type has them), both zeros, both ends of the denormals, the extremes."""
    info = ml_dtypes.finfo(np.dtype(dtype))
    finite = [0.0, -0.0, 1.0, -1.0]
    finite += [float(info.max), float(info.min), float(info.tiny), -float(info.tiny)]
    smallest = float(info.smallest_subnormal)
    finite += [smallest, -smallest, float(info.tiny) - smallest, 1.0 + float(info.eps)]
    beyond = [float("nan")] if short_name(dtype) == "e4m3" else [float("nan"), float("inf"), -float("inf")]
    return np.array(beyond + finite, np.float64).astype(dtype)


def special_ints(dtype: Any) -> np.ndarray:
    """Both ends of the range, their neighbours, zero, ones."""
    info = np.iinfo(dtype)
    values = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, info.max // 2]
    return np.array(values + ([-1, -2] if info.min < 0 else []), dtype)


def specials(dtype: Any) -> np.ndarray:
    """The awkward values of any corpus dtype."""
    if short_name(dtype) == "bool":
        return np.array([False, True])
    return special_floats(dtype) if is_float(dtype) else special_ints(dtype)


def normals(rng: np.random.Generator, shape: Any, dtype: Any, scale: float = 1.0) -> np.ndarray:
    """Finite values around zero, rounded to ``dtype``."""
    return (rng.standard_normal(shape) * scale).astype(np.float32).astype(dtype)


def integers(rng: np.random.Generator, shape: Any, dtype: Any, low: int, high: int) -> np.ndarray:
    """Integers of the closed range ``[low, high]``."""
    return rng.integers(low, high, shape, dtype=np.dtype(dtype), endpoint=True)


def any_values(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Values over the whole range of ``dtype`` with the awkward ones mixed in (about one in four)."""
    dtype = np.dtype(dtype)
    if short_name(dtype) == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if is_float(dtype):
        exponents = rng.integers(-4, 5, shape)
        values = (rng.standard_normal(shape) * 2.0**exponents).astype(dtype)
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    chosen = rng.random(shape) < 0.25
    values[chosen] = rng.choice(specials(dtype), int(chosen.sum()))
    return values
