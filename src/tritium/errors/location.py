"""Source locations: what a `Loc` is, and where the text of a source line comes from."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from types import FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class Loc:
    """A range of source text: `line` is 1-based, columns are 0-based and count characters.

    `end_col` is exclusive; `end_line` 0 means that only the start is known. `function` is the kernel or
    helper that holds the range; `caller` is the call site when that helper was inlined, whose own `caller`
    is the next one out. `origin` is the (line, col) of the function's `def`, where Triton starts to count.
    """

    file: str
    line: int
    col: int = 0
    end_line: int = 0
    end_col: int = 0
    function: str = ""
    caller: Loc | None = None
    origin: tuple[int, int] | None = None

    def at_caller(self, caller: Loc) -> Loc:
        """This location as seen when its function (and whatever inlined that one) was inlined at `caller`."""
        return replace(self, caller=caller if self.caller is None else self.caller.at_caller(caller))

    def frames(self) -> tuple[Loc, ...]:
        """This location, then each call site that led to it, innermost first."""
        found: list[Loc] = []
        frame: Loc | None = self
        while frame is not None:
            found.append(frame)
            frame = frame.caller
        return tuple(found)

    def from_def(self) -> tuple[int, int]:
        """(line, col) as Triton counts them: line 1 is the `def`, columns are of the dedented source."""
        if self.origin is None:
            return self.line, self.col
        return self.line - self.origin[0] + 1, max(self.col - self.origin[1], 0)

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values, `caller` nested."""
        return asdict(self)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.col + 1}"
        return f"{where} in {self.function}" if self.function else where


def character_column(line: str, utf8_offset: int) -> int:
    """The character column of a UTF-8 byte offset, which is what `ast` nodes carry in `col_offset`."""
    if line.isascii():
        return utf8_offset
    return len(line.encode("utf-8")[:utf8_offset].decode("utf-8", errors="ignore"))


_registered: dict[str, dict[int, str]] = {}
_registered_lock = threading.Lock()


def register_source(file: str, text: str, first_line: int = 1) -> None:
    """Remember `text` as lines `first_line`... of `file`, for kernels that `linecache` cannot find.

    Kernels from `exec`, a prompt or a string have a file name that leads nowhere. A second text for the same
    file adds its lines and replaces those that it covers.
    """
    lines = {first_line + i: line for i, line in enumerate(text.splitlines())}
    with _registered_lock:
        _registered[file] = {**_registered.get(file, {}), **lines}


def source_line(file: str, line: int) -> str | None:
    """The text of one line without its line end, or None where no source can be had."""
    lines = _registered.get(file)
    if lines is not None and line in lines:
        return lines[line]
    if line < 1:
        return None
    text = linecache.getline(file, line)
    return text.rstrip("\r\n") if text else None


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def call_site() -> Loc | None:
    """Where the program's own code called into this package, or None when nothing of it is on the stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file = frame.f_code.co_filename
    if file.startswith("<frozen") or source_line(file, frame.f_lineno) is None:
        return None
    function = "" if frame.f_code.co_name == "<module>" else frame.f_code.co_name
    return _call_range(frame, file, function)


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    if module in ("contextlib", "functools") or module.startswith("importlib"):  # between the program and us
        return True
    return frame.f_code.co_filename.startswith(_PACKAGE) or module.startswith("tritium.")


def _call_range(frame: FrameType, file: str, function: str) -> Loc:
    positions: Callable[[], Iterator[tuple[int | None, ...]]] | None
    positions = getattr(frame.f_code, "co_positions", None)  # Python 3.11
    if positions is None:
        return Loc(file, frame.f_lineno, function=function)
    line, end_line, col, end_col = next(islice(positions(), frame.f_lasti // 2, None))
    if line is None or end_line is None or col is None or end_col is None:
        return Loc(file, frame.f_lineno, function=function)
    col = character_column(source_line(file, line) or "", col)
    return Loc(
        file, line, col, end_line, character_column(source_line(file, end_line) or "", end_col), function
    )
