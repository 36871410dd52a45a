"""`tl.dot_scaled`: products of matrices in microscaling formats (OCP MX specification 1.0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tritium.ir.types import (
    DType,
    Type,
    bfloat16,
    float8e4nv,
    float8e5,
    float16,
    float32,
    tile,
    uint8,
    uint16,
)
from tritium.numerics.cast import cast
from tritium.numerics.dot import dot as matrix_product
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.cast import reinterpret
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface

ELEMENTS: dict[str, DType] = {
    "e2m1": uint8,  # two to a byte, the first in the low half
    "e4m3": float8e4nv,
    "e5m2": float8e5,
    "bf16": bfloat16,
    "fp16": float16,
}
_BITS = {"e4m3": uint8, "e5m2": uint8, "bf16": uint16, "fp16": uint16}
_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


class DotScaled(TileOp, name="tile.dot_scaled"):
    """``lhs @ rhs`` with both operands scaled in groups along K, plus `acc`; fp32.

    lhs, rhs               [M, K] and [K, N] in the formats `lhs_format` and `rhs_format` ("e2m1", "e4m3", "e5m2",
                           "bf16", "fp16"); "e2m1" is uint8 with two elements to a byte, the first in the low half,
                           along K, or along M (N) where `lhs_k_pack` (`rhs_k_pack`) is false
    lhs_scale, rhs_scale   [M, K / 32] and [N, K / 32], uint8 exponents e that mean 2**(e - 127), 255 being NaN; or
                           [M, K / 16] and [N, K / 16] of fp8e4nv

    Every element times its scale is rounded to fp32 (exact unless it leaves the normal range); the products are those
    of fp32. `fast_math` allows a backend to ignore NaN scales.

    >>> tl.dot_scaled(tl.full((1, 16), 0x22, tl.uint8), None, "e2m1", tl.full((16, 1), 0x22, tl.uint8), None, "e2m1")
    [[32.0]]
    """

    lhs = operand()
    lhs_scale = operand(optional=True)
    rhs = operand()
    rhs_scale = operand(optional=True)
    acc = operand(optional=True)
    lhs_format = attr()
    rhs_format = attr()
    fast_math = attr(False)
    lhs_k_pack = attr(True)
    rhs_k_pack = attr(True)

    def infer(self) -> Sequence[Type]:
        problem, shape = _shapes(*self.sides())
        if problem:
            raise TypeRuleError(f"tile.dot_scaled: {problem}")
        result = tile(float32, shape)
        if self.acc is not None and self.acc.type != result:
            raise TypeRuleError(
                f"the accumulator of tile.dot_scaled has type {self.acc.type}, the result {result}"
            )
        return (result,)

    def sides(self) -> tuple[Side, Side]:
        """Both operands."""
        scales = [None if v is None else v.type for v in (self.lhs_scale, self.rhs_scale)]
        return (
            Side("lhs", self.lhs.type, self.lhs_format, scales[0], self.lhs_k_pack, -1),
            Side("rhs", self.rhs.type, self.rhs_format, scales[1], self.rhs_k_pack, -2),
        )

    def eval(self, *args: Array) -> Array:
        values = iter(full(x, v.type.shape) for x, v in zip(args, self.operands, strict=True))
        left, right = self.sides()
        lhs = left.elements(next(values))
        if self.lhs_scale is not None:
            lhs = _scaled(lhs, left.factors(next(values)))
        rhs = right.elements(next(values))
        if self.rhs_scale is not None:
            rhs = _scaled(rhs, np.swapaxes(right.factors(next(values)), -1, -2))
        return matrix_product(lhs, rhs, "f32", "f32", "f32", "ieee", next(values, None))

    @surface("dot_scaled")
    @staticmethod
    def build(
        s: Semantic,
        lhs: Any,
        lhs_scale: Any,
        lhs_format: Any,
        rhs: Any,
        rhs_scale: Any,
        rhs_format: Any,
        acc: Any = None,
        fast_math: Any = False,
        lhs_k_pack: Any = True,
        rhs_k_pack: Any = True,
        out_dtype: Any = float32,
    ) -> Tensor:
        """The fp32 product of two matrices in microscaling formats, added to `acc` if that is given.

        `lhs` is [M, K] with `lhs_scale` [M, K / 32], `rhs` is [K, N] with `rhs_scale` [N, K / 32] (not transposed).
        Formats: "e2m1" (uint8, two elements to a byte), "e4m3", "e5m2", "bf16", "fp16", as the type itself or its bits.
        Scales are uint8 exponents (or fp8e4nv, one for 16 elements), or None.

        >>> a = tl.load(x + tl.zeros((1, 32), tl.int32) + 1).to(tl.float16)
        >>> tl.dot_scaled(a, tl.full((1, 1), 128, tl.uint8), "fp16", tl.trans(a), None, "fp16")
        [[64.0]]
        """
        if s.dtype_of(out_dtype, "out_dtype of tl.dot_scaled") is not float32:
            s.fail("TRI0622", problem=f"the result is fp32, not {unwrap(out_dtype)}")
        formats = [_format(s, f) for f in (lhs_format, rhs_format)]
        sides = [_typed(s, x, f, n) for x, f, n in zip((lhs, rhs), formats, ("lhs", "rhs"), strict=True)]
        scales = [None if unwrap(x) is None else s.to_tensor(x) for x in (lhs_scale, rhs_scale)]
        packs = [s.const_bool(lhs_k_pack, "lhs_k_pack"), s.const_bool(rhs_k_pack, "rhs_k_pack")]
        problem, shape = _shapes(
            *(
                Side(name, x.type, form, scale.type if scale else None, pack, axis)
                for name, x, form, scale, pack, axis in zip(
                    ("lhs", "rhs"), sides, formats, scales, packs, (-1, -2), strict=True
                )
            )
        )
        if problem:
            s.fail("TRI0622", problem=problem)
        start = None if unwrap(acc) is None else s.to_tensor(acc)
        if start is not None and start.type != tile(float32, shape):
            s.fail("TRI0622", problem=f"acc is {describe(start)}, and the result {tile(float32, shape)}")
        return s.emit(
            DotScaled,
            sides[0],
            scales[0],
            sides[1],
            scales[1],
            start,
            lhs_format=formats[0],
            rhs_format=formats[1],
            fast_math=s.const_bool(fast_math, "fast_math"),
            lhs_k_pack=packs[0],
            rhs_k_pack=packs[1],
        )


class Side(NamedTuple):
    """One operand with its scale. `k_axis` is where K lies in the operand; in the scale it is always last."""

    name: str
    type: Type
    format: str
    scale: Type | None
    k_pack: bool
    k_axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents with packed elements counted one by one."""
        dims = list(self.type.shape)
        if self.format == "e2m1":
            dims[self.packed_axis] *= 2
        return tuple(dims)

    @property
    def packed_axis(self) -> int:
        return self.k_axis if self.k_pack else -3 - self.k_axis

    @property
    def group(self) -> int:
        """How many elements along K share a scale."""
        return 16 if self.scale is not None and self.scale.scalar is float8e4nv else 32

    def problem(self) -> str:
        """What is wrong with this operand alone, or ""."""
        dims = self.type.shape
        if len(dims) not in (2, 3):
            return f"{self.name} has {len(dims)} axes, not 2 or 3"
        if self.type.scalar is not ELEMENTS[self.format]:
            return f'{self.name} is {self.type}, which does not hold "{self.format}"'
        if not self.k_pack and self.format != "e2m1":
            return f'only "e2m1" is packed, so {self.name}_k_pack is true for "{self.format}"'
        if self.scale is None:
            return ""
        outer, k = self.shape[-3 - self.k_axis], self.shape[self.k_axis]
        if self.scale.scalar not in (uint8, float8e4nv):
            return f"{self.name}_scale holds {self.scale.scalar}, not uint8"
        if k % self.group or self.scale.shape != (*dims[:-2], outer, k // self.group):
            want = [*dims[:-2], outer, f"{k} / {self.group}"]
            return f"{self.name}_scale has shape {list(self.scale.shape)}, not [{', '.join(map(str, want))}]"
        return ""

    def elements(self, x: Array) -> Array:
        """The elements as fp32."""
        if self.format != "e2m1":
            return cast(x, ELEMENTS[self.format].text, "f32")
        pair = np.stack([_E2M1.take(x & 0xF), _E2M1.take(x >> 4)], axis=-1)
        axis = x.ndim + self.packed_axis
        pair = np.moveaxis(pair, -1, axis + 1)
        return pair.reshape(*x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :])

    def factors(self, scale: Array) -> Array:
        """The scale of each element as float64, K last."""
        if scale.dtype == np.uint8:
            values = np.where(scale == 255, np.nan, np.ldexp(1.0, scale.astype(np.int32) - 127))
        else:
            values = cast(scale, "f8e4nv", "f64")
        return np.repeat(values, self.group, axis=-1)


def _scaled(elements: Array, factors: Array) -> Array:
    with np.errstate(all="ignore"):
        return (elements.astype(np.float64) * factors).astype(np.float32)


def _shapes(left: Side, right: Side) -> tuple[str, tuple[int, ...]]:
    problem = left.problem() or right.problem()
    if problem:
        return problem, ()
    a, b = left.shape, right.shape
    if len(a) != len(b) or a[:-2] != b[:-2] or a[-1] != b[-2]:
        return f"{list(a)} elements cannot be multiplied by {list(b)}", ()
    return "", (*a[:-1], b[-1])


def _format(s: Semantic, value: Any) -> str:
    name = s.const(value, "a format of tl.dot_scaled")
    if name not in ELEMENTS:
        options = ", ".join(f'"{f}"' for f in ELEMENTS)
        s.fail("TRI0622", problem=f"there is no format {name!r}; the formats are {options}")
    return name


def _typed(s: Semantic, x: Any, form: str, name: str) -> Tensor:
    value = s.to_tensor(x)
    if value.dtype == _BITS.get(form):
        return reinterpret(s, value, ELEMENTS[form])
    if value.dtype != ELEMENTS[form]:
        s.fail("TRI0622", problem=f'{name} is {describe(value)}, which does not hold "{form}"')
    return value
