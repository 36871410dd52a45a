"""Layouts as pictures: text for tests and terminals, SVG for reports.

A register layout is drawn as its tile, each cell naming who holds that element as `lane:register`, with
`warp.` or the thread in front of it where there are several, and `xN` after it for N copies. A memory layout
is drawn over its coordinates, each cell holding the byte address.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tritium.layout.digits import Layout

_CELL_WIDTH, _CELL_HEIGHT, _MARGIN = 46, 22, 34


def render_text(layout: Layout, limit: int) -> str:
    """See `Layout.render`. Tiles of more than two axes are drawn as slices of the last two."""
    lines: list[str] = []
    for title, cells in _slices(layout):
        if title:
            lines.append(title)
        rows = [[text for text, _ in row[:limit]] for row in cells[:limit]]
        cut = max((len(row) for row in cells), default=0) > limit
        heads = [str(i) for i in range(len(rows))]
        columns = [str(i) for i in range(len(rows[0]))]
        widths = [max(len(columns[j]), *(len(row[j]) for row in rows)) for j in range(len(columns))]
        edge = max(len(head) for head in heads)
        tail = " ..." if cut else ""
        lines.append(_line(" " * edge, columns, widths) + tail)
        lines += [_line(head.rjust(edge), row, widths) + tail for head, row in zip(heads, rows, strict=True)]
        if len(cells) > limit:
            lines.append(f"... {len(cells) - limit} more rows")
    return "\n".join(lines)


def _line(head: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    return head + " | " + " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def render_svg(layout: Layout, *, limit: int = 64) -> str:
    """The tile as an SVG image of at most `limit` cells a side; lanes (or bytes' banks) share a colour."""
    parts: list[str] = []
    top, width = 0, 0
    for title, cells in _slices(layout):
        top += _MARGIN
        if title:
            parts.append(f'<text x="4" y="{top - 20}">{escape(title)}</text>')
        for i, row in enumerate(cells[:limit]):
            for j, (text, colour) in enumerate(row[:limit]):
                x, y = _MARGIN + j * _CELL_WIDTH, top + i * _CELL_HEIGHT
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}" '
                    f'fill="{_colour(colour)}" stroke="#888"/>'
                    f'<text x="{x + _CELL_WIDTH // 2}" y="{y + 15}" text-anchor="middle">{escape(text)}</text>'
                )
            parts.append(f'<text x="4" y="{top + i * _CELL_HEIGHT + 15}">{i}</text>')
        for j in range(min(limit, len(cells[0]))):
            x = _MARGIN + j * _CELL_WIDTH + _CELL_WIDTH // 2
            parts.append(f'<text x="{x}" y="{top - 5}" text-anchor="middle">{j}</text>')
        width = max(width, _MARGIN + min(limit, len(cells[0])) * _CELL_WIDTH)
        top += min(limit, len(cells)) * _CELL_HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 4}" height="{top + 4}" '
        'font-family="monospace" font-size="10">'
    )
    return "\n".join([head, f"<title>{escape(str(layout))}</title>", *parts, "</svg>"])


def _colour(index: int) -> str:
    """White for nothing; otherwise 32 light hues, neighbours far apart."""
    return "#ffffff" if index < 0 else f"hsl({index * 137 % 360}, 60%, {88 - index // 8 % 4 * 6}%)"


Cell = tuple[str, int]


def _slices(layout: Layout) -> list[tuple[str, list[list[Cell]]]]:
    memory = layout.outputs == ("byte",)
    names = _memory_axes(layout) if memory else layout.outputs
    extents = [layout.extent(name) for name in names] or [1]
    cells = _memory_cells(layout) if memory else _register_cells(layout)
    *lead, rows, columns = [1, *extents] if len(extents) == 1 else extents
    slices: list[tuple[str, list[list[Cell]]]] = []
    for number in range(prod(lead)):
        index = np.unravel_index(number, lead) if lead else ()
        title = ", ".join(f"{name} {int(at)}" for name, at in zip(names, index, strict=False))
        title = title if prod(lead) > 1 else ""
        start = number * rows * columns
        grid = [cells[start + i * columns : start + (i + 1) * columns] for i in range(rows)]
        slices.append((title, grid))
    return slices


def _memory_axes(layout: Layout) -> tuple[str, ...]:
    """The inputs with `stage` outermost: every stage is a picture of its own."""
    return tuple(sorted(layout.inputs, key=lambda axis: axis != "stage"))


def _memory_cells(layout: Layout) -> list[Cell]:
    order = [layout.inputs.index(axis) for axis in _memory_axes(layout)]
    return [(str(byte), byte // 4 % 32) for byte in layout.table()[0].transpose(order).reshape(-1).tolist()]


def _register_cells(layout: Layout) -> list[Cell]:
    flat = layout.flat_elements
    copies = np.bincount(flat[flat >= 0], minlength=prod(layout.shape.values()))
    cells: list[Cell] = [("-", -1)] * prod(layout.shape.values())
    places = np.argwhere(flat >= 0)
    for place in places[::-1].tolist():  # backwards, so that the first holder of a cell stays
        at = dict(zip(layout.inputs, place, strict=True))
        element = int(flat[tuple(place)])
        many = f"x{copies[element]}" if copies[element] > 1 else ""
        cells[element] = (_holder(layout, at) + many, at.get("lane", at.get("thread", 0)) % 32)
    return cells


def _holder(layout: Layout, at: dict[str, int]) -> str:
    text = f"{at.get('lane', at.get('thread', 0))}:{at.get('reg', 0)}"
    return f"{at['warp']}.{text}" if "warp" in at and layout.extent("warp") > 1 else text
