"""Choice between two values per element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import PointerType, Type, int1, like
from tritium.ops import facts as fx
from tritium.ops.base import Array, TileOp, TypeRuleError, operand
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Bound, Facts
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface


class Select(TileOp, name="tile.select"):
    """x where `condition` (i1) holds, else y, per element. Both are evaluated; pointers may be chosen too.

    A Python number takes the type of the other value: ``tl.where(m, h, 1.5)`` with fp16 h is fp16.

    >>> tl.where(tl.arange(0, 4) < 2, 1, 0)
    [1, 1, 0, 0]
    """

    condition = operand()
    x = operand()
    y = operand()

    def infer(self) -> Sequence[Type]:
        ty = self.x.type
        if ty != self.y.type:
            raise TypeRuleError(f"tile.select chooses between values of one type, got {ty} and {self.y.type}")
        if self.condition.type != like(ty, int1):
            raise TypeRuleError(f"the condition of tile.select is an i1 of shape {list(ty.shape)}")
        return (ty,)

    def eval(self, *args: Array) -> Array:
        condition, x, y = args
        return np.where(condition, x, y)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.join(operands[1], operands[2])

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.select(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.choice(self, *x)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    @surface("where")
    @staticmethod
    def build(s: Semantic, condition: Any, x: Any, y: Any) -> Tensor:
        cond = s.cast(s.to_tensor(condition), int1)
        a, b = _alternatives(s, x, y)
        cond, a = s.broadcast(cond, a)
        a, b = s.broadcast(a, b)
        return s.emit(Select, s.broadcast_to(cond, a.dims) if a.dims else cond, a, b)


def _alternatives(s: Semantic, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    pointers = [not is_number(v) and isinstance(s.to_tensor(v).dtype, PointerType) for v in (x, y)]
    if not any(pointers):
        return s.binary(x, y, "where")
    if not all(pointers) or s.to_tensor(x).dtype != s.to_tensor(y).dtype:
        s.fail("TRI0401", operator="where", lhs=describe(x), rhs=describe(y))
    return s.broadcast(s.to_tensor(x), s.to_tensor(y))
