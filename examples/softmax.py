"""Softmax of each row, in one pass over memory.

    tritium run examples/softmax.py

NumPy reads and writes the matrix once per step (max, subtract, exp, sum, divide). Here one program holds a
whole row, so the row is read once and written once.
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row_stride, out_row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    # Lanes past the end read -inf: it never is the maximum, and exp makes it 0 in the sum.
    x = tl.load(x_ptr + row * x_row_stride + cols, mask=cols < columns, other=-float("inf"))
    # Without this subtraction exp overflows for inputs above 88.
    weights = tl.exp(x - tl.max(x, axis=0))
    out = weights / tl.sum(weights, axis=0)
    tl.store(out_ptr + row * out_row_stride + cols, out, mask=cols < columns)


def softmax(x: np.ndarray) -> np.ndarray:
    rows, columns = x.shape
    out = np.empty_like(x)
    softmax_kernel[(rows,)](
        x, out, x.strides[0] // x.itemsize, out.strides[0] // out.itemsize, columns,
        BLOCK=triton.next_power_of_2(columns),
    )  # fmt: skip
    return out


def main() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (37, 781), (128, 1000)):
        x = (rng.standard_normal((rows, columns)) * 100).astype(np.float32)
        exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        exact /= exact.sum(axis=1, keepdims=True)
        out = softmax(x)
        error = np.abs(out - exact).max()
        assert error < 2e-6, f"{rows}x{columns}: error {error:.1e} is too large"
        print(f"softmax: {rows:>4} x {columns:<4} max error {error:.1e}, rows sum to 1 within "
              f"{np.abs(out.sum(axis=1, dtype=np.float64) - 1).max():.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
