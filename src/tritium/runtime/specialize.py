"""From argument values to what a kernel is compiled for: types, compile-time values, alignment.

==============================  ===================  ==========================================
argument                        becomes              and is compiled again when
==============================  ===================  ==========================================
constexpr parameter             its value            the value changes
None, dtype, jit function       compile-time value   it changes
bool                            ``i1``               -
int equal to 1                  compile-time 1       it is no longer 1
other int                       ``i32 i64 u64``      the type, or divisibility by 16, changes
float                           ``f32``              -
array                           pointer to its dtype the dtype, or 16-byte alignment, changes
tuple, named tuple              item by item         any item does
TensorDescriptor                base, shape, strides dtype, rank or block shape changes
==============================  ===================  ==========================================

An annotation on the parameter fixes a number's type. ``do_not_specialize`` drops the last two columns for ints and
pointers, ``do_not_specialize_on_alignment`` only divisibility and alignment. NumPy scalars count as Python numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.errors import make_error
from tritium.frontend.signature import Argument, Constant, DescriptorOf, RunTime, Signature, TupleOf
from tritium.ir.types import DType, PointerType, float32, int1, int32, int64, pointer, uint64
from tritium.ops.handles import Tensor, constexpr
from tritium.runtime.arrays import ArrayView, dtype_of, is_array, view_of

ALIGNMENT = 16
"""Bytes for pointers, and the divisor for ints, that kernels are specialised on."""


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
class Rules:
    """How one parameter is treated: from its annotation and the jit options.

    constant      annotated tl.constexpr
    fixed         type fixed by the annotation, if any
    pointer_const annotated tl.const: nothing may be stored through it
    specialize    whether 1 and None become compile-time values
    align         whether divisibility by 16 is part of the type
    """

    name: str
    constant: bool = False
    fixed: DType | None = None
    pointer_const: bool = False
    specialize: bool = True
    align: bool = True


def specialize(value: Any, rules: Rules) -> Spec:
    """What the argument `value` of a parameter under `rules` is compiled as. Raises ArgumentError naming it."""
    if isinstance(value, constexpr):
        return const_arg(value.value, rules.name)
    if rules.constant:
        return const_arg(value, rules.name)
    kind = type(value)
    if kind is int:
        return _integer(value, rules)
    if kind is float:
        return RuntimeArg(rules.fixed or float32)
    if kind is bool or kind is np.bool_:
        return RuntimeArg(rules.fixed or int1)
    if value is None:
        return ConstArg(None, None)
    if is_array(value) or isinstance(value, ArrayView):
        return _array(value, rules)
    if isinstance(value, np.generic):
        return _numpy_scalar(value, rules)
    if isinstance(value, (tuple, list)):
        return _tuple(value, rules)
    if isinstance(value, DType):  # a dtype in place of an array: ahead-of-time compilation
        return RuntimeArg(pointer(value, rules.pointer_const), rules.align and rules.specialize)
    if type(value).__name__ == "TensorDescriptor":
        dtype = view_of(value.base, rules.name).dtype
        return DescriptorArg(
            dtype, tuple(int(d) for d in value.block_shape), str(getattr(value, "padding", "zero"))
        )
    if _is_compile_time(value):
        return const_arg(value, rules.name)
    if _is_torch_dtype(value):
        return RuntimeArg(
            pointer(dtype_of(value, rules.name), rules.pointer_const), rules.align and rules.specialize
        )
    raise make_error("TRI0704", name=rules.name, got=_shown(value), expected="an array or a number")


def const_arg(value: Any, name: str) -> ConstArg:
    """`value` as a compile-time value; it must be hashable and not an array."""
    if isinstance(value, np.generic) and not isinstance(value, np.ndarray):
        value = value.item()
    if is_array(value):
        raise make_error("TRI0712", name=name, got=_shown(value))
    try:
        hash(value)
    except TypeError:
        if isinstance(value, list):
            return const_arg(tuple(value), name)
        raise make_error("TRI0712", name=name, got=_shown(value)) from None
    return ConstArg(value, _token(value))


def _token(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return (type(value).__name__, repr(value))  # 1, 1.0 and True are equal but compile differently
    if isinstance(value, tuple):
        return (type(value), tuple(_token(v) for v in value))
    key = getattr(value, "cache_key", None)
    return ("jit", key) if isinstance(key, str) else value


def _integer(value: int, rules: Rules) -> Spec:
    if rules.fixed is not None:
        return RuntimeArg(rules.fixed, rules.align and rules.specialize and value % ALIGNMENT == 0)
    if value == 1 and rules.specialize:
        return ConstArg(1, ("int", "1"))
    divisible = rules.specialize and rules.align and value % ALIGNMENT == 0
    if -(2**31) <= value < 2**31:
        return RuntimeArg(int32, divisible)
    if -(2**63) <= value < 2**63:
        return RuntimeArg(int64, divisible)
    if 0 <= value < 2**64:
        return RuntimeArg(uint64, divisible)
    raise make_error("TRI0705", name=rules.name, value=value)


def _numpy_scalar(value: Any, rules: Rules) -> Spec:
    if isinstance(value, np.integer):
        return _integer(int(value), rules)
    if isinstance(value, np.floating) or value.dtype.kind == "V" or "float" in value.dtype.name:
        return RuntimeArg(rules.fixed or float32)
    raise make_error("TRI0704", name=rules.name, got=_shown(value), expected="an array or a number")


def _array(value: Any, rules: Rules) -> Spec:
    view = value if isinstance(value, ArrayView) else view_of(value, rules.name)
    divisible = rules.specialize and rules.align and view.address % ALIGNMENT == 0
    return RuntimeArg(pointer(view.dtype, rules.pointer_const), divisible)


def _tuple(value: Any, rules: Rules) -> TupleArg:
    items = tuple(
        specialize(item, Rules(f"{rules.name}[{i}]", specialize=rules.specialize, align=rules.align))
        for i, item in enumerate(value)
    )
    return TupleArg(items, type(value) if hasattr(value, "_fields") else None)


def _is_compile_time(value: Any) -> bool:
    """Jit functions, types and Triton-level objects that live only at compile time."""
    return (
        hasattr(value, "cache_key") or hasattr(value, "fn") or isinstance(value, (PointerType, Tensor, type))
    )


def _is_torch_dtype(value: Any) -> bool:
    return (type(value).__module__ == "torch" and type(value).__name__ == "dtype") or isinstance(
        value, np.dtype
    )


def _shown(value: Any) -> str:
    text = type(value).__name__
    return f"{text} {value!r}" if isinstance(value, (str, dict, set)) else f"of type {text}"


def difference(old: dict[str, Spec], new: dict[str, Spec]) -> list[str]:
    """Which arguments changed class between two specialisations, in words."""
    return [f"argument {n} changed from {old[n]} to {s}" for n, s in new.items() if n in old and old[n] != s]


Specs = tuple[tuple[str, Spec], ...]
"""The specs of all parameters by name, in order: with source and options, the compile key."""


def to_signature(specs: Specs) -> Signature:
    """The frontend's form of `specs`."""
    return Signature(tuple((name, _argument(spec)) for name, spec in specs))


def _argument(spec: Spec) -> Argument:
    if isinstance(spec, ConstArg):
        return Constant(spec.value)
    if isinstance(spec, TupleArg):
        return TupleOf(tuple(_argument(s) for s in spec.items), spec.cls)
    if isinstance(spec, DescriptorArg):
        return DescriptorOf(spec.dtype, spec.block_shape, spec.padding)
    return RunTime(spec.type, (("divisibility", ALIGNMENT),) if spec.divisible else ())
