"""The smallest kernel: add two vectors.

    tritium run examples/vector_add.py

A kernel is run by many programs at once. Each one asks for its number, works out which elements are its own,
and leaves the rest alone.
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Program 0 takes elements 0 .. BLOCK-1, program 1 the next BLOCK, and so on.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # The last program may reach past the end; the mask keeps it from touching what is not there.
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    n = x.size
    # The grid says how many programs run; it may depend on the compile-time arguments.
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=256)
    return out


def main() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 1000, 98_431):
        x, y = rng.standard_normal((2, n), dtype=np.float32)
        out = add(x, y)
        assert np.array_equal(out, x + y), f"wrong sum for n = {n}"
        print(f"add: {n:>6} elements, {triton.cdiv(n, 256):>3} programs, equal to NumPy")


if __name__ == "__main__":
    main()
