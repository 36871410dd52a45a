"""``with tritium.checked() as found:`` checks every launch in the block."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

from tritium.errors import InterpreterError
from tritium.runtime import launch_check
from tritium.sanitizer.findings import Finding
from tritium.sanitizer.fresh import watching
from tritium.sanitizer.launch import Checker
from tritium.sanitizer.report import text_of
from tritium.sanitizer.session import Session
from tritium.sanitizer.suppressions import Suppressions


class FindingsError(InterpreterError):
    """What `checked` raises at the end of a block in which it found something; `findings` holds it."""

    findings: Sequence[Finding] = ()


@contextmanager
def checking(session: Session) -> Generator[Session]:
    """Check every launch in the block, in any thread, and collect what is found in `session`."""
    with watching(session.fresh), launch_check.installed(Checker(session)):
        try:
            yield session
        finally:
            session.finish()


@contextmanager
def checked(
    *,
    enable: Iterable[str] = (),
    disable: Iterable[str] = (),
    assume: Mapping[str, int] | None = None,
    suppressions: Iterable[str] = (),
    raise_findings: bool = True,
) -> Generator[Session]:
    """Run every launch in the block on the interpreter with all checks; gives the `Session` that collects findings.

    enable, disable   kinds of findings to add (opt-in ones) or to leave out
    assume            values of kernel arguments for which int32 offsets shall be proved not to wrap
    suppressions      files of suppressions
    raise_findings    whether the end of the block raises FindingsError if something was found
    """
    rules = Suppressions.read(suppressions)
    session = Session(enable=enable, disable=disable, assume=assume, suppressions=rules)
    with checking(session):
        yield session
    if raise_findings and session.findings:
        count = len(session.findings)
        text = f"{count} finding{'s' if count != 1 else ''}\n\n{text_of(session)}"
        error = FindingsError(text)
        error.findings = session.findings
        raise error
