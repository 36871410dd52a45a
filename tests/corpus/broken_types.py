"""Programs whose element types, pointers or arguments do not fit."""

from __future__ import annotations

from .broken_program import broken

TYPE = [
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
