"""Every op has all its parts, every name of the language is there, runs and is tested, and ops are defined once.

`docs/generators/language.txt` is the list of names. The examples themselves are run by tests/ops/test_examples.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generators.coverage import ROOT, covering_tests
from docs.generators.examples import run_example, steps_of
from docs.generators.language import Name, language
from docs.generators.support import runs_on
from tritium.ops.base import REGISTRY, TileOp
from tritium.ops.surface import METHODS, OPERATORS, SURFACES

SRC = ROOT / "src" / "tritium"
NAMES = {name.text: name for name in language()}

# Structure that every walker of regions knows, and the two ops that stand for values.
STRUCTURE = {"If", "For", "While", "Yield", "Return", "Constant", "Poison"}
ALLOWED = 4
ALLOWED_MORE: dict[str, int] = {
    "passes/layout_homes.py": 8,  # where a layout comes from: ops that fix one
    "passes/layout_wants.py": 8,  # what such ops ask of their operands
    "passes/lower_to_machine.py": 12,  # makes the machine ops
    "passes/lower_atomics.py": 8,
    "passes/lower_batches.py": 10,
    "passes/mma_dots.py": 8,  # fragments, instructions, and buffers for them
    "passes/lower_moves.py": 24,  # all ops that move elements, and the arithmetic of their coordinates
    "passes/lower_reductions.py": 6,
    "passes/lower_scans.py": 6,
    "passes/lower_sorts.py": 11,  # ranks, networks, selections, histograms
    "passes/expand_scaled_dots.py": 16,  # a scaled dot is a dot of expanded operands
    "passes/specialize": 16,  # matchers
    "sanitizer/offsets.py": 16,  # the arithmetic between an index and its address or mask
    "sanitizer/precision.py": 12,  # matches sums that a loop carries; where values come from outside
    "sanitizer/structure.py": 8,  # matches masks and accumulators
    "sanitizer/undefined.py": 12,  # the arithmetic between an index and its address
}
"""Files that may name more than `ALLOWED` ops, and how many: matchers and lowerings."""


def overridden(op: type[TileOp], facet: str) -> bool:
    return getattr(op, facet) is not getattr(TileOp, facet)


@pytest.mark.parametrize("name", REGISTRY)
def test_ops_have_every_part(name: str) -> None:
    op = REGISTRY[name]
    assert overridden(op, "infer"), "no type rule"
    assert overridden(op, "eval") or overridden(op, "execute"), "no meaning"
    assert op.__module__.startswith("tritium.ops."), f"defined in {op.__module__}"
    assert re.fullmatch(r"(tile|gpu)\.[a-z][a-z0-9_]*", name)
    assert re.fullmatch(r"(_?[A-Z][A-Za-z0-9]*)", op.__name__)
    assert steps_of(op.__doc__ or ""), "no example"


def mentions(path: Path) -> set[str]:
    """Words of a test file: names it imports or uses, and its texts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"(?:tile|gpu)\.\w+", node.value))
        elif isinstance(node, ast.alias):
            found.add(node.name)
    return found


def test_ops_of_the_language_are_tested() -> None:
    """By name in a test of ops or of the interpreter, or as what a tested function becomes in its example."""
    paths = [path for folder in ("ops", "interp") for path in (ROOT / "tests" / folder).rglob("*.py")]
    tested = {word for path in paths for word in mentions(path)}
    for name in language():
        if name.surface is not None and name.tests():
            tested |= {op.name for op in run_example(name.surface.doc).ran.function.walk()}
    ops = {name: op for name, op in REGISTRY.items() if name.startswith("tile.")}
    assert not [n for n, op in ops.items() if not {n, op.__name__} & tested]


def test_every_function_is_on_the_list() -> None:
    """A new function of the language gets its line, and with it a row of the matrix and a place in the reference."""
    listed = {id(name.surface) for name in language() if name.surface is not None}
    missing = [name for name, s in SURFACES.items() if id(s) not in listed and not s.name.startswith("_")]
    missing += [f"method {name}" for name in METHODS if f"x.{name}" not in NAMES]
    missing += [f"operator {op}" for op, s in OPERATORS.items() if id(s) not in listed]
    assert not missing


def test_names_stand_once() -> None:
    texts = [name.text for name in language()]
    assert len(texts) == len(set(texts)) and len(texts) > 500


def test_every_name_exists() -> None:
    assert not [text for text, name in NAMES.items() if not name.exists]


def test_every_name_runs_on_the_interpreter() -> None:
    assert not [
        text for text, name in NAMES.items() if runs_on(name, "interpret") not in ("yes", "compile time")
    ]


def test_every_name_is_compared_with_a_reference() -> None:
    assert not [text for text, name in NAMES.items() if not name.tests()]


def test_evidence_exists() -> None:
    """The files and tests that the matrix names are there."""
    for test in {t for tests in covering_tests().values() for t in tests}:
        path = test.partition("::")[0].partition(":")[0].partition(" (")[0]
        assert (ROOT / path).is_file(), test


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tl.nothing", False),
        ("x.nothing", False),
        ("tl.extra.libdevice.nothing", False),
        ("tl.sum", True),
        ("x.sum", True),
    ],
)
def test_an_absent_name_is_found(text: str, found: bool) -> None:
    name = Name(text, "Page")
    assert name.exists is found and bool(name.tests()) is found


def named_ops(path: Path) -> set[str]:
    """The ops that a source file names, by class or by IR name, structure left out."""
    classes = {op.__name__ for op in REGISTRY.values()}
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tritium.ops"):
            found |= {alias.name for alias in node.names if alias.name in classes}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in REGISTRY:
            found.add(REGISTRY[node.value].__name__)
    return found - STRUCTURE


def sources() -> Iterator[Path]:
    for path in sorted(SRC.rglob("*.py")):
        if path.relative_to(SRC).parts[0] not in ("ops", "backends"):
            yield path


@pytest.mark.parametrize("path", list(sources()), ids=lambda p: p.relative_to(SRC).as_posix())
def test_ops_are_known_in_their_own_files(path: Path) -> None:
    """Elsewhere code asks for traits and facts; a name is for matchers and for what builds the op."""
    found = named_ops(path)
    inside = path.relative_to(SRC)
    limit = ALLOWED_MORE.get(inside.as_posix(), ALLOWED_MORE.get(inside.parent.as_posix(), ALLOWED))
    assert len(found) <= limit, f"{sorted(found)}: ask for a trait, or raise the allowance with a reason"


def test_allowances_are_needed() -> None:
    for name in ALLOWED_MORE:
        path = SRC / name
        assert any(len(named_ops(p)) > ALLOWED for p in (path.glob("*.py") if path.is_dir() else [path])), (
            name
        )
