"""Scans: `tl.associative_scan` with any combine function, `tl.cumsum` and `tl.cumprod`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, bfloat16, float32
from tritium.ops import combine as tree
from tritium.ops.axes import axis_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, attr, operand, region
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.reduce import binary_body, numbers, optional_dtype, sum_dtype
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class Scan(TileOp, name="tile.scan"):
    """Running combination of `inputs` (one shape) along `axis`: element i of a result combines the elements 0 to i.

    `combine` takes two groups of scalars, earlier elements and later ones, and yields one group. `reverse` flips the
    inputs, scans, and flips the results. The order of evaluation is a tree (`tritium.ops.combine`).

    >>> tl.associative_scan(tl.full((4,), 2, tl.int32), 0, tl.mul)
    [2, 4, 8, 16]
    """

    inputs = operand(variadic=True)
    axis = attr()
    reverse = attr(False)
    combine = region()
    isolated = True

    def infer(self) -> Sequence[Type]:
        tree.check_combine(self.name, self.inputs, self.axis, self.combine)
        return tuple(v.type for v in self.inputs)

    def check(self) -> None:
        tree.check_isolated(self.name, self.combine)

    def eval(self, *args: Array) -> Any:
        return self._scan(args, tree.evaluate_region)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return self._scan(args, m.apply_region)  # type: ignore[arg-type]

    def _scan(self, args: Sequence[Array], run: tree.RunRegion) -> Any:
        at = BATCH_AXES + self.axis
        parts = tree.aligned(args, self.axis, self.inputs[0].type.shape[self.axis])
        ufunc = tree.exact_ufunc(self.combine)
        if ufunc is None:
            out = tree.scan_axis(parts, at, self.combine, run, self.reverse)
            return out[0] if len(out) == 1 else out
        x = np.flip(parts[0], at) if self.reverse else parts[0]
        total = ufunc.accumulate(x, axis=at, dtype=x.dtype)
        return np.flip(total, at) if self.reverse else total

    @surface("associative_scan", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
        """Running combination of `input` (a tile, or a tuple of tiles of one shape) along `axis` by `combine_fn`.

        `combine_fn` is a jit function of two values (2n for n tiles, first the n so far, then the n next) that returns
        one (n); it must be associative. `reverse` runs from the last element to the first.

        >>> @triton.jit
        ... def larger(a, b):
        ...     return tl.where(a > b, a, b)
        >>> tl.associative_scan(tl.arange(0, 4) * 3 % 4, 0, larger)
        [0, 3, 3, 3]
        """
        whole = unwrap(input)
        several = isinstance(whole, (tuple, list))
        tiles = [s.to_tensor(x) for x in (whole if several else (whole,))]
        if not tiles or any(t.dims != tiles[0].dims for t in tiles):
            got = ", ".join(describe(t) for t in tiles)
            s.fail(
                "TRI0611",
                function="tl.associative_scan",
                got=got or "no tiles",
                expected="tiles of one shape",
            )
        made = tree.combine_region(s, combine_fn, [t.dtype for t in tiles], "associative_scan")
        out = _scanned(s, tiles, axis, made, reverse, "associative_scan")
        return out if several else out[0]


def _scanned(
    s: Semantic, tiles: Sequence[Tensor], axis: Any, combine: Any, reverse: Any, function: str
) -> tuple[Tensor, ...]:
    at = axis_of(s, axis, len(tiles[0].dims), function)
    backwards = s.const_bool(reverse, "reverse")
    out = s.emit(Scan, list(tiles), axis=at, reverse=backwards, combine=combine)
    return out if isinstance(out, tuple) else (out,)


@surface("cumsum", method=True)
def cumsum(s: Semantic, input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Tensor:
    """Running sum along `axis`, from the end if `reverse`.

    Integers narrower than 32 bits are summed as int32 or uint32 and bf16 as fp32, or all in `dtype` where given.

    >>> tl.cumsum(tl.arange(0, 4), axis=0)
    [0, 1, 3, 6]
    """
    x, element = numbers(s, input, "cumsum")
    if element is bfloat16:
        x, element = s.cast(x, float32), float32
    x = s.cast(x, sum_dtype(element, optional_dtype(s, dtype)))
    made = tree.region_of(s, binary_body(s, "add", sanitize_overflow=False), [x.dtype], "cumsum")
    return _scanned(s, [x], axis, made, reverse, "cumsum")[0]


@surface("cumprod", method=True)
def cumprod(s: Semantic, input: Any, axis: Any = 0, reverse: Any = False) -> Tensor:
    """Running product along `axis`, from the end if `reverse`; bf16 is computed as fp32, other types as they are.

    >>> tl.cumprod(tl.arange(1, 5), axis=0)
    [1, 2, 6, 24]
    """
    x, element = numbers(s, input, "cumprod")
    if element is bfloat16:
        x = s.cast(x, float32)
    made = tree.region_of(s, binary_body(s, "mul", sanitize_overflow=False), [x.dtype], "cumprod")
    return _scanned(s, [x], axis, made, reverse, "cumprod")[0]
