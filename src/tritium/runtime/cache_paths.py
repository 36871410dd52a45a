"""Where cached files live."""

from tritium.config import cache_directory

__all__ = ["cache_directory"]
