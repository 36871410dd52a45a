"""Installing on first use: in a child process nothing of Tritium is loaded until ``triton`` is imported."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from typing import Any


class _Trigger(importlib.abc.MetaPathFinder):
    """Stands for Tritium's finder until the first import of triton."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if fullname != "triton" or _importer_keeps_real():
            return None
        sys.meta_path.remove(self)
        from tritium.compat.importer import install

        install()
        return sys.meta_path[0].find_spec(fullname, path, target)


def _importer_keeps_real() -> bool:
    """Whether the import comes from PyTorch itself."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    return name.split(".", 1)[0] in ("torch", "torchgen", "functorch")


def install_lazily() -> None:
    """Install when ``triton`` is first imported by anyone but PyTorch."""
    sys.meta_path.insert(0, _Trigger())
