"""The grid of a launch: one to three counts of program instances, given as a tuple, a list, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tritium.errors import make_error

Grid = tuple[int, int, int]
MAX_INSTANCES = 2**31 - 1
"""Program ids are int32, so an axis has at most this many instances (CUDA's own limit on axis 0)."""


def resolve_grid(grid: Any, meta: Mapping[str, Any]) -> Grid:
    """`grid` as three ints, axes not given being 1.

    A callable is asked with `meta`, the bound arguments by name, constexprs and tuned values included.
    Raises LaunchError for anything but one to three non-negative integers.
    """
    given = grid(dict(meta)) if callable(grid) else grid
    counts: Any = (given,) if hasattr(given, "__index__") else given
    if not isinstance(counts, (tuple, list)) or not 1 <= len(counts) <= 3:
        raise make_error("TRI0706", got=_shown(given), expected="one to three integers, such as (n,)")
    out: list[int] = []
    for axis, count in enumerate(counts):
        out.append(_count(count, axis, given))
    return (out[0], out[1] if len(out) > 1 else 1, out[2] if len(out) > 2 else 1)


def _count(count: Any, axis: int, given: Any) -> int:
    as_index: Callable[[], int] | None = getattr(count, "__index__", None)
    if as_index is None:
        raise make_error("TRI0706", got=_shown(given), expected="one to three integers, such as (n,)")
    try:
        value = as_index()
    except TypeError:
        raise make_error(
            "TRI0706", got=_shown(given), expected="one to three integers, such as (n,)"
        ) from None
    if value < 0:
        raise make_error("TRI0708", value=value, axis=axis)
    if value > MAX_INSTANCES:
        raise make_error("TRI0707", value=value, axis=axis, limit=MAX_INSTANCES)
    return value


def _shown(given: Any) -> str:
    return repr(given) if isinstance(given, (tuple, list, int, float, str)) else f"a {type(given).__name__}"
