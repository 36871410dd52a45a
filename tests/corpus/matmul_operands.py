"""Inputs, references and error bounds shared by the matmul families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import DTYPES, element_strides, is_float, normals, placed, poisoned
from .protocol import Args, Launch
from .rounding import narrow, tolerance, wide

Grid = Callable[[int, int], tuple[int, ...]]
Strides = Sequence[int] | None


def tiles(rows: int, cols: int) -> Grid:
    """The 2-D grid of output tiles."""
    return lambda m, n: (-(-m // rows), -(-n // cols))


def flat_tiles(rows: int, cols: int) -> Grid:
    """One grid axis over all output tiles."""
    return lambda m, n: (-(-m // rows) * -(-n // cols),)


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Operands of unit variance; integer types over their whole range."""
    if is_float(dtype):
        return normals(rng, shape, dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def strided_args(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Args:
    """Pointers, sizes and strides under the names that the matmul kernels use."""
    args: Args = {"a_ptr": a, "b_ptr": b, "c_ptr": c, "M": a.shape[0], "N": b.shape[1], "K": a.shape[1]}
    args["stride_am"], args["stride_ak"] = element_strides(a)
    args["stride_bk"], args["stride_bn"] = element_strides(b)
    args["stride_cm"], args["stride_cn"] = element_strides(c)
    return args


def matmul_launch(
    shape: tuple[int, int, int],
    grid: Grid,
    dtype: str = "f32",
    out: str | None = None,
    strides: tuple[Strides, Strides, Strides] = (None, None, None),
    dtype_b: str | None = None,
):
    """A ``make`` for ``c[M, N] = a[M, K] @ b[K, N]``; ``shape`` is (M, N, K), ``strides`` are of a, b, c.

    A zero stride repeats the operand's first row or column.
    """

    def make(rng: np.random.Generator) -> Launch:
        m, n, k = shape
        operands = []
        for extents, name, steps in (((m, k), dtype, strides[0]), ((k, n), dtype_b or dtype, strides[1])):
            matrix = values(rng, extents, DTYPES[name])
            if steps is not None:
                matrix = matrix[: 1 if steps[0] == 0 else None, : 1 if steps[1] == 0 else None]
                matrix = np.broadcast_to(matrix, extents)
            operands.append(placed(matrix, steps))
        c = poisoned((m, n), DTYPES[out or dtype], strides[2])
        return Launch(strided_args(operands[0], operands[1], c), grid(m, n))

    return make


def product(args: Args) -> dict[str, np.ndarray]:
    """``a @ b``, exact for integers, in float64 for floats."""
    a, b, c = args["a_ptr"], args["b_ptr"], args["c_ptr"]
    if not is_float(a.dtype):
        return {"c_ptr": (a.astype(np.int64) @ b.astype(np.int64)).astype(c.dtype)}
    return {"c_ptr": narrow(wide(a) @ wide(b), c.dtype)}


def limits(dtype: str, k: int) -> dict[str, float]:
    """Error bound of a product summed over ``k`` terms in fp32 (fp64 for f64) and stored as ``dtype``."""
    return tolerance(DTYPES[dtype], terms=k)
