"""`docs/cases.md`: the faults that users reported, what becomes of each here, and the programs that show it.

The programs themselves are not part of the project. Where they lie (the folder `TRITIUM_SHARED_CASES`, else
`../shared/cases` beside the project), ``python -m docs.generators.cases`` runs each and writes what it ended in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cases.md"


@dataclass(frozen=True)
class Fault:
    """One line of `cases.txt`."""

    number: str
    elsewhere: str
    here: str
    test: str


def faults() -> list[Fault]:
    """The list, in order."""
    lines = Path(__file__).with_name("cases.txt").read_text(encoding="utf-8").splitlines()
    return [Fault(*line.split(" :: ")) for line in lines if line and not line.startswith("#")]


def folder() -> Path | None:
    """Where the programs lie, if they are there."""
    path = Path(os.environ.get("TRITIUM_SHARED_CASES") or ROOT.parent / "shared" / "cases")
    return path if (path / "reports").is_dir() else None


def program(fault: Fault, where: Path) -> Path:
    """The program of a fault."""
    (found,) = (where / "reports").glob(f"{fault.number.lower()}_*.py")
    return found


def run(path: Path, backend: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program under ``tritium run``, from an empty cache setting of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    chosen = ["--backend", backend] if backend else []
    command = [sys.executable, "-m", "tritium", "run", *chosen, str(path)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def verdict(done: subprocess.CompletedProcess[str]) -> str:
    """value: it ended with the right numbers; refusal: it met the clear error that it accepts; fault: neither."""
    if done.returncode:
        return "fault"
    return "refusal" if re.search(r"\brefused\b", done.stdout) else "value"


def page(verdicts: dict[str, str]) -> str:
    """The text of the page."""
    counts = {v: list(verdicts.values()).count(v) for v in ("value", "refusal", "fault")}
    lines = [
        "# Reported faults",
        "",
        "What users reported of Triton's compiler and interpreter and of similar tools, and what happens here. For each",
        "there is a small program that ends without an exception if the tool gets it right. Some accept either the right",
        f"value or a clear error. Of {len(verdicts)} programs, {counts['value']} ended with the value, "
        f"{counts['refusal']} with a refusal that they accept, {counts['fault']} with a fault.",
        "The programs are not part of the project; the tests named here are, and hold the same.",
        "",
        "| number | elsewhere | here | ended with | test |",
        "| --- | --- | --- | --- | --- |",
    ]
    for f in faults():
        lines.append(f"| {f.number} | {f.elsewhere} | {f.here} | {verdicts[f.number]} | `{f.test}` |")
    return "\n".join(lines) + "\n"


def main() -> int:
    where = folder()
    if where is None:
        print("the programs are not here; set TRITIUM_SHARED_CASES to their folder")
        return 1
    PAGE.write_text(page({f.number: verdict(run(program(f, where))) for f in faults()}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
