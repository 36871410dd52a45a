"""Attention without the S x S matrix of scores.

    tritium run examples/attention.py

A program owns a few queries and walks over the keys in blocks. It keeps, per query, the largest score so far,
the sum of the weights, and the weighted sum of the values. When a larger score turns up, the old sums are
scaled down, so that at the end they are what a softmax over all scores would have given.
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, S, scale,
    WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * S * WIDTH
    rows = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    dims = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + head + rows[:, None] * WIDTH + dims[None, :], mask=rows[:, None] < S, other=0.0)

    largest = tl.full((QUERIES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    acc = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)

    # A causal query sees no key behind itself, so later blocks need not be read at all.
    end = S
    if CAUSAL:
        end = tl.minimum(S, (tl.program_id(0) + 1) * QUERIES)
    for start in range(0, end, KEYS):
        cols = start + tl.arange(0, KEYS)
        kv = head + cols[:, None] * WIDTH + dims[None, :]
        k = tl.load(k_ptr + kv, mask=cols[:, None] < S, other=0.0)
        v = tl.load(v_ptr + kv, mask=cols[:, None] < S, other=0.0)

        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = cols[None, :] < S
        if CAUSAL:
            visible = visible & (cols[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, -float("inf"))

        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_largest[:, None])
        shrink = tl.exp(largest - new_largest)
        total = total * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + tl.dot(weights, v, input_precision="ieee")
        largest = new_largest

    out = acc / total[:, None]
    tl.store(out_ptr + head + rows[:, None] * WIDTH + dims[None, :], out, mask=rows[:, None] < S)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """q, k, v: [heads, S, WIDTH], contiguous, WIDTH a power of two of at least 16."""
    heads, S, width = q.shape
    out = np.empty_like(q)
    grid = (triton.cdiv(S, 32), heads)
    attention_kernel[grid](
        q, k, v, out, S, 1 / width**0.5, WIDTH=width, QUERIES=32, KEYS=32, CAUSAL=causal
    )  # fmt: skip
    return out


def exact_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
    if causal:
        scores[:, ~np.tri(q.shape[1], dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ v


def main() -> None:
    rng = np.random.default_rng(0)
    for heads, S, width, causal in ((1, 1, 16, False), (2, 100, 32, False), (3, 177, 64, True)):
        q, k, v = rng.standard_normal((3, heads, S, width), dtype=np.float32)
        error = np.abs(attention(q, k, v, causal) - exact_attention(q, k, v, causal)).max()
        assert error < 1e-5, f"S = {S}: error {error:.1e} is too large"
        kind = "causal" if causal else "full"
        print(f"attention: {heads} heads, {S:>3} positions, width {width}, {kind:<6} max error {error:.1e}")


if __name__ == "__main__":
    main()
