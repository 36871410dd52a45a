"""The support matrix: every name of the language, whether it is accepted, where it runs, and what tests it.

"yes" is not a claim but a run: the example of the function, or the expression of `language.txt`, was run on that backend
when the page was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from docs.generators.examples import memory, run_example, steps_of
from docs.generators.kernels import run
from docs.generators.language import Name, language
from tritium import config
from tritium.backends.cpu.module import NATIVE
from tritium.errors import TritiumError
from tritium.pipeline import STAGES

BACKENDS = {"interpret": "interpreter", "cpu": "native CPU", "cuda": "NVIDIA GPU"}
_COMPILE_TIME = "compile time"


@cache
def runs_on(name: Name, backend: str) -> str:
    """What the matrix says of `name` on `backend`.

    "yes"           it ran there and gave what it should
    "interpreted"   the same, but the backend had no form of its own and handed the kernel to the interpreter
    "no"            it failed, or gave something else
    "compile time"  it never reaches a backend
    "-"             this version has no such backend
    """
    if backend not in STAGES:
        return "-"
    if name.surface is None and not name.expression:
        return _COMPILE_TIME
    if backend != "cpu":
        return _ran(name, backend)
    with config.override(require={NATIVE}):
        native = _ran(name, backend)
    return native if native != "no" else {"yes": "interpreted"}.get(_ran(name, backend), "no")


def _ran(name: Name, backend: str) -> str:
    surface = name.surface
    try:
        if surface is not None and steps_of(surface.doc):
            return "yes" if not run_example.__wrapped__(surface.doc, backend).mismatches() else "no"
        shown = run([f"show(results, {name.expression})"], memory(), backend=backend).shown[0]
    except TritiumError:
        return "no"
    return "yes" if shown.ty is not None or name.page != "Types" else _COMPILE_TIME


def row(name: Name) -> str:
    """One line of the table."""
    tests = name.tests()
    shown = f"`{tests[0]}`" + (f" and {len(tests) - 1} more" if len(tests) > 1 else "") if tests else "none"
    cells = [f"`{name.text}`".replace("|", "\\|"), "yes" if name.exists else "no"]
    cells += [runs_on(name, backend) for backend in BACKENDS]
    return "| " + " | ".join([*cells, shown.replace("|", "\\|")]) + " |"


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the page."""
    absent = [title for backend, title in BACKENDS.items() if backend not in STAGES]
    lines = [
        "# Support matrix",
        "",
        "Every name of the language. A cell says *yes* where the example of the name was run on that backend when this",
        "page was written (`make docs`) and gave what its docstring shows. The test is the most particular of those that",
        "compare the name with an independent reference: NumPy, PyTorch, mpmath, exact rules, or what Triton gives.",
        "*Interpreted* means that the backend has no form of its own for it, and hands such a kernel to the interpreter;",
        "*compile time* that the name never reaches a backend.",
    ]
    if absent:
        lines += ["", f"Not in this version: {', '.join(absent)} (the columns with a dash)."]
    page = ""
    for name in language():
        if name.page != page:
            page = name.page
            lines += [
                "",
                f"## {page}",
                "",
                "| name | accepted | interpret | cpu | cuda | test |",
                "| --- | --- | --- | --- | --- | --- |",
            ]
        lines.append(row(name))
    yield "docs/support.md", "\n".join(lines) + "\n"
