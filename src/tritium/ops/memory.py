"""Pointers, loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, PointerType, Type, int1, like
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.handles import Tensor
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class AddPtr(TileOp, name="tile.addptr"):
    """Pointer plus an integer number of elements; both have the same shape.

    Signed offsets are sign-extended to 64 bits, unsigned ones zero-extended, then scaled by the element size.
    """

    ptr = operand()
    offset_ = operand()

    def infer(self) -> Sequence[Type]:
        if not isinstance(self.ptr.type.scalar, PointerType):
            raise TypeRuleError(f"tile.addptr needs a pointer, got {self.ptr.type}")
        offset = self.offset_.type
        if not (isinstance(offset.scalar, DType) and offset.scalar.is_int()):
            raise TypeRuleError(f"a pointer moves by integers, got {offset}")
        if offset.shape != self.ptr.type.shape:
            raise TypeRuleError(f"pointer and offset differ in shape: {self.ptr.type} and {offset}")
        return (self.ptr.type,)

    def eval(self, *args: Array) -> Array:
        size = self.ptr.type.scalar.element_ty.itemsize  # type: ignore[union-attr]
        return args[0] + args[1].astype(np.int64, copy=False) * np.int64(size)

    @staticmethod
    def offset(s: Semantic, ptr: Tensor, by: Any) -> Tensor:
        """`ptr + by` with broadcasting, from handles."""
        offset = s.to_tensor(by)
        if not (isinstance(offset.dtype, DType) and offset.dtype.is_int()):
            s.fail("TRI0402", got=describe(offset))
        ptr, offset = s.broadcast(ptr, offset)
        return s.emit(AddPtr, ptr, offset)


class Load(TileOp, name="tile.load"):
    """Reads the elements `ptr` points at; lanes whose `mask` is false read nothing and give `other`.

    `mask` (i1) and `other` (element type) have the pointer's shape. Masked lanes without `other` are undefined:
    they read as zero here and count as poison for the sanitizer.
    """

    ptr = operand()
    mask = operand(optional=True)
    other = operand(optional=True)
    cache = attr("")
    eviction = attr("")
    volatile = attr(False)
    effect = Effect.READ
    speculatable = False

    def infer(self) -> Sequence[Type]:
        element = _pointee(self.name, self.ptr.type)
        _check_mask(self.name, self.ptr.type, self.mask)
        if self.other is not None and self.other.type != like(self.ptr.type, element):
            raise TypeRuleError(
                f"other has type {self.other.type}, the load gives {like(self.ptr.type, element)}"
            )
        return (like(self.ptr.type, element),)

    def effects(self) -> Effect:
        return Effect.READ | Effect.VOLATILE if self.volatile else Effect.READ

    def execute(self, m: Machine, *args: Array | None) -> Any:
        mask, other = _optional(self, args)
        return m.load(self, args[0], mask, other)  # type: ignore[arg-type]


class Store(TileOp, name="tile.store"):
    """Writes `value` where `ptr` points; lanes whose `mask` is false write nothing.

    `value` and `mask` have the pointer's shape. Through a pointer to int1 any non-zero value is stored as 1.
    """

    ptr = operand()
    value = operand()
    mask = operand(optional=True)
    cache = attr("")
    eviction = attr("")
    effect = Effect.WRITE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        element = _pointee(self.name, self.ptr.type)
        _check_mask(self.name, self.ptr.type, self.mask)
        if self.value.type != like(self.ptr.type, element):
            raise TypeRuleError(f"the value has type {self.value.type}, the pointer {self.ptr.type}")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.store(self, args[0], args[1], args[2] if len(args) > 2 else None)  # type: ignore[arg-type]


def _optional(op: Load, args: Sequence[Array | None]) -> tuple[Array | None, Array | None]:
    rest = list(args[1:])
    mask = rest.pop(0) if op.mask is not None else None
    return mask, rest.pop(0) if op.other is not None else None


def _pointee(name: str, ty: Type) -> DType | PointerType:
    scalar = ty.scalar
    if not isinstance(scalar, PointerType):
        raise TypeRuleError(f"{name} needs a pointer, got {ty}")
    return scalar.element_ty


def _check_mask(name: str, ptr: Type, mask: Any) -> None:
    if mask is not None and mask.type != like(ptr, int1):
        raise TypeRuleError(f"the mask of {name} is an i1 of the pointer's shape, got {mask.type} for {ptr}")


@surface("load")
def load(
    s: Semantic,
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> Tensor:
    """Read the elements `pointer` points at, as a tile of the pointer's shape."""
    ptr = s.to_tensor(pointer)
    element = _pointee("load", ptr.type)
    mask_t = None if mask is None else s.broadcast_to(s.to_tensor(mask), ptr.dims)
    other_t = None if other is None else s.broadcast_to(s.cast(s.to_tensor(other), element), ptr.dims)
    return s.emit(Load, ptr, mask_t, other_t, volatile=s.const_bool(volatile, "volatile"))


@surface("store")
def store(
    s: Semantic,
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write `value` where `pointer` points."""
    ptr = s.to_tensor(pointer)
    element = _pointee("store", ptr.type)
    value_t = s.broadcast_to(s.cast(s.to_tensor(value), element), ptr.dims)
    mask_t = None if mask is None else s.broadcast_to(s.to_tensor(mask), ptr.dims)
    s.emit(Store, ptr, value_t, mask_t)
