"""Sorting along an axis: `tl.sort`, `tl.topk`, `tl.bitonic_merge`.

Order: numbers by value, -0 before +0, and every NaN after all numbers; descending is exactly the opposite order, so a
NaN comes first there. Equal elements are equal bit for bit, so stability is no question. Any extent is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, shaped
from tritium.numerics.formats import Format, format_of
from tritium.ops.axes import axis_of
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.reduce import extreme_dtype, numbers
from tritium.ops.semantic import Semantic
from tritium.ops.shape import permuted
from tritium.ops.surface import surface


class Sort(TileOp, name="tile.sort"):
    """The elements of `x` in order along the last axis, and of those the first `k` (all for None).

    >>> tl.sort(tl.flip(tl.arange(0, 3), 0))
    [0, 1, 2]
    """

    x = operand()
    descending = attr(False)
    k = attr(None)

    def infer(self) -> Sequence[Type]:
        dims = self.x.type.shape
        if not dims or not isinstance(self.x.type.scalar, DType):
            raise TypeRuleError(f"tile.sort needs a tile of numbers, got {self.x.type}")
        if self.k is None:
            return (self.x.type,)
        if not 1 <= self.k <= dims[-1]:
            raise TypeRuleError(f"tile.sort of {dims[-1]} elements cannot give {self.k}")
        return (shaped(self.x.type.scalar, (*dims[:-1], self.k)),)

    def eval(self, *args: Array) -> Array:
        x, dims = args[0], self.x.type.shape
        if x.shape[-1] == 1:
            return x
        form = format_of(self.x.type.scalar.text)  # type: ignore[union-attr]
        keys = np.sort(order_keys(x, form), axis=-1)
        if self.descending:
            keys = keys[..., ::-1]
        return from_order_keys(keys[..., : self.k or dims[-1]], form)

    @surface("sort", method=True)
    @staticmethod
    def build(s: Semantic, x: Any, dim: Any = None, descending: Any = False) -> Tensor:
        """`x` in order along axis `dim` (None: the last). NaN comes last, first if `descending`.

        >>> tl.sort(tl.arange(0, 4) * 3 % 4)
        [0, 1, 2, 3]
        """
        value, _ = numbers(s, x, "sort")
        return _along(s, value, dim, s.const_bool(descending, "descending"), None, "sort")

    @surface("topk")
    @staticmethod
    def topk(s: Semantic, x: Any, k: Any, dim: Any = None, descending: Any = True) -> Tensor:
        """The `k` largest elements along axis `dim` (None: the last), largest first; the smallest if not `descending`.

        `k` is any number from 1 to the extent of the axis. Where it is less than that, the result has the type of tl.max:
        fp32 for narrower floats, int32 for narrower integers.

        >>> tl.topk(tl.arange(0, 5), 2)
        [4, 3]
        """
        value, element = numbers(s, x, "topk")
        axis = axis_of(s, -1 if unwrap(dim) is None else dim, len(value.dims), "topk")
        count, extent = s.const_int(k, "k of topk"), value.dims[axis]
        if not 1 <= count <= extent:
            s.fail("TRI0613", k=count, extent=extent)
        if count < extent:
            value = s.cast(value, extreme_dtype(element))
        return _along(s, value, axis, s.const_bool(descending, "descending"), count, "topk")

    @surface("bitonic_merge")
    @staticmethod
    def bitonic_merge(s: Semantic, x: Any, dim: Any = None, descending: Any = False) -> Tensor:
        """`x`, whose elements along axis `dim` first rise and then fall (or are rotated so), in order.

        >>> tl.bitonic_merge(tl.cat(tl.arange(0, 2), tl.flip(tl.arange(0, 2), 0)))
        [0, 0, 1, 1]
        """
        value, _ = numbers(s, x, "bitonic_merge")
        return _along(s, value, dim, s.const_bool(descending, "descending"), None, "bitonic_merge")


def _along(s: Semantic, x: Tensor, dim: Any, descending: bool, k: int | None, function: str) -> Tensor:
    rank = len(x.dims)
    axis = axis_of(s, -1 if unwrap(dim) is None else dim, rank, function)
    there = [a for a in range(rank) if a != axis] + [axis]
    back = [there.index(a) for a in range(rank)]
    done = s.emit(Sort, permuted(s, x, there), descending=descending, k=k)
    return permuted(s, done, back)


# ---- keys -------------------------------------------------------------------------------------------------------


def order_keys(x: Array, form: Format) -> Array:
    """Integers that order as the values of `x` do; every bit pattern but the sign of a NaN can be had back."""
    if form.is_integer:
        return x
    bits = x.view(form.pattern)
    if form.bits == 8:
        return _ranks(form)[0].take(bits)
    sign = bits.dtype.type(1 << (form.bits - 1))
    magnitude = bits & (sign - bits.dtype.type(1))
    nan = magnitude > _infinity(form)
    key = np.where((bits & sign) != 0, ~bits, bits | sign)
    return np.where(nan, magnitude | sign, key)


def from_order_keys(keys: Array, form: Format) -> Array:
    """The values whose keys are `keys`."""
    if form.is_integer:
        return keys
    if form.bits == 8:
        return _ranks(form)[1].take(keys).view(form.storage)
    sign = keys.dtype.type(1 << (form.bits - 1))
    bits = np.where((keys & sign) != 0, keys ^ sign, ~keys)
    return bits.view(form.storage)


def _infinity(form: Format) -> int:
    return ((1 << form.exponent_bits) - 1) << form.mantissa_bits


def _ranks(form: Format) -> tuple[Array, Array]:
    """For an 8-bit float: rank of each bit pattern, and bit pattern of each rank."""
    from tritium.numerics.convert import widen

    patterns = np.arange(256, dtype=np.uint8)
    values = widen(patterns.view(form.storage), form)
    negative = patterns >> 7
    order = np.lexsort((patterns, 1 - negative, np.where(np.isnan(values), 0, values), np.isnan(values)))
    ranks = np.empty(256, np.uint8)
    ranks[order] = patterns
    return ranks, order.astype(np.uint8)
