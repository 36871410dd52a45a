"""Matrix products with the operand and accumulator formats of the language.

f32 products are IEEE (multiplied and summed in f32 by BLAS), unless a reduced precision is asked for. f16,
bf16 and the 8-bit floats multiply exactly in f32 and sum in f32; a narrower result is rounded once, after
the accumulator is added. Integers of up to 16 bits are exact: they go through float BLAS where every
partial sum fits the significand. The order of summation inside one product is that of BLAS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tritium.numerics.blocks import quiet
from tritium.numerics.convert import narrow, widen
from tritium.numerics.formats import Array, Format, format_of, stored
from tritium.numerics.relaxed import SPLIT_PRODUCTS, split, truncate_tf32

PRECISIONS = ("ieee", "tf32", *SPLIT_PRODUCTS)


@quiet
def dot(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    fmt_a: str,
    fmt_b: str,
    out_fmt: str,
    precision: str = "ieee",
    acc: npt.ArrayLike | None = None,
) -> Array:
    """``acc + a @ b`` over any leading batch dimensions, which broadcast.

    Shapes: `a` [..., M, K], `b` [..., K, N], `acc` (in `out_fmt`) and the result [..., M, N]. The product
    is summed on its own and `acc` added to it. `precision` is one of `PRECISIONS` and applies where both
    operands are f32. Raises ValueError for unknown names, for an integer operand beside a float one, or a
    float product to an integer.
    """
    left, right, out = format_of(fmt_a), format_of(fmt_b), format_of(out_fmt)
    if precision not in PRECISIONS:
        raise ValueError(f"unknown dot precision {precision!r}; expected one of {', '.join(PRECISIONS)}")
    if left.is_integer != right.is_integer or (out.is_integer and not left.is_integer):
        raise ValueError(f"no dot of {fmt_a} and {fmt_b} with result {out_fmt}")
    x, y = _without_repeats(stored(a, left)), _without_repeats(stored(b, right))
    if left.is_integer:
        product = _integer_product(x, y, left, right)
        return _integer_result(product, out, acc)
    if "f64" in (left.name, right.name):
        product = _matmul(widen(x, left, "float64"), widen(y, right, "float64"))
    else:
        product = _float_product(
            widen(x, left), widen(y, right), precision if left.name == right.name == "f32" else "ieee"
        )
    if acc is not None:
        wide = "float64" if product.dtype.itemsize == 8 or out.name == "f64" else "float32"
        product = np.asarray(product + widen(stored(acc, out), out, wide))
    if out.name == "f64":
        return product.astype(np.float64, copy=False)
    return narrow(product, out)


def _float_product(x: Array, y: Array, precision: str) -> Array:
    if precision == "ieee":
        return _matmul(x, y)
    if precision == "tf32":
        return _matmul(truncate_tf32(x), truncate_tf32(y))
    left, right = split(x, precision), split(y, precision)
    *corrections, leading = SPLIT_PRODUCTS[precision]
    total = np.zeros((), np.float32)
    for i, j in corrections:
        total = np.add(total, _matmul(left[i], right[j]))
    # An infinity times the low part 0 of the other operand is NaN and must not reach the result.
    total = np.where(np.isnan(total), np.float32(0), total)
    return np.add(total, _matmul(left[leading[0]], right[leading[1]]))


def _integer_product(x: Array, y: Array, left: Format, right: Format) -> Array:
    largest = x.shape[-1] * max(left.max_int, -left.min_int) * max(right.max_int, -right.min_int)
    for dtype, exact in ((np.float32, 1 << 24), (np.float64, 1 << 53)):
        if largest <= exact:
            return _matmul(x.astype(dtype), y.astype(dtype))
    return np.asarray(np.matmul(x.astype(np.int64), y.astype(np.int64)))


def _integer_result(product: Array, out: Format, acc: npt.ArrayLike | None) -> Array:
    if out.is_integer:
        whole = product.astype(np.int64) if product.dtype.kind == "f" else product
        result = whole.astype(out.storage)
        return result if acc is None else np.asarray(np.add(result, stored(acc, out)))
    wide = product.astype(np.float64)
    if acc is not None:
        wide = np.asarray(wide + widen(stored(acc, out), out, "float64"))
    return narrow(wide, out)


def _without_repeats(x: Array) -> Array:
    """Batch dimensions that only repeat (stride 0) cut to one: nothing is converted or copied twice."""
    batch = x.ndim - 2
    if batch <= 0 or 0 not in x.strides[:batch]:
        return x
    index: tuple[Any, ...] = tuple(
        slice(0, 1) if stride == 0 else slice(None) for stride in x.strides[:batch]
    )
    return x[index]


def _matmul(x: Array, y: Array) -> Array:
    # Each matrix of the batch is one BLAS call. Merging the batch into one product where an operand is
    # shared would be up to 1.7 times faster, but BLAS picks its order of summation by shape, and then the
    # last bits of a program's result would depend on how many programs run beside it (measured: in a
    # quarter of random shapes).
    return np.asarray(np.matmul(_for_blas(x), _for_blas(y)))


def _for_blas(x: Array) -> Array:
    """`x` where BLAS can read its matrices in place, else a copy: the loops of NumPy are slow."""
    rows, columns = x.strides[-2:]
    size = x.itemsize
    if columns == size and rows % size == 0 and rows >= size * x.shape[-1]:
        return x
    if rows == size and columns % size == 0 and columns >= size * x.shape[-2]:
        return x
    return np.ascontiguousarray(x)
