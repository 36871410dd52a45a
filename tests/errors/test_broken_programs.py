"""What users really write wrong: the error names the line and the culprit, and shows nothing of ours."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from tests.corpus.broken import BROKEN, KINDS, Broken
from tritium.errors import ArgumentError, CompilationError, LaunchError, TritiumError, entries

ROOT = Path(__file__).resolve().parents[2]
OURS = str(ROOT / "src")
CLASSES: dict[str, tuple[type[TritiumError], ...]] = {kind: (CompilationError,) for kind in KINDS}
CLASSES["launch"] = (ArgumentError, LaunchError)


def failure(broken: Broken, path: Path) -> TritiumError:
    path.write_text(broken.source, encoding="utf-8")
    with pytest.raises(TritiumError) as caught:
        runpy.run_path(str(path))
    return caught.value


@pytest.fixture(autouse=True)
def on_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "interpret")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_error_names_the_line(broken: Broken, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    error = failure(broken, path)
    text = str(error)
    assert isinstance(error, CLASSES[broken.kind]), type(error)
    assert error.loc is not None, text
    assert (error.loc.file, error.loc.line) == (str(path), broken.line), text
    for mention in broken.mentions:
        assert mention in text, text
    assert OURS not in text
    assert error.code in entries() and text.startswith(f"error[{error.code}]: "), text
    assert error.hint or (error.expected and error.got), text


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_caret_stands_under_the_line(broken: Broken, tmp_path: Path) -> None:
    lines = str(failure(broken, tmp_path / "program.py")).splitlines()
    wrong = broken.source.splitlines()[broken.line - 1]
    (at,) = [i for i, line in enumerate(lines) if line.replace(" ", "").startswith(f"{broken.line}|")]
    assert lines[at].endswith(wrong)
    carets = lines[at + 1]
    assert set(carets) <= set(" |^") and "^" in carets
    start = carets.index("^") - lines[at].index(wrong)
    end = carets.rindex("^") + 1 - lines[at].index(wrong)
    assert 0 <= start < end <= len(wrong.rstrip()), "the carets leave the line"
    assert wrong[start:end].strip() == wrong[start:end], "the carets start or end in blanks"


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_traceback_is_the_users_and_ends_in_one_frame_of_ours(broken: Broken, tmp_path: Path) -> None:
    error = failure(broken, tmp_path / "program.py")
    frames = [f.filename for f in traceback.extract_tb(error.__traceback__)]
    ours = [f for f in frames if f.startswith(OURS)]
    assert len(ours) <= 1 and frames[len(frames) - len(ours) :] == ours
    assert error.__cause__ is None or isinstance(error.__cause__, TritiumError)
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_shows_the_users_lines_and_the_message_alone(kind: str, tmp_path: Path) -> None:
    broken = next(b for b in BROKEN if b.kind == kind)
    path = tmp_path / "program.py"
    path.write_text(broken.source, encoding="utf-8")
    command = [sys.executable, "-m", "tritium", "run", "--backend", "interpret", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": OURS}, timeout=120
    )
    assert done.returncode == 1 and not done.stdout
    assert OURS not in done.stderr and f"{path}:{broken.line}:" in done.stderr, done.stderr
    assert done.stderr.count("Traceback") == 1 and "error[TRI" in done.stderr
