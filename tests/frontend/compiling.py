"""Defining kernels from text, lowering them, and running them: what the tests of the frontend share."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

import tritium
import tritium.language as tl
from tritium.backends.interp import run_grid
from tritium.frontend import JitCallable, Lowered, Signature, lower
from tritium.ir.core import Function
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.runtime.arrays import view_of

TYPES = {
    "out": "*i32",
    "x": "*fp32",
    "h": "*fp16",
    "n": "i32",
    "m": "i64",
    "f": "fp32",
    "c": "i1",
    "q": "i32",
}
"""Types of parameters by name, for kernels in tests."""

_serial = itertools.count(1)


def define(text: str, name: str = "kernel", **names: Any) -> Any:
    """Execute `text` (dedented) with `jit`, `tl`, `triton` and `names` bound, and return what it calls `name`."""
    text = textwrap.dedent(text)
    namespace: dict[str, Any] = {
        "jit": JitCallable,
        "tl": tl,
        "triton": tritium,
        "__name__": "kernel_text",
        **names,
    }
    exec(compile(text, f"<kernel text {next(_serial)}>", "exec"), namespace)
    return namespace[name]


def kernel_of(body: str, params: str) -> Any:
    """A kernel with the statements `body`, which start in line 2, and the parameters `params`."""
    text = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return define(f"def kernel({params}):\n{text}\n\nkernel = jit(kernel)\n")


def signature_of(kernel: JitCallable, constants: Mapping[str, Any], types: Mapping[str, str]) -> Signature:
    names = [p.name for p in kernel.source.parameters]
    known = {**TYPES, **types}
    return Signature.parse(names, {n: known[n] for n in names if n not in constants}, constants)


def lowered(kernel: JitCallable, types: Mapping[str, str] | None = None, /, **constants: Any) -> Lowered:
    """Lower `kernel`, check the result in every way there is, and round-trip it through text."""
    result = lower(kernel.source, signature_of(kernel, constants, types or {}))
    verify(result.function, level="total", after="lowering")
    text = print_function(result.function)
    assert print_function(parse_function(text, REGISTRY)) == text
    return result


def lower_body(body: str, params: str = "out, n", /, **constants: Any) -> Function:
    """The IR of a kernel with the given statements; types of parameters are those of `TYPES`."""
    return lowered(kernel_of(body, params), **constants).function


def run(function: Function, *args: Any, grid: int = 1, size: int = 8) -> list[int]:
    """Run on an int32 array `out` of `size` elements that starts as all -1, and further arguments; gives `out`."""
    out = np.full(size, -1, np.int32)
    passed = [view_of(a) if isinstance(a, np.ndarray) else a for a in (out, *args)]
    run_grid(function, (grid, 1, 1), passed)
    return out.tolist()


def run_body(body: str, *args: Any, params: str = "out, n", size: int = 8, **constants: Any) -> list[int]:
    """Lower a kernel with the given statements and run it once; see `run`."""
    return run(lower_body(body, params, **constants), *args, size=size)
