"""Meta-parameters computed from the other arguments: ``@triton.heuristics``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tritium.runtime.interface import KernelInterface
from tritium.runtime.options import OPTIONS
from tritium.runtime.tracebacks import cleaned
from tritium.runtime.tuning_config import check_names


class Heuristics(KernelInterface):
    """A kernel whose meta-parameters are computed from its other arguments at each launch."""

    def __init__(
        self, fn: Any, arg_names: list[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.values = values

    def __deepcopy__(self, memo: Any) -> Heuristics:
        return self

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        for name, rule in self.values.items():
            kwargs[name] = rule({**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        return kwargs

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.fn.run(*args, **self._computed(args, kwargs))
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def warmup(self, *args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("grid", (1,))
        return self.fn.warmup(*args, **self._computed(args, kwargs))


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: compute meta-parameters, each by a function of the arguments by name."""

    def decorate(fn: Any) -> Heuristics:
        base = fn
        while not inspect.isfunction(base):
            base = base.fn
        check_names("@triton.heuristics", base.__name__, values, [*fn.arg_names, *OPTIONS])
        return Heuristics(fn, fn.arg_names, values)

    return decorate
