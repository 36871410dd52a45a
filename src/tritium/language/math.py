"""``tl.math``: the elementwise functions that have a second name there."""

from tritium.language.functions import functions_of

globals().update(functions_of("math"))
__all__ = sorted(functions_of("math"))  # noqa: PLE0605
