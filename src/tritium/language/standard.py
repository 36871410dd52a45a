"""``tl.standard``: functions that Triton writes in the language itself; here they are functions like the others."""

from __future__ import annotations

from tritium.frontend.constexpr_functions import constexpr_function
from tritium.language.combine import COMBINE_FUNCTIONS
from tritium.language.functions import functions_of, publish

_NAMES = frozenset(
    {
        "argmax",
        "argmin",
        "bitonic_merge",
        "cdiv",
        "cumprod",
        "cumsum",
        "flip",
        "interleave",
        "max",
        "min",
        "ravel",
        "reduce_or",
        "sigmoid",
        "softmax",
        "sort",
        "sum",
        "swizzle2d",
        "topk",
        "xor_sum",
        "zeros",
        "zeros_like",
    }
)


@constexpr_function
def _log2(i: int) -> int:
    """The whole part of the binary logarithm of a positive integer."""
    return int(i).bit_length() - 1


@constexpr_function
def _is_power_of_two(i: int) -> bool:
    """Whether `i` is a power of two."""
    return i > 0 and i & (i - 1) == 0


globals().update(COMBINE_FUNCTIONS)
publish(globals(), {name: fn for name, fn in functions_of("tl").items() if name in _NAMES})
