"""The pages under docs/findings: every kind has one, its broken kernel gives that finding, its mended one nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritium.errors import register_source
from tritium.sanitizer import KINDS, Session, checked

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "findings"
_CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OPTIONS = re.compile(r"^Checked with `(.*)`\.$", re.MULTILINE)


def run(text: str, name: str, options: dict[str, Any]) -> Session:
    file = f"<{name}>"
    register_source(file, text)
    with checked(raise_findings=False, **options) as session:
        exec(compile(text, file, "exec"), {"__name__": name, "np": np})
    return session


def parts(kind: str) -> tuple[str, str, dict[str, Any]]:
    text = (FOLDER / f"{kind}.md").read_text(encoding="utf-8")
    broken, mended = _CODE.findall(text)
    given = _OPTIONS.search(text)
    return broken, mended, eval(f"dict({given[1]})") if given else {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_broken_kernel_gives_the_finding(kind: str) -> None:
    broken, _, options = parts(kind)
    found = run(broken, f"broken_{kind}", options).findings
    assert [f.kind for f in found] and {f.kind for f in found} == {kind}
    assert all(f.loc is not None and f.loc.file == f"<broken_{kind}>" for f in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mended_kernel_gives_none(kind: str) -> None:
    _, mended, options = parts(kind)
    assert not run(mended, f"mended_{kind}", options).findings


def test_the_table_lists_every_kind() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        level = kind.level + (", on request" if kind.opt_in else "")
        assert f"| [{kind.name}]({kind.name}.md) | {kind.title} | {level} |" in text
        page = (FOLDER / f"{kind.name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {kind.name}: {kind.title}\n")
