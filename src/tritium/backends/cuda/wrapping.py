"""Which integer ops must wrap as the language says, and which may be plain C++ because it cannot matter.

Signed overflow is undefined in C++, so an addition that may leave its range is written as one of unsigned numbers,
unless its value only serves to find addresses: an offset or a bound that overflowed would name memory the kernel cannot
mean, wrapped or not. Hashes and generators mix their bits (``& % >> ^``) or store them, and keep the exact form.
"""

from __future__ import annotations

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Function, Op, Value
from tritium.ops.arithmetic import Add, Mul, Sub
from tritium.ops.cast import Cast
from tritium.ops.compare import Compare
from tritium.ops.control import For, Yield
from tritium.ops.gpu_shared import ConvertLayout
from tritium.ops.hints import Hint
from tritium.ops.memory import AddPtr
from tritium.ops.shape import Broadcast, ExpandDims, Permute

_CARRIES_ON = (Add, Sub, Mul, Broadcast, ExpandDims, Permute, Hint, ConvertLayout)


def wrapping_ops(function: Function, facts: ValueFacts) -> frozenset[Op]:
    """The ops among + - * of integers that must be written with wrapping arithmetic."""
    addresses = _Addresses()
    found: set[Op] = set()
    for op in function.walk():
        integers = isinstance(op, (Add, Sub, Mul)) and not op.is_float
        if integers and op in facts[op.results[0]].wraps and not addresses.only(op.results[0]):
            found.add(op)
    return frozenset(found)


class _Addresses:
    """Whether a value serves addresses and bounds only."""

    def __init__(self) -> None:
        self.known: dict[Value, bool] = {}

    def only(self, value: Value) -> bool:
        found = self.known.get(value)
        if found is None:
            self.known[value] = True  # a value that meets itself around a loop adds no other use
            found = self.known[value] = all(self._use(user, index) for user, index in value.uses)
        return found

    def _use(self, user: Op, index: int) -> bool:
        if isinstance(user, (Compare, AddPtr)):
            return True
        if isinstance(user, Cast):
            source, target = user.x.type.scalar, user.to
            wider = target.is_int() and target.primitive_bitwidth >= source.primitive_bitwidth
            return wider and self.only(user.result)
        if isinstance(user, _CARRIES_ON):
            return self.only(user.result)
        if isinstance(user, For):
            return index < 3 or (self.only(user.body.args[index - 2]) and self.only(user.results[index - 3]))
        if isinstance(user, Yield) and isinstance(owner := user.parent_op(), For):
            return self.only(owner.body.args[index + 1]) and self.only(owner.results[index])
        return False
