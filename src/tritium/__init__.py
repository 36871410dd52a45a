"""Tritium: a compiler for the Triton language.

::

    import tritium as triton
    import tritium.language as tl

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    add[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)      # NumPy arrays or PyTorch tensors

`install()` makes ``import triton`` mean Tritium for the whole process; ``tritium run script.py`` does that for a script.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AsyncCompileMode": "runtime._async_compile",
    "CompilationError": "errors",
    "Config": "runtime.tuning_config",
    "FutureKernel": "runtime._async_compile",
    "InterpreterError": "errors",
    "JITFunction": "runtime.jit",
    "KernelInterface": "runtime.interface",
    "MockTensor": "runtime.mock_tensor",
    "OutOfResources": "errors",
    "TensorWrapper": "runtime.arrays",
    "TritiumError": "errors",
    "TritonError": "runtime.errors",
    "aggregate": "language.aggregates",
    "autotune": "runtime.autotuner",
    "cdiv": "runtime.math",
    "checked": "sanitizer.checked",
    "compile": "compiler.compiler",
    "constexpr_function": "frontend.constexpr_functions",
    "heuristics": "runtime.autotuner",
    "install": "compat.importer",
    "jit": "runtime.jit",
    "must_use_result": "language.core",
    "next_power_of_2": "runtime.math",
    "reinterpret": "runtime.arrays",
    "set_allocator": "runtime._allocation",
    "uninstall": "compat.importer",
}
_MODULES = ("backends", "compiler", "errors", "knobs", "language", "runtime", "testing", "tools")

__all__ = [
    "AsyncCompileMode",
    "CompilationError",
    "Config",
    "FutureKernel",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TritiumError",
    "TritonError",
    "__version__",
    "aggregate",
    "autotune",
    "backends",
    "cdiv",
    "checked",
    "compile",
    "compiler",
    "constexpr_function",
    "errors",
    "heuristics",
    "install",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
    "uninstall",
]

if TYPE_CHECKING:
    from tritium import backends, compiler, errors, knobs, language, runtime, testing, tools
    from tritium.compat.importer import install, uninstall
    from tritium.compiler.compiler import compile
    from tritium.errors import CompilationError, InterpreterError, OutOfResources, TritiumError
    from tritium.frontend.aggregates import aggregate
    from tritium.frontend.constexpr_functions import constexpr_function
    from tritium.language.core import must_use_result
    from tritium.runtime._allocation import set_allocator
    from tritium.runtime._async_compile import AsyncCompileMode, FutureKernel
    from tritium.runtime.arrays import TensorWrapper, reinterpret
    from tritium.runtime.autotuner import autotune, heuristics
    from tritium.runtime.errors import TritonError
    from tritium.runtime.interface import KernelInterface
    from tritium.runtime.jit import JITFunction, jit
    from tritium.runtime.math import cdiv, next_power_of_2
    from tritium.runtime.mock_tensor import MockTensor
    from tritium.runtime.tuning_config import Config
    from tritium.sanitizer.checked import checked


def __getattr__(name: str) -> Any:
    """Names load on first use, so that ``import tritium`` stays cheap."""
    if name in _MODULES:
        return importlib.import_module(f"tritium.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tritium' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tritium.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
