"""What users really write wrong: the error names the line and the culprit, and shows nothing of ours."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.corpus.broken import BROKEN, Broken
from tritium.errors import TritiumError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_error_names_the_line(broken: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "interpret")
    path = tmp_path / "program.py"
    path.write_text(broken.source, encoding="utf-8")
    with pytest.raises(TritiumError) as caught:
        runpy.run_path(str(path))
    error = caught.value
    text = str(error)
    assert error.loc is not None, text
    assert (error.loc.file, error.loc.line) == (str(path), broken.line), text
    for mention in broken.mentions:
        assert mention in text, text
    assert str(ROOT / "src") not in text
    assert error.code and error.hint, text
