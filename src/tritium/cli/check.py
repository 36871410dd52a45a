"""``tritium check``: a Triton program, unmodified, with every launch checked; ends with a report and a status.

The status is that of the program where it fails, else 1 if something was found, else 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tritium import __version__
from tritium.cli import run as program
from tritium.errors import make_error
from tritium.sanitizer.checked import checking
from tritium.sanitizer.findings import KINDS
from tritium.sanitizer.report import text_of
from tritium.sanitizer.session import Session
from tritium.sanitizer.suppressions import Suppressions


def check(
    args: Sequence[str],
    *,
    module: str | None = None,
    code: str | None = None,
    as_json: bool = False,
    sarif: Path | None = None,
    assume: Sequence[str] = (),
    enable: Sequence[str] = (),
    disable: Sequence[str] = (),
    suppressions: Sequence[str] = (),
) -> int:
    """Run and check a program; gives the exit status. With `as_json` standard output holds the report alone."""
    session = Session(
        enable=_kinds("--enable", enable),
        disable=_kinds("--disable", disable),
        assume=dict(_assumption(a) for a in assume),
        suppressions=Suppressions.read(suppressions),
    )
    stdout = sys.stdout
    status = 0
    try:
        if as_json:
            sys.stdout = sys.stderr
        with checking(session):
            program.run(args, module=module, code=code)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stdout = stdout
    if sarif is not None:
        from tritium.sanitizer.sarif import sarif_of

        sarif.write_text(json.dumps(sarif_of(session, __version__), indent=2) + "\n", encoding="utf-8")
    if as_json:
        print(json.dumps(session.to_json(__version__), indent=2))
    else:
        print(text_of(session), file=sys.stderr)
    return status or (1 if session.findings else 0)


def _kinds(option: str, given: Sequence[str]) -> list[str]:
    found = [k.strip() for text in given for k in text.split(",") if k.strip()]
    for kind in found:
        if kind not in KINDS:
            raise make_error("TRI0923", option=option, got=kind, expected=f"one of {', '.join(KINDS)}")
    return found


def _assumption(text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    try:
        number = float(value)
        if sign and name.strip() and number == int(number):
            return name.strip(), int(value) if value.strip().lstrip("+-").isdigit() else int(number)
    except (ValueError, OverflowError):
        pass
    raise make_error("TRI0923", option="--assume", got=text, expected="NAME=VALUE, such as rows=3e6")
