"""Addition, subtraction, multiplication, division, remainder."""

from __future__ import annotations

from typing import Any

from tritium.ir.types import PointerType
from tritium.ops.base import Array, attr, operand
from tritium.ops.elementwise import Elementwise
from tritium.ops.handles import Tensor
from tritium.ops.memory import AddPtr
from tritium.ops.semantic import Semantic
from tritium.ops.surface import surface


class Add(Elementwise, name="tile.add"):
    """Sum of x and y per element. Integers wrap, int1 adds modulo 2, floats round once.

    `sanitize_overflow` marks a source-level addition whose wrapping debug mode reports.
    """

    x = operand()
    y = operand()
    sanitize_overflow = attr(True)
    commutative = True
    associative = True

    def eval(self, *args: Array) -> Array:
        return self.numerics.add(args[0], args[1], self.format)

    @surface("add", operator="+")
    def build(s: Semantic, x: Any, y: Any, sanitize_overflow: Any = True) -> Tensor:
        x_ptr, y_ptr = _is_pointer(x), _is_pointer(y)
        if x_ptr and y_ptr:
            s.fail("TRI0402", got="another pointer")
        if x_ptr or y_ptr:
            return AddPtr.offset(s, x if x_ptr else y, y if x_ptr else x)
        x, y = s.binary(x, y)
        return s.emit(Add, x, y, sanitize_overflow=s.const_bool(sanitize_overflow, "sanitize_overflow"))


def _is_pointer(x: Any) -> bool:
    return isinstance(x, Tensor) and isinstance(x.dtype, PointerType)
