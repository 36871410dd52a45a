"""Which integer ops must wrap as the language says, and which may be plain C++ because it cannot matter.

Signed overflow is undefined in C++, so an addition that may leave its range is written as one of unsigned numbers. It is
plain where all of this holds:

- its value only serves to find addresses, to mask accesses and to bound loops;
- nothing in it was read from memory: it is made of program ids, coordinates, counters and arguments;
- it is a sum of these, or of their products, with factors that are sizes: not the constant of a hash, and not negative,
  so that nothing takes away again what has overflowed. The same holds of what is computed from it.

An index of that kind that overflowed would name memory the kernel cannot mean, wrapped or not. Everything else keeps the
exact form: hashes and generators, comparisons that choose values, indices that were looked up, sums over data, differences.
"""

from __future__ import annotations

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Function, Op, Region, Value
from tritium.ops.arithmetic import Add, Mul, Sub
from tritium.ops.atomic import AtomicRmw
from tritium.ops.base import TileOp
from tritium.ops.bitwise import And
from tritium.ops.cast import Cast
from tritium.ops.compare import Compare
from tritium.ops.control import For, Yield
from tritium.ops.facts import NOTHING
from tritium.ops.gpu_async import CopyAsync
from tritium.ops.gpu_shared import ConvertLayout, CopyToShared
from tritium.ops.hints import Hint
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.shape import Broadcast, ExpandDims, Permute

_RENAMES = (Broadcast, ExpandDims, Permute, Hint, ConvertLayout)
_MASKED = (Load, Store, AtomicRmw, CopyToShared, CopyAsync)
_LARGEST_SIZE = 1 << 20
"""No tile has an extent beyond this: a factor that is no smaller scrambles numbers."""


def wrapping_ops(function: Function, facts: ValueFacts) -> frozenset[Op]:
    """The ops among + - * of integers that must be written with wrapping arithmetic."""
    uses, sources = _Uses(facts), _Sources()
    found: set[Op] = set()
    for op in function.walk():
        if not isinstance(op, (Add, Sub, Mul)) or op.is_float or not _may_wrap(op, facts):
            continue
        result = op.results[0]
        if not (_is_index(op, facts) and uses.only_addresses(result) and sources.known(result)):
            found.add(op)
    return frozenset(found)


def _may_wrap(op: Op, facts: ValueFacts) -> bool:
    """Nothing is known of values inside a combine function, which may be anything."""
    known = facts[op.results[0]]
    return known is NOTHING or any(w.op is op for w in known.wraps)


def _is_index(op: Op, facts: ValueFacts) -> bool:
    """Whether what `op` computes is a sum of small multiples of what it is made of, plus a number."""
    exact = facts[op.results[0]].poly
    return exact is not None and all(0 <= c < _LARGEST_SIZE for m, c in exact.terms.items() if m)


class _Uses:
    """Whether a value serves addresses, masks of accesses and bounds of loops only."""

    def __init__(self, facts: ValueFacts) -> None:
        self.facts = facts
        self.known: dict[Value, bool] = {}

    def only_addresses(self, value: Value) -> bool:
        found = self.known.get(value)
        if found is None:
            self.known[value] = True  # a value that meets itself around a loop adds no other use
            found = self.known[value] = all(self._use(value, user, index) for user, index in value.uses)
        return found

    def _use(self, value: Value, user: Op, index: int) -> bool:
        if isinstance(user, AddPtr):
            return True
        if isinstance(user, Compare):
            return self._only_masks(user.result)
        if isinstance(user, Cast):
            source, target = user.x.type.scalar, user.to
            wider = target.is_int() and target.primitive_bitwidth >= source.primitive_bitwidth
            return wider and self.only_addresses(user.result)
        if isinstance(user, (Add, Sub, Mul)):
            return _is_index(user, self.facts) and self.only_addresses(user.result)
        if isinstance(user, _RENAMES):
            return self.only_addresses(user.results[0])
        if isinstance(user, For):
            return index < 3 or (
                self.only_addresses(user.body.args[index - 2])
                and self.only_addresses(user.results[index - 3])
            )
        if isinstance(user, Yield) and isinstance(owner := user.parent_op(), For):
            return self.only_addresses(owner.body.args[index + 1]) and self.only_addresses(
                owner.results[index]
            )
        return False

    def _only_masks(self, value: Value) -> bool:
        """Whether a condition does nothing but mask accesses."""
        for user, _ in value.uses:
            if isinstance(user, _MASKED):
                others = [v for v in user.operands if v is value]
                if user.mask is not value or len(others) != 1:
                    return False
            elif not isinstance(user, (And, *_RENAMES)) or not self._only_masks(user.results[0]):
                return False
        return True


class _Sources:
    """Whether a value is made of nothing that was read from memory."""

    def __init__(self) -> None:
        self._known: dict[Value, bool] = {}

    def known(self, value: Value) -> bool:
        found = self._known.get(value)
        if found is None:
            self._known[value] = True  # what a loop adds to it is looked at below
            found = self._known[value] = self._made(value)
        return found

    def _made(self, value: Value) -> bool:
        owner = value.owner
        if isinstance(owner, Region):
            return self._argument(owner, value)
        assert isinstance(owner, TileOp)
        if isinstance(owner, For):
            at = owner.results.index(value)
            return self.known(owner.inits[at]) and self.known(owner.body.ops[-1].operands[at])
        quiet = not owner.regions and not owner.effects()
        return quiet and all(self.known(v) for v in owner.operands)

    def _argument(self, region: Region, value: Value) -> bool:
        holder = region.parent
        if not isinstance(holder, Op):
            return True  # an argument of the kernel
        if not isinstance(holder, For):
            return False
        at = region.args.index(value)
        if at == 0:
            return all(self.known(v) for v in (holder.lower, holder.upper, holder.step))
        return self.known(holder.inits[at - 1]) and self.known(region.ops[-1].operands[at - 1])
