"""The compiled kernels of one jit function on one device, and the ways to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from tritium.backends.compiler import GPUTarget
from tritium.runtime.options import options_key
from tritium.runtime.specialize import Specs

R = TypeVar("R")


class Specialization(NamedTuple):
    """Everything that distinguishes two compilations of one function."""

    source: str
    specs: Specs
    options: tuple[tuple[str, Any], ...]
    settings: tuple[tuple[str, Any], ...]
    backend: str


class _Pending:
    """A compilation that some thread is busy with."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.thread = threading.get_ident()


class KernelTable:
    """What ``kernel.device_caches[device]`` holds; as a sequence, the five parts that Triton has there.

    kernels   compiled kernels by key
    keys      from a launch's fast key to the key of its kernel
    target    what the device is
    """

    def __init__(self, target: GPUTarget, binder: Callable[..., Any]) -> None:
        self.kernels: dict[str | None, Any] = {}
        self.keys: dict[tuple[Any, ...], str] = {}
        self.target = target
        self.backend: Any = None
        self.binder = binder
        self.named: dict[str, Specialization] = {}  # what each key stands for
        self._texts: dict[Specialization, str] = {}
        self._pending: dict[str, _Pending] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.kernels, self.keys, self.target, self.backend, self.binder))

    def __getitem__(self, index: int) -> Any:
        return tuple(self)[index]

    def __len__(self) -> int:
        return 5

    def key_of(
        self,
        source: str,
        specs: Specs,
        options: dict[str, Any],
        settings: tuple[tuple[str, Any], ...],
        backend: str,
    ) -> str:
        """The key of a specialisation: a text that people can read, its own for each."""
        wanted = Specialization(source, specs, options_key(options), settings, backend)
        with self._lock:
            found = self._texts.get(wanted)
            if found is None:
                shown = ", ".join(f"{name}: {spec}" for name, spec in specs)
                found = f"{backend} {source[:16]} #{len(self._texts)} ({shown})"
                self._texts[wanted] = found
                self.named[found] = wanted
        return found

    def once(self, key: str, make: Callable[[], R]) -> R:
        """The kernel under `key`, made by one thread while others that ask for it wait. None is not kept."""
        while True:
            with self._lock:
                found = self.kernels.get(key)
                if found is not None:
                    return found
                pending = self._pending.get(key)
                if pending is None or pending.thread == threading.get_ident():
                    mine = self._pending[key] = _Pending()
                    break
            pending.done.wait()
        try:
            made = make()
            if made is not None:
                self.kernels[key] = made
            return made
        finally:
            with self._lock:
                self._pending.pop(key, None)
            mine.done.set()


class DeviceCaches(dict[int, KernelTable], Generic[R]):
    """Tables by device, made when first asked for.

    fast  what the short way of launches knows (see `tritium.runtime.fast_launch`): by key the launch function and kernel
    """

    def __init__(self, make: Callable[[], KernelTable]) -> None:
        super().__init__()
        self._make = make
        self.fast: dict[tuple[Any, ...], tuple[Callable[..., None], Any]] = {}

    def clear(self) -> None:
        """Forget all kernels."""
        for table in list(self.values()):
            table.kernels.clear()
        super().clear()
        self.fast.clear()

    def __missing__(self, device: int) -> KernelTable:
        return self.setdefault(device, self._make())
