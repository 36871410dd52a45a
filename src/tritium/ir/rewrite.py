"""Local rewrites: functions on one op, applied until nothing changes, each application recorded by name.

::

    @rewrite(Mul, name="x * 1 is x")
    def times_one(op: Mul, r: Rewriter) -> Replacement:
        return op.x if is_constant(op.y, 1) else None

A rewrite looks at `op` and returns what stands for its results: a value, a list of values, `ERASED` for an op
without results, or None where the pattern does not apply. New ops are built with ``r.emit(...)``; they land in
front of `op` with its location.
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

    def apply(self, function: Function, limit: int = 100_000) -> dict[str, int]:
        """Run to a fixpoint. Gives how often each rule fired. `limit` bounds a rule set that never settles."""
        return Rewriter(self).run(function, limit)


class Rewriter:
    """One run of a rule set; rules build new ops through it."""

    def __init__(self, rules: RewriteSet) -> None:
        self.rules = rules
        self.fired: dict[str, int] = {}
        self.pending: list[Op] = []
        self.queued: set[Op] = set()
        self.builder = Builder(Region())

    def emit(self, cls: type[Op], *args: Any, **kw: Any) -> Value:
        """A new op in front of the one being rewritten; gives its only result."""
        op = self.builder.insert(cls(*args, **kw))  # type: ignore[call-arg]
        self._push(op)
        return op.result

    def _push(self, op: Op) -> None:
        if op not in self.queued:
            self.queued.add(op)
            self.pending.append(op)

    def run(self, function: Function, limit: int) -> dict[str, int]:
        for op in reversed(list(function.walk())):
            self._push(op)
        while self.pending and limit > 0:
            op = self.pending.pop()
            self.queued.discard(op)
            if op.parent is None:
                continue
            for name, rule in self.rules.rules_for(type(op)):
                if self._try(op, name, rule):
                    limit -= 1
                    break
        return self.fired

    def _try(self, op: Op, name: str, rule: Rule) -> bool:
        with self.builder.before(op), self.builder.at(op.loc):
            found = rule(op, self)
        if found is None:
            return False
        values = [found] if isinstance(found, Value) else list(found)
        self.fired[name] = self.fired.get(name, 0) + 1
        users = [user for r in op.results for user, _ in r.uses]
        feeders = [v.owner for v in op.operands if isinstance(v.owner, Op)]
        op.replace_with(values)
        for touched in users + feeders:
            self._push(touched)
        return True
