"""Passing the installation on to child processes, through their environment."""

from __future__ import annotations

import os
from pathlib import Path

from tritium import config

STARTUP = str(Path(__file__).resolve().parent / "startup")
PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_added: list[str] = []


def pass_on() -> None:
    """Child Python processes started from here on get Tritium for ``import triton``, without being changed."""
    old = _paths()
    new = [p for p in (STARTUP, PACKAGE_ROOT) if p not in old]
    _added.extend(new)
    config.set_environment("PYTHONPATH", os.pathsep.join([*new, *old]))


def take_back() -> None:
    """Undo `pass_on`."""
    if _added:
        kept = [p for p in _paths() if p not in _added]
        config.set_environment("PYTHONPATH", os.pathsep.join(kept) or None)
        _added.clear()


def _paths() -> list[str]:
    return [p for p in (config.environment("PYTHONPATH") or "").split(os.pathsep) if p]
