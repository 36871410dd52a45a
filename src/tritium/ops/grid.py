"""Arithmetic on positions in the grid."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.semantic import Semantic, is_number
from tritium.ops.surface import OPERATORS, SURFACES, surface

_AT_COMPILE_TIME: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}


@surface("swizzle2d")
def swizzle2d(s: Semantic, i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Tensor, Tensor]:
    """The position (i, j) of a row-major `size_i` x `size_j` matrix, moved so that groups of `size_g` rows are walked
    column by column.

    Neighbouring program instances then share rows and columns of a matrix product, which the L2 cache likes. With
    four rows, four columns and groups of two, the position of the row-major number n in the new order is ::

        0  2  4  6
        1  3  5  7
        8 10 12 14
        9 11 13 15

    >>> tl.swizzle2d(tl.load(i), tl.load(i + 1), 4, 4, 2)
    (1, 0)
    """

    def compute(sign: str, a: Any, b: Any) -> Any:
        if is_number(a) and is_number(b):
            return constexpr(_AT_COMPILE_TIME[sign](unwrap(a), unwrap(b)))
        return OPERATORS[sign](s, a, b)

    number = compute("+", compute("*", i, size_j), j)
    in_group = compute("*", size_g, size_j)
    first_row = compute("*", compute("//", number, in_group), size_g)
    left = compute("-", size_i, first_row)
    if is_number(left) and is_number(size_g):
        rows: Any = constexpr(min(unwrap(left), unwrap(size_g)))
    else:
        rows = SURFACES["tl.minimum"](s, left, size_g)  # the last group may have fewer
    number = compute("%", number, in_group)
    row, column = compute("+", first_row, compute("%", number, rows)), compute("//", number, rows)
    return s.to_tensor(row), s.to_tensor(column)
