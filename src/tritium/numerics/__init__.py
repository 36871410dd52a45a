"""Value semantics of the language on NumPy arrays.

Everything the reference interpreter and the constant folder compute comes from here. The functions take
arrays of any shape in the storage dtype of a named format (`formats.py`), broadcast as NumPy does, give an
array of the result format's storage dtype, emit no NumPy warnings and never fail because of the data. A
result may share memory with an operand where nothing changed, so arrays are to be treated as immutable.

The modules `integer` and `floating` hold the arithmetic, `directed` the rounding modes, `special` and
`libdevice` the functions, `relaxed` tensor-core precisions, `reduce_order` reductions and scans, `philox`
random numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tritium.numerics import floating, integer
from tritium.numerics.cast import bitcast, cast
from tritium.numerics.dot import dot
from tritium.numerics.formats import FORMATS, Format, format_of, storage
from tritium.numerics.reduce_order import tree_reduce, tree_scan

if TYPE_CHECKING:
    from tritium.numerics import directed, libdevice, philox, relaxed, special

_LAZY = ("directed", "libdevice", "philox", "relaxed", "special")

__all__ = [
    "FORMATS",
    "Format",
    "bitcast",
    "cast",
    "directed",
    "dot",
    "floating",
    "format_of",
    "integer",
    "libdevice",
    "philox",
    "relaxed",
    "special",
    "storage",
    "tree_reduce",
    "tree_scan",
]


def __getattr__(name: str) -> Any:
    """Load the modules that few programs need on first use."""
    if name in _LAZY:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
