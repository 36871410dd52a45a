"""``triton.runtime.driver``: what programs ask about "the device".

The active driver describes the machine: the GPU that PyTorch sees if there is one, else the CPU. Asking never loads a
driver library, so importing modules with tuned kernels works on any machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tritium.backends.compiler import GPUTarget
from tritium.backends.driver import DriverBase
from tritium.errors import make_error

_CACHE_BYTES = 256 * 2**20  # larger than any last-level cache
_available: list[Any] = []


def _torch_cuda() -> Any:
    """``torch.cuda`` if PyTorch is loaded and has a GPU, else None. Asked once, since launches ask often."""
    if _available:
        return _available[0]
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return None
    found = torch.cuda if torch.cuda.is_available() else None
    _available.append(found)
    return found


_NAMES = {
    "max_shared_mem": ("shared_memory_per_block_optin", 227 * 1024),
    "max_num_regs": ("regs_per_multiprocessor", 65536),
    "multiprocessor_count": ("multi_processor_count", 1),
    "warpSize": ("warp_size", 32),
    "sm_clock_rate": ("clock_rate", 0),
    "mem_clock_rate": ("memory_clock_rate", 0),
    "mem_bus_width": ("memory_bus_width", 0),
}
"""Fields of the device's properties: what PyTorch calls them, and the value where it does not say."""


class DeviceUtils:
    """``driver.active.utils``."""

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Sizes that tuning code reads. Without a GPU: those of the host, in the same fields."""
        cuda = _torch_cuda()
        if cuda is None:
            return {**{ours: value for ours, (_, value) in _NAMES.items()}, "multiprocessor_count": _cores()}
        found = cuda.get_device_properties(device)
        return {ours: getattr(found, theirs, value) for ours, (theirs, value) in _NAMES.items()}

    def load_binary(self, name: str, kernel: Any, shared: int, device: int) -> Any:
        """Triton loads a cubin here. Refused: kernels of this version run on the host."""
        hint = "launch the compiled kernel itself: compiled[grid](...)"
        raise make_error("TRI0910", name="driver.active.utils.load_binary", hint=hint)

    def unload_module(self, module: Any) -> None:
        """Accepted; host kernels are freed with their objects."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Accepted; host prints have no buffer to size."""

    def fill_tma_descriptor(self, *_: Any) -> Any:
        """Triton encodes a tensor map here. Refused: pass a TensorDescriptor to the kernel."""
        hint = "pass a triton.tools.tensor_descriptor.TensorDescriptor to the kernel"
        raise make_error("TRI0910", name="driver.active.utils.fill_tma_descriptor", hint=hint)


def _cores() -> int:
    return os.cpu_count() or 1


class HostEvent:
    """A point in time, as ``torch.cuda.Event`` is one."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self._at = 0.0

    def record(self, stream: Any = None) -> None:
        """Note the time now."""
        self._at = time.perf_counter()

    def elapsed_time(self, end: HostEvent) -> float:
        """Milliseconds from this event to `end`."""
        return (end._at - self._at) * 1e3

    def synchronize(self) -> None:
        """Nothing to wait for: launches on the host return when they have finished."""

    wait = query = synchronize


class HostInterface:
    """What ``torch.cuda`` offers of devices and events, for the host."""

    Event = HostEvent

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def set_device(device: int) -> None:
        """There is one."""

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Nothing to wait for."""

    @staticmethod
    def get_device_capability(device: Any = None) -> tuple[int, int]:
        return (0, 0)


class HostLauncher:
    """``driver.active.launcher_cls(src, metadata)``: a function with the arguments of ``CompiledKernel.run``."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.src = src
        self.metadata = metadata

    def __call__(self, grid_0: int, grid_1: int, grid_2: int, stream: Any, function: Any, *rest: Any) -> None:
        """Launch the compiled kernel given as `function`."""
        function.run(grid_0, grid_1, grid_2, stream, function, *rest)


class HostDriver(DriverBase):
    """The machine Tritium runs on."""

    launcher_cls = HostLauncher

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
        """The device as PyTorch names it (imports PyTorch)."""
        import torch

        cuda = _torch_cuda()
        return torch.device("cuda", cuda.current_device()) if cuda is not None else torch.device("cpu")

    def get_device_interface(self) -> Any:
        """``torch.cuda``, or the same for the host."""
        return _torch_cuda() or HostInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        from tritium.runtime.benchmarking import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer larger than the last-level cache, to be cleared between runs."""
        cuda = _torch_cuda()
        if cuda is None:
            return np.empty(_CACHE_BYTES, np.uint8)
        import torch

        return torch.empty(_CACHE_BYTES, dtype=torch.uint8, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        """Write all of the buffer."""
        cache.zero_() if hasattr(cache, "zero_") else cache.fill(0)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type: ``i32`` is ``int32_t``, a pointer ``void*``."""
        if ty.startswith("*"):
            return "void*"
        floats = {"fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double"}
        return floats.get(ty) or ("int8_t" if ty in ("i1", "u1") else _c_integer(ty))


def _c_integer(ty: str) -> str:
    kind, bits = ty[:1], ty[1:]
    if kind not in ("i", "u") or bits not in ("8", "16", "32", "64"):
        raise KeyError(ty)
    return f"{'uint' if kind == 'u' else 'int'}{bits}_t"


class DriverConfig:
    """``driver``: the active driver and how to replace it."""

    def __init__(self) -> None:
        self._default: DriverBase | None = None
        self._active: DriverBase | None = None

    @property
    def default(self) -> Any:
        """The driver that describes this machine."""
        if self._default is None:
            self._default = HostDriver()
        return self._default

    @property
    def active(self) -> Any:
        """The driver in use."""
        return self._active if self._active is not None else self.default

    def set_active(self, driver: DriverBase) -> None:
        """Use `driver` until `reset_active`."""
        self._active = driver

    def reset_active(self) -> None:
        """Use the default driver again."""
        self._active = None


driver = DriverConfig()
set_active = driver.set_active
reset_active = driver.reset_active


def __getattr__(name: str) -> Any:
    """Programs write ``triton.runtime.driver.active``: this module answers as the object of its name does."""
    if name in ("active", "default"):
        return getattr(driver, name)
    raise AttributeError(f"module 'tritium.runtime.driver' has no attribute {name!r}")


__all__ = ["DriverBase", "DriverConfig", "HostDriver", "driver"]
