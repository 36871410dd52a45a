"""One candidate of a tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tritium.errors import make_error
from tritium.runtime.options import OPTIONS


class Config:
    """Values for meta-parameters, and compile options.

    kwargs       meta-parameters by name, such as ``{"BLOCK": 128}``
    num_warps    warps per program instance (GPU); 4 by default
    num_stages   software pipelining depth (GPU)
    num_ctas     blocks per cluster (GPU)
    maxnreg      register limit per thread (GPU)
    pre_hook     called with all arguments by name before each launch with this configuration
    ir_override  file whose text replaces a stage of the compiler; its ending names the stage
    """

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def __setstate__(self, state: dict[str, Any]) -> None:
        complete: dict[str, Any] = {"kwargs": {}, **state}
        self.__init__(**complete)

    def all_kwargs(self) -> dict[str, Any]:
        """Meta-parameters and options as launch keywords; unset options are left out."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self) -> str:
        named = {**self.kwargs, "num_warps": self.num_warps, "num_ctas": self.num_ctas}
        named |= {"num_stages": self.num_stages, "maxnreg": self.maxnreg}
        return ", ".join(f"{k}: {v}" for k, v in named.items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def _key(self) -> tuple[Any, ...]:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()


def check_names(what: str, function: str, names: Iterable[str], known: Sequence[str]) -> None:
    """AutotunerError for the first of `names` that is not among the `known` parameters and options."""
    for name in names:
        if name not in known:
            expected = ", ".join(n for n in known if n not in OPTIONS)
            raise make_error("TRI0743", what=what, function=function, name=name, expected=expected)
