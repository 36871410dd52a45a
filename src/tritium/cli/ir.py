"""``tritium ir``: a kernel's text at one stage."""

from __future__ import annotations

from pathlib import Path

from tritium.cli.target import resolve
from tritium.errors import make_error
from tritium.ir.core import Function
from tritium.ir.printer import print_function
from tritium.pipeline import compile_kernel
from tritium.runtime.specialize import to_signature


def ir(target: str, stage: str, signature: str | None, locs: bool, start: str | None) -> None:
    """Print the artefact of `stage`. `start` is ``STAGE=FILE``: that stage's text comes from the file."""
    kernel, specs, options = resolve(target, signature)
    overrides: dict[str, str] = {}
    if start is not None:
        name, separator, file = start.partition("=")
        if not separator or not Path(file).is_file():
            raise make_error("TRI0907", name="--from", got=start, expected="STAGE=FILE with an existing file")
        overrides[name] = Path(file).read_text()
    done = compile_kernel(kernel.source, to_signature(specs), options, stop=stage, overrides=overrides)
    artefact = done.artefacts[stage]
    text = print_function(artefact, locs=locs) if isinstance(artefact, Function) else str(artefact)
    print(text, end="" if text.endswith("\n") else "\n")
