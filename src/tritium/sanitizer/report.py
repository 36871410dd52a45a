"""The report as text: each finding with its place, caret, instance, indices, argument, and what to write instead."""

from __future__ import annotations

from tritium.errors.location import Loc
from tritium.errors.render import excerpt
from tritium.sanitizer.findings import Finding, Related
from tritium.sanitizer.session import Session


def text_of(session: Session) -> str:
    """All findings and a last line that counts; ends without a newline."""
    parts = [finding_text(f) for f in session.findings]
    parts += [proof_text(p) for p in session.proofs]
    parts.append(summary(session))
    return "\n\n".join(parts)


def finding_text(finding: Finding) -> str:
    """One finding as a paragraph."""
    lines = [f"{finding.level}[{finding.kind}]: {finding.message}"]
    if finding.loc is not None:
        lines.append(f"  --> {finding.loc}")
        shown = excerpt(finding.loc)
        if shown:
            lines.append(shown)
    for label, value in _facts(finding):
        lines.append(f"{label}: {value}")
    lines += [_related(r) for r in finding.related]
    return "\n".join(lines)


def _facts(finding: Finding) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    where: list[str] = []
    if finding.program is not None:
        where.append(f"program {finding.program}")
    if finding.lane is not None:
        where.append(f"element {list(finding.lane)} of the tile")
    if finding.indices:
        where.append(", ".join(f"{name} = {value}" for name, value in finding.indices.items()))
    if where:
        found.append(("first", ", ".join(where)))
    if finding.argument is not None:
        found.append(("array", str(finding.argument)))
    if finding.measures:
        found.append(("measured", ", ".join(f"{k} {v:.6g}" for k, v in finding.measures.items())))
    if finding.mend is not None:
        found.append(("help", finding.mend))
    if finding.count > 1 or finding.launches > 1:
        often = f"{finding.count} elements" if finding.count > 1 else ""
        launches = f"{finding.launches} launches" if finding.launches > 1 else ""
        found.append(("seen", " in ".join(x for x in (often, launches) if x)))
    return found


def _related(related: Related) -> str:
    program = f" by program {related.program}" if related.program is not None else ""
    lines = [f"note: {related.message}{program}"]
    if related.loc is not None:
        lines.append(f"  --> {related.loc}")
        line = _line(related.loc)
        if line:
            lines.append(line)
    return "\n".join(lines)


def _line(loc: Loc) -> str:
    return excerpt(loc)


def proof_text(proof: dict[str, object]) -> str:
    """One proof about int32 offsets."""
    return f"{proof['verdict']}: {proof['message']}"


def summary(session: Session) -> str:
    """``2 findings in 4 launches of 2 kernels, 1 suppressed``."""
    n, launches, kernels = len(session.findings), session.launches, len(session.kernels)
    head = f"{n} finding{'s' if n != 1 else ''}" if n else "no findings"
    text = f"{head} in {launches} launch{'es' if launches != 1 else ''} of {kernels} kernel{'s' if kernels != 1 else ''}"
    hidden = len(session.suppressed)
    return text + (f", {hidden} suppressed" if hidden else "")
