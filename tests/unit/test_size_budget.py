"""Budgets and taste that a machine can check: lengths, file names, the one place that reads the environment.

A file of up to 400 lines is normal. Above 600 its docstring says why ("Longer than 600 lines: ..."), and 800 is the end.
A function of the package has at most 60 lines besides its docstring; in tests, tables of cases may be longer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for top in ("src", "tests", "examples", "bench", "docs") for path in (ROOT / top).rglob("*.py")
)
NEEDS_REASON, MOST_LINES, MOST_FUNCTION_LINES = 600, 800, 60

FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|helpers?|misc|stuff|new|impl|old|tmp)(_|$)|[a-z_]2$")
NOT_OURS = {".git", ".venv", "build", "dist", "node_modules", "carry", "shared", "__pycache__"}
TEXT_SUFFIXES = {"", ".py", ".pyi", ".md", ".toml", ".yaml", ".yml", ".cuh", ".j2", ".txt", ".json", ".cfg"}

# what belongs to a workplace and not to a project
WORKPLACE = re.compile(
    r"/work/|/root/|(?<!\.\./)\bshared/[\w-]+\.md|\b(design|styles|demand|brief|seed-contracts|hopper-facts|cpu-facts)\.md"
    r"|\bsub-?agents?\b|\bAI assistant\b|\bworktrees?\b|\bthis session\b|\bother sessions?\b",
    re.IGNORECASE,
)


def functions(tree: ast.AST) -> Iterator[tuple[str, int, int]]:
    """(name, line, lines besides the docstring) of every function."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                doc = node.body[0]
                length -= (doc.end_lineno or doc.lineno) - doc.lineno + 1
            yield node.name, node.lineno, length


def too_long(text: str, functions_too: bool = True) -> list[str]:
    """What in a file of this text is over its budget."""
    tree = ast.parse(text)
    lines = len(text.splitlines())
    found = [
        f"line {line}: `{name}` has {length} lines"
        for name, line, length in functions(tree)
        if functions_too and length > MOST_FUNCTION_LINES
    ]
    if lines > MOST_LINES:
        found.append(f"{lines} lines")
    elif lines > NEEDS_REASON and "Longer than 600 lines:" not in (ast.get_docstring(tree) or ""):
        found.append(f"{lines} lines, and the docstring gives no reason")
    return found


def environment_reads(text: str) -> list[int]:
    """Lines that touch the environment."""
    found: list[int] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in (
            "environ",
            "environb",
            "getenv",
            "putenv",
            "unsetenv",
        ):
            found.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            found += [node.lineno for alias in node.names if alias.name in ("environ", "environb", "getenv")]
    return sorted(found)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_lengths(path: Path) -> None:
    in_tests = path.is_relative_to(ROOT / "tests")
    assert not too_long(path.read_text(encoding="utf-8"), functions_too=not in_tests)


def test_file_names_say_what_is_inside() -> None:
    names = {path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyi") or path.is_dir()}
    bad = [name_of(path) for path in names if path.name != "__pycache__" and FORBIDDEN_NAME.search(path.stem)]
    assert not bad


def test_only_config_reads_the_environment() -> None:
    # sitecustomize runs at the start of every child process and must not import the package for nothing
    exempt = {"src/tritium/config.py", "src/tritium/compat/startup/sitecustomize.py"}
    sources = [path for path in FILES if path.is_relative_to(ROOT / "src") and name_of(path) not in exempt]
    found = {name_of(path): environment_reads(path.read_text(encoding="utf-8")) for path in sources}
    assert not {name: lines for name, lines in found.items() if lines}


def project_texts() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        hidden = any(part.endswith((".egg-info", "_cache")) or part == ".hypothesis" for part in inside)
        if path.is_file() and path.suffix in TEXT_SUFFIXES and not hidden and not NOT_OURS & set(inside):
            if path != Path(__file__).resolve():
                yield path


def test_the_project_speaks_of_itself_only() -> None:
    found: list[str] = []
    for path in project_texts():
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name_of(path)}: {match[0]}" for match in WORKPLACE.finditer(text)]
    assert not found, "\n".join(found)


def test_the_checks_themselves() -> None:
    assert too_long("def f():\n" + "    x = 1\n" * 60) == ["line 1: `f` has 61 lines"]
    assert not too_long("def f():\n" + '    """' + "\n" * 30 + '    """\n' + "    x = 1\n" * 59)
    assert too_long("x = 1\n" * 601) == ["601 lines, and the docstring gives no reason"]
    assert not too_long('"""Longer than 600 lines: one table."""\n' + "x = 1\n" * 700)
    assert too_long('"""Longer than 600 lines: one table."""\n' + "x = 1\n" * 800) == ["801 lines"]
    assert environment_reads("import os\nos.environ['A']\nos.getenv('B')\nfrom os import environ") == [
        2,
        3,
        4,
    ]
    for stem in ("utils", "tile_utils", "helpers", "misc", "new_lowering", "lower2", "impl"):
        assert FORBIDDEN_NAME.search(stem), stem
    for stem in ("lower", "newton", "log2_table", "compile", "simplify_masks", "gpu_mma"):
        assert not FORBIDDEN_NAME.search(stem), stem
    for text in ("see /work/main", "in shared/language.md", "design.md says", "a subagent"):
        assert WORKPLACE.search(text), text
    assert not WORKPLACE.search("../shared/cases and framework/x and shared memory")
