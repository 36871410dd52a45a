"""Programs with names that stand for nothing a kernel can use."""

from __future__ import annotations

from .broken_program import broken

NAME = [
    broken(
        "misspelt_variable",
        "name",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + ofsets, mask=offsets < n)  #!
    tl.store(x_ptr + offsets, x, mask=offsets < n)


kernel[(1,)](np.ones(8, np.float32), 8, BLOCK=8)
""",
        "ofsets",
        "offsets",
    ),
    broken(
        "misspelt_operation",
        "name",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.laod(x_ptr + at)  #!
    tl.store(x_ptr + at, x)


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "laod",
        "load",
    ),
    broken(
        "unknown_keyword",
        "name",
        """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, masked=at < n)  #!
    tl.store(x_ptr + at, x, mask=at < n)


kernel[(1,)](np.ones(8, np.float32), 8, BLOCK=8)
""",
        "masked",
        "mask",
    ),
    broken(
        "defined_in_one_branch",
        "name",
        """
@triton.jit
def kernel(x_ptr, n):
    if n > 4:
        factor = 2.0
    tl.store(x_ptr, tl.load(x_ptr) * factor)  #!


kernel[(1,)](np.ones(8, np.float32), 8)
""",
        "factor",
    ),
    broken(
        "numpy_in_a_kernel",
        "name",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, np.exp(x))  #!


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "tl.exp",
    ),
    broken(
        "helper_without_jit",
        "name",
        """
def double(x):
    return x * 2


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, double(tl.load(x_ptr + at)))  #!


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "double",
        "jit",
    ),
    broken(
        "unknown_method",
        "name",
        """
@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, x.mean())  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(1, np.float32), BLOCK=8)
""",
        "mean",
    ),
]
