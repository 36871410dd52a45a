"""Which Tritium module answers for which ``triton.*`` module, and which modules are refused."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import tritium
from tritium.compat.names import ELSEWHERE, REFUSED_NAMES
from tritium.config import TRITON_VERSION
from tritium.errors import make_error

RENAMED: dict[str, str] = {
    "triton._internal_testing": "tritium.compat.internal_testing",
    "triton._utils": "tritium.runtime.type_names",
    "triton.backends": "tritium.compat.triton_backends",
    "triton.backends.nvidia": "tritium.compat.nvidia",
    "triton.backends.nvidia.compiler": "tritium.compat.nvidia.compiler",
    "triton.backends.nvidia.driver": "tritium.compat.nvidia.driver",
    "triton.errors": "tritium.runtime.errors",
    "triton.experimental": "tritium.compat.experimental",
    "triton.language.extra.cuda.gdc": "tritium.language.extra.cuda",
    "triton.language.extra.cuda.utils": "tritium.language.extra.cuda",
}
"""Modules whose Tritium counterpart has another name; all others are ``tritium.<same path>``."""

_AHEAD = "compile and launch from Python: `triton.compile(ASTSource(...))` gives a kernel that runs"

REFUSED: dict[str, str] = {
    "triton._C": "Tritium has no MLIR bindings; read a kernel's tile IR with `tritium ir`",
    "triton._C.libtriton": "Tritium has no MLIR bindings; read a kernel's tile IR with `tritium ir`",
    "triton._filecheck": "Tritium's IR is checked with `tritium ir FILE::KERNEL --stage NAME`",
    "triton.backends.amd": "Tritium does not compile for AMD GPUs",
    "triton.compiler.make_launcher": "it is empty in Triton 3.6",
    "triton.experimental.gluon": "Gluon is a second, lower language; Tritium compiles the Triton language only",
    "triton.instrumentation": "use `tritium run --trace LINE`, or print in the kernel",
    "triton.language.extra.hip": "Tritium does not compile for AMD GPUs",
    "triton.profiler": "use TRITIUM_LOG=launch, knobs.runtime.launch_enter_hook or triton.testing.do_bench",
    "triton.runtime.build": "Tritium builds no C extensions and needs no C compiler",
    "triton.tools.build_extern": "device-library functions are in triton.language.extra.libdevice",
    "triton.tools.compile": f"there is no code for other programs to link with in this version; {_AHEAD}",
    "triton.tools.disasm": "this version makes no cubins; `tritium ir` shows every stage that there is",
    "triton.tools.link": f"there is no code for other programs to link with in this version; {_AHEAD}",
    "triton.tools.triton_to_gluon_translater": "Gluon is a second, lower language, which Tritium does not compile",
}
"""Modules of Triton that Tritium does not have (with all that is in them), and what to use instead."""

ANSWERED: frozenset[str] = frozenset(
    f"triton.{name}"
    for name in [
        "_internal_testing",
        "_utils",
        "backends",
        "backends.compiler",
        "backends.driver",
        "backends.nvidia",
        "backends.nvidia.compiler",
        "backends.nvidia.driver",
        "compiler",
        "compiler.code_generator",
        "compiler.compiler",
        "compiler.errors",
        "errors",
        "experimental",
        "knobs",
        "language",
        "language.core",
        "language.extra",
        "language.extra.cuda",
        "language.extra.cuda.gdc",
        "language.extra.cuda.libdevice",
        "language.extra.cuda.utils",
        "language.extra.libdevice",
        "language.math",
        "language.random",
        "language.semantic",
        "language.standard",
        "language.target_info",
        "runtime",
        "runtime._allocation",
        "runtime._async_compile",
        "runtime.autotuner",
        "runtime.cache",
        "runtime.driver",
        "runtime.errors",
        "runtime.interpreter",
        "runtime.jit",
        "testing",
        "tools",
        "tools.mxfp",
        "tools.ragged_tma",
        "tools.tensor_descriptor",
    ]
)


def module_for(name: str) -> str | None:
    """The Tritium module that answers for ``triton.x.y``, or None if Tritium has no such module."""
    if name not in ANSWERED:
        return None
    return RENAMED.get(name) or "tritium" + name[len("triton") :]


def submodules_of(name: str) -> list[str]:
    """Triton's modules inside the package `name` that Tritium answers for."""
    return sorted(inner for inner in ANSWERED if inner.startswith(name + "."))


def refusal_of(name: str) -> str | None:
    """Why ``triton.x.y`` is refused, or None if it is not: for the module itself or one that it lies in."""
    parts = name.split(".")
    for count in range(len(parts), 1, -1):
        reason = REFUSED.get(".".join(parts[:count]))
        if reason is not None:
            return reason
    return None


def complete(module: ModuleType, name: str) -> None:
    """Let `module`, which answers for Triton's module `name`, give Triton's names that are elsewhere, or say why not."""
    if name not in ELSEWHERE and name not in REFUSED_NAMES and not _has_refused_submodule(name):
        return
    own: Any = module.__dict__.get("__getattr__")
    completed = getattr(own, "completes", None)
    if completed is not None:
        completed[:] = [*completed, name] if name not in completed else completed
        return
    names = [name]

    def __getattr__(attribute: str) -> Any:
        if own is not None:
            try:
                return own(attribute)
            except AttributeError:
                pass
        for triton_name in names:
            found = ELSEWHERE.get(triton_name, {}).get(attribute)
            if found is not None:
                return resolve(found, attribute)
            full = f"{triton_name}.{attribute}"
            reason = REFUSED_NAMES.get(triton_name, {}).get(attribute) or REFUSED.get(full)
            if reason is not None:
                raise make_error("TRI0910", name=full, hint=reason, cls=_unsupported_name())
        raise AttributeError(f"module {module.__name__!r} has no attribute {attribute!r}")

    __getattr__.completes = names  # type: ignore[attr-defined]
    module.__getattr__ = __getattr__  # type: ignore[method-assign]


def _has_refused_submodule(name: str) -> bool:
    return any(refused.rpartition(".")[0] == name for refused in REFUSED)


def resolve(where: str, name: str) -> Any:
    """What an entry of `ELSEWHERE` leads to."""
    path, separator, other = where.partition(":")
    module = importlib.import_module(f"tritium.{path}" if path else "tritium")
    if separator and not other:  # the module of that name in the package
        return importlib.import_module(f"{module.__name__}.{name}") if name != "triton" else _triton()
    return getattr(module, other or name)


def _triton() -> Any:
    return sys.modules.get("triton", tritium)


def _unsupported_name() -> Any:
    from tritium.errors import UnsupportedNameError

    return UnsupportedNameError


class _TritonPackage(ModuleType):
    """``triton`` itself: Tritium's names, Triton's version."""

    def __getattr__(self, name: str) -> Any:
        full = f"triton.{name}"
        if full in ANSWERED:
            return importlib.import_module(full)
        reason = REFUSED.get(full)
        if reason is not None:
            raise make_error("TRI0910", name=full, hint=reason, cls=_unsupported_name())
        return getattr(tritium, name)

    def __dir__(self) -> list[str]:
        return dir(tritium)


def triton_package() -> ModuleType:
    """A fresh ``triton`` package object."""
    package = _TritonPackage("triton", tritium.__doc__)
    package.__version__ = TRITON_VERSION  # type: ignore[attr-defined]
    package.__path__ = []
    package.__file__ = tritium.__file__
    package.__all__ = tritium.__all__  # type: ignore[attr-defined]
    return package
