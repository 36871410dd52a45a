"""Reduced-precision views of float32 operands: what tensor cores see of them.

- ``tf32``: sign, 8 exponent and 10 mantissa bits. The hardware ignores the low 13 bits of an f32 register,
  so plain
  "tf32" truncates; `cvt.rna.tf32.f32` rounds to nearest with ties away from zero (PTX ISA, "cvt").
- ``tf32x3``, ``bf16x3``, ``bf16x6``: an f32 dot as a sum of 3 or 6 dots of split operands, in the order in
  which
  Triton 3.6 accumulates them (read from its GPU IR).
"""

from __future__ import annotations

import numpy as np

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.convert import narrow, widen
from tritium.numerics.formats import FORMATS, Array

_INFINITY = np.uint32(0x7F800000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)
_KEPT = np.uint32(0xFFFFE000)

# Which parts of a and b each partial dot takes (0 = high), in order of accumulation; the last is the
# leading one.
SPLIT_PRODUCTS: dict[str, tuple[tuple[int, int], ...]] = {
    "tf32x3": ((1, 0), (0, 1), (0, 0)),
    "bf16x3": ((1, 0), (0, 1), (0, 0)),
    "bf16x6": ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)),
}


@quiet
def truncate_tf32(x: Array) -> Array:
    """float32 `x` with the low 13 mantissa bits cleared; a NaN stays a NaN."""
    return blockwise(_truncate, np.uint32, x).view(np.float32)


@quiet
def round_tf32(x: Array) -> Array:
    """float32 `x` rounded to 10 mantissa bits, ties away from zero; a NaN stays a NaN."""
    return blockwise(_round_away, np.uint32, x).view(np.float32)


def _truncate(x: Array) -> Array:
    pattern = x.view(np.uint32)
    return _keep_nan(pattern & _KEPT, pattern)


def _round_away(x: Array) -> Array:
    pattern = x.view(np.uint32)
    out = pattern + np.uint32(0x1000)
    out &= _KEPT
    return _keep_nan(out, pattern)


def _keep_nan(out: Array, pattern: Array) -> Array:
    magnitude = pattern & _MAGNITUDE
    if magnitude.max() > _INFINITY:
        out[magnitude > _INFINITY] = 0x7FFFE000
    return out


@quiet
def split(x: Array, precision: str) -> tuple[Array, ...]:
    """The parts of float32 `x`, high part first, as float32 arrays that tensor cores read exactly.

    "tf32x3" gives two tf32 parts (the low one truncated), "bf16x3" two and "bf16x6" three bf16 parts.
    """
    if precision == "tf32x3":
        high = round_tf32(x)
        return high, truncate_tf32(np.asarray(x - high))
    form = FORMATS["bf16"]
    parts: list[Array] = []
    for _ in range(2 if precision == "bf16x3" else 3):
        part = widen(narrow(x, form), form)
        parts.append(part)
        x = np.asarray(x - part)
    return tuple(parts)
