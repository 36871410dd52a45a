"""Programs with constructs that kernels do not have."""

from __future__ import annotations

from .broken_program import broken

SYNTAX = [
    broken(
        "lambda_in_kernel",
        "syntax",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    double = lambda v: v * 2  #!
    tl.store(x_ptr + at, double(tl.load(x_ptr + at)))


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "lambda",
    ),
    broken(
        "try_except",
        "syntax",
        """
@triton.jit
def kernel(x_ptr, y_ptr):
    x = tl.load(x_ptr)
    try:  #!
        y = 1 / x
    except ZeroDivisionError:
        y = 0.0
    tl.store(y_ptr, y)


kernel[(1,)](np.ones(1, np.float32), np.ones(1, np.float32))
""",
        "try",
    ),
    broken(
        "nested_function",
        "syntax",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)

    def square(v):  #!
        return v * v

    tl.store(x_ptr + at, square(tl.load(x_ptr + at)))


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "square",
    ),
    broken(
        "import_in_kernel",
        "syntax",
        """
@triton.jit
def kernel(x_ptr):
    import math  #!

    tl.store(x_ptr, math.pi)


kernel[(1,)](np.ones(1, np.float32))
""",
        "import",
    ),
    broken(
        "dictionary",
        "syntax",
        """
@triton.jit
def kernel(x_ptr):
    scales = {"small": 1.0, "large": 2.0}  #!
    tl.store(x_ptr, tl.load(x_ptr) * scales["large"])


kernel[(1,)](np.ones(1, np.float32))
""",
    ),
    broken(
        "assign_to_element",
        "syntax",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    x[0] = 1.0  #!
    tl.store(x_ptr + at, x)


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "tl.where",
    ),
    broken(
        "with_open_file",
        "syntax",
        """
@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    with open("log.txt") as log:  #!
        log.write("here")
    tl.store(x_ptr, x)


kernel[(1,)](np.ones(1, np.float32))
""",
        "with",
    ),
    broken(
        "generator",
        "syntax",
        """
@triton.jit
def kernel(x_ptr, n):
    total = sum(tl.load(x_ptr + i) for i in range(n))  #!
    tl.store(x_ptr, total)


kernel[(1,)](np.ones(8, np.float32), 8)
""",
    ),
    broken(
        "endless_recursion",
        "syntax",
        """
@triton.jit
def factorial(n):
    if n <= 1:
        return n
    return n * factorial(n - 1)  #!


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, factorial(n))


kernel[(1,)](np.ones(1, np.int32), 5)
""",
        "factorial",
    ),
]
