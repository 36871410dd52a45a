"""The figures of the README, from the files that the benchmarks record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.generators.semantics import table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
_PART = re.compile(r"(<!-- figures: [^\n]*-->\n).*?(<!-- end of figures -->)", re.DOTALL)


def recorded(name: str) -> dict[str, Any]:
    """One recorded benchmark."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def where(found: dict[str, Any]) -> str:
    """Date and machine of a benchmark, as a sentence part."""
    m = found["machine"]
    return f"{found['date']}, {m['cores']} cores of an {m['cpu']}, Python {m['python']}, NumPy {m['numpy']}"


def figures() -> str:
    """The section, as Markdown."""
    interpreter, compile_time = recorded("interpreter"), recorded("compile_time")
    peer = interpreter["peer"]
    rows = [
        [name, f"{f['ms']:.1f} ms", f"{f['triton_ms']:.0f} ms", f"{f['times']} times"]
        for name, f in interpreter["figures"].items()
    ]
    compiled = [
        [name, f"{f['median_ms']:.1f} ms", f"{f['front_end_median_ms']:.1f} ms", str(f["runs"])]
        for name, f in compile_time["figures"].items()
    ]
    return "\n\n".join(
        [
            f"The interpreter against Triton's own ({peer['triton']}, NumPy {peer['numpy']}), warm, medians, in one run "
            f"({where(interpreter)}):",
            table(["kernel", "Tritium", "Triton", "faster"], rows),
            f"Source to optimised IR in a warm process, nothing cached, medians ({where(compile_time)}):",
            table(["kernel", "in all", "front end", "runs"], compiled),
            f"Measure again with `make bench`, or `{interpreter['command']}` for the comparison.",
        ]
    )


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    yield "README.md", _PART.sub(lambda m: f"{m[1]}\n{figures()}\n\n{m[2]}", text)
