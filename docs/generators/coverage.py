"""Which tests compare a function of the language with an independent reference, found by reading the tests.

Read are the operations' tests (`tests/ops`: NumPy, PyTorch, mpmath, exact rules), the recorded values and types of the
language (`tests/language`: what Triton gives), and, where a test runs it, the corpus (`tests/corpus`: NumPy). A test
counts for the names that it, or what it uses of its own module, calls: in kernels as ``tl.sum(x)``, ``x.sum()`` or
``x + y``, through the surfaces as ``k.tl("sum", x)``. Tests of refusals do not count.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.language import case_check
from tests.language.observe import expand_macros
from tests.ops import test_libdevice_reference as library

ROOT = Path(__file__).resolve().parents[2]
_NO_COMPARISON = re.compile(
    r"refus|mistake|located|must_exist|is_here|text_clone|has_a_surface|is_tested_here|same_objects"
)
_OPERATORS: dict[type[ast.AST], str] = {
    **{
        ast.Add: "+",
        ast.Sub: "-",
        ast.Mult: "*",
        ast.Div: "/",
        ast.FloorDiv: "//",
        ast.Mod: "%",
        ast.Pow: "**",
    },
    **{
        ast.MatMult: "@",
        ast.BitAnd: "&",
        ast.BitOr: "|",
        ast.BitXor: "^",
        ast.LShift: "<<",
        ast.RShift: ">>",
    },
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.And: "and", ast.Or: "or"},
}
_UNARY = {ast.USub: "-x", ast.UAdd: "+x", ast.Invert: "~x", ast.Not: "not x"}
_KINDS = {
    "tl": "tl.{}",
    "method": "x.{}",
    "operator": "{}",
    "SURFACES": "{}",
    "METHODS": "x.{}",
    "OPERATORS": "{}",
}
_UNARY_KEYS = {"unary -": "-x", "unary +": "+x", "unary ~": "~x", "not": "not x"}


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of an attribute chain, else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    return (
        f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) and dotted(node.value) else ""
    )


def names_in_kernel(tree: ast.AST) -> set[str]:
    """What kernels below `tree` use, as `language.txt` writes it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = dotted(node)
            if name.startswith(("tl.", "triton.")):
                found.add(name)
            found.add(f"x.{node.attr}")
            found |= {f"{owner}.{node.attr}" for owner in ("descriptor", "dtype", "block_ptr")}
        elif isinstance(node, (ast.BinOp, ast.BoolOp)):
            found.add(f"x {_OPERATORS[type(node.op)]} y")
        elif isinstance(node, ast.UnaryOp):
            found.add(_UNARY[type(node.op)])
        elif isinstance(node, ast.Compare):
            found |= {f"x {_OPERATORS[type(op)]} y" for op in node.ops if type(op) in _OPERATORS}
        elif isinstance(node, ast.Subscript):
            found.add("x[...]")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
    return found


class _Module:
    """One test module: its top-level names and what each uses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.top: dict[str, list[ast.stmt]] = defaultdict(list)
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.top[node.name].append(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.top[target.id].append(node)

    def tests(self) -> Iterator[ast.FunctionDef]:
        for node in self.tree.body:
            is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            if isinstance(node, ast.FunctionDef) and is_test and not _NO_COMPARISON.search(node.name):
                yield node

    def reachable(self, start: ast.stmt) -> list[ast.stmt]:
        """`start` and the top-level statements of this module that it uses, directly or not."""
        seen: list[ast.stmt] = [start]
        for node in seen:
            for name in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]:
                seen += [s for s in self.top.get(name, ()) if s not in seen]
        return seen

    def covered(self, test: ast.FunctionDef) -> set[str]:
        parts = self.reachable(test)
        names: set[str] = set()
        constants: set[str] = set()
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    constants.add(node.value)
                if isinstance(node, ast.FunctionDef) and _is_kernel(node):
                    names |= names_in_kernel(node) | _decorators(node)
                if isinstance(node, ast.ClassDef):
                    names |= _decorators(node)
                    names |= {
                        name for inner in node.body if _is_kernel(inner) for name in names_in_kernel(inner)
                    }
        words = {word for text in constants for word in text.split()}
        for kind, argument in _surface_uses(parts):
            names |= _named(kind, argument, words)
        return names


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    return {dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list}


def _is_kernel(node: ast.AST) -> bool:
    """Whether a function is compiled: a kernel, a helper, or one that a program adds to the language."""
    marks = {"triton.jit", "jit", "triton.constexpr_function", "tl.core.builtin", "tl.core.extern"}
    return isinstance(node, ast.FunctionDef) and bool(_decorators(node) & marks)


def _surface_uses(parts: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """``k.tl(name, ...)`` and ``SURFACES[name]`` below `parts`: the kind and the expression that is the name."""
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
                if node.func.attr in _KINDS:
                    yield node.func.attr, node.args[0]
            elif isinstance(node, ast.Subscript) and dotted(node.value) in _KINDS:
                yield dotted(node.value), node.slice


def _named(kind: str, argument: ast.expr, words: set[str]) -> set[str]:
    """The names that an argument can stand for: itself, or for a variable every word the test mentions."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return {_canonical(kind, argument.value)}
    prefix = ""
    if isinstance(argument, ast.JoinedStr) and isinstance(argument.values[0], ast.Constant):
        prefix = str(argument.values[0].value)
    return {_canonical(kind, prefix + word) for word in words}


def _canonical(kind: str, name: str) -> str:
    """The name as `language.txt` writes it."""
    if kind in ("operator", "OPERATORS"):
        return _UNARY_KEYS.get(name, f"x {name} y")
    if "." not in name:
        return _KINDS[kind].format(name)
    module, _, short = name.partition(".")
    renamed = {
        **{"libdevice": "tl.extra.libdevice", "cuda": "tl.extra.cuda", "math": "tl.math", "core": "tl.core"},
        **{"desc": "descriptor", "tensor": "x"},
    }
    if module == "builtin":
        return short
    if module == "internal":
        return {"T": "x.T", "getitem": "x[...]"}[short]
    if module == "operator":
        return name
    return f"{renamed.get(module, module)}.{short}"


@cache
def covering_tests() -> dict[str, list[str]]:
    """For every name of `language.txt` the tests that compare it with a reference, the most particular first."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for rank, evidence in enumerate(
        (_of_library(), _of_ops(), _of_names(), _of_values(), _of_cases(), _of_corpus())
    ):
        for test, names in evidence:
            for name in names:
                found[name].setdefault(test, 100 * rank + len(names))
    return {name: sorted(tests, key=lambda t: (tests[t], t)) for name, tests in found.items()}


def _of_ops() -> Iterator[tuple[str, set[str]]]:
    for path in sorted((ROOT / "tests" / "ops").glob("test_*.py")):
        module = _Module(path)
        for test in module.tests():
            yield f"tests/ops/{path.name}::{test.name}", module.covered(test)


def _of_library() -> Iterator[tuple[str, set[str]]]:
    """The functions of the device library, which the tests take from its table and not by name."""
    groups = {
        "test_real_functions": set(library.REAL),
        "test_rounded_arithmetic": {name for name, _ in library.ROUNDED},
        "test_by_definition": {name for name, _ in library.BY_PYTHON},
        "test_scaling_by_powers_of_two": {name for name, _ in library.SCALED},
        "test_conversions_to_floats": {name for name, _ in (*library.WIDENED, *library.NARROWED)},
        "test_the_high_half_of_a_reciprocal": {"rcp64h"},
    }
    for test, functions in groups.items():
        path = "tests/ops/test_libdevice_reference.py"
        yield f"{path}::{test}", {f"tl.extra.libdevice.{f}" for f in functions}


def _of_names() -> Iterator[tuple[str, set[str]]]:
    """The names that are no functions: there every text and every dotted name counts."""
    module = _Module(ROOT / "tests" / "language" / "test_names.py")
    for test in module.tests():
        names = module.covered(test)
        for part in module.reachable(test):
            constants = [n.value for n in ast.walk(part) if isinstance(n, ast.Constant)]
            names |= names_in_kernel(part) | {t for t in constants if isinstance(t, str)}
        yield f"tests/language/{module.path.name}::{test.name}", names


def _of_values() -> Iterator[tuple[str, set[str]]]:
    recorded = json.loads((ROOT / "tests" / "language" / "data" / "values.json").read_text(encoding="utf-8"))
    for case, record in recorded.items():
        yield (
            f"tests/language/test_values.py::test_values[{case}]",
            names_in_kernel(ast.parse(record["source"])),
        )


def _of_cases() -> Iterator[tuple[str, set[str]]]:
    """Hand-written kernels whose types and constants are compared with Triton's."""
    for name in (
        *case_check.names(accepted=True, syntax=True),
        *case_check.names(accepted=True, syntax=False),
    ):
        source = expand_macros(case_check.all_cases()[name].kernel.source)
        yield f"tests/language/cases/{name.replace('.', '.cases: ', 1)}", names_in_kernel(ast.parse(source))


def _of_corpus() -> Iterator[tuple[str, set[str]]]:
    for path in sorted((ROOT / "tests" / "corpus").glob("*.py")) if runs_corpus() else ():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and _is_kernel(node):
                yield f"tests/corpus/{path.name} ({node.name})", names_in_kernel(node)


def runs_corpus() -> bool:
    """Whether a test runs the kernels of the corpus and compares them with their references."""
    return any(
        "run_case" in p.read_text(encoding="utf-8") for p in (ROOT / "tests" / "differential").glob("*.py")
    )
