"""Every promise of the seed documents has a test that names it: in its name, in its docstring or as its parameter.

The letters: A programs that run without a GPU, B register tiles, C shared memory, D the pipeline.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cuda_codegen.matmul_promises import PROMISES

ROOT = Path(__file__).parents[1]
INTERPRETER = "differential/test_promises.py"
REGISTERS, SHARED = "layout/test_seed_registers.py", "layout/test_seed_shared.py"
SEED, HERE, STAGES = (
    "cuda_codegen/test_seed_policy.py",
    "cuda_codegen/test_promises.py",
    "specialize/test_double_buffer.py",
)
GPU = "gpu/test_promises.py"

TABLE: dict[str, tuple[str, ...]] = {
    "A1": (INTERPRETER, HERE),
    "A2": (INTERPRETER, HERE),
    "A3": (INTERPRETER, HERE),
    "A4": (INTERPRETER, HERE),
    "A5": (INTERPRETER, HERE),
    "A5b": (INTERPRETER, HERE),
    "A6": (INTERPRETER, HERE),
    "B0": (HERE,),
    "B1": (REGISTERS,),
    "B2": (REGISTERS,),
    "B3": (REGISTERS,),
    "B4": (REGISTERS,),
    "B5": (REGISTERS, SEED),
    "B6": (REGISTERS, SEED),
    "B7": (REGISTERS, SEED),
    "B8": (REGISTERS, SEED),
    "B9": (REGISTERS, SEED),
    "B10": (REGISTERS, SEED),
    "B11": (SEED,),
    "B12": (SEED,),
    "B13": (SEED,),
    "B14": (SEED, HERE),
    "C1": (SHARED,),
    "C2": (SHARED,),
    "C3": (SHARED, SEED),
    "C4": (SHARED, SEED),
    "C5": (SEED,),
    "C6": (SEED,),
    "C7": (STAGES,),
    "C8": (SEED,),
    "C8b": (STAGES,),
    "C9": (SHARED, SEED, HERE),
    "C10": (SEED, HERE),
    "C11": (HERE,),
    "C12": ("gpu/test_runtime.py",),
    "C13": (SEED, HERE),
    "D1": (INTERPRETER,),
    "D2": (INTERPRETER,),
    "D3": (INTERPRETER,),
    "D4": (INTERPRETER,),
    "D5": (INTERPRETER,),
    "D6": (INTERPRETER,),
    "D7": (INTERPRETER,),
    "D8": (INTERPRETER,),
}


@cache
def said(file: str) -> tuple[str, ...]:
    """By test of a file its name and docstring, and the names of the promises that run through it."""
    found: list[str] = []
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            runs = any("PROMISES" in ast.unparse(d) for d in node.decorator_list)
            parts = [node.name, ast.get_docstring(node) or "", *(PROMISES if runs else ())]
            found.append(" ".join(parts))
    return tuple(found)


@pytest.mark.parametrize("promise", TABLE)
def test_a_promise_has_tests_that_name_it(promise: str) -> None:
    named = re.compile(rf"(^|\W|test_){promise}(_|\W|$)", re.IGNORECASE)
    for file in TABLE[promise]:
        assert any(named.search(text) for text in said(file)), f"no test in tests/{file} names {promise}"


def test_the_table_has_every_row() -> None:
    rows = [f"A{n}" for n in range(1, 7)] + [f"B{n}" for n in range(15)]
    rows += [f"C{n}" for n in range(1, 14)] + [f"D{n}" for n in range(1, 9)] + ["A5b", "C8b"]
    assert sorted(TABLE) == sorted(rows)


def test_the_gpu_runs_the_promises_about_results() -> None:
    assert any("B14" in text and "C10" in text and "A4" in text for text in said(GPU))
