"""Value semantics of the language on NumPy arrays.

Everything the reference interpreter and the constant folder compute comes from here. The functions take
arrays of any shape in the storage dtype of a named format (`formats.py`), broadcast as NumPy does, give a
new array of the result format's storage dtype, emit no NumPy warnings and never fail because of the data.
"""

from tritium.numerics import floating, integer
from tritium.numerics.cast import bitcast, cast
from tritium.numerics.formats import FORMATS, Format, format_of, storage

__all__ = ["FORMATS", "Format", "bitcast", "cast", "floating", "format_of", "integer", "storage"]
