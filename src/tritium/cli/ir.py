"""``tritium ir``: a kernel's text at one stage."""

from __future__ import annotations

from pathlib import Path

from tritium.cli.target import resolve
from tritium.errors import make_error
from tritium.ir.core import Function
from tritium.ir.printer import print_function
from tritium.pipeline import compile_kernel, stages_of
from tritium.runtime.specialize import to_signature


def ir(target: str, stage: str, signature: str | None, locs: bool, start: str | None) -> None:
    """Print the artefact of `stage`. `start` is ``STAGE=FILE``: that stage's text comes from the file."""
    known = [s.name for s in stages_of("interpret")]
    if stage not in known:
        raise make_error("TRI0902", target="interpret", name=stage, expected=", ".join(known))
    overrides = _start(start) if start is not None else {}
    kernel, specs, options = resolve(target, signature)
    done = compile_kernel(kernel.source, to_signature(specs), options, stop=stage, overrides=overrides)
    artefact = done.artefacts[stage]
    text = print_function(artefact, locs=locs) if isinstance(artefact, Function) else str(artefact)
    print(text, end="" if text.endswith("\n") else "\n")


def _start(text: str) -> dict[str, str]:
    name, separator, file = text.partition("=")
    readable = [s.name for s in stages_of("interpret") if s.read is not None]
    if not separator or name not in readable or not Path(file).is_file():
        expected = f"STAGE=FILE with one of {', '.join(readable)} and a file that exists"
        raise make_error("TRI0907", name="--from", got=text, expected=expected)
    return {name: Path(file).read_text(encoding="utf-8")}
