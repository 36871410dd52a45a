"""Choosing a shared-memory layout by asking the bank query, not by habit.

An access is a register layout over (row, col) and the width its instructions want; `ldmatrix` is one too:
its addresses are what `fragments.ldmatrix_a` describes.

>>> from tritium.layout.digits import Layout
>>> rows_of_16_bytes = Layout.of("reg: 8 -> col 1; lane: 8 -> row 1", {"row": 8, "col": 64})
>>> choose_padding(8, 64, 2, [SharedAccess(rows_of_16_bytes)]).padding
8
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tritium.layout.digits import Layout
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import BANK_BYTES, BANKS, BankConflicts
from tritium.layout.panels import SPANS, panel_rows

ROUND_BYTES = BANKS * BANK_BYTES


@dataclass(frozen=True)
class SharedAccess:
    """One way a tile is read or written: who touches what, `vector` elements at a time (the widest if None).

    `times` weighs it against the other accesses, for instance the trips of the loop it stands in.
    """

    registers: Layout
    vector: int | None = None
    times: int = 1


@dataclass(frozen=True)
class SharedChoice:
    """A layout of (row, col, stage) -> byte and what it costs.

    `padding` elements after each row, or swizzled panels of `span` bytes (0: not swizzled). `conflicts` are
    those of each access, `wavefronts` their weighted sum, `least` that without conflicts, `requests` the
    instructions. `why` is a sentence.
    """

    layout: Layout
    padding: int
    span: int
    conflicts: tuple[BankConflicts, ...]
    wavefronts: int
    least: int
    requests: int
    why: str

    @property
    def nbytes(self) -> int:
        return self.layout.extent("byte")

    @property
    def ways(self) -> int:
        """The worst bank conflict of any access."""
        return max(found.ways for found in self.conflicts)

    @property
    def cost(self) -> tuple[int, int, int]:
        """What choices are compared by: wavefronts, then instructions, then bytes."""
        return self.wavefronts, self.requests, self.nbytes

    @property
    def alignment(self) -> int:
        """Bytes to which the buffer has to be aligned."""
        return 8 * self.span if self.span else 16


@lru_cache
def padded_rows(rows: int, columns: int, element_bytes: int, *, padding: int = 0, stages: int = 1) -> Layout:
    """Row-major (row, col, stage) -> byte with `padding` elements after each row."""
    pitch = (columns + padding) * element_bytes
    return Layout.of(
        f"row: {rows} -> byte {pitch}; col: {columns} -> byte {element_bytes}; stage: {stages} -> byte {rows * pitch}",
        {"byte": stages * rows * pitch},
    )


def choose_padding(
    rows: int, columns: int, element_bytes: int, accesses: Sequence[SharedAccess], *, stages: int = 1
) -> SharedChoice:
    """The row padding with the fewest wavefronts over all `accesses`, then the fewest instructions, then the least.

    Rows of whole words are tried, until the banks repeat after 128 bytes. LayoutError without accesses, or if
    an access asks for a vector that no padding allows.
    """
    if not accesses:
        raise LayoutError("Padding is chosen for accesses, and none was given.")
    return _choose_padding(rows, columns, element_bytes, tuple(accesses), stages)


@lru_cache(maxsize=256)
def _choose_padding(
    rows: int, columns: int, element_bytes: int, accesses: tuple[SharedAccess, ...], stages: int
) -> SharedChoice:
    aligned = padded_rows(rows, columns, element_bytes, padding=-columns % max(1, 16 // element_bytes))
    widths = [access.vector or access.registers.vector_width(aligned, element_bytes) for access in accesses]
    plain: SharedChoice | None = None
    best: SharedChoice | None = None
    for padding in range(0, ROUND_BYTES // element_bytes + 1):
        if padding and (columns + padding) * element_bytes % BANK_BYTES:
            continue
        layout = padded_rows(rows, columns, element_bytes, padding=padding, stages=stages)
        if any(
            access.vector and access.vector > access.registers.vector_width(layout, element_bytes)
            for access in accesses
        ):
            continue
        choice = _judge(layout, element_bytes, accesses, padding=padding)
        plain = plain or choice
        if best is None or choice.cost < best.cost:
            best = choice
        if best.wavefronts == best.least and [c.vector for c in best.conflicts] == widths:
            break
    if best is None or plain is None:
        raise LayoutError(f"No padding of {columns} columns allows the vectors that were asked for.")
    return replace(best, why=_padding_reason(plain, best))


def _padding_reason(plain: SharedChoice, best: SharedChoice) -> str:
    """What `best` gains over the rows with the least padding that the accesses allow."""
    if not best.padding:
        if best.wavefronts == best.least:
            return "rows without padding have no bank conflicts"
        return f"no padding does better than the {best.ways}-way bank conflicts of plain rows"
    elements = "1 element" if best.padding == 1 else f"{best.padding} elements"
    if best is plain:
        return f"{elements} of padding, to align the rows for the vectors asked for"
    if best.ways < plain.ways:
        return f"{elements} of padding: {plain.ways}-way bank conflicts become {best.ways}-way"
    if best.wavefronts < plain.wavefronts:
        return f"{elements} of padding: {plain.wavefronts} wavefronts become {best.wavefronts}"
    return f"{elements} of padding: {plain.requests} instructions become {best.requests}"


def choose_shared(
    rows: int,
    columns: int,
    element_bytes: int,
    accesses: Sequence[SharedAccess],
    *,
    stages: int = 1,
    dense: bool = False,
) -> SharedChoice:
    """The layout with the fewest wavefronts, then instructions, then bytes; plain or padded rows before panels.

    `dense` is for tiles that TMA fills: plain rows or swizzled panels, never padding. Panels are considered
    where the columns fill their span evenly. LayoutError without accesses.
    """
    if not accesses:
        raise LayoutError("A layout is chosen for accesses, and none was given.")
    if dense:
        plain = _judge(padded_rows(rows, columns, element_bytes, stages=stages), element_bytes, accesses)
        choices = [replace(plain, why=f"plain rows, as TMA writes them, {plain.ways}-way bank conflicts")]
    else:
        choices = [choose_padding(rows, columns, element_bytes, accesses, stages=stages)]
    for span in SPANS:
        if columns * element_bytes % span == 0:
            layout = panel_rows(rows, columns, element_bytes, span=span, stages=stages)
            choice = _judge(layout, element_bytes, accesses, span=span)
            why = f"panels with {span}-byte swizzle, {choice.ways}-way bank conflicts"
            choices.append(replace(choice, why=why))
    return min(choices, key=lambda choice: choice.cost)


def _judge(
    layout: Layout, element_bytes: int, accesses: Sequence[SharedAccess], *, padding: int = 0, span: int = 0
) -> SharedChoice:
    conflicts = tuple(
        access.registers.bank_conflicts(layout, element_bytes, vector=access.vector) for access in accesses
    )
    weighted = [(access.times, found) for access, found in zip(accesses, conflicts, strict=True)]
    return SharedChoice(
        layout,
        padding,
        span,
        conflicts,
        wavefronts=sum(times * found.wavefronts for times, found in weighted),
        least=sum(times * found.least for times, found in weighted),
        requests=sum(times * found.requests for times, found in weighted),
        why="",
    )
