"""Layouts as text: `reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1`.

One group per input, digits minor first. `-> -` is replication, `-> row 1 + col 4` moves two outputs at once,
and `warp: 1` is an input of extent 1. The extents of the outputs and the swizzle may follow after bars.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tritium.layout.faults import LayoutError

if TYPE_CHECKING:
    from tritium.layout.digits import Layout

_GROUP = re.compile(r"\s*(\w+)\s*:\s*(.*\S)\s*")
_DIGIT = re.compile(r"(\d+)\s*->\s*(-|\w+\s+\d+(?:\s*\+\s*\w+\s+\d+)*)")

_EXTENT = re.compile(r"(\w+)\s+(\d+)")
_SWIZZLE = re.compile(r"swizzle\s+(\d+)\s*,\s*(\d+)\s*,\s*(\d+)")


def _groups(text: str) -> list[tuple[str, str]]:
    groups: list[tuple[str, str]] = []
    for part in text.split(";"):
        if not part.strip():
            continue
        match = _GROUP.fullmatch(part)
        if match is None:
            raise LayoutError(f"Cannot read {part.strip()!r} as digits; write `axis: extent -> output step`.")
        groups.append((match[1], match[2]))
    return groups


def parse_axes(text: str) -> tuple[str, ...]:
    """The inputs that `text` names, in order."""
    return tuple(dict.fromkeys(axis for axis, _ in _groups(text)))


def parse_digits(text: str) -> list[tuple[str, int, dict[str, int]]]:
    """(input, extent, steps) of every digit in `text`. LayoutError quotes what cannot be read."""
    digits: list[tuple[str, int, dict[str, int]]] = []
    for axis, body in _groups(text):
        if body == "1":
            continue
        for item in body.split(","):
            match = _DIGIT.fullmatch(item.strip())
            if match is None:
                raise LayoutError(
                    f"Cannot read digit {item.strip()!r} of {axis}; write `extent -> output step`."
                )
            steps: dict[str, int] = {}
            for term in match[2].split("+") if match[2] != "-" else ():
                output, step = term.split()
                steps[output] = steps.get(output, 0) + int(step)
            digits.append((axis, int(match[1]), steps))
    return digits


def parse_tail(text: str) -> tuple[str, dict[str, int], list[int]]:
    """`digits | row 16, col 8 | swizzle 3, 4, 3` as (digits, shape, fields of the swizzle or none)."""
    digits, *rest = text.split("|")
    if not 1 <= len(rest) <= 2:
        raise LayoutError(
            f"Cannot read {text!r}; write `digits | output extent, ...` with `| swizzle` or not."
        )
    shape: dict[str, int] = {}
    for item in rest[0].split(",") if rest[0].strip() else ():
        match = _EXTENT.fullmatch(item.strip())
        if match is None or match[1] in shape:
            raise LayoutError(f"Cannot read {item.strip()!r} as the extent of one output; write `row 16`.")
        shape[match[1]] = int(match[2])
    if len(rest) == 1:
        return digits, shape, []
    match = _SWIZZLE.fullmatch(rest[1].strip())
    if match is None:
        raise LayoutError(f"Cannot read {rest[1].strip()!r} as a swizzle; write `swizzle bits, base, shift`.")
    return digits, shape, [int(match[i]) for i in (1, 2, 3)]


def render_layout(layout: Layout) -> str:
    """`layout` as text: its digits, then the extents of its outputs, then its swizzle."""
    groups: list[str] = []
    for axis in layout.inputs:
        items = [
            f"{d.extent} -> " + (" + ".join(f"{name} {step}" for name, step in d.steps.items()) or "-")
            for d in layout.digits_of(axis)
        ]
        groups.append(f"{axis}: " + (", ".join(items) or "1"))
    text = "; ".join(groups) + " | " + ", ".join(f"{name} {extent}" for name, extent in layout.shape.items())
    if layout.swizzle is not None:
        swizzle = layout.swizzle
        text += f" | swizzle {swizzle.bits}, {swizzle.base}, {swizzle.shift}"
    return text.lstrip()
