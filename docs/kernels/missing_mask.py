"""A kernel with a mask that bounds one axis of two: `tritium check` says which one it lacks."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, out_ptr, rows, cols, stride, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None] * stride + c[None, :], mask=r[:, None] < rows, other=0.0)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    tl.store(out_ptr + r[:, None] * cols + c[None, :], x / tl.sum(x, axis=1)[:, None], mask=inside)


if __name__ == "__main__":
    padded = np.full((6, 8), 999, np.float32)
    padded[:, :5] = 2
    out = np.zeros((6, 5), np.float32)
    scale_rows[(2,)](padded[:, :5], out, 6, 5, 8, BLOCK=8)
    print(out[0])
