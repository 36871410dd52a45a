"""What a kernel is compiled for: per parameter, a run-time type or a compile-time value.

`tritium.runtime.specialize` makes these from the arguments of a launch; ahead-of-time compilation and the command line
make them from text. The frontend turns each run-time leaf into one argument of the IR function, named after the
parameter (``pair.0`` for the first item of a tuple; ``desc.base``, ``desc.shape.0``, ``desc.stride.0`` for a descriptor).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritium.ir.types import DType, PointerType


@dataclass(frozen=True, slots=True)
class RuntimeArg:
    """A run-time parameter: its type, and whether it is divisible by (pointers: aligned to) 16."""

    type: DType | PointerType
    divisible: bool = False

    def __str__(self) -> str:
        return f"{self.type.text}{' divisible by 16' if self.divisible else ''}"


@dataclass(frozen=True, slots=True)
class ConstArg:
    """A compile-time value. `token` tells equal values of different types apart and is what keys compare."""

    value: Any
    token: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstArg) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def __str__(self) -> str:
        return f"the constant {self.value!r}"


@dataclass(frozen=True, slots=True)
class TupleArg:
    """Several arguments in one: a tuple, or a named tuple of class `cls`."""

    items: tuple[Any, ...]
    cls: type | None = None

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class DescriptorArg:
    """A host TensorDescriptor: what of it is known at compile time."""

    dtype: DType
    block_shape: tuple[int, ...]
    padding: str = "zero"

    def __str__(self) -> str:
        return f"tensordesc<{self.dtype.text}{list(self.block_shape)}>"


Spec = RuntimeArg | ConstArg | TupleArg | DescriptorArg


@dataclass(frozen=True, slots=True)
class Signature:
    """The specs of all parameters, by name in order. Hashable: with the source and options it is the compile key."""

    params: tuple[tuple[str, Spec], ...]

    def __getitem__(self, name: str) -> Spec:
        return dict(self.params)[name]
