"""Matrix multiplication in blocks: C = A @ B for sizes that fit no block.

    tritium run examples/matmul.py

Each program computes one BLOCK_M x BLOCK_N tile of C. It walks along K, loads a tile of A and a tile of B,
multiplies them, and adds the product to an accumulator that it writes once, at the end.
"""

import time

import numpy as np
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_bk, stride_bn,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # Which rows and columns of C are mine?
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)

    # Sums of many products lose less when they are kept in fp32, whatever the inputs are.
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)

    for k_start in range(0, K, BLOCK_K):
        ks = k_start + tl.arange(0, BLOCK_K)
        # [:, None] makes a column, [None, :] a row; together they address a whole tile.
        a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
        b_ptrs = b_ptr + ks[:, None] * stride_bk + cols[None, :] * stride_bn
        # Three sizes, three masks: M and N at the rim of C, K at the end of every sum.
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")

    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def matmul(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> str:
    """Write ``a @ b`` into ``c``; any strides will do. Returns the backend that ran."""
    (M, K), N = a.shape, b.shape[1]
    stride_am, stride_ak = (s // a.itemsize for s in a.strides)
    stride_bk, stride_bn = (s // b.itemsize for s in b.strides)
    stride_cm, stride_cn = (s // c.itemsize for s in c.strides)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    compiled = matmul_kernel[grid](
        a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
        BLOCK_M=64, BLOCK_N=64, BLOCK_K=32,
    )  # fmt: skip
    return "interpreter" if compiled is None else compiled.metadata.backend_name


def seconds_per_run(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """The best of up to 20 runs, within about a second."""
    best, end = float("inf"), time.perf_counter() + 1.0
    for _ in range(20):
        start = time.perf_counter()
        matmul(a, b, c)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return best


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'backend':<12} {'M':>5} {'N':>5} {'K':>5}   {'max error':>9}   GFLOP/s")
    for M, N, K in ((1, 1, 1), (257, 129, 191), (24, 40, 1000), (512, 512, 512)):
        a = rng.standard_normal((M, K), dtype=np.float32)
        # B is stored transposed: the kernel follows the strides and never copies it.
        b = rng.standard_normal((N, K), dtype=np.float32).T
        c = np.full((M, N), np.nan, dtype=np.float32)
        backend = matmul(a, b, c)
        error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
        assert error <= 1e-6 * (K + 4), f"{M}x{N}x{K}: error {error:.1e} is too large"
        rate = 2 * M * N * K / seconds_per_run(a, b, c) / 1e9
        print(f"{backend:<12} {M:>5} {N:>5} {K:>5}   {error:>9.1e}   {rate:.2f}")
    print("every product matches NumPy in double precision")


if __name__ == "__main__":
    main()
