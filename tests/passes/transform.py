"""IR text through one pass: what the tests of the passes share.

Attributes with a default may be left out of the text, and so may argument names of constants: ``%c3 = $i32 3`` stands for
``%c3 = tile.constant() {value = 3, type = !i32} : i32``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY

Run = Callable[..., Any]

_CONSTANT = re.compile(r"\$(\w+(?:<[\w<>]+>)?) (\S+)")
_DEFAULTS = re.compile(
    r'cache = "", eviction = ""(?:, volatile = false)?|sanitize_overflow = true|hints = \(\)'
)


def parse(text: str) -> Function:
    """The function written in `text`, verified in full."""
    full = _CONSTANT.sub(r"tile.constant() {value = \2, type = !\1} : \1", text)
    function = parse_function(full, REGISTRY)
    verify(function, level="total")
    return function


def body(lines: str, parameters: str = "%p: ptr<i32>, %n: i32, %c: i1, %f: f32") -> str:
    """A function with these parameters and lines, and a return."""
    return f"func @k({parameters}) {{\n{lines}\n  tile.return()\n}}\n"


def within_loop(lines: str) -> str:
    """`lines` in a branch in a loop: passes must work there too. Uses the parameters ``%n`` and ``%c``."""
    return f"""
  %outer_lower = $i32 0
  %outer_step = $i32 1
  tile.for(%outer_lower, %n, %outer_step, []) {{
  ^(%outer: i32):
    tile.if(%c) {{
{lines}
      tile.yield([])
    }} {{
      tile.yield([])
    }}
    tile.yield([])
  }}
"""


def shown(function: Function) -> str:
    """The text of `function` without attributes that have their default."""
    text = _DEFAULTS.sub("", print_function(function))
    return re.sub(r" \{(, )*\}", "", text)


def after(run: Run, text: str, record: Record | None = None) -> str:
    """What the pass `run` makes of `text`.

    Checks what holds of every pass: its result is well formed, it says whether it changed anything, and a second run
    changes nothing.
    """
    function = parse(text)
    before = print_function(function)
    changed = run(function, record if record is not None else Record())
    verify(function, level="total", after="the pass under test")
    result = print_function(function)
    assert changed == (result != before), "the pass does not say whether it changed anything"
    again = run(function, Record())
    assert print_function(function) == result and not again, "the pass has not settled"
    return shown(function)
