"""Atomic read-modify-write and compare-and-swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.ir.types import DType, PointerType, Type, dtype_named, like, pointer
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.cast import reinterpret
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.memory import check_mask, fit, mask_of, pointee, pointer_of, refuse_constant
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface

KINDS = ("add", "fadd", "max", "min", "umax", "umin", "fmax", "fmin", "and", "or", "xor", "xchg")
ORDERS = ("acq_rel", "acquire", "release", "relaxed")
SCOPES = ("gpu", "cta", "sys")

_WORDS = ("int32", "uint32", "int64", "uint64")
_ACCEPTED: dict[str, tuple[str, ...]] = {
    "add": (*_WORDS, "fp16", "bf16", "fp32", "fp64"),
    "max": (*_WORDS, "fp32", "fp64"),
    "min": (*_WORDS, "fp32", "fp64"),
    "and": (*_WORDS, "fp32", "fp64"),
    "or": (*_WORDS, "fp32", "fp64"),
    "xor": (*_WORDS, "fp32", "fp64"),
    "xchg": (*_WORDS, "fp32", "fp64"),
}


class AtomicRmw(TileOp, name="tile.atomic_rmw"):
    """Combines `value` into memory at `ptr` lane by lane, atomically; gives the values from before.

    `kind` is add (integers), fadd, max and min (signed), umax and umin (unsigned), fmax and fmin, and, or, xor, xchg.
    Floats compare in the order of their bits: -NaN, -inf, ..., -0.0, +0.0, ..., inf, NaN. Lanes whose `mask` is false
    do nothing and give an undefined value. Lanes with one address all apply, in any order. `sem` is the memory
    order, `scope` the threads it holds for.

    >>> tl.atomic_add(i + tl.arange(0, 4) // 2, 10)
    [0, 10, 1, 11]
    >>> i
    [20, 21, 2, 3, 4, 5, 6, 7]
    """

    ptr = operand()
    value = operand()
    mask = operand(optional=True)
    kind = attr()
    sem = attr("acq_rel")
    scope = attr("gpu")
    effect = Effect.READ | Effect.WRITE | Effect.ATOMIC
    speculatable = False

    def infer(self) -> Sequence[Type]:
        element = self.ptr.type.scalar
        if not isinstance(element, PointerType) or not isinstance(element.element_ty, DType):
            raise TypeRuleError(f"{self.name} needs a pointer to numbers, got {self.ptr.type}")
        if self.kind not in KINDS or self.sem not in ORDERS or self.scope not in SCOPES:
            raise TypeRuleError(f"{self.name} has no {self.kind}, {self.sem}, {self.scope}")
        if self.value.type != like(self.ptr.type, element.element_ty):
            raise TypeRuleError(f"the value has type {self.value.type}, the pointer {self.ptr.type}")
        if self.kind != "xchg" and element.element_ty.is_floating() != self.kind.startswith("f"):
            raise TypeRuleError(f"{self.name} {self.kind} does not work on {element.element_ty}")
        check_mask(self.name, self.ptr.type, self.mask)
        return (self.value.type,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        mask = args[2] if self.mask is not None else None
        return m.atomic_rmw(self, self.kind, args[0], args[1], mask)  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.atomic(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


class AtomicCas(TileOp, name="tile.atomic_cas"):
    """Stores `value` where memory at `ptr` holds the bits of `compare`, atomically; gives the old values.

    >>> tl.atomic_cas(i + 3, 3, 7)
    3
    >>> i
    [0, 1, 2, 7, 4, 5, 6, 7]
    """

    ptr = operand()
    compare = operand()
    value = operand()
    sem = attr("acq_rel")
    scope = attr("gpu")
    effect = Effect.READ | Effect.WRITE | Effect.ATOMIC
    speculatable = False

    def infer(self) -> Sequence[Type]:
        element = self.ptr.type.scalar
        if not isinstance(element, PointerType):
            raise TypeRuleError(f"{self.name} needs a pointer, got {self.ptr.type}")
        wanted = like(self.ptr.type, element.element_ty)
        if self.compare.type != wanted or self.value.type != wanted:
            raise TypeRuleError(f"{self.name} needs {wanted}, got {self.compare.type} and {self.value.type}")
        if self.sem not in ORDERS or self.scope not in SCOPES:
            raise TypeRuleError(f"{self.name} has no {self.sem}, {self.scope}")
        return (wanted,)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return m.atomic_cas(self, args[0], args[1], args[2])  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.atomic(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


# ---- surfaces --------------------------------------------------------------------------------------------


@surface("atomic_add", method=True)
def atomic_add(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Add `val` to memory at `pointer`, atomically; gives the old values.

    32- and 64-bit integers, and floats.

    >>> tl.atomic_add(i + tl.arange(0, 2), 10)
    [0, 1]
    >>> i
    [10, 11, 2, 3, 4, 5, 6, 7]
    """
    return _update(s, "add", pointer, val, mask, sem, scope)


@surface("atomic_max", method=True)
def atomic_max(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Keep the larger of memory and `val`, atomically; gives the old values.

    fp32 and fp64 order as their bits do.

    >>> tl.atomic_max(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [2, 2, 2, 3, 4, 5, 6, 7]
    """
    return _update(s, "max", pointer, val, mask, sem, scope)


@surface("atomic_min", method=True)
def atomic_min(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Keep the smaller of memory and `val`, atomically; gives the old values.

    fp32 and fp64 order as their bits do.

    >>> tl.atomic_min(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [0, 1, 2, 2, 4, 5, 6, 7]
    """
    return _update(s, "min", pointer, val, mask, sem, scope)


@surface("atomic_and", method=True)
def atomic_and(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Keep the bits that memory and `val` share, atomically; gives the old values.

    >>> tl.atomic_and(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [0, 0, 2, 2, 4, 5, 6, 7]
    """
    return _update(s, "and", pointer, val, mask, sem, scope)


@surface("atomic_or", method=True)
def atomic_or(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Set the bits of `val` in memory, atomically; gives the old values.

    >>> tl.atomic_or(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [2, 3, 2, 3, 4, 5, 6, 7]
    """
    return _update(s, "or", pointer, val, mask, sem, scope)


@surface("atomic_xor", method=True)
def atomic_xor(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Flip the bits of `val` in memory, atomically; gives the old values.

    >>> tl.atomic_xor(i + tl.arange(0, 4), 3)
    [0, 1, 2, 3]
    >>> i
    [3, 2, 1, 0, 4, 5, 6, 7]
    """
    return _update(s, "xor", pointer, val, mask, sem, scope)


@surface("atomic_xchg", method=True)
def atomic_xchg(
    s: Semantic, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    """Put `val` into memory, atomically; gives the old values.

    >>> tl.atomic_xchg(i + tl.arange(0, 4), 9)
    [0, 1, 2, 3]
    >>> i
    [9, 9, 9, 9, 4, 5, 6, 7]
    """
    return _update(s, "xchg", pointer, val, mask, sem, scope)


@surface("atomic_cas", method=True)
def atomic_cas(s: Semantic, pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> Tensor:
    """Put `val` into memory where it holds `cmp`, atomically; gives the old values. 16, 32 and 64 bits.

    Bits are compared, so -0.0 is not +0.0. `cmp` and `val` have the element type; Python numbers take it.

    >>> tl.atomic_cas(i + tl.arange(0, 4), 2, 9)
    [0, 1, 2, 3]
    >>> i
    [0, 1, 9, 3, 4, 5, 6, 7]
    """
    ptr = pointer_of(s, unwrap(pointer), "atomic_cas")
    refuse_constant(s, ptr)
    element = pointee(ptr)
    if not isinstance(element, DType) or element.primitive_bitwidth not in (16, 32, 64):
        s.fail("TRI0650", function="atomic_cas", got=element, expected="one of 16, 32 or 64 bits")
    operands: list[Tensor] = []
    for v in (cmp, val):
        t = s.to_tensor(v)
        if is_number(v) and t.dtype.is_floating() <= element.is_floating():
            t = s.cast(t, element)
        if t.dtype != element:
            s.fail("TRI0656", expected=element, got=describe(t))
        operands.append(fit(s, t, ptr, "value", "atomic_cas"))
    return s.emit(AtomicCas, ptr, *operands, **_ordering(s, "atomic_cas", sem, scope))


def _update(s: Semantic, kind: str, target: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Tensor:
    function = f"atomic_{kind}"
    ptr = pointer_of(s, unwrap(target), function)
    refuse_constant(s, ptr)
    element = pointee(ptr)
    if not isinstance(element, DType) or element.name not in _ACCEPTED[kind]:
        s.fail("TRI0650", function=function, got=element, expected=", ".join(_ACCEPTED[kind]))
    value = s.cast(fit(s, s.to_tensor(val), ptr, "value", function), element)
    mask = unwrap(mask)
    mask_t = None if mask is None else fit(s, mask_of(s, mask, function), ptr, "mask", function)
    return read_modify_write(s, kind, ptr, value, mask_t, **_ordering(s, function, sem, scope))


def _ordering(s: Semantic, function: str, sem: Any, scope: Any) -> dict[str, str]:
    return {
        "sem": s.choice(sem, "sem", function, ORDERS, "TRI0651") or "acq_rel",
        "scope": s.choice(scope, "scope", function, SCOPES, "TRI0651") or "gpu",
    }


def read_modify_write(
    s: Semantic, kind: str, ptr: Tensor, value: Tensor, mask: Tensor | None, **ordering: str
) -> Tensor:
    """The op for `kind` (add, max, ...) on checked operands, by the element type."""
    ty = value.dtype
    assert isinstance(ty, DType)
    if kind in ("and", "or", "xor") and ty.is_floating():
        bits = dtype_named(f"int{ty.primitive_bitwidth}")
        at = s.cast(ptr, pointer(bits))
        return reinterpret(
            s, read_modify_write(s, kind, at, reinterpret(s, value, bits), mask, **ordering), ty
        )
    if kind in ("add", "max", "min") and ty.is_floating():
        kind = f"f{kind}"
    elif kind in ("max", "min") and ty.is_int_unsigned():
        kind = f"u{kind}"
    return s.emit(AtomicRmw, ptr, value, mask, kind=kind, **ordering)
