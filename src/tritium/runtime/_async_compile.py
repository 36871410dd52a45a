"""``triton.AsyncCompileMode``: compile several kernels at once on an executor.

::

    with AsyncCompileMode(ThreadPoolExecutor(8)):
        a = kernel_a.warmup(..., grid=(1,))       # returns a FutureKernel
        b = kernel_b.warmup(..., grid=(1,))
    # here both are compiled
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed
from contextvars import ContextVar
from typing import Any

active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("tritium_async_compile", default=None)


class FutureKernel:
    """A kernel being compiled; `result()` waits for it."""

    def __init__(self, finalize: Callable[[Any], Any], future: Future[Any]) -> None:
        self.finalize = finalize
        self.kernel: Any = None
        self.future = future

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel. With `ignore_errors` a failed compilation gives None."""
        if self.kernel is None:
            try:
                kernel = self.future.result()
            except Exception:
                if ignore_errors:
                    return None
                raise
            self.finalize(kernel)
            self.kernel = kernel
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)


class AsyncCompileMode:
    """Within the block, ``warmup`` hands compilation to `executor`; leaving the block waits for all of them."""

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.kernels: dict[Any, FutureKernel] = {}

    def submit(self, key: Any, compile_fn: Callable[[], Any], finalize: Callable[[Any], Any]) -> FutureKernel:
        """Start compiling, once per key."""
        if key not in self.kernels:
            self.kernels[key] = FutureKernel(finalize, self.executor.submit(compile_fn))
        return self.kernels[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("an AsyncCompileMode is active already")
        active_mode.set(self)
        return self

    def __exit__(self, *_: Any) -> None:
        active_mode.set(None)
        waiting = {k.future: k for k in self.kernels.values()}
        for future in as_completed(waiting):
            waiting[future].result(self.ignore_errors)
