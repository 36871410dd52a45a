"""`tl.dot`: products of matrices, with an accumulator that may be part of the product."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tritium import config
from tritium.ir.types import DType, Type, float16, float32, float64, int8, int32, tile
from tritium.numerics.dot import PRECISIONS
from tritium.numerics.dot import dot as matrix_product
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.facts import Bound
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface

DEFAULT = "default"
"""The fp32 precision of a product that names none: each backend's own (IEEE on the interpreter and the CPU)."""

_MULTIPLY = ("int8", "fp16", "bf16", "fp32", "fp64")


class Dot(TileOp, name="tile.dot"):
    """``a @ b``, or ``acc + a @ b``: [M, K] by [K, N], or with one leading batch axis.

    Both operands have one type (8-bit floats may differ). The product is summed in int32 for int8, in fp64 for fp64 and
    in fp32 for the rest, then added to `acc`, which has the type of the result; fp16 results are rounded once.

    precision   for fp32 operands: "ieee", "tf32" (operands cut to 10 mantissa bits), "tf32x3", "bf16x3", "bf16x6"
                (sums of such products that come close to fp32), or "default": what the backend does unasked
    imprecise   how many products an fp8 sum on sm_90 may keep in the short accumulator of the tensor core; None for
                the default of the backend

    >>> a = tl.load(x + tl.arange(1, 3))
    >>> tl.dot(a[None, :], a[:, None])
    [[5.0]]
    """

    a = operand()
    b = operand()
    acc = operand(optional=True)
    out = attr()
    precision = attr(DEFAULT)
    imprecise = attr(None)

    def infer(self) -> Sequence[Type]:
        a, b = self.a.type, self.b.type
        rank = len(a.shape)
        if (
            rank not in (2, 3)
            or len(b.shape) != rank
            or a.shape[:-2] != b.shape[:-2]
            or a.shape[-1] != b.shape[-2]
        ):
            raise TypeRuleError(f"tile.dot cannot multiply {a} by {b}")
        if not multiplies(a.scalar, b.scalar):
            raise TypeRuleError(f"tile.dot cannot multiply elements of {a.scalar} by {b.scalar}")
        if self.out not in result_types(a.scalar):
            raise TypeRuleError(f"tile.dot of {a.scalar} does not give {self.out}")
        if self.precision != DEFAULT and self.precision not in PRECISIONS:
            raise TypeRuleError(f"tile.dot has no precision {self.precision!r}")
        result = tile(self.out, (*a.shape[:-1], b.shape[-1]))
        if self.acc is not None and self.acc.type != result:
            raise TypeRuleError(f"the accumulator of tile.dot has type {self.acc.type}, the result {result}")
        return (result,)

    def eval(self, *args: Array) -> Array:
        # Every matrix is evaluated at its true extents: BLAS chooses its order of summation by shape.
        a, b, *acc = (full(x, v.type.shape) for x, v in zip(args, self.operands, strict=True))
        precision = "ieee" if self.precision == DEFAULT else self.precision
        left, right = self.a.type.scalar.text, self.b.type.scalar.text
        return matrix_product(a, b, left, right, self.out.text, precision, acc[0] if acc else None)

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        rank = len(self.result.type.shape)
        if operand == 2:
            return wanted
        other = (
            rank - 1 if operand == 0 else rank - 2
        )  # the axis of the result that this operand does not have
        return tuple(b for b in wanted if other not in b.axes())

    @surface("dot")
    @staticmethod
    def build(
        s: Semantic,
        input: Any,
        other: Any,
        acc: Any = None,
        input_precision: Any = None,
        allow_tf32: Any = None,
        max_num_imprecise_acc: Any = None,
        out_dtype: Any = None,
    ) -> Tensor:
        """The matrix product of `input` [..., M, K] and `other` [..., K, N], added to `acc` [..., M, N] if given.

        Any extents; leading (batch) extents are equal. Both have one type: int8 (result int32), fp16 or an 8-bit float
        (result `out_dtype`, fp32 or fp16), bf16 or fp32 (result fp32), fp64. `out_dtype` is by default the type of
        `acc`, else fp32. `input_precision` ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6") applies to fp32 operands;
        without it the target decides. `allow_tf32` is its older form.

        >>> a = tl.reshape(tl.arange(1, 5), 2, 2).to(tl.float32)
        >>> tl.dot(a, a + 4)
        [[19.0, 22.0], [43.0, 50.0]]
        """
        a, b = s.to_tensor(input), s.to_tensor(other)
        rank = len(a.dims)
        if rank < 2 or len(b.dims) != rank or a.dims[:-2] != b.dims[:-2] or a.dims[-1] != b.dims[-2]:
            s.fail("TRI0604", lhs=describe(a), rhs=describe(b))
        if not multiplies(a.dtype, b.dtype):
            s.fail("TRI0605", lhs=describe(a), rhs=describe(b))
        start = None if unwrap(acc) is None else s.to_tensor(acc, "the accumulator of tl.dot")
        out = _result_type(s, a.dtype, start, out_dtype)
        shape = (*a.dims[:-1], b.dims[-1])
        if start is not None and (start.dims != shape or start.dtype != out):
            s.fail("TRI0606", what="accumulator", got=describe(start), expected=f"a tile {tile(out, shape)}")
        return _emit(
            s,
            [t if t is None else _flat_batch(s, t) for t in (a, b, start)],
            shape,
            out=out,
            precision=_precision(s, a.dtype, input_precision, allow_tf32),
            imprecise=_imprecise(s, a, b, max_num_imprecise_acc),
        )

    @surface("matmul", module="operator", operator="@")
    @staticmethod
    def matmul(s: Semantic, x: Any, y: Any) -> Tensor:
        """``x @ y`` is ``tl.dot(x, y)``.

        >>> a = tl.reshape(tl.arange(1, 5), 2, 2).to(tl.float32)
        >>> a @ (a + 4)
        [[19.0, 22.0], [43.0, 50.0]]
        """
        return Dot.build(s, x, y)


def multiplies(a: Any, b: Any) -> bool:
    """Whether elements of `a` and `b` may be multiplied by tile.dot."""
    if not isinstance(a, DType) or not isinstance(b, DType):
        return False
    return (a.is_fp8() and b.is_fp8()) or (a == b and a.name in _MULTIPLY)


def result_types(a: Any) -> tuple[DType, ...]:
    """The types that a product of elements of `a` can have, the usual one first."""
    if a is int8:
        return (int32,)
    if a is float64:
        return (float64,)
    return (float32, float16) if a is float16 or a.is_fp8() else (float32,)


def _result_type(s: Semantic, a: Any, acc: Tensor | None, out_dtype: Any) -> DType:
    allowed = result_types(a)
    if unwrap(out_dtype) is None:
        wanted = acc.dtype if acc is not None else allowed[0]
    else:
        wanted = s.dtype_of(out_dtype, "out_dtype of tl.dot")
        if acc is not None and acc.dtype != wanted:
            s.fail(
                "TRI0606", what="accumulator", got=describe(acc), expected=f"a tile of out_dtype, {wanted}"
            )
        if wanted.is_bf16() and a is not int8:
            expected = "out_dtype=tl.float32, and .to(tl.bfloat16) afterwards"
            s.fail("TRI0606", what="out_dtype", got=wanted, expected=expected)
    if wanted in allowed:
        return wanted  # type: ignore[return-value]
    if len(allowed) == 1:  # Triton ignores out_dtype where there is no choice
        return allowed[0]
    what = "accumulator" if unwrap(out_dtype) is None else "out_dtype"
    s.fail("TRI0606", what=what, got=wanted, expected=" or ".join(map(str, allowed)))


def _precision(s: Semantic, a: Any, input_precision: Any, allow_tf32: Any) -> str:
    wanted, older = s.const(input_precision, "input_precision"), unwrap(allow_tf32)
    forced = s.options.get("fp32_default") or config.get("f32_default")
    source = "input_precision"
    if wanted is not None:
        if older is not None:
            s.fail("TRI0607", first="input_precision", second="allow_tf32", function="tl.dot")
        named = wanted.lower() if isinstance(wanted, str) else wanted
    elif forced:
        named, source = forced, "TRITON_F32_DEFAULT"
    elif older is not None:
        named = "tf32" if s.const_bool(older, "allow_tf32") else "ieee"
    else:
        named = s.options.get("default_dot_input_precision") or DEFAULT
        source = "default_dot_input_precision"
    if named not in (DEFAULT, *PRECISIONS):
        options = ", ".join(f'"{p}"' for p in PRECISIONS)
        s.fail("TRI0603", function="tl.dot", argument=source, got=repr(named), expected=options)
    return named if a is float32 else "ieee"


def _imprecise(s: Semantic, a: Tensor, b: Tensor, value: Any) -> int | None:
    if unwrap(value) is None:
        return None
    number = s.const_int(value, "max_num_imprecise_acc")
    if not (a.dtype.is_fp8() and b.dtype.is_fp8()):  # type: ignore[union-attr]
        return None
    if number > a.dims[-1]:
        s.fail(
            "TRI0603",
            function="tl.dot",
            argument="max_num_imprecise_acc",
            got=number,
            expected=f"the numbers up to K, which is {a.dims[-1]}",
        )
    return number


def _flat_batch(s: Semantic, x: Tensor) -> Tensor:
    """All batch axes as one."""
    return x if len(x.dims) <= 3 else reshape_to(s, x, (prod(x.dims[:-2]), *x.dims[-2:]))


def _emit(s: Semantic, operands: Sequence[Tensor | None], shape: tuple[int, ...], **attrs: Any) -> Tensor:
    return reshape_to(s, s.emit(Dot, *operands, **attrs), shape)
