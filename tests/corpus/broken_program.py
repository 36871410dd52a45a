"""What a broken program is: a script that must fail, and the line and kind that its error must name."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "syntax": "a construct that kernels do not have",
    "type": "element types, pointers and arguments that do not fit",
    "shape": "block shapes that do not fit",
    "name": "names that stand for nothing",
    "constexpr": "a value that must be known at compile time, or whose compile-time value is refused",
    "launch": "arguments and grids that a launch cannot take",
}
"""Every kind of error, and what it covers."""

MARK = "  #!"

HEADER = """\
import numpy as np

import tritium as triton
import tritium.language as tl

"""


@dataclass(frozen=True)
class Broken:
    """A script that must fail with a located error."""

    name: str
    kind: str
    source: str
    line: int
    """1-based line of ``source`` that the error must name."""
    mentions: tuple[str, ...]
    """Texts that the message must contain: the culprit's name, what was expected, what came."""


def broken(name: str, kind: str, body: str, *mentions: str) -> Broken:
    """A script made of the usual imports and ``body``, whose offending line ends in the mark ``  #!``."""
    if kind not in KINDS:
        raise ValueError(f"broken program {name} has the unknown kind {kind!r}")
    lines = (HEADER + body).splitlines()
    marked = [number for number, line in enumerate(lines, start=1) if line.endswith(MARK)]
    if len(marked) != 1:
        raise ValueError(f"broken program {name} needs one marked line, has {len(marked)}")
    source = "\n".join(line.removesuffix(MARK) for line in lines) + "\n"
    return Broken(name, kind, source, marked[0], mentions)
