"""The catalogue's entries, grouped as their codes are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tritium.errors.codes.entry import Entry


@dataclass(frozen=True, slots=True)
class Group:
    """A group of codes: their common prefix, its title in the docs, and the modules that hold its entries."""

    prefix: str
    title: str
    modules: tuple[str, ...]


GROUPS: tuple[Group, ...] = (
    Group("TRI01", "Source of the kernel", ("source",)),
    Group("TRI02", "Python syntax", ("statements", "expressions")),
    Group("TRI03", "Names", ("names",)),
    Group("TRI04", "Types and shapes", ("operands", "agreement")),
    Group("TRI05", "Compile-time values", ("constexpr",)),
    Group("TRI06", "Arguments of operations", ("memory_arguments", "op_arguments")),
    Group("TRI07", "Launching and tuning a kernel", ("launch", "devices", "cuda", "gpu")),
    Group("TRI08", "Running a kernel", ("execution", "machine")),
    Group("TRI09", "Tools", ("tooling",)),
)


def all_entries() -> Iterator[Entry]:
    """Every entry of every group."""
    for group in GROUPS:
        for module in group.modules:
            entries: tuple[Entry, ...] = import_module(f"tritium.errors.codes.{module}").ENTRIES
            yield from entries
