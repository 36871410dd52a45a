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
from tritium.frontend.callables import Builtin
from tritium.frontend.constexpr_functions import ConstexprFunction
from tritium.frontend.signature import Argument, Constant, DescriptorOf, RunTime, Signature, TupleOf
from tritium.frontend.source import JitCallable
from tritium.ir.types import DType, PointerType, float32, int1, int32, int64, pointer, uint64
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.runtime.arrays import ArrayView, is_array, view_of

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
    specialize    whether 1 becomes a compile-time value
    align         whether divisibility by 16 is part of the type
    """

    name: str
    constant: bool = False
    fixed: DType | PointerType | None = None
    pointer_const: bool = False
    specialize: bool = True
    align: bool = True

    @property
    def aligns(self) -> bool:
        """Whether divisibility by 16 distinguishes arguments."""
        return self.specialize and self.align


def specialize(value: Any, rules: Rules) -> Spec:
    """What the argument `value` of a parameter under `rules` is compiled as. Raises ArgumentError naming it."""
    if isinstance(value, constexpr):
        return const_arg(value.value, rules.name)
    if rules.constant:
        return const_arg(value, rules.name)
    if value is None:
        return ConstArg(None, None)
    if is_array(value):
        return _array(value, rules)
    if isinstance(value, (bool, int, float, np.generic)):
        return _number(value, rules)
    if isinstance(value, (tuple, list)):
        return _tuple(value, rules)
    if is_descriptor(value):
        dtype = view_of(value.base, f"{rules.name}.base").dtype
        block = tuple(int(unwrap(d)) for d in value.block_shape)
        return DescriptorArg(dtype, block, str(getattr(value, "padding", "zero")))
    if _is_compile_time(value):
        return const_arg(value, rules.name)
    raise make_error("TRI0704", name=rules.name, got=shown(value), expected="an array or a number")


def is_descriptor(value: Any) -> bool:
    """Whether `value` is a host tensor descriptor, ours or one of the same shape."""
    return type(value).__name__ == "TensorDescriptor" and hasattr(value, "block_shape")


def const_arg(value: Any, name: str) -> ConstArg:
    """`value` as a compile-time value; it must be hashable and not an array."""
    if isinstance(value, np.generic) and not isinstance(value, np.ndarray):
        value = value.item()
    if is_array(value):
        raise make_error("TRI0712", name=name, got=shown(value))
    try:
        hash(value)
    except TypeError:
        if isinstance(value, list):
            return const_arg(tuple(value), name)
        raise make_error("TRI0712", name=name, got=shown(value)) from None
    return ConstArg(value, _token(value))


def _token(value: Any) -> Any:
    """What equal compile-time values have in common; 1, 1.0 and True are equal but compile differently."""
    if isinstance(value, (bool, int, float, constexpr)):
        inner = unwrap(value)
        return (type(value).__name__, repr(inner) if inner is not value else repr(value))
    if isinstance(value, tuple):
        return (type(value), tuple(_token(v) for v in value))
    if isinstance(value, JitCallable):
        value.refresh()
        return ("jit", value.source.qualified_name, value.cache_key)
    return (type(value), value)


# ---- numbers -----------------------------------------------------------------------------------------


def number_of(value: Any) -> bool | int | float | None:
    """A Python or NumPy number as the plain Python number, anything else as None."""
    if isinstance(value, np.generic):
        if isinstance(value, (np.bool_, np.integer)):
            return value.item()
        if isinstance(value, np.floating) or "float" in value.dtype.name:  # ml_dtypes has classes of its own
            return float(value)
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else None


def _number(value: Any, rules: Rules) -> Spec:
    number = number_of(value)
    if number is None:
        raise make_error("TRI0704", name=rules.name, got=shown(value), expected="an array or a number")
    fixed = rules.fixed
    if fixed is None:
        if isinstance(number, bool):
            return RuntimeArg(int1)
        return RuntimeArg(float32) if isinstance(number, float) else _integer(number, rules)
    check_fits(number, fixed, rules.name)
    divisible = rules.aligns and fixed.is_int() and not fixed.is_bool() and number % ALIGNMENT == 0
    return RuntimeArg(fixed, divisible)


def _integer(value: int, rules: Rules) -> Spec:
    if value == 1 and rules.specialize:
        return ConstArg(1, ("int", "1"))
    divisible = rules.aligns and value % ALIGNMENT == 0
    if -(2**31) <= value < 2**31:
        return RuntimeArg(int32, divisible)
    if -(2**63) <= value < 2**63:
        return RuntimeArg(int64, divisible)
    if 0 <= value < 2**64:
        return RuntimeArg(uint64, divisible)
    raise make_error("TRI0705", name=rules.name, value=value)


def check_fits(number: bool | int | float, fixed: DType | PointerType, name: str) -> None:
    """Raise ArgumentError unless a parameter annotated with type `fixed` can take `number`."""
    kind = type(number).__name__
    if isinstance(fixed, PointerType) or (fixed.is_int() and isinstance(number, float)):
        expected = "an array" if isinstance(fixed, PointerType) else f"an integer: it is annotated {fixed}"
        raise make_error("TRI0704", name=name, got=f"the {kind} {number}", expected=expected)
    if fixed.is_int() and not isinstance(number, bool):
        bits = fixed.primitive_bitwidth
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if fixed.is_int_signed() else (0, 2**bits)
        if not low <= number < high:
            message = f"argument `{name}` is {number}, and the parameter is annotated {fixed}"
            hint = f"pass a value from {low} to {high - 1}, or annotate a wider type"
            raise make_error("TRI0705", message=message, hint=hint, name=name, value=number)


# ---- arrays and tuples -------------------------------------------------------------------------------


def _array(value: Any, rules: Rules) -> Spec:
    return array_spec(view_of(value, rules.name), rules)


def array_spec(view: ArrayView, rules: Rules) -> RuntimeArg:
    """The spec of an array argument."""
    divisible = rules.aligns and view.address % ALIGNMENT == 0
    fixed = rules.fixed
    if fixed is None:
        return RuntimeArg(pointer(view.dtype, rules.pointer_const), divisible)
    if not isinstance(fixed, PointerType):
        got = f"an array of {view.dtype}"
        raise make_error("TRI0704", name=rules.name, got=got, expected=f"a number: it is annotated {fixed}")
    if fixed.element_ty.itemsize != view.dtype.itemsize:  # type: ignore[union-attr]
        raise make_error(
            "TRI0704",
            name=rules.name,
            got=f"an array of {view.dtype}",
            expected=f"elements of {fixed.element_ty}, as annotated",
        )
    return RuntimeArg(fixed, divisible)


def _tuple(value: Any, rules: Rules) -> TupleArg:
    items = tuple(specialize(item, Rules(f"{rules.name}[{i}]")) for i, item in enumerate(value))
    return TupleArg(items, type(value) if hasattr(value, "_fields") else None)


def _is_compile_time(value: Any) -> bool:
    """Jit functions, types and Triton-level objects that live only at compile time."""
    return isinstance(
        value, (JitCallable, ConstexprFunction, Builtin, DType, PointerType, type(None))
    ) or value in (constexpr, Tensor)


def shown(value: Any) -> str:
    """How errors name an argument."""
    text = type(value).__name__
    return f"{text} {value!r}" if isinstance(value, (str, dict, set)) else f"of type {text}"


def add_leaves(spec: Spec, value: Any, out: list[Any]) -> None:
    """Append the run-time parts of one argument, in the order of the IR function's arguments: views and numbers."""
    if isinstance(spec, ConstArg):
        return
    if isinstance(spec, TupleArg):
        for inner, item in zip(spec.items, value, strict=True):
            add_leaves(inner, item, out)
    elif isinstance(spec, DescriptorArg):
        out.append(view_of(value.base))
        out.extend(int(unwrap(d)) for d in value.shape)
        out.extend(int(unwrap(s)) for s in list(value.strides)[:-1])  # the last one is 1
    elif isinstance(spec.type, PointerType):
        out.append(view_of(value))
    else:
        out.append(number_of(value))


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
