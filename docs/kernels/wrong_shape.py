"""A program with a mistake, for the page on errors."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_bias(tile, bias):
    return tile + bias


@triton.jit
def kernel(x_ptr, bias_ptr):
    rows, cols = tl.arange(0, 8), tl.arange(0, 4)
    x = tl.load(x_ptr + rows[:, None] * 4 + cols[None, :])
    bias = tl.load(bias_ptr + rows)
    tl.store(x_ptr + rows[:, None] * 4 + cols[None, :], add_bias(x, bias))


kernel[(1,)](np.zeros((8, 4), np.float32), np.zeros(8, np.float32))
