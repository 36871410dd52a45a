"""The common base of ops that work element by element on operands of one type and shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tritium.ir.types import DType, Type, int1, like
from tritium.numerics import floating, integer
from tritium.numerics.formats import FLOAT_FORMATS, INTEGER_FORMATS
from tritium.ops.base import TileOp, TypeRuleError
from tritium.ops.emit import CudaEmitter
from tritium.ops.facts import Bound
from tritium.ops.gpu_layout import RegisterLayout

ANY_FORMAT: tuple[str, ...] = (*INTEGER_FORMATS, *FLOAT_FORMATS)
WIDE_FLOATS: tuple[str, ...] = ("f32", "f64")


def by_format(rule: Callable[[Any], float | None]) -> Any:
    """A trait (`unit`, `absorbing`) whose number depends on the operands' format: asked of the op, not the class."""
    return property(rule)


def unless_fp8(number: float) -> Any:
    """`number` as the `float_unit` of all but the 8-bit floats: they saturate, so that infinity times 1 is finite."""
    return property(lambda op: None if op.operands[0].type.scalar.is_fp8() else number)


class Elementwise(TileOp):
    """All operands share one type, which is the result's as well. Subclasses narrow `formats`."""

    formats: ClassVar[tuple[str, ...]] = ANY_FORMAT  # the element formats it computes in

    def infer(self) -> Sequence[Type]:
        first = self.operands[0].type
        for v in self.operands[1:]:
            if v.type != first:
                raise TypeRuleError(f"{self.name} needs operands of one type, got {first} and {v.type}")
        if not isinstance(first.scalar, DType):
            raise TypeRuleError(f"{self.name} works on numbers, got {first}")
        if first.scalar.text not in self.formats:
            raise TypeRuleError(f"{self.name} computes in {', '.join(self.formats)}, got {first}")
        return (first,)

    @property
    def format(self) -> str:
        """The scalar format of the operands, as `tritium.numerics` names it."""
        return self.operands[0].type.scalar.text  # type: ignore[union-attr]

    @property
    def is_float(self) -> bool:
        return self.format in FLOAT_FORMATS

    @property
    def numerics(self) -> Any:
        """The module of `tritium.numerics` whose functions compute in the operands' format."""
        return floating if self.is_float else integer

    def all_ones(self) -> int:
        """The integer of this format with every bit set."""
        scalar = self.operands[0].type.scalar
        assert isinstance(scalar, DType)
        return -1 if scalar.is_int_signed() else scalar.get_int_max_value()

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


class Comparison(Elementwise):
    """Elementwise with an i1 result."""

    def infer(self) -> Sequence[Type]:
        (ty,) = super().infer()
        return (like(ty, int1),)
