"""Kernels for the tests of the launch stub, fresh each time, and how a test sees which way a launch took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import tritium as triton
import tritium.language as tl
from tritium.runtime.jit import JITFunction

SCALE = tl.constexpr(3)
SETTINGS = SimpleNamespace()


def make() -> SimpleNamespace:
    """Kernels that have not been launched."""
    factor = tl.constexpr(2)

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    @triton.jit
    def optional(x, bias, scale, flag, n, MODE: tl.constexpr = "plain", BLOCK: tl.constexpr = 16):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n) * scale
        if bias is not None:
            v += tl.load(bias + i, mask=i < n)
        if flag:
            v += 1
        if MODE == "twice":
            v *= 2
        tl.store(x + i, v, mask=i < n)

    @triton.jit
    def annotated(x, a: tl.int64, b: tl.int8, c: tl.float32, d: tl.uint32, e: tl.uint64, f: tl.float64):
        tl.store(x, a)
        tl.store(x + 1, b)
        tl.store(x + 2, c)
        tl.store(x + 3, d)
        tl.store(x + 4, e)
        tl.store(x + 5, f)

    @triton.jit
    def reads_global(x):
        tl.store(x, SCALE)

    @triton.jit
    def reads_cell(x):
        tl.store(x, factor)

    @triton.jit
    def shift(x, y, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i)
        tl.store(y + i, v + 1)

    @triton.jit
    def asserting(x, n):
        v = tl.load(x + tl.program_id(0))
        tl.device_assert(v < n, "too large")
        tl.store(x + tl.program_id(0), v + 1)

    @triton.jit
    def counted(x, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i) + tl.program_id(1) + 1)

    return SimpleNamespace(**{k: v for k, v in locals().items() if isinstance(v, JITFunction)})


def change_cell(kernel: JITFunction, value: Any) -> None:
    """Give the variable that `kernel` captures another value."""
    (cell,) = [c for c in kernel.fn.__closure__ or () if isinstance(c.cell_contents, tl.constexpr)]
    cell.cell_contents = value


@contextmanager
def long_ways(kernel: Any) -> Iterator[Callable[[], int]]:
    """Counts the launches that take the long way."""
    plain, seen = kernel.run_checked, [0]

    def counting(*args: Any, **kwargs: Any) -> Any:
        seen[0] += 1
        return plain(*args, **kwargs)

    kernel.run_checked = counting
    try:
        yield lambda: seen[0]
    finally:
        del kernel.run_checked
