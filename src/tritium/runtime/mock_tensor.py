"""Stand-ins for arrays where a kernel is only compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.ir.types import DType

MOCK_DEVICE = "mock"
"""The device that stand-ins say they are on; no backend runs there."""


class MockTensor:
    """Stands for an array in ahead-of-time compilation: a dtype without data."""

    device = MOCK_DEVICE

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else list(shape)

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A dtype (PyTorch's, NumPy's or the language's) becomes a mock array; anything else stays."""
        is_torch = type(arg).__name__ == "dtype" and type(arg).__module__ == "torch"
        return MockTensor(arg) if is_torch or isinstance(arg, (DType, np.dtype)) else arg

    def stride(self) -> tuple[int, ...]:
        """Steps in elements of a dense array of the shape."""
        out = [1]
        for d in self.shape[:0:-1]:
            out.append(out[-1] * d)
        return tuple(reversed(out))

    @staticmethod
    def data_ptr() -> int:
        return 0  # aligned to anything

    @staticmethod
    def ptr_range() -> int:
        return 0
