"""The programs on the error pages do what the pages say: one raises its code, at a place in it, the other runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tritium.errors import CompilationError, TritiumError, entries
from tritium.errors.codes.entry import Entry, program

ROOT = Path(__file__).resolve().parents[2]
WITH_PROGRAMS = [entry for entry in entries().values() if entry.broken]


@pytest.fixture(autouse=True)
def on_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "interpret")


def run(text: str, folder: Path) -> Path:
    path = folder / "program.py"
    path.write_text(program(text), encoding="utf-8")
    runpy.run_path(str(path))
    return path


@pytest.mark.parametrize("entry", WITH_PROGRAMS, ids=lambda entry: entry.code)
def test_the_broken_program_raises_its_code(entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(TritiumError) as caught:
        run(entry.broken, tmp_path)
    error = caught.value
    assert error.code == entry.code, str(error)
    assert type(error) is entry.cls
    text = str(error)
    assert error.loc is not None and error.loc.file == str(tmp_path / "program.py"), text
    assert "^" in text and "help: " in text
    assert str(ROOT / "src") not in text
    if isinstance(error, CompilationError):
        assert re.search(r"\bat \d+:\d+:", text)
    assert error.message != entry.title or not re.search(r"\{", entry.message), "the message was not filled"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("entry", WITH_PROGRAMS, ids=lambda entry: entry.code)
def test_the_mended_program_runs(entry: Entry, tmp_path: Path) -> None:
    run(entry.mended, tmp_path)
