"""Arguments of operations: the entries of this group."""

from tritium.errors.codes.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
