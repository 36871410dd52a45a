"""Which memory a pointer may point into: alias classes.

The class of a pointer is the set of kernel arguments its address can come from, found by following it back through
address arithmetic, shape ops, selections, loops and branches. A pointer made from an integer, or loaded from memory,
has no such set: it may point anywhere.

Two arguments may overlap (a caller can pass one array twice, or two views of it) unless the caller of the analysis
knows better and passes them as `distinct`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tritium.ir.core import Function, Op, Value
from tritium.ir.types import PointerType
from tritium.ops.control import For, If, While


@dataclass(frozen=True, slots=True)
class AliasClass:
    """Arguments an address may derive from, by index; `anywhere` if it may be any address at all."""

    arguments: frozenset[int] = frozenset()
    anywhere: bool = False

    def __or__(self, other: AliasClass) -> AliasClass:
        return AliasClass(self.arguments | other.arguments, self.anywhere or other.anywhere)

    def describe(self, function: Function) -> str:
        """``anything``, or the argument names."""
        if self.anywhere or not self.arguments:
            return "anything"
        return "|".join(function.args[i].name or f"arg{i}" for i in sorted(self.arguments))


ANYWHERE = AliasClass(anywhere=True)


class AliasAnalysis:
    """Alias classes of one function, computed on demand.

    distinct   indices of arguments known not to overlap any other argument's memory
    """

    def __init__(self, function: Function, distinct: Iterable[int] = ()) -> None:
        self.function = function
        self.distinct = frozenset(distinct)
        self._known: dict[Value, AliasClass] = {}

    def class_of(self, pointer: Value) -> AliasClass:
        """The alias class of a pointer or pointer tile."""
        found: AliasClass = AliasClass()
        seen: set[Value] = set()
        work = [pointer]
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            done = self._known.get(value)
            if done is not None:
                found |= done
                continue
            origins = self._origins(value)
            if origins is None:
                found |= self._leaf(value)
            else:
                work.extend(origins)
        self._known[pointer] = found
        return found

    def _leaf(self, value: Value) -> AliasClass:
        if value.owner is self.function.body:
            return AliasClass(frozenset((value.index,)))
        return ANYWHERE

    def _origins(self, value: Value) -> list[Value] | None:
        """The pointers `value` is made of, or None where the trail ends."""
        owner = value.owner
        if not isinstance(owner, Op):
            holder = owner.parent
            if isinstance(holder, For) and value.index > 0:
                return [holder.inits[value.index - 1], holder.body.ops[-1].operands[value.index - 1]]
            if isinstance(holder, While):
                return [holder.inits[value.index], holder.body.ops[-1].operands[value.index]]
            return None
        if isinstance(owner, For):
            return [owner.inits[value.index], owner.body.ops[-1].operands[value.index]]
        if isinstance(owner, While):
            return [owner.inits[value.index], owner.body.ops[-1].operands[value.index]]
        if isinstance(owner, If):
            return [r.ops[-1].operands[value.index] for r in owner.regions]
        if owner.regions or not owner.is_pure:  # type: ignore[attr-defined]
            return None
        pointers = [v for v in owner.operands if isinstance(v.type.scalar, PointerType)]
        return pointers or None

    def may_overlap(self, a: Value, b: Value) -> bool:
        """Whether accesses through `a` and `b` can touch the same byte."""
        return self.may_meet(self.class_of(a), self.class_of(b))

    def may_meet(self, x: AliasClass, y: AliasClass) -> bool:
        """The same for alias classes."""
        if x.anywhere or y.anywhere or x.arguments & y.arguments:
            return True
        return not (x.arguments <= self.distinct or y.arguments <= self.distinct)
