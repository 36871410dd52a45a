"""Broken programs: what users really write, and the line and kind that the error must name."""

from __future__ import annotations

from .constexprs import CONSTEXPR
from .launches import LAUNCH
from .model import KINDS, Broken
from .names import NAME
from .shapes import SHAPE
from .syntax import SYNTAX
from .types import TYPE

__all__ = ["BROKEN", "KINDS", "Broken"]

BROKEN = [*SYNTAX, *TYPE, *SHAPE, *NAME, *CONSTEXPR, *LAUNCH]
