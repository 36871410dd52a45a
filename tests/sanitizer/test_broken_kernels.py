"""Faults that people make: each found in its line and as what it is, its right twin clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritium.sanitizer import checked

from .broken_kernels import BROKEN, Broken

SOURCE = Path(__file__).with_name("broken_kernels.py").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.name)
def test_the_fault_is_found(case: Broken) -> None:
    with checked(raise_findings=False) as session:
        case.launch(True)
    found = session.findings
    assert found and {f.kind for f in found} <= case.kinds
    lines = {f.loc.line for f in found if f.loc is not None}
    lines |= {r.loc.line for f in found for r in f.related if r.loc is not None}
    assert any(SOURCE[line - 1].rstrip().endswith("#!") for line in lines), [(f.kind, f.loc) for f in found]
    marked = {f.kind for f in found if f.loc is not None and SOURCE[f.loc.line - 1].rstrip().endswith("#!")}
    assert marked, [(f.kind, f.loc) for f in found]


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.name)
def test_the_right_twin_is_clean(case: Broken) -> None:
    with checked():
        case.launch(False)


def test_there_are_enough() -> None:
    assert len(BROKEN) >= 20 and len({c.name for c in BROKEN}) == len(BROKEN)
