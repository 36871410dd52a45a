"""Broken programs: what users really write, and the line and kind that the error must name.

Each program is a whole script that fails when it is run; the offending line is marked in the text below and
the mark is taken out. Errors of a launch name the line of the launch, all others a line of a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "syntax": "a construct that kernels do not have",
    "type": "element types, pointers and arguments that do not fit",
    "shape": "block shapes that do not fit",
    "name": "names that stand for nothing",
    "constexpr": "a value that must be known at compile time, or whose compile-time value is refused",
    "launch": "arguments and grids that a launch cannot take",
}
"""Every kind of error, and what it covers."""

MARK = "  #!"

HEADER = """\
import numpy as np

import tritium as triton
import tritium.language as tl

"""


@dataclass(frozen=True)
class Broken:
    """A script that must fail with a located error."""

    name: str
    kind: str
    source: str
    line: int
    """1-based line of ``source`` that the error must name."""
    mentions: tuple[str, ...]
    """Texts that the message must contain: the culprit's name, what was expected, what came."""


def _broken(name: str, kind: str, body: str, *mentions: str) -> Broken:
    if kind not in KINDS:
        raise ValueError(f"broken program {name} has the unknown kind {kind!r}")
    lines = (HEADER + body).splitlines()
    marked = [number for number, line in enumerate(lines, start=1) if line.endswith(MARK)]
    if len(marked) != 1:
        raise ValueError(f"broken program {name} needs one marked line, has {len(marked)}")
    source = "\n".join(line.removesuffix(MARK) for line in lines) + "\n"
    return Broken(name, kind, source, marked[0], mentions)


SYNTAX = [
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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

TYPE = [
    _broken(
        "pointer_plus_float",
        "type",
        """
@triton.jit
def kernel(x_ptr, n):
    half = n / 2
    x = tl.load(x_ptr + half)  #!
    tl.store(x_ptr, x)


kernel[(1,)](np.ones(8, np.float32), 8)
""",
        "fp32",
    ),
    _broken(
        "pointer_plus_pointer",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + y_ptr + at, x)  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8)
""",
        "pointer",
    ),
    _broken(
        "forgot_to_load",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = x_ptr + at
    y = tl.exp(x)  #!
    tl.store(y_ptr + at, y)


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8)
""",
        "pointer",
    ),
    _broken(
        "store_without_pointer",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(at, x)  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8)
""",
        "pointer",
        "int32",
    ),
    _broken(
        "mask_is_no_bool",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    left = n - at
    x = tl.load(x_ptr + at, mask=left, other=0.0)  #!
    tl.store(y_ptr + at, x)


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), 5, BLOCK=8)
""",
        "mask",
        "int32",
    ),
    _broken(
        "other_without_mask",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, other=0.0)  #!
    tl.store(y_ptr + at, x)


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8)
""",
        "mask",
    ),
    _broken(
        "branch_on_a_block",
        "type",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    if x > 0:  #!
        x = x * 2
    tl.store(x_ptr + at, x)


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "tl.where",
    ),
    _broken(
        "bit_operation_on_floats",
        "type",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, x & 1)  #!


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "fp32",
    ),
    _broken(
        "literal_does_not_fit",
        "type",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, x + 300)  #!


kernel[(1,)](np.ones(8, np.int8), BLOCK=8)
""",
        "300",
        "int8",
    ),
    _broken(
        "dot_of_two_types",
        "type",
        """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    tl.store(c_ptr + at, tl.dot(a, b))  #!


a, b, c = np.ones((16, 16), np.float16), np.ones((16, 16), np.float32), np.ones((16, 16), np.float32)
kernel[(1,)](a, b, c, BLOCK=16)
""",
        "fp16",
        "fp32",
    ),
    _broken(
        "accumulator_changes_type",
        "type",
        """
@triton.jit
def kernel(x_ptr, out_ptr, n):
    total = 0
    for i in range(n):
        total += tl.load(x_ptr + i)  #!
    tl.store(out_ptr, total)


kernel[(1,)](np.ones(8, np.float32), np.ones(1, np.float32), 8)
""",
        "total",
        "int32",
        "fp32",
    ),
    _broken(
        "bitcast_to_another_width",
        "type",
        """
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    bits = x.to(tl.int16, bitcast=True)  #!
    tl.store(y_ptr + at, bits)


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.int16), BLOCK=8)
""",
        "fp32",
        "int16",
    ),
    _broken(
        "atomic_on_bytes",
        "type",
        """
@triton.jit
def kernel(count_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    one = tl.full((BLOCK,), 1, tl.int8)
    tl.atomic_add(count_ptr + at, one)  #!


kernel[(1,)](np.zeros(8, np.int8), BLOCK=8)
""",
        "int8",
    ),
    _broken(
        "missing_operand",
        "type",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, tl.where(x > 0, x))  #!


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "where",
    ),
]

SHAPE = [
    _broken(
        "add_two_lengths",
        "shape",
        """
@triton.jit
def kernel(x_ptr, y_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    y = tl.load(y_ptr + tl.arange(0, 16))
    tl.store(x_ptr + tl.arange(0, 8), x + y)  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(16, np.float32))
""",
        "8",
        "16",
    ),
    _broken(
        "mask_of_the_other_axis",
        "shape",
        """
@triton.jit
def kernel(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    at = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + at, mask=rows < M, other=0.0)  #!
    tl.store(y_ptr + at, x)


x = np.ones((8, 16), np.float32)
kernel[(1,)](x, x.copy(), 8, 16, ROWS=8, COLS=16)
""",
        "mask",
    ),
    _broken(
        "dot_inner_sizes",
        "shape",
        """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr):
    i = tl.arange(0, 16)
    k = tl.arange(0, 32)
    a = tl.load(a_ptr + i[:, None] * 32 + k[None, :])
    b = tl.load(b_ptr + i[:, None] * 16 + i[None, :])
    c = tl.dot(a, b)  #!
    tl.store(c_ptr + i[:, None] * 16 + i[None, :], c)


kernel[(1,)](np.ones((16, 32), np.float16), np.ones((16, 16), np.float16), np.ones((16, 16), np.float32))
""",
        "32",
        "16",
    ),
    _broken(
        "block_into_one_address",
        "shape",
        """
@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, x)  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8)
""",
        "8",
    ),
    _broken(
        "accumulator_changes_shape",
        "shape",
        """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + tl.arange(0, BLOCK))  #!
    tl.store(out_ptr, tl.sum(total, axis=0))


kernel[(1,)](np.ones(32, np.float32), np.ones(1, np.float32), 32, BLOCK=8)
""",
        "total",
    ),
    _broken(
        "reduce_missing_axis",
        "shape",
        """
@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x, axis=1))  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(1, np.float32), BLOCK=8)
""",
        "axis",
    ),
    _broken(
        "reshape_to_another_size",
        "shape",
        """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pairs = tl.reshape(tl.load(x_ptr + at), (BLOCK, 2))  #!
    tl.store(x_ptr + at, tl.sum(pairs, axis=1))


kernel[(1,)](np.ones(8, np.float32), BLOCK=8)
""",
        "8",
        "16",
    ),
    _broken(
        "element_past_the_end",
        "shape",
        """
@triton.jit
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr, x[8])  #!


kernel[(1,)](np.ones(8, np.float32), np.ones(1, np.float32))
""",
        "8",
    ),
    _broken(
        "mistake_inside_a_helper",
        "shape",
        """
@triton.jit
def weighted(x, w):
    return x * w[:, None]  #!


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    x = tl.load(x_ptr + i[:, None] * 16 + j[None, :])
    w = tl.load(w_ptr + j)
    tl.store(out_ptr + i[:, None] * 16 + j[None, :], weighted(x, w))


x = np.ones((8, 16), np.float32)
kernel[(1,)](x, np.ones(16, np.float32), x.copy())
""",
        "weighted",
    ),
]

NAME = [
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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

CONSTEXPR = [
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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
    _broken(
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

BROKEN = [*SYNTAX, *TYPE, *SHAPE, *NAME, *CONSTEXPR, *LAUNCH]
