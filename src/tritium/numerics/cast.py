"""Conversion between scalar formats, and reinterpretation of bits.

The rules, which hold on every backend:

- integer to integer wraps; to ``i1`` is ``!= 0``; from ``i1`` gives 0 or 1.
- integer to float rounds once to nearest even from the exact integer (``i1`` is unsigned). Beyond the largest
  finite value f16 gives infinity and the 8-bit floats saturate.
- float to integer truncates toward zero, saturates outside the range, and NaN gives 0. To ``i1`` it is
  ``!= 0``, for which NaN is true.
- float to float rounds once, to nearest even ("rtne") or toward zero ("rtz"). `tritium.numerics.convert`
  states what the 8-bit formats do with overflow.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import Rounding, narrow, narrow_bits, widen
from tritium.numerics.formats import Array, Format, format_of, stored

_ROUNDINGS: dict[str, Rounding] = {"rtne": "rn", "rtz": "rz"}


@quiet
def cast(x: npt.ArrayLike, src: str, dst: str, rounding: str = "rtne") -> Array:
    """Convert `x` from format `src` to format `dst`; the shape is kept.

    `rounding` ("rtne" or "rtz") applies to float narrowing only. The result may be `x` itself where nothing
    changes. Raises ValueError for an unknown format or rounding.
    """
    source, target = format_of(src), format_of(dst)
    if rounding not in _ROUNDINGS:
        raise ValueError(f"unknown rounding {rounding!r}; expected 'rtne' or 'rtz'")
    values = stored(x, source)
    if source is target:
        return values
    if target.kind == "bool":
        return _to_bool(values, source)
    if source.is_integer:
        if target.is_integer:
            return values.astype(target.storage)
        return _integer_to_float(values, target)
    mode = _ROUNDINGS[rounding]
    if source.bits <= 16 and (source.name != "bf16" or (target.is_float and target.bits <= 16)):
        # A table of all patterns is faster than the arithmetic and needs no care about the shape of the
        # input.
        return np.asarray(_cast_table(source.name, target.name, mode).take(values.view(source.pattern)))
    return _convert_float(values, source, target, mode)


@cache
def _cast_table(src: str, dst: str, rounding: Rounding) -> Array:
    source = format_of(src)
    patterns = np.arange(1 << source.bits, dtype=source.pattern).view(source.storage)
    table = _convert_float(patterns, source, format_of(dst), rounding)
    table.setflags(write=False)
    return table


def _to_bool(x: Array, source: Format) -> Array:
    if source.is_integer or source.bits >= 32:
        return np.asarray(x != 0)
    magnitude = (1 << source.bits) - 1 if not source.has_negative_zero else (1 << (source.bits - 1)) - 1
    return np.asarray(x.view(source.pattern) & source.pattern.type(magnitude) != 0)


def _convert_float(x: Array, source: Format, target: Format, rounding: Rounding) -> Array:
    if target.is_integer:
        return float_to_integer(widen(x, source) if source.bits < 32 else x, target)
    if target.name == "f64":
        return widen(x, source, "float64")
    wide = x if source.bits >= 32 else widen(x, source)
    return narrow(wide, target, rounding)


def float_to_integer(x: Array, target: Format) -> Array:
    """float32/float64 `x` to integers: truncated, saturated, NaN as 0."""
    low, high = float(target.min_int), 2.0 ** (target.bits - (target.kind == "int"))
    if x.size == 0:
        return x.astype(target.storage)
    # Minimum and maximum propagate NaN, so that one pair of reductions finds out whether any lane needs care.
    if x.min() >= low and x.max() < high:
        return np.asarray(x.astype(target.storage))
    inside = (x >= low) & (x < high)
    out = np.asarray(np.where(inside, x, x.dtype.type(0)).astype(target.storage))
    out[x >= high] = target.max_int
    out[x < low] = target.min_int
    return out


def _integer_to_float(x: Array, target: Format) -> Array:
    if x.dtype == np.bool_:
        x = x.view(np.uint8)
    if target.bits >= 32:
        return x.astype(target.storage)
    if x.dtype.itemsize <= 2:
        return narrow(x.astype(np.float32), target)
    if x.dtype.itemsize == 4:
        return narrow(x.astype(np.float64), target)
    return blockwise(lambda part: narrow_bits(_odd_float64(part), target), target.pattern, x).view(
        target.storage
    )


def _odd_float64(x: Array) -> Array:
    """64-bit integers as float64, rounded to odd where they do not fit.

    A value rounded to odd at 48 bits rounds on to a format of at most 11 bits as the exact value would
    (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    high = x >> x.dtype.type(16)
    high |= (x & x.dtype.type(0xFFFF)) != 0
    large = np.abs(x.astype(np.float64)) >= 2.0**48
    return np.where(large, high.astype(np.float64) * 65536.0, x.astype(np.float64))


def bitcast(x: npt.ArrayLike, src: str, dst: str) -> Array:
    """Reinterpret the bits of `x` as another format of the same width. No copy is made.

    Raises ValueError where the widths differ.
    """
    source, target = format_of(src), format_of(dst)
    if source.bits != target.bits:
        raise ValueError(
            f"bitcast from {src} ({source.bits} bits) to {dst} ({target.bits} bits): widths must be equal"
        )
    return np.asarray(stored(x, source).view(target.storage))


def patterns_of(x: npt.ArrayLike, fmt: str) -> npt.NDArray[Any]:
    """The bit patterns of `x` as unsigned integers of the storage width."""
    form = format_of(fmt)
    return np.asarray(stored(x, form).view(form.pattern))
