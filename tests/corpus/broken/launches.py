"""Broken programs: arguments and grids that a launch cannot take."""

from __future__ import annotations

from .model import broken

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
        "4",
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
