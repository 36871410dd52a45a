"""The kernel that the chapter on the pipeline follows through the compiler."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(acc))


if __name__ == "__main__":
    x = np.arange(30, dtype=np.float32).reshape(3, 10)
    out = np.zeros(3, dtype=np.float32)
    sum_rows[(3,)](x, out, 10, BLOCK=4)
    print(out)
