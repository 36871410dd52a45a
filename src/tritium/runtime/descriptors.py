"""Tensor descriptors made on the host and passed to kernels (``triton.tools.tensor_descriptor``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tritium.errors import make_error
from tritium.runtime.arrays import view_of

MAX_RANK = 5


@dataclass
class TensorDescriptor:
    """An array with the block that kernels load and store through it.

    base          the array
    shape         extents of the view, 1 to 5 of them
    strides       steps in elements; the last is 1, the others are multiples of 16 bytes
    block_shape   extents of one block
    padding       what reads outside the view give: "zero" or "nan"
    Raises ArgumentError where the rules (those of the GPU's copy engine) are not met.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= MAX_RANK:
            _refuse(f"it has {rank} axes, and 1 to {MAX_RANK} are possible")
        if len(self.strides) != rank or len(self.block_shape) != rank:
            _refuse(
                f"shape has {rank} axes, strides {len(self.strides)} and block_shape {len(self.block_shape)}"
            )
        view = view_of(self.base, "base")
        if view.address % 16:
            _refuse("its base address is not a multiple of 16 bytes")
        for axis, stride in enumerate(self.strides[:-1]):
            if stride * view.dtype.itemsize % 16:
                nbytes = stride * view.dtype.itemsize
                _refuse(f"the stride of axis {axis} is {nbytes} bytes, which is not a multiple of 16")
        if self.strides[-1] != 1:
            _refuse(f"the stride of its last axis is {self.strides[-1]} elements and must be 1")
        for axis, extent in enumerate(self.shape):
            if extent <= 0:
                _refuse(f"the extent of axis {axis} is {extent} and must be positive")
        if any(int(d) < 1 for d in self.block_shape):
            _refuse(f"block_shape {list(self.block_shape)} has an extent below 1")
        if self.padding not in ("zero", "nan"):
            _refuse(f'padding is "zero" or "nan", not "{self.padding}"')
        if self.padding == "nan" and not view.dtype.is_floating():
            _refuse(f'padding "nan" needs floats, and the elements are {view.dtype}')

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole array."""
        view = view_of(tensor, "tensor")
        return TensorDescriptor(
            tensor, list(view.shape), list(view.strides), block_shape, padding, round_f32_to_tf32
        )


def _refuse(problem: str) -> NoReturn:
    raise make_error("TRI0715", problem=problem)
