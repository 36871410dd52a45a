"""What every launchable object shares: ``kernel[grid](...)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritium.runtime.tracebacks import cleaned


class KernelInterface:
    """Base of jit functions, autotuners and heuristics; `run` does the work."""

    fn: Any
    arg_names: list[str]

    def __class_getitem__(cls, item: Any) -> Any:
        """Triton's class is generic over the function's type, which nothing reads."""
        return cls

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Bind, compile if needed, and launch on `grid`; with `warmup` only compile."""
        raise TypeError(f"{type(self).__name__} cannot be launched")

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compile for these arguments (arrays, or dtypes in their place) without running."""
        try:
            return self.run(*args, grid=grid, warmup=True, **kwargs)
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def launch(*args: Any, **kwargs: Any) -> Any:
            try:
                return self.run(*args, grid=grid, warmup=False, **kwargs)
            except BaseException as error:
                raise cleaned(error)  # noqa: B904

        return launch
