"""From a kernel's source to tile IR.

The kernel is never run: its syntax tree is evaluated with handles in place of values, and what the handles are
asked to do becomes ops. Worked example::

    @triton.jit                                func @add(%p: ptr<f32>, %n: i32) {
    def add(p, n):                               %pid = tile.program_id() {axis = 0} : i32
        pid = tl.program_id(0)           ->      %0 = tile.less(%pid, %n) : i1
        if pid < n:                              tile.if(%0) { ... tile.store(...) ... } { tile.yield([]) }
            tl.store(p + pid, 1.0)               tile.return()
                                               }
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tritium.errors import Loc, TritiumError, make_error
from tritium.frontend.captures import Capture
from tritium.frontend.compile_time import CompileTime
from tritium.frontend.entry import bind_signature
from tritium.frontend.evaluator import Frame, LocatedBuilder
from tritium.frontend.signature import Signature
from tritium.frontend.source import JitCallable, KernelSource
from tritium.ir.core import Function, Op, Value
from tritium.ops.control import Return
from tritium.ops.semantic import Semantic


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel in tile IR, and what it was made from.

    `captures` are the names from outside that were read, with their values: if one of them changes, the kernel has
    to be lowered again. `sources` are the functions whose text went in, the kernel's own first.
    """

    function: Function
    captures: tuple[Capture, ...]
    sources: tuple[KernelSource, ...]


class FrontendSemantic(Semantic):
    """The rules of the language, able to call functions of the user's."""

    def __init__(self, builder: LocatedBuilder, options: dict[str, Any]) -> None:
        super().__init__(builder, options)
        self.lowering: Lowering = None  # type: ignore[assignment]

    def call(self, fn: Any, args: Sequence[Any]) -> Any:
        return self.lowering.call_user_function(fn, list(args))


class Lowering(CompileTime):
    """All parts of the lowering together, for one kernel."""

    def call_user_function(self, fn: Any, args: list[Any]) -> Any:
        """Inline a function that was handed to one of the language, such as the combine function of a reduction."""
        node = self.node
        target = getattr(fn, "value", fn)
        result = self.apply(target, [self.wrap(a) for a in args], {}, node)
        self.node = node
        return result


def lower(source: KernelSource, signature: Signature, options: dict[str, Any] | None = None) -> Lowered:
    """Lower a kernel for the given argument types and constants.

    Raises CompilationError (or a subclass) with the place in the kernel for anything that is no valid kernel.
    """
    options = dict(options or {})
    function = Function(source.name if source.name.isidentifier() else "kernel")  # a lambda has no name
    with deep_recursion(), _options_in_force(options):
        function.loc = source.loc(source.node)
        frame = Frame(source, None, None)
        lowering = _lowering(function, options)
        lowering.frame, lowering.node = frame, source.node
        lowering.sources[id(source)] = source
        frame.state.env = bind_signature(lowering, function, source, signature)
        with _internal_faults_located(lowering):
            body = source.node
            if isinstance(body, ast.Lambda):
                lowering.eval(body.body)
            else:
                lowering.block(body.body)
        lowering.node = body
        lowering.builder.insert(Return())
        if lowering.dropped:
            prune_uses(function)
    return Lowered(function, tuple(lowering.captures.values()), tuple(lowering.sources.values()))


def lower_kernel(
    source: KernelSource, signature: Signature, options: dict[str, Any] | None = None
) -> Function:
    """The IR function alone; see `lower`."""
    return lower(source, signature, options).function


def _lowering(function: Function, options: dict[str, Any]) -> Lowering:
    made: list[Lowering] = []

    def locate() -> Loc | None:
        return made[0].locate() if made else None

    builder = LocatedBuilder(function.body, locate)
    semantic = FrontendSemantic(builder, options)
    lowering = Lowering(semantic, builder, options)
    semantic.lowering = lowering
    made.append(lowering)
    return lowering


_options: ContextVar[dict[str, Any] | None] = ContextVar("options of the kernel being lowered", default=None)


def current_options() -> dict[str, Any]:
    """The options of the kernel that this thread is lowering; empty if it lowers none."""
    return _options.get() or {}


@contextmanager
def _options_in_force(options: dict[str, Any]) -> Generator[None]:
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


@contextmanager
def _internal_faults_located(lowering: Lowering) -> Generator[None]:
    """A fault of the compiler itself still says where in the kernel it came up."""
    try:
        yield
    except (TritiumError, KeyboardInterrupt):
        raise
    except Exception as fault:
        raise make_error("TRI0912", lowering.locate(), problem=f"{type(fault).__name__}: {fault}") from fault


def prune_uses(function: Function) -> None:
    """Forget uses by ops that were built on the way and thrown away."""
    kept: set[Op] = set(function.walk())
    values: list[Value] = list(function.args)
    for op in kept:
        values.extend(op.results)
        for region in op.regions:
            values.extend(region.args)
    for value in values:
        stale = [use for use in value.uses if use[0] not in kept]
        for use in stale:
            del value.uses[use]


_DEEP = 40_000
_depth_lock = threading.Lock()
_deep_threads = 0
_usual_limit = 0


@contextmanager
def deep_recursion() -> Generator[None]:
    """Allow deep syntax trees: raises Python's recursion limit while any thread is lowering."""
    global _deep_threads, _usual_limit
    with _depth_lock:
        if _deep_threads == 0:
            _usual_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual_limit, _DEEP))
        _deep_threads += 1
    try:
        yield
    finally:
        with _depth_lock:
            _deep_threads -= 1
            if _deep_threads == 0:
                sys.setrecursionlimit(_usual_limit)


__all__ = ["JitCallable", "KernelSource", "Lowered", "Signature", "lower", "lower_kernel"]
