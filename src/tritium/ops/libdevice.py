"""The device math library: ``tl.extra.libdevice`` and its 198 functions, which are one op.

Which argument types a function has, what it gives and its values come from `tritium.numerics.libdevice`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tritium.ir.types import DType, Type, dtype_named, like
from tritium.numerics.libdevice import LIBDEVICE, Variant, find_variant
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.emit import CudaEmitter, Expr
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.libdevice_text import describe_function
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface


class LibraryCall(TileOp, name="tile.libdevice"):
    """The device library's `function` on each element of `args`, which have one shape and one of its type lists.

    >>> tl.extra.libdevice.tanh(tl.zeros((1,), tl.float32))
    [0.0]
    """

    args = operand(variadic=True)
    function = attr()

    @property
    def variant(self) -> Variant:
        """The overload for the operands' types. Raises TypeRuleError."""
        types = tuple(v.type.scalar for v in self.args)
        found = find_variant(self.function, tuple(t.text for t in types))
        if found is None:
            listed = ", ".join(str(t) for t in types)
            raise TypeRuleError(f"libdevice has no {self.function}({listed})")
        return found

    def infer(self) -> Sequence[Type]:
        result = dtype_named(self.variant.result)
        first = self.args[0].type
        for v in self.args[1:]:
            if v.type.shape != first.shape:
                raise TypeRuleError(f"{self.name} needs operands of one shape, got {first} and {v.type}")
        return (like(first, result),)

    def eval(self, *args: Array) -> Array:
        return self.variant.evaluate(*args)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        return e.library(self, *x)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.elementwise(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


def call(s: Semantic, function: str, args: Sequence[Any]) -> Tensor:
    """`function` of `args`: tensors of a type list that it has, or Python numbers, which take the types of one."""
    tensors = _typed(s, function, args)
    shape: tuple[int, ...] = ()
    for t in tensors:
        shape = s.common_shape(shape, t.dims) if shape else t.dims
    if shape:
        tensors = [s.broadcast_to(t, shape) for t in tensors]
    return s.emit(LibraryCall, tensors, function=function)


def _typed(s: Semantic, function: str, args: Sequence[Any]) -> list[Tensor]:
    literal = [s.to_tensor(a) for a in args]
    if find_variant(function, tuple(t.dtype.text for t in literal)):
        return literal
    weak = [is_number(a) for a in args]
    for variant in LIBDEVICE[function]:
        wanted = [dtype_named(text) for text in variant.arguments]
        if all(_takes(w, t, ty) for w, t, ty in zip(weak, literal, wanted, strict=True)) and not all(weak):
            return [s.scalar(_number(unwrap(a), ty), ty) if w else t
                    for a, w, t, ty in zip(args, weak, literal, wanted, strict=True)]  # fmt: skip
    got = ", ".join(describe(a) for a in args)
    lists = " or ".join(
        f"({', '.join(dtype_named(t).name for t in v.arguments)})" for v in LIBDEVICE[function]
    )
    hint = f"convert the arguments with .to(...); libdevice.{function} takes {lists}"
    s.fail("TRI0409", function=f"libdevice.{function}", got=got, expected=lists, hint=hint)


def _takes(weak: bool, t: Tensor, wanted: DType) -> bool:
    """Whether a parameter of type `wanted` takes the argument: a number of the same or a lower kind, or the type itself."""
    if not weak:
        return t.dtype is wanted
    return wanted.is_floating() or t.dtype.is_int()


def _number(value: bool | int | float, ty: DType) -> int | float:
    return float(value) if ty.is_floating() else int(value)


def _declare(function: str) -> None:
    """The surface of `function`, with Triton's parameter names."""
    variants = LIBDEVICE[function]
    names = ["s", *(f"arg{i}" for i in range(len(variants[0].arguments)))]
    signature = inspect.Signature(
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    )

    def build(*args: Any, **kw: Any) -> Tensor:
        semantic, *given = signature.bind(*args, **kw).args
        return call(semantic, function, given)

    build.__signature__ = signature  # type: ignore[attr-defined]
    build.__doc__ = describe_function(function, [(v.arguments, v.result) for v in variants])
    surface(function, module="libdevice")(build)


for _function in LIBDEVICE:
    _declare(_function)
