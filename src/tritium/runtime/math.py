"""Small integer functions that programs use on the host and in kernels alike."""

from __future__ import annotations

from typing import Any

from tritium.frontend.constexpr_functions import constexpr_function
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.surface import SURFACES


def cdiv(x: Any, y: Any, _semantic: Any = None) -> Any:
    """Smallest integer not below x / y, for y > 0. In kernels also of run-time values, as ``tl.cdiv``.

    >>> cdiv(10, 4)
    3
    """
    if _semantic is not None and (isinstance(x, Tensor) or isinstance(y, Tensor)):
        return SURFACES["tl.cdiv"](_semantic, x, y)
    x, y = unwrap(x), unwrap(y)
    return (x + y - 1) // y


cdiv.__triton_builtin__ = True  # type: ignore[attr-defined]


@constexpr_function
def next_power_of_2(n: int) -> int:
    """Smallest power of two not below `n`; 1 for 1, 0 for 0.

    >>> next_power_of_2(100)
    128
    """
    return 1 << (n - 1).bit_length() if n > 0 else 0
