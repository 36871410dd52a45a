"""Broken twins of a kernel, made from its source: a mask condition dropped or shifted, an `other` or a barrier removed, an
atomic operation made plain. Each knows the line it broke."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tritium as triton
import tritium.language as tl
from tritium.errors import register_source

ACCESSES = {"load", "store"}
ATOMICS = {"add", "max", "min", "and", "or", "xor", "xchg"}


@triton.jit
def plain_add(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, old + v, mask=mask)
    return old


@triton.jit
def plain_max(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, tl.maximum(old, v), mask=mask)
    return old


@triton.jit
def plain_min(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, tl.minimum(old, v), mask=mask)
    return old


@triton.jit
def plain_and(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, old & v, mask=mask)
    return old


@triton.jit
def plain_or(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, old | v, mask=mask)
    return old


@triton.jit
def plain_xor(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, old ^ v, mask=mask)
    return old


@triton.jit
def plain_xchg(p, v, mask=None):
    old = tl.load(p, mask=mask)
    tl.store(p, v, mask=mask)
    return old


@triton.jit
def plain_cas(p, expected, v):
    old = tl.load(p)
    tl.store(p, v, mask=old == expected)
    return old


PLAIN = {f"plain_{k}": globals()[f"plain_{k}"] for k in (*sorted(ATOMICS), "cas")}


@dataclass(frozen=True)
class Mutant:
    """`how` it was broken, in which `line` of the original file, and the broken `kernel`; `text` is what changed."""

    how: str
    line: int
    kernel: Any
    text: str
    other: Callable[[str], Any] | None = None

    def with_other(self, value: str) -> Any:
        """The kernel with another value in place of the `other` that was removed."""
        assert self.other is not None
        return self.other(value)


class _Scope:
    """What a kernel's local names are assigned to, where that is one expression."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.assigned: dict[str, list[ast.Assign]] = {}
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                self.assigned.setdefault(node.targets[0].id, []).append(node)


def _call_name(node: ast.AST) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _paths(tree: ast.AST, scope: _Scope) -> Iterator[tuple[str, ast.AST]]:
    """Every place that can be broken, as (how, node)."""
    masks: list[ast.expr] = []
    for node in ast.walk(tree):
        name = _call_name(node)
        if name in ACCESSES or name.startswith("atomic_"):
            keywords = {k.arg: k for k in node.keywords}
            if "mask" in keywords:
                mask = keywords["mask"].value
                if isinstance(mask, ast.Name) and len(scope.assigned.get(mask.id, [])) == 1:
                    mask = scope.assigned[mask.id][0].value
                if mask not in masks:
                    masks.append(mask)
            if "other" in keywords:
                yield "other", keywords["other"]
        if name == "debug_barrier":
            yield "barrier", node
        if name.startswith("atomic_") and name[7:] in (*ATOMICS, "cas"):
            if not {k.arg for k in node.keywords} - {"mask"}:
                yield "atomic", node
    for mask in masks:
        for part in _conjuncts(mask):
            if isinstance(part, ast.Compare) and len(part.ops) == 1:
                yield "drop", part
                if isinstance(part.ops[0], (ast.Lt, ast.LtE)):
                    yield "shift", part


def _edit(how: str, node: Any, text: str) -> tuple[ast.AST, str]:
    """Which part of the source is replaced, and by what."""
    if how == "drop":  # true wherever it was compared
        left = ast.get_source_segment(text, node.left)
        return node, f"(({left}) == ({left}))"
    if how == "shift":
        right = node.comparators[0]
        return right, f"({ast.get_source_segment(text, right)} + 1)"
    if how == "other":
        return node, ""
    if how == "barrier":
        return node, "0"
    return node.func, f"plain_{_call_name(node)[7:]}"


def mutants_of(kernel: Any) -> Iterator[Mutant]:
    """The broken twins of a kernel (a function decorated with ``jit``). Lines are those of the original."""
    fn = kernel.fn
    lines, first = inspect.getsourcelines(fn)
    text = textwrap.dedent("".join(lines))
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    start = function.lineno - 1  # without the decorators
    for i, (how, node) in enumerate(_paths(function, _Scope(function))):
        part, by = _edit(how, node, text)
        broken = _replaced(text, part, by)
        place = node.value if isinstance(node, ast.keyword) else node
        shown = ast.get_source_segment(text, place) or ""
        body = "\n" * (first - 1 + start) + "".join(broken.splitlines(keepends=True)[start:])
        kernel = _compiled(fn, body, f"{how}-{i}")
        other: Callable[[str], Any] | None = None
        if how == "other":
            other = lambda value, node=node, i=i: _compiled(
                fn, _replaced(text, node.value, value), f"other-{i}-{value}"
            )
        yield Mutant(how, first + place.lineno - 1, kernel, f"{how} {shown}", other)


def _replaced(text: str, node: Any, by: str) -> str:
    """`text` with the source of `node` replaced; the line count stays."""
    lines = text.splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    if not by:  # an argument goes with the comma behind it, or else in front of it
        rest = text[end:]
        if rest.lstrip().startswith(","):
            end += rest.index(",") + 1
        else:
            begin = text.rindex(",", 0, begin)
    return text[:begin] + by + "\n" * text[begin:end].count("\n") + text[end:]


def _compiled(fn: Any, text: str, label: str) -> Any:
    """The function of a changed source, as a kernel, with the globals and closure of the original."""
    file = f"<{fn.__name__} {label}>"
    register_source(file, text)
    scope = {**fn.__globals__, **inspect.getclosurevars(fn).nonlocals, **PLAIN}
    exec(compile(text, file, "exec"), scope)
    made = scope[fn.__name__]
    made = getattr(made, "fn", made)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return triton.jit(made)
