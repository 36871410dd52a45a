"""Broken programs: values that must be known at compile time, or are refused there."""

from __future__ import annotations

from .model import broken

CONSTEXPR = [
    broken(
        "arange_of_an_argument",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, n):
    at = tl.arange(0, n)  #!
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


kernel[(1,)](np.ones(8, np.float32), 8)
""",
        "arange",
        "constexpr",
    ),
    broken(
        "shape_of_an_argument",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((n,), dtype=tl.float32)  #!
    tl.store(x_ptr + at, acc)


kernel[(1,)](np.ones(8, np.float32), 8, BLOCK=8)
""",
        "constexpr",
    ),
    broken(
        "unroll_an_argument",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, n):
    total = 0.0
    for i in tl.static_range(n):  #!
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)


kernel[(1,)](np.ones(8, np.float32), 8)
""",
        "static_range",
    ),
    broken(
        "failed_static_assert",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 16 == 0, "BLOCK must be a multiple of 16")  #!
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "BLOCK must be a multiple of 16",
    ),
    broken(
        "fractional_block_size",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)  #!
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


n = 16
kernel[(1,)](np.ones(8, np.float32), n, BLOCK=n / 2)
""",
        "8.0",
    ),
    broken(
        "fourth_grid_axis",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr):
    pid = tl.program_id(3)  #!
    tl.store(x_ptr + pid, 1.0)


kernel[(1,)](np.ones(8, np.float32))
""",
        "3",
    ),
    broken(
        "axis_of_an_argument",
        "constexpr",
        """
@triton.jit
def kernel(x_ptr, out_ptr, axis, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(out_ptr + i, tl.sum(x, axis=axis))  #!


kernel[(1,)](np.ones((8, 8), np.float32), np.ones(8, np.float32), 0, BLOCK=8)
""",
        "axis",
        "constexpr",
    ),
]
