"""The logs of NVRTC and of its assembler, read: located messages, and what a kernel was reported to use.

=====================================================================  =====================================
line of a log                                                          becomes
=====================================================================  =====================================
``k.py(33): error: identifier "x" is undefined`` and its excerpt       error at line 33 of k.py
``ptxas application ptx input, line 47; error : Unknown ...``          error; ``.loc`` of the PTX says where
``ptxas error : Entry function 'k' uses too much shared data``         error without a place
``ptxas info : (C7510) Potential Performance Loss: ...``               advice
``ptxas info : Used 64 registers, ...``                                `Usage`
=====================================================================  =====================================

Lines of the generated source become lines of the kernel by the table that the generator hands over, or by ``#line``
directives in the source (`with_directives` puts them in, for debuggers and profilers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tritium.errors import Loc, source_line

ERROR, WARNING, ADVICE = "error", "warning", "advice"

_COMPILER = re.compile(
    r"^(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning|remark)\s*(?P<number>#[\w-]+)?: (?P<text>.*)$"
)
_AT_PTX_LINE = re.compile(r"^\s*ptxas .*?, line (?P<line>\d+); (?P<kind>\w+)\s*: (?P<text>.*)$")
_ASSEMBLER = re.compile(r"^\s*ptxas (?P<kind>error|fatal|warning)\s*: (?P<text>.*)$")
_COMPILER_ITSELF = re.compile(r"^nvrtc: (?P<kind>error|warning): (?P<text>.*)$")
_ADVICE = re.compile(r"^\s*ptxas info\s*: (?P<text>\(C\d+\).*)$")
_NOT_NEWS = ("Ptx assembly aborted",)

_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_PTX_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)$")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a log.

    kind       "error", "warning" or "advice"
    text       the sentence
    file       the file it names, "" if none; `line` is 0 then
    ptx_line   the line of the PTX text it names, 0 if none
    excerpt    the generated line that it quotes, "" if none
    assembler  whether it is the assembler's
    """

    kind: str
    text: str
    file: str = ""
    line: int = 0
    ptx_line: int = 0
    excerpt: str = ""
    assembler: bool = False

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def loc(self, kernel: str, generated: str, lines: Mapping[int, Loc] | None = None) -> Loc | None:
        """The place in the kernel's source, or None where that is not known.

        `generated` is what the generated source calls itself, and `lines` says for its lines where they come from.
        """
        if self.file == generated:
            return (lines or {}).get(self.line)
        if not self.file:
            return None
        text = source_line(self.file, self.line) or ""
        start = len(text) - len(text.lstrip())
        return Loc(self.file, self.line, start, self.line if text else 0, len(text.rstrip()), kernel)


def parse_log(log: str) -> tuple[Message, ...]:
    """The errors, warnings and advice in a log, in order."""
    found: list[Message] = []
    lines = log.replace("\0", "").splitlines()
    for number, line in enumerate(lines):
        message = _compiler_message(line, lines[number + 1 : number + 2]) or _assembler_message(line)
        if message is not None and not message.text.startswith(_NOT_NEWS):
            found.append(message)
    return tuple(found)


def _compiler_message(line: str, following: list[str]) -> Message | None:
    match = _COMPILER.match(line)
    if match is None:
        return None
    kind = ERROR if match["kind"] == "error" else WARNING
    excerpt = following[0].strip() if following and following[0].startswith(" ") else ""
    return Message(kind, match["text"].strip(), match["file"], int(match["line"]), excerpt=excerpt)


def _assembler_message(line: str) -> Message | None:
    at_line = _AT_PTX_LINE.match(line)
    if at_line is not None:
        kind = WARNING if at_line["kind"] in ("warning", "info") else ERROR
        return Message(kind, at_line["text"].strip(), ptx_line=int(at_line["line"]), assembler=True)
    if advice := _ADVICE.match(line):
        return Message(ADVICE, advice["text"].strip(), assembler=True)
    assembler = _ASSEMBLER.match(line)
    plain = assembler or _COMPILER_ITSELF.match(line)
    if plain is None:
        return None
    kind = WARNING if plain["kind"] == "warning" else ERROR
    return Message(kind, plain["text"].strip(), assembler=assembler is not None)


def located(messages: Iterable[Message], ptx: str) -> tuple[Message, ...]:
    """`messages` with places of the source for those that name a line of `ptx`, by its ``.loc`` directives."""
    lines = ptx.splitlines()
    files = {int(m[1]): m[2] for m in map(_PTX_FILE.match, lines) if m is not None}
    out: list[Message] = []
    for message in messages:
        if message.ptx_line and not message.file:
            quoted = lines[message.ptx_line - 1].strip() if message.ptx_line <= len(lines) else ""
            file, line = _place(lines[: message.ptx_line], files)
            message = replace(message, file=file, line=line, excerpt=quoted)
        out.append(message)
    return tuple(out)


def _place(lines: list[str], files: dict[int, str]) -> tuple[str, int]:
    """The last source place given before the end of `lines`."""
    for line in reversed(lines):
        match = _PTX_LOC.match(line)
        if match is not None and int(match[2]):
            return files.get(int(match[1]), ""), int(match[2])
    return "", 0


def with_directives(text: str, lines: Mapping[int, Loc]) -> str:
    """`text` with a ``#line`` directive wherever its lines stop to follow one another in the kernel's source."""
    out: list[str] = []
    expected: tuple[str, int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        loc = lines.get(number)
        if loc is not None:
            here = loc.file, loc.line
            if here != expected:
                file = loc.file.replace("\\", "\\\\").replace('"', '\\"')
                out.append(f'#line {loc.line} "{file}"')
                expected = here
        out.append(line)
        if expected is not None:
            expected = expected[0], expected[1] + 1
    return "\n".join(out) + "\n"


@dataclass(frozen=True, slots=True)
class Usage:
    """What the assembler reported about one kernel; fields as in `tritium.backends.cuda.resources.Resources`."""

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int
    barriers: int


def parse_usage(log: str, kernel: str) -> Usage | None:
    """The assembler's report on `kernel` (it is asked for with ``--ptxas-options=-v``), or None if there is none."""
    stack = stores = loads = 0
    current = ""
    for line in log.splitlines():
        if entry := _ENTRY.search(line):
            current = entry[1]
        elif current == kernel and (spills := _SPILLS.search(line)):
            stack, stores, loads = map(int, spills.groups())
        elif current == kernel and (used := _USED.search(line)):
            barriers, shared = _BARRIERS.search(used[2]), _SHARED.search(used[2])
            return Usage(
                int(used[1]),
                stores,
                loads,
                stack,
                int(shared[1]) if shared else 0,
                int(barriers[1]) if barriers else 0,
            )
    return None
