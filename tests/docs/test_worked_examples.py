"""The worked examples of the chapters on operations and passes are complete: their files are written out and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```\w+ title=(?P<title>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> dict[str, str]:
    """The titled blocks of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {m["title"]: m["text"] for m in _BLOCK.finditer(text)}


def python(
    code: str, *arguments: str, load: dict[str, str] | None = None, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter; `load` gives modules (dotted name: text) that exist there besides ours."""
    lines = ["import importlib.util, sys"]
    for name, text in (load or {}).items():
        path = folder / f"{name.rpartition('.')[2]}.py"
        path.write_text(text, encoding="utf-8")
        lines += [
            f"import {name.rpartition('.')[0]}",
            f"spec = importlib.util.spec_from_file_location({name!r}, {str(path)!r})",
            "module = importlib.util.module_from_spec(spec)",
            f"sys.modules[{name!r}] = module",
            "spec.loader.exec_module(module)",
        ]
    main = folder / "main.py"
    main.write_text("\n".join(lines) + "\n" + code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / p) for p in ("src", "tests", "."))}
    return subprocess.run(
        [sys.executable, str(main), *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def module_of(title: str) -> str:
    """``src/tritium/ops/popcount.py`` as a dotted name."""
    return title.removeprefix("src/").removesuffix(".py").replace("/", ".")


OP = blocks("add_an_op.md")
OP_FILE = next(t for t in OP if t.startswith("src/"))


def run_op(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return python(code, load={module_of(OP_FILE): OP[OP_FILE]}, folder=folder)


def test_the_op_of_the_chapter_runs(tmp_path: Path) -> None:
    done = run_op(OP["use"], tmp_path)
    assert done.stdout == OP["printed"], done.stderr


def test_the_ops_mistake_is_refused_as_shown(tmp_path: Path) -> None:
    done = run_op(OP["use"] + "\n\n" + OP["mistake"], tmp_path)
    assert OP["refused"].strip() in done.stderr and "tl.popcount(1.5)" in done.stderr


def test_the_ops_test_passes_and_its_docstring_example_is_right(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(OP["test"], encoding="utf-8")
    code = """
from docs.generators.examples import run_example
from tritium.ops.base import REGISTRY
assert not run_example(REGISTRY["tile.popcount"].__doc__).mismatches()
import pytest
sys.exit(pytest.main(["-p", "no:cacheprovider", "test_it.py"]))
"""
    done = run_op(code, tmp_path)
    assert done.returncode == 0 and "9 passed" in done.stdout, done.stdout + done.stderr


PASS = blocks("add_a_pass.md")
PASS_FILE = next(t for t in PASS if t.startswith("src/"))


def run_pass(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return python(code, load={module_of(PASS_FILE): PASS[PASS_FILE]}, folder=folder)


def test_the_passes_tests_pass(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PASS["test"], encoding="utf-8")
    code = f"""
import tritium.passes, pytest
tritium.passes.shift_multiplications = sys.modules[{module_of(PASS_FILE)!r}]
sys.exit(pytest.main(["-p", "no:cacheprovider", "test_it.py"]))
"""
    done = run_pass(code, tmp_path)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_pass_keeps_the_meaning(tmp_path: Path) -> None:
    done = run_pass(
        f"import tritium.passes\ntritium.passes.shift_multiplications = module\n{PASS['meaning']}", tmp_path
    )
    assert done.stdout == PASS["printed"], done.stderr


@pytest.mark.parametrize("page", ["add_an_op.md", "add_a_pass.md"])
def test_the_files_of_the_chapters_are_not_in_the_tree(page: str) -> None:
    """They would be defined twice."""
    for title in blocks(page):
        assert not title.startswith("src/") or not (ROOT / title).exists()
