"""The catalogue's entries, one file per group of codes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tritium.errors.codes.entry import Entry

GROUPS: dict[str, tuple[str, str]] = {
    "TRI01": ("source", "Source of the kernel"),
    "TRI02": ("syntax", "Python syntax"),
    "TRI03": ("names", "Names"),
    "TRI04": ("types", "Types and shapes"),
    "TRI05": ("constexpr", "Compile-time values"),
    "TRI06": ("op_arguments", "Arguments of operations"),
    "TRI07": ("launch", "Launching a kernel"),
    "TRI08": ("execution", "Running a kernel"),
    "TRI09": ("tooling", "Tools"),
}


def all_entries() -> Iterator[Entry]:
    """Every entry of every group."""
    for module, _ in GROUPS.values():
        yield from import_module(f"tritium.errors.codes.{module}").ENTRIES
