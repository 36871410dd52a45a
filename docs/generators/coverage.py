"""Which tests compare a function of the language with an independent reference, found by reading the tests.

Read are the operations' tests (`tests/ops`: NumPy, PyTorch, mpmath, exact rules), the recorded values of the language
(`tests/language`: what Triton gives), and, where a test runs it, the corpus (`tests/corpus`: NumPy). A test counts for the names that
it, or what it uses of its own module, calls: in kernels as ``tl.sum(x)``, ``x.sum()`` or ``x + y``, through the surfaces
as ``k.tl("sum", x)``. Tests of refusals do not count.
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
from tritium.numerics.libdevice import LIBDEVICE

ROOT = Path(__file__).resolve().parents[2]
_NO_COMPARISON = re.compile(
    r"refus|mistake|located|must_exist|is_here|text_clone|has_a_surface|is_tested_here|same_objects"
)
_OPERATORS: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"},
    **{ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.And: "and", ast.Or: "or"},
}
_UNARY = {ast.USub: "-x", ast.UAdd: "+x", ast.Invert: "~x", ast.Not: "not x"}
_KINDS = {"tl": "tl.{}", "method": "x.{}", "operator": "{}", "SURFACES": "{}", "METHODS": "x.{}", "OPERATORS": "{}"}
_UNARY_KEYS = {"unary -": "-x", "unary +": "+x", "unary ~": "~x", "not": "not x"}


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of an attribute chain, else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) and dotted(node.value) else ""


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
        elif isinstance(node, ast.BinOp):
            found.add(f"x {_OPERATORS[type(node.op)]} y")
        elif isinstance(node, ast.BoolOp):
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
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                if not _NO_COMPARISON.search(node.name):
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
                    names |= names_in_kernel(node)
                if isinstance(node, ast.Name) and node.id == "LIBDEVICE":
                    names |= {f"tl.extra.libdevice.{n}" for n in LIBDEVICE}
        words = {word for text in constants for word in text.split()}
        for kind, argument in _surface_uses(parts):
            names |= _named(kind, argument, words)
        return names


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any(dotted(d.func if isinstance(d, ast.Call) else d) in ("triton.jit", "jit") for d in node.decorator_list)


def _surface_uses(parts: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """``k.tl(name, ...)`` and ``SURFACES[name]`` below `parts`: the kind and the expression that is the name."""
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KINDS:
                if node.args:
                    yield node.func.attr, node.args[0]
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _KINDS:
                yield node.value.id, node.slice


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
    for path in sorted((ROOT / "tests" / "ops").glob("test_*.py")):
        module = _Module(path)
        for test in module.tests():
            names = module.covered(test)
            for name in names:
                found[name][f"tests/ops/{path.name}::{test.name}"] = len(names)
    recorded = json.loads((ROOT / "tests" / "language" / "data" / "values.json").read_text(encoding="utf-8"))
    for case, record in recorded.items():
        names = names_in_kernel(ast.parse(record["source"]))
        for name in names:
            found[name][f"tests/language/test_values.py::test_values[{case}]"] = 100 + len(names)
    for case, case_source in _typed_cases():
        names = names_in_kernel(ast.parse(expand_macros(case_source)))
        for name in names:
            found[name][f"tests/language/cases/{case.replace('.', '.cases: ', 1)}"] = 150 + len(names)
    for path in sorted((ROOT / "tests" / "corpus").glob("*.py")) if runs_corpus() else ():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and _is_kernel(node):
                names = names_in_kernel(node)
                for name in names:
                    found[name].setdefault(f"tests/corpus/{path.name} ({node.name})", 200 + len(names))
    return {name: sorted(tests, key=lambda t: (tests[t], t)) for name, tests in found.items()}


def _typed_cases() -> Iterator[tuple[str, str]]:
    """Name and source of every hand-written kernel whose types and constants are compared with Triton's."""
    for name in (*case_check.names(accepted=True, syntax=True), *case_check.names(accepted=True, syntax=False)):
        yield name, case_check.all_cases()[name].kernel.source


def runs_corpus() -> bool:
    """Whether a test runs the kernels of the corpus and compares them with their references."""
    return any("run_case" in p.read_text(encoding="utf-8") for p in (ROOT / "tests" / "differential").glob("*.py"))
