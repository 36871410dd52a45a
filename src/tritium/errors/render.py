"""Turn an error into text: header, place, source excerpt with carets, remedy, notes, inlining chain."""

from __future__ import annotations

import itertools
import linecache
import unicodedata
from typing import TYPE_CHECKING

from tritium.errors.location import Loc, source_line

if TYPE_CHECKING:
    from tritium.errors.exceptions import TritiumError

_TAB = "    "
_LINES_BEFORE = 2
_LINES_AFTER = 1
_LINES_OF_RANGE = 4


def display_width(text: str) -> int:
    """Columns that `text` takes on a terminal: tabs as printed here, wide characters two, marks none."""
    width = 0
    for char in text.replace("\t", _TAB):
        if unicodedata.category(char) in ("Mn", "Me", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return width


def _caret_span(loc: Loc, line: int, text: str) -> tuple[int, int]:
    """Character range of `text` that belongs to `loc`, at least one character wide."""
    content_start = len(text) - len(text.lstrip())
    start = loc.col if line == loc.line else content_start
    end_line = loc.end_line or loc.line
    if line < end_line:
        end = len(text.rstrip())
    elif loc.end_line:
        end = loc.end_col
    else:
        end = start + 1
    start = min(start, len(text))
    return start, max(min(end, len(text)), start + 1)


def _excerpt_lines(loc: Loc) -> list[tuple[int, str]]:
    last = max(loc.end_line or loc.line, loc.line)
    shown_last = min(last, loc.line + _LINES_OF_RANGE - 1)
    after = _LINES_AFTER if shown_last == last else 0
    numbers = range(loc.line - _LINES_BEFORE, shown_last + after + 1)
    lines = [(number, source_line(loc.file, number)) for number in numbers]
    known = [(number, text) for number, text in lines if text is not None]
    while known and not known[0][1].strip() and known[0][0] != loc.line:
        known.pop(0)
    while known and not known[-1][1].strip() and known[-1][0] != loc.line:
        known.pop()
    return known


def excerpt(loc: Loc) -> str:
    """The lines around `loc` with numbers, and carets under its range; "" where the source is unknown."""
    linecache.checkcache(loc.file)
    if source_line(loc.file, loc.line) is None:
        return ""
    lines = _excerpt_lines(loc)
    end_line = loc.end_line or loc.line
    margin = len(str(lines[-1][0]))
    out = [f"{'':{margin}} |"]
    for number, text in lines:
        out.append(f"{number:{margin}} | {text}".replace("\t", _TAB).rstrip())
        if loc.line <= number <= end_line and text.strip():
            start, end = _caret_span(loc, number, text)
            carets = "^" * max(display_width(text[start:end]), 1)
            out.append(f"{'':{margin}} | {' ' * display_width(text[:start])}{carets}")
    if end_line > lines[-1][0]:
        out.append(f"{'':{margin}} | ... to line {end_line}")
    return "\n".join(out)


def _place(loc: Loc, triton_form: bool) -> str:
    text = f"  --> {loc}"
    if triton_form:
        line, col = loc.from_def()
        text += f" (at {line}:{col}: from its def)" if loc.origin else f" (at {line}:{col}:)"
    return text


def _labelled(label: str, text: str) -> str:
    """`label: text`, further lines of `text` indented under its first."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label}: {first}", *(" " * (len(label) + 2) + line for line in rest)])


def _call_chain(loc: Loc, triton_form: bool) -> list[str]:
    out: list[str] = []
    for frame in loc.frames()[1:]:
        text = (source_line(frame.file, frame.line) or "").strip()
        line, col = frame.from_def()
        at = f" (at {line}:{col}:)" if triton_form else ""
        inside = f" in {frame.function}" if frame.function else ""
        out.append(f"called from {frame.file}:{frame.line}{inside}{at}" + (f": {text}" if text else ""))
    return [
        line if count == 1 else f"{line} ({count} times)"
        for line, group in itertools.groupby(out)
        for count in [len(list(group))]
    ]


def render(error: TritiumError) -> str:
    """The whole error as plain text, ending without a newline."""
    from tritium.errors.exceptions import CompilationError

    triton_form = isinstance(error, CompilationError)
    head = f"error[{error.code}]" if error.code else "error"
    parts = [_labelled(head, error.message)]
    if error.loc is not None:
        parts.append(_place(error.loc, triton_form))
        shown = excerpt(error.loc)
        if shown:
            parts.append(shown)
    if error.expected is not None:
        parts.append(_labelled("expected", error.expected))
    if error.got is not None:
        parts.append(_labelled("got", error.got))
    if error.hint:
        parts.append(_labelled("help", error.hint))
    parts.extend(_labelled("note", note) for note in error.notes)
    if error.loc is not None:
        parts.extend(_call_chain(error.loc, triton_form))
    return "\n".join(parts)
