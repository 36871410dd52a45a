"""The driver of compute-sanitizer, with stand-ins for the tool: what it reports, and that no silence is made up."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gpu import sanitize

TOOL = """#!{python}
import json, sys
args = sys.argv[1:]
log, tool = args[args.index("--log-file") + 1], args[args.index("--tool") + 1]
probing = "--faulty" in args
found = {probe} if probing else {corpus}
if not probing:
    json.dump({cases}, open(args[args.index("--corpus") + 1], "w"))
with open(log, "w") as file:
    file.write("========= COMPUTE-SANITIZER\\n")
    if found is None:
        file.write("========= Error: Target application terminated before first instrumented API call\\n")
    elif tool == "memcheck":
        file.write(f"========= ERROR SUMMARY: {{found}} errors\\n")
    else:
        file.write(f"========= RACECHECK SUMMARY: {{found}} hazards displayed ({{found}} errors, 0 warnings)\\n")
"""
CASES = {"default": {"a": "ok", "b": "refused: no", "c": "not run"}, "matmul": {"d": "ok"}}


def entry(folder: Path, tool: str, probe: Any, corpus: Any, cases: Any = CASES) -> dict[str, Any]:
    program = folder / "compute-sanitizer"
    program.write_text(TOOL.format(python=sys.executable, probe=probe, corpus=corpus, cases=cases))
    program.chmod(0o755)
    return sanitize.check(tool, str(program), 30)


@pytest.mark.parametrize("tool", sanitize.FAULTS)
def test_a_tool_that_finds_the_fault_and_nothing_in_the_corpus_is_silent(tool: str, tmp_path: Path) -> None:
    found = entry(tmp_path, tool, 1, 0)
    assert found["result"] == "silent" and "log" not in found
    assert found["cases"] == {"default": {"ok": 1, "refused": 1, "not run": 1}, "matmul": {"ok": 1}}
    assert found["wrong"] == {} and "SUMMARY: 1" in found["probe"]


@pytest.mark.parametrize("tool", sanitize.FAULTS)
def test_what_it_finds_is_reported_with_its_log(tool: str, tmp_path: Path) -> None:
    found = entry(tmp_path, tool, 3, 2, {"default": {"a": "TRI0739: illegal address"}})
    assert found["result"] == "2 reported" and "SUMMARY: 2" in found["log"]
    assert found["wrong"] == {"default a": "TRI0739: illegal address"}


@pytest.mark.parametrize("tool", sanitize.FAULTS)
@pytest.mark.parametrize(
    ("probe", "corpus", "reason"),
    [
        (0, 0, "it finds no fault where there is one"),
        (None, 0, "terminated before first instrumented"),
        (1, None, "terminated before first instrumented"),
    ],
)
def test_a_tool_that_cannot_work_is_not_silent(
    tool: str, probe: Any, corpus: Any, reason: str, tmp_path: Path
) -> None:
    found = entry(tmp_path, tool, probe, corpus)
    assert found["result"] == "not run" and reason in found["reason"]


def test_a_tool_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "compute-sanitizer"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o755)
    found = sanitize.under("memcheck", str(program), [], 0.5)
    assert found.found is None and "did not end" in found.reason() and found.seconds < 20


def test_without_a_gpu_or_a_tool_the_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitize, "CANDIDATES", ("/nowhere/compute-sanitizer",))
    program, reason = sanitize.program_of_sanitizer()
    assert program == "" and "/nowhere/compute-sanitizer" in reason
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["sanitize", str(out), "5"])
    assert sanitize.main() == 0
    made = json.loads(out.read_text())
    assert {made[tool]["result"] for tool in sanitize.FAULTS} == {"not run"}
    assert all(made[tool]["reason"] for tool in sanitize.FAULTS) and made["date"]
