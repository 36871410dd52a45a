"""Which Tritium module answers for which ``triton.*`` module."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import tritium

TRITON_VERSION = "3.6.0"
"""What ``triton.__version__`` says: the release whose types and values Tritium follows."""

RENAMED: dict[str, str] = {
    "triton.errors": "tritium.compat.triton_errors",
    "triton._internal_testing": "tritium.compat.internal_testing",
    "triton._utils": "tritium.compat.triton_utils",
}
"""Modules whose Tritium counterpart has another name; all others are ``tritium.<same path>``."""

REFUSED: dict[str, str] = {
    "triton._C.libtriton": "Tritium has no MLIR bindings; read a kernel's tile IR with `tritium ir`",
    "triton.experimental.gluon": "Gluon is a second, lower language; Tritium compiles the Triton language only",
    "triton.profiler": "Proton needs Triton's own compiler; use TRITIUM_LOG=launch or triton.testing.do_bench",
}
"""Parts of Triton that Tritium does not have, with what to use instead."""

ANSWERED: frozenset[str] = frozenset(
    f"triton.{name}"
    for name in [
        "backends",
        "backends.compiler",
        "backends.driver",
        "backends.nvidia",
        "backends.nvidia.compiler",
        "backends.nvidia.driver",
        "compiler",
        "compiler.compiler",
        "compiler.code_generator",
        "compiler.errors",
        "errors",
        "experimental",
        "knobs",
        "language",
        "language.core",
        "language.extra",
        "language.extra.cuda",
        "language.extra.cuda.libdevice",
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
        "runtime.build",
        "runtime.cache",
        "runtime.driver",
        "runtime.errors",
        "runtime.interpreter",
        "runtime.jit",
        "testing",
        "tools",
        "tools.compile",
        "tools.disasm",
        "tools.link",
        "tools.mxfp",
        "tools.ragged_tma",
        "tools.tensor_descriptor",
        "_internal_testing",
        "_utils",
    ]
)


def module_for(name: str) -> str | None:
    """The Tritium module that answers for ``triton.x.y``, or None if Tritium has no such module."""
    if name not in ANSWERED:
        return None
    return RENAMED.get(name) or "tritium" + name[len("triton") :]


class _TritonPackage(ModuleType):
    """``triton`` itself: Tritium's names, Triton's version."""

    def __getattr__(self, name: str) -> Any:
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
