"""C++ types and literals of the language's scalars.

fp16, bf16 and the 8-bit floats are structs of bits that the prelude defines where they occur; arithmetic on them goes
through fp32, so no CUDA header is needed. i1 is ``bool`` in registers and a byte in memory.
"""

from __future__ import annotations

import math
from typing import Any

from tritium.ir.types import DType, PointerType, ScalarType
from tritium.ops.emit import UNARY, Expr, call

_NAMES = {
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned int",
    "u64": "unsigned long long",
    "f32": "float",
    "f64": "double",
}
SHORT = {"signed char": "i8", "unsigned char": "u8", "unsigned short": "u16", "unsigned int": "u32",
         "long long": "i64", "unsigned long long": "u64"}  # fmt: skip
"""Typedefs of the prelude for types of more than one word, so that they can be called like functions."""


def cpp_type(ty: ScalarType) -> str:
    """The type of an element in a register."""
    if isinstance(ty, PointerType):
        return f"{memory_type(ty.element_ty)}*"
    return _NAMES.get(ty.text, ty.text)


def memory_type(ty: ScalarType) -> str:
    """The type of an element in memory."""
    return "unsigned char" if ty.text == "i1" else cpp_type(ty)


def is_struct(ty: ScalarType) -> bool:
    """Whether elements are structs of bits: floats narrower than 32 bits."""
    return isinstance(ty, DType) and ty.is_floating() and ty.primitive_bitwidth < 32


def literal(value: Any, ty: ScalarType) -> Expr:
    """The number `value` as C++ text of type `ty`; narrow floats as fp32, for the caller to convert."""
    if isinstance(ty, PointerType):
        return Expr(f"({cpp_type(ty)}){int(value)}", UNARY)
    if ty.is_bool():
        return Expr("true" if value else "false")
    if ty.is_floating():
        return _float(float(value), ty)
    number = int(value)
    suffix = {"i64": "ll", "u32": "u", "u64": "ull"}.get(ty.text, "")
    if number == ty.get_int_min_value() and ty.text in ("i32", "i64"):
        return Expr(f"(-{-number - 1}{suffix} - 1)")
    return Expr(f"{number}{suffix}", UNARY if number < 0 else 17)


def _float(value: float, ty: DType) -> Expr:
    double = ty.is_fp64()
    if math.isnan(value):
        return (
            call("__longlong_as_double", "0x7ff8000000000000ll")
            if double
            else call("__int_as_float", "0x7fc00000")
        )
    if math.isinf(value):
        bits = ("0x7ff0000000000000ll", "0xfff0000000000000ull") if double else ("0x7f800000", "0xff800000")
        return call("__longlong_as_double" if double else "__int_as_float", bits[value < 0])
    text = repr(value)
    if "e" not in text and "." not in text:
        text += ".0"
    return Expr(text if double else text + "f", UNARY if value < 0 or text.startswith("-") else 17)
