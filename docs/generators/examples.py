"""The examples in docstrings of the language: read, run in a kernel, and compared with what they show.

An example is written as in a Python prompt, and is the body of a kernel: ``>>>`` starts a statement or an expression,
``...`` continues it, and the lines below show the value of the expression. ``x`` is a pointer to eight fp32 numbers and
``i`` to eight int32 numbers, both 0 to 7; as an expression of their own they show that memory after the kernel ran.
Functions with a decorator are defined before the kernel. What is printed is shown below the line that prints.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import tritium.language
from docs.generators.kernels import Ran, Shown, run
from tritium.ops.base import REGISTRY, Effect
from tritium.ops.surface import SURFACES

MEMORY = ("x", "i")


@dataclass(frozen=True)
class Step:
    """One statement or expression of an example, and the lines shown below it."""

    source: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.source)

    @property
    def is_definition(self) -> bool:
        return self.source[0].startswith(("@", "def "))

    @property
    def is_memory(self) -> bool:
        return self.text in MEMORY

    @property
    def shows_value(self) -> bool:
        """Whether the lines below are the value of an expression, and not something printed."""
        if not self.shown or self.is_memory:
            return False
        try:
            parsed = ast.parse(self.text, mode="eval").body
        except SyntaxError:
            return False
        called = ast.unparse(parsed.func) if isinstance(parsed, ast.Call) else ""
        return called not in ("print", "tl.device_print", "tl.static_print")


def steps_of(doc: str) -> list[Step]:
    """The steps of the example in a docstring, in order; none where it has no example."""
    found: list[tuple[list[str], list[str]]] = []
    inside = False
    for line in doc.splitlines():
        stripped = line.strip()
        if stripped.startswith(">>> "):
            found.append(([stripped[4:].split("   #")[0]], []))
            inside = True
        elif inside and stripped.startswith("...") and not found[-1][1]:
            found[-1][0].append(stripped[4:] if stripped != "..." else "")
        elif not stripped:
            inside = False
        elif inside:
            found[-1][1].append(stripped)
    return [Step(tuple(source), tuple(shown)) for source, shown in found]


@dataclass
class Outcome:
    """An example that was run: what each step showed, and the run itself."""

    steps: list[Step]
    shown: list[list[str]]
    ran: Ran
    lines: list[range]
    """Per step the lines of the kernel's text that it became."""

    def effects(self, function: str) -> Effect:
        """What the steps that call `function` do besides computing."""
        called = [lines for step, lines in zip(self.steps, self.lines, strict=True) if function in step.text]
        found = Effect.PURE
        for op in self.ran.function.walk():
            if op not in self.ran.not_its_own and op.loc and any(op.loc.line in lines for lines in called):
                found |= op.effect  # type: ignore[attr-defined]
        return found

    def mismatches(self) -> list[str]:
        """What the docstring shows otherwise than the run."""
        return [
            f"{step.text}: shows {list(step.shown)}, gives {got}"
            for step, got in zip(self.steps, self.shown, strict=True)
            if list(step.shown) != got
        ]


def memory() -> dict[str, Any]:
    """What the names `x` and `i` of an example point at."""
    return {"x": np.arange(8, dtype=np.float32), "i": np.arange(8, dtype=np.int32)}


@cache
def run_example(doc: str, backend: str = "interpret") -> Outcome:
    """Run the example in a docstring. Raises ValueError if there is none, and what running it raises."""
    steps = steps_of(doc)
    if not steps:
        raise ValueError("the docstring has no example")
    arrays = memory()
    prelude = [line for step in steps if step.is_definition for line in step.source]
    body: list[str] = []
    lines: list[range] = []
    for step in steps:
        start = len(prelude) + len(body) + 3  # the decorator and the def come first
        if not step.is_definition and not step.is_memory:
            body += [f"show(results, {step.text})"] if step.shows_value else step.source
        lines.append(range(start, len(prelude) + len(body) + 3))
    checks = "assert" in doc or "expect_zero" in doc  # elsewhere they would add ops to the example
    ran = run(body, arrays, prelude=prelude, backend=backend, debug=checks)
    stops = any(
        step.text == "breakpoint()" for step in steps
    )  # it prints addresses, which are never the same
    shown, printed = iter(ran.shown), [] if stops else ran.printed.splitlines()
    out: list[list[str]] = []
    for step in steps:
        if step.is_memory:
            out.append([Shown(arrays[step.text], tritium.language.int32).text()])
        elif step.shows_value:
            out.append([next(shown).text()])
        else:
            out.append([printed.pop(0) for _ in step.shown if printed])
    if printed:
        out[-1] += printed
    return Outcome(steps, out, ran, lines)


def docstrings() -> Iterator[tuple[str, str]]:
    """(name, docstring) of every op and every function of the language; a function without one has that of its op.

    Machine ops are left out: they have no name in kernels, and their examples are lines of IR.
    """
    for name, op in REGISTRY.items():
        if name.startswith("tile."):
            yield name, op.__doc__ or ""
    for name, surface in SURFACES.items():
        yield name, surface.doc
