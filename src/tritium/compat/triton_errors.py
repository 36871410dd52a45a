"""``triton.errors``."""

from tritium.errors import TritiumError

TritonError = TritiumError

__all__ = ["TritonError"]
