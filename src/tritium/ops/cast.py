"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Sequence

from tritium.ir.types import DType, Type, like
from tritium.numerics.cast import cast
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand


class Cast(TileOp, name="tile.cast"):
    """`x` with elements converted to `to`. `rounding` ("rtne" or "rtz") matters where a float narrows.

    float to int truncates, saturates and maps NaN to 0; anything to int1 is ``!= 0``; ints narrow by wrapping.
    """

    x = operand()
    to = attr()
    rounding = attr("rtne")

    def infer(self) -> Sequence[Type]:
        if not isinstance(self.x.type.scalar, DType) or not isinstance(self.to, DType):
            raise TypeRuleError(f"tile.cast converts numbers, got {self.x.type} to {self.to}")
        return (like(self.x.type, self.to),)

    def eval(self, *args: Array) -> Array:
        return cast(args[0], self.x.type.scalar.text, self.to.text, self.rounding)  # type: ignore[union-attr]
