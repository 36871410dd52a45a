"""Matching: `Plan | Reject`, the conditions of a matcher, and the record of what was decided.

A specialisation is a pure matcher and an applier. The matcher looks at one place and returns a frozen plan that holds
every decision, or a `Reject` that names the first condition that failed. Nothing is lost: both go to the `Record` of the
compilation, from which reports answer "why did line 17 not ...?".

::

    def match_pipeline(loop: For, facts: ValueFacts) -> PipelinePlan | Reject:
        with matching() as m:
            m.require(trip_is_constant(loop), "the trip count is known only at run time", at=loop)
            m.require(len(dots) == 1, "the loop has more than one dot", at=dots[1])
            return PipelinePlan(...)
        return m.reject
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tritium.errors import Loc
from tritium.ir.core import Op


@dataclass(frozen=True, slots=True)
class Reject:
    """Why a matcher declined: the rule that failed as a sentence in the present tense, where, and what would help."""

    rule: str
    loc: Loc | None = None
    hint: str = ""


class _Declined(Exception):
    def __init__(self, reject: Reject) -> None:
        super().__init__(reject.rule)
        self.reject = reject


class matching:
    """The body of a matcher: the first `require` that fails ends it, and `reject` says which."""

    def __init__(self) -> None:
        self._reject: Reject | None = None

    def __enter__(self) -> matching:
        return self

    def require(self, condition: Any, rule: str, *, at: Op | None = None, hint: str = "") -> None:
        """Go on only if `condition` holds; otherwise the matcher rejects with `rule`."""
        if not condition:
            raise _Declined(Reject(rule, at.loc if at is not None else None, hint))

    @property
    def reject(self) -> Reject:
        """The rejection, after the block ended by one."""
        assert self._reject is not None, "the matcher's block ended without a plan or a rejection"
        return self._reject

    def __exit__(
        self, kind: type[BaseException] | None, broken: BaseException | None, tb: TracebackType | None
    ) -> bool:
        if isinstance(broken, _Declined):
            self._reject = broken.reject
            return True
        return False


@dataclass(frozen=True, slots=True)
class Decision:
    """One entry of the record.

    name      of the pass or specialisation
    applied   whether it was done
    text      the plan as text, or the rule that failed
    loc       the kernel line it is about
    hint      what the author of the kernel could change, "" if nothing
    """

    name: str
    applied: bool
    text: str
    loc: Loc | None = None
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        line = self.loc.line if self.loc else None
        return {
            "name": self.name,
            "applied": self.applied,
            "text": self.text,
            "line": line,
            "hint": self.hint,
        }

    def __str__(self) -> str:
        where = f"line {self.loc.line}: " if self.loc else ""
        verdict = "applied" if self.applied else "not applied"
        return f"{where}{self.name} {verdict}: {self.text}" + (f" ({self.hint})" if self.hint else "")


@dataclass
class Record:
    """All decisions of one compilation, in order."""

    decisions: list[Decision] = field(default_factory=list)

    def plan(self, name: str, text: str, at: Op | None = None) -> None:
        """`name` was applied as `text` says."""
        self.decisions.append(Decision(name, True, text, at.loc if at is not None else None))

    def reject(self, name: str, rejected: Reject) -> None:
        """`name` did not apply."""
        self.decisions.append(Decision(name, False, rejected.rule, rejected.loc, rejected.hint))

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def about(self, line: int) -> list[Decision]:
        """Decisions on one kernel line."""
        return [d for d in self.decisions if d.loc is not None and d.loc.line == line]
