"""Arrays that the program allocates and does not fill: ``torch.empty``, ``numpy.empty`` and their like.

While a program is checked, such memory is filled with a pattern. An element that still holds it when a kernel reads it
has been written by nobody; after a launch, elements of an output that still hold it were left out. The pattern is a
NaN as fp16 and fp32, and is compared over four bytes also for smaller elements, so that nothing that a program computes is
taken for it.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from tritium.ops.base import Array

PATTERN = 0x7FB5FDB3
"""Four bytes that mean: never written."""

_NUMPY = ("empty", "empty_like")
_TORCH = ("empty", "empty_like", "empty_strided")
_TENSOR = ("new_empty",)


class Fresh:
    """The blocks of memory that were allocated without contents, by address."""

    def __init__(self) -> None:
        self.busy = 0  # launches under way: what they allocate is our own
        self._blocks: dict[int, int] = {}
        self._lock = threading.Lock()

    def add(self, address: int, nbytes: int) -> None:
        """Fill a new block with the pattern and remember it."""
        words = nbytes // 4
        if address % 4 or not words or self.busy:
            return
        _bytes_at(address, words * 4).view(np.uint32)[:] = PATTERN
        with self._lock:
            self._blocks[address] = words * 4

    def holds(self, address: int) -> bool:
        """Whether a block starts at `address`, as far as is known."""
        return address in self._blocks

    def unwritten(self, base: int, end: int, at: Array, size: int) -> Array:
        """Which elements of `size` bytes at the addresses `at`, in the block ``[base, end)``, hold the pattern."""
        nbytes = (end - base) // 4 * 4
        words = _bytes_at(base, nbytes).view(np.uint32)
        first = (at - base) // 4
        last = (at - base + size - 1) // 4
        inside = (first >= 0) & (last < words.size)
        found: Array = inside & (words[np.where(inside, first, 0)] == PATTERN)
        if size > 4 or bool((first != last).any()):
            found &= words[np.where(inside, last, 0)] == PATTERN
        return found


def _bytes_at(address: int, nbytes: int) -> Array:
    import ctypes

    return np.frombuffer(memoryview((ctypes.c_uint8 * nbytes).from_address(address)), np.uint8)


@contextmanager
def watching(fresh: Fresh) -> Generator[None]:
    """Fill what NumPy and PyTorch allocate without contents in the block; PyTorch also where it is imported later."""
    with ExitStack() as undo:
        _watch_numpy(fresh, undo)
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "empty"):
            _watch_torch(fresh, torch, undo)
        else:
            finder = _AfterTorch(lambda module: _watch_torch(fresh, module, undo))
            sys.meta_path.insert(0, finder)
            undo.callback(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)
        yield


def _watch_numpy(fresh: Fresh, undo: ExitStack) -> None:
    def note(made: Any) -> None:
        if type(made) is np.ndarray and made.flags.owndata and not made.dtype.hasobject:
            fresh.add(made.ctypes.data, made.nbytes)

    for name in _NUMPY:
        _wrap(fresh, np, name, note, undo)


def _watch_torch(fresh: Fresh, torch: Any, undo: ExitStack) -> None:
    def note(made: Any) -> None:
        if type(made) is torch.Tensor and made.device.type == "cpu" and made.layout is torch.strided:
            storage = made.untyped_storage()
            if storage.nbytes() and not _is_fake(made):
                fresh.add(storage.data_ptr(), storage.nbytes())

    for holder, names in ((torch, _TORCH), (torch.Tensor, _TENSOR)):
        for name in names:
            _wrap(fresh, holder, name, note, undo)


def _is_fake(tensor: Any) -> bool:
    return bool(getattr(tensor, "is_quantized", False)) or tensor.data_ptr() == 0


def _wrap(fresh: Fresh, holder: Any, name: str, note: Callable[[Any], None], undo: ExitStack) -> None:
    original = getattr(holder, name)

    def allocate(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if not fresh.busy and kwargs.get("out") is None:
            note(made)
        return made

    allocate.__name__, allocate.__doc__ = name, original.__doc__
    allocate.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(holder, name, allocate)
    undo.callback(lambda: setattr(holder, name, original))


class _AfterTorch:
    """An importer that lets the others import PyTorch, and is told when it is there."""

    def __init__(self, then: Callable[[ModuleType], None]) -> None:
        self.then = then
        self.searching = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch" or self.searching:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching = False
        loader: Any = spec.loader if spec is not None else None
        if spec is None or loader is None or not hasattr(loader, "exec_module"):
            return spec
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.exec_module = original
            original(module)
            self.then(module)

        loader.exec_module = exec_module
        return spec


def elements_of(address: int, shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> Array:
    """The addresses of all elements of a view, in its shape."""
    at = np.full(shape, address, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(extent, dtype=np.int64) * (stride * size)
        at += steps.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return at


def first_index(found: Array) -> Iterator[int]:
    """The index of the first true element."""
    return (int(i) for i in np.unravel_index(int(found.argmax()), found.shape))
