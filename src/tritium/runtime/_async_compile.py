"""``triton.AsyncCompileMode``: compile several kernels at once on an executor.

::

    with AsyncCompileMode(ThreadPoolExecutor(8)):
        a = kernel_a.warmup(..., grid=(1,))       # returns a FutureKernel
        b = kernel_b.warmup(..., grid=(1,))
    # here both are compiled
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("tritium_async_compile", default=None)


class FutureKernel:
    """A kernel being compiled; `result()` waits for it."""

    def __init__(self, finalize_compile: Callable[[Any], Any], future: Future[Any]) -> None:
        self.finalize_compile = finalize_compile
        self.kernel: Any = None
        self.future = future
        self._lock = threading.Lock()

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel. With `ignore_errors` a failed compilation gives None."""
        try:
            kernel = self.future.result()
        except Exception:
            if ignore_errors:
                return None
            raise
        with self._lock:
            if self.kernel is None:
                self.finalize_compile(kernel)
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
        self.raw_futures: list[Future[Any]] = []
        self.future_kernels: dict[Any, FutureKernel] = {}
        self._token: Token[AsyncCompileMode | None] | None = None

    def submit(
        self, key: Any, compile_fn: Callable[[], Any], finalize_fn: Callable[[Any], Any]
    ) -> FutureKernel:
        """Start compiling, once per key."""
        found = self.future_kernels.get(key)
        if found is None:
            future = self.executor.submit(compile_fn)
            self.raw_futures.append(future)
            found = self.future_kernels[key] = FutureKernel(finalize_fn, future)
        return found

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("an AsyncCompileMode is active already")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._token is not None:
            active_mode.reset(self._token)
        from concurrent.futures import as_completed

        waiting = {kernel.future: kernel for kernel in self.future_kernels.values()}
        for future in as_completed(waiting):
            waiting[future].result(self.ignore_errors)
