"""``triton.set_allocator``: where kernels that need scratch memory get it.

Tritium's interpreter and CPU kernels need none; an allocator is kept and only asked by backends that do.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from tritium.errors import make_error


class Buffer(Protocol):
    """What an allocator returns; it must stay alive until the launch has run."""

    def data_ptr(self) -> int: ...


class Allocator(Protocol):
    """``allocator(size, alignment, stream)`` gives device memory of `size` bytes."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer: ...


class NullAllocator:
    """Stands where no allocator was set: asking it is the error."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise make_error("TRI0735", function="the kernel", size=size)


_NULL_ALLOCATOR = NullAllocator()
_allocator: ContextVar[Any] = ContextVar("tritium_allocator", default=_NULL_ALLOCATOR)


def set_allocator(allocator: Allocator) -> None:
    """Use `allocator` for launches in the current context (thread or task)."""
    _allocator.set(allocator)


class _AllocatorWrapper:
    """An allocator that all threads share."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator

    def get(self) -> Any:
        return self._allocator

    def set(self, allocator: Any) -> None:
        self._allocator = allocator

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        return self._allocator(size, alignment, stream)


_profile_allocator = _AllocatorWrapper(_NULL_ALLOCATOR)


def set_profile_allocator(allocator: Allocator | None) -> None:
    """Where a profiler's scratch memory comes from. Kept; Tritium has no profiler that asks for any."""
    _profile_allocator.set(_NULL_ALLOCATOR if allocator is None else allocator)
