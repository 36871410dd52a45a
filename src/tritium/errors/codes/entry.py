"""What one catalogue entry holds, and how its example programs are put together."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from tritium.errors.exceptions import TritiumError


@dataclass(frozen=True, slots=True)
class Entry:
    """One error code. `message` and `hint` are `str.format` templates over the fields given to `make_error`.

    `broken` and `mended` are whole programs without their imports (`PROGRAM_HEAD` goes in front): the first
    raises exactly this code, the second is the same program put right and runs to its end. An entry whose
    fault needs more than a program (a damaged file, a missing device) has neither, and `explanation` says
    when it comes up.
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
    return PROGRAM_HEAD + text


def kernel(body: str, params: str = "x_ptr", args: str = "x", before: str = "", grid: str = "(1,)") -> str:
    """A program that launches `kernel(params)` once per grid point with `args`.

    `x` is eight float32 numbers 0...7, `n` eight int32 numbers 1...8; only what `args` mentions is made.
    `before` is text to stand before the kernel, such as a helper.
    """
    mentioned = args.replace(" ", "").split(",")
    arrays = ""
    if "x" in mentioned:
        arrays += "x = np.arange(8, dtype=np.float32)\n"
    if "n" in mentioned:
        arrays += "n = np.arange(1, 9, dtype=np.int32)\n"
    before = before.strip() + "\n\n\n" if before else ""
    text = indent(body.strip("\n"), "    ")
    return f"{before}@triton.jit\ndef kernel({params}):\n{text}\n\n\n{arrays}kernel[{grid}]({args})\n"
