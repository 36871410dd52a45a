"""``tritium explain``: how a kernel is compiled and why."""

from __future__ import annotations

import json

from tritium.cli.target import resolve
from tritium.config import current
from tritium.explain.report import as_text, report
from tritium.pipeline import compile_kernel
from tritium.runtime.specialize import to_signature


def explain(target: str, signature: str | None, as_json: bool = False, backend: str | None = None) -> None:
    """Compile the kernel through all stages of `backend` and print the report.

    backend   interpret or cpu; by default what TRITIUM_BACKEND says, else interpret
    """
    kernel, specs, options = resolve(target, signature)
    chosen = backend or str(current().values["backend"] or "")
    if chosen == "cpu":
        options = {**options, "backend": "cpu"}
    else:
        chosen = "interpret"
    found = report(compile_kernel(kernel.source, to_signature(specs), options, chosen), chosen)
    print(json.dumps(found, indent=2) if as_json else as_text(found), end="")
