"""Random numbers: Philox-4x32-10 and what Triton makes of its words, bit for bit.

The generator is that of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), as in Random123. For
32-bit counters the key is (low word, high word) of the 64-bit seed and the counter (low offset, high offset, 0, 0), so
a number depends on seed and offset alone. `rand` folds a word to [0, 1): read as int32, ``x < 0 ? -x - 1 : x``, times
4.6566127342e-10. `randn` is Box and Muller's transform of the first two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, int32, int64, uint32, uint64
from tritium.numerics.integer import add, mul, umulhi
from tritium.ops.base import Array, TileOp, TypeRuleError, attr, operand
from tritium.ops.cast import reinterpret
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import OPERATORS, SURFACES, surface

# Random123, philox.h: the multipliers of a round, and what raises the key after it.
_CONSTANTS = {
    "u32": (np.array([0xD2511F53, 0xCD9E8D57], np.uint32), np.array([0x9E3779B9, 0xBB67AE85], np.uint32)),
    "u64": (
        np.array([0xD2E7470EE14C6C93, 0xCA5A826395121157], np.uint64),
        np.array([0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B], np.uint64),
    ),
}
Four = tuple[Tensor, Tensor, Tensor, Tensor]
ROUNDS = 10


class Philox(TileOp, name="tile.philox"):
    """Four random words per element: `rounds` rounds of Philox on the counter (c0, c1, c2, c3) with the key (k0, k1).

    All operands are uint32 (Philox-4x32) or uint64 (Philox-4x64) of one shape.

    >>> tl.randint(0, tl.arange(0, 1))
    [1713891541]
    """

    c0 = operand()
    c1 = operand()
    c2 = operand()
    c3 = operand()
    k0 = operand()
    k1 = operand()
    rounds = attr(ROUNDS)

    def infer(self) -> Sequence[Type]:
        ty = self.c0.type
        if ty.scalar not in (uint32, uint64) or any(v.type != ty for v in self.operands):
            raise TypeRuleError("tile.philox needs operands of one type, uint32 or uint64")
        return (ty,) * 4

    def eval(self, *args: Array) -> tuple[Array, ...]:
        c0, c1, c2, c3, k0, k1 = np.broadcast_arrays(*args)
        fmt = self.c0.type.scalar.text  # type: ignore[union-attr]
        (multiply_a, multiply_b), (raise_a, raise_b) = _CONSTANTS[fmt]
        for _ in range(self.rounds):
            high_a, high_b = umulhi(c0, multiply_a, fmt), umulhi(c2, multiply_b, fmt)
            low_a, low_b = mul(c0, multiply_a, fmt), mul(c2, multiply_b, fmt)
            c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
            k0, k1 = add(k0, raise_a, fmt), add(k1, raise_b, fmt)
        return c0, c1, c2, c3

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.philox(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    @surface("philox_impl")
    @staticmethod
    def build(
        s: Semantic, c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = ROUNDS
    ) -> Four:
        """`n_rounds` rounds of Philox for counter (c0, c1, c2, c3) and key (k0, k1), all uint32 or all uint64.

        >>> zero = tl.full((1,), 0, tl.uint32)
        >>> tl.philox_impl(zero, zero, zero, zero, 0, 0)
        ([1713891541], [3781805453], [3159862348], [2600524760])
        """
        first = s.to_tensor(c0)
        if first.dtype not in (uint32, uint64):
            s.fail("TRI0624", what="counter", function="tl.philox_impl", got=describe(first))
        words = [s.cast(s.to_tensor(w), first.dtype) for w in (c0, c1, c2, c3, k0, k1)]
        return _emit(s, words, n_rounds)


def _emit(s: Semantic, words: Sequence[Tensor], n_rounds: Any) -> Four:
    shape: tuple[int, ...] = ()
    for w in words:
        shape = s.common_shape(shape, w.dims)
    rounds = s.const_int(n_rounds, "n_rounds")
    return s.emit(Philox, *(s.broadcast_to(w, shape) for w in words), rounds=rounds)


def _integer(s: Semantic, x: Any, what: str, function: str) -> tuple[Tensor, DType]:
    value = s.to_tensor(x, f"the {what} of {function}")
    if not isinstance(value.dtype, DType) or not value.dtype.is_int():
        s.fail("TRI0624", what=what, function=f"tl.{function}", got=describe(value))
    return value, value.dtype


def _high(s: Semantic, x: Tensor) -> Tensor:
    return s.cast(OPERATORS[">>"](s, x, 32), uint32)


@surface("philox")
def philox(s: Semantic, seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = ROUNDS) -> Four:
    """Four random words for the counter (c0, c1, c2, c3), integers of 32 or of 64 bits, and the integer `seed`.

    With 32-bit counters the key is the low and the high half of the seed, with 64-bit counters (seed, 0).

    >>> zero = tl.full((1,), 0, tl.uint32)
    >>> tl.philox(0, zero, zero, zero, zero)
    ([1713891541], [3781805453], [3159862348], [2600524760])
    """
    key, _ = _integer(s, seed, "seed", "philox")
    key = s.cast(key, uint64)
    counters: list[Tensor] = []
    for c in (c0, c1, c2, c3):
        counter, ty = _integer(s, c, "counter", "philox")
        if ty.primitive_bitwidth not in (32, 64) or (
            counters and ty.primitive_bitwidth != _bits(counters[0])
        ):
            s.fail("TRI0624", what="counter", function="tl.philox", got=describe(counter))
        counters.append(reinterpret(s, counter, uint32 if ty.primitive_bitwidth == 32 else uint64))
    if _bits(counters[0]) == 32:
        return _emit(s, [*counters, s.cast(key, uint32), _high(s, key)], n_rounds)
    zero = SURFACES["tl.full"](
        s, (1,), 0, uint64
    )  # one axis, as in Triton, so 0-d counters give tiles of one element
    return _emit(s, [*counters, key, zero], n_rounds)


def _bits(x: Tensor) -> int:
    return x.dtype.primitive_bitwidth


@surface("randint4x")
def randint4x(s: Semantic, seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Four:
    """Four tiles of random uint32 words for the integers `offset`; cheaper than four calls of tl.randint.

    >>> tl.randint4x(42, tl.arange(0, 1))
    ([2632642643], [2012563771], [314527917], [1463989207])
    """
    where, ty = _integer(s, offset, "offset", "randint4x")
    low = s.cast(where, uint32)
    zero = SURFACES["tl.zeros_like"](s, low)
    high = _high(s, where) if ty.primitive_bitwidth > 32 else zero
    return philox(s, seed, low, high, zero, zero, n_rounds)


@surface("randint")
def randint(s: Semantic, seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tensor:
    """A random uint32 word for each of the integers `offset`.

    >>> tl.randint(42, tl.arange(0, 3))
    [2632642643, 4242219303, 3547071013]
    """
    return randint4x(s, seed, offset, n_rounds)[0]


@surface("uint_to_uniform_float")
def uint_to_uniform_float(s: Semantic, x: Any) -> Tensor:
    """Random words of 32 or 64 bits as fp32 numbers, uniform in [0, 1).

    >>> tl.uint_to_uniform_float(tl.randint(42, tl.arange(0, 3)))
    [0.77408016, 0.024562696, 0.3482663]
    """
    word, ty = _integer(s, x, "word", "uint_to_uniform_float")
    if ty.primitive_bitwidth not in (32, 64):
        s.fail("TRI0624", what="word", function="tl.uint_to_uniform_float", got=describe(word))
    narrow = ty.primitive_bitwidth == 32
    word = reinterpret(s, word, int32 if narrow else int64)
    # The scales are the largest for which no word reaches 1 after rounding.
    scale = s.to_tensor(4.6566127342e-10 if narrow else 1.0842020432385337e-19)
    flipped = OPERATORS["unary ~"](s, word)  # equals -x - 1
    folded = SURFACES["tl.where"](s, OPERATORS["<"](s, word, 0), flipped, word)
    return OPERATORS["*"](s, folded, scale)


@surface("rand")
def rand(s: Semantic, seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tensor:
    """A random fp32 number, uniform in [0, 1), for each of the integers `offset`.

    >>> tl.rand(42, tl.arange(0, 3))
    [0.77408016, 0.024562696, 0.3482663]
    """
    return uint_to_uniform_float(s, randint(s, seed, offset, n_rounds))


@surface("rand4x")
def rand4x(s: Semantic, seed: Any, offsets: Any, n_rounds: Any = ROUNDS) -> Four:
    """Four tiles of random fp32 numbers, uniform in [0, 1), for the integers `offsets`.

    >>> tl.rand4x(42, tl.arange(0, 1))
    ([0.77408016], [0.93717295], [0.14646345], [0.68172306])
    """
    a, b, c, d = (uint_to_uniform_float(s, w) for w in randint4x(s, seed, offsets, n_rounds))
    return a, b, c, d


@surface("pair_uniform_to_normal")
def pair_uniform_to_normal(s: Semantic, u1: Any, u2: Any) -> tuple[Tensor, Tensor]:
    """Two independent standard normal numbers from two uniform ones (Box and Muller), with u1 at least 1e-7.

    >>> a, b = tl.pair_uniform_to_normal(tl.rand(42, tl.arange(0, 2)), tl.rand(43, tl.arange(0, 2)))
    >>> a.shape
    (2,)
    """
    times = OPERATORS["*"]
    first = SURFACES["tl.maximum"](s, 1.0e-7, u1)
    angle = times(s, 6.283185307179586, s.to_tensor(u2))
    radius = SURFACES["tl.sqrt"](s, times(s, -2.0, SURFACES["tl.log"](s, first)))
    return times(s, radius, SURFACES["tl.cos"](s, angle)), times(s, radius, SURFACES["tl.sin"](s, angle))


@surface("randn")
def randn(s: Semantic, seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tensor:
    """A standard normal fp32 number for each of the integers `offset`.

    >>> tl.abs(tl.randn(42, tl.arange(0, 4))) < 5
    [True, True, True, True]
    """
    a, b, _, _ = randint4x(s, seed, offset, n_rounds)
    return pair_uniform_to_normal(s, uint_to_uniform_float(s, a), uint_to_uniform_float(s, b))[0]


@surface("randn4x")
def randn4x(s: Semantic, seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Four:
    """Four tiles of standard normal fp32 numbers for the integers `offset`.

    >>> a, b, c, d = tl.randn4x(42, tl.arange(0, 2))
    >>> d.shape
    (2,)
    """
    a, b, c, d = rand4x(s, seed, offset, n_rounds)
    return (*pair_uniform_to_normal(s, a, b), *pair_uniform_to_normal(s, c, d))
