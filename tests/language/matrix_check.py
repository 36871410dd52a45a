"""Compare a frontend with the recorded results of the matrices."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .binary_matrices import BINARY
from .case_file import load_data
from .library_matrices import LIBRARY
from .matrix import ACCIDENT, REFUSED, Matrix, kernel_text, outcome_text
from .observe import Frontend, Refusal, observe
from .op_matrices import OPS

MATRICES = {matrix.name: matrix for matrix in (*BINARY, *OPS, *LIBRARY)}
_BATCH = 64
_REPORTED = 12


@cache
def recorded() -> dict[str, Any]:
    """The recorded results of all matrices by name."""
    return load_data("binary_types.json") | load_data("op_types.json") | load_data("library_types.json")


@dataclass(frozen=True)
class Expectation:
    """One combination of a matrix and the outcome that Tritium must give."""

    coordinates: tuple[str, ...]
    outcome: str


def expectations(matrix: Matrix, first: str) -> Iterator[Expectation]:
    """Every combination whose first coordinate is `first`. Raises KeyError when the recording is out of date."""
    data = recorded()[matrix.name]
    if data["columns"] != list(matrix.columns):
        raise KeyError(f"{matrix.name}: the recording has other columns; record again")
    for row in matrix.rows():
        if row and row[0] != first:
            continue
        for column, letter in zip(matrix.columns, data["rows"][" ; ".join(row)], strict=True):
            coordinates = (*row, column)
            outcome = data["legend"][letter]
            if outcome == REFUSED:
                outcome = matrix.extended(coordinates) or REFUSED
            yield Expectation(coordinates, outcome)


def groups() -> list[tuple[str, str]]:
    """Matrix name and first coordinate of every test."""
    return [
        (m.name, first) for m in MATRICES.values() for first in (m.axes[0][1] if len(m.axes) > 1 else ("",))
    ]


def mismatches(frontend: Frontend, matrix: Matrix, wanted: Sequence[Expectation]) -> list[str]:
    """Accepted combinations that a frontend types otherwise; many share one kernel, so this is cheap when right."""
    found: list[str] = []
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        result = observe(frontend, kernel_text(matrix, [item.coordinates for item in batch]))
        expected = [line for item in batch for line in item.outcome.split(" | ") if line]
        if isinstance(result, Refusal) or list(result) != expected:
            found += _one_by_one(frontend, matrix, batch)
        if len(found) >= _REPORTED:
            break
    return found[:_REPORTED]


def _one_by_one(frontend: Frontend, matrix: Matrix, batch: Sequence[Expectation]) -> list[str]:
    found = []
    for item in batch:
        result = observe(frontend, kernel_text(matrix, [item.coordinates]))
        got = result.text if isinstance(result, Refusal) else outcome_text(matrix, item.coordinates, result)
        if isinstance(result, Refusal) or got != item.outcome:
            found.append(f"{matrix.name} {item.coordinates}: expected {item.outcome!r}, got {got}")
    return found or [
        f"{matrix.name}: {batch[0].coordinates} to {batch[-1].coordinates} agree alone, not in one kernel"
    ]


def wrongly_accepted(frontend: Frontend, matrix: Matrix, refused: Sequence[Expectation]) -> list[str]:
    """Refused combinations that a frontend accepts, or refuses without pointing at the kernel's own line."""
    found: list[str] = []
    for item in refused:
        kernel = kernel_text(matrix, [item.coordinates])
        result = observe(frontend, kernel)
        if not isinstance(result, Refusal):
            found.append(f"{matrix.name} {item.coordinates}: expected a refusal, got {result}")
        elif not any(
            line.strip() in result.text for line in kernel.source.splitlines() if "=" in line or "tl." in line
        ):
            found.append(
                f"{matrix.name} {item.coordinates}: the error quotes no line of the kernel: {result.text}"
            )
        if len(found) >= _REPORTED:
            break
    return found


def sample(matrix: Matrix, items: Sequence[Expectation], share: int) -> list[Expectation]:
    """About one in `share` of `items`, always the same ones."""
    return [i for i in items if zlib.crc32(repr((matrix.name, i.coordinates)).encode()) % share == 0]


def split(matrix: Matrix, first: str) -> tuple[list[Expectation], list[Expectation], list[Expectation]]:
    """Combinations with given types, refused ones, and those where either answer will do."""
    typed: list[Expectation] = []
    refused: list[Expectation] = []
    either: list[Expectation] = []
    for item in expectations(matrix, first):
        (refused if item.outcome == REFUSED else either if item.outcome == ACCIDENT else typed).append(item)
    return typed, refused, either
