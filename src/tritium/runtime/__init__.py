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
    "Autotuner": "tritium.runtime.autotuner",
    "Config": "tritium.runtime.tuning_config",
    "Heuristics": "tritium.runtime.autotuner",
    "InterpreterError": "tritium.errors",
    "JITFunction": "tritium.runtime.jit",
    "KernelInterface": "tritium.runtime.interface",
    "MockTensor": "tritium.runtime.mock_tensor",
    "OutOfResources": "tritium.errors",
    "RedisRemoteCacheBackend": "tritium.runtime.cache",
    "RemoteCacheBackend": "tritium.runtime.cache",
    "TensorWrapper": "tritium.runtime.arrays",
    "autotune": "tritium.runtime.autotuner",
    "heuristics": "tritium.runtime.autotuner",
    "jit": "tritium.runtime.jit",
    "reinterpret": "tritium.runtime.arrays",
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
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'tritium.runtime' has no attribute {name!r}")
