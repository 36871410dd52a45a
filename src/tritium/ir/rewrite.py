"""Local rewrites: functions on one op, applied until nothing changes, each application recorded by name.

::

    @rewrite(Mul, name="x * 1 is x")
    def times_one(op: Mul, r: Rewriter) -> Replacement:
        return op.x if is_constant(op.y, 1) else None

A rewrite looks at `op` and returns what stands for its results: a value, a list of values, `ERASED` for an op
without results, or None where the pattern does not apply. New ops are built with ``r.emit(...)``; they land in
front of `op` with its location. A rule that changes something else says so with ``r.replace(...)`` or
``r.rewritten(...)`` and returns None.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value

ERASED: list[Value] = []
"""Returned by a rewrite of an op without results: the op goes away."""

Replacement = Value | Sequence[Value] | None
Rule = Callable[[Any, "Rewriter"], Replacement]


class RewriteSet:
    """A named collection of rules by op class; ``rules.apply(function)`` runs them to a fixpoint."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.by_class: dict[type[Op], list[tuple[str, Rule]]] = defaultdict(list)
        self.on_all: list[tuple[str, Rule]] = []
        self._resolved: dict[type[Op], list[tuple[str, Rule]]] = {}

    def rule(self, *classes: type[Op], name: str) -> Callable[[Rule], Rule]:
        """Register a rule for ops of `classes` (subclasses included); without classes, for every op."""

        def register(fn: Rule) -> Rule:
            for cls in classes:
                self.by_class[cls].append((name, fn))
            if not classes:
                self.on_all.append((name, fn))
            self._resolved.clear()
            return fn

        return register

    def rules_for(self, cls: type[Op]) -> list[tuple[str, Rule]]:
        found = self._resolved.get(cls)
        if found is None:
            found = [r for base in cls.__mro__ for r in self.by_class.get(base, ())] + self.on_all
            self._resolved[cls] = found
        return found

    def apply(self, function: Function, limit: int | None = None) -> dict[str, int]:
        """Run to a fixpoint. Gives how often each rule fired.

        `limit` bounds a rule set that never settles; by default a number that no settling one reaches. Where it stops
        the run, the function is as good as before, only not in its simplest form.
        """
        return Rewriter(self).run(function, limit)


class Rewriter:
    """One run of a rule set; rules build new ops and change others through it."""

    def __init__(self, rules: RewriteSet) -> None:
        self.rules = rules
        self.fired: dict[str, int] = {}
        self.pending: list[Op] = []
        self.queued: set[Op] = set()
        self.builder = Builder(Region())
        self.changed = False

    def emit(self, cls: type[Op], *args: Any, **kw: Any) -> Value:
        """A new op in front of the one being rewritten; gives its only result."""
        op = self.builder.insert(cls(*args, **kw))  # type: ignore[call-arg]
        self._push(op)
        return op.result

    def replace(self, old: Value, new: Value) -> None:
        """Let `new` stand for `old` everywhere: for rules that change something else than the op they look at."""
        users = [user for user, _ in old.uses]
        if not users or old is new:
            return
        old.replace_uses_with(new)
        self.changed = True
        self._revisit(users)

    def rewritten(self, op: Op) -> None:
        """`op` was changed in place; it and its users are looked at again."""
        self.changed = True
        self._revisit([op, *(user for r in op.results for user, _ in r.uses)])

    def _push(self, op: Op) -> None:
        if op not in self.queued:
            self.queued.add(op)
            self.pending.append(op)

    def _revisit(self, ops: Sequence[Op]) -> None:
        for op in ops:
            self._push(op)
            holder = op.parent_op() if op.is_terminator else None
            if holder is not None:  # what a region yields is what its op gives
                self._push(holder)

    def run(self, function: Function, limit: int | None) -> dict[str, int]:
        for op in reversed(list(function.walk())):
            self._push(op)
        left = 100 * len(self.pending) + 1000 if limit is None else limit
        while self.pending and left > 0:
            op = self.pending.pop()
            self.queued.discard(op)
            if op.parent is not None and self._rewrite(op, op.parent):
                left -= 1
        return self.fired

    def _rewrite(self, op: Op, region: Region) -> bool:
        """Try the rules on `op` until one fires. Whether one did."""
        self.builder.region, self.builder.anchor, self.builder.loc = region, op, op.loc
        for name, rule in self.rules.rules_for(type(op)):
            self.changed = False
            found = rule(op, self)
            if found is None and not self.changed:
                continue
            self.fired[name] = self.fired.get(name, 0) + 1
            if found is not None:
                self._stand_in(op, found)
            else:
                self._push(op)
            return True
        return False

    def _stand_in(self, op: Op, found: Value | Sequence[Value]) -> None:
        """Let what a rule found stand for `op`, which goes away."""
        users = [user for r in op.results for user, _ in r.uses]
        feeders = [v.owner for v in op.operands if isinstance(v.owner, Op)]
        op.replace_with([found] if isinstance(found, Value) else found)
        self._revisit(users + feeders)
