"""Write the documentation of the error catalogue: `python -m tritium.errors.pages docs/errors`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tritium.errors.catalogue import entries
from tritium.errors.codes import GROUPS
from tritium.errors.codes.entry import Entry, program

INDEX = "README.md"


def _as_shown(template: str) -> str:
    """A message template with its fields in angle brackets."""
    return re.sub(r"\{(\w+)[^}]*\}", r"<\1>", template)


def render_page(entry: Entry, group_title: str) -> str:
    """The page of one code, in Markdown."""
    bases = [
        base.__name__ for base in entry.cls.__mro__[1:] if base not in (Exception, BaseException, object)
    ]
    parts = [
        f"# {entry.code}: {entry.title}",
        f"[{group_title}]({INDEX}) · raised as `{entry.cls.__name__}` ({', '.join(bases)})",
        f"```text\nerror[{entry.code}]: {_as_shown(entry.message)}\nhelp: {_as_shown(entry.hint)}\n```",
        entry.explanation.strip(),
    ]
    if entry.broken:
        parts.append(f"## A program that raises it\n\n```python\n{program(entry.broken)}```")
        parts.append(f"## The same program, mended\n\n```python\n{program(entry.mended)}```")
    return "\n\n".join(parts) + "\n"


def render_index() -> str:
    """The list of all codes by group, in Markdown."""
    parts = [
        "# Errors",
        "Every error that Tritium raises for something a program can mend has a code that keeps its\n"
        "meaning. The text of an error shows the place in the program, what was expected, what came and\n"
        "what to do. These pages are written by `make docs` from the catalogue in\n"
        "`src/tritium/errors/codes/`.",
    ]
    for group in GROUPS:
        rows = [
            f"| [{code}]({code}.md) | {entry.title} | `{entry.cls.__name__}` |"
            for code, entry in entries().items()
            if code.startswith(group.prefix)
        ]
        table = "\n".join(["| code | meaning | raised as |", "| --- | --- | --- |", *rows])
        parts.append(f"## {group.title}\n\n{table}")
    return "\n\n".join(parts) + "\n"


def render_pages() -> dict[str, str]:
    """Every page by file name."""
    titles = {group.prefix: group.title for group in GROUPS}
    pages = {f"{code}.md": render_page(entry, titles[code[:5]]) for code, entry in entries().items()}
    pages[INDEX] = render_index()
    return pages


def write_pages(folder: Path) -> None:
    """Write every page into `folder`, and remove pages of codes that no longer exist."""
    pages = render_pages()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("TRI*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
