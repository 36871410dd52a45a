"""Philox-4x32-10 in NumPy, after J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011)."""

from __future__ import annotations

import numpy as np

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)


def philox(seed: int, offset: np.ndarray, rounds: int = 10) -> list[np.ndarray]:
    """Four uint32 words per counter ``(offset, 0, 0, 0)`` with the 64-bit key ``seed``.

    A 64-bit offset fills the first two counter words, as in ``tl.randint4x``.
    """
    counters = offset.astype(np.int64).view(np.uint64)
    high = counters >> np.uint64(32) if offset.dtype.itemsize == 8 else np.zeros_like(counters)
    c = [counters & _LOW, high, np.zeros_like(counters), np.zeros_like(counters)]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(rounds):
        products = [_MULTIPLIERS[0] * c[0], _MULTIPLIERS[1] * c[2]]
        c = [
            (products[1] >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            products[1] & _LOW,
            (products[0] >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            products[0] & _LOW,
        ]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL, strict=True)]
    return [word.astype(np.uint32) for word in c]


def uniform(words: np.ndarray) -> np.ndarray:
    """uint32 words as fp32 values of [0, 1): fold the sign bit away, then scale in fp32."""
    signed = words.view(np.int32)
    folded = np.where(signed < 0, -signed - 1, signed)
    return folded.astype(np.float32) * np.float32(4.6566127342e-10)


def normal_pair(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Box-Muller over two word arrays, in float64; the logarithm's argument is at least 1e-7."""
    u, v = np.maximum(uniform(first), np.float32(1e-7)).astype(np.float64), uniform(second).astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(u)), 2 * np.pi * v
    return radius * np.cos(angle), radius * np.sin(angle)
