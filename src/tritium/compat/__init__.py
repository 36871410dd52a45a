"""Answering ``import triton``: unmodified programs find Tritium under Triton's name.

`install` puts one finder in front of the import system and one check in front of ``__import__``. From then on ``triton`` and
every public ``triton.*`` module (the table in `tritium.compat.modules`) are Tritium's, for every importer but PyTorch
itself, which keeps what it had: its compiler drives the real Triton's internals, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritium.compat.importer import install, uninstall

__all__ = ["install", "uninstall"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: a child process that imports no triton should pay nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'tritium.compat' has no attribute {name!r}")
    from tritium.compat import importer

    return getattr(importer, name)
