"""Why a matmul needs the third mask.

    tritium run examples/why_mask.py
    tritium check examples/why_mask.py

The second kernel below forgets that K, too, may end in the middle of a block. Nothing crashes: the loads stay
inside the memory that NumPy owns, only outside the view that was passed. Here that memory is filled with 999,
so that the damage shows. In a real program it holds someone else's numbers, and the result is merely wrong.
``tritium check`` finds the loads, and names their lines and the missing bound.
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def three_masks(a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        ks = start + tl.arange(0, BLOCK)
        a_mask = (rows[:, None] < M) & (ks[None, :] < K)
        b_mask = (ks[:, None] < K) & (cols[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * a_row + ks[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + ks[:, None] * b_row + cols[None, :], mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(
        c_ptr + rows[:, None] * c_row + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N)
    )


@triton.jit
def two_masks(a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        ks = start + tl.arange(0, BLOCK)
        a_mask = rows[:, None] < M  # the bound of ks is missing
        b_mask = cols[None, :] < N  # and here
        a = tl.load(a_ptr + rows[:, None] * a_row + ks[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + ks[:, None] * b_row + cols[None, :], mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(
        c_ptr + rows[:, None] * c_row + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N)
    )


def run(kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (M, K), N = a.shape, b.shape[1]
    c = np.empty((M, N), dtype=np.float32)
    a_row, b_row = a.strides[0] // a.itemsize, b.strides[0] // b.itemsize
    kernel[(triton.cdiv(M, 4), triton.cdiv(N, 4))](a, b, c, M, N, K, a_row, b_row, N, BLOCK=4)
    return c


def main() -> None:
    M, N, K = 4, 4, 5
    # Storage is padded from K = 5 to 8, as for batched data; a and b are views of the real part.
    a_storage = np.full((M, 8), 999, dtype=np.float32)
    b_storage = np.full((8, N), 999, dtype=np.float32)
    a, b = a_storage[:, :K], b_storage[:K]
    a[:] = np.arange(M * K, dtype=np.float32).reshape(M, K) / 10
    b[:] = np.arange(K * N, dtype=np.float32).reshape(K, N) / 10

    exact = a.astype(np.float64) @ b.astype(np.float64)
    good, bad = run(three_masks, a, b), run(two_masks, a, b)
    print("NumPy      ", np.round(exact[0], 2))
    print("three masks", np.round(good[0], 2))
    print("two masks  ", np.round(bad[0]).astype(int))
    assert np.allclose(good, exact, rtol=1e-6), "the kernel with three masks is wrong"
    # K = 5 leaves three lanes of the second block on the padding: 3 * 999 * 999 is added to every element.
    assert np.allclose(bad - exact, 3 * 999.0 * 999.0, rtol=0, atol=1.0), "expected the sum of the padding"
    print(f"Without the K mask every element is too large by 3 * 999 * 999 = {3 * 999 * 999}.")


if __name__ == "__main__":
    main()
