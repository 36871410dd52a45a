"""The examples in the docstrings of ops and functions give what they show."""

from __future__ import annotations

import ast
import itertools
import linecache
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.ops.base import REGISTRY
from tritium.ops.surface import SURFACES


def examples() -> Iterator[tuple[str, str, Any]]:
    """(owner, expression, value shown) for every example that is one expression with a literal result."""
    owners = {name: op.__doc__ or "" for name, op in REGISTRY.items()}
    owners |= {name: s.fn.__doc__ or "" for name, s in SURFACES.items()}
    for name, doc in owners.items():
        lines = [line.strip() for line in doc.splitlines()]
        for line, shown in itertools.pairwise(lines):
            if line.startswith(">>> tl."):
                try:
                    yield name, line.removeprefix(">>> ").split("   #")[0], ast.literal_eval(shown)
                except (SyntaxError, ValueError):
                    continue


ALL = {f"{name}: {expression}": (expression, value) for name, expression, value in examples()}


def flat(value: Any) -> list[Any]:
    return [v for item in value for v in flat(item)] if isinstance(value, (list, tuple)) else [value]


def run(expression: str, values: int, size: int) -> np.ndarray:
    """What a kernel computes for the expression, as float64, its parts one after the other."""
    names = [f"r{i}" for i in range(values)]
    body = [f"    {', '.join(names)} = {expression}"]
    for name in names:
        body += [
            f"    flat = tl.reshape({name}, ({name}.numel,)) if {name}.numel > 1 else tl.full((1,), tl.max({name}), {name}.dtype)",
            "    tl.store(out + at + tl.arange(0, flat.shape[0]), flat.to(tl.float64))",
            "    at += flat.shape[0]",
        ]
    text = "\n".join(["@triton.jit", "def kernel(out):", "    at = 0", *body]) + "\n"
    filename = f"<example {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": "example"}
    exec(compile(text, filename, "exec"), namespace)
    out = np.full(size, math.pi)
    namespace["kernel"][(1,)](out)
    return out


@pytest.mark.parametrize("label", ALL)
def test_example(label: str) -> None:
    expression, shown = ALL[label]
    wanted = flat(shown)
    values = len(shown) if isinstance(shown, tuple) else 1
    got = run(expression, values, len(wanted))
    np.testing.assert_allclose(got, [float(v) for v in wanted], rtol=1e-6)


def test_there_are_examples() -> None:
    assert len(ALL) > 50
