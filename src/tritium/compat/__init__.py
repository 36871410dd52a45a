"""Answering ``import triton``: unmodified programs find Tritium under Triton's name.

`install` puts one finder in front of the import system and one check in front of ``__import__``. From then on ``triton`` and
every public ``triton.*`` module (the table in `tritium.compat.modules`) are Tritium's, for every importer but PyTorch
itself, which keeps what it had: its compiler drives the real Triton's internals, or none.
"""

from tritium.compat.importer import install, uninstall

__all__ = ["install", "uninstall"]
