"""The common base of ops that work element by element on operands of one type and shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tritium.ir.types import DType, Type, int1, like
from tritium.ops.base import TileOp, TypeRuleError


class Elementwise(TileOp):
    """All operands share one type, which is the result's as well. Subclasses narrow `accepts`."""

    accepts: ClassVar[str] = "any"  # "any" | "int" | "float" | "number"

    def infer(self) -> Sequence[Type]:
        first = self.operands[0].type
        for v in self.operands[1:]:
            if v.type != first:
                raise TypeRuleError(f"{self.name} needs operands of one type, got {first} and {v.type}")
        self._check_kind(first)
        return (first,)

    def _check_kind(self, ty: Type) -> None:
        scalar = ty.scalar
        if not isinstance(scalar, DType):
            raise TypeRuleError(f"{self.name} works on numbers, got {ty}")
        if (self.accepts == "int" and not scalar.is_int()) or (
            self.accepts == "float" and not scalar.is_floating()
        ):
            raise TypeRuleError(f"{self.name} needs {self.accepts} operands, got {ty}")

    @property
    def format(self) -> str:
        """The scalar format of the operands, as `tritium.numerics` names it."""
        return self.operands[0].type.scalar.text  # type: ignore[union-attr]

    @property
    def numerics(self) -> Any:
        """The module of `tritium.numerics` whose functions compute in the operands' format."""
        from tritium.numerics import floating, integer

        return floating if self.operands[0].type.is_floating() else integer  # type: ignore[attr-defined]


class Comparison(Elementwise):
    """Elementwise with an i1 result."""

    def infer(self) -> Sequence[Type]:
        (ty,) = super().infer()
        return (like(ty, int1),)
