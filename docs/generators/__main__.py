"""``python -m docs.generators``: write every generated page; with ``--check`` only name those that are out of date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from docs.generators import readme, reference, semantics, support

ROOT = Path(__file__).resolve().parents[2]


def pages() -> Iterator[tuple[str, str]]:
    """Path, from the project's root, and text of every generated page."""
    for module in (reference, semantics, support, readme):
        yield from module.pages()


def stale() -> list[str]:
    """Pages that are not as they would be written now, and pages in generated folders that nothing writes."""
    written = dict(pages())
    found = [
        p for p, text in written.items() if not (ROOT / p).is_file() or (ROOT / p).read_text("utf-8") != text
    ]
    present = {p.relative_to(ROOT).as_posix() for p in (ROOT / reference.FOLDER).glob("*.md")}
    return sorted([*found, *(present - set(written))])


def main() -> int:
    if "--check" in sys.argv:
        found = stale()
        print("\n".join(found) or "all pages are up to date")
        return 1 if found else 0
    for path, text in pages():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
