"""``tritium check``: programs run as under ``tritium run``, with a report, a status, JSON, SARIF and suppressions."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from .programs import ADD, HEAD, tritium, write

BROKEN = ADD.replace("live = offsets < n", "live = offsets <= n")
OVERLAP = (
    HEAD
    + """

@triton.jit
def fill(out, B: tl.constexpr):
    pid = tl.program_id(0)
    COMMENT
    tl.store(out + pid * 3 + tl.arange(0, B), pid)


fill[(4,)](np.zeros(16, np.int32), B=4)
"""
)


def test_a_right_program_ends_with_its_own_status(tmp_path: Path) -> None:
    script = write(tmp_path, "script.py", ADD)
    done = tritium("check", str(script))
    assert (done.returncode, done.stdout) == (0, "[1. 2. 3. 4. 5. 6.]\n")
    assert done.stderr.splitlines()[-1] == "no findings in 1 launch of 1 kernel"
    write(tmp_path, "fails.py", ADD + "    raise SystemExit(7)\n")
    assert tritium("check", "fails.py", cwd=tmp_path).returncode == 7


def test_findings_make_the_status_one(tmp_path: Path) -> None:
    script = write(tmp_path, "script.py", BROKEN)
    done = tritium("check", str(script), "argument")
    assert done.returncode == 1 and done.stdout == "[1. 2. 3. 4. 5. 6.]\n"
    for text in (
        "error[out-of-allocation]: axis 0 of `x_ptr`, index `offsets`, reaches 6; the view has 6 elements",
        "the mask says `offsets <= n`, which lets `offsets` reach 6; write `offsets < n`",
        f"--> {script}:10:9 in add_kernel",
        "^^^^^^^^^^^^^^^",
        "first: program (1, 0, 0), element [2] of the tile, offsets = 6",
        "array: `x_ptr` (fp32, shape 6, strides 1)",
        "3 findings in 1 launch of 1 kernel",
    ):
        assert text in done.stderr, text


def test_a_program_that_fails_still_gets_its_report(tmp_path: Path) -> None:
    write(tmp_path, "script.py", BROKEN + "    raise ValueError('own fault')\n")
    done = tritium("check", "script.py", cwd=tmp_path)
    assert done.returncode == 1 and "ValueError: own fault" in done.stderr
    assert "3 findings in 1 launch" in done.stderr


def test_json_is_all_that_standard_output_holds(tmp_path: Path) -> None:
    write(tmp_path, "script.py", BROKEN)
    done = tritium("check", "--json", "script.py", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and "[1. 2. 3. 4. 5. 6.]" in done.stderr
    assert (report["schema"], report["version"], report["engine"]) == ("tritium-findings", 1, "interpret")
    assert report["launches"] == 1 and report["kernels"] == ["add_kernel"] and report["suppressed"] == []
    first = report["findings"][0]
    assert set(first) == {
        *("kind", "level", "message", "kernel", "location", "program", "lane", "indices", "argument", "mend"),
        *("measures", "related", "count", "launches"),
    }
    assert first["location"] == {
        **{
            "file": "script.py",
            "line": 10,
            "column": 9,
            "end_line": 10,
            "end_column": 44,
            "function": "add_kernel",
        }
    }
    assert first["argument"] == {"name": "x_ptr", "dtype": "fp32", "shape": [6], "strides": [1]}
    assert (first["kind"], first["program"], first["lane"]) == ("out-of-allocation", [1, 0, 0], [2])
    assert (first["indices"], first["mend"], first["count"]) == ({"offsets": 6}, "offsets < n", 1)


def test_sarif(tmp_path: Path) -> None:
    write(tmp_path, "script.py", BROKEN)
    tritium("check", "--sarif", "out.sarif", "script.py", cwd=tmp_path)
    sarif = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))
    assert sarif["version"] == "2.1.0" and sarif["$schema"].endswith("sarif-2.1.0.json")
    (run,) = sarif["runs"]
    result = run["results"][0]
    assert (
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "out-of-allocation"
    )
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "script.py"
    assert place["region"] == {"startLine": 10, "startColumn": 9, "endLine": 10, "endColumn": 44}
    assert result["level"] == "error" and "offsets < n" in result["message"]["text"]


@pytest.mark.parametrize("text", ["# tritium: allow[write-race] the last one wins, whichever it is"])
def test_a_comment_suppresses_with_its_reason(tmp_path: Path, text: str) -> None:
    write(tmp_path, "script.py", OVERLAP.replace("COMMENT", text))
    done = tritium("check", "--json", "script.py", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["findings"] == []
    (hidden,) = report["suppressed"]
    assert hidden["suppressed"] == {"by": "comment", "reason": "the last one wins, whichever it is"}


@pytest.mark.parametrize(
    "text, code",
    [("# tritium: allow[write-race]", "TRI0922"), ("# tritium: allow[write-raze] why", "TRI0921")],
)
def test_a_comment_without_a_reason_or_with_an_unknown_kind_is_refused(
    tmp_path: Path, text: str, code: str
) -> None:
    write(tmp_path, "script.py", OVERLAP.replace("COMMENT", text))
    done = tritium("check", "script.py", cwd=tmp_path)
    assert done.returncode == 1 and code in done.stderr


def test_another_kind_is_not_suppressed(tmp_path: Path) -> None:
    write(tmp_path, "script.py", OVERLAP.replace("COMMENT", "# tritium: allow[read-race] not this one"))
    done = tritium("check", "script.py", cwd=tmp_path)
    assert (
        done.returncode == 1
        and "programs (0, 0, 0) and (1, 0, 0) both write element 3 of `out`" in done.stderr
    )


@pytest.mark.parametrize("where", ["fill", "*.py", "script.py"])
def test_a_file_suppresses(tmp_path: Path, where: str) -> None:
    write(tmp_path, "script.py", OVERLAP.replace("COMMENT", "pass"))
    write(tmp_path, "known.txt", f"# our own list\nwrite-race,read-race {where}  # to be mended\n")
    done = tritium("check", "--suppressions", "known.txt", "script.py", cwd=tmp_path)
    assert done.returncode == 0 and "no findings in 1 launch of 1 kernel, 1 suppressed" in done.stderr


@pytest.mark.parametrize(
    "text, code",
    [
        ("write-race fill\n", "TRI0922"),
        ("write-race # why\n", "TRI0921"),
        ("nonsense fill # why\n", "TRI0921"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str, code: str) -> None:
    write(tmp_path, "known.txt", text)
    write(tmp_path, "script.py", "print('ran')\n")
    done = tritium("check", "--suppressions", "known.txt", "script.py", cwd=tmp_path)
    assert done.returncode == 1 and code in done.stderr and "ran" not in done.stdout


def test_kinds_can_be_left_out_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "script.py", OVERLAP.replace("COMMENT", "pass"))
    assert tritium("check", "--disable", "write-race", "script.py", cwd=tmp_path).returncode == 0
    done = tritium("check", "--enable", "speling", "script.py", cwd=tmp_path)
    assert done.returncode == 1 and "TRI0923" in done.stderr and "cancellation" in done.stderr


def test_assumptions(tmp_path: Path) -> None:
    write(tmp_path, "script.py", ADD)
    done = tritium("check", "--assume", "n=2e9", "script.py", cwd=tmp_path)
    assert (
        done.returncode == 0
        and "proved: no int32 offset of `add_kernel` wraps around with n = 2000000000" in done.stderr
    )
    done = tritium("check", "--json", "--assume", "n=5000000000", "script.py", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["proofs"][0]["verdict"] == "refuted"
    assert {f["kind"] for f in report["findings"]} == {"offset-overflow"}
    for wrong in ("n", "n=many", "=3", "n=1.5"):
        done = tritium("check", "--assume", wrong, "script.py", cwd=tmp_path)
        assert done.returncode == 1 and "TRI0923" in done.stderr


def test_modules_and_code(tmp_path: Path) -> None:
    write(tmp_path, "program.py", BROKEN)
    assert tritium("check", "-m", "program", cwd=tmp_path).returncode == 1
    done = tritium("check", "-c", "import program, sys; print(sys.argv)", "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "['-c', '--json']\n")


TESTS = (
    BROKEN.partition("if __name__")[0]
    + """

def test_six():
    assert add(np.arange(6, dtype=np.float32), np.ones(6, np.float32))[5] == 6


def test_eight():
    with np.errstate(all="ignore"):
        add(np.zeros(7, np.float32), np.ones(7, np.float32))


def test_nothing():
    pass
"""
)


def pytest_run(folder: Path, *args: str) -> str:
    installed = entry_points(
        group="pytest11", value="tritium.cli.pytest_plugin"
    )  # then pytest has it already
    plugin = [] if installed else ["-p", "tritium.cli.pytest_plugin"]
    code = f"import sys, pytest; sys.exit(pytest.main({[*args, *plugin, 'test_it.py']!r}))"
    done = tritium("run", "-c", code, cwd=folder)
    return done.stdout + done.stderr


def test_the_pytest_plugin(tmp_path: Path) -> None:
    write(tmp_path, "test_it.py", TESTS)
    text = pytest_run(tmp_path, "--tritium-check")
    assert "2 failed, 1 passed" in text and "tritium check: findings in 2 tests, 2 launches checked" in text
    assert "axis 0 of `x_ptr`, index `offsets`, reaches 6" in text
    assert "tritium check" not in pytest_run(tmp_path)
    write(tmp_path, "known.txt", "out-of-allocation add_kernel # known\n")
    assert "3 passed" in pytest_run(tmp_path, "--tritium-check", "--tritium-suppressions", "known.txt")
    assert "3 passed" in pytest_run(tmp_path, "--tritium-check", "--tritium-disable", "out-of-allocation")
