"""Reductions: `tl.reduce` with any combine function, and the library's sum, max, min, argmax, argmin, xor_sum, ...

Types (Triton's rules): a sum of integers narrower than 32 bits is int32 or uint32, by sign, and a sum of floats keeps
its type, also fp16 and bf16. max and min give fp32 for floats and int32 for integers narrower than 32 bits (unsigned
ones too); with indices only bf16 widens. max and min ignore NaN, and so do argmax and argmin unless all are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tritium.ir.core import Region
from tritium.ir.types import DType, Type, bfloat16, float32, int32, shaped, uint32
from tritium.ops import combine as tree
from tritium.ops.axes import axis_of
from tritium.ops.base import BATCH_AXES, Array, TileOp, attr, operand, region
from tritium.ops.create import Arange
from tritium.ops.emit import CudaEmitter
from tritium.ops.extremum import extremum_region, is_extremum, pick_extremum
from tritium.ops.facts import Bound
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import SURFACES, surface


class Reduce(TileOp, name="tile.reduce"):
    """`inputs` (one shape) with their `axis` reduced by `combine`, which takes two groups of scalars and yields one.

    The order is a balanced tree (`tritium.ops.combine`). One result per input, without the axis.

    >>> tl.reduce(tl.arange(0, 4), 0, tl.maximum)
    3
    """

    inputs = operand(variadic=True)
    axis = attr()
    combine = region()
    isolated = True

    def infer(self) -> Sequence[Type]:
        dims = tree.check_combine(self.name, self.inputs, self.axis, self.combine)
        rest = dims[: self.axis] + dims[self.axis + 1 :]
        return tuple(shaped(v.type.scalar, rest) for v in self.inputs)

    def check(self) -> None:
        tree.check_isolated(self.name, self.combine)

    def eval(self, *args: Array) -> Any:
        return self._reduce(args, tree.evaluate_region)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return self._reduce(args, m.apply_region)  # type: ignore[arg-type]

    def _reduce(self, args: Sequence[Array], run: tree.RunRegion) -> Any:
        parts = tree.aligned(args, self.axis, self.inputs[0].type.shape[self.axis])
        return reduce_parts(parts, BATCH_AXES + self.axis, self.combine, run)

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        return tuple(b.place_axes(lambda a: a + (a >= self.axis)) for b in wanted)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.reduce(self)

    @surface("reduce", method=True)
    @staticmethod
    def build(s: Semantic, input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
        """`input` (a tile, or a tuple of tiles of one shape) reduced along `axis` by the jit function `combine_fn`.

        `combine_fn` takes two values (2n for n tiles, first the n of one group, then of the other) and returns one
        (n); it must be associative. Axis None reduces all axes; `keep_dims` keeps them with extent 1.

        >>> @triton.jit
        ... def larger(a, b):
        ...     return tl.where(a > b, a, b)
        >>> tl.reduce(tl.arange(0, 6).reshape(2, 3), 1, larger)
        [2, 5]
        """
        whole = unwrap(input)
        several = isinstance(whole, (tuple, list))
        tiles = [s.to_tensor(x) for x in (whole if several else (whole,))]
        if not tiles or any(t.dims != tiles[0].dims for t in tiles):
            got = ", ".join(describe(t) for t in tiles)
            s.fail("TRI0611", function="tl.reduce", got=got or "no tiles", expected="tiles of one shape")
        made = tree.combine_region(s, combine_fn, [t.dtype for t in tiles], "reduce")
        out = reduced(s, tiles, axis, made, keep_dims, "reduce")
        return out if several else out[0]


def reduce_parts(parts: Sequence[Array], at: int, combine: Region, run: tree.RunRegion) -> Any:
    """Arrays of one shape reduced along array axis `at`, which goes away: one array, or a tuple for several."""
    ufunc = tree.exact_ufunc(combine)
    if ufunc is not None:
        return ufunc.reduce(parts[0], axis=at, dtype=parts[0].dtype)
    found = is_extremum(combine)
    if found is not None:
        return pick_extremum(tuple(parts), at, found)
    out = tree.reduce_axis(tuple(parts), at, combine, run)
    return out[0] if len(out) == 1 else out


def reduced(
    s: Semantic, tiles: Sequence[Tensor], axis: Any, combine: Any, keep_dims: Any, function: str
) -> tuple[Tensor, ...]:
    """One `tile.reduce` of `tiles` along `axis` (None: all axes), and the axes put back if `keep_dims`."""
    dims = tiles[0].dims
    keep = s.const_bool(keep_dims, "keep_dims")
    if unwrap(axis) is None:
        flat = [reshape_to(s, t, (t.type.numel,)) for t in tiles]
        out, kept = s.emit(Reduce, flat, axis=0, combine=combine), (1,) * len(dims)
    else:
        at = axis_of(s, axis, len(dims), function)
        out, kept = s.emit(Reduce, list(tiles), axis=at, combine=combine), (*dims[:at], 1, *dims[at + 1 :])
    results: tuple[Tensor, ...] = out if isinstance(out, tuple) else (out,)
    return tuple(reshape_to(s, t, kept) for t in results) if keep else results


def sum_dtype(x: DType, dtype: DType | None) -> DType:
    """The type in which a sum is computed and given."""
    if dtype is not None:
        return dtype
    if x.is_int() and x.primitive_bitwidth < 32:
        return uint32 if x.is_int_unsigned() else int32
    return x


def extreme_dtype(x: DType) -> DType:
    """The type in which max and min are computed and given."""
    if x.primitive_bitwidth >= 32:
        return x
    return float32 if x.is_floating() else int32


def numbers(s: Semantic, x: Any, function: str, integers: bool = False) -> tuple[Tensor, DType]:
    """`x` as a tensor of numbers and their type."""
    tensor = s.to_tensor(x)
    if not isinstance(tensor.dtype, DType) or (integers and not tensor.dtype.is_int()):
        s.fail("TRI0409", function=f"tl.{function}", got=describe(tensor))
    return tensor, tensor.dtype


def optional_dtype(s: Semantic, dtype: Any) -> DType | None:
    return None if unwrap(dtype) is None else s.dtype_of(dtype)


def binary_body(s: Semantic, name: str, **options: Any) -> Callable[[Tensor, Tensor], Any]:
    """The surface ``tl.<name>`` as the body of a combine region."""
    return lambda a, b: SURFACES[f"tl.{name}"](s, a, b, **options)


def operator_body(s: Semantic, operator: str) -> Callable[[Tensor, Tensor], Any]:
    """A binary operator as the body of a combine region."""
    from tritium.ops.surface import OPERATORS

    return lambda a, b: OPERATORS[operator](s, a, b)


def _simple(
    s: Semantic, x: Tensor, axis: Any, keep_dims: Any, body: Callable[..., Any], function: str
) -> Tensor:
    made = tree.region_of(s, body, [x.dtype], function)
    return reduced(s, [x], axis, made, keep_dims, function)[0]


@surface("sum", method=True)
def sum(s: Semantic, input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Tensor:
    """Sum of the elements along `axis` (None: all of them).

    Integers narrower than 32 bits are summed as int32 or uint32; anything else, fp16 and bf16 included, in its own
    type, or in `dtype` where that is given.

    >>> tl.sum(tl.arange(0, 5), axis=0)
    10
    """
    x, element = numbers(s, input, "sum")
    wide = s.cast(x, sum_dtype(element, optional_dtype(s, dtype)))
    return _simple(s, wide, axis, keep_dims, binary_body(s, "add", sanitize_overflow=False), "sum")


@surface("xor_sum", method=True)
def xor_sum(s: Semantic, input: Any, axis: Any = None, keep_dims: Any = False) -> Tensor:
    """Exclusive or of the elements along `axis` (None: all of them); integers only.

    >>> tl.xor_sum(tl.arange(0, 4), axis=0)
    0
    """
    x, _ = numbers(s, input, "xor_sum", integers=True)
    return _simple(s, x, axis, keep_dims, operator_body(s, "^"), "xor_sum")


@surface("reduce_or", method=True)
def reduce_or(s: Semantic, input: Any, axis: Any = None, keep_dims: Any = False) -> Tensor:
    """Bitwise or of the elements along `axis` (None: all of them); integers only.

    >>> tl.reduce_or(tl.arange(0, 6), axis=0)
    7
    """
    x, _ = numbers(s, input, "reduce_or", integers=True)
    return _simple(s, x, axis, keep_dims, operator_body(s, "|"), "reduce_or")


def _extreme(s: Semantic, input: Any, axis: Any, keep_dims: Any, function: str, body: str) -> Tensor:
    x, element = numbers(s, input, function)
    x = s.cast(x, extreme_dtype(element))
    return _simple(s, x, axis, keep_dims, binary_body(s, body), function)


def _with_index(
    s: Semantic, input: Any, axis: Any, keep_dims: Any, left: Any, function: str, kind: str
) -> tuple[Tensor, Tensor]:
    x, element = numbers(s, input, function)
    if element is bfloat16:
        x = s.cast(x, float32)
    keep = s.const_bool(keep_dims, "keep_dims")
    rank = len(x.dims)
    if unwrap(axis) is None or not rank:
        x, at = reshape_to(s, x, (x.type.numel,)), 0
    else:
        at = axis_of(s, axis, rank, function)
    index = s.emit(Arange, start=0, end=x.dims[at])
    index = s.broadcast_to(
        reshape_to(s, index, tuple(d if i == at else 1 for i, d in enumerate(x.dims))), x.dims
    )
    made = extremum_region(s, x.dtype, kind, s.const_bool(left, "tie_break_left"))
    value, where = reduced(s, [x, index], at, made, False, function)
    if keep:
        kept = (1,) * rank if unwrap(axis) is None else (*x.dims[:at], 1, *x.dims[at + 1 :])
        return reshape_to(s, value, kept), reshape_to(s, where, kept)
    return value, where


@surface("max", method=True)
def max(
    s: Semantic,
    input: Any,
    axis: Any = None,
    return_indices: Any = False,
    return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:
    """Largest element along `axis` (None: of all), ignoring NaN; with `return_indices` also its int32 index.

    fp16 and bf16 give fp32, integers narrower than 32 bits int32; with indices only bf16 widens. Of equal elements
    the first wins, or an unspecified one without `return_indices_tie_break_left`. For axis None the index counts in
    row-major order.

    >>> tl.max(tl.arange(0, 5), axis=0)
    4
    """
    if s.const_bool(return_indices, "return_indices"):
        return _with_index(s, input, axis, keep_dims, return_indices_tie_break_left, "max", "max")
    return _extreme(s, input, axis, keep_dims, "max", "maximum")


@surface("min", method=True)
def min(
    s: Semantic,
    input: Any,
    axis: Any = None,
    return_indices: Any = False,
    return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:
    """Smallest element along `axis` (None: of all), ignoring NaN; with `return_indices` also its int32 index.

    Types and ties as for tl.max.

    >>> tl.min(tl.arange(3, 5), axis=0)
    3
    """
    if s.const_bool(return_indices, "return_indices"):
        return _with_index(s, input, axis, keep_dims, return_indices_tie_break_left, "min", "min")
    return _extreme(s, input, axis, keep_dims, "min", "minimum")


@surface("argmax", method=True)
def argmax(s: Semantic, input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Tensor:
    """The int32 index of the largest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmax(tl.flip(tl.arange(0, 5), 0), axis=0)
    0
    """
    return _with_index(s, input, axis, keep_dims, tie_break_left, "argmax", "max")[1]


@surface("argmin", method=True)
def argmin(s: Semantic, input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Tensor:
    """The int32 index of the smallest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmin(tl.flip(tl.arange(0, 5), 0), axis=0)
    4
    """
    return _with_index(s, input, axis, keep_dims, tie_break_left, "argmin", "min")[1]
