"""Integer arithmetic: everything wraps, division follows C, and no input is undefined.

Written values for what C leaves undefined, the same on every backend:

- ``x // 0`` is 0 and ``x % 0`` is x, so that ``x == (x // y) * y + x % y`` always holds; ``MIN // -1`` is MIN
  and ``MIN % -1`` is 0.
- A shift amount is read as an unsigned number of the operand's width. From the width on, ``<<`` and the
  logical
  ``>>`` give 0 and the arithmetic ``>>`` fills with the sign.
- ``i1`` is arithmetic modulo 2: ``+`` and ``-`` are xor, ``*`` is and.

All functions take operands in the storage dtype of the format they name and return that dtype, unless they
say else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tritium.numerics.blocks import blockwise, quiet
from tritium.numerics.formats import Array, Format, format_of, stored

Predicate = Literal["eq", "ne", "lt", "le", "gt", "ge"]

COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _operands(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> tuple[Array, Array, Format]:
    form = format_of(fmt)
    return stored(x, form), stored(y, form), form


@quiet
def add(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Wrapping sum."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray(a ^ b if form.kind == "bool" else np.add(a, b))


@quiet
def sub(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Wrapping difference."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray(a ^ b if form.kind == "bool" else np.subtract(a, b))


@quiet
def mul(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Low half of the product."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray(a & b if form.kind == "bool" else np.multiply(a, b))


@quiet
def neg(x: npt.ArrayLike, fmt: str) -> Array:
    """``0 - x``, wrapping; the identity on ``i1``."""
    form = format_of(fmt)
    a = stored(x, form)
    return a if form.kind == "bool" else np.asarray(np.negative(a))


@quiet
def absolute(x: npt.ArrayLike, fmt: str) -> Array:
    """Magnitude; MIN stays MIN, unsigned values stay as they are."""
    form = format_of(fmt)
    a = stored(x, form)
    return np.asarray(np.abs(a)) if form.is_signed else a


@quiet
def div(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Quotient truncated toward zero; 0 where `y` is 0."""
    a, b, form = _operands(x, y, fmt)
    if form.kind == "bool":
        return np.asarray(a & b)
    return np.asarray(_truncated_quotient(a, b, form))


@quiet
def rem(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Remainder of the truncated division, with the sign of `x`; `x` where `y` is 0."""
    a, b, form = _operands(x, y, fmt)
    if form.kind == "bool":
        return np.asarray(a & ~b)
    return np.asarray(np.subtract(a, np.multiply(_truncated_quotient(a, b, form), b)))


def _truncated_quotient(a: Array, b: Array, form: Format) -> Array:
    # NumPy floors, gives 0 for a zero divisor and MIN for MIN // -1. Its loop for a scalar divisor is
    # vectorised (0.2 ns an element against 2), so the operands go in as they are, not broadcast.
    quotient = np.floor_divide(a, b)
    if not form.is_signed or a.size == 0 or b.size == 0 or (a.min() >= 0 and b.min() >= 0):
        return quotient
    inexact = np.multiply(quotient, b) != a
    inexact &= np.bitwise_xor(a, b) < 0
    inexact &= b != 0
    return np.add(quotient, inexact, dtype=form.storage)


def bitwise_and(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(a & b)


def bitwise_or(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(a | b)


def bitwise_xor(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(a ^ b)


def invert(x: npt.ArrayLike, fmt: str) -> Array:
    """All bits flipped; logical not on ``i1``."""
    return np.asarray(np.invert(stored(x, format_of(fmt))))


@quiet
def shl(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """`x` shifted left by `y`; 0 from the width on."""
    a, b, form = _operands(x, y, fmt)
    # NumPy itself defines wide and negative shifts in just this way.
    return np.asarray(a & ~b if form.kind == "bool" else np.left_shift(a, b))


@quiet
def shr(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """`x` shifted right by `y`, arithmetic for signed formats and logical for unsigned ones."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray(a & ~b if form.kind == "bool" else np.right_shift(a, b))


def minimum(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(np.minimum(a, b))


def maximum(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(np.maximum(a, b))


def compare(predicate: Predicate, x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """`x` compared with `y`, as a bool array."""
    a, b, _ = _operands(x, y, fmt)
    return np.asarray(COMPARISONS[predicate](a, b))


# --- high products and the other integer functions of the device library
# ------------------------------------------


@quiet
def umulhi(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """High half of the product of two 32- or 64-bit patterns read as unsigned numbers."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray(unsigned_high(a.view(form.pattern), b.view(form.pattern)).view(form.storage))


@quiet
def mulhi(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """High half of the product of two 32- or 64-bit numbers, signed or unsigned as the format says."""
    a, b, form = _operands(x, y, fmt)
    high = unsigned_high(a.view(form.pattern), b.view(form.pattern))
    if form.is_signed:
        # Reading a negative number as unsigned adds 2**bits, hence the other factor to the high half.
        zero = form.storage.type(0)
        high = (
            high - np.where(a < 0, b, zero).view(form.pattern) - np.where(b < 0, a, zero).view(form.pattern)
        )
    return np.asarray(high).view(form.storage)


def unsigned_high(a: Array, b: Array) -> Array:
    """High half of the product of two uint32 or two uint64 arrays."""
    if a.dtype.itemsize == 4:
        return np.asarray(np.right_shift(np.multiply(a, b, dtype=np.uint64), np.uint64(32)).astype(np.uint32))
    return blockwise(_high_64, np.uint64, a, b)


def _high_64(a: Array, b: Array) -> Array:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    # Each sum stays below 2**64: (2**32 - 1)**2 + 2 * (2**32 - 1) = 2**64 - 1.
    middle = a1 * b0 + (a0 * b0 >> half)
    return a1 * b1 + (middle >> half) + (a0 * b1 + (middle & low) >> half)


@quiet
def mul24(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """Low 32 bits of the product of the low 24 bits of each factor, sign-extended for ``i32``."""
    a, b, form = _operands(x, y, fmt)
    eight = form.storage.type(8)
    return np.asarray(((a << eight) >> eight) * ((b << eight) >> eight))


@quiet
def sad(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, fmt: str) -> Array:
    """``|x - y| + z`` modulo 2**32; `x` and `y` in ``i32`` or ``u32``, `z` and the result in ``u32``."""
    a, b, form = _operands(x, y, fmt)
    distance = np.subtract(np.maximum(a, b).view(form.pattern), np.minimum(a, b).view(form.pattern))
    return np.asarray(np.add(distance, stored(z, format_of("u32"))))


@quiet
def hadd(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """``(x + y) >> 1`` without overflow (rounded down)."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray((a & b) + ((a ^ b) >> form.storage.type(1)))


@quiet
def rhadd(x: npt.ArrayLike, y: npt.ArrayLike, fmt: str) -> Array:
    """``(x + y + 1) >> 1`` without overflow (rounded up)."""
    a, b, form = _operands(x, y, fmt)
    return np.asarray((a | b) - ((a ^ b) >> form.storage.type(1)))


@quiet
def byte_perm(x: npt.ArrayLike, y: npt.ArrayLike, s: npt.ArrayLike) -> Array:
    """Four of the eight bytes of (`x` low, `y` high), picked by the low three bits of the nibbles of `s`.

    All operands and the result are ``i32``.
    """
    form = format_of("i32")
    low, high, selector = (stored(v, form).view(np.uint32).astype(np.uint64) for v in (x, y, s))
    both = low | (high << np.uint64(32))
    out = np.zeros(np.broadcast_shapes(both.shape, selector.shape), np.uint64)
    for k in range(4):
        index = (selector >> np.uint64(4 * k)) & np.uint64(7)
        out = out | (((both >> (index * np.uint64(8))) & np.uint64(0xFF)) << np.uint64(8 * k))
    return np.asarray(out.astype(np.uint32).view(np.int32))


@quiet
def clz(x: npt.ArrayLike, fmt: str) -> Array:
    """Number of leading zero bits of a 32- or 64-bit pattern, as int32; the width for 0."""
    form = format_of(fmt)
    pattern = stored(x, form).view(form.pattern)
    return np.asarray((np.int32(form.bits) - bit_length(pattern)).astype(np.int32))


@quiet
def ffs(x: npt.ArrayLike, fmt: str) -> Array:
    """One-based position of the lowest set bit of a 32- or 64-bit pattern, as int32; 0 for 0."""
    form = format_of(fmt)
    pattern = stored(x, form).view(form.pattern)
    return np.asarray(bit_length(pattern & np.negative(pattern)))


def bit_length(pattern: Array) -> Array:
    """Bits needed for each value; float64 holds 32 bits exactly, so its exponent tells."""
    if pattern.dtype.itemsize == 4:
        return np.frexp(pattern.astype(np.float64))[1]
    high = np.frexp((pattern >> np.uint64(32)).astype(np.float64))[1]
    low = np.frexp((pattern & np.uint64(0xFFFFFFFF)).astype(np.float64))[1]
    return np.where(high > 0, high + np.int32(32), low)


_MASKS = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)


@quiet
def popc(x: npt.ArrayLike, fmt: str) -> Array:
    """Number of set bits of a 32- or 64-bit pattern, as int32."""
    form = format_of(fmt)
    v = stored(x, form).view(form.pattern)
    uint = form.pattern.type
    for step, mask in enumerate(_MASKS):
        keep = uint(mask & _all_bits(form))
        v = (v & keep) + ((v >> uint(1 << step)) & keep)
    ones = uint(0x0101010101010101 & _all_bits(form))
    return np.asarray((v * ones >> uint(form.bits - 8)).astype(np.int32))


@quiet
def brev(x: npt.ArrayLike, fmt: str) -> Array:
    """The bits of a 32- or 64-bit value in reverse order."""
    form = format_of(fmt)
    v = stored(x, form).view(form.pattern)
    uint = form.pattern.type
    for step, mask in enumerate(_MASKS):
        keep, by = uint(mask & _all_bits(form)), uint(1 << step)
        v = ((v & keep) << by) | ((v >> by) & keep)
    return np.asarray(np.asarray(v).byteswap().view(form.storage))


def _all_bits(form: Format) -> int:
    """All bits of the format set."""
    return (1 << form.bits) - 1
