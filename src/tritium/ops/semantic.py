"""The rules by which surfaces turn handles into ops: coercion, promotion, broadcasting, emission.

Values and types are those of compiled Triton 3.6 (measured; the table is in ``docs/semantics.md``):

* Only Python numbers and constexprs are weak: against a tensor of equal or higher kind (bool < int < float) they
  take its type. A 0-d tensor is as strong as a tile.
* Otherwise: fp64, then fp32, then fp16 (so fp16 with bf16 is fp16), then bf16 only with bf16 (else fp32), equal fp8
  stays and mixed fp8 becomes fp16, integers convert as in C without promotion of the small ones.
* ``/`` and ``%`` on fp16 and bf16 are done in fp32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tritium.errors import Loc, make_error
from tritium.ir.builder import Builder
from tritium.ir.core import Region, Value
from tritium.ir.types import (
    DType,
    PointerType,
    ScalarType,
    TileType,
    Type,
    bfloat16,
    float16,
    float32,
    float64,
    int1,
    int32,
    int64,
    shaped,
    tile,
    uint32,
    uint64,
)
from tritium.ops.base import TileOp, TypeRuleError
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap

_MIN_NORMAL_F32 = 2.0**-126
_MAX_F32 = (2 - 2.0**-23) * 2.0**127


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number, bare or wrapped: what promotion treats as weak."""
    return isinstance(unwrap(x), (bool, int, float))


def literal_type(value: bool | int | float) -> DType:
    """The type a Python number has once it must have one. OverflowError beyond 64 bits."""
    if isinstance(value, bool):
        return int1
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return int32
        if 0 <= value < 2**32:
            return uint32
        if -(2**63) <= value < 2**63:
            return int64
        if 0 <= value < 2**64:
            return uint64
        raise OverflowError(f"{value} does not fit in 64 bits")
    if value == 0 or math.isinf(value) or math.isnan(value) or _MIN_NORMAL_F32 <= abs(value) <= _MAX_F32:
        return float32
    return float64


def _integer_result(a: DType, b: DType) -> DType:
    """C's usual arithmetic conversions without the promotion of small types; int1 counts as unsigned."""
    if a.kind == b.kind:
        return a if a.primitive_bitwidth >= b.primitive_bitwidth else b
    unsigned, signed = (a, b) if a.kind == "uint" else (b, a)
    return unsigned if unsigned.primitive_bitwidth >= signed.primitive_bitwidth else signed


def strong_result(a: DType, b: DType, div_or_mod: bool = False) -> DType:
    """The result type of an arithmetic operator on two tensors."""
    if a is float64 or b is float64:
        return float64
    if a is float32 or b is float32:
        return float32
    if a is float16 or b is float16:
        return float32 if div_or_mod else float16
    if a is bfloat16 or b is bfloat16:
        return bfloat16 if a is b and not div_or_mod else float32
    if a.is_fp8() or b.is_fp8():
        return a if a is b else float16
    return _integer_result(a, b)


class Semantic:
    """Coerces arguments of surfaces and emits ops at the builder's place. One per function being compiled."""

    def __init__(self, builder: Builder, options: dict[str, Any] | None = None) -> None:
        self.builder = builder
        self.options = options or {}  # num_warps, debug, sanitize_overflow, target, fp32 dot default, ...
        self.current: str = ""  # the surface being called, for messages

    # ---- errors --------------------------------------------------------------------------------------

    @property
    def loc(self) -> Loc | None:
        return self.builder.loc

    def fail(self, code: str, **fields: Any) -> NoReturn:
        """Raise the catalogue error `code` at the current kernel location."""
        raise make_error(code, self.loc, **fields)

    # ---- emission ------------------------------------------------------------------------------------

    def emit(self, cls: type[TileOp], *args: Any, **kw: Any) -> Any:
        """Build `cls` from handles, values, regions and attributes; gives a Tensor, a tuple of them, or None."""
        lowered = [self._lower(a) for a in args]
        named = {k: self._lower(v) for k, v in kw.items()}
        try:
            op = cls(*lowered, loc=self.loc, **named)
        except TypeRuleError as broken:
            self.fail("TRI0400", message=str(broken))
        self.builder.insert(op)
        if not op.results:
            return None
        if len(op.results) == 1:
            return Tensor(op.results[0])
        return tuple(Tensor(r) for r in op.results)

    @staticmethod
    def _lower(x: Any) -> Any:
        if isinstance(x, Tensor):
            return x.value
        if isinstance(x, (list, tuple)) and x and isinstance(x[0], Tensor):
            return [t.value for t in x]
        return unwrap(x)

    def region(self, types: Sequence[Type], body: Callable[..., Any], names: Sequence[str] = ()) -> Region:
        """A detached region with arguments of `types`; `body(*Tensors)` returns the handles to yield."""
        from tritium.ops.control import Yield

        made = Region()
        args = [made.add_arg(t, names[i] if i < len(names) else "") for i, t in enumerate(types)]
        with self.builder.into(made):
            out = body(*(Tensor(a) for a in args))
            values = [] if out is None else [out] if isinstance(out, Tensor) else list(out)
            self.emit(Yield, [t.value for t in values])
        return made

    def call(self, fn: Any, args: Sequence[Any]) -> Any:
        """Inline a jit function of the user's (combine functions and the like). The frontend provides it."""
        raise TypeError(f"{fn} cannot be called here")

    # ---- compile-time values -------------------------------------------------------------------------

    def const(self, x: Any, what: str) -> Any:
        """The Python value of `x`, which must be known at compile time (a 0-d tensor that is a literal counts)."""
        x = unwrap(x)
        if isinstance(x, Tensor):
            known = literal_of(x)
            if known is None:
                self.fail("TRI0501", what=what, got=f"a run-time value of type {describe(x)}")
            return known
        return x

    def const_int(self, x: Any, what: str) -> int:
        value = self.const(x, what)
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            self.fail("TRI0501", what=f"{what}, an integer,", got=describe(value))
        return value.__index__()

    def const_bool(self, x: Any, what: str) -> bool:
        value = self.const(x, what)
        if value not in (True, False):
            self.fail("TRI0501", what=f"{what}, True or False,", got=describe(value))
        return bool(value)

    def choice(
        self, x: Any, argument: str, function: str, allowed: Sequence[str], code: str = "TRI0603"
    ) -> str:
        """A compile-time text argument that takes one of a few values; None and "" are the default ""."""
        value = self.const(x, argument)
        if value is None or value == "":
            return ""
        if value not in allowed:
            listed = ", ".join(f'"{a}"' for a in allowed)
            self.fail(code, argument=argument, what=argument, function=function, got=value, expected=listed)
        return value

    def shape_of(self, x: Any, what: str = "shape") -> tuple[int, ...]:
        """A shape argument: a tuple or list of compile-time ints, or one int."""
        x = unwrap(x)
        if not isinstance(x, (tuple, list)):
            x = (x,)
        dims = tuple(self.const_int(d, f"every extent of {what}") for d in x)
        for d in dims:
            if d < 1:
                self.fail("TRI0506", got=d)
        return dims

    def dtype_of(self, x: Any, what: str = "dtype") -> DType:
        value = unwrap(x)
        if isinstance(value, TileType):  # of a block pointer: p.dtype.element_ty
            value = value.element
        if not isinstance(value, DType):
            self.fail("TRI0510", what=what, got=describe(x))
        return value

    # ---- run-time values -----------------------------------------------------------------------------

    def scalar(self, value: bool | int | float, ty: ScalarType) -> Tensor:
        """A 0-d constant of `ty`."""
        from tritium.ops.create import Constant
        from tritium.ops.storage import representable

        if isinstance(ty, DType):
            value = (
                representable(value, ty) if ty.is_floating() else bool(value) if ty.is_bool() else int(value)
            )
        return self.emit(Constant, value=value, type=ty)

    def to_tensor(self, x: Any, what: str = "operand") -> Tensor:
        """`x` as a tensor; a Python number gets its literal type."""
        if isinstance(x, Tensor):
            return x
        value = unwrap(x)
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (bool, int, float)):
            return self.scalar(value, self._literal_type(value))
        self.fail("TRI0415", what=what, got=describe(x))

    def cast(self, x: Tensor, to: ScalarType, rounding: str | None = None) -> Tensor:
        """`x` with elements converted to `to` (no op if they are already).

        8-bit floats convert from and to floats only. A pointer converts to another pointer, to a 64-bit integer and
        back, and to int1 (is it non-null).
        """
        from tritium.ops.cast import Bitcast, Cast

        source = x.dtype
        if source == to:
            return x
        if isinstance(source, DType) and isinstance(to, DType):
            if _lacks_conversion(source, to):
                self.fail(
                    "TRI0412", got=describe(x), target=to, hint="convert in two steps, through tl.float32"
                )
            return self.emit(Cast, x, to=to, rounding=rounding or "rtne")
        if isinstance(source, DType):
            if not source.is_int():
                self.fail("TRI0412", got=describe(x), target=to)
            wide = uint64 if source.is_int_unsigned() else int64
            return self.emit(Bitcast, self.cast(x, wide), to=to)
        if isinstance(to, PointerType) or to in (int64, uint64):
            return self.emit(Bitcast, x, to=to)
        if to is int1:
            return self.cast(self.emit(Bitcast, x, to=int64), int1)
        self.fail("TRI0412", got=describe(x), target=to)

    def computation_type(
        self, a: DType, a_weak: bool, b: DType, b_weak: bool, div_or_mod: bool = False, operator: str = ""
    ) -> DType:
        """The type in which an arithmetic operator computes; see the module text."""
        if a_weak != b_weak:
            weak, strong = (a, b) if a_weak else (b, a)
            if weak.kind_rank() <= strong.kind_rank():
                return float32 if div_or_mod and strong in (float16, bfloat16) else strong
        if (a.is_fp8() and b.is_int()) or (a.is_int() and b.is_fp8()):
            self.fail("TRI0401", operator=operator or self.current, lhs=a, rhs=b)
        if div_or_mod and a.is_int() and b.is_int() and a.kind != b.kind:
            self.fail("TRI0405", operator=operator or self.current, lhs=a, rhs=b)
        return strong_result(a, b, div_or_mod)

    def binary(
        self, x: Any, y: Any, operator: str = "", *, div_or_mod: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Promote two arithmetic operands to one type and one shape. Pointers are refused.

        `operator` is how messages name the operation, by default as the surface being called.
        """
        operator = operator or self.current
        x_weak, y_weak = is_number(x), is_number(y)
        xt, yt = self._typed(x, x_weak), self._typed(y, y_weak)
        if isinstance(xt, PointerType) or isinstance(yt, PointerType):
            self.fail("TRI0401", operator=operator, lhs=describe(x), rhs=describe(y))
        ty = self.computation_type(xt, x_weak, yt, y_weak, div_or_mod, operator)
        x, y = (self._as(v, w, ty) for v, w in ((x, x_weak), (y, y_weak)))
        return self.broadcast(x, y)

    def _literal_type(self, value: bool | int | float) -> DType:
        try:
            return literal_type(value)
        except OverflowError:
            self.fail("TRI0403", value=value, dtype="any integer type")

    def _typed(self, x: Any, weak: bool) -> ScalarType:
        return self._literal_type(unwrap(x)) if weak else self.to_tensor(x).dtype

    def _as(self, x: Any, weak: bool, ty: DType) -> Tensor:
        if not weak:
            return self.cast(self.to_tensor(x), ty)
        value = unwrap(x)
        if ty.is_int():
            if value < 0 and ty.is_int_unsigned():
                self.fail("TRI0404", value=value, dtype=ty)
            if not ty.get_int_min_value() <= value <= ty.get_int_max_value():
                self.fail("TRI0403", value=value, dtype=ty)
        else:
            value = float(value)
        return self.scalar(value, ty)

    # ---- shapes --------------------------------------------------------------------------------------

    def broadcast(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Stretch both to their common shape, as NumPy does."""
        shape = self.common_shape(x.dims, y.dims)
        return self.broadcast_to(x, shape), self.broadcast_to(y, shape)

    def common_shape(self, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        rank = max(len(a), len(b))
        pa, pb = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
        for axis, (m, n) in enumerate(zip(pa, pb, strict=True)):
            if m != n and 1 not in (m, n):
                self.fail("TRI0407", lhs=list(a), rhs=list(b), axis=axis, lhs_extent=m, rhs_extent=n)
        return tuple(max(m, n) for m, n in zip(pa, pb, strict=True))

    def broadcast_to(self, x: Tensor, shape: tuple[int, ...]) -> Tensor:
        """`x` stretched to `shape`; leading axes are added, axes of extent 1 stretch."""
        from tritium.ops.shape import Broadcast, ExpandDims

        if x.dims == shape:
            return x
        if x.dims:
            while len(x.dims) < len(shape):
                x = self.emit(ExpandDims, x, axis=0)
            fits = len(x.dims) == len(shape) and all(m in (1, n) for m, n in zip(x.dims, shape, strict=True))
            if not fits:
                self.fail("TRI0609", shape=list(x.dims), target=list(shape))
            if x.dims == shape:
                return x
        return self.emit(Broadcast, x, shape=shape)


def _lacks_conversion(source: DType, to: DType) -> bool:
    """Whether Triton has no conversion: 8-bit floats with integers, and fp8e4b15 from all but fp16 and fp32."""
    if to.is_fp8e4b15() and source not in (float16, float32):
        return True
    return (source.is_fp8() and to.is_int()) or (source.is_int() and to.is_fp8())


def literal_of(x: Tensor) -> bool | int | float | None:
    """The value of a tensor that is a 0-d literal, else None."""
    from tritium.ops.create import Constant

    op = x.value.defining_op
    return op.value if isinstance(op, Constant) and not x.dims else None


def describe(x: Any) -> str:
    """A handle as a person would name its type in an error."""
    value = unwrap(x)
    if isinstance(value, Tensor):
        return str(value.type)
    if isinstance(value, Aggregate):
        return value.describe()
    if isinstance(value, (DType, PointerType, TileType)):
        return f"the type {value}"
    if isinstance(value, (bool, int, float, str)) or value is None:
        return f"the constant {value!r}"
    if isinstance(value, (tuple, list)):
        return f"a tuple of {len(value)}"
    return f"{type(value).__name__} {getattr(value, '__name__', '')}".strip()


__all__ = [
    "Semantic",
    "Tensor",
    "Value",
    "constexpr",
    "describe",
    "is_number",
    "literal_of",
    "literal_type",
    "shaped",
    "strong_result",
    "tile",
    "unwrap",
]
