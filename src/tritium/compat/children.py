"""Passing the installation on to child processes, through their environment."""

from __future__ import annotations

import os
from pathlib import Path

from tritium import config

STARTUP = Path(__file__).resolve().parent / "startup"


def pass_on() -> None:
    """Child Python processes started from here on get Tritium for ``import triton``, without being changed."""
    package_root = str(Path(__file__).resolve().parents[2])
    old = [p for p in (config.environment("PYTHONPATH") or "").split(os.pathsep) if p]
    new = [str(STARTUP), package_root]
    config.set_environment("PYTHONPATH", os.pathsep.join(new + [p for p in old if p not in new]))
    config.set_environment("TRITIUM_CHILD", "1")
