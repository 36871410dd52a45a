"""Functions of the device library: those with a vector form, those of the host's C library, and simple ones inline.

A fp32 function that has no polynomial of ours is the C library's fp64 function rounded to fp32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritium.backends.cpu import vector_math
from tritium.backends.cpu.code import Code, V
from tritium.backends.cpu.verbs import Unsupported

C_LIBRARY = {
    **{n: n for n in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
                      "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "lgamma",
                      "tgamma", "j0", "j1", "y0", "y1", "exp10")},
    "atan2": "atan2", "pow": "pow", "hypot": "hypot", "fmod": "fmod", "remainder": "remainder",
}  # fmt: skip
"""libdevice functions that the C library has with the same special values."""

INTRINSICS = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "nearbyint": "rint",
              "abs": "fabs", "fabs": "fabs", "sqrt": "sqrt", "sqrt_rn": "sqrt"}  # fmt: skip


def call(e: Code, op: Any, args: list[V]) -> V:
    """One element of `tile.libdevice`. Raises Unsupported for functions without a native form."""
    name = op.function
    kinds = {a.kind for a in args}
    if kinds <= {"float", "double"} and len(kinds) == 1:
        made = _floating(e, name, args)
        if made is not None:
            return made
    raise Unsupported(op, f"libdevice.{name} has no native form")


def _floating(e: Code, name: str, args: list[V]) -> V | None:
    x = args[0]
    kind = x.kind
    if name in INTRINSICS and len(args) == 1:
        return e.intrinsic(INTRINSICS[name], x)
    if name == "rsqrt":
        return vector_math.rsqrt(e, x)
    if name == "fma" and len(args) == 3:
        return e.intrinsic("fma", *args)
    if name == "copysign":
        return e.intrinsic("copysign", *args)
    if name in vector_math.SINGLE and kind == "float":
        return vector_math.apply(e, name, x)
    if name in C_LIBRARY:
        wide = [_wide(e, a) for a in args]
        out = e.library(C_LIBRARY[name], "double", *wide)
        return e.convert("fptrunc", out, "float") if kind == "float" else out
    return None


def _wide(e: Code, x: V) -> V:
    return e.convert("fpext", x, "double")


__all__ = ["C_LIBRARY", "Callable", "call"]
