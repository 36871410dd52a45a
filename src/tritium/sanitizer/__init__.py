"""The sanitizer: runs kernels on the interpreter and says what is wrong with them, by line, axis and missing bound.

`checked` checks every launch in a block, ``tritium check`` a whole program, ``pytest --tritium-check`` a test run. What
can be found stands in `tritium.sanitizer.findings`; each kind has a page under ``docs/findings``.
"""

from tritium.sanitizer.checked import FindingsError, checked
from tritium.sanitizer.findings import KINDS, Finding
from tritium.sanitizer.session import Session

__all__ = ["KINDS", "Finding", "FindingsError", "Session", "checked"]
