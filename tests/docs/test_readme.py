"""The README tells the truth: its commands exist, its first kernel prints what it shows, its figures are recorded ones."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_targets_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test", "docs", "bench"} <= targets
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE)) <= targets


def test_its_first_kernel_prints_what_it_shows() -> None:
    ((code, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    linecache.cache["<readme>"] = (len(code), None, code.splitlines(True), "<readme>")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<readme>", "exec"), {"__name__": "readme"})
    assert printed.getvalue() == shown


def test_the_demo_prints_the_table_it_shows() -> None:
    """Rates differ from run to run; the rest does not."""
    shown = re.search(r"```text\n(backend .*?)```", README, re.DOTALL)
    assert shown is not None
    command = re.search(
        r"^demo:.*\n\t\S+python (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert command is not None
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, *command[1].split()], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert _without_rates(done.stdout) == _without_rates(shown[1])


def _without_rates(text: str) -> list[list[str]]:
    lines = [line.split() for line in text.splitlines()]
    return [line[:-1] if line and re.fullmatch(r"[\d.]+", line[-1]) else line for line in lines]


def test_recorded_figures_meet_what_is_promised() -> None:
    """Matmul compiles in under 40 ms, and the interpreter is at least 100 times as fast as Triton's."""
    compiled = json.loads((ROOT / "bench" / "results" / "compile_time.json").read_text(encoding="utf-8"))
    assert compiled["figures"]["matmul"]["median_ms"] < 40
    against = json.loads((ROOT / "bench" / "results" / "interpreter.json").read_text(encoding="utf-8"))
    assert len(against["figures"]) == 2
    for found in against["figures"].values():
        assert found["times"] >= 100 and found["times"] == round(found["triton_ms"] / found["ms"])
    for found in (compiled, against):
        assert f"{found['date']}, {found['machine']['cores']} cores of an {found['machine']['cpu']}" in README
