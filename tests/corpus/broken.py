"""Broken programs: what users really write, and the line and kind that the error must name.

Each program is a whole script that fails when it is run. Errors of a launch name the line of the launch, all
others a line of a kernel.
"""

from __future__ import annotations

from .broken_names import NAME
from .broken_program import KINDS, Broken
from .broken_shapes import SHAPE
from .broken_syntax import SYNTAX
from .broken_types import TYPE
from .broken_values import CONSTEXPR, LAUNCH

__all__ = ["BROKEN", "KINDS", "Broken"]

BROKEN: list[Broken] = [*SYNTAX, *TYPE, *SHAPE, *NAME, *CONSTEXPR, *LAUNCH]
