"""Rounding of float64 references to kernel types, and the error that each type allows."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .arrays import is_float, short_name


def wide(array: Any) -> np.ndarray:
    """The same values in float64 (exact for every corpus float; int64 and uint64 round beyond 2**53)."""
    array = np.asarray(array)
    if short_name(array.dtype) in ("bf16", "e4m3", "e5m2"):
        array = array.astype(np.float32)
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes quiet
        return array.astype(np.float64)


def _round_to_odd_f32(values: np.ndarray) -> np.ndarray:
    """float64 to float32 keeping a sticky last bit, so that rounding once more cannot hit a false tie."""
    nearest = values.astype(np.float32)
    back = nearest.astype(np.float64)
    overshoot = np.isfinite(back) & (np.abs(back) > np.abs(values)) | np.isinf(nearest) & np.isfinite(values)
    toward_zero = np.where(overshoot, np.nextafter(nearest, np.float32(0)), nearest).astype(np.float32)
    inexact = np.isfinite(values) & (toward_zero.astype(np.float64) != values)
    bits = toward_zero.view(np.uint32) | inexact.astype(np.uint32)
    return bits.view(np.float32)


def narrow(values: Any, dtype: Any) -> np.ndarray:
    """float64 values in ``dtype``, floats rounded once to nearest even, integers truncated toward zero."""
    values = np.asarray(values)
    if short_name(dtype) in ("bf16", "e4m3", "e5m2"):
        flat = np.atleast_1d(values.astype(np.float64))
        return _round_to_odd_f32(flat).astype(dtype).reshape(values.shape)
    return values.astype(dtype)


def tolerance(dtype: Any, terms: int = 1, scale: float = 1.0) -> dict[str, float]:
    """``rtol`` and ``atol`` of a value computed in fp32 (fp64 for f64) and rounded once to ``dtype``.

    ``terms`` is how many values of magnitude ``scale`` were summed; fast device exponentials and divisions
    stay within 4 fp32 units, so rtol starts there. Integers and bools allow no error.
    """
    if not is_float(dtype):
        return {"rtol": 0.0, "atol": 0.0}
    computed = np.finfo(np.float64 if short_name(dtype) == "f64" else np.float32).eps
    stored = float(ml_dtypes.finfo(np.dtype(dtype)).eps)
    rtol = float(4 * computed) + (stored if stored > computed else 0.0)
    return {"rtol": rtol, "atol": float(computed) * scale * (4 + terms)}
