"""What every launchable object shares: ``kernel[grid](...)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class KernelInterface:
    """Base of jit functions, autotuners and heuristics; `run` does the work."""

    fn: Any
    arg_names: list[str]

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Bind, compile if needed, and launch on `grid`; with `warmup` only compile."""
        raise TypeError(f"{type(self).__name__} cannot be launched")

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compile for these arguments (arrays, or dtypes in their place) without running."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)
