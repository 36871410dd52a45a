"""How values of an IR type are held in NumPy: storage dtypes, constants, zeros.

Pointers are byte addresses in ``int64``. ``fp8e4b15``, which NumPy and ml_dtypes lack, is held as its raw bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.ir.types import DType, PointerType, Type
from tritium.numerics.cast import cast as cast_array
from tritium.numerics.formats import storage
from tritium.ops.base import BATCH_AXES, Array

_ADDRESS = np.dtype(np.int64)


def storage_dtype(ty: Type) -> np.dtype[Any]:
    """The NumPy dtype that holds elements of `ty`."""
    scalar = ty.scalar
    return storage(scalar.text) if isinstance(scalar, DType) else _ADDRESS


def zeros(ty: Type) -> Array:
    """Zero, the same for every program and every element of `ty`."""
    return np.zeros((1,) * (BATCH_AXES + len(ty.shape)), storage_dtype(ty))


def representable(value: float, ty: DType) -> float:
    """The number of float type `ty` that a Python float stands for in a kernel.

    As in Triton, a literal is rounded to fp32 and from there to a narrower type (measured: ``1 + 2**-11 + 2**-40`` is
    1.0 as fp16, which a single rounding would not give).
    """
    if ty.is_fp64():
        return float(value)
    single = cast_array(np.float64(value), "f64", "f32")
    return float(single if ty.is_fp32() else cast_array(cast_array(single, "f32", ty.text), ty.text, "f64"))


def constant(value: bool | int | float, ty: Type) -> Array:
    """`value` (a Python number in the range of `ty`) for every program and every element."""
    shape = (1,) * (BATCH_AXES + len(ty.shape))
    scalar = ty.scalar
    if isinstance(scalar, PointerType) or scalar.is_int():
        return np.full(shape, value, storage_dtype(ty))
    return cast_array(np.full(shape, value, np.float64), "f64", scalar.text)
