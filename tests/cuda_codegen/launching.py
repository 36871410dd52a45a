"""Launches that go elsewhere: what the tests of a backend put in place of running a kernel on the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tritium.runtime.compiled import CompiledKernel

Execute = Callable[[Any, tuple[int, int, int], Sequence[Any]], None]


@contextmanager
def launching(execute: Execute) -> Iterator[None]:
    """Within the block every launch that the interpreter would run is ``execute(kernel, grid, leaves)``.

    That holds for kernels compiled before too; those compiled within the block run as ever after it.
    """

    def keep(kernel: CompiledKernel, executor: Execute) -> None:
        kernel.__dict__["executor"] = executor

    sent = property(lambda kernel: execute, keep)
    with mock.patch.object(CompiledKernel, "executor", sent, create=True):
        yield
