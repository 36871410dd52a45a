"""Programs that are not part of the project: reported faults, and the chapter whose figures the project promises.

They run where they lie: in the folder TRITIUM_SHARED_CASES, else in ../shared/cases beside the project. Elsewhere these
tests are skipped; `tests/language/test_reported_faults.py`, `tests/language/test_differences.py` and
`tests/differential/test_promises.py` hold the same without them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generators.cases import PAGE, Fault, faults, folder, program, run, verdict

FAULTS = faults()


@pytest.fixture
def where() -> Path:
    found = folder()
    if found is None:
        pytest.skip("the shared programs are not here")
    return found


def shown_verdicts() -> dict[str, str]:
    """What docs/cases.md says."""
    rows = re.findall(
        r"^\| (C\d+) \|.*\| (value|refusal|fault) \| `", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return dict(rows)


def test_the_page_has_every_fault() -> None:
    assert len(FAULTS) == 48 and [f.number for f in FAULTS] == list(shown_verdicts())
    assert "fault" not in shown_verdicts().values()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.number)
def test_a_reported_fault(fault: Fault, where: Path) -> None:
    done = run(program(fault, where))
    assert done.returncode == 0, done.stderr
    assert verdict(done) == shown_verdicts()[fault.number], "python -m docs.generators.cases writes the page"


def test_every_program_is_on_the_list(where: Path) -> None:
    numbers = {p.name.partition("_")[0].upper() for p in (where / "reports").glob("*.py")}
    assert numbers == {f.number for f in FAULTS}


WRONG = """2994004.0000, 2994004.2500, 2994004.5000, 2994004.5000
2994006.2500, 2994006.5000, 2994006.7500, 2994007.2500
2994008.2500, 2994009.0000, 2994009.5000, 2994010.0000
2994010.2500, 2994011.0000, 2994012.0000, 2994012.7500"""

# What each program must print, in this order.
CHAPTER = {
    "01_tiled_matmul.py": ["grid = (2, 2)", "K-iterations per tile = 2", "matches torch matmul? True"],
    "02_three_way_masking.py": [
        "M,K,N = 5,7,6",
        "matches torch matmul? True",
        "correct kernel matches? True",
        "buggy kernel matches?   False",
        *re.findall(r"[\d.]+", WRONG),
    ],
    "03_accumulation_precision.py": [
        "fp32acc max abs diff vs exact: 9.737179152580211e-05",
        "fp16acc max abs diff vs exact: 0.001974425897060428",
    ],
    "04_standalone_complete.py": [
        "=== Section 13.1: tiled matmul, 2x2 grid, 2 K-iterations ===\nmatches torch? True\n\n",
        "=== Section 13.2: sentinel-based K-mask trap ===\ncorrect kernel matches? True\n",
        "buggy kernel matches?   False\n\n=== Section 13.3: fp32 vs fp16 accumulation ===\n",
        "fp16acc max abs diff vs exact: 0.001974425897060428\n",
    ],
}


@pytest.mark.parametrize("name", CHAPTER)
def test_a_program_of_the_chapter(name: str, where: Path) -> None:
    """Its figures to the last digit."""
    done = run(where / "chapter13" / name, backend="interpret")
    assert done.returncode == 0, done.stderr
    at = 0
    for wanted in CHAPTER[name]:
        at = done.stdout.find(wanted, at) + len(wanted)
        assert at >= len(wanted), f"{wanted!r} is missing or out of place in:\n{done.stdout}"
    if name.startswith("04"):
        assert done.stdout.lstrip("\n") == "".join(CHAPTER[name])
