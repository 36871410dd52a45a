"""``triton.tools.mxfp``: numbers of the OCP microscaling formats as PyTorch tensors of their bits.

Formats: OCP Microscaling Formats (MX) Specification 1.0. E2M1 is a sign, two exponent bits (bias 1) and one mantissa
bit, without infinities and NaN; E8M0 is a power of two with bias 127, 255 being NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # E2M1 by its three low bits
_BIAS = 127
_NAN = 255


def _torch() -> Any:
    import torch

    return torch


class _Bits:
    """A tensor of codes (uint8): made of float32 numbers, or of a size and then `random`."""

    def __init__(self, data: Any = None, size: Any = None, device: Any = None) -> None:
        self.device = device
        self.data: Any = None
        if data is not None:
            if not hasattr(data, "device"):
                raise TypeError(f"data is a PyTorch tensor, not a {type(data).__name__}")
            self.device = data.device
            self.data = self._from_float(data)
        elif size is not None:
            self.size: tuple[int, ...] = size if isinstance(size, tuple) else (size,)
        else:
            raise ValueError("give data or size")

    def _from_float(self, values: Any) -> Any:
        raise TypeError(f"{type(self).__name__} does not say how numbers are rounded")

    @staticmethod
    def _check_float32(dtype: Any) -> None:
        if dtype != _torch().float32:
            raise TypeError(f"the numbers are given as torch.float32, not {dtype}")


class MXFP4Tensor(_Bits):
    """E2M1 numbers, one per byte in the low four bits.

    data     float32 numbers to round: to nearest, ties to the even code; NaN and infinities become the largest number
    size     or the shape of a tensor to be filled by `random`
    """

    def random(self) -> MXFP4Tensor:
        """Fill with random codes."""
        torch = _torch()
        self.data = torch.randint(0, 16, size=self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The numbers as float32."""
        self._check_float32(dtype)
        torch = _torch()
        table = torch.tensor([*_MAGNITUDES, *(-m for m in _MAGNITUDES)], dtype=dtype, device=self.device)
        return table[self.data.long()]

    def _from_float(self, values: Any) -> Any:
        torch = _torch()
        size = values.abs().float()
        size = torch.where(torch.isfinite(size), size, torch.full_like(size, _MAGNITUDES[-1]))
        code = torch.zeros_like(size, dtype=torch.uint8)
        for low in range(len(_MAGNITUDES) - 1):
            middle = (_MAGNITUDES[low] + _MAGNITUDES[low + 1]) / 2
            above = size > middle if low % 2 == 0 else size >= middle  # a tie goes to the even code
            code += above.to(torch.uint8)
        return code | (torch.signbit(values).to(torch.uint8) << 3)

    def to_packed_tensor(self, dim: int) -> Any:
        """Two codes per byte along `dim`, the first in the low half; an odd extent is filled up with zero."""
        torch = _torch()
        if not 0 <= dim < self.data.ndim:
            raise ValueError(f"dim is from 0 to {self.data.ndim - 1}, not {dim}")
        data = self.data
        if data.size(dim) % 2:
            shape = list(data.shape)
            shape[dim] = 1
            data = torch.cat([data, torch.zeros(shape, dtype=data.dtype, device=data.device)], dim)
        pairs = data.unflatten(dim, (-1, 2))
        return pairs.select(dim + 1, 0) | (pairs.select(dim + 1, 1) << 4)

    def unpack_packed_tensor(self, packed_tensor: Any, dim: int, original_shape: Sequence[int]) -> Any:
        """The codes of a packed tensor, one per byte, in their original shape."""
        halves = _torch().stack((packed_tensor & 0xF, packed_tensor >> 4), dim=dim + 1)
        return halves.flatten(dim, dim + 1).narrow(dim, 0, original_shape[dim])


class MXScaleTensor(_Bits):
    """E8M0 scales, one per byte.

    data     float32 numbers; each becomes the power of two not above it, and what is not positive and finite NaN
    size     or the shape of a tensor to be filled by `random`
    """

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fill with random scales from `low` to `high` (by default all), without NaN."""
        least = 0 if low is None else max(0, int(math.log2(low)) + _BIAS)
        most = _NAN - 1 if high is None else min(_NAN - 1, max(0, int(math.log2(high)) + _BIAS))
        if least > most:
            raise ValueError(f"low is at most high, and {low} is above {high}")
        torch = _torch()
        self.data = torch.randint(least, most + 1, size=self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The scales as float32."""
        self._check_float32(dtype)
        torch = _torch()
        value = torch.pow(2.0, self.data.to(dtype) - _BIAS)
        return torch.where(self.data == _NAN, torch.full_like(value, math.nan), value)

    def _from_float(self, values: Any) -> Any:
        torch = _torch()
        usable = torch.isfinite(values) & (values > 0)
        _, exponent = torch.frexp(torch.where(usable, values, torch.ones_like(values)))  # in [0.5, 1)
        code = (exponent + (_BIAS - 1)).clamp(0, _NAN - 1)
        return torch.where(usable, code, torch.full_like(code, _NAN)).to(torch.uint8)
