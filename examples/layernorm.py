"""Layer norm over rows that are longer than one block.

    tritium run examples/layernorm.py

Three sweeps over the row: the mean, the variance around it, and the normalized output. The variance is taken
around the mean, not as E[x^2] - E[x]^2, because that difference cancels when the mean is large.
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, row_stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    y_ptr += row * row_stride

    # Every lane sums its own columns; the lanes are added up once, after the loop.
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns

    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < columns, other=0.0)
        # The lanes past the end hold 0, whose distance from the mean must not count.
        distance = tl.where(cols < columns, x - mean, 0.0)
        squares += distance * distance
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)

    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < columns
        x = tl.load(x_ptr + cols, mask=inside)
        weight = tl.load(weight_ptr + cols, mask=inside)
        bias = tl.load(bias_ptr + cols, mask=inside)
        tl.store(y_ptr + cols, (x - mean) * scale * weight + bias, mask=inside)


def layernorm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    rows, columns = x.shape
    y = np.empty_like(x)
    layernorm_kernel[(rows,)](x, weight, bias, y, columns, columns, eps, BLOCK=256)
    return y


def main() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 40), (31, 1000), (64, 4099)):
        x = (rng.standard_normal((rows, columns)) + 10).astype(np.float32)
        weight, bias = rng.standard_normal((2, columns), dtype=np.float32)
        wide = x.astype(np.float64)
        spread = np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
        exact = (wide - wide.mean(axis=1, keepdims=True)) / spread * weight + bias
        error = np.abs(layernorm(x, weight, bias) - exact).max()
        assert error < 5e-5, f"{rows}x{columns}: error {error:.1e} is too large"
        print(f"layernorm: {rows:>3} x {columns:<4} max error {error:.1e}")


if __name__ == "__main__":
    main()
