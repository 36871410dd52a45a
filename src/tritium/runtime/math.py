"""Small integer functions that programs use on the host and in kernels alike."""

from __future__ import annotations

from tritium.frontend.constexpr_functions import constexpr_function


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """Smallest integer not below x / y, for y > 0.

    >>> cdiv(10, 4)
    3
    """
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """Smallest power of two not below `n`; 1 for 1, 0 for 0.

    >>> next_power_of_2(100)
    128
    """
    return 1 << (n - 1).bit_length() if n > 0 else 0
