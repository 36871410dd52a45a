"""The promises A1 to A6 about matrix products as checks of wherever kernels run, with the bounds for compiled code.

The interpreter holds the exact figures (`tests/differential/test_promises.py`). Dots are IEEE; a compiler may contract and
order sums otherwise, so bounds stand here in place of digits. B14 and C10: shapes and masks of the seed documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.corpus.matmul import (
    WRONG_WITHOUT_K_MASK,
    dot_one_tile,
    matmul,
    matmul_accumulator_reset,
    matmul_fp16_accumulator,
    matmul_without_k_mask,
)
from tests.cuda_codegen.seed_kernels import matmul_loop, matmul_tile, tiles
from tests.differential.test_promises import exact, padded_operands, product, ramp

Array = np.ndarray[Any, Any]


def halves(k: int) -> tuple[Array, Array]:
    """Operands of the precision promises: small normal numbers in fp16."""
    rng = np.random.default_rng(0)
    return tuple((rng.standard_normal(s) * 0.1).astype(np.float16) for s in ((4, k), (k, 4)))  # type: ignore[return-value]


def a1() -> None:
    """Tiles of 4, two steps along K."""
    a, b = ramp(8, 8), ramp(8, 8)
    assert np.abs(product(matmul, a, b, (4, 4, 4)) - exact(a, b)).max() < 2e-5


def a2() -> None:
    """No extent is a multiple of its tile."""
    a, b = ramp(5, 7), ramp(7, 6)
    assert np.abs(product(matmul, a, b, (4, 4, 4)) - exact(a, b)).max() < 5e-6


def a3() -> None:
    """Padding is summed without the K mask, and not with it."""
    a, b = padded_operands()
    wrong = product(matmul_without_k_mask, a, b, (4, 4, 4))
    assert np.abs(wrong - WRONG_WITHOUT_K_MASK).max() <= 0.25
    assert np.allclose(product(matmul, a, b, (4, 4, 4)), exact(a, b), atol=1e-4)


def a4() -> None:
    """An accumulator of fp16 loses digits, more of them the longer the sum."""
    a, b = halves(1024)
    wide = np.abs(product(matmul, a, b, (4, 4, 8), np.float16) - exact(a, b)).max()
    narrow = np.abs(product(matmul_fp16_accumulator, a, b, (4, 4, 8), np.float16) - exact(a, b)).max()
    assert wide < 5e-4 and narrow > 4 * wide
    a, b = halves(4096)
    assert np.abs(product(matmul, a, b, (4, 4, 8)) - exact(a, b)).max() < 1e-5
    longer = np.abs(product(matmul_fp16_accumulator, a, b, (4, 4, 8), np.float16) - exact(a, b)).max()
    assert longer > narrow


def a5() -> None:
    """The three lessons after one another, in one process."""
    a1()
    a3()
    a4()


def a5b() -> None:
    """An accumulator made in the loop keeps the last tile's product."""
    a, b = ramp(4, 12), ramp(12, 4)
    c = product(matmul_accumulator_reset, a, b, (4, 4, 4))
    assert np.allclose(c, a[:, 8:] @ b[8:], rtol=1e-6) and not np.allclose(c, a @ b, rtol=1e-3)


def a6() -> None:
    """The smallest dot."""
    a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    c = np.zeros((2, 2), np.float32)
    dot_one_tile[(1,)](a, b, c, M=2, N=2, K=2)
    assert c.tolist() == [[19.0, 22.0], [43.0, 50.0]]


def seed_product(kernel: Any, tile: tuple[int, int, int], sizes: tuple[int, int, int], kind: Any) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    a, b = rng.standard_normal((m, k)).astype(kind), rng.standard_normal((k, n)).astype(kind)
    around = np.full(m * n + 64, np.nan, np.float32)
    c = around[32:-32].reshape(m, n)
    kernel[(-(-m // tile[0]), -(-n // tile[1]))](a, b, c, m, n, k, **tiles(*tile))
    wide = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_allclose(c, wide[0] @ wide[1], rtol=1e-4, atol=1e-4)
    assert np.isnan(around[:32]).all() and np.isnan(around[-32:]).all(), "a store outside of the result"


def b14() -> None:
    """One K tile; several; partial M, N, K; (8, 8) and (16, 16)."""
    for tile in ((8, 8, 8), (16, 16, 16)):
        seed_product(matmul_tile, tile, (tile[0], tile[1], tile[2]), np.float32)
        for sizes in ((16, 16, 64), (13, 24, 33), (37, 41, 7), (1, 1, 1)):
            seed_product(matmul_loop, tile, sizes, np.float32)


def c10() -> None:
    """Copies with zero fill at ragged edges on both sides, and an odd tile."""
    for tile in ((16, 16, 8), (3, 17, 5), (4, 8, 16)):
        seed_product(matmul_loop, tile, (29, 31, 19), np.float32)


def c13() -> None:
    """fp16 and bf16 inputs, sums in fp32."""
    for kind in (np.float16, ml_dtypes.bfloat16):
        seed_product(matmul_loop, (16, 16, 16), (50, 20, 100), kind)


PROMISES: dict[str, Callable[[], None]] = {
    f.__name__.upper().replace("5B", "5b"): f for f in (a1, a2, a3, a4, a5, a5b, a6, b14, c10, c13)
}
