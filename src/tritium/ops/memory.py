"""Pointers, loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.core import Value
from tritium.ir.types import DType, PointerType, Type, int1, like
from tritium.ops import facts as fx
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
from tritium.ops.facts import Bound, Facts
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface

LOAD_CACHE_MODIFIERS = (".ca", ".cg", ".cs", ".cv")
STORE_CACHE_MODIFIERS = (".wb", ".cg", ".cs", ".wt")
EVICTION_POLICIES = ("evict_first", "evict_last")


class AddPtr(TileOp, name="tile.addptr"):
    """Pointer plus an integer number of elements; both have the same shape.

    Signed offsets are sign-extended to 64 bits, unsigned ones zero-extended, then scaled by the element size.

    >>> tl.load(x + tl.arange(2, 5))
    [2.0, 3.0, 4.0]
    """

    ptr = operand()
    offset_ = operand()
    unit = 0

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

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.add_pointer(self, *x)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.binary("+", *x)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    @staticmethod
    def offset(s: Semantic, ptr: Tensor, by: Any) -> Tensor:
        """`ptr + by` with broadcasting, from handles."""
        offset = s.to_tensor(by)
        if not offset.dtype.is_int():
            s.fail("TRI0402", got=describe(offset))
        ptr, offset = s.broadcast(ptr, offset)
        return s.emit(AddPtr, ptr, offset)

    def facts(self, *operands: Facts) -> Facts | None:
        return fx.advance(operands[0], operands[1], self.ptr.type.scalar.element_ty.itemsize)  # type: ignore[union-attr]

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted


class Load(TileOp, name="tile.load"):
    """Reads the elements `ptr` points at; lanes whose `mask` is false read nothing and give `other`.

    `mask` (i1) and `other` (element type) have the pointer's shape. Masked lanes without `other` are
    undefined: they read as zero here and count as poison for the sanitizer.

    >>> lanes = tl.arange(0, 4)
    >>> tl.load(x + lanes, mask=lanes < 3, other=-1.0)
    [0.0, 1.0, 2.0, -1.0]
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
        result = like(self.ptr.type, element)
        check_mask(self.name, self.ptr.type, self.mask)
        if self.other is not None and self.mask is None:
            raise TypeRuleError("a load without mask has no use for other")
        if self.other is not None and self.other.type != result:
            raise TypeRuleError(f"other has type {self.other.type}, the load gives {result}")
        return (result,)

    def effects(self) -> Effect:
        return Effect.READ | Effect.VOLATILE if self.volatile else Effect.READ

    def execute(self, m: Machine, *args: Array | None) -> Any:
        rest = list(args[1:])
        mask = rest.pop(0) if self.mask is not None else None
        other = rest.pop(0) if self.other is not None else None
        return m.load(self, args[0], mask, other)  # type: ignore[arg-type]

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return wanted

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.load(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


class Store(TileOp, name="tile.store"):
    """Writes `value` where `ptr` points; lanes whose `mask` is false write nothing.

    `value` and `mask` have the pointer's shape. Through a pointer to int1 any non-zero value is stored as 1.

    >>> lanes = tl.arange(0, 4)
    >>> tl.store(x + lanes, 9.0, mask=lanes < 3)
    >>> x
    [9.0, 9.0, 9.0, 3.0, 4.0, 5.0, 6.0, 7.0]
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
        check_mask(self.name, self.ptr.type, self.mask)
        if self.value.type != like(self.ptr.type, element):
            raise TypeRuleError(f"the value has type {self.value.type}, the pointer {self.ptr.type}")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.store(self, args[0], args[1], args[2] if self.mask is not None else None)  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.store(self)


def _pointee(name: str, ty: Type) -> DType | PointerType:
    scalar = ty.scalar
    if not isinstance(scalar, PointerType):
        raise TypeRuleError(f"{name} needs a pointer, got {ty}")
    return scalar.element_ty


def check_mask(name: str, ptr: Type, mask: Value | None) -> None:
    """The type rule of masks. Raises TypeRuleError."""
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
    """Read the elements `pointer` points at, as a tile of the pointer's shape.

    Lanes whose `mask` is false read nothing and give `other`, or an undefined value without `other`.
    Pointer, mask and other are broadcast together, except that a single pointer takes a single mask. For
    block pointers, `boundary_check` names the axes to guard and `padding_option` ("zero", "nan") says what
    lies outside.

    >>> lanes = tl.arange(0, 4)
    >>> tl.load(x + lanes, mask=lanes < 3, other=-1.0)
    [0.0, 1.0, 2.0, -1.0]
    """
    from tritium.ops.blockptr import BlockPointer

    hints = {
        "cache": s.choice(cache_modifier, "cache_modifier", "load", LOAD_CACHE_MODIFIERS, "TRI0644"),
        "eviction": s.choice(eviction_policy, "eviction_policy", "load", EVICTION_POLICIES, "TRI0645"),
        "volatile": s.const_bool(volatile, "volatile"),
    }
    pointer, mask, other = unwrap(pointer), unwrap(mask), unwrap(other)
    if isinstance(pointer, BlockPointer):
        _refuse_with_block_pointer(s, "load", mask=mask, other=other)
        return pointer.load(s, boundary_check, padding_option, hints)
    ptr = pointer_of(s, pointer, "load")
    _refuse_without_block_pointer(s, "load", ptr, boundary_check, padding_option)
    if mask is None and other is not None:
        s.fail("TRI0641")
    mask_t = None if mask is None else mask_of(s, mask, "load")
    other_t = None if other is None else s.cast(s.to_tensor(other, "other"), pointee(ptr))
    for what, v in (("mask", mask_t), ("other", other_t)):
        if v is not None:
            ptr = _stretched(s, ptr, v, what)
    mask_t = None if mask_t is None else fit(s, mask_t, ptr, "mask", "load")
    other_t = None if other_t is None else fit(s, other_t, ptr, "other", "load")
    return s.emit(Load, ptr, mask_t, other_t, **hints)


@surface("store", method=True, also=("block_ptr.store",))
def store(
    s: Semantic,
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write `value`, converted to the element type, where `pointer` points.

    Lanes whose `mask` is false write nothing. Value and mask are broadcast to the pointer's shape. For block
    pointers, `boundary_check` names the axes along which what lies outside is dropped.

    >>> lanes = tl.arange(0, 4)
    >>> tl.store(x + lanes, 9.0, mask=lanes < 3)
    >>> x
    [9.0, 9.0, 9.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    from tritium.ops.blockptr import BlockPointer

    hints = {
        "cache": s.choice(cache_modifier, "cache_modifier", "store", STORE_CACHE_MODIFIERS, "TRI0644"),
        "eviction": s.choice(eviction_policy, "eviction_policy", "store", EVICTION_POLICIES, "TRI0645"),
    }
    pointer, mask = unwrap(pointer), unwrap(mask)
    if isinstance(pointer, BlockPointer):
        _refuse_with_block_pointer(s, "store", mask=mask)
        pointer.store(s, value, boundary_check, hints)
        return
    ptr = pointer_of(s, pointer, "store")
    refuse_constant(s, ptr)
    _refuse_without_block_pointer(s, "store", ptr, boundary_check, "")
    value_t = s.cast(fit(s, s.to_tensor(value, "the value of store"), ptr, "value", "store"), pointee(ptr))
    mask_t = None if mask is None else fit(s, mask_of(s, mask, "store"), ptr, "mask", "store")
    s.emit(Store, ptr, value_t, mask_t, **hints)


# ---- what loads, stores and atomics share ----------------------------------------------------------------


def pointer_of(s: Semantic, x: Any, function: str) -> Tensor:
    """`x` as a pointer or a tile of pointers."""
    if not isinstance(x, Tensor) or not isinstance(x.dtype, PointerType):
        s.fail("TRI0416", function=function, got=describe(x))
    return x


def pointee(ptr: Tensor) -> DType | PointerType:
    assert isinstance(ptr.dtype, PointerType)
    return ptr.dtype.element_ty


def mask_of(s: Semantic, x: Any, function: str) -> Tensor:
    """`x` as a mask: truth values of any shape."""
    mask = s.to_tensor(x, "mask")
    if mask.dtype is not int1:
        s.fail("TRI0642", function=function, got=describe(mask))
    return mask


def fit(s: Semantic, x: Tensor, ptr: Tensor, what: str, function: str) -> Tensor:
    """`x` stretched to the shape of `ptr`, which itself stays as it is."""
    if x.dims and not ptr.dims:
        s.fail("TRI0640", function=function, what=what, shape=list(x.dims))
    aligned = ptr.dims[len(ptr.dims) - len(x.dims) :]
    if len(x.dims) > len(ptr.dims) or any(m not in (1, n) for m, n in zip(x.dims, aligned, strict=True)):
        s.fail("TRI0643", what=what, function=function, got=list(x.dims), shape=list(ptr.dims))
    return s.broadcast_to(x, ptr.dims)


def refuse_constant(s: Semantic, ptr: Tensor) -> None:
    """Nothing is stored through ``tl.const`` pointers."""
    if isinstance(ptr.dtype, PointerType) and ptr.dtype.is_const():
        s.fail("TRI0417", name=_argument_name(ptr.value))


def _argument_name(value: Value) -> str:
    """The name of the pointer that `value` was computed from."""
    while (op := value.defining_op) is not None and op.operands and not value.name:
        value = op.operands[0]
    return value.name or "the pointer"


def _stretched(s: Semantic, ptr: Tensor, other: Tensor, what: str) -> Tensor:
    """Only a load stretches a tile of pointers to the shape of its mask."""
    if not ptr.dims:
        if other.dims:
            s.fail("TRI0640", function="load", what=what, shape=list(other.dims))
        return ptr
    return s.broadcast(ptr, other)[0]


def _refuse_with_block_pointer(s: Semantic, function: str, **given: Any) -> None:
    for argument, value in given.items():
        if value is not None:
            s.fail("TRI0647", function=function, argument=argument)


def _refuse_without_block_pointer(
    s: Semantic, function: str, ptr: Tensor, boundary_check: Any, padding_option: Any
) -> None:
    checked = unwrap(boundary_check)
    if checked is not None and checked != () and checked != []:
        s.fail("TRI0646", function=function, argument="boundary_check", got=describe(ptr))
    if unwrap(padding_option):
        s.fail("TRI0646", function=function, argument="padding_option", got=describe(ptr))
