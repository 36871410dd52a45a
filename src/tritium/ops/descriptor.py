"""Tensor descriptors: an array with shape, strides and a block shape, which accesses expand.

Like block pointers they exist at compile time only: an access becomes a tile of ordinary pointers with a mask that
covers every axis. Reads outside give the padding, writes outside are dropped. A descriptor argument of a kernel and
one made by ``tl.make_tensor_descriptor`` are the same here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from tritium.ir.types import DType, PointerType, TileType, int32, int64, tile
from tritium.ops.arithmetic import Rem
from tritium.ops.atomic import read_modify_write
from tritium.ops.blockptr import (
    PADDINGS,
    all_of,
    along,
    axis_index,
    block_value,
    in_bounds,
    integers,
    padding_tile,
    pointer_tile,
    refuse_nan_padding,
)
from tritium.ops.compare import Equal
from tritium.ops.debug import DeviceAssert
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.memory import (
    EVICTION_POLICIES,
    LOAD_CACHE_MODIFIERS,
    Load,
    Store,
    pointer_of,
    refuse_constant,
)
from tritium.ops.semantic import Semantic, describe, literal_of
from tritium.ops.surface import surface

STRIDE_BYTES = 16
"""What a stride, last axis aside, is a multiple of."""

_WORDS = ("uint32", "int32", "uint64", "int64")
_ATOMIC_TYPES: dict[str, tuple[str, ...]] = {
    "add": (*_WORDS, "fp16", "bf16", "fp32"),
    "max": (*_WORDS, "fp16", "bf16", "fp32"),
    "min": (*_WORDS, "fp16", "bf16", "fp32"),
    "and": _WORDS,
    "or": _WORDS,
    "xor": _WORDS,
}


class TensorDescriptor(Aggregate):
    """The array at `base` of `extents` and `steps`, accessed in blocks.

    base      a 0-d pointer
    extents   one 0-d int32 tensor for each axis
    steps     one 0-d int64 tensor for each axis: the strides in elements, the last one 1
    block     the block's extents
    padding   "zero" or "nan": what reads outside give
    """

    __slots__ = ("base", "block", "extents", "padding", "steps")

    methods: ClassVar[str] = "desc"

    def __init__(
        self,
        base: Tensor,
        extents: Sequence[Tensor],
        steps: Sequence[Tensor],
        block: tuple[int, ...],
        padding: str = "zero",
    ) -> None:
        self.base = base
        self.extents = tuple(extents)
        self.steps = tuple(steps)
        self.block = block
        self.padding = padding

    # ---- as an aggregate -----------------------------------------------------------------------------

    def flatten(self) -> list[Tensor]:
        return [self.base, *self.extents, *self.steps]

    def rebuild(self, tensors: Sequence[Tensor]) -> TensorDescriptor:
        n = len(self.extents)
        return TensorDescriptor(tensors[0], tensors[1 : n + 1], tensors[n + 1 :], self.block, self.padding)

    def key(self) -> Hashable:
        return (TensorDescriptor, self.dtype, self.block, self.padding)

    def describe(self) -> str:
        return f"a tensor descriptor of {self.block_type}"

    # ---- what kernels read ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[Tensor, ...]:
        return self.extents

    @property
    def strides(self) -> tuple[Tensor, ...]:
        return self.steps

    @property
    def dtype(self) -> DType:
        assert isinstance(self.base.dtype, PointerType) and isinstance(self.base.dtype.element_ty, DType)
        return self.base.dtype.element_ty

    @property
    def block_shape(self) -> tuple[constexpr, ...]:
        return tuple(constexpr(d) for d in self.block)

    @property
    def block_type(self) -> TileType:
        return tile(self.dtype, self.block)

    # ---- use -----------------------------------------------------------------------------------------

    def window(self, s: Semantic, offsets: Any) -> tuple[Tensor, Tensor]:
        """Pointers and mask of the block that starts at `offsets`."""
        rank = len(self.block)
        starts = integers(s, offsets, "offsets", "descriptor")
        if len(starts) != rank:
            s.fail("TRI0653", expected=rank, got=len(starts))
        windows = enumerate(zip(starts, self.block, strict=True))
        indices = [axis_index(s, start, extent, axis, rank) for axis, (start, extent) in windows]
        return self._addresses(s, indices, self.block)

    def rows(self, s: Semantic, rows: Any, column: Any, function: str) -> tuple[Tensor, Tensor]:
        """Pointers and mask of the rows with the given numbers, from `column` on."""
        index = unwrap(rows)
        problem = ""
        if len(self.block) != 2 or self.block[0] != 1:
            problem = f"its block has shape {list(self.block)}, not one row"
        elif not isinstance(index, Tensor) or len(index.dims) != 1 or not index.dtype.is_int():
            problem = f"the row numbers are {describe(rows)}, not a tile of integers with one axis"
        if problem or not isinstance(index, Tensor):
            s.fail("TRI0655", function=function, problem=problem)
        (start,) = integers(s, column, "column offset", function)
        indices = [along(s, s.cast(index, int64), 0, 2), axis_index(s, start, self.block[1], 1, 2)]
        return self._addresses(s, indices, (index.dims[0], self.block[1]))

    def _addresses(
        self, s: Semantic, indices: Sequence[Tensor], shape: tuple[int, ...]
    ) -> tuple[Tensor, Tensor]:
        bounds = [s.cast(extent, int64) for extent in self.extents]
        mask = all_of(s, [in_bounds(s, i, n) for i, n in zip(indices, bounds, strict=True)], shape)
        assert mask is not None
        return pointer_tile(s, self.base, indices, self.steps), mask


def _descriptor(s: Semantic, x: Any, function: str) -> TensorDescriptor:
    desc = unwrap(x)
    if not isinstance(desc, TensorDescriptor):
        s.fail(
            "TRI0416",
            message=f"{function} needs a tensor descriptor, and this is {describe(x)}",
            got=describe(x),
        )
    return desc


# ---- surfaces --------------------------------------------------------------------------------------------


@surface("make_tensor_descriptor", also=("tl._experimental_make_tensor_descriptor",))
def make_tensor_descriptor(
    s: Semantic, base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero"
) -> TensorDescriptor:
    """A descriptor of the array of `shape` and `strides` at `base`, accessed in blocks of `block_shape`.

    1 to 5 axes. Strides count elements: the last one is the compile-time number 1, the others are multiples of
    16 bytes, checked when the kernel runs where they are not known before. Reads outside the array give zero, or
    NaN with ``padding_option="nan"``; writes outside are dropped.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [2, 4])
    >>> d.load([1, 0])
    [[4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]]
    """
    ptr = pointer_of(s, unwrap(base), "make_tensor_descriptor")
    element = ptr.dtype.element_ty if isinstance(ptr.dtype, PointerType) else None
    if ptr.dims or not isinstance(element, DType):
        s.fail(
            "TRI0416", message=f"a tensor descriptor needs a single pointer to numbers, got {describe(ptr)}"
        )
    padding = s.choice(padding_option, "padding_option", "make_tensor_descriptor", PADDINGS) or "zero"
    refuse_nan_padding(s, padding, element)
    block = s.shape_of(block_shape, "block_shape")
    extents = integers(s, shape, "shape", "make_tensor_descriptor", int32)
    steps = integers(s, strides, "strides", "make_tensor_descriptor")
    _check_rank(s, len(extents), len(steps), len(block))
    _check_strides(s, steps, element)
    return TensorDescriptor(ptr, extents, steps, block, padding)


def _check_rank(s: Semantic, extents: int, steps: int, block: int) -> None:
    if not 1 <= block <= 5:
        s.fail("TRI0652", problem=f"its block has {block} axes", expected="1 to 5 axes")
    if extents != block or steps != block:
        problem = f"the block has {block} axes, the shape {extents} and the strides {steps}"
        s.fail("TRI0652", problem=problem, expected="one value for each axis")


def _check_strides(s: Semantic, steps: Sequence[Tensor], element: DType) -> None:
    """The last stride is 1; the others are multiples of 16 bytes, known now or checked while running."""
    last = literal_of(steps[-1])
    if last != 1:
        got = "known only at run time" if last is None else str(last)
        problem = f"the stride of its last axis, axis {len(steps) - 1}, is {got}"
        s.fail("TRI0652", problem=problem, expected="the compile-time number 1 as the last stride")
    unit = STRIDE_BYTES // element.itemsize
    for axis, step in enumerate(steps[:-1]):
        known = literal_of(step)
        if known is None and unit > 1:
            aligned = s.emit(Equal, s.emit(Rem, step, s.scalar(unit, int64)), s.scalar(0, int64))
            message = (
                f"the stride of axis {axis} of a tensor descriptor must be a multiple of {STRIDE_BYTES} bytes "
                f"({unit} elements of {element})"
            )
            s.emit(DeviceAssert, aligned, message=message)
        elif known is not None and int(known) % unit:
            bytes_ = int(known) * element.itemsize
            problem = f"the stride of axis {axis} is {known} elements, {bytes_} bytes"
            s.fail("TRI0652", problem=problem, expected=f"strides that are multiples of {STRIDE_BYTES} bytes")


@surface("load", module="desc")
def load(s: Semantic, desc: Any, offsets: Any) -> Tensor:
    """The block that starts at `offsets`; what lies outside the array is the padding.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> d.load([1, 2])
    [[6.0, 7.0, 0.0, 0.0]]
    """
    return _load(s, _descriptor(s, desc, "load"), offsets, {})


@surface("store", module="desc")
def store(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Write `value`, converted to the element type, as the block that starts at `offsets`.

    What lies outside the array is dropped.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> d.store([1, 2], tl.zeros((1, 4), tl.float32))
    >>> x
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0]
    """
    target = _descriptor(s, desc, "store")
    refuse_constant(s, target.base)
    filled = _block_value(s, target, value)
    ptr, mask = target.window(s, offsets)
    s.emit(Store, ptr, filled, mask)


@surface("gather", module="desc")
def gather(s: Semantic, desc: Any, x_offsets: Any, y_offset: Any) -> Tensor:
    """The rows with the numbers `x_offsets`, each from column `y_offset` on, as a tile of one row for each number.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl.max(d.gather(tl.arange(0, 8) % 2, 0), axis=1)
    [3.0, 7.0, 3.0, 7.0, 3.0, 7.0, 3.0, 7.0]
    """
    source = _descriptor(s, desc, "gather")
    ptr, mask = source.rows(s, x_offsets, y_offset, "gather")
    return s.emit(Load, ptr, mask, padding_tile(s, source.padding, tile(source.dtype, ptr.dims)))


@surface("scatter", module="desc")
def scatter(s: Semantic, desc: Any, value: Any, x_offsets: Any, y_offset: Any) -> None:
    """Write the rows of `value` to the rows with the numbers `x_offsets`, each from column `y_offset` on.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> d.scatter(tl.zeros((8, 4), tl.float32), tl.arange(0, 8), 1)
    >>> x
    [0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0]
    """
    target = _descriptor(s, desc, "scatter")
    refuse_constant(s, target.base)
    ptr, mask = target.rows(s, x_offsets, y_offset, "scatter")
    ty = tile(target.dtype, ptr.dims)
    s.emit(Store, ptr, block_value(s, value, ty, "TRI0654", expected=list(ty.dims)), mask)


def _load(s: Semantic, desc: TensorDescriptor, offsets: Any, hints: dict[str, Any]) -> Tensor:
    ptr, mask = desc.window(s, offsets)
    return s.emit(Load, ptr, mask, padding_tile(s, desc.padding, desc.block_type), **hints)


def _block_value(s: Semantic, desc: TensorDescriptor, value: Any) -> Tensor:
    return block_value(s, value, desc.block_type, "TRI0654", expected=list(desc.block))


def _atomic(s: Semantic, kind: str, desc: Any, offsets: Any, value: Any) -> None:
    function = f"atomic_{kind}"
    target = _descriptor(s, desc, function)
    refuse_constant(s, target.base)
    if target.dtype.name not in _ATOMIC_TYPES[kind]:
        expected = ", ".join(_ATOMIC_TYPES[kind])
        s.fail("TRI0650", function=f"{function} of a descriptor", got=target.dtype, expected=expected)
    filled = _block_value(s, target, value)
    ptr, mask = target.window(s, offsets)
    read_modify_write(s, kind, ptr, filled, mask, sem="relaxed", scope="gpu")


@surface("atomic_add", module="desc")
def atomic_add(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Add `value` to the block at `offsets`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_add([1, 0], tl.full((1, 4), 10, tl.int32))
    >>> i
    [0, 1, 2, 3, 14, 15, 16, 17]
    """
    _atomic(s, "add", desc, offsets, value)


@surface("atomic_min", module="desc")
def atomic_min(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Keep the smaller of the block at `offsets` and `value`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_min([1, 0], tl.full((1, 4), 5, tl.int32))
    >>> i
    [0, 1, 2, 3, 4, 5, 5, 5]
    """
    _atomic(s, "min", desc, offsets, value)


@surface("atomic_max", module="desc")
def atomic_max(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Keep the larger of the block at `offsets` and `value`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_max([1, 0], tl.full((1, 4), 5, tl.int32))
    >>> i
    [0, 1, 2, 3, 5, 5, 6, 7]
    """
    _atomic(s, "max", desc, offsets, value)


@surface("atomic_and", module="desc")
def atomic_and(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Keep the bits that the block at `offsets` shares with `value`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_and([1, 0], tl.full((1, 4), 6, tl.int32))
    >>> i
    [0, 1, 2, 3, 4, 4, 6, 6]
    """
    _atomic(s, "and", desc, offsets, value)


@surface("atomic_or", module="desc")
def atomic_or(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Set the bits of `value` in the block at `offsets`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_or([1, 0], tl.full((1, 4), 8, tl.int32))
    >>> i
    [0, 1, 2, 3, 12, 13, 14, 15]
    """
    _atomic(s, "or", desc, offsets, value)


@surface("atomic_xor", module="desc")
def atomic_xor(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Flip the bits of `value` in the block at `offsets`, element by element and atomically.

    >>> d = tl.make_tensor_descriptor(i, [2, 4], [4, 1], [1, 4])
    >>> d.atomic_xor([1, 0], tl.full((1, 4), 1, tl.int32))
    >>> i
    [0, 1, 2, 3, 5, 4, 7, 6]
    """
    _atomic(s, "xor", desc, offsets, value)


@surface("load_tensor_descriptor")
def load_tensor_descriptor(s: Semantic, desc: Any, offsets: Any) -> Tensor:
    """The same as ``desc.load(offsets)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl.load_tensor_descriptor(d, [1, 0])
    [[4.0, 5.0, 6.0, 7.0]]
    """
    return _load(s, _descriptor(s, desc, "load_tensor_descriptor"), offsets, {})


@surface("store_tensor_descriptor")
def store_tensor_descriptor(s: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """The same as ``desc.store(offsets, value)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl.store_tensor_descriptor(d, [1, 0], tl.zeros((1, 4), tl.float32))
    >>> x
    [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    """
    store(s, desc, offsets, value)


@surface("_experimental_descriptor_load")
def experimental_load(
    s: Semantic,
    desc: Any,
    offsets: Any,
    shape: Any,
    dtype: Any,
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> Tensor:
    """An older spelling of ``desc.load(offsets)``; `shape` and `dtype` must be those of the descriptor's block.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl._experimental_descriptor_load(d, [1, 0], [1, 4], tl.float32)
    [[4.0, 5.0, 6.0, 7.0]]
    """
    source = _descriptor(s, desc, "_experimental_descriptor_load")
    wanted = tile(s.dtype_of(dtype), s.shape_of(shape))
    if wanted != source.block_type:
        s.fail("TRI0654", expected=source.block_type, got=wanted)
    hints = {
        "cache": s.choice(cache_modifier, "cache_modifier", "load", LOAD_CACHE_MODIFIERS, "TRI0644"),
        "eviction": s.choice(eviction_policy, "eviction_policy", "load", EVICTION_POLICIES, "TRI0645"),
    }
    return _load(s, source, offsets, hints)


@surface("_experimental_descriptor_store")
def experimental_store(s: Semantic, desc: Any, value: Any, offsets: Any) -> None:
    """An older spelling of ``desc.store(offsets, value)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl._experimental_descriptor_store(d, tl.zeros((1, 4), tl.float32), [1, 0])
    >>> x
    [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    """
    store(s, desc, offsets, value)
