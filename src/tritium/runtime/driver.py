"""``triton.runtime.driver``: what programs ask about "the device".

The active driver describes the machine: the GPU that PyTorch sees if there is one, else the CPU. Asking never loads a
driver library, so importing modules with tuned kernels works on any machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tritium.backends.compiler import GPUTarget
from tritium.backends.driver import DriverBase


def _torch_cuda() -> Any:
    torch: Any = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


class DeviceUtils:
    """``driver.active.utils``."""

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Sizes that tuning code reads. Without a GPU: those of the host, in the same fields."""
        cuda = _torch_cuda()
        if cuda is None:
            import os

            cores = os.cpu_count() or 1
            return {
                "max_shared_mem": 227 * 1024,
                "max_num_regs": 65536,
                "multiprocessor_count": cores,
                "warpSize": 32,
                "sm_clock_rate": 0,
                "mem_clock_rate": 0,
                "mem_bus_width": 0,
            }
        p = cuda.get_device_properties(device)
        return {
            "max_shared_mem": getattr(p, "shared_memory_per_block_optin", 227 * 1024),
            "max_num_regs": getattr(p, "regs_per_multiprocessor", 65536),
            "multiprocessor_count": p.multi_processor_count,
            "warpSize": getattr(p, "warp_size", 32),
            "sm_clock_rate": getattr(p, "clock_rate", 0),
            "mem_clock_rate": getattr(p, "memory_clock_rate", 0),
            "mem_bus_width": getattr(p, "memory_bus_width", 0),
        }

    def set_printf_fifo_size(self, size: int) -> None:
        """Accepted; host prints have no buffer to size."""


class HostDriver(DriverBase):
    """The machine Tritium runs on."""

    def __init__(self) -> None:
        self.utils = DeviceUtils()

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        """The GPU's architecture, or ``GPUTarget("cpu", 0, 1)``."""
        cuda = _torch_cuda()
        if cuda is None:
            return GPUTarget("cpu", 0, 1)
        major, minor = cuda.get_device_capability()
        return GPUTarget("cuda", major * 10 + minor, 32)

    def get_current_device(self) -> int:
        cuda = _torch_cuda()
        return cuda.current_device() if cuda is not None else 0

    def set_current_device(self, device: int) -> None:
        cuda = _torch_cuda()
        if cuda is not None:
            cuda.set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        cuda = _torch_cuda()
        return int(cuda.current_stream(device).cuda_stream) if cuda is not None else 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        cuda = _torch_cuda()
        return cuda.get_device_capability(device) if cuda is not None else (0, 0)

    def get_active_torch_device(self) -> Any:
        import torch

        cuda = _torch_cuda()
        return torch.device("cuda", cuda.current_device()) if cuda is not None else torch.device("cpu")

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda if _torch_cuda() is not None else torch.cpu

    def get_benchmarker(self) -> Callable[..., Any]:
        from tritium.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer larger than the last-level cache, to be cleared between runs."""
        import torch

        return torch.empty(256 * 2**20 // 4, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty


class _DriverConfig:
    """``driver``: the active driver and how to replace it."""

    def __init__(self) -> None:
        self._default: DriverBase | None = None
        self._active: DriverBase | None = None

    @property
    def default(self) -> Any:
        if self._default is None:
            self._default = HostDriver()
        return self._default

    @property
    def active(self) -> Any:
        return self._active if self._active is not None else self.default

    def set_active(self, driver: DriverBase) -> None:
        """Use `driver` until `reset_active`."""
        self._active = driver

    def reset_active(self) -> None:
        self._active = None


driver = _DriverConfig()
