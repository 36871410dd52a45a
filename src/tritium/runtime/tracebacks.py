"""Tracebacks that show a user's own lines: frames of Tritium are taken out on the way to the user.

What remains of ours is the one frame that raises. A fault inside Tritium keeps every frame, since those are what a
report needs; so does TRITON_FRONT_END_DEBUGGING=1.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import CodeType, TracebackType

from tritium import config
from tritium.errors import TritiumError

_HERE = str(Path(__file__).resolve().parents[1]) + os.sep


def is_ours(filename: str) -> bool:
    """Whether a source file belongs to Tritium."""
    return filename.startswith(_HERE)


def cleaned(error: BaseException) -> BaseException:
    """`error` without our frames, to be raised again. A fault of ours is left as it is."""
    last = _last_code(error.__traceback__)
    users = isinstance(error, TritiumError) or last is None or not is_ours(last.co_filename)
    if not users or config.environment("TRITON_FRONT_END_DEBUGGING") not in (None, "", "0"):
        return error
    return error.with_traceback(without_ours(error.__traceback__))


def users_level() -> int:
    """The `stacklevel` with which a warning of the calling function names the user's line."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    return level


def without_ours(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without frames of ours."""
    kept: list[TracebackType] = []
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    out: TracebackType | None = None
    for frame in reversed(kept):
        out = TracebackType(out, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return out


def _last_code(trace: TracebackType | None) -> CodeType | None:
    """The code in which the error was raised. Errors of Python's library and of NumPy count for who called them."""
    found: CodeType | None = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if found is None or not _is_library(code.co_filename):
            found = code
        trace = trace.tb_next
    return found


def _is_library(filename: str) -> bool:
    parts = filename.replace(os.sep, "/")
    return "/site-packages/" in parts or filename.startswith(os.path.dirname(os.__file__))
