# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

N_ROUNDS_DEFAULT: int
def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[tensor, tensor]:
    """Two independent standard normal numbers from two uniform ones (Box and Muller), with u1 at least 1e-7.

    >>> a, b = tl.pair_uniform_to_normal(tl.rand(42, tl.arange(0, 2)), tl.rand(43, tl.arange(0, 2)))
    >>> a.shape
    (2,)"""

def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = 10) -> Any:
    """Four random words for the counter (c0, c1, c2, c3), integers of 32 or of 64 bits, and the integer `seed`.

    With 32-bit counters the key is the low and the high half of the seed, with 64-bit counters (seed, 0).

    >>> zero = tl.full((1,), 0, tl.uint32)
    >>> tl.philox(0, zero, zero, zero, zero)
    ([1713891541], [3781805453], [3159862348], [2600524760])"""

def philox_impl(
    c0: Any,
    c1: Any,
    c2: Any,
    c3: Any,
    k0: Any,
    k1: Any,
    n_rounds: Any = 10,
) -> Any:
    """`n_rounds` rounds of Philox for counter (c0, c1, c2, c3) and key (k0, k1), all uint32 or all uint64.

    >>> zero = tl.full((1,), 0, tl.uint32)
    >>> tl.philox_impl(zero, zero, zero, zero, 0, 0)
    ([1713891541], [3781805453], [3159862348], [2600524760])"""

def rand(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A random fp32 number, uniform in [0, 1), for each of the integers `offset`.

    >>> tl.rand(42, tl.arange(0, 3))
    [0.77408016, 0.024562696, 0.3482663]"""

def rand4x(seed: Any, offsets: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of random fp32 numbers, uniform in [0, 1), for the integers `offsets`.

    >>> tl.rand4x(42, tl.arange(0, 1))
    ([0.77408016], [0.93717295], [0.14646345], [0.68172306])"""

def randint(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A random uint32 word for each of the integers `offset`.

    >>> tl.randint(42, tl.arange(0, 3))
    [2632642643, 4242219303, 3547071013]"""

def randint4x(seed: Any, offset: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of random uint32 words for the integers `offset`; cheaper than four calls of tl.randint.

    >>> tl.randint4x(42, tl.arange(0, 1))
    ([2632642643], [2012563771], [314527917], [1463989207])"""

def randn(seed: Any, offset: Any, n_rounds: Any = 10) -> tensor:
    """A standard normal fp32 number for each of the integers `offset`.

    >>> tl.abs(tl.randn(42, tl.arange(0, 4))) < 5
    [True, True, True, True]"""

def randn4x(seed: Any, offset: Any, n_rounds: Any = 10) -> Any:
    """Four tiles of standard normal fp32 numbers for the integers `offset`.

    >>> a, b, c, d = tl.randn4x(42, tl.arange(0, 2))
    >>> d.shape
    (2,)"""

def uint_to_uniform_float(x: Any) -> tensor:
    """Random words of 32 or 64 bits as fp32 numbers, uniform in [0, 1).

    >>> tl.uint_to_uniform_float(tl.randint(42, tl.arange(0, 3)))
    [0.77408016, 0.024562696, 0.3482663]"""
