"""Tensors that say they are on a GPU, with memory of the host behind them."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")


class FakeTensor:
    """What a launch asks of a ``torch.Tensor``. `offset` elements are skipped, so that its address is less aligned."""

    def __init__(self, n: int, dtype: Any = None, device: int = 0, offset: int = 0) -> None:
        dtype = torch.float32 if dtype is None else dtype
        self.memory = torch.zeros(n + 16, dtype=dtype)[offset : offset + n]
        self.dtype = dtype
        self.ordinal = device
        self.device = f"cuda:{device}" if device >= 0 else "cpu"
        self.shape = self.memory.shape

    def data_ptr(self) -> int:
        return self.memory.data_ptr()

    def get_device(self) -> int:
        return self.ordinal

    def stride(self) -> tuple[int, ...]:
        return self.memory.stride()

    def untyped_storage(self) -> Any:
        return self.memory.untyped_storage()
