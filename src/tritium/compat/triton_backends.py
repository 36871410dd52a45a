"""``triton.backends``: which backends there are."""

from __future__ import annotations

from dataclasses import dataclass

from tritium.backends import compiler, driver
from tritium.backends.compiler import BaseBackend
from tritium.backends.driver import DriverBase
from tritium.compat.nvidia.compiler import CUDABackend
from tritium.compat.nvidia.driver import CudaDriver


@dataclass(frozen=True)
class Backend:
    """The classes of one backend."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


backends: dict[str, Backend] = {"nvidia": Backend(CUDABackend, CudaDriver)}
"""By the name that Triton gives them."""

__all__ = ["Backend", "BaseBackend", "DriverBase", "backends", "compiler", "driver"]
