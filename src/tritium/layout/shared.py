"""Shared memory: padded and staged tiles under the seed policy, and what fits.

`CudaSharedBuffer` is a row-major tile with padded rows and one or more stages; the writer and the readers of
a tile get their addresses from the same `element`, so that they cannot disagree about the row stride.

>>> from tritium.layout.shared import CudaSharedBuffer
>>> import numpy as np
>>> a = CudaSharedBuffer("shared_a", (4, 16), np.dtype("f4"), row_padding=1, stage_count=2)
>>> a.row_stride, a.stage_size, a.size, a.nbytes
(17, 68, 136, 544)
>>> a.element("tile_i", "k", "stage")
'shared_a[stage * 68 + tile_i * 17 + k]'
>>> a.element(2, 3, 1)
'shared_a[105]'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Protocol

from tritium.errors import make_error
from tritium.layout.digits import Layout
from tritium.layout.emission import CText
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import BANKS

SEED_SHARED_LIMIT = 48 * 1024

Index = int | str


class ElementType(Protocol):
    """What a buffer has to know of its elements: IR scalar types and NumPy dtypes both say it."""

    @property
    def itemsize(self) -> int: ...


@dataclass(frozen=True)
class CudaSharedBuffer:
    """A row-major tile in shared memory: `row_padding` unused elements after each row, `stage_count` copies.

    Sizes and offsets are in elements, `nbytes` in bytes. LayoutError for a shape that is not two positive
    extents, negative padding or no stage.
    """

    name: str
    logical_shape: tuple[int, ...]
    element_ty: ElementType
    row_padding: int = 0
    stage_count: int = 1

    def __post_init__(self) -> None:
        if len(self.logical_shape) != 2 or any(extent < 1 for extent in self.logical_shape):
            raise LayoutError(
                f"The shared buffer {self.name} must be a tile of two positive extents, and "
                f"{self.logical_shape} was given."
            )
        if self.row_padding < 0:
            raise LayoutError(
                f"The rows of the shared buffer {self.name} cannot be padded by {self.row_padding} elements."
            )
        if self.stage_count < 1:
            raise LayoutError(
                f"The shared buffer {self.name} needs at least one stage, and {self.stage_count} was given."
            )

    @property
    def rows(self) -> int:
        return self.logical_shape[0]

    @property
    def columns(self) -> int:
        return self.logical_shape[1]

    @property
    def row_stride(self) -> int:
        return self.columns + self.row_padding

    @property
    def stage_size(self) -> int:
        """Elements from one stage to the next."""
        return self.rows * self.row_stride

    @property
    def size(self) -> int:
        """Elements of the whole allocation."""
        return self.stage_count * self.stage_size

    @property
    def nbytes(self) -> int:
        return self.size * self.element_ty.itemsize

    @cached_property
    def layout(self) -> Layout:
        """Inputs `row`, `col`, `stage`; output `byte` from the start of the buffer."""
        size = self.element_ty.itemsize
        return Layout.of(
            f"row: {self.rows} -> byte {self.row_stride * size}; col: {self.columns} -> byte {size}; "
            f"stage: {self.stage_count} -> byte {self.stage_size * size}",
            {"byte": self.nbytes},
        )

    def offset(self, row: Index, column: Index, stage: Index = 0) -> Index:
        """Elements from the start of the buffer; an integer if all three are, else C text.

        LayoutError for an integer out of range.
        """
        fixed = 0
        terms: list[str] = []
        emit = CText()
        for what, index, extent, step in (
            ("stage", stage, self.stage_count, self.stage_size),
            ("row", row, self.rows, self.row_stride),
            ("column", column, self.columns, 1),
        ):
            if isinstance(index, str):
                terms.append(index if step == 1 else emit.multiply(index, step))
            elif 0 <= index < extent:
                fixed += index * step
            else:
                raise LayoutError(
                    f"The {what} {index} is outside the shared buffer {self.name}, which has {extent} of them."
                )
        if not terms:
            return fixed
        text = terms[0]
        for term in terms[1:]:
            text = emit.add(text, term)
        return str(emit.add(text, str(fixed)) if fixed else text)

    def element(self, row: Index, column: Index, stage: Index = 0) -> str:
        """The C lvalue of one element."""
        return f"{self.name}[{self.offset(row, column, stage)}]"

    def banks(self, rows: Sequence[int], column: int = 0, stage: int = 0) -> tuple[int, ...]:
        """The bank of the first byte of `column` in each of `rows`."""
        at = [self.layout.at(row=row, col=column, stage=stage)["byte"] for row in rows]
        return tuple(byte // 4 % BANKS for byte in at)


@dataclass(frozen=True)
class CudaDotSharedBuffers:
    """The two staged operands of a dot. LayoutError if their stage counts or inner extents differ."""

    lhs: CudaSharedBuffer
    rhs: CudaSharedBuffer

    def __post_init__(self) -> None:
        if self.lhs.stage_count != self.rhs.stage_count:
            raise LayoutError(
                f"The operands of a dot need equal stage counts, and {self.lhs.name} has {self.lhs.stage_count} where "
                f"{self.rhs.name} has {self.rhs.stage_count}."
            )
        if self.lhs.columns != self.rhs.rows:
            raise LayoutError(
                f"The columns of {self.lhs.name} ({self.lhs.columns}) must match the rows of {self.rhs.name} "
                f"({self.rhs.rows})."
            )

    @property
    def reduction_size(self) -> int:
        return self.lhs.columns

    @property
    def stage_count(self) -> int:
        return self.lhs.stage_count

    @property
    def nbytes(self) -> int:
        return self.lhs.nbytes + self.rhs.nbytes


def seed_row_padding(columns: int, simultaneous_rows: int) -> int:
    """Padding of rows of `columns` 4-byte elements that `simultaneous_rows` lanes read down one column: 0 or 1.

    One element of padding, where the rows reach fewer banks than there are rows. LayoutError for numbers that
    are not positive. Other element sizes and patterns: `choose_padding`.
    """
    if columns < 1 or simultaneous_rows < 1:
        raise LayoutError(
            f"Padding needs positive columns and rows, and {columns} columns and {simultaneous_rows} rows were given."
        )
    distinct = BANKS // gcd(columns, BANKS)
    return int(simultaneous_rows > distinct)


def require_shared_budget(nbytes: int, limit: int = SEED_SHARED_LIMIT, *, name: str = "shared memory") -> int:
    """`nbytes` if they fit; otherwise OutOfResources (TRI0734), which names both numbers and `name`."""
    if nbytes > limit:
        raise make_error("TRI0734", name=name, required=nbytes, limit=limit)
    return nbytes


def fit_stages(
    nbytes_of: Callable[[int], int], wanted: int, limit: int, *, name: str = "shared memory"
) -> int:
    """The largest stage count from `wanted` down to 1 that fits into `limit` bytes.

    `nbytes_of(stages)` says what all buffers take together. OutOfResources (TRI0734) if not even one fits.
    """
    for stages in range(wanted, 1, -1):
        if nbytes_of(stages) <= limit:
            return stages
    require_shared_budget(nbytes_of(1), limit, name=name)
    return 1
