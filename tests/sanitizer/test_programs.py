"""Programs that are not part of the project, checked where they lie (see `tests/differential/test_shared_cases.py`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.generators.cases import folder

SRC = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def where() -> Path:
    found = folder()
    if found is None:
        pytest.skip("the shared programs are not here")
    return found


def report(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    env = {**os.environ, "PYTHONPATH": str(SRC), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "tritium", "check", "--json", *options, path.name]
    done = subprocess.run(command, cwd=path.parent, env=env, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


HALF = ("half-accumulator", 47)
K_MASK = [("out-of-view", 44), ("out-of-view", 45)]


@pytest.mark.parametrize(
    "name, found",
    [
        ("01_tiled_matmul.py", []),
        ("02_three_way_masking.py", K_MASK),
        ("03_accumulation_precision.py", [HALF]),
        ("04_standalone_complete.py", [*K_MASK, ("half-accumulator", None)]),
    ],
)
def test_the_chapter(where: Path, name: str, found: list[tuple[str, int | None]]) -> None:
    status, got = report(where / "chapter13" / name)
    assert status == (1 if found else 0)
    for finding, (kind, line) in zip(got["findings"], found, strict=True):
        assert finding["kind"] == kind and line in (None, finding["location"]["line"])
        if kind == "half-accumulator":
            assert 20 < finding["measures"]["factor"] < 20.5 and finding["measures"]["estimated"] == 16
    masks = [f["message"] for f in got["findings"] if f["kind"] == "out-of-view"]
    for text, (axis, array, extent, bounded, mend) in zip(masks, MISSING, strict=False):
        assert f"axis {axis} of `{array}`, index `ks`, reaches 7; the view has 5 {extent}" in text
        assert f"the mask bounds `{bounded}` and not `ks`; add `{mend}`" in text


MISSING = [
    (1, "a_ptr", "columns", "rows", "ks[None, :] < K"),
    (0, "b_ptr", "rows", "cols", "ks[:, None] < K"),
]


@pytest.mark.parametrize(
    "name, kinds",
    [
        ("c07_int32_overflow_in_offsets.py", ["wrapped-offset"]),
        ("c62_store_then_reload_inside_one_program.py", []),
        ("c63_race_between_programs.py", []),
        ("c65_reads_outside_a_tensor.py", []),
    ],
)
def test_reported_faults(where: Path, name: str, kinds: list[str]) -> None:
    _, got = report(where / "reports" / name)
    assert [f["kind"] for f in got["findings"]] == kinds


CALLS = {
    "c62_store_then_reload_inside_one_program.py": (
        "k_reverse_twice[(1,)](b, o, FENCE=False, W=W)",
        ["missing-barrier"],
        "",
    ),
    "c63_race_between_programs.py": (
        "k_overlap[(4,)](o, STEP=3, W=4)",
        ["write-race"],
        "programs (0, 0, 0) and (1, 0, 0) both write element 3 of `dst`",
    ),
    "c65_reads_outside_a_tensor.py": (
        "a4 = T([1, 2, 3, 4], torch.int32); o = Z(4, torch.int32); k_join[(1,)](a4, b, o, 1, 2, 4, W=4)",
        ["out-of-allocation"],
        "axis 0 of `b`, index `i`, reaches 3; the view has 3 elements",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_faulty_calls_of_reported_faults(where: Path, tmp_path: Path, name: str) -> None:
    call, kinds, text = CALLS[name]
    program = (where / "reports" / name).read_text(encoding="utf-8")
    copy = tmp_path / name
    copy.write_text(f"{program}\n{call}\n", encoding="utf-8")
    status, got = report(copy)
    assert status == 1 and [f["kind"] for f in got["findings"]] == kinds
    assert text in got["findings"][0]["message"]
