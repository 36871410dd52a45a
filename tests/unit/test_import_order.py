"""Imports go one way: each part of the package may import what lies below it, and nothing else.

The walk sees relative imports, imports inside functions and under TYPE_CHECKING, and `import_module` of a literal name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
FILES = sorted((SRC / "tritium").rglob("*.py"))

# part -> the parts directly below it; what lies below those is allowed too
BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "config": ("errors",),
    "knobs": ("config",),
    "layout": ("config",),
    "numerics": ("layout",),
    "ir": ("numerics",),
    "ops": ("ir",),
    "frontend": ("ops",),
    "language": ("frontend",),
    "analysis": ("ops",),
    "passes": ("analysis",),
    "backends": ("passes",),
    "pipeline": ("backends", "frontend"),
    "runtime": ("pipeline", "language", "knobs"),
    "testing": ("runtime",),
    "compiler": ("runtime",),
    "tools": ("runtime",),
    "explain": ("runtime",),
    "sanitizer": ("runtime",),
    "compat": ("compiler", "testing", "tools"),
    "cli": ("explain", "sanitizer", "compat"),
}
TOP = ("__init__", "__main__")  # the public face: may import anything
USE_TOP = ("compat", "cli")  # answer for the public face, or run programs that use it

# third-party package -> where it may be imported at all
PLACES: dict[str, tuple[str, ...]] = {
    "triton": (),
    "llvmlite": ("backends/cpu",),
    "cuda": ("backends/cuda", "runtime"),
}
ONLY_IN_FUNCTIONS = {"torch", "cuda"}  # optional at run time


def allowed(part: str) -> set[str]:
    below = {part}
    for name in BELOW[part]:
        below |= allowed(name)
    return below


def literal_prefix(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and node.values:
        return literal_prefix(node.values[0])
    return ""


def imported_modules(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """(line, absolute module) of every import; `from m import n` yields m.n, since n may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("import_module", "__import__") and literal_prefix(node.args[0]):
                yield node.lineno, literal_prefix(node.args[0])


def package_of(path: Path) -> str:
    return ".".join(path.relative_to(SRC).parent.parts)


def part_of(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return parts[1]


def violations(path: Path, text: str) -> list[str]:
    """What in this file is imported against the order."""
    part = part_of(path)
    found: list[str] = []
    for line, module in imported_modules(ast.parse(text), package_of(path)):
        names = module.split(".")
        if names[0] != "tritium" or part in TOP:
            continue
        target = names[1] if len(names) > 1 else "__init__"
        if target not in BELOW:
            target = "__init__"  # a name that the public face defines
        if target not in allowed(part) and not (target == "__init__" and part in USE_TOP):
            found.append(f"{path.relative_to(SRC)}:{line}: {part} imports {module}")
    return found


def misplaced(path: Path, text: str) -> list[str]:
    """Third-party imports of this file that are not where they belong."""
    tree = ast.parse(text)
    inside = path.relative_to(SRC / "tritium").as_posix()
    in_functions = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
    }
    found: list[str] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", 0):
            continue
        for _, module in imported_modules(ast.Module([node], []), package_of(path)):
            package = module.split(".")[0]
            if package in PLACES and not inside.startswith(PLACES[package]):
                found.append(f"{inside}:{node.lineno}: {package} may be imported in {PLACES[package]} only")
            if package in ONLY_IN_FUNCTIONS and id(node) not in in_functions:
                found.append(f"{inside}:{node.lineno}: {package} is optional, so import it inside a function")
    return found


def test_every_part_has_its_place() -> None:
    parts = {part_of(path) for path in FILES} - set(TOP)
    assert parts <= set(BELOW), f"say in BELOW where these belong: {sorted(parts - set(BELOW))}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    assert not violations(path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_third_party_packages_stay_in_their_place(path: Path) -> None:
    assert not misplaced(path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "file, text",
    [
        ("errors/render.py", "from tritium import config"),
        ("ir/core.py", "from ..ops import base"),
        ("ir/core.py", "from .. import ops"),
        ("ops/dot.py", "import tritium.backends.cuda"),
        ("frontend/lower.py", "def f():\n    from tritium.passes import fold_constants"),
        ("layout/digits.py", "if TYPE_CHECKING:\n    from tritium.ir.core import Value"),
        ("backends/cpu/lower.py", "from ...runtime.launch import x"),
        ("passes/inline_calls.py", "import_module('tritium.runtime')"),
        ("passes/inline_calls.py", "importlib.import_module(f'tritium.runtime.{name}')"),
        ("runtime/jit.py", "import tritium"),
        ("pipeline.py", "from .runtime import cache"),
        ("language/std.py", "from tritium.analysis import intervals"),
    ],
)
def test_a_wrong_import_is_found(file: str, text: str) -> None:
    assert len(violations(SRC / "tritium" / file, text)) == 1


@pytest.mark.parametrize(
    "file, text",
    [
        ("ops/dot.py", "from tritium.ir.core import Value\nfrom . import base\nimport numpy"),
        (
            "pipeline.py",
            "from tritium import config\nfrom .frontend import lower\nfrom .backends.cuda import nvrtc",
        ),
        ("runtime/jit.py", "from tritium.language.dtypes import dtype"),
        ("__init__.py", "from tritium.cli import main"),
    ],
)
def test_a_right_import_is_left_alone(file: str, text: str) -> None:
    assert not violations(SRC / "tritium" / file, text)


@pytest.mark.parametrize(
    "file, text",
    [
        ("runtime/jit.py", "import torch"),
        ("compat/modules.py", "def f():\n    import triton.language"),
        ("passes/fold_constants.py", "from llvmlite import ir"),
        ("backends/cpu/jit.py", "def f():\n    from cuda.bindings import nvrtc"),
        ("backends/cuda/nvrtc.py", "from cuda.bindings import nvrtc"),
    ],
)
def test_a_misplaced_package_is_found(file: str, text: str) -> None:
    assert len(misplaced(SRC / "tritium" / file, text)) == 1


def test_packages_in_their_place_are_left_alone() -> None:
    assert not misplaced(SRC / "tritium/backends/cpu/jit.py", "import llvmlite.binding as llvm")
    assert not misplaced(
        SRC / "tritium/backends/cuda/nvrtc.py", "def f():\n    from cuda.bindings import nvrtc"
    )
    assert not misplaced(SRC / "tritium/runtime/torch_interop.py", "def f():\n    import torch")
