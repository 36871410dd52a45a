"""The store of decisions: what was planned for a kernel, and what was rejected and why.

Matchers of specialisations put a `Decision` here for every place they looked at, whether it applied or not. The store
belongs to one compilation; reports and tests read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tritium.errors import Loc


@dataclass(frozen=True, slots=True)
class Decision:
    """One matcher's answer at one place.

    name      of the specialisation or pass
    applied   whether it was done
    text      the plan as text, or the rule that failed as a sentence
    loc       the kernel line it is about
    hint      what the author of the kernel could change, "" if nothing
    """

    name: str
    applied: bool
    text: str
    loc: Loc | None = None
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "applied": self.applied,
            "text": self.text,
            "line": self.loc.line if self.loc else None,
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

    def add(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def about(self, line: int) -> list[Decision]:
        """Decisions on one kernel line."""
        return [d for d in self.decisions if d.loc is not None and d.loc.line == line]
