"""Findings that the user has decided about: by a comment in the kernel, or by a file. Both say why.

A comment stands on the line of the finding, or alone on the line above it::

    tl.store(out + 0, total)  # tritium: allow[write-race] every instance writes the same sum

A file holds one rule a line: kinds, then where, then the reason behind ``#``. Where is a kernel's name or a path, in
which ``*`` stands for anything::

    read-race            lookback_scan        # the flags order the reads; checked by hand
    out-of-view,wrapped-offset  vendor/*.py   # third-party code, reported upstream
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tritium.errors import make_error
from tritium.errors.location import Loc, source_line
from tritium.sanitizer.findings import KINDS, Finding

_COMMENT = re.compile(r"#\s*tritium:\s*allow\[(?P<kinds>[^\]]*)\]\s*(?P<reason>.*)$")


@dataclass(frozen=True, slots=True)
class Rule:
    """Findings of `kinds` in kernels or files that match `where` are suppressed, because of `reason`."""

    kinds: frozenset[str]
    where: str
    reason: str
    source: str

    def fits(self, finding: Finding) -> bool:
        if finding.kind not in self.kinds:
            return False
        names = [finding.kernel]
        for loc in finding.loc.frames() if finding.loc is not None else ():
            names += [loc.function, loc.file, Path(loc.file).as_posix(), Path(loc.file).name]
        return any(fnmatchcase(n, self.where) or n.endswith("/" + self.where) for n in names)


@dataclass
class Suppressions:
    """The rules of a run; comments are found where findings are."""

    rules: list[Rule] = field(default_factory=list[Rule])

    def of(self, finding: Finding) -> tuple[str, str] | None:
        """By what `finding` is suppressed and why, or None. Raises TRI0922 for a comment without a reason."""
        for loc in finding.loc.frames() if finding.loc is not None else ():
            reason = _comment(loc, finding.kind)
            if reason is not None:
                return "comment", reason
        for rule in self.rules:
            if rule.fits(finding):
                return rule.source, rule.reason
        return None

    @staticmethod
    def read(paths: Iterable[str]) -> Suppressions:
        """The rules of files. Raises TRI0921 for a file or a line that cannot be read, TRI0922 without a reason."""
        found: list[Rule] = []
        for path in paths:
            try:
                text = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as broken:
                raise make_error("TRI0921", text=path, problem=str(broken)) from None
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip() and not line.lstrip().startswith("#"):
                    found.append(_rule(line, f"{path}:{number}"))
        return Suppressions(found)


def _rule(line: str, source: str) -> Rule:
    body, _, reason = line.partition("#")
    parts = body.split()
    if len(parts) != 2:
        problem = "a rule is KINDS WHERE # REASON"
        raise make_error("TRI0921", text=f"{source}: {line.strip()}", problem=problem)
    if not reason.strip():
        raise make_error("TRI0922", text=f"{source}: {line.strip()}")
    return Rule(_known_kinds(parts[0], source), parts[1], reason.strip(), source)


def _known_kinds(text: str, source: str) -> frozenset[str]:
    kinds = {k.strip() for k in text.split(",") if k.strip()}
    unknown = sorted(kinds - set(KINDS))
    if unknown or not kinds:
        problem = (
            f"no kind of finding is called {', '.join(unknown) or 'nothing'}; they are {', '.join(KINDS)}"
        )
        raise make_error("TRI0921", text=source, problem=problem)
    return frozenset(kinds)


def _comment(loc: Loc, kind: str) -> str | None:
    """The reason in a comment that allows `kind` at `loc`."""
    last = max(loc.end_line, loc.line)
    for number in (*range(loc.line, last + 1), loc.line - 1):
        text = source_line(loc.file, number) or ""
        found = _COMMENT.search(text)
        if found is None or (number == loc.line - 1 and not text.lstrip().startswith("#")):
            continue
        where = f"{loc.file}:{number}"
        if kind in _known_kinds(found["kinds"], where):
            reason = found["reason"].strip()
            if not reason:
                raise make_error("TRI0922", Loc(loc.file, number), text=text.strip())
            return reason
    return None
