"""Swizzled shared-memory tiles: the panels that TMA writes and wgmma reads, and when a copy may be TMA's.

A panel is as many columns as fit into one swizzle span (128, 64 or 32 bytes): its rows are `span` bytes apart
and its 16-byte chunks are permuted by XOR with the row. A wide tile is several panels side by side.

Sources: PTX ISA, "Shared Memory Matrix Layout", "Strides", "Matrix Descriptor Format" (wgmma) and "Swizzling
Modes" (tensors); CUDA driver API, `cuTensorMapEncodeTiled` for the limits of boxes.

>>> str(panel_rows(64, 128, 2, span=128, stages=3))
'row: 64 -> byte 128; col: 64 -> byte 2, 2 -> byte 8192; stage: 3 -> byte 16384 | byte 49152 | swizzle 3, 4, 3'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tritium.layout.digits import Layout
from tritium.layout.faults import LayoutError
from tritium.layout.swizzle import Swizzle

SPANS = (128, 64, 32)
CHUNK_BYTES = 16
ATOM_ROWS = 8
TMA_BOX_EXTENT = 256
TMA_RANK = 5
TMA_STRIDE_BYTES = 1 << 40
_DESCRIPTOR_MODE = {128: 1, 64: 2, 32: 3}


def span_swizzle(span: int) -> Swizzle:
    """The XOR of the hardware's 128-, 64- or 32-byte mode, on absolute shared-memory addresses."""
    if span not in SPANS:
        raise LayoutError(f"Swizzle spans are 128, 64 and 32 bytes, and {span} was given.")
    return Swizzle((span // CHUNK_BYTES).bit_length() - 1, 4, 3)


def panel_rows(
    rows: int,
    columns: int,
    element_bytes: int,
    *,
    span: int = 128,
    stages: int = 1,
    names: tuple[str, str] = ("row", "col"),
) -> Layout:
    """A tile of `rows` x `columns` as swizzled panels; columns are contiguous inside a panel.

    Inputs are `names` and `stage`, the output is `byte` from a base aligned to `8 * span`. The last panel and
    each panel's rows are filled up, to whole panels and to multiples of 8 rows. LayoutError for a span that
    is no mode, or elements that do not fill it evenly.
    """
    swizzle = span_swizzle(span)
    if element_bytes < 1 or CHUNK_BYTES % element_bytes:
        raise LayoutError(f"Elements of {element_bytes} bytes do not fill 16-byte chunks evenly.")
    row, column = names
    width = span // element_bytes
    panels = -(-columns // width)
    pitch = -(-rows // ATOM_ROWS) * ATOM_ROWS * span
    return Layout.of(
        f"{row}: {rows} -> byte {span}; {column}: {width} -> byte {element_bytes}, {panels} -> byte {pitch}; "
        f"stage: {stages} -> byte {panels * pitch}",
        {"byte": stages * panels * pitch},
        swizzle=swizzle,
    )


@dataclass(frozen=True)
class TmaBox:
    """One bulk tensor copy: a box of `shape` elements at `origin` of the tile, to `byte` of the buffer."""

    origin: tuple[int, int]
    shape: tuple[int, int]
    byte: int


def panel_boxes(rows: int, columns: int, element_bytes: int, *, span: int = 128) -> tuple[TmaBox, ...]:
    """The TMA copies that fill `panel_rows(rows, columns, ...)`: one a panel, more above 256 rows.

    Every box is a whole panel wide: columns past the tile come as zeros or as the neighbouring columns of the
    tensor, and nobody reads them.
    """
    width = span // element_bytes
    pitch = -(-rows // ATOM_ROWS) * ATOM_ROWS * span
    return tuple(
        TmaBox((top, panel * width), (min(TMA_BOX_EXTENT, rows - top), width), panel * pitch + top * span)
        for panel in range(-(-columns // width))
        for top in range(0, rows, TMA_BOX_EXTENT)
    )


def tma_box_faults(
    shape: Sequence[int],
    element_bytes: int,
    *,
    span: int = 0,
    strides: Sequence[int] | None = None,
    base_alignment: int = 16,
    row_padding: int = 0,
) -> tuple[str, ...]:
    """Why TMA cannot copy a box of `shape` elements (outermost first), one sentence each; empty if it can.

    `span` is the swizzle (0 for none), `strides` the bytes of all axes of the tensor but the innermost, if
    known, `base_alignment` that of its address in bytes, `row_padding` the elements after each row in shared
    memory: TMA writes dense boxes, so padding belongs to cp.async and plain stores.
    """
    faults: list[str] = []
    if not 1 <= len(shape) <= TMA_RANK:
        faults.append(f"A box has 1 to {TMA_RANK} axes, and this one has {len(shape)}.")
    faults += [
        f"A box has 1 to {TMA_BOX_EXTENT} elements along an axis, and axis {axis} has {extent}."
        for axis, extent in enumerate(shape)
        if not 1 <= extent <= TMA_BOX_EXTENT
    ]
    inner = shape[-1] * element_bytes if shape else 0
    if inner % CHUNK_BYTES:
        faults.append(f"The rows of a box are multiples of {CHUNK_BYTES} bytes, and these have {inner}.")
    if span and span not in SPANS:
        faults.append(f"Swizzle spans are 128, 64 and 32 bytes, and {span} was given.")
    elif span and inner > span:
        faults.append(
            f"The rows of a box with {span}-byte swizzle have at most {span} bytes, and these have {inner}."
        )
    if base_alignment % CHUNK_BYTES:
        faults.append(
            f"The tensor starts at a multiple of {CHUNK_BYTES} bytes, and {base_alignment} is known."
        )
    for axis, stride in enumerate(strides or ()):
        if stride <= 0 or stride % CHUNK_BYTES or stride >= TMA_STRIDE_BYTES:
            faults.append(
                f"Strides are positive multiples of {CHUNK_BYTES} bytes below 2^40, and axis {axis} has {stride}."
            )
    if row_padding:
        faults.append(f"TMA writes dense rows, and the shared tile has {row_padding} elements of padding.")
    return tuple(faults)


@dataclass(frozen=True)
class WgmmaOperand:
    """A wgmma operand in shared memory, and what its matrix descriptor says.

    `layout` maps (`row`, `k`) and `stage` to bytes, where `row` counts the operand's rows (A) or columns (B).
    `leading_bytes` and `stride_bytes` are the descriptor's offsets, `span` its swizzle, `major` which of the
    two is contiguous.
    """

    layout: Layout
    major: Literal["k", "mn"]
    span: int
    leading_bytes: int
    stride_bytes: int

    @property
    def alignment(self) -> int:
        """Bytes to which the buffer has to be aligned, so that the descriptor's base offset is 0."""
        return ATOM_ROWS * self.span

    @property
    def descriptor(self) -> int:
        """The 64-bit descriptor of a matrix at address 0; `(address & 0x3ffff) >> 4` is added to it."""
        return (
            (self.leading_bytes >> 4 & 0x3FFF) << 16
            | (self.stride_bytes >> 4 & 0x3FFF) << 32
            | _DESCRIPTOR_MODE[self.span] << 62
        )

    def start(self, *, row: int = 0, k: int = 0, stage: int = 0) -> int:
        """Byte offset to put into the descriptor for the block of one instruction that begins at (row, k).

        The hardware swizzles the addresses it computes from this, so it is not swizzled itself.
        """
        plain = Layout(self.layout.digits, self.layout.shape, self.layout.inputs)
        return plain.at(row=row, k=k, stage=stage)["byte"]


@lru_cache
def wgmma_operand(
    rows: int,
    depth: int,
    element_bytes: int,
    *,
    major: Literal["k", "mn"] = "k",
    span: int = 128,
    stages: int = 1,
) -> WgmmaOperand:
    """Shared memory of an operand of `rows` (A) or columns (B) times `depth` of k.

    `major="k"`: k is contiguous; `major="mn"`: the rows are, for 2-byte elements only. LayoutError for another
    element size there, or rows (`k`) or depth (`mn`) that are no multiple of 8.
    """
    if major == "mn" and element_bytes != 2:
        raise LayoutError(
            f"wgmma reads operands whose rows are contiguous for 2-byte elements only, and {element_bytes} was given."
        )
    lines = rows if major == "k" else depth
    if lines % ATOM_ROWS:
        what = "rows" if major == "k" else "depth"
        raise LayoutError(f"The {what} of a wgmma operand must be a multiple of {ATOM_ROWS}, and is {lines}.")
    if major == "k":
        layout = panel_rows(rows, depth, element_bytes, span=span, stages=stages, names=("row", "k"))
        return WgmmaOperand(layout, major, span, CHUNK_BYTES, ATOM_ROWS * span)
    layout = panel_rows(depth, rows, element_bytes, span=span, stages=stages, names=("k", "row"))
    return WgmmaOperand(layout, major, span, depth * span, ATOM_ROWS * span)
