# Written by `python -m tritium.language.stubs`; do not edit.
from builtins import slice as slice
from builtins import tuple as tuple
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

from tritium.frontend.aggregates import aggregate as aggregate
from tritium.frontend.aggregates import aggregate_replace as aggregate_replace
from tritium.frontend.constexpr_functions import constexpr_function as constexpr_function
from tritium.language.types import (
    base_value as base_value,
    bfloat16 as bfloat16,
    block_type as block_type,
    const as const,
    constexpr_type as constexpr_type,
    dtype as dtype,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    float8e4b15 as float8e4b15,
    float8e4b8 as float8e4b8,
    float8e4nv as float8e4nv,
    float8e5 as float8e5,
    float8e5b16 as float8e5b16,
    get_int_dtype as get_int_dtype,
    int1 as int1,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    pi32_t as pi32_t,
    pointer_type as pointer_type,
    str_to_ty as str_to_ty,
    tensor_descriptor_type as tensor_descriptor_type,
    tuple_type as tuple_type,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
    void as void,
)
from tritium.ops.descriptor import TensorDescriptor
from tritium.ops.handles import constexpr as constexpr

CONSTEXPR_0: constexpr
tensor_descriptor = TensorDescriptor
tensor_descriptor_base = TensorDescriptor
_F = TypeVar("_F")
TRITON_MAX_TENSOR_NUMEL: int

class PropagateNan(IntEnum):
    NONE = ...
    ALL = ...

def builtin(fn: _F) -> _F: ...
def extern(fn: _F) -> _F: ...
def is_builtin(fn: Any) -> bool: ...
def must_use_result(x: Any, s: Any = True) -> Callable[[Any], Any]: ...

class tensor:
    """A run-time value in a kernel: a number, a pointer, or a tile of either."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
    @property
    def numel(self) -> constexpr: ...
    @property
    def type(self) -> Any: ...
    @property
    def T(self) -> tensor: ...
    def __getitem__(self, index: Any) -> tensor: ...
    def __neg__(self) -> tensor: ...
    def __pos__(self) -> tensor: ...
    def __invert__(self) -> tensor: ...
    def __bool__(self) -> bool: ...
    def __add__(self, other: Any) -> tensor: ...
    def __radd__(self, other: Any) -> tensor: ...
    def __sub__(self, other: Any) -> tensor: ...
    def __rsub__(self, other: Any) -> tensor: ...
    def __mul__(self, other: Any) -> tensor: ...
    def __rmul__(self, other: Any) -> tensor: ...
    def __truediv__(self, other: Any) -> tensor: ...
    def __rtruediv__(self, other: Any) -> tensor: ...
    def __floordiv__(self, other: Any) -> tensor: ...
    def __rfloordiv__(self, other: Any) -> tensor: ...
    def __mod__(self, other: Any) -> tensor: ...
    def __rmod__(self, other: Any) -> tensor: ...
    def __pow__(self, other: Any) -> tensor: ...
    def __rpow__(self, other: Any) -> tensor: ...
    def __matmul__(self, other: Any) -> tensor: ...
    def __rmatmul__(self, other: Any) -> tensor: ...
    def __and__(self, other: Any) -> tensor: ...
    def __rand__(self, other: Any) -> tensor: ...
    def __or__(self, other: Any) -> tensor: ...
    def __ror__(self, other: Any) -> tensor: ...
    def __xor__(self, other: Any) -> tensor: ...
    def __rxor__(self, other: Any) -> tensor: ...
    def __lshift__(self, other: Any) -> tensor: ...
    def __rlshift__(self, other: Any) -> tensor: ...
    def __rshift__(self, other: Any) -> tensor: ...
    def __rrshift__(self, other: Any) -> tensor: ...
    def __lt__(self, other: Any) -> tensor: ...
    def __le__(self, other: Any) -> tensor: ...
    def __gt__(self, other: Any) -> tensor: ...
    def __ge__(self, other: Any) -> tensor: ...
    def __eq__(self, other: Any) -> tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> tensor: ...  # type: ignore[override]
    def abs(self) -> tensor:
        """Magnitude of x per element, of any number type. The most negative integer stays as it is.

        >>> tl.abs(tl.load(i) - 3)
        3"""

    def argmax(self, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
        """The int32 index of the largest element along `axis`; a NaN wins only where all are NaN.

        >>> tl.argmax(tl.flip(tl.arange(0, 5), 0), axis=0)
        0"""

    def argmin(self, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
        """The int32 index of the smallest element along `axis`; a NaN wins only where all are NaN.

        >>> tl.argmin(tl.flip(tl.arange(0, 5), 0), axis=0)
        4"""

    def associative_scan(self, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
        """Running combination of `input` (a tile, or a tuple of tiles of one shape) along `axis` by `combine_fn`.

        `combine_fn` is a jit function of two values (2n for n tiles, first the n so far, then the n next) that returns
        one (n); it must be associative. `reverse` runs from the last element to the first.

        >>> @triton.jit
        ... def larger(a, b):
        ...     return tl.where(a > b, a, b)
        >>> tl.associative_scan(tl.arange(0, 4) * 3 % 4, 0, larger)
        [0, 3, 3, 3]"""

    def atomic_add(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Add `val` to memory at `pointer`, atomically; gives the old values.

        32- and 64-bit integers, and floats.

        >>> tl.atomic_add(i + tl.arange(0, 2), 10)
        [0, 1]
        >>> i
        [10, 11, 2, 3, 4, 5, 6, 7]"""

    def atomic_and(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Keep the bits that memory and `val` share, atomically; gives the old values.

        >>> tl.atomic_and(i + tl.arange(0, 4), 2)
        [0, 1, 2, 3]
        >>> i
        [0, 0, 2, 2, 4, 5, 6, 7]"""

    def atomic_cas(self, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> tensor:
        """Put `val` into memory where it holds `cmp`, atomically; gives the old values. 16, 32 and 64 bits.

        Bits are compared, so -0.0 is not +0.0. `cmp` and `val` have the element type; Python numbers take it.

        >>> tl.atomic_cas(i + tl.arange(0, 4), 2, 9)
        [0, 1, 2, 3]
        >>> i
        [0, 1, 9, 3, 4, 5, 6, 7]"""

    def atomic_max(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Keep the larger of memory and `val`, atomically; gives the old values.

        fp32 and fp64 order as their bits do.

        >>> tl.atomic_max(i + tl.arange(0, 4), 2)
        [0, 1, 2, 3]
        >>> i
        [2, 2, 2, 3, 4, 5, 6, 7]"""

    def atomic_min(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Keep the smaller of memory and `val`, atomically; gives the old values.

        fp32 and fp64 order as their bits do.

        >>> tl.atomic_min(i + tl.arange(0, 4), 2)
        [0, 1, 2, 3]
        >>> i
        [0, 1, 2, 2, 4, 5, 6, 7]"""

    def atomic_or(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Set the bits of `val` in memory, atomically; gives the old values.

        >>> tl.atomic_or(i + tl.arange(0, 4), 2)
        [0, 1, 2, 3]
        >>> i
        [2, 3, 2, 3, 4, 5, 6, 7]"""

    def atomic_xchg(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Put `val` into memory, atomically; gives the old values.

        >>> tl.atomic_xchg(i + tl.arange(0, 4), 9)
        [0, 1, 2, 3]
        >>> i
        [9, 9, 9, 9, 4, 5, 6, 7]"""

    def atomic_xor(self, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
        """Flip the bits of `val` in memory, atomically; gives the old values.

        >>> tl.atomic_xor(i + tl.arange(0, 4), 3)
        [0, 1, 2, 3]
        >>> i
        [3, 2, 1, 0, 4, 5, 6, 7]"""

    def broadcast_to(self, *shape: Any) -> tensor:
        """`input` stretched to `shape`. Axes of extent 1 repeat; a 0-d value fills any shape.

        >>> tl.broadcast_to(tl.arange(0, 2)[:, None], 2, 3)
        [[0, 0, 0], [1, 1, 1]]"""

    def cast(self, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> tensor:
        """`x` with elements converted to `to`. `rounding` ("rtne" or "rtz") matters where a float narrows.

        Float to int truncates, saturates and maps NaN to 0; anything to int1 is ``!= 0``; integers narrow by
        wrapping; integers and wider floats become floats with one rounding.

        >>> tl.cast(tl.load(x + tl.arange(0, 4)) / -2, tl.int32)
        [0, 0, -1, -1]"""

    def cdiv(self, div: Any) -> tensor:
        """Quotient rounded up for positive integers: ``(x + div - 1) // div``. Of two numbers it is an int32 tensor.

        >>> tl.cdiv(tl.load(i + 7), 4)
        2"""

    def ceil(self) -> tensor:
        """Smallest whole number not below x, per element, as a float.

        >>> tl.ceil(tl.load(x + 3) / 2)
        2.0"""

    def cos(self) -> tensor:
        """Cosine of x (radians) per element.

        >>> tl.cos(tl.load(x))
        1.0"""

    def cumprod(self, axis: Any = 0, reverse: Any = False) -> tensor:
        """Running product along `axis`, from the end if `reverse`; bf16 is computed as fp32, other types as they are.

        >>> tl.cumprod(tl.arange(1, 5), axis=0)
        [1, 2, 6, 24]"""

    def cumsum(self, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> tensor:
        """Running sum along `axis`, from the end if `reverse`.

        Integers narrower than 32 bits are summed as int32 or uint32 and bf16 as fp32, or all in `dtype` where given.

        >>> tl.cumsum(tl.arange(0, 4), axis=0)
        [0, 1, 3, 6]"""

    def erf(self) -> tensor:
        """Error function of x per element.

        >>> tl.erf(tl.load(x))
        0.0"""

    def exp(self) -> tensor:
        """e to the power of x per element.

        >>> tl.exp(tl.load(x + 1))
        2.7182817"""

    def exp2(self) -> tensor:
        """2 to the power of x per element.

        >>> tl.exp2(tl.load(x + 3))
        8.0"""

    def expand_dims(self, axis: Any) -> tensor:
        """New axes of extent 1 at the positions `axis` (one or several) of the result.

        >>> tl.expand_dims(tl.arange(0, 2), 0)
        [[0, 1]]"""

    def flip(self, dim: Any = None) -> tensor:
        """`x` with its elements along axis `dim` in the opposite order. A tile of one axis needs no `dim`.

        >>> tl.flip(tl.arange(0, 3))
        [2, 1, 0]"""

    def floor(self) -> tensor:
        """Largest whole number not above x, per element, as a float.

        >>> tl.floor(tl.load(x + 3) / 2)
        1.0"""

    def gather(self, index: Any, axis: Any) -> tensor:
        """``result[.., i, ..] = src[.., index[.., i, ..], ..]`` along `axis`; the result has the shape of `index`.

        An index outside the axis reads the nearest element (Triton leaves it undefined).

        >>> tl.gather(tl.arange(10, 14), tl.load(i + tl.arange(2, 4)), 0)
        [12, 13]"""

    def histogram(self, num_bins: Any, mask: Any = None) -> tensor:
        """Counts of the bin numbers 0 to `num_bins` - 1 in `input`, a tile of integers of one axis.

        Elements whose `mask` is false, and those outside the bins, are not counted.

        >>> tl.histogram(tl.arange(0, 6) % 4, 4)
        [2, 2, 1, 1]"""

    def item(self) -> tensor:
        """The only element of a tile of one element, as a 0-d value.

        >>> tl.item(tl.load(i + tl.arange(3, 4)))
        3"""

    def log(self) -> tensor:
        """Natural logarithm of x per element; NaN below 0, -inf at 0.

        >>> tl.log(tl.load(x + 1))
        0.0"""

    def log2(self) -> tensor:
        """Logarithm of x to base 2 per element; NaN below 0, -inf at 0.

        >>> tl.log2(tl.load(x + 4))
        2.0"""

    def logical_and(self, y: Any) -> tensor:
        """Both of two truth values; both sides are evaluated.

        >>> (tl.arange(0, 4) > 0).logical_and(tl.arange(0, 4) < 3)
        [False, True, True, False]"""

    def logical_or(self, y: Any) -> tensor:
        """Either of two truth values; both sides are evaluated.

        >>> (tl.arange(0, 4) < 1).logical_or(tl.arange(0, 4) > 2)
        [True, False, False, True]"""

    def max(
        self,
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
        4"""

    def min(
        self,
        axis: Any = None,
        return_indices: Any = False,
        return_indices_tie_break_left: Any = True,
        keep_dims: Any = False,
    ) -> Any:
        """Smallest element along `axis` (None: of all), ignoring NaN; with `return_indices` also its int32 index.

        Types and ties as for tl.max.

        >>> tl.min(tl.arange(3, 5), axis=0)
        3"""

    def permute(self, *dims: Any) -> tensor:
        """The axes of `input` in the order `dims`, one tuple or one number per axis.

        >>> tl.permute(tl.reshape(tl.arange(0, 6), 2, 3), 1, 0)
        [[0, 3], [1, 4], [2, 5]]"""

    def ravel(self, can_reorder: Any = False) -> tensor:
        """The elements of `x` as a tile of one axis, in row-major order.

        >>> tl.ravel(tl.reshape(tl.arange(0, 4), (2, 2)))
        [0, 1, 2, 3]"""

    def reduce(self, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
        """`input` (a tile, or a tuple of tiles of one shape) reduced along `axis` by the jit function `combine_fn`.

        `combine_fn` takes two values (2n for n tiles, first the n of one group, then of the other) and returns one
        (n); it must be associative. Axis None reduces all axes; `keep_dims` keeps them with extent 1.

        >>> @triton.jit
        ... def larger(a, b):
        ...     return tl.where(a > b, a, b)
        >>> tl.reduce(tl.arange(0, 6).reshape(2, 3), 1, larger)
        [2, 5]"""

    def reduce_or(self, axis: Any = None, keep_dims: Any = False) -> tensor:
        """Bitwise or of the elements along `axis` (None: all of them); integers only.

        >>> tl.reduce_or(tl.arange(0, 6), axis=0)
        7"""

    def reshape(self, *shape: Any, can_reorder: Any = False) -> tensor:
        """`input` in another shape of equally many elements, in row-major order.

        `shape` is one tuple or one number per axis; one extent may be -1. `can_reorder` allows any order; here the
        order is always kept.

        >>> tl.reshape(tl.arange(0, 6), 3, 2)
        [[0, 1], [2, 3], [4, 5]]"""

    def rsqrt(self) -> tensor:
        """1 / sqrt(x) per element; NaN below 0, inf at +0.0.

        >>> tl.rsqrt(tl.load(x + 4))
        0.5"""

    def sigmoid(self) -> tensor:
        """``1 / (1 + exp(-x))`` of fp32 or fp64.

        >>> tl.sigmoid(tl.load(x))
        0.5"""

    def sin(self) -> tensor:
        """Sine of x (radians) per element.

        >>> tl.sin(tl.load(x))
        0.0"""

    def softmax(
        self,
        dim: Any = None,
        keep_dims: Any = False,
        ieee_rounding: Any = False,
    ) -> tensor:
        """exp(x) over its sum along `dim` (0 by default), with the maximum subtracted first.

        Maximum and sum have the reduced axis removed unless `keep_dims`, so a tile with several axes needs
        ``keep_dims=True`` unless `dim` is 0.

        >>> tl.softmax(tl.load(x + tl.arange(0, 4)) * 0.0)
        [0.25, 0.25, 0.25, 0.25]"""

    def sort(self, dim: Any = None, descending: Any = False) -> tensor:
        """`x` in order along axis `dim` (None: the last). NaN comes last, first if `descending`.

        >>> tl.sort(tl.arange(0, 4) * 3 % 4)
        [0, 1, 2, 3]"""

    def split(self) -> tuple[tensor, tensor]:
        """The two halves of a tile whose last axis has extent 2: elements 0 and elements 1 of that axis.

        >>> tl.split(tl.reshape(tl.arange(0, 4), (2, 2)))
        ([0, 2], [1, 3])"""

    def sqrt(self) -> tensor:
        """Square root of x per element; NaN below 0. `precise` asks for correct rounding on every backend.

        >>> tl.sqrt(tl.load(x + 4))
        2.0"""

    def sqrt_rn(self) -> tensor:
        """Correctly rounded square root of fp32 numbers.

        >>> tl.sqrt_rn(tl.load(x + 2))
        1.4142135"""

    def squeeze(self, dim: Any) -> tensor:
        """`x` without its axis `dim`, which has extent 1.

        >>> tl.squeeze(tl.load(i + tl.arange(0, 2))[None, :], 0)
        [0, 1]"""

    def store(
        self,
        value: Any,
        mask: Any = None,
        boundary_check: Any = (),
        cache_modifier: Any = '',
        eviction_policy: Any = '',
    ) -> None:
        """Write `value`, converted to the element type, where `pointer` points.

        Lanes whose `mask` is false write nothing. Value and mask are broadcast to the pointer's shape. For block
        pointers, `boundary_check` names the axes along which what lies outside is dropped.

        >>> lanes = tl.arange(0, 4)
        >>> tl.store(x + lanes, 9.0, mask=lanes < 3)
        >>> x
        [9.0, 9.0, 9.0, 3.0, 4.0, 5.0, 6.0, 7.0]"""

    def sum(self, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> tensor:
        """Sum of the elements along `axis` (None: all of them).

        Integers narrower than 32 bits are summed as int32 or uint32; anything else, fp16 and bf16 included, in its own
        type, or in `dtype` where that is given.

        >>> tl.sum(tl.arange(0, 5), axis=0)
        10"""

    def to(self, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> tensor:
        """The same as tl.cast.

        >>> tl.arange(0, 3).to(tl.float32)
        [0.0, 1.0, 2.0]"""

    def trans(self, *dims: Any) -> tensor:
        """The axes of `input` in the order `dims`; without `dims`, the last two axes change places.

        >>> tl.trans(tl.reshape(tl.arange(0, 4), (2, 2)))
        [[0, 2], [1, 3]]"""

    def unsqueeze(self, dim: Any) -> tensor:
        """`x` with a new axis of extent 1 at position `dim` of the result.

        >>> tl.unsqueeze(tl.arange(0, 2), 1)
        [[0], [1]]"""

    def view(self, *shape: Any) -> tensor:
        """The same as tl.reshape.

        >>> tl.view(tl.arange(0, 4), (2, 2))
        [[0, 1], [2, 3]]"""

    def xor_sum(self, axis: Any = None, keep_dims: Any = False) -> tensor:
        """Exclusive or of the elements along `axis` (None: all of them); integers only.

        >>> tl.xor_sum(tl.arange(0, 4), axis=0)
        0"""

def _experimental_descriptor_load(
    desc: Any,
    offsets: Any,
    shape: Any,
    dtype: Any,
    cache_modifier: Any = '',
    eviction_policy: Any = '',
) -> tensor:
    """An older spelling of ``desc.load(offsets)``; `shape` and `dtype` must be those of the descriptor's block.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl._experimental_descriptor_load(d, [1, 0], [1, 4], tl.float32)
    [[4.0, 5.0, 6.0, 7.0]]"""

def _experimental_descriptor_store(desc: Any, value: Any, offsets: Any) -> None:
    """An older spelling of ``desc.store(offsets, value)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl._experimental_descriptor_store(d, tl.zeros((1, 4), tl.float32), [1, 0])
    >>> x
    [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]"""

def _experimental_make_tensor_descriptor(
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    padding_option: Any = 'zero',
) -> Any:
    """A descriptor of the array of `shape` and `strides` at `base`, accessed in blocks of `block_shape`.

    1 to 5 axes. Strides count elements: the last one is the compile-time number 1, the others are multiples of
    16 bytes, checked when the kernel runs where they are not known before. Reads outside the array give zero, or
    NaN with ``padding_option="nan"``; writes outside are dropped.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [2, 4])
    >>> d.load([1, 0])
    [[4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]]"""

def abs(x: Any) -> tensor:
    """Magnitude of x per element, of any number type. The most negative integer stays as it is.

    >>> tl.abs(tl.load(i) - 3)
    3"""

def add(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """Sum of x and y per element. Integers wrap, int1 adds modulo 2, floats round once.

    A pointer plus an integer moves by that many elements. `sanitize_overflow` marks an addition of the source
    whose wrapping the debug mode reports.

    >>> tl.arange(0, 3) + 10
    [10, 11, 12]"""

def advance(base: Any, offsets: Any) -> Any:
    """A block pointer moved by `offsets` elements along each axis. The argument stays as it was.

    >>> p = tl.make_block_ptr(x, (2, 4), (4, 1), (0, 0), (2, 2), (1, 0))
    >>> tl.load(tl.advance(p, (0, 2)))
    [[2.0, 3.0], [6.0, 7.0]]"""

def arange(start: Any, end: Any) -> tensor:
    """The integers from `start` up to, not including, `end`, as an int32 tile of any extent.

    >>> tl.arange(2, 7)
    [2, 3, 4, 5, 6]"""

def argmax(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
    """The int32 index of the largest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmax(tl.flip(tl.arange(0, 5), 0), axis=0)
    0"""

def argmin(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
    """The int32 index of the smallest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmin(tl.flip(tl.arange(0, 5), 0), axis=0)
    4"""

def associative_scan(input: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
    """Running combination of `input` (a tile, or a tuple of tiles of one shape) along `axis` by `combine_fn`.

    `combine_fn` is a jit function of two values (2n for n tiles, first the n so far, then the n next) that returns
    one (n); it must be associative. `reverse` runs from the last element to the first.

    >>> @triton.jit
    ... def larger(a, b):
    ...     return tl.where(a > b, a, b)
    >>> tl.associative_scan(tl.arange(0, 4) * 3 % 4, 0, larger)
    [0, 3, 3, 3]"""

def assume(cond: Any) -> None:
    """Promise that `cond` is true, which the compiler may use.

    >>> tl.assume(tl.num_programs(0) > 0)"""

def atomic_add(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Add `val` to memory at `pointer`, atomically; gives the old values.

    32- and 64-bit integers, and floats.

    >>> tl.atomic_add(i + tl.arange(0, 2), 10)
    [0, 1]
    >>> i
    [10, 11, 2, 3, 4, 5, 6, 7]"""

def atomic_and(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Keep the bits that memory and `val` share, atomically; gives the old values.

    >>> tl.atomic_and(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [0, 0, 2, 2, 4, 5, 6, 7]"""

def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> tensor:
    """Put `val` into memory where it holds `cmp`, atomically; gives the old values. 16, 32 and 64 bits.

    Bits are compared, so -0.0 is not +0.0. `cmp` and `val` have the element type; Python numbers take it.

    >>> tl.atomic_cas(i + tl.arange(0, 4), 2, 9)
    [0, 1, 2, 3]
    >>> i
    [0, 1, 9, 3, 4, 5, 6, 7]"""

def atomic_max(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Keep the larger of memory and `val`, atomically; gives the old values.

    fp32 and fp64 order as their bits do.

    >>> tl.atomic_max(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [2, 2, 2, 3, 4, 5, 6, 7]"""

def atomic_min(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Keep the smaller of memory and `val`, atomically; gives the old values.

    fp32 and fp64 order as their bits do.

    >>> tl.atomic_min(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [0, 1, 2, 2, 4, 5, 6, 7]"""

def atomic_or(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Set the bits of `val` in memory, atomically; gives the old values.

    >>> tl.atomic_or(i + tl.arange(0, 4), 2)
    [0, 1, 2, 3]
    >>> i
    [2, 3, 2, 3, 4, 5, 6, 7]"""

def atomic_xchg(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Put `val` into memory, atomically; gives the old values.

    >>> tl.atomic_xchg(i + tl.arange(0, 4), 9)
    [0, 1, 2, 3]
    >>> i
    [9, 9, 9, 9, 4, 5, 6, 7]"""

def atomic_xor(
    pointer: Any,
    val: Any,
    mask: Any = None,
    sem: Any = None,
    scope: Any = None,
) -> tensor:
    """Flip the bits of `val` in memory, atomically; gives the old values.

    >>> tl.atomic_xor(i + tl.arange(0, 4), 3)
    [0, 1, 2, 3]
    >>> i
    [3, 2, 1, 0, 4, 5, 6, 7]"""

def bitonic_merge(x: Any, dim: Any = None, descending: Any = False) -> tensor:
    """`x`, whose elements along axis `dim` first rise and then fall (or are rotated so), in order.

    >>> tl.bitonic_merge(tl.cat(tl.arange(0, 2), tl.flip(tl.arange(0, 2), 0)))
    [0, 0, 1, 1]"""

def broadcast(input: Any, other: Any) -> tuple[tensor, tensor]:
    """Both values stretched to their common shape.

    >>> tl.broadcast(tl.arange(0, 2)[:, None], tl.full((1, 2), 7, tl.int32))
    ([[0, 0], [1, 1]], [[7, 7], [7, 7]])"""

def broadcast_to(input: Any, *shape: Any) -> tensor:
    """`input` stretched to `shape`. Axes of extent 1 repeat; a 0-d value fills any shape.

    >>> tl.broadcast_to(tl.arange(0, 2)[:, None], 2, 3)
    [[0, 0, 0], [1, 1, 1]]"""

def cast(
    input: Any,
    dtype: Any,
    fp_downcast_rounding: Any = None,
    bitcast: Any = False,
) -> tensor:
    """`x` with elements converted to `to`. `rounding` ("rtne" or "rtz") matters where a float narrows.

    Float to int truncates, saturates and maps NaN to 0; anything to int1 is ``!= 0``; integers narrow by
    wrapping; integers and wider floats become floats with one rounding.

    >>> tl.cast(tl.load(x + tl.arange(0, 4)) / -2, tl.int32)
    [0, 0, -1, -1]"""

def cat(input: Any, other: Any, can_reorder: Any = False, dim: Any = 0) -> tensor:
    """`input`, then `other`, along axis `dim`. The order is kept, whatever `can_reorder` allows.

    >>> tl.cat(tl.arange(0, 2), tl.arange(5, 7))
    [0, 1, 5, 6]"""

def cdiv(x: Any, div: Any) -> tensor:
    """Quotient rounded up for positive integers: ``(x + div - 1) // div``. Of two numbers it is an int32 tensor.

    >>> tl.cdiv(tl.load(i + 7), 4)
    2"""

def ceil(x: Any) -> tensor:
    """Smallest whole number not below x, per element, as a float.

    >>> tl.ceil(tl.load(x + 3) / 2)
    2.0"""

def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = ...) -> tensor:
    """Floats x limited to lo...hi: ``minimum(maximum(x, lo), hi)``.

    A NaN in x gives lo, or NaN if propagated.

    >>> tl.clamp(tl.load(x + 7), 0.0, 5.0)
    5.0"""

def condition(arg1: Any, disable_licm: Any = False) -> Any:
    """The condition of a `while` with a hint for the compiler: ``while tl.condition(i < n, disable_licm=True)``.

    >>> n = 1
    >>> while tl.condition(n < 100):
    ...     n *= 3
    >>> n
    243"""

def cos(x: Any) -> tensor:
    """Cosine of x (radians) per element.

    >>> tl.cos(tl.load(x))
    1.0"""

def cumprod(input: Any, axis: Any = 0, reverse: Any = False) -> tensor:
    """Running product along `axis`, from the end if `reverse`; bf16 is computed as fp32, other types as they are.

    >>> tl.cumprod(tl.arange(1, 5), axis=0)
    [1, 2, 6, 24]"""

def cumsum(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> tensor:
    """Running sum along `axis`, from the end if `reverse`.

    Integers narrower than 32 bits are summed as int32 or uint32 and bf16 as fp32, or all in `dtype` where given.

    >>> tl.cumsum(tl.arange(0, 4), axis=0)
    [0, 1, 3, 6]"""

def debug_barrier() -> None:
    """Make the threads of the program instance wait for each other. Values never need it.

    >>> tl.debug_barrier()"""

def device_assert(cond: Any, msg: Any = '', mask: Any = None) -> None:
    """Stop the launch with the text `msg` if `cond` is false for an element whose `mask` is true.

    Acts only in debug mode (``@triton.jit(debug=True)``, ``TRITON_DEBUG=1``, or ``debug=True`` at the launch).

    >>> tl.device_assert(tl.load(x + tl.arange(0, 8)) < 8, "in range")"""

def device_print(prefix: Any, *args: Any, hex: Any = False) -> None:
    """Print `args` after the fixed text `prefix` while the kernel runs; with `hex` as hexadecimal bits.

    Each program instance prints whole values in order. `prefix` is printable ASCII text known at compile time.

    >>> tl.device_print("a", tl.arange(14, 17), hex=True)
    (0, 0, 0) a: [0x0000000e 0x0000000f 0x00000010]"""

def div_rn(x: Any, y: Any) -> tensor:
    """Correctly rounded quotient of fp32 numbers.

    >>> tl.div_rn(tl.load(x + 1), 3.0)
    0.33333334"""

def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
) -> tensor:
    """The matrix product of `input` [..., M, K] and `other` [..., K, N], added to `acc` [..., M, N] if given.

    Any extents; leading (batch) extents are equal. Both have one type: int8 (result int32), fp16 or an 8-bit float
    (result `out_dtype`, fp32 or fp16), bf16 or fp32 (result fp32), fp64. `out_dtype` is by default the type of
    `acc`, else fp32. `input_precision` ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6") applies to fp32 operands;
    without it the target decides. `allow_tf32` is its older form.

    >>> a = tl.reshape(tl.arange(1, 5), 2, 2).to(tl.float32)
    >>> tl.dot(a, a + 4)
    [[19.0, 22.0], [43.0, 50.0]]"""

def dot_scaled(
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
    out_dtype: Any = ...,
) -> tensor:
    """The fp32 product of two matrices in microscaling formats, added to `acc` if that is given.

    `lhs` is [M, K] with `lhs_scale` [M, K / 32], `rhs` is [K, N] with `rhs_scale` [N, K / 32] (not transposed).
    Formats: "e2m1" (uint8, two elements to a byte), "e4m3", "e5m2", "bf16", "fp16", as the type itself or its bits.
    Scales are uint8 exponents (or fp8e4nv, one for 16 elements), or None.

    >>> a = tl.load(x + tl.zeros((1, 32), tl.int32) + 1).to(tl.float16)
    >>> tl.dot_scaled(a, tl.full((1, 1), 128, tl.uint8), "fp16", tl.trans(a), None, "fp16")
    [[64.0]]"""

def empty(shape: Any, dtype: Any) -> tensor:
    """A tile of `shape` and type `dtype` whose contents are undefined until something else takes its place.

    >>> tl.empty((2, 3), tl.float32).shape
    (2, 3)"""

def erf(x: Any) -> tensor:
    """Error function of x per element.

    >>> tl.erf(tl.load(x))
    0.0"""

def exp(x: Any) -> tensor:
    """e to the power of x per element.

    >>> tl.exp(tl.load(x + 1))
    2.7182817"""

def exp2(x: Any) -> tensor:
    """2 to the power of x per element.

    >>> tl.exp2(tl.load(x + 3))
    8.0"""

def expand_dims(input: Any, axis: Any) -> tensor:
    """New axes of extent 1 at the positions `axis` (one or several) of the result.

    >>> tl.expand_dims(tl.arange(0, 2), 0)
    [[0, 1]]"""

def expect_zero(x: Any, mask: Any) -> tensor:
    """`x`, which is expected to be zero where `mask` is true; debug mode checks it.

    >>> tl.expect_zero(tl.load(x + tl.arange(0, 2)), tl.arange(0, 2) < 1)
    [0.0, 1.0]"""

def fdiv(x: Any, y: Any, ieee_rounding: Any = False) -> tensor:
    """Quotient of floats in their own type, also for fp16 and bf16.

    >>> tl.fdiv(tl.load(x + 1).to(tl.float16), tl.load(x + 4).to(tl.float16))
    0.25"""

def flip(x: Any, dim: Any = None) -> tensor:
    """`x` with its elements along axis `dim` in the opposite order. A tile of one axis needs no `dim`.

    >>> tl.flip(tl.arange(0, 3))
    [2, 1, 0]"""

def floor(x: Any) -> tensor:
    """Largest whole number not above x, per element, as a float.

    >>> tl.floor(tl.load(x + 3) / 2)
    1.0"""

def fma(x: Any, y: Any, z: Any) -> tensor:
    """``x * y + z`` of floats per element, rounded once.

    >>> tl.fma(tl.load(x + 2), 3.0, 4.0)
    10.0"""

def full(shape: Any, value: Any, dtype: Any) -> tensor:
    """A tile of `shape` and type `dtype` with every element `value`, a number or a tensor of one element.

    An integer wraps to the width of `dtype` as in Triton, so 0xFFFFFFFF fills an int32 tile with -1; a negative one does
    not become unsigned, nor a float an integer. The shape ``()`` gives a 0-d value.

    >>> tl.full((2, 2), 7, tl.int32)
    [[7, 7], [7, 7]]"""

def gather(src: Any, index: Any, axis: Any) -> tensor:
    """``result[.., i, ..] = src[.., index[.., i, ..], ..]`` along `axis`; the result has the shape of `index`.

    An index outside the axis reads the nearest element (Triton leaves it undefined).

    >>> tl.gather(tl.arange(10, 14), tl.load(i + tl.arange(2, 4)), 0)
    [12, 13]"""

def histogram(input: Any, num_bins: Any, mask: Any = None) -> tensor:
    """Counts of the bin numbers 0 to `num_bins` - 1 in `input`, a tile of integers of one axis.

    Elements whose `mask` is false, and those outside the bins, are not counted.

    >>> tl.histogram(tl.arange(0, 6) % 4, 4)
    [2, 2, 1, 1]"""

def inline_asm_elementwise(
    asm: Any,
    constraints: Any,
    args: Any,
    dtype: Any,
    is_pure: Any,
    pack: Any,
) -> Any:
    """Run assembly on the elements of `args`, broadcast together; gives a tile of `dtype`, or a tuple for a tuple.

    PTX of a few common instructions runs on every backend; other text only on the target it is for.

    >>> tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.arange(0, 2)], dtype=tl.int32, is_pure=True, pack=1)
    [0, 1]"""

def interleave(a: Any, b: Any) -> tensor:
    """The elements of `a` and `b` by turns along the last axis.

    >>> tl.interleave(tl.arange(0, 2), tl.arange(10, 12))
    [0, 10, 1, 11]"""

def item(input: Any) -> tensor:
    """The only element of a tile of one element, as a 0-d value.

    >>> tl.item(tl.load(i + tl.arange(3, 4)))
    3"""

def join(a: Any, b: Any) -> tensor:
    """`a` and `b` side by side on a new last axis of extent 2.

    >>> tl.join(tl.arange(0, 2), tl.arange(10, 12))
    [[0, 10], [1, 11]]"""

def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = '',
    cache_modifier: Any = '',
    eviction_policy: Any = '',
    volatile: Any = False,
) -> tensor:
    """Read the elements `pointer` points at, as a tile of the pointer's shape.

    Lanes whose `mask` is false read nothing and give `other`, or an undefined value without `other`.
    Pointer, mask and other are broadcast together, except that a single pointer takes a single mask. For
    block pointers, `boundary_check` names the axes to guard and `padding_option` ("zero", "nan") says what
    lies outside.

    >>> lanes = tl.arange(0, 4)
    >>> tl.load(x + lanes, mask=lanes < 3, other=-1.0)
    [0.0, 1.0, 2.0, -1.0]"""

def load_tensor_descriptor(desc: Any, offsets: Any) -> tensor:
    """The same as ``desc.load(offsets)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl.load_tensor_descriptor(d, [1, 0])
    [[4.0, 5.0, 6.0, 7.0]]"""

def log(x: Any) -> tensor:
    """Natural logarithm of x per element; NaN below 0, -inf at 0.

    >>> tl.log(tl.load(x + 1))
    0.0"""

def log2(x: Any) -> tensor:
    """Logarithm of x to base 2 per element; NaN below 0, -inf at 0.

    >>> tl.log2(tl.load(x + 4))
    2.0"""

def make_block_ptr(
    base: Any,
    shape: Any,
    strides: Any,
    offsets: Any,
    block_shape: Any,
    order: Any,
) -> Any:
    """A pointer to a block of `block_shape` at `offsets` in the array of `shape` and `strides` at `base`.

    Strides and offsets count elements. Loads and stores check the axes named by their `boundary_check` against
    `shape`. `order` lists the axes from fastest to slowest, and is a hint.

    >>> p = tl.make_block_ptr(x, (2, 4), (4, 1), (0, 2), (2, 4), (1, 0))
    >>> tl.load(p, boundary_check=(1,))
    [[2.0, 3.0, 0.0, 0.0], [6.0, 7.0, 0.0, 0.0]]"""

def make_tensor_descriptor(
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    padding_option: Any = 'zero',
) -> Any:
    """A descriptor of the array of `shape` and `strides` at `base`, accessed in blocks of `block_shape`.

    1 to 5 axes. Strides count elements: the last one is the compile-time number 1, the others are multiples of
    16 bytes, checked when the kernel runs where they are not known before. Reads outside the array give zero, or
    NaN with ``padding_option="nan"``; writes outside are dropped.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [2, 4])
    >>> d.load([1, 0])
    [[4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]]"""

def map_elementwise(scalar_fn: Any, *args: Any, pack: Any = 1) -> Any:
    """The jit function `scalar_fn` applied to every element of `args`, which are broadcast to one shape.

    Inside, every argument is a scalar, so `if` and `while` go their own way for each element. With `pack` > 1 one call
    handles so many consecutive elements: it takes them all, argument by argument, and returns so many of each result.

    >>> @triton.jit
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> tl.map_elementwise(collatz, tl.arange(1, 7))
    [0, 1, 7, 2, 5, 8]"""

def max(
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
    4"""

def max_constancy(input: Any, values: Any) -> tensor:
    """`input`, with the promise that along each axis so many elements at a time are equal.

    >>> tl.max_constancy(tl.arange(0, 4) // 2, 2)
    [0, 0, 1, 1]"""

def max_contiguous(input: Any, values: Any) -> tensor:
    """`input`, with the promise that along each axis so many elements at a time are consecutive numbers.

    >>> tl.max_contiguous(tl.arange(0, 4), 4)
    [0, 1, 2, 3]"""

def maximum(x: Any, y: Any, propagate_nan: Any = ...) -> tensor:
    """Larger of x and y per element.

    Numbers count as tensors here, so fp16 with 0.0 gives fp32; bf16 gives fp32.

    >>> tl.maximum(tl.arange(0, 4), 2)
    [2, 2, 2, 3]"""

def min(
    input: Any,
    axis: Any = None,
    return_indices: Any = False,
    return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:
    """Smallest element along `axis` (None: of all), ignoring NaN; with `return_indices` also its int32 index.

    Types and ties as for tl.max.

    >>> tl.min(tl.arange(3, 5), axis=0)
    3"""

def minimum(x: Any, y: Any, propagate_nan: Any = ...) -> tensor:
    """Smaller of x and y per element.

    Numbers count as tensors here, so fp16 with 0.0 gives fp32; bf16 gives fp32.

    >>> tl.minimum(tl.arange(0, 4), 2)
    [0, 1, 2, 2]"""

def mul(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """Product of x and y per element. Integers wrap, int1 multiplies as `and`, floats round once.

    >>> tl.arange(0, 3) * 2
    [0, 2, 4]"""

def multiple_of(input: Any, values: Any) -> tensor:
    """`input`, with the promise that along each axis it starts at multiples of that axis's value.

    >>> tl.multiple_of(tl.arange(0, 4) * 8, 8)
    [0, 8, 16, 24]"""

def num_programs(axis: Any) -> tensor:
    """Number of program instances along `axis` (0, 1 or 2) of the grid; int32.

    >>> tl.num_programs(0)
    1"""

def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[tensor, tensor]:
    """Two independent standard normal numbers from two uniform ones (Box and Muller), with u1 at least 1e-7.

    >>> a, b = tl.pair_uniform_to_normal(tl.rand(42, tl.arange(0, 2)), tl.rand(43, tl.arange(0, 2)))
    >>> a.shape
    (2,)"""

def permute(input: Any, *dims: Any) -> tensor:
    """The axes of `input` in the order `dims`, one tuple or one number per axis.

    >>> tl.permute(tl.reshape(tl.arange(0, 6), 2, 3), 1, 0)
    [[0, 3], [1, 4], [2, 5]]"""

def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = 10) -> Any:
    """Four random words for the counter (c0, c1, c2, c3), integers of 32 or of 64 bits, and the integer `seed`.

    With 32-bit counters the key is the low and the high half of the seed, with 64-bit counters (seed, 0).

    >>> zero = tl.full((1,), 0, tl.uint32)
    >>> tl.philox(0, zero, zero, zero, zero)
    ([1713891541], [3781805453], [3159862348], [2600524760])"""

def philox_impl(
    c0: Any,
    c1: Any,
    c2: Any,
    c3: Any,
    k0: Any,
    k1: Any,
    n_rounds: Any = 10,
) -> Any:
    """`n_rounds` rounds of Philox for counter (c0, c1, c2, c3) and key (k0, k1), all uint32 or all uint64.

    >>> zero = tl.full((1,), 0, tl.uint32)
    >>> tl.philox_impl(zero, zero, zero, zero, 0, 0)
    ([1713891541], [3781805453], [3159862348], [2600524760])"""

def program_id(axis: Any) -> tensor:
    """Index of this program instance along `axis` (0, 1 or 2) of the grid; int32.

    >>> tl.program_id(0)
    0"""

def rand(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A random fp32 number, uniform in [0, 1), for each of the integers `offset`.

    >>> tl.rand(42, tl.arange(0, 3))
    [0.77408016, 0.024562696, 0.3482663]"""

def rand4x(seed: Any, offsets: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of random fp32 numbers, uniform in [0, 1), for the integers `offsets`.

    >>> tl.rand4x(42, tl.arange(0, 1))
    ([0.77408016], [0.93717295], [0.14646345], [0.68172306])"""

def randint(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A random uint32 word for each of the integers `offset`.

    >>> tl.randint(42, tl.arange(0, 3))
    [2632642643, 4242219303, 3547071013]"""

def randint4x(seed: Any, offset: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of random uint32 words for the integers `offset`; cheaper than four calls of tl.randint.

    >>> tl.randint4x(42, tl.arange(0, 1))
    ([2632642643], [2012563771], [314527917], [1463989207])"""

def randn(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A standard normal fp32 number for each of the integers `offset`.

    >>> tl.abs(tl.randn(42, tl.arange(0, 4))) < 5
    [True, True, True, True]"""

def randn4x(seed: Any, offset: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of standard normal fp32 numbers for the integers `offset`.

    >>> a, b, c, d = tl.randn4x(42, tl.arange(0, 2))
    >>> d.shape
    (2,)"""

def range(
    arg1: Any,
    arg2: Any = None,
    step: Any = None,
    num_stages: Any = None,
    loop_unroll_factor: Any = None,
    disallow_acc_multi_buffer: Any = False,
    flatten: Any = False,
    warp_specialize: Any = False,
    disable_licm: Any = False,
) -> Any:
    """What a run-time `for` loops over: like Python's range, with hints for scheduling that change no result.

    >>> total = 0
    >>> for k in tl.range(0, 8, 2, num_stages=3):
    ...     total += k
    >>> total
    12"""

def ravel(x: Any, can_reorder: Any = False) -> tensor:
    """The elements of `x` as a tile of one axis, in row-major order.

    >>> tl.ravel(tl.reshape(tl.arange(0, 4), (2, 2)))
    [0, 1, 2, 3]"""

def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
    """`input` (a tile, or a tuple of tiles of one shape) reduced along `axis` by the jit function `combine_fn`.

    `combine_fn` takes two values (2n for n tiles, first the n of one group, then of the other) and returns one
    (n); it must be associative. Axis None reduces all axes; `keep_dims` keeps them with extent 1.

    >>> @triton.jit
    ... def larger(a, b):
    ...     return tl.where(a > b, a, b)
    >>> tl.reduce(tl.arange(0, 6).reshape(2, 3), 1, larger)
    [2, 5]"""

def reduce_or(input: Any, axis: Any = None, keep_dims: Any = False) -> tensor:
    """Bitwise or of the elements along `axis` (None: all of them); integers only.

    >>> tl.reduce_or(tl.arange(0, 6), axis=0)
    7"""

def reshape(input: Any, *shape: Any, can_reorder: Any = False) -> tensor:
    """`input` in another shape of equally many elements, in row-major order.

    `shape` is one tuple or one number per axis; one extent may be -1. `can_reorder` allows any order; here the
    order is always kept.

    >>> tl.reshape(tl.arange(0, 6), 3, 2)
    [[0, 1], [2, 3], [4, 5]]"""

def rsqrt(x: Any) -> tensor:
    """1 / sqrt(x) per element; NaN below 0, inf at +0.0.

    >>> tl.rsqrt(tl.load(x + 4))
    0.5"""

def sigmoid(x: Any) -> tensor:
    """``1 / (1 + exp(-x))`` of fp32 or fp64.

    >>> tl.sigmoid(tl.load(x))
    0.5"""

def sin(x: Any) -> tensor:
    """Sine of x (radians) per element.

    >>> tl.sin(tl.load(x))
    0.0"""

def softmax(
    x: Any,
    dim: Any = None,
    keep_dims: Any = False,
    ieee_rounding: Any = False,
) -> tensor:
    """exp(x) over its sum along `dim` (0 by default), with the maximum subtracted first.

    Maximum and sum have the reduced axis removed unless `keep_dims`, so a tile with several axes needs
    ``keep_dims=True`` unless `dim` is 0.

    >>> tl.softmax(tl.load(x + tl.arange(0, 4)) * 0.0)
    [0.25, 0.25, 0.25, 0.25]"""

def sort(x: Any, dim: Any = None, descending: Any = False) -> tensor:
    """`x` in order along axis `dim` (None: the last). NaN comes last, first if `descending`.

    >>> tl.sort(tl.arange(0, 4) * 3 % 4)
    [0, 1, 2, 3]"""

def split(a: Any) -> tuple[tensor, tensor]:
    """The two halves of a tile whose last axis has extent 2: elements 0 and elements 1 of that axis.

    >>> tl.split(tl.reshape(tl.arange(0, 4), (2, 2)))
    ([0, 2], [1, 3])"""

def sqrt(x: Any) -> tensor:
    """Square root of x per element; NaN below 0. `precise` asks for correct rounding on every backend.

    >>> tl.sqrt(tl.load(x + 4))
    2.0"""

def sqrt_rn(x: Any) -> tensor:
    """Correctly rounded square root of fp32 numbers.

    >>> tl.sqrt_rn(tl.load(x + 2))
    1.4142135"""

def squeeze(x: Any, dim: Any) -> tensor:
    """`x` without its axis `dim`, which has extent 1.

    >>> tl.squeeze(tl.load(i + tl.arange(0, 2))[None, :], 0)
    [0, 1]"""

def static_assert(cond: Any, msg: Any = '') -> None:
    """Stop the compilation with the text `msg` if `cond`, known at compile time, is false.

    While tuning, a configuration that fails so is left out.

    >>> tl.static_assert(tl.arange(0, 8).numel == 8, "eight lanes")"""

def static_print(
    *values: Any,
    sep: Any = ' ',
    end: Any = '\n',
    file: Any = None,
    flush: Any = False,
) -> None:
    """Print `values` when the kernel is compiled, as Python's print does; a run-time value shows its type.

    >>> tl.static_print("lanes", tl.arange(0, 8).shape[0], tl.float16)
    lanes 8 fp16"""

def static_range(arg1: Any, arg2: Any = None, step: Any = None) -> Any:
    """What an unrolled `for` loops over: Python's range of compile-time integers; the variable is a constexpr.

    >>> total = 0
    >>> for k in tl.static_range(4):   # unrolled: k is a compile-time number
    ...     total += k
    >>> total
    6"""

def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = '',
    eviction_policy: Any = '',
) -> None:
    """Write `value`, converted to the element type, where `pointer` points.

    Lanes whose `mask` is false write nothing. Value and mask are broadcast to the pointer's shape. For block
    pointers, `boundary_check` names the axes along which what lies outside is dropped.

    >>> lanes = tl.arange(0, 4)
    >>> tl.store(x + lanes, 9.0, mask=lanes < 3)
    >>> x
    [9.0, 9.0, 9.0, 3.0, 4.0, 5.0, 6.0, 7.0]"""

def store_tensor_descriptor(desc: Any, offsets: Any, value: Any) -> None:
    """The same as ``desc.store(offsets, value)``.

    >>> d = tl.make_tensor_descriptor(x, [2, 4], [4, 1], [1, 4])
    >>> tl.store_tensor_descriptor(d, [1, 0], tl.zeros((1, 4), tl.float32))
    >>> x
    [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]"""

def sub(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """x minus y per element. Integers wrap, int1 subtracts modulo 2, floats round once.

    A pointer minus an integer moves back by that many elements.

    >>> 10 - tl.arange(0, 3)
    [10, 9, 8]"""

def sum(input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> tensor:
    """Sum of the elements along `axis` (None: all of them).

    Integers narrower than 32 bits are summed as int32 or uint32; anything else, fp16 and bf16 included, in its own
    type, or in `dtype` where that is given.

    >>> tl.sum(tl.arange(0, 5), axis=0)
    10"""

def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[tensor, tensor]:
    """The position (i, j) of a row-major `size_i` x `size_j` matrix, moved so that groups of `size_g` rows are walked
    column by column.

    Neighbouring program instances then share rows and columns of a matrix product, which the L2 cache likes. With
    four rows, four columns and groups of two, the position of the row-major number n in the new order is ::

        0  2  4  6
        1  3  5  7
        8 10 12 14
        9 11 13 15

    >>> tl.swizzle2d(tl.load(i), tl.load(i + 1), 4, 4, 2)
    (1, 0)"""

def to_tensor(x: Any) -> tensor:
    """`x` as a run-time value; a Python number gets the type it has as a literal, and is no longer weak.

    >>> tl.to_tensor(3).dtype
    int32"""

def topk(x: Any, k: Any, dim: Any = None, descending: Any = True) -> tensor:
    """The `k` largest elements along axis `dim` (None: the last), largest first; the smallest if not `descending`.

    `k` is any number from 1 to the extent of the axis. Where it is less than that, the result has the type of tl.max:
    fp32 for narrower floats, int32 for narrower integers.

    >>> tl.topk(tl.arange(0, 5), 2)
    [4, 3]"""

def trans(input: Any, *dims: Any) -> tensor:
    """The axes of `input` in the order `dims`; without `dims`, the last two axes change places.

    >>> tl.trans(tl.reshape(tl.arange(0, 4), (2, 2)))
    [[0, 2], [1, 3]]"""

def uint_to_uniform_float(x: Any) -> tensor:
    """Random words of 32 or 64 bits as fp32 numbers, uniform in [0, 1).

    >>> tl.uint_to_uniform_float(tl.randint(42, tl.arange(0, 3)))
    [0.77408016, 0.024562696, 0.3482663]"""

def umulhi(x: Any, y: Any) -> tensor:
    """High half of the product of x and y, read as unsigned 32- or 64-bit numbers.

    >>> tl.umulhi(tl.load(i + 6).to(tl.uint32), tl.full((), 2**31, tl.uint32))
    3"""

def unsqueeze(x: Any, dim: Any) -> tensor:
    """`x` with a new axis of extent 1 at position `dim` of the result.

    >>> tl.unsqueeze(tl.arange(0, 2), 1)
    [[0], [1]]"""

def view(input: Any, *shape: Any) -> tensor:
    """The same as tl.reshape.

    >>> tl.view(tl.arange(0, 4), (2, 2))
    [[0, 1], [2, 3]]"""

def where(condition: Any, x: Any, y: Any) -> tensor:
    """x where `condition` (i1) holds, else y, per element. Both are evaluated; pointers may be chosen too.

    A Python number takes the type of the other value: ``tl.where(m, h, 1.5)`` with fp16 h is fp16.

    >>> tl.where(tl.arange(0, 4) < 2, 1, 0)
    [1, 1, 0, 0]"""

def xor_sum(input: Any, axis: Any = None, keep_dims: Any = False) -> tensor:
    """Exclusive or of the elements along `axis` (None: all of them); integers only.

    >>> tl.xor_sum(tl.arange(0, 4), axis=0)
    0"""

def zeros(shape: Any, dtype: Any) -> tensor:
    """A tile of `shape` and type `dtype` filled with zero.

    >>> tl.zeros((3,), tl.float32)
    [0.0, 0.0, 0.0]"""

def zeros_like(input: Any) -> tensor:
    """Zeros of the shape and type of `input`.

    >>> tl.zeros_like(tl.arange(0, 2))
    [0, 0]"""

def extern_elementwise(
    lib_name: Any,
    lib_path: Any,
    args: Any,
    arg_type_symbol_dict: Any,
    is_pure: Any,
) -> tensor:
    """The library function that `arg_type_symbol_dict` names for the types of `args`, element by element.

    The dictionary maps a tuple of argument types to a symbol and a result type. Symbols are those of NVIDIA's device
    library (``__nv_sinf``); the library itself is not read, so `lib_name` and `lib_path` do not matter.

    >>> @tl.core.extern
    ... def root(a, _semantic=None):
    ...     types = {(tl.float32,): ("__nv_sqrtf", tl.float32)}
    ...     return tl.core.extern_elementwise("", "", [a], types, is_pure=True, _semantic=_semantic)
    >>> root(tl.load(x + 4))
    2.0"""
