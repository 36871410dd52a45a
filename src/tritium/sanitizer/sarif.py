"""Findings as SARIF 2.1.0, the format of code hosts and editors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tritium.errors import Loc
from tritium.sanitizer.findings import KINDS, Finding
from tritium.sanitizer.session import Session

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_of(session: Session, version: str) -> dict[str, Any]:
    """One SARIF run with the findings of `session`; suppressed ones carry their suppression. `version` is the tool's."""
    rules = [
        {
            "id": kind.name,
            "shortDescription": {"text": kind.title},
            "defaultConfiguration": {"level": kind.level},
        }
        for kind in KINDS.values()
    ]
    driver = {"name": "tritium check", "version": version, "rules": rules}
    results = [_result(f) for f in (*session.findings, *session.suppressed)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, Any]:
    message = finding.message if finding.mend is None else f"{finding.message} ({finding.mend})"
    out: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": list(KINDS).index(finding.kind),
        "level": finding.level,
        "message": {"text": message},
        "locations": [] if finding.loc is None else [_location(finding.loc)],
        "properties": {k: v for k, v in finding.to_json().items() if k in _PROPERTIES},
    }
    related = [_location(r.loc, r.message) for r in finding.related if r.loc is not None]
    if related:
        out["relatedLocations"] = [{"id": i, **place} for i, place in enumerate(related)]
    if finding.suppressed is not None:
        by, reason = finding.suppressed
        kind = "inSource" if by == "comment" else "external"
        out["suppressions"] = [{"kind": kind, "justification": reason}]
    return out


_PROPERTIES = ("kernel", "program", "lane", "indices", "argument", "measures", "count", "launches")


def _location(loc: Loc, message: str | None = None) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": loc.line, "startColumn": loc.col + 1}
    if loc.end_line:
        region |= {"endLine": loc.end_line, "endColumn": loc.end_col + 1}
    place: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(loc.file)}, "region": region}
    }
    if message is not None:
        place["message"] = {"text": message}
    return place


def _uri(file: str) -> str:
    """A path as SARIF wants it: relative to the working folder where it lies in it."""
    if file.startswith("<"):
        return file.strip("<>").replace(" ", "-")
    absolute = os.path.abspath(file)
    try:
        return Path(absolute).relative_to(os.getcwd()).as_posix()
    except ValueError:
        return Path(absolute).as_uri()
