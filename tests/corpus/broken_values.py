"""Programs with refused compile-time values, and launches that cannot be made."""

from __future__ import annotations

from .broken_program import broken

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

LAUNCH = [
    broken(
        "missing_argument",
        "launch",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)


x = np.ones(8, np.float32)
kernel[(1,)](x, BLOCK=8)  #!
""",
        "n",
    ),
    broken(
        "misspelt_argument",
        "launch",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)


x = np.ones(8, np.float32)
kernel[(1,)](x, 8, BLOK=8)  #!
""",
        "BLOK",
        "BLOCK",
    ),
    broken(
        "too_many_arguments",
        "launch",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0)


x = np.ones(8, np.float32)
kernel[(1,)](x, 8, 16, 32)  #!
""",
        "kernel",
    ),
    broken(
        "called_without_a_grid",
        "launch",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0)


x = np.ones(8, np.float32)
kernel(x, BLOCK=8)  #!
""",
        "kernel",
        "grid",
    ),
    broken(
        "grid_of_four",
        "launch",
        """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)


x = np.ones(8, np.float32)
kernel[(1, 1, 1, 2)](x)  #!
""",
        "grid",
        "(1, 1, 1, 2)",
    ),
    broken(
        "fractional_grid",
        "launch",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)


x = np.ones(20, np.float32)
kernel[(20 / 8,)](x, 20, BLOCK=8)  #!
""",
        "2.5",
        "cdiv",
    ),
    broken(
        "text_as_a_pointer",
        "launch",
        """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)


x = "not an array"
kernel[(1,)](x)  #!
""",
        "x_ptr",
        "str",
    ),
    broken(
        "complex_array",
        "launch",
        """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) * 2)


x = np.ones(8, np.complex64)
kernel[(1,)](x)  #!
""",
        "x_ptr",
        "complex64",
    ),
    broken(
        "integer_beyond_64_bits",
        "launch",
        """
@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, n)


x = np.ones(8, np.int64)
kernel[(1,)](x, 2**70)  #!
""",
        "n",
    ),
]
