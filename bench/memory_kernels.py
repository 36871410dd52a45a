"""Plain kernels bound by memory, one program per row or block, for `bench/gpu_memory.py`.

Any Triton compiler takes them: the benchmark loads this text a second time with the imports of the peer.
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def layernorm(x, weight, bias, out, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(weight + cols, mask=mask).to(tl.float32)
    b = tl.load(bias + cols, mask=mask).to(tl.float32)
    tl.store(out + row * stride + cols, centred * scale * w + b, mask=mask)


@triton.jit
def rmsnorm(x, weight, out, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / n + eps)
    w = tl.load(weight + cols, mask=mask).to(tl.float32)
    tl.store(out + row * stride + cols, v * scale * w, mask=mask)


@triton.jit
def rotary(x, cos, sin, out, stride, positions, HEADS: tl.constexpr, HALF: tl.constexpr):
    """Rows of HEADS heads, each of two halves; row r is at position ``r % positions``."""
    row = tl.program_id(0).to(tl.int64)
    half = tl.arange(0, HALF)
    at = (row % positions) * HALF + half
    c = tl.load(cos + at)[None, :]
    s = tl.load(sin + at)[None, :]
    offsets = row * stride + tl.arange(0, HEADS)[:, None] * (2 * HALF) + half[None, :]
    first = tl.load(x + offsets).to(tl.float32)
    second = tl.load(x + offsets + HALF).to(tl.float32)
    tl.store(out + offsets, first * c - second * s)
    tl.store(out + offsets + HALF, second * c + first * s)


@triton.jit
def cross_entropy(logits, labels, losses, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    v = tl.load(logits + row * stride + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    largest = tl.max(v, axis=0)
    total = tl.sum(tl.exp(v - largest), axis=0)
    chosen = tl.load(logits + row * stride + tl.load(labels + row)).to(tl.float32)
    tl.store(losses + row, largest + tl.log(total) - chosen)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=mask)


@triton.jit
def transpose(x, out, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m[:, None] < rows) & (n[None, :] < cols)
    tile = tl.load(x + m[:, None] * cols + n[None, :], mask=mask)
    tl.store(out + n[None, :] * rows + m[:, None], tile, mask=mask)


@triton.jit
def cumsum(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(out + row * stride + cols, tl.cumsum(v, axis=0), mask=cols < n)


@triton.jit
def topk(x, out, stride, n, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    tl.store(out + row * K + tl.arange(0, K), tl.topk(v, K))
