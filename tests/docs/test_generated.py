"""The pages that `python -m docs.generators` writes are as it would write them now."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from docs.generators.__main__ import pages, stale
from docs.generators.semantics import values

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/reference/*.md"),
        *ROOT.glob("docs/decisions/*.md"),
    ]
)


@cache
def generated() -> dict[str, str]:
    return dict(pages())


def test_pages_are_current() -> None:
    """`make docs` writes them."""
    assert not stale()


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_named_tests_exist(page: Path) -> None:
    for path, name in re.findall(r"(tests/[\w/]+\.py)::(\w+)", page.read_text(encoding="utf-8")):
        assert (ROOT / path).is_file() and name in functions_in(path), f"{path}::{name}"


def test_values_are_computed() -> None:
    text = values("a: i32 -7, x: f32 [1.0, nan]", ["a // 2 ;; toward zero", "x + 1"])
    assert "With `a` = -7 (i32), `x` = [1.0, nan] (f32):" in text
    assert "| `a // 2` | -3 | i32 | toward zero |" in text and "| `x + 1` | [2.0, nan] | f32 |  |" in text


def test_every_difference_says_what_and_why() -> None:
    section = generated()["docs/semantics.md"].partition("## Differences")[2]
    entries = section.split("\n### ")[1:]
    assert len(entries) > 30
    for entry in entries:
        assert [w in entry for w in ("\n- Triton: ", "\n- Here: ", "\n- Why: ", "\n- Test: ")] == [
            True
        ] * 4, entry
