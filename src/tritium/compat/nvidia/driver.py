"""``triton.backends.nvidia.driver``."""

from __future__ import annotations

import sys
from typing import Any

import tritium as triton
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.backends.driver import GPUDriver
from tritium.runtime import _allocation
from tritium.runtime.driver import HostDriver


class CudaDriver(HostDriver):
    """The driver where PyTorch has an NVIDIA GPU."""

    @staticmethod
    def is_active() -> bool:
        """Whether PyTorch is loaded and has an NVIDIA GPU."""
        torch: Any = sys.modules.get("torch")
        return torch is not None and torch.cuda.is_available() and torch.version.hip is None


def ty_to_cpp(ty: str) -> str:
    """The C type of a signature's type.

    >>> ty_to_cpp("*fp16"), ty_to_cpp("i64")
    ('void*', 'int64_t')
    """
    return HostDriver().map_python_to_cpp_type(ty)


__all__ = ["CudaDriver", "GPUDriver", "GPUTarget", "_allocation", "knobs", "triton", "ty_to_cpp"]
