"""Compile one kernel text under any Triton-like frontend and observe what its types are or how it is refused.

The same code drives Triton (when the facts are recorded) and Tritium (when they are tested), so that both see
exactly the same text. It imports neither: a :class:`Frontend` names the modules and the compile function.

A kernel text reports types by printing at compile time. Lines starting with ``@`` carry a dtype and a shape,
lines starting with ``=`` the text of a compile-time value. Two macros keep kernel texts readable, each alone on
its line: ``show(x)`` prints the dtype and shape of ``x``, ``value(c)`` prints the constant ``c``.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_SHOW = re.compile(r"^(\s*)show\((.*)\)$", re.MULTILINE)
_VALUE = re.compile(r"^(\s*)value\((.*)\)$", re.MULTILINE)
_serial = 0


@dataclass(frozen=True)
class KernelText:
    """One kernel to compile: `source` defines `kernel`; `signature` maps its parameters to type names."""

    source: str
    signature: Mapping[str, str]
    constexprs: Mapping[str, Any]


@dataclass(frozen=True)
class Refusal:
    """How a text was refused: error class, class of the underlying fault, and the source lines blamed."""

    error: str
    fault: str
    lines: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Frontend:
    """A compiler of the Triton language: `compile(kernel, signature, constexprs)` must at least infer all types."""

    triton: ModuleType
    tl: ModuleType
    compile: Callable[[Any, Mapping[str, str], Mapping[str, Any]], object]
    compilation_error: type[Exception]


def expand_macros(source: str) -> str:
    """Replace the `show` and `value` macros; line numbers do not change."""
    source = _SHOW.sub(r'\1tl.static_print("@", (\2).dtype, (\2).shape)', source)
    return _VALUE.sub(r'\1tl.static_print("=", \2)', source)


def define(frontend: Frontend, source: str, name: str = "kernel") -> Any:
    """Execute `source` with `triton` and `tl` bound to the frontend's modules and return what it calls `name`."""
    global _serial
    _serial += 1
    filename = f"<language-case-{_serial}>"
    source = expand_macros(source).replace("from triton.", f"from {frontend.triton.__name__}.")
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"triton": frontend.triton, "tl": frontend.tl, "__name__": "language_case"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def normalise(line: str) -> str:
    """`@ fp32 ['4', '8']` becomes `fp32 4 8`; other lines keep their text after the marker."""
    if line.startswith("="):
        return line
    dtype, _, shape = line[1:].strip().partition(" ")
    if dtype.startswith("*"):
        dtype = f"pointer<{dtype[1:]}>"
    return " ".join([dtype, *re.findall(r"\d+", shape)])


def observe(frontend: Frontend, kernel: KernelText) -> tuple[str, ...] | Refusal:
    """Compile `kernel` and return its marked lines, or the refusal. Errors of other kinds are not caught."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function = define(frontend, kernel.source)
            frontend.compile(function, kernel.signature, kernel.constexprs)
    except frontend.compilation_error as error:
        return _describe(frontend, error, expand_macros(kernel.source))
    marked = [line for line in printed.getvalue().splitlines() if line[:2] in ("@ ", "= ")]
    return tuple(normalise(line) for line in marked)


def _describe(frontend: Frontend, error: BaseException, source: str) -> Refusal:
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    located = [item for item in chain if isinstance(item, frontend.compilation_error)]
    innermost = located[-1]
    text = "\n".join(str(item) for item in located)
    lines = tuple(line for line in (_blamed_line(item, source) for item in located) if line)
    message = getattr(innermost, "error_message", None) or ""
    raised = re.match(r"([A-Za-z]+(?:Error|Impl|Exception))\(", message)
    fault = raised.group(1) if raised else type(chain[-1]).__name__
    return Refusal(type(innermost).__name__, fault, lines, text)


def _blamed_line(error: BaseException, source: str) -> str | None:
    node, src = getattr(error, "node", None), getattr(error, "src", None)
    line = getattr(node, "lineno", None)
    if not src or line is None or src.strip() not in source:
        return None
    return src.splitlines()[line - 1].strip()
