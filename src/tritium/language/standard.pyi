# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

_log2: Any
_is_power_of_two: Any
def argmax(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
    """The int32 index of the largest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmax(tl.flip(tl.arange(0, 5), 0), axis=0)
    0"""

def argmin(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> tensor:
    """The int32 index of the smallest element along `axis`; a NaN wins only where all are NaN.

    >>> tl.argmin(tl.flip(tl.arange(0, 5), 0), axis=0)
    4"""

def bitonic_merge(x: Any, dim: Any = None, descending: Any = False) -> tensor:
    """`x`, whose elements along axis `dim` first rise and then fall (or are rotated so), in order.

    >>> tl.bitonic_merge(tl.cat(tl.arange(0, 2), tl.flip(tl.arange(0, 2), 0)))
    [0, 0, 1, 1]"""

def cdiv(x: Any, div: Any) -> tensor:
    """Quotient rounded up for positive integers: ``(x + div - 1) // div``. Of two numbers it is an int32 tensor.

    >>> tl.cdiv(tl.load(i + 7), 4)
    2"""

def cumprod(input: Any, axis: Any = 0, reverse: Any = False) -> tensor:
    """Running product along `axis`, from the end if `reverse`; bf16 is computed as fp32, other types as they are.

    >>> tl.cumprod(tl.arange(1, 5), axis=0)
    [1, 2, 6, 24]"""

def cumsum(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> tensor:
    """Running sum along `axis`, from the end if `reverse`.

    Integers narrower than 32 bits are summed as int32 or uint32 and bf16 as fp32, or all in `dtype` where given.

    >>> tl.cumsum(tl.arange(0, 4), axis=0)
    [0, 1, 3, 6]"""

def flip(x: Any, dim: Any = None) -> tensor:
    """`x` with its elements along axis `dim` in the opposite order. A tile of one axis needs no `dim`.

    >>> tl.flip(tl.arange(0, 3))
    [2, 1, 0]"""

def interleave(a: Any, b: Any) -> tensor:
    """The elements of `a` and `b` by turns along the last axis.

    >>> tl.interleave(tl.arange(0, 2), tl.arange(10, 12))
    [0, 10, 1, 11]"""

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

def ravel(x: Any, can_reorder: Any = False) -> tensor:
    """The elements of `x` as a tile of one axis, in row-major order.

    >>> tl.ravel(tl.reshape(tl.arange(0, 4), (2, 2)))
    [0, 1, 2, 3]"""

def reduce_or(input: Any, axis: Any = None, keep_dims: Any = False) -> tensor:
    """Bitwise or of the elements along `axis` (None: all of them); integers only.

    >>> tl.reduce_or(tl.arange(0, 6), axis=0)
    7"""

def sigmoid(x: Any) -> tensor:
    """``1 / (1 + exp(-x))`` of fp32 or fp64.

    >>> tl.sigmoid(tl.load(x))
    0.5"""

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

def topk(x: Any, k: Any, dim: Any = None, descending: Any = True) -> tensor:
    """The `k` largest elements along axis `dim` (None: the last), largest first; the smallest if not `descending`.

    `k` is any number from 1 to the extent of the axis. Where it is less than that, the result has the type of tl.max:
    fp32 for narrower floats, int32 for narrower integers.

    >>> tl.topk(tl.arange(0, 5), 2)
    [4, 3]"""

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
