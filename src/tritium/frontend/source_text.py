"""Where the text of a function is found: files, notebooks, registered texts, and texts given to `exec`.

Text that is only guessed to belong to a function is compiled and compared with the function's own code object,
so a guess is never wrong: at worst nothing is found.
"""

from __future__ import annotations
import __future__

import contextlib
import dis
import functools
import inspect
import linecache
import operator
import os
import stat
import sys
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from tritium.errors import register_source, source_line

_FUTURE_FLAGS = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_LONGEST_TEXT = 4_000_000
_MOST_ITEMS = 256
_OWN_FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Lines of `file` from line number `first` on, each with its line end."""

    file: str
    first: int
    lines: list[str]

    def from_line(self, line: int) -> list[str]:
        """The lines from number `line` to the last known one."""
        return self.lines[line - self.first :] if line >= self.first else []


def find_lines(code: CodeType, module_globals: dict[str, Any], frame: FrameType | None) -> SourceLines | None:
    """The lines of the file that `code` comes from, or None.

    `frame` is where the search for texts given to `exec` starts: the frame that is applying the decorator.
    """
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, module_globals)
    found = SourceLines(file, 1, lines) if code.co_firstlineno <= len(lines) else None
    if found is not None and os.path.isfile(file):
        return found
    # the name of the file says nothing here: two texts given to `exec` may share one
    found = found or _registered_lines(file, code.co_firstlineno)
    if found is not None and compiles_to("\n" * (found.first - 1) + "".join(found.lines), code):
        return found
    text = _text_of(code, frame)
    if text is not None:
        register_source(file, text)
        return SourceLines(file, 1, text.splitlines(keepends=True))
    trusted = found is not None and (file in linecache.cache or _block_compiles_to(found, code))
    return found if trusted else None


def _registered_lines(file: str, first: int) -> SourceLines | None:
    """The lines given to `register_source`, as far as they go on without a gap around line `first`."""
    lines: list[str] = []
    start = number = first
    while (line := source_line(file, number)) is not None:
        lines.append(line + "\n")
        number += 1
    while lines and (line := source_line(file, start - 1)) is not None:
        lines.insert(0, line + "\n")
        start -= 1
    return SourceLines(file, start, lines) if lines else None


def _text_of(code: CodeType, frame: FrameType | None) -> str | None:
    """A text within reach that compiles to exactly `code`, or None."""
    marker = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    tried: set[str] = set()
    for text in _texts_in_reach(frame):
        if len(text) > _LONGEST_TEXT or marker not in text or text in tried:
            continue
        tried.add(text)
        for form in dict.fromkeys((text, textwrap.dedent(text), text.strip())):
            if compiles_to(form, code):
                return form
    return None


def _texts_in_reach(frame: FrameType | None) -> Iterator[str]:
    """Strings held by the callers, inner first, then the program's own text if it was given with `-c`."""
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OWN_FILES):
            yield from _strings(frame.f_code.co_consts)
            yield from _strings(frame.f_locals.values())
            if frame.f_globals is not frame.f_locals:
                yield from _strings(frame.f_globals.values())
        frame = frame.f_back
    yield from _prompt_history()
    arguments = sys.orig_argv
    if "-c" in arguments[:-1]:
        yield arguments[arguments.index("-c") + 1]
    with contextlib.suppress(OSError):  # `python < script.py`: Python has read it, and it is still there
        size = os.fstat(0).st_size if stat.S_ISREG(os.fstat(0).st_mode) else 0
        if 0 < size < _LONGEST_TEXT:
            yield os.pread(0, size, 0).decode(errors="replace")


def _prompt_history() -> Iterator[str]:
    """What was typed last at Python's prompt, from each line on that may start a decorated function."""
    history: Any = sys.modules.get("readline")
    if history is None or not hasattr(sys, "ps1"):
        return
    last = history.get_current_history_length()
    first = max(1, last - _MOST_ITEMS)
    lines = [history.get_history_item(i) or "" for i in range(first, last + 1)]
    for start in reversed(range(len(lines))):
        if lines[start].startswith(("@", "def ")):
            yield "\n".join(lines[start:]) + "\n"


def _strings(values: Any) -> Iterator[str]:
    """The strings among `values`, also one level down in containers and in the attributes of objects."""
    for value in list(values):
        if type(value) is str:
            yield value
        elif type(value) is dict:
            yield from (v for v in list(value.values())[:_MOST_ITEMS] if type(v) is str)
        elif type(value) in (list, tuple):
            if value and type(value[0]) is str:
                yield "".join(v for v in value if type(v) is str)
                yield "\n".join(v for v in value if type(v) is str)
            yield from (v for v in value[:_MOST_ITEMS] if type(v) is str)
        elif isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, type):
            yield from (v for v in list(vars(value).values())[:_MOST_ITEMS] if type(v) is str)


def compiles_to(text: str, code: CodeType) -> bool:
    """Whether compiling `text` as a module (under the same future statements) gives `code` somewhere inside."""
    try:
        made = compile(text, code.co_filename, "exec", code.co_flags & _FUTURE_FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError):
        return False
    pending = [made]
    while pending:
        found = pending.pop()
        if same_code(found, code):
            return True
        pending.extend(c for c in found.co_consts if isinstance(c, CodeType))
    return False


def _block_compiles_to(found: SourceLines, code: CodeType) -> bool:
    """Whether the function at the line of `code` has its instructions, for text that is not a whole module.

    Names of an outer function that `code` uses become parameters of a function around the text.
    """
    try:
        block = textwrap.dedent("".join(inspect.getblock(found.from_line(code.co_firstlineno))))
        text = f"def _outer({', '.join(code.co_freevars)}):\n" + textwrap.indent(block, "    ")
        made = compile(text, found.file, "exec", code.co_flags & _FUTURE_FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError, IndexError, tokenize.TokenError):
        return False
    (outer,) = (c for c in made.co_consts if isinstance(c, CodeType))
    inner = [c for c in outer.co_consts if isinstance(c, CodeType) and c.co_name == code.co_name]
    return any(same_instructions(c, code) for c in inner)


def same_instructions(a: CodeType, b: CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    if (a.co_names, a.co_varnames, a.co_freevars) != (b.co_names, b.co_varnames, b.co_freevars):
        return False
    if a.co_code != b.co_code and _meaning(a) != _meaning(b):
        return False
    return len(a.co_consts) == len(b.co_consts) and all(
        _same_constant(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )


def _meaning(code: CodeType) -> list[tuple[str, str]]:
    """The instructions without what depends on the module around: a method of an imported name is called otherwise."""
    same = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL", "CALL_FUNCTION": "CALL"}
    named = {*dis.hasname, *dis.haslocal, *dis.hasfree, *dis.hascompare}
    found: list[tuple[str, str]] = []
    for i in dis.get_instructions(code):
        if i.opname in ("PUSH_NULL", "PRECALL"):
            continue
        detail = str(i.argval) if i.opcode in named else str(i.arg) if "CALL" in i.opname else ""
        found.append((same.get(i.opname, i.opname), detail))
    return found


def same_code(a: CodeType, b: CodeType) -> bool:
    """Whether two code objects are the same function at the same lines."""
    if (a.co_name, a.co_firstlineno) != (b.co_name, b.co_firstlineno):
        return False
    return same_instructions(a, b) and list(a.co_lines()) == list(b.co_lines())


def _same_constant(x: Any, y: Any) -> bool:
    if isinstance(x, CodeType) and isinstance(y, CodeType):
        return same_code(x, y)
    return type(x) is type(y) and repr(x) == repr(y)
