"""``tl.extra``: device libraries."""

from tritium.language.extra import cuda, libdevice

__all__ = ["cuda", "libdevice"]
