"""Kernel text in, values and types out: what the pages show is what these runs gave."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import sys
import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tritium as triton
import tritium.language as tl
from tritium.ir.core import Function, Op
from tritium.ir.types import DType, pointer
from tritium.numerics.cast import cast
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.storage import storage_dtype
from tritium.ops.surface import OPERATORS, SURFACES

_RESULT_BYTES = 1 << 16
_serial = itertools.count()


@dataclass
class Shown:
    """One value that a kernel shows: a tile of type `ty`, or anything known at compile time."""

    value: Any
    ty: DType | None = None

    def text(self) -> str:
        """As Python would write it: lists for tiles, each number with as many digits as its type needs."""
        if isinstance(self.value, tuple):
            inner = ", ".join(item.text() for item in self.value)
            return f"({inner},)" if len(self.value) == 1 else f"({inner})"
        if self.ty is None:
            return str(self.value) if not isinstance(self.value, str) else repr(self.value)
        return _nested(self.value)


def _nested(x: np.ndarray) -> str:
    return str(x[()]) if x.ndim == 0 else "[" + ", ".join(_nested(part) for part in x) + "]"


@dataclass
class Ran:
    """What a kernel showed, in order, what it printed, and its own ops in tile IR."""

    shown: list[Shown]
    printed: str
    function: Function
    not_its_own: set[Op] = field(default_factory=set)


class _Recorder:
    """``show(results, value)`` of one kernel. While the kernel is compiled it adds the stores that bring values out."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.offset = 0
        self.ops: set[Op] = set()

    def function(self) -> Any:
        def show(results: Any, value: Any, _semantic: Any = None) -> None:
            region = _semantic.builder.region
            before = len(region.ops)
            self.entries.append(self._record(_semantic, results, value))
            self.ops |= set(list(region.ops)[before:])

        return tl.core.builtin(show)

    def _record(self, s: Any, results: Any, value: Any) -> Any:
        value = unwrap(value)
        if isinstance(value, (tuple, list)):
            return [self._record(s, results, item) for item in value]
        if not isinstance(value, Tensor):
            return Shown(value)
        if not isinstance(value.dtype, DType):
            return Shown(value.dtype)
        entry = (self.offset, value.dtype, value.dims)
        self.offset += -(-value.type.numel * storage_dtype(value.dtype).itemsize // 8) * 8
        assert self.offset <= _RESULT_BYTES, "the kernel shows too much"
        base = OPERATORS["+"](s, results, entry[0])
        at = SURFACES["tl.cast"](s, base, pointer(value.dtype))
        lanes = SURFACES["tl.arange"](s, 0, value.type.numel)
        flat = SURFACES["tl.reshape"](s, value, (value.type.numel,)) if value.dims else value
        lanes = lanes if value.dims else 0
        SURFACES["tl.store"](s, OPERATORS["+"](s, at, lanes), flat)
        return entry

    def read(self, entry: Any, results: np.ndarray) -> Shown:
        if isinstance(entry, Shown):
            return entry
        if isinstance(entry, list):
            return Shown(tuple(self.read(item, results) for item in entry))
        offset, ty, dims = entry
        kind = storage_dtype(ty)
        size = int(np.prod(dims, dtype=np.int64)) * kind.itemsize
        stored = results[offset : offset + size].view(kind).reshape(dims)
        return Shown(cast(stored, ty.text, "f64") if ty.is_fp8e4b15() else stored, ty)


@contextlib.contextmanager
def _no_terminal() -> Generator[None]:
    """Within the block nobody can be asked: ``breakpoint()`` prints the variables and goes on."""
    saved, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    finally:
        sys.stdin = saved


def run(
    body: Sequence[str],
    arguments: Mapping[str, Any] | None = None,
    *,
    prelude: Sequence[str] = (),
    backend: str = "interpret",
    **options: Any,
) -> Ran:
    """Run the lines of `body` as a kernel, one program instance; ``show(results, value)`` in them brings values out.

    `prelude` are lines before the kernel, such as functions that it calls. Raises what compiling and running raise.
    """
    recorder = _Recorder()
    given = dict(arguments or {})
    source = [*prelude, "@triton.jit", f"def kernel({', '.join(['results', *given])}):"]
    source += [f"    {line}" for line in body] or ["    pass"]
    text = "\n".join(source) + "\n"
    filename = f"<docs kernel {next(_serial)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"triton": triton, "tl": tl, "np": np, "show": recorder.function()}
    namespace["__name__"] = "docs_kernel"
    exec(compile(text, filename, "exec"), namespace)
    results = np.zeros(_RESULT_BYTES, np.uint8)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), _no_terminal(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of shifts that pages show on purpose
        compiled = namespace["kernel"][(1,)](results, **given, backend=backend, **options)
    shown = [recorder.read(entry, results) for entry in recorder.entries]
    return Ran(shown, printed.getvalue(), compiled.compilation.artefacts["tir"], recorder.ops)


def values_of(expressions: Sequence[str], setup: Sequence[str] = (), **arguments: Any) -> list[str]:
    """The values of `expressions` after the lines of `setup`, as text."""
    body = [*setup, *(f"show(results, {e})" for e in expressions)]
    return [shown.text() for shown in run(body, arguments).shown]
