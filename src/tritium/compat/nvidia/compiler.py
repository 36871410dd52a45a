"""``triton.backends.nvidia.compiler``."""

from __future__ import annotations

from tritium import knobs
from tritium.backends.compiler import BaseBackend, GPUTarget, Language
from tritium.errors import PTXASError
from tritium.runtime.compiler_backend import CompileOptions, TritiumBackend

CUDAOptions = CompileOptions


class CUDABackend(TritiumBackend):
    """Tritium's compiler, asked about NVIDIA GPUs."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"


def sm_arch_from_capability(capability: int) -> str:
    """The name of an architecture with the features that only it has.

    >>> sm_arch_from_capability(90), sm_arch_from_capability(86)
    ('sm_90a', 'sm_86')
    """
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


__all__ = [
    "BaseBackend",
    "CUDABackend",
    "CUDAOptions",
    "GPUTarget",
    "Language",
    "PTXASError",
    "knobs",
    "sm_arch_from_capability",
]
