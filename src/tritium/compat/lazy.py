"""Installing on first use: in a child process nothing of Tritium is loaded until ``triton`` is imported.

Three ways lead to a module (the import statement, ``importlib.import_module``, a finder); whichever is asked for
``triton`` first installs Tritium and then asks again.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_original_import: Any = builtins.__import__
_original_import_module: Any = importlib.import_module


def _is_triton(name: str) -> bool:
    return name.partition(".")[0] == "triton"


class _Trigger(importlib.abc.MetaPathFinder):
    """Stands for Tritium's finder until then."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not _is_triton(fullname):
            return None
        _install()
        return sys.meta_path[0].find_spec(fullname, path, target)


_trigger = _Trigger()


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level or not _is_triton(name):
        return _original_import(name, globals, locals, fromlist, level)
    _install()
    return builtins.__import__(name, globals, locals, fromlist or (), level)


def _import_module(name: str, package: str | None = None) -> Any:
    if not _is_triton(name):
        return _original_import_module(name, package)
    _install()
    caller = {"__name__": sys._getframe(1).f_globals.get("__name__")}
    builtins.__import__(name, caller, None, ("*",), 0)
    return sys.modules.get(name) or builtins.__import__(name, caller, None, ("__name__",), 0)


def _install() -> None:
    if _trigger in sys.meta_path:
        sys.meta_path.remove(_trigger)
        builtins.__import__ = _original_import
        importlib.import_module = _original_import_module
    from tritium.compat.importer import install

    install()


def install_lazily() -> None:
    """Install when ``triton`` is first imported."""
    sys.meta_path.insert(0, _trigger)
    builtins.__import__ = _import
    importlib.import_module = _import_module
