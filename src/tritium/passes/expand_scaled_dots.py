"""Dots of microscaling formats as dots of fp32, for targets that have no such product.

::

    %d = tile.dot_scaled(%a, %a_scale, %b, %b_scale, %acc)
    =>
    %x = the elements of %a as fp32, each times its scale      (two elements of a byte side by side)
    %y = the same of %b
    %d = tile.dot(%x, %y, %acc)                                 fp32, IEEE
"""

from __future__ import annotations

from typing import Any

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Record
from tritium.ir.types import DType, float16, float32, uint8, uint16, uint32
from tritium.ops.arithmetic import Mul
from tritium.ops.bitwise import And, Or, Shl, Shr
from tritium.ops.cast import Bitcast, Cast
from tritium.ops.compare import Equal
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.dot_scaled import DotScaled, Side
from tritium.ops.join import Join
from tritium.ops.reshape import Reshape
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast, ExpandDims, Permute

NAME = "expand_scaled_dots"


def run(function: Function, record: Record) -> None:
    """Rewrite every scaled dot in place."""
    for op in function.find(DotScaled):
        assert isinstance(op, DotScaled) and op.parent is not None
        builder = Builder(op.parent, op.loc)
        with builder.before(op), builder.at(op.loc):
            op.replace_with([_Expansion(op, builder).product()])
        record.plan(NAME, "elements and scales become fp32 before they are multiplied", at=op)


class _Expansion:
    """The ops that one scaled dot becomes."""

    def __init__(self, op: DotScaled, builder: Builder) -> None:
        self.op = op
        self.builder = builder

    def product(self) -> Value:
        op = self.op
        left, right = op.sides()
        x = self.factor_in(left, op.lhs, op.lhs_scale)
        y = self.factor_in(right, op.rhs, op.rhs_scale)
        made = Dot(x, y, op.acc, out=float32, precision="ieee", result_names=(op.result.name,))
        return self.builder.insert(made).result

    def factor_in(self, side: Side, elements: Value, scale: Value | None) -> Value:
        """The elements of one operand, each times its scale."""
        values = self.fp4(side, elements) if side.format == "e2m1" else self.cast(elements, float32)
        if scale is None:
            return values
        factors = self.exponents(scale) if scale.type.scalar is uint8 else self.cast(scale, float32)
        return self(Mul, values, self.repeated(factors, side))

    def fp4(self, side: Side, packed: Value) -> Value:
        """Two elements to a byte, as fp32 side by side along the packed axis.

        Sign, exponent and fraction move to where fp16 has them, and 2**14 makes up for the other bias.
        """
        wide = self.cast(packed, uint16)
        halves: list[Value] = []
        for nibble in (self(And, wide, self.number(wide, 15)), self(Shr, wide, self.number(wide, 4))):
            magnitude = self(Shl, self(And, nibble, self.number(wide, 7)), self.number(wide, 9))
            sign = self(Shl, self(And, nibble, self.number(wide, 8)), self.number(wide, 12))
            half = self(Bitcast, self(Or, magnitude, sign), to=float16)
            value = self.cast(half, float32)
            halves.append(self(Mul, value, self.number(value, 2.0**14)))
        pairs = self(Join, *halves)
        rank = len(packed.type.shape)
        at = rank + side.packed_axis
        if at != rank - 1:
            pairs = self(Permute, pairs, order=(*range(at + 1), rank, *range(at + 1, rank)))
        return self(Reshape, pairs, shape=side.shape)

    def exponents(self, scale: Value) -> Value:
        """2**(e - 127) as fp32: e is its exponent field, but for the subnormal at 0 and for 255, which is NaN."""
        wide = self.cast(scale, uint32)
        bits = self(Shl, wide, self.number(wide, 23))
        special = [(0, 0x00400000)] if self.op.fast_math else [(0, 0x00400000), (255, 0x7FC00000)]
        for exponent, pattern in special:
            chosen = self(Equal, wide, self.number(wide, exponent))
            bits = self(Select, chosen, self.number(wide, pattern), bits)
        return self(Bitcast, bits, to=float32)

    def repeated(self, factors: Value, side: Side) -> Value:
        """The scale of every element, laid out like the elements."""
        *outer, groups = factors.type.shape
        each = self(ExpandDims, factors, axis=len(outer) + 1)
        each = self(Broadcast, each, shape=(*outer, groups, side.group))
        each = self(Reshape, each, shape=(*outer, groups * side.group))
        if side.k_axis == -1:
            return each
        rank = len(each.type.shape)
        return self(Permute, each, order=(*range(rank - 2), rank - 1, rank - 2))

    def cast(self, value: Value, to: DType) -> Value:
        return value if value.type.scalar is to else self(Cast, value, to=to)

    def number(self, like: Value, value: float) -> Value:
        return self(Constant, value=value, type=like.type)

    def __call__(self, op: type[Op], *operands: Value, **attrs: Any) -> Value:
        return self.builder.insert(op(*operands, **attrs)).result
