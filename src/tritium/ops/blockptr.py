"""Block pointers: a base pointer with shape, strides and offsets, which load and store expand.

A block pointer exists at compile time only. What reaches the IR is a tile of ordinary pointers and a mask, so no
pass and no backend knows of it. All its numbers are 64-bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from tritium.ir.types import DType, PointerType, TileType, int1, int8, int64, pointer, tile
from tritium.ops.arithmetic import Add, Mul
from tritium.ops.bitwise import And
from tritium.ops.cast import Cast
from tritium.ops.compare import GreaterEqual, Less
from tritium.ops.create import Arange
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.memory import AddPtr, Load, Store, pointer_of, refuse_constant
from tritium.ops.semantic import Semantic, describe, literal_of
from tritium.ops.shape import ExpandDims
from tritium.ops.surface import surface

PADDINGS = ("zero", "nan")


class BlockPointer(Aggregate):
    """What ``tl.make_block_ptr`` gives: a window of `block_shape` at `offsets` into an array at `base`.

    shape, strides, offsets   one 0-d int64 tensor for each axis; strides and offsets count elements
    order                     the axes from fastest to slowest, a hint
    """

    __slots__ = ("base", "block", "offsets", "order", "parent_shape", "strides")

    methods: ClassVar[str] = "block_ptr"

    def __init__(
        self,
        base: Tensor,
        parent_shape: Sequence[Tensor],
        strides: Sequence[Tensor],
        offsets: Sequence[Tensor],
        block: tuple[int, ...],
        order: tuple[int, ...],
    ) -> None:
        self.base = base
        self.parent_shape = tuple(parent_shape)
        self.strides = tuple(strides)
        self.offsets = tuple(offsets)
        self.block = block
        self.order = order

    # ---- as an aggregate -----------------------------------------------------------------------------

    def flatten(self) -> list[Tensor]:
        return [self.base, *self.parent_shape, *self.strides, *self.offsets]

    def rebuild(self, tensors: Sequence[Tensor]) -> BlockPointer:
        n = len(self.block)
        base, rest = tensors[0], tensors[1:]
        return BlockPointer(base, rest[:n], rest[n : 2 * n], rest[2 * n :], self.block, self.order)

    def key(self) -> Hashable:
        return (BlockPointer, self.element, self.block, self.order)

    def describe(self) -> str:
        return f"a block pointer to {self.block_type}"

    # ---- what kernels read ---------------------------------------------------------------------------

    @property
    def element(self) -> DType | PointerType:
        assert isinstance(self.base.dtype, PointerType)
        return self.base.dtype.element_ty

    @property
    def block_type(self) -> TileType:
        """The type of what a load gives."""
        return tile(self.element, self.block)

    @property
    def dtype(self) -> PointerType:
        """A pointer type whose element type is the block, as in Triton: ``p.dtype.element_ty``."""
        return pointer(self.block_type)  # type: ignore[arg-type]

    type = dtype

    @property
    def shape(self) -> tuple[constexpr, ...]:
        """Empty: a block pointer is one value."""
        return ()

    # ---- use -----------------------------------------------------------------------------------------

    def advanced(self, s: Semantic, by: Sequence[Tensor]) -> BlockPointer:
        """The block pointer `by` elements further along each axis."""
        offsets = [_plus(s, old, step) for old, step in zip(self.offsets, by, strict=True)]
        return BlockPointer(self.base, self.parent_shape, self.strides, offsets, self.block, self.order)

    def load(self, s: Semantic, boundary_check: Any, padding_option: Any, hints: dict[str, Any]) -> Tensor:
        """``tl.load`` through it."""
        padding = s.choice(padding_option, "padding_option", "load", PADDINGS)
        refuse_nan_padding(s, padding, self.element)
        checked = _axes(s, boundary_check, self.block)
        ptr, mask = self._expand(s, checked)
        other = None if mask is None else padding_tile(s, padding, self.block_type)
        loaded = s.emit(Load, ptr, mask, other, **hints)
        return (
            s.cast(loaded, int8) if self.element is int1 else loaded
        )  # int8 is what Triton gives for booleans

    def store(self, s: Semantic, value: Any, boundary_check: Any, hints: dict[str, Any]) -> None:
        """``tl.store`` through it."""
        refuse_constant(s, self.base)
        filled = block_value(s, value, self.block_type, "TRI0643", what="value", function="store")
        ptr, mask = self._expand(s, _axes(s, boundary_check, self.block))
        s.emit(Store, ptr, filled, mask, **hints)

    def _expand(self, s: Semantic, checked: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        rank = len(self.block)
        windows = enumerate(zip(self.offsets, self.block, strict=True))
        indices = [axis_index(s, offset, extent, axis, rank) for axis, (offset, extent) in windows]
        inside = [in_bounds(s, indices[axis], self.parent_shape[axis]) for axis in checked]
        return pointer_tile(s, self.base, indices, self.strides), all_of(s, inside, self.block)


# ---- parts that tensor descriptors share -----------------------------------------------------------------


def axis_index(s: Semantic, offset: Tensor, extent: int, axis: int, rank: int) -> Tensor:
    """The indices ``offset ... offset + extent - 1`` as an int64 tile that varies along `axis` of `rank` axes."""
    steps = s.emit(Cast, s.emit(Arange, start=0, end=extent), to=int64)
    return along(s, _plus(s, *s.broadcast(offset, steps)), axis, rank)


def along(s: Semantic, x: Tensor, axis: int, rank: int) -> Tensor:
    """A tile with one axis as a tile with `rank` axes that varies along `axis`."""
    for position in range(rank):
        if position != axis:
            x = s.emit(ExpandDims, x, axis=position)
    return x


def in_bounds(s: Semantic, index: Tensor, extent: Tensor) -> Tensor:
    """Where ``0 <= index < extent``."""
    above = s.emit(GreaterEqual, *s.broadcast(index, s.scalar(0, int64)))
    below = s.emit(Less, *s.broadcast(index, extent))
    return s.emit(And, above, below)


def all_of(s: Semantic, conditions: Sequence[Tensor], shape: tuple[int, ...]) -> Tensor | None:
    """The conditions joined and stretched to `shape`; None without conditions."""
    if not conditions:
        return None
    joined = conditions[0]
    for other in conditions[1:]:
        joined = s.emit(And, *s.broadcast(joined, other))
    return s.broadcast_to(joined, shape)


def pointer_tile(s: Semantic, base: Tensor, indices: Sequence[Tensor], strides: Sequence[Tensor]) -> Tensor:
    """The addresses ``base + sum(index * stride)``."""
    ptr = base
    for index, stride in zip(indices, strides, strict=True):
        if literal_of(stride) != 1:
            index = s.emit(Mul, *s.broadcast(index, stride), sanitize_overflow=False)
        ptr = s.emit(AddPtr, *s.broadcast(ptr, index))
    return ptr


def padding_tile(s: Semantic, padding: str, ty: TileType) -> Tensor | None:
    """What lies outside, as the `other` of a load; None where it is undefined."""
    if not padding:
        return None
    number = float("nan") if padding == "nan" else 0.0 if ty.is_floating() else 0
    return s.broadcast_to(s.scalar(number, ty.element), ty.dims)


def refuse_nan_padding(s: Semantic, padding: str, element: DType | PointerType) -> None:
    """Only floats have a NaN."""
    if padding == "nan" and not element.is_floating():
        s.fail("TRI0648", got=element)


def block_value(s: Semantic, value: Any, ty: TileType, code: str, **fields: Any) -> Tensor:
    """A value to store as a block of `ty`: a tile of its shape or a single number, converted."""
    x = s.to_tensor(value, "the value of store")
    if x.dims and x.dims != ty.dims:
        s.fail(code, got=list(x.dims), shape=list(ty.dims), **fields)
    return s.broadcast_to(s.cast(x, ty.element), ty.dims)


def integers(s: Semantic, x: Any, what: str, function: str, ty: DType = int64) -> list[Tensor]:
    """A sequence (or one) of integers, compile-time or 0-d, as tensors of `ty`."""
    values = unwrap(x)
    if not isinstance(values, (tuple, list)):
        values = (values,)
    found: list[Tensor] = []
    for v in values:
        t = v if isinstance(v, Tensor) else s.to_tensor(v, f"every one of the {what} of {function}")
        if t.dims or not t.dtype.is_int():
            message = f"the {what} of tl.{function} are integers, and one of them is {describe(v)}"
            s.fail("TRI0415", message=message, got=describe(v))
        known = literal_of(t)
        found.append(s.scalar(int(known), ty) if known is not None else s.cast(t, ty))
    return found


def equal_lengths(s: Semantic, function: str, rank: int, **lists: Sequence[Any]) -> None:
    """Everything that has one value for each axis has `rank` of them."""
    for what, values in lists.items():
        if len(values) != rank:
            s.fail("TRI0649", what=what, function=function, got=len(values), expected=rank)


def _plus(s: Semantic, a: Tensor, b: Tensor) -> Tensor:
    """The sum of int64 numbers, of which a literal zero leaves no trace in the code."""
    if literal_of(b) == 0:
        return a
    if literal_of(a) == 0 and not b.dims:
        return b
    return s.emit(Add, a, b, sanitize_overflow=False)


def _axes(s: Semantic, boundary_check: Any, block: tuple[int, ...]) -> tuple[int, ...]:
    values = unwrap(boundary_check)
    if values is None:
        return ()
    if not isinstance(values, (tuple, list)):
        values = (values,)
    axes = [s.const_int(v, "boundary_check") for v in values]
    for axis in axes:
        if not 0 <= axis < len(block) or axes.count(axis) > 1:
            s.fail("TRI0602", function="boundary_check", axis=axis, rank=len(block))
    return tuple(sorted(axes))


def _order(s: Semantic, order: Any, rank: int) -> tuple[int, ...]:
    values = unwrap(order)
    if not isinstance(values, (tuple, list)):
        values = (values,)
    axes = tuple(s.const_int(v, "order") for v in values)
    if len(axes) == rank and sorted(axes) != list(range(rank)):
        s.fail("TRI0610", got=axes, rank=rank)
    return axes


# ---- surfaces --------------------------------------------------------------------------------------------


@surface("make_block_ptr")
def make_block_ptr(
    s: Semantic, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> BlockPointer:
    """A pointer to a block of `block_shape` at `offsets` in the array of `shape` and `strides` at `base`.

    Strides and offsets count elements. Loads and stores check the axes named by their `boundary_check` against
    `shape`. `order` lists the axes from fastest to slowest, and is a hint.

    >>> p = tl.make_block_ptr(x, (2, 4), (4, 1), (0, 2), (2, 4), (1, 0))
    >>> tl.load(p, boundary_check=(1,))
    [[2.0, 3.0, 0.0, 0.0], [6.0, 7.0, 0.0, 0.0]]
    """
    ptr = pointer_of(s, unwrap(base), "make_block_ptr")
    if ptr.dims:
        message = f"make_block_ptr needs a single pointer, and this is {describe(ptr)}"
        s.fail("TRI0416", message=message, got=describe(ptr))
    block = s.shape_of(block_shape, "block_shape")
    axes = _order(s, order, len(block))
    parts = {
        "shape": integers(s, shape, "shape", "make_block_ptr"),
        "strides": integers(s, strides, "strides", "make_block_ptr"),
        "offsets": integers(s, offsets, "offsets", "make_block_ptr"),
    }
    equal_lengths(s, "make_block_ptr", len(block), **parts, order=axes)
    return BlockPointer(ptr, parts["shape"], parts["strides"], parts["offsets"], block, axes)


@surface("advance", also=("block_ptr.advance",), must_use=True)
def advance(s: Semantic, base: Any, offsets: Any) -> BlockPointer:
    """A block pointer moved by `offsets` elements along each axis. The argument stays as it was.

    >>> p = tl.make_block_ptr(x, (2, 4), (4, 1), (0, 0), (2, 2), (1, 0))
    >>> tl.load(tl.advance(p, (0, 2)))
    [[2.0, 3.0], [6.0, 7.0]]
    """
    block_ptr = unwrap(base)
    if not isinstance(block_ptr, BlockPointer):
        message = f"advance needs a block pointer, and this is {describe(base)}"
        s.fail("TRI0416", message=message, got=describe(base))
    by = integers(s, offsets, "offsets", "advance")
    equal_lengths(s, "advance", len(block_ptr.block), offsets=by)
    return block_ptr.advanced(s, by)
