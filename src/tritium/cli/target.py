"""``FILE::KERNEL``: finding a kernel in a file and what it is compiled for."""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tritium.compat import install
from tritium.errors import make_error
from tritium.frontend.signature import parse_type
from tritium.runtime.binder import signature_text
from tritium.runtime.options import OPTIONS
from tritium.runtime.jit import JITFunction
from tritium.runtime.specialize import ConstArg, RuntimeArg, Spec, Specs, const_arg


class _Found(BaseException):
    """Ends the program at the first launch of the wanted kernel."""


def split(target: str) -> tuple[str, str]:
    """The file and the kernel name. ArgumentError for anything else."""
    file, separator, kernel = target.rpartition("::")
    if not separator or not file or not kernel:
        raise make_error("TRI0909", text=target)
    if not Path(file).is_file():
        raise make_error("TRI0909", text=target, message=f"there is no file {file}")
    return file, kernel


def resolve(target: str, signature: str | None) -> tuple[JITFunction, Specs, dict[str, Any]]:
    """The kernel, its specs and its launch options.

    With `signature` the file is imported (not run as a program) and the text says the types. Without, the program runs
    up to the first launch of the kernel, whose arguments say them; what it prints goes to standard error.
    """
    install()
    file, name = split(target)
    if signature is not None:
        kernel = _find(_namespace(file, "tritium_inspected"), file, name)
        return kernel, parse_signature(kernel, signature), dict(OPTIONS)
    with _first_launch(name) as found:
        space: dict[str, Any] = {}
        with contextlib.suppress(_Found):
            space = _namespace(file, "__main__")
    if found:
        return found[0]
    _find(space, file, name)
    raise make_error(
        "TRI0905", function=name, hint="give the types with --signature, or launch the kernel in the file"
    )


def _namespace(file: str, run_name: str) -> dict[str, Any]:
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), write_through=True)):
        return runpy.run_path(file, run_name=run_name)


@contextmanager
def _first_launch(name: str) -> Iterator[list[tuple[JITFunction, Specs, dict[str, Any]]]]:
    found: list[tuple[JITFunction, Specs, dict[str, Any]]] = []
    original = JITFunction.find

    def capture(self: JITFunction, specs: Specs, options: dict[str, Any], backend: str) -> Any:
        if self.__name__ == name:
            found.append((self, specs, options))
            raise _Found
        return original(self, specs, options, backend)

    JITFunction.find = capture  # type: ignore[method-assign]
    try:
        yield found
    finally:
        JITFunction.find = original  # type: ignore[method-assign]


def _find(space: dict[str, Any], file: str, name: str) -> JITFunction:
    kernels: dict[str, JITFunction] = {}
    for key, value in space.items():
        inner = value
        while not isinstance(inner, JITFunction) and hasattr(inner, "fn"):
            inner = inner.fn
        if isinstance(inner, JITFunction):
            kernels[key] = inner
    if name not in kernels:
        near = difflib.get_close_matches(name, kernels, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"the file has: {', '.join(kernels) or 'no kernels'}"
        raise make_error("TRI0903", file=file, name=name, hint=hint)
    return kernels[name]


def parse_signature(kernel: JITFunction, text: str) -> Specs:
    """``"*fp32:16, i32, 128"``: one entry per parameter; ``:16`` promises divisibility, a literal is a constant."""
    entries = _entries(text)
    if len(entries) != len(kernel.params):
        problem = f"it has {len(entries)} entries for {len(kernel.params)} parameters"
        raise _unreadable(kernel, text, problem)
    return tuple(
        (p.name, _entry(kernel, e, text, p.name)) for p, e in zip(kernel.params, entries, strict=True)
    )


def _unreadable(kernel: JITFunction, text: str, problem: str) -> Exception:
    signature = signature_text(kernel.params)
    return make_error("TRI0906", text=text, function=kernel.__name__, problem=problem, signature=signature)


def _entries(text: str) -> list[str]:
    out, depth, current = [], 0, ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += character
    return [*out, current.strip()] if current.strip() or out else []


def _entry(kernel: JITFunction, entry: str, text: str, name: str) -> Spec:
    if "=" in entry:
        entry = entry.partition("=")[2].strip()
    kind, _, promise = entry.partition(":")
    try:
        return RuntimeArg(parse_type(kind.strip()), promise.strip() == "16")
    except ValueError:
        pass
    try:
        value = ast.literal_eval(entry)
    except (ValueError, SyntaxError):
        problem = f"{entry!r} is neither a type nor a literal"
        raise _unreadable(kernel, text, problem) from None
    return ConstArg(None, None) if value is None else const_arg(value, name)
