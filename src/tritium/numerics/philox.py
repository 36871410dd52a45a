"""Philox counter-based random numbers, and the distributions that the language builds on them.

The generator is that of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), and Random123:
4x32 and 4x64 words with 10 rounds by default. A random number is a function of (seed, offset) alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tritium.numerics import special
from tritium.numerics.blocks import BLOCK, quiet
from tritium.numerics.floating import maximum
from tritium.numerics.formats import Array
from tritium.numerics.integer import unsigned_high

DEFAULT_ROUNDS = 10
Words = tuple[Array, Array, Array, Array]

_MULTIPLIERS = {4: (0xD2511F53, 0xCD9E8D57), 8: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_KEY_STEPS = {4: (0x9E3779B9, 0xBB67AE85), 8: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
_LOW_32 = 0xFFFFFFFF


@quiet
def philox(
    c0: Array, c1: Array, c2: Array, c3: Array, k0: Array, k1: Array, n_rounds: int = DEFAULT_ROUNDS
) -> Words:
    """The four output words for counter (c0, c1, c2, c3) and key (k0, k1).

    All are uint32 (Philox-4x32) or all uint64 (Philox-4x64) arrays, which broadcast.
    """
    operands = [np.asarray(v) for v in (c0, c1, c2, c3, k0, k1)]
    dtype = operands[0].dtype
    shape = np.broadcast_shapes(*(v.shape for v in operands))
    out = np.empty((4, *shape), dtype)
    words = out.reshape(4, -1)
    size = words.shape[1]
    flat = [v.reshape(1) if v.size == 1 else np.broadcast_to(v, shape).reshape(-1) for v in operands]
    rounds = _rounds_32 if dtype.itemsize == 4 else _rounds_64
    for start in range(0, size, BLOCK):
        part = [v if v.size == 1 else v[start : start + BLOCK] for v in flat]
        for word, value in zip(words, rounds(part[:4], part[4], part[5], n_rounds), strict=True):
            word[start : start + BLOCK] = value
    return out[0], out[1], out[2], out[3]


def _rounds_32(counter: list[Array], k0: Array, k1: Array, n_rounds: int) -> list[Array]:
    """The rounds in uint64, where one multiplication gives both halves of a product."""
    a, b = (np.uint64(m) for m in _MULTIPLIERS[4])
    step0, step1 = _KEY_STEPS[4]
    low, half = np.uint64(_LOW_32), np.uint64(32)
    c0, c1, c2, c3 = (c.astype(np.uint64) for c in counter)
    key0, key1 = k0.astype(np.uint64), k1.astype(np.uint64)
    for _ in range(n_rounds):
        left, right = c0 * a, c2 * b
        c0 = (right >> half) ^ c1 ^ key0
        c2 = (left >> half) ^ c3 ^ key1
        c1, c3 = right & low, left & low
        key0, key1 = (key0 + np.uint64(step0)) & low, (key1 + np.uint64(step1)) & low
    return [c0, c1, c2, c3]


def _rounds_64(counter: list[Array], k0: Array, k1: Array, n_rounds: int) -> list[Array]:
    a, b = (np.asarray([m], np.uint64) for m in _MULTIPLIERS[8])
    step0, step1 = (np.uint64(s) for s in _KEY_STEPS[8])
    c0, c1, c2, c3 = counter
    for _ in range(n_rounds):
        high_left, high_right = unsigned_high(a, c0), unsigned_high(b, c2)
        c0, c1, c2, c3 = high_right ^ c1 ^ k0, c2 * b, high_left ^ c3 ^ k1, c0 * a
        k0, k1 = k0 + step0, k1 + step1
    return [c0, c1, c2, c3]


@quiet
def randint4x(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Words:
    """Four uint32 blocks of random bits for an integer `seed` (taken modulo 2**64) and integer `offset`.

    The key is (low, high) of the seed and the counter (low, high, 0, 0) of the offset; an offset of at most
    32 bits has high 0.
    """
    key = _as_uint64(seed)
    position = np.asarray(offset)
    low = position.astype(np.uint32)
    zero = np.zeros((), np.uint32)
    high = (position >> position.dtype.type(32)).astype(np.uint32) if position.dtype.itemsize == 8 else zero
    return philox(
        low, high, zero, zero, key.astype(np.uint32), (key >> np.uint64(32)).astype(np.uint32), n_rounds
    )


def _as_uint64(seed: Any) -> Array:
    if isinstance(seed, int):
        return np.asarray(seed & 0xFFFFFFFFFFFFFFFF, np.uint64)
    return np.asarray(seed).astype(np.uint64)


def randint(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Array:
    """The first of the four blocks of `randint4x`."""
    return randint4x(seed, offset, n_rounds)[0]


@quiet
def uint_to_uniform_float(x: npt.ArrayLike) -> Array:
    """32- or 64-bit random bits to float32 in [0, 1): negative x fold to ``-x - 1``, then scaled."""
    bits = np.asarray(x)
    bits = bits.view(f"i{bits.dtype.itemsize}")
    scale = 4.6566127342e-10 if bits.dtype.itemsize == 4 else 1.0842020432385337e-19
    folded = bits ^ (bits >> bits.dtype.type(bits.dtype.itemsize * 8 - 1))
    return np.asarray(np.asarray(folded).astype(np.float32) * np.float32(scale))


def rand(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Array:
    """float32 uniform in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Words:
    """Four float32 blocks uniform in [0, 1)."""
    a, b, c, d = (uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds))
    return a, b, c, d


@quiet
def pair_uniform_to_normal(u1: npt.ArrayLike, u2: npt.ArrayLike) -> tuple[Array, Array]:
    """Box-Muller: two standard normal float32 blocks from two uniform ones; `u1` is at least 1e-7."""
    first = maximum(np.float32(1e-7), np.asarray(u1, np.float32), "f32")
    angle = np.asarray(np.float32(6.283185307179586) * np.asarray(u2, np.float32))
    radius = np.sqrt(np.float32(-2.0) * special.log(first, "f32"))
    return np.asarray(radius * special.cos(angle, "f32")), np.asarray(radius * special.sin(angle, "f32"))


def randn(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Array:
    """float32 standard normal, from the first two words."""
    u1, u2, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(u1, u2)[0]


def randn4x(seed: Any, offset: npt.ArrayLike, n_rounds: int = DEFAULT_ROUNDS) -> Words:
    """Four float32 standard normal blocks, from words (0, 1) and (2, 3)."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(u1, u2), *pair_uniform_to_normal(u3, u4)
