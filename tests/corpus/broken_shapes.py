"""Programs whose block shapes do not fit."""

from __future__ import annotations

from .broken_program import broken

SHAPE = [
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
    broken(
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
