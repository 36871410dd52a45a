"""The text of a kernel as an object: its source and what it captures, replacing it, copying and pickling the kernel."""

from __future__ import annotations

import ast
import ctypes
import importlib
import inspect
from typing import Any

from tritium.frontend.source import JitCallable, KernelSource

_epochs = (ctypes.c_int64 * 1)(0)
"""Counts replacements of source text, each of which may concern every kernel; the launch stub reads it in memory."""


class KernelText(JitCallable):
    """Base of jit functions: what programs read of the source, and how changes of it are noticed."""

    _epoch = 0

    @property
    def _fn_name(self) -> str:
        return self.source.qualified_name

    @property
    def src(self) -> str:
        """The text from the ``def`` on."""
        return self.source.text

    @property
    def raw_src(self) -> list[str]:
        """The lines from the ``def`` on."""
        return self.source.text.splitlines(keepends=True)

    @property
    def starting_line_number(self) -> int:
        """The line of the ``def`` in its file."""
        return self.source.first_line

    @property
    def __globals__(self) -> dict[str, Any]:
        return self.source.fn.__globals__

    def get_capture_scope(self) -> dict[str, Any]:
        """Names that the function can see: globals, and variables of functions around it."""
        return {**self.__globals__, **inspect.getclosurevars(self.fn).nonlocals}

    def parse(self) -> ast.Module:
        """The syntax tree of `src`."""
        return ast.parse(self.src)

    @property
    def hash(self) -> str | None:
        """`cache_key` if it was computed; setting it to None has it computed anew."""
        known = self.source._key
        return known[0] if known is not None else None

    @hash.setter
    def hash(self, value: None) -> None:
        self.source._key = None
        self._epoch = -1
        self._forget_launches()

    def _forget_launches(self) -> None:
        """Have the next launch look at everything again."""

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict[str, Any]]]:
        known = self.source._key
        found = [c for c in known[1] if isinstance(c.owner, dict)] if known is not None else []
        return {(c.name, id(c.owner)): (c.value, c.owner) for c in found}  # type: ignore[misc]

    def refresh(self) -> bool:
        """Whether captured values, or the text of a function that is called, changed since the key was computed."""
        if self._epoch != _epochs[0]:
            self._epoch = _epochs[0]
            self.source._key = None
            return True
        return self.source.refresh()

    def _unsafe_update_src(self, new_src: str) -> None:
        """Replace the source text. Kernels that call this function are compiled anew at their next launch."""
        self.source = KernelSource(self.source.fn, new_src)
        _epochs[0] += 1

    # a kernel is copied and pickled as Python's functions are: as itself, and by where it is defined
    def __copy__(self) -> KernelText:
        return self

    def __deepcopy__(self, memo: Any) -> KernelText:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return kernel_named, (self.fn.__module__, self.fn.__qualname__)


def kernel_named(module: str, qualname: str) -> Any:
    """The kernel of that name, under whatever decorators it has (how pickled kernels are found again)."""
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    while not isinstance(found, KernelText) and hasattr(found, "fn"):
        found = found.fn
    if not isinstance(found, KernelText):
        raise AttributeError(f"{module}.{qualname} is no kernel")
    return found
