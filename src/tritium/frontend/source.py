"""The source object of a kernel: its function, its text, its syntax tree, and what it captures from outside."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType, FunctionType
from typing import Any

from tritium.errors import Loc, character_column, make_error, register_source
from tritium.frontend.captures import ABSENT, Capture, resolve, stable_text
from tritium.frontend.liveness import Liveness
from tritium.frontend.source_text import SourceLines, find_lines, same_instructions

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel. `default` is `ABSENT` if it has none; `annotation` is as Python keeps it."""

    name: str
    index: int
    kind: str  # "positional" | "keyword" | "variadic"
    default: Any
    annotation: Any

    @property
    def annotation_text(self) -> str:
        """The annotation as text, "" without one."""
        if self.annotation is None:
            return ""
        return (
            self.annotation if isinstance(self.annotation, str) else inspect.formatannotation(self.annotation)
        )

    @property
    def is_constexpr(self) -> bool:
        """Whether the annotation asks for a compile-time value."""
        return "constexpr" in self.annotation_text


class KernelSource:
    """What is known about a function with `@jit` before it is compiled.

    `src` is its text where no file holds it: the `def` with its decorators, or a text that contains them.
    Everything that needs the text is computed when first asked for; the lines of the file are remembered at
    once, so that a file edited later cannot be mistaken for what Python compiled.
    """

    def __init__(self, fn: FunctionType, src: str | None = None, frame: FrameType | None = None) -> None:
        if not isinstance(fn, FunctionType):
            raise make_error("TRI0104", got=f"{type(fn).__name__} {getattr(fn, '__name__', '')}".strip())
        self.fn = fn
        self.name: str = fn.__name__
        self.code: CodeType = fn.__code__
        self.file: str = self.code.co_filename
        self._locs: dict[ast.AST, Loc] = {}
        self._given = src
        self._key: tuple[str, tuple[Capture, ...]] | None = None
        self._lines: SourceLines | None = None
        if src is None:
            self._lines = find_lines(
                self.code, fn.__globals__, frame if frame is not None else sys._getframe(1)
            )
        elif os.path.isfile(self.file):
            self.file = f"<source of {self.qualified_name}>"

    def __repr__(self) -> str:
        return f"<source of {self.qualified_name}>"

    @property
    def qualified_name(self) -> str:
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    # ---- text and tree -------------------------------------------------------------------------------

    @cached_property
    def node(self) -> FunctionNode:
        """The function's syntax tree; positions are those of the real file, columns in UTF-8 bytes."""
        self._check_kind()
        block, first = self._block
        indented = block[:1] in (" ", "\t")
        # a block that is indented stays so under an `if`: columns and text inside strings do not change
        text = (
            "\n" * (first - 2) + "if 1:\n" + block if indented and first > 1 else "\n" * (first - 1) + block
        )
        try:
            tree = ast.parse(text, self.file)
        except SyntaxError as bad:
            loc = Loc(self.file, bad.lineno or first, max((bad.offset or 1) - 1, 0), function=self.name)
            raise make_error("TRI0106", loc, problem=bad.msg) from None
        found = self._find(tree)
        if found is None:
            raise make_error("TRI0105", function=self.name, file=self.file)
        return found

    @property
    def first_line(self) -> int:
        """The line of the `def`."""
        return self.node.lineno

    @cached_property
    def text(self) -> str:
        """The function from its `def` on, without decorators, dedented."""
        block, first = self._block
        lines = block.splitlines(keepends=True)[
            self.node.lineno - first : (self.node.end_lineno or 0) - first + 1
        ]
        return textwrap.dedent("".join(lines))

    @cached_property
    def _block(self) -> tuple[str, int]:
        """The text from the first decorator to the function's end, and its first line number."""
        if self._given is not None:
            return self._given_block(self._given)
        if self._lines is None:
            raise make_error("TRI0101", function=self.name, got=f"the file name {self.file!r}")
        first = self.code.co_firstlineno
        lines = self._lines.from_line(first)
        if not lines:
            raise make_error("TRI0105", function=self.name, file=self.file)
        if self.code.co_name == "<lambda>":
            return self._statement(lines, first)
        try:
            return "".join(inspect.getblock(lines)), first
        except (SyntaxError, tokenize.TokenError) as bad:
            raise make_error("TRI0106", self.def_loc, problem=str(bad)) from None

    def _given_block(self, text: str) -> tuple[str, int]:
        text = textwrap.dedent(text)
        try:
            tree = ast.parse(text)
        except SyntaxError as bad:
            raise make_error("TRI0106", Loc(self.file, bad.lineno or 1), problem=bad.msg) from None
        found = self._find(tree)
        if found is None:
            raise make_error("TRI0105", function=self.name, file="the text given as `src`")
        decorators = getattr(found, "decorator_list", [])
        start = min([found.lineno, *(d.lineno for d in decorators)])
        lines = text.splitlines(keepends=True)[start - 1 : found.end_lineno]
        first = self.code.co_firstlineno
        register_source(self.file, "".join(lines), first)
        return "".join(lines), first

    def _statement(self, lines: list[str], first: int) -> tuple[str, int]:
        """The shortest run of lines from `first` on that is a statement: what holds a lambda."""
        for count in range(1, min(len(lines), 100) + 1):
            text = "".join(lines[:count])
            try:
                ast.parse(textwrap.dedent(text))
            except SyntaxError:
                continue
            return text, first
        raise make_error("TRI0105", function=self.name, file=self.file)

    def _find(self, tree: ast.Module) -> FunctionNode | None:
        """The node of the function: by name and parameters, the first one at or after its line."""
        code = self.code
        wanted = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
        count = code.co_argcount + code.co_kwonlyargcount
        parameters = code.co_varnames[:count]
        found: list[FunctionNode] = []
        for node in ast.walk(tree):
            if isinstance(node, wanted) and getattr(node, "name", code.co_name) == code.co_name:
                args = node.args
                if tuple(a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)) == parameters:
                    found.append(node)
        if len(found) > 1:
            found = [n for n in found if self._is_code_of(n)] or ([] if wanted is ast.Lambda else found)
        return found[0] if found else None

    def _is_code_of(self, node: FunctionNode) -> bool:
        """Whether compiling `node` alone gives this function's instructions."""
        statement = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
        made = compile(ast.Module([statement], []), self.file, "exec")
        return any(isinstance(c, CodeType) and same_instructions(c, self.code) for c in made.co_consts)

    def _check_kind(self) -> None:
        flags = self.code.co_flags
        if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise make_error("TRI0107", self.def_loc, function=self.name, kind="a coroutine")

    # ---- places --------------------------------------------------------------------------------------

    @cached_property
    def def_loc(self) -> Loc:
        """Where the function starts, as far as its code object tells."""
        return Loc(self.file, self.code.co_firstlineno, function=self.name)

    @cached_property
    def _origin(self) -> tuple[int, int]:
        return self.node.lineno, self.node.col_offset

    @cached_property
    def _ascii(self) -> bool:
        return self._block[0].isascii()

    def loc(self, node: ast.AST) -> Loc:
        """The place of `node` in the real file; for a node without a position, of the `def`."""
        found = self._locs.get(node)
        if found is None:
            line = getattr(node, "lineno", None)
            if line is None:
                return self.loc(self.node)
            end = node.end_lineno or 0  # type: ignore[attr-defined]
            found = Loc(
                self.file,
                line,
                self._column(line, node.col_offset),  # type: ignore[attr-defined]
                end,
                self._column(end, node.end_col_offset or 0) if end else 0,  # type: ignore[attr-defined]
                self.name,
                origin=self._origin,
            )
            self._locs[node] = found
        return found

    def _column(self, line: int, offset: int) -> int:
        if self._ascii:
            return offset
        block, first = self._block
        return character_column(block.splitlines()[line - first], offset)

    # ---- parameters ----------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order. Raises for kinds that kernels do not have."""
        found: list[Parameter] = []
        for i, p in enumerate(inspect.signature(self.fn).parameters.values()):
            if p.kind in (p.VAR_KEYWORD, p.POSITIONAL_ONLY):
                shown = f"**{p.name}" if p.kind == p.VAR_KEYWORD else f"{p.name}, /"
                raise make_error("TRI0108", self.def_loc, function=self.name, parameter=shown)
            kinds = {p.VAR_POSITIONAL: "variadic", p.KEYWORD_ONLY: "keyword"}
            default = ABSENT if p.default is p.empty else p.default
            annotation = None if p.annotation is p.empty else p.annotation
            found.append(Parameter(p.name, i, kinds.get(p.kind, "positional"), default, annotation))
        return tuple(found)

    @cached_property
    def liveness(self) -> Liveness:
        """Which variables are read later, at each statement."""
        return Liveness(self.node)

    # ---- captured names ------------------------------------------------------------------------------

    def capture(self, name: str) -> Capture | None:
        """What the free name `name` stands for now: an outer function's variable, a global, or a built-in."""
        return resolve(self.fn, name)

    @cached_property
    def free_names(self) -> frozenset[str]:
        """Names that are read and not bound in the function."""
        bound = {p.name for p in self.parameters} | self.liveness.stored
        loads = (n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        return frozenset(n for n in loads if n not in bound)

    def dependencies(self) -> Iterator[KernelSource]:
        """This source, then those of all jit functions that it can reach through captured names."""
        seen: dict[int, KernelSource] = {}
        pending: list[KernelSource] = [self]
        while pending:
            source = pending.pop()
            if id(source) in seen:
                continue
            seen[id(source)] = source
            yield source
            for capture in source.reachable():
                if isinstance(capture.value, JitCallable):
                    pending.append(capture.value.source)

    def reachable(self) -> Iterator[Capture]:
        """Captured names and attributes of captured modules (``helpers.scale``), as they are now."""
        for name in sorted(self.free_names):
            capture = self.capture(name)
            if capture is not None and capture.is_constant_like:
                yield capture
        for node in ast.walk(self.node):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = self.capture(node.value.id) if node.value.id in self.free_names else None
                member = owner.member(node.attr) if owner is not None else None
                if member is not None and member.is_constant_like:
                    yield member

    @property
    def cache_key(self) -> str:
        """Digest of the text of this function and of all that it can call, and of the constants they capture."""
        found = self._key
        if found is None:
            found = self._key = self._compute_key()
        return found[0]

    def refresh(self) -> bool:
        """Whether something captured has changed since `cache_key` was computed; if so, it is computed anew."""
        known = self._key
        if known is None or all(capture.unchanged() for capture in known[1]):
            return False
        self._key = None
        return True

    def _compute_key(self) -> tuple[str, tuple[Capture, ...]]:
        digest = hashlib.sha256()
        captures: list[Capture] = []
        for source in sorted(self.dependencies(), key=lambda s: (s.qualified_name, s.code.co_firstlineno)):
            reachable = list(source.reachable())
            captures.extend(reachable)
            digest.update(f"{source.qualified_name}\n{source.text}\n".encode())
            digest.update(repr([(p.name, stable_text(p.default)) for p in source.parameters]).encode())
            digest.update("\n".join(sorted({f"{c.path}={stable_text(c.value)}" for c in reachable})).encode())
        return digest.hexdigest(), tuple(captures)


class JitCallable:
    """Base of what `@jit` makes: a function that is compiled with the kernel that calls it.

    fn          the Python function
    source      its source object
    cache_key   digest of its text and of everything that it refers to
    """

    fn: FunctionType
    source: KernelSource
    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[..., Any], src: str | None = None) -> None:
        self.source = KernelSource(fn, src, sys._getframe(1))  # type: ignore[arg-type]
        self.fn = fn  # type: ignore[assignment]
        _ = self.source.parameters  # refuses kinds that kernels do not have where they are written
        functools.update_wrapper(self, fn)  # type: ignore[arg-type]

    @property
    def cache_key(self) -> str:
        return self.source.cache_key

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise make_error("TRI0709", function=self.__name__)

    def refresh(self) -> bool:
        """See whether captured values have changed; `cache_key` follows them."""
        return self.source.refresh()
