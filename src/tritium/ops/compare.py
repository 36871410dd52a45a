"""Comparisons: elementwise, with an i1 result."""

from __future__ import annotations

from typing import Any, ClassVar

from tritium.ops import facts as fx
from tritium.ops.base import Array, operand
from tritium.ops.elementwise import Comparison
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Facts
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic
from tritium.ops.surface import surface


class Compare(Comparison):
    """What the six comparisons share.

    `predicate` is the name in `tritium.numerics`, `swapped` the comparison of y with x that says the same,
    and `negated` its opposite: for floats that holds only where neither operand is NaN, since all but
    ``!=`` are false for NaN.
    """

    x = operand()
    y = operand()

    predicate: ClassVar[Any]
    swapped: ClassVar[type[Compare]]
    negated: ClassVar[type[Compare]]
    relation: ClassVar[str]

    def eval(self, *args: Array) -> Array:
        return self.numerics.compare(self.predicate, args[0], args[1], self.format)

    def facts(self, *operands: Facts) -> Facts | None:
        return None if self.is_float else fx.compare(self, self.relation, *operands)

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.compare(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.binary(self.relation, *x)


def _emit(s: Semantic, cls: type[Compare], operator: str, x: Any, y: Any) -> Tensor:
    """Numbers become tensors first, so that they are not weak: an fp16 tile and 1.5 compare in fp32."""
    x, y = s.binary(s.to_tensor(x), s.to_tensor(y), operator)
    return s.emit(cls, x, y)


class Equal(Compare, name="tile.eq"):
    """Whether x equals y; false where a float is NaN.

    >>> tl.arange(0, 3) == 1
    [False, True, False]
    """

    predicate: ClassVar[Any] = "eq"
    commutative = True

    relation = "=="

    @surface("eq", module="operator", operator="==")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, Equal, "==", x, y)


class NotEqual(Compare, name="tile.ne"):
    """Whether x differs from y; true where a float is NaN.

    >>> tl.arange(0, 3) != 1
    [True, False, True]
    """

    predicate: ClassVar[Any] = "ne"
    commutative = True

    relation = "!="

    @surface("ne", module="operator", operator="!=")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, NotEqual, "!=", x, y)


class Less(Compare, name="tile.lt"):
    """Whether x is less than y; false where a float is NaN.

    >>> tl.arange(0, 3) < 1
    [True, False, False]
    """

    predicate: ClassVar[Any] = "lt"

    relation = "<"

    @surface("lt", module="operator", operator="<")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, Less, "<", x, y)


class LessEqual(Compare, name="tile.le"):
    """Whether x is at most y; false where a float is NaN.

    >>> tl.arange(0, 3) <= 1
    [True, True, False]
    """

    predicate: ClassVar[Any] = "le"

    relation = "<="

    @surface("le", module="operator", operator="<=")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, LessEqual, "<=", x, y)


class Greater(Compare, name="tile.gt"):
    """Whether x is greater than y; false where a float is NaN.

    >>> tl.arange(0, 3) > 1
    [False, False, True]
    """

    predicate: ClassVar[Any] = "gt"

    relation = ">"

    @surface("gt", module="operator", operator=">")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, Greater, ">", x, y)


class GreaterEqual(Compare, name="tile.ge"):
    """Whether x is at least y; false where a float is NaN.

    >>> tl.arange(0, 3) >= 1
    [False, True, True]
    """

    predicate: ClassVar[Any] = "ge"

    relation = ">="

    @surface("ge", module="operator", operator=">=")
    @staticmethod
    def build(s: Semantic, x: Any, y: Any) -> Tensor:
        return _emit(s, GreaterEqual, ">=", x, y)


for _cls, _swapped, _negated in (
    (Equal, Equal, NotEqual),
    (NotEqual, NotEqual, Equal),
    (Less, Greater, GreaterEqual),
    (LessEqual, GreaterEqual, Greater),
    (Greater, Less, LessEqual),
    (GreaterEqual, LessEqual, Less),
):
    _cls.swapped, _cls.negated = _swapped, _negated
