"""What one catalogue entry holds."""

from __future__ import annotations

from dataclasses import dataclass

from tritium.errors.exceptions import TritiumError


@dataclass(frozen=True, slots=True)
class Entry:
    """One error code. `message` and `hint` are `str.format` templates over the fields given to `make_error`.

    `broken` and `mended` are whole programs without their imports (`PROGRAM_HEAD` goes in front): the first
    raises exactly this code, the second is the same program put right. An entry whose fault no program can
    show (a damaged file, a missing device) has neither and says so in `explanation`.
    """

    code: str
    cls: type[TritiumError]
    title: str
    message: str
    explanation: str
    hint: str
    broken: str = ""
    mended: str = ""


PROGRAM_HEAD = """\
import numpy as np

import tritium as triton
import tritium.language as tl

"""


def program(text: str) -> str:
    """A `broken` or `mended` text as a program that runs on its own."""
    return PROGRAM_HEAD + text if text else ""
