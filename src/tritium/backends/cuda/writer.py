"""Lines of C++ with their indentation and the kernel line each comes from."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from tritium.errors import Loc
from tritium.errors.location import source_line


class Writer:
    """Collects lines. `loc` is where the lines now written come from; a comment shows the kernel line once."""

    def __init__(self, indent: int = 1) -> None:
        self.lines: list[str] = []
        self.locs: list[Loc | None] = []
        self.indent = indent
        self.loc: Loc | None = None
        self._shown: tuple[str, int] | None = None

    def line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text if text else "")
        self.locs.append(self.loc)

    def pragma(self, text: str) -> None:
        self.line(f"#pragma {text}")

    def at(self, loc: Loc | None) -> None:
        """What follows comes from `loc`."""
        if loc is None:
            return
        self.loc = loc
        if (loc.file, loc.line) == self._shown:
            return
        self._shown = (loc.file, loc.line)
        text = source_line(loc.file, loc.line)
        if text is not None and text.strip():
            self.line(f"// {text.strip()}".rstrip("\\"))

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """``head { ... }``"""
        self.line(f"{head} {{")
        self.indent += 1
        yield
        self.indent -= 1
        self.line("}")

    def extend(self, other: Writer) -> None:
        """Take over the lines of `other` as they are."""
        self.lines += other.lines
        self.locs += other.locs

    def all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)
