"""Kernels from text to optimised IR, for the tests of the analyses."""

from __future__ import annotations

import textwrap
from typing import Any

from tests.frontend.compiling import define
from tritium.analysis.access import AccessAnalysis
from tritium.analysis.demand import DemandAnalysis
from tritium.frontend.signature import Signature
from tritium.ir.core import Function
from tritium.pipeline import compile_kernel

POINTERS = {
    **dict.fromkeys(("a_ptr", "b_ptr", "x_ptr", "y_ptr"), "*fp16"),
    **dict.fromkeys(("c_ptr", "out_ptr"), "*fp32"),
    **dict.fromkeys(("idx_ptr", "lock_ptr"), "*i32"),
    "table_ptr": "*i64",
    "w": "i64",
}
"""Types of parameters by name; all others are int32."""


def compiled(text: str, aligned: tuple[str, ...] = (), /, **constants: Any) -> Function:
    """The optimised IR of the kernel in `text`, whose first line is 1; `aligned` names arguments divisible by 16."""
    kernel = define(textwrap.dedent(text).lstrip("\n"))
    names = [p.name for p in kernel.source.parameters]
    types = {n: POINTERS.get(n, "i32") for n in names if n not in constants}
    promises = {(names.index(n),): [("tt.divisibility", 16)] for n in aligned}
    signature = Signature.parse(names, types, constants, promises)
    function: Function = compile_kernel(kernel.source, signature, {}, stop="opt.tir").artefacts["opt.tir"]
    return function


def dump(function: Function) -> str:
    """Every access with, for what gives a value, the elements of it that are needed."""
    accesses = AccessAnalysis(function)
    demand = DemandAnalysis(function, accesses.facts)
    lines: list[str] = []
    for op, access in accesses.accesses.items():
        lines.append(access.describe())
        if op.results:
            wanted = demand[op.results[0]]
            shown = "nowhere" if wanted is None else " and ".join(map(str, wanted)) or "everywhere"
            lines.append(f"  needed {'where ' if wanted else ''}{shown}")
    return "\n".join(lines) + "\n"
