"""How buffers in shared memory are laid out: order of the axes and padding, by policy.

``seed``      row-major; only A is padded, by one element where its rows would share banks
``default``   A with neighbouring rows next to each other, so that a thread reads a run of rows as one vector; padding
              from a count of bank conflicts
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tritium.ir.types import DType, ScalarType
from tritium.layout import seed_row_padding
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.gpu_shared import SharedAlloc

BANK_BYTES = 4


class SharedPolicy(Protocol):
    """`copies_directly`: whether a load that only feeds a dot goes to shared memory without stopping in registers."""

    @property
    def copies_directly(self) -> bool: ...

    def dot_operand(
        self,
        name: str,
        element: DType,
        shape: tuple[int, ...],
        side: str,
        result: RegisterLayout,
        stages: int,
    ) -> SharedAlloc:
        """The buffer of operand `side` ("a" or "b") of a dot with the result layout `result`."""
        ...

    def conversion(
        self, name: str, element: ScalarType, source: RegisterLayout, target: RegisterLayout
    ) -> SharedAlloc: ...


@dataclass(frozen=True)
class SeedShared:
    """See the module text. `padded`: whether A may be."""

    copies_directly: bool = True
    padded: bool = True

    def dot_operand(
        self,
        name: str,
        element: DType,
        shape: tuple[int, ...],
        side: str,
        result: RegisterLayout,
        stages: int,
    ) -> SharedAlloc:
        rows = 1
        for _, count, _ in result.axes[0].thread_terms():
            rows *= count
        padding = seed_row_padding(shape[1], rows) if side == "a" and self.padded else 0
        return SharedAlloc(
            label=f"shared_{name}", element=element, shape=shape, padding=padding, stages=stages
        )

    def conversion(
        self, name: str, element: ScalarType, source: RegisterLayout, target: RegisterLayout
    ) -> SharedAlloc:
        return _row_major(name, element, source)


@dataclass(frozen=True)
class DefaultShared:
    """See the module text."""

    copies_directly: bool = False

    def dot_operand(
        self,
        name: str,
        element: DType,
        shape: tuple[int, ...],
        side: str,
        result: RegisterLayout,
        stages: int,
    ) -> SharedAlloc:
        axis = 0 if side == "a" else 1
        room = list(shape)
        room[axis] = max(shape[axis], result.axes[axis].covered)
        order = (0, 1) if side == "a" else (1, 0)
        padding = 16 // element.itemsize if side == "a" else 0  # a whole vector, so that rows stay aligned
        return SharedAlloc(label=f"shared_{name}", element=element, shape=tuple(room), order=order, padding=padding,
                           stages=stages)  # fmt: skip

    def conversion(
        self, name: str, element: ScalarType, source: RegisterLayout, target: RegisterLayout
    ) -> SharedAlloc:
        return _row_major(name, element, source, _turn_padding(element, source, target))


def _row_major(name: str, element: ScalarType, source: RegisterLayout, padding: int = 0) -> SharedAlloc:
    shape = source.shape
    return SharedAlloc(label=f"exchange_{name}" if name else "exchange", element=element, shape=shape,
                       order=tuple(reversed(range(len(shape)))), padding=padding)  # fmt: skip


def _turn_padding(element: ScalarType, source: RegisterLayout, target: RegisterLayout) -> int:
    """Elements of a word behind each row where lanes write along rows and read along columns, or the other way round."""
    if len(source.axes) < 2 or _along(source) == _along(target):
        return 0
    size = element.itemsize if isinstance(element, DType) else 8
    return max(1, BANK_BYTES // size)


def _along(layout: RegisterLayout) -> int:
    """The axis along which neighbouring threads lie."""
    return next(
        (i for i, a in enumerate(layout.axes) for stride, _, _ in a.thread_terms() if stride == 1), -1
    )
