"""From a call in Python to a running kernel: arguments, specialisation, compilation, launch, tuning.

The names below are what ``triton.runtime`` has; each is loaded when first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritium.errors import InterpreterError, OutOfResources
    from tritium.runtime import driver
    from tritium.runtime.arrays import TensorWrapper, reinterpret
    from tritium.runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
    from tritium.runtime.cache import RedisRemoteCacheBackend, RemoteCacheBackend
    from tritium.runtime.interface import KernelInterface
    from tritium.runtime.jit import JITFunction, jit
    from tritium.runtime.mock_tensor import MockTensor

_HOME = {
    "Autotuner": "runtime.autotuner",
    "Config": "runtime.tuning_config",
    "Heuristics": "runtime.autotuner",
    "InterpreterError": "errors",
    "JITFunction": "runtime.jit",
    "KernelInterface": "runtime.interface",
    "MockTensor": "runtime.mock_tensor",
    "OutOfResources": "errors",
    "RedisRemoteCacheBackend": "runtime.cache",
    "RemoteCacheBackend": "runtime.cache",
    "TensorWrapper": "runtime.arrays",
    "autotune": "runtime.autotuner",
    "heuristics": "runtime.autotuner",
    "jit": "runtime.jit",
    "reinterpret": "runtime.arrays",
}
_MODULES = ("autotuner", "cache", "driver", "errors", "interpreter")

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "TensorWrapper",
    "autotune",
    "driver",
    "heuristics",
    "jit",
    "reinterpret",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is not None:
        value = getattr(importlib.import_module(f"tritium.{home}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"tritium.runtime.{name}")
    raise AttributeError(f"module 'tritium.runtime' has no attribute {name!r}")
