"""``triton.backends.driver``: base classes of device drivers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from tritium.backends.compiler import GPUTarget


class Benchmarker(Protocol):
    """``benchmarker(call, quantiles=...)`` gives milliseconds."""

    def __call__(
        self, kernel_call: Callable[[], Any], *, quantiles: list[float], **kwargs: Any
    ) -> list[float]: ...


class DriverBase(ABC):
    """Base of device drivers, as third-party code subclasses it."""

    utils: Any = None
    launcher_cls: Any = None

    @staticmethod
    @abstractmethod
    def is_active() -> bool: ...

    @abstractmethod
    def get_current_target(self) -> GPUTarget: ...

    def get_active_torch_device(self) -> Any:
        raise TypeError(f"{type(self).__name__} names no PyTorch device")

    def get_benchmarker(self) -> Benchmarker:
        raise TypeError(f"{type(self).__name__} has no benchmarker")


class GPUDriver(DriverBase):
    """Base of drivers for GPUs that PyTorch manages."""

    def __init__(self) -> None:
        import torch

        self.get_device_capability = torch.cuda.get_device_capability
        self.get_current_device = torch.cuda.current_device
        self.set_current_device = torch.cuda.set_device

    def get_current_stream(self, device: int | None = None) -> int:
        import torch

        return int(torch.cuda.current_stream(device).cuda_stream)
