"""What can be chosen for a run of the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from tritium.ir.core import Op

LineKey = int | tuple[str, int]


def _to_stdout(text: str) -> None:
    sys.stdout.write(text)


def is_traced(op: Op, lines: frozenset[LineKey]) -> bool:
    """Whether `op` comes from one of the source lines."""
    loc = op.loc
    return loc is not None and (loc.line in lines or (loc.file, loc.line) in lines)


@dataclass(frozen=True)
class Options:
    """chunk_elements   elements of the largest value in one batch: large enough to amortise Python's cost per op,
                        small enough that values stay in the caches
    write            where prints, traces and the prompt's answers go
    trace_lines      source lines, or (file, line) pairs, whose values are printed as they are computed
    trace_programs   for how many program instances per batch a trace prints
    raw_access       trust every address, not only those computed from integers
    """

    chunk_elements: int = 1 << 17
    write: Callable[[str], None] = _to_stdout
    trace_lines: frozenset[LineKey] = field(default_factory=frozenset[LineKey])
    trace_programs: int = 8
    raw_access: bool = False
