"""``tritium explain``: how a kernel is compiled and why."""

from __future__ import annotations

import json

from tritium.cli.target import resolve
from tritium.explain.report import as_text, report
from tritium.pipeline import compile_kernel
from tritium.runtime.specialize import to_signature


def explain(target: str, signature: str | None, as_json: bool = False) -> None:
    """Compile the kernel through all stages and print the report."""
    kernel, specs, options = resolve(target, signature)
    found = report(compile_kernel(kernel.source, to_signature(specs), options), "interpret")
    print(json.dumps(found, indent=2) if as_json else as_text(found), end="")
