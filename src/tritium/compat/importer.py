"""The import hook behind ``tritium.install()`` and ``tritium run``.

* A meta-path finder resolves ``triton`` and ``triton.x.y`` to Tritium's modules (aliases: the same module objects).
* ``builtins.__import__`` is wrapped so that imports *from inside PyTorch* see the real Triton if there is one and
  ModuleNotFoundError if there is none. They are told apart by the importing module's name, and the real package's
  modules are kept in a table of their own while PyTorch is not looking.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tritium.compat.modules import REFUSED, module_for, triton_package
from tritium.errors import make_error

NAME = "triton"
KEEPS_REAL = ("torch", "torchgen", "functorch")
"""Top-level packages whose own imports of triton are left alone."""


def _is_triton(name: str) -> bool:
    return name == NAME or name.startswith(NAME + ".")


class _Aliases(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``triton.*`` and loads it as an alias of one of our modules."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not _is_triton(fullname) or _state.real_depth:
            return None
        if fullname in REFUSED:
            raise make_error("TRI0910", name=fullname, hint=REFUSED[fullname])
        if fullname != NAME and module_for(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name == NAME:
            return triton_package()
        found = module_for(spec.name)
        assert found is not None
        module = importlib.import_module(found)
        _state.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module ran when it was first imported under its own name; only its spec is put back."""
        spec = module.__spec__
        own = _state.specs.get(spec.name) if spec is not None else None
        if own is not None:
            module.__spec__ = own


class _State:
    def __init__(self) -> None:
        self.finder = _Aliases()
        self.specs: dict[str, Any] = {}
        self.real: dict[str, ModuleType] = {}
        self.real_depth = 0
        self.original_import: Any = None
        self.lock = threading.RLock()


_state = _State()


def install() -> None:
    """From now on ``import triton`` in this process gives Tritium (PyTorch's own imports excepted). Idempotent."""
    with _state.lock:
        if _state.original_import is not None:
            return
        for name in [n for n in sys.modules if _is_triton(n)]:
            _state.real[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _state.finder)
        _state.original_import = builtins.__import__
        builtins.__import__ = _import


def uninstall() -> None:
    """Undo `install`: real Triton modules that were loaded before are back."""
    with _state.lock:
        if _state.original_import is None:
            return
        builtins.__import__ = _state.original_import
        _state.original_import = None
        sys.meta_path.remove(_state.finder)
        for name in [n for n in sys.modules if _is_triton(n)]:
            del sys.modules[name]
        sys.modules.update(_state.real)
        _state.real.clear()


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level == 0 and _is_triton(name) and globals is not None:
        importer = str(globals.get("__name__") or "")
        if importer.split(".", 1)[0] in KEEPS_REAL:
            with _real_triton():
                return _state.original_import(name, globals, locals, fromlist, level)
    return _state.original_import(name, globals, locals, fromlist, level)


@contextmanager
def _real_triton() -> Iterator[None]:
    """Within the block ``sys.modules`` and the finders answer as if Tritium were not installed."""
    with _state.lock:
        ours = (
            {n: sys.modules.pop(n) for n in list(sys.modules) if _is_triton(n)}
            if not _state.real_depth
            else {}
        )
        if not _state.real_depth:
            sys.modules.update(_state.real)
        _state.real_depth += 1
        try:
            yield
        finally:
            _state.real_depth -= 1
            if not _state.real_depth:
                _state.real = {n: sys.modules.pop(n) for n in list(sys.modules) if _is_triton(n)}
                sys.modules.update(ours)
