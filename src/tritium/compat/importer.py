"""The import hook behind ``tritium.install()`` and ``tritium run``.

* A meta-path finder resolves ``triton`` and ``triton.x.y`` to Tritium's modules (aliases: the same module objects).
* ``builtins.__import__``, ``importlib.import_module`` and ``importlib.util.find_spec`` are wrapped so that imports
  *from inside PyTorch* see the real Triton if there is one and ModuleNotFoundError if there is none. They are told
  apart by the importing module's name, and the real package's modules are kept in a table of their own while PyTorch is
  not looking. The real Triton's own modules import each other the same way.
* An import of a part that Tritium refuses says why.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tritium.compat.children import pass_on, take_back
from tritium.compat.modules import complete, module_for, refusal_of, submodules_of, triton_package
from tritium.compat.names import REFUSED_NAMES
from tritium.errors import UnsupportedModuleError, make_error

NAME = "triton"
KEEPS_REAL = frozenset({"torch", "torchgen", "functorch", NAME})
"""Top-level packages whose own imports of triton are left alone. No module of ours is called ``triton.x``."""


def _is_triton(name: str) -> bool:
    return name == NAME or name.startswith(NAME + ".")


def keeps_real(module_name: Any) -> bool:
    """Whether the module of that name sees the real Triton."""
    return str(module_name or "").split(".", 1)[0] in KEEPS_REAL


class _Aliases(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``triton.*`` and loads it as an alias of one of our modules."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not _is_triton(fullname) or _state.real_depth or keeps_real(_asking_module()):
            return None
        if fullname != NAME and module_for(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name == NAME:
            return triton_package()
        found = module_for(spec.name)
        assert found is not None
        module = importlib.import_module(found)
        complete(module, spec.name)
        for inner in submodules_of(spec.name):  # reached as attributes, without an import of their own
            loaded = sys.modules.get(module_for(inner) or "")
            if loaded is not None:
                complete(loaded, inner)
        _state.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module ran when it was first imported under its own name; only its spec is put back."""
        spec = module.__spec__
        own = _state.specs.get(spec.name) if spec is not None else None
        if own is not None:
            module.__spec__ = own


def _asking_module() -> str:
    """The module on whose behalf the import system is looking, past its own frames."""
    frame = sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


class _State:
    def __init__(self) -> None:
        self.finder = _Aliases()
        self.specs: dict[str, Any] = {}
        self.real: dict[str, ModuleType] = {}
        self.real_depth = 0
        self.original_import: Any = None
        self.original_import_module: Any = None
        self.original_find_spec: Any = None
        self.lock = threading.RLock()


_state = _State()


def install(children: bool = True) -> None:
    """From now on ``import triton`` in this process gives Tritium (PyTorch's own imports excepted). Idempotent.

    With `children`, Python processes started from here on get it too, through PYTHONPATH.
    """
    with _state.lock:
        if children:
            pass_on()
        if _state.original_import is not None:
            return
        for name in [n for n in sys.modules if _is_triton(n)]:
            _state.real[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _state.finder)
        _state.original_import = builtins.__import__
        _state.original_import_module = importlib.import_module
        _state.original_find_spec = importlib.util.find_spec
        builtins.__import__ = _import
        importlib.import_module = _import_module
        importlib.util.find_spec = _find_spec


def uninstall() -> None:
    """Undo `install`: real Triton modules that were loaded before are back."""
    with _state.lock:
        take_back()
        if _state.original_import is None:
            return
        builtins.__import__ = _state.original_import
        importlib.import_module = _state.original_import_module
        importlib.util.find_spec = _state.original_find_spec
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
    importer = globals.get("__name__") if globals is not None else None
    if level:
        if globals is None or not _is_triton(str(globals.get("__package__") or importer or "")):
            return _state.original_import(name, globals, locals, fromlist, level)
        with _real_triton():
            return _state.original_import(name, globals, locals, fromlist, level)
    if not _is_triton(name):
        return _state.original_import(name, globals, locals, fromlist, level)
    if keeps_real(importer):
        with _real_triton():
            return _state.original_import(name, globals, locals, fromlist, level)
    try:
        found = _state.original_import(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as missing:
        _refuse(str(missing.name or name))
        raise
    for attribute in fromlist or ():
        if attribute in REFUSED_NAMES.get(name, ()) or not hasattr(found, attribute):
            _refuse(f"{name}.{attribute}")
    return found


def _import_module(name: str, package: str | None = None) -> Any:
    absolute = importlib.util.resolve_name(name, package) if name.startswith(".") and package else name
    if not _is_triton(absolute):
        return _state.original_import_module(name, package)
    if keeps_real(sys._getframe(1).f_globals.get("__name__")):
        with _real_triton():
            return _state.original_import_module(name, package)
    try:
        return _state.original_import_module(name, package)
    except ModuleNotFoundError as missing:
        _refuse(str(missing.name or absolute))
        raise


def _find_spec(name: str, package: str | None = None) -> Any:
    if _is_triton(name) and keeps_real(sys._getframe(1).f_globals.get("__name__")):
        with _real_triton():
            return _state.original_find_spec(name, package)
    return _state.original_find_spec(name, package)


def _refuse(name: str) -> None:
    """Raise the error for a part of Triton that Tritium refuses; nothing for any other name."""
    module, _, attribute = name.rpartition(".")
    reason = REFUSED_NAMES.get(module, {}).get(attribute) or refusal_of(name)
    if reason is not None:
        raise make_error("TRI0910", name=name, hint=reason, cls=UnsupportedModuleError) from None


@contextmanager
def _real_triton() -> Generator[None]:
    """Within the block ``sys.modules`` and the finders answer as if Tritium were not installed."""
    with _state.lock:
        outermost = not _state.real_depth
        ours = {n: sys.modules.pop(n) for n in list(sys.modules) if _is_triton(n)} if outermost else {}
        if outermost:
            sys.modules.update(_state.real)
        _state.real_depth += 1
        try:
            yield
        finally:
            _state.real_depth -= 1
            if outermost:
                _state.real = {n: sys.modules.pop(n) for n in list(sys.modules) if _is_triton(n)}
                sys.modules.update(ours)
