"""Which backend runs a launch, and how it is handed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tritium import config
from tritium.errors import make_error
from tritium.runtime.arrays import ArrayView, is_array, view_of
from tritium.runtime.grid import Grid

BACKENDS = ("interpret", "cpu")
"""The backends of this version, by name."""


def choose_backend(options: dict[str, Any], values: Sequence[Any], names: Sequence[str]) -> str:
    """The option ``backend=``, else TRITIUM_BACKEND, else TRITON_INTERPRET, else what suits where the data is."""
    wanted = options.get("backend") or config.get("backend")
    if wanted is None and config.get("triton_interpret"):
        wanted = "interpret"
    if wanted is not None:
        if wanted not in BACKENDS:
            raise make_error("TRI0731", name=wanted, expected=", ".join(BACKENDS))
        return str(wanted)
    for name, value in zip(names, values, strict=True):
        if is_array(value) and not view_of(value, name).on_host:
            raise make_error(
                "TRI0732",
                name=name,
                got=view_of(value, name).device,
                expected="host memory: this version has no GPU backend",
            )
    return "interpret"


def executor_of(backend: str) -> Callable[..., None]:
    """The function that runs a compiled kernel on `backend`."""
    return _EXECUTORS[backend]


def _interpret(kernel: Any, grid: Grid, arguments: Sequence[Any]) -> None:
    from tritium.backends.interp import Options, Program, run_grid

    lines = frozenset(config.get("trace_lines"))
    options = Options(trace_lines=lines)
    program = kernel.prepared.get(lines)
    if program is None:
        program = kernel.prepared.setdefault(lines, Program(kernel.ir, trace_lines=lines))
    with _HostCopies(arguments) as host:
        run_grid(program, grid, host, options=options)


class _HostCopies:
    """Arguments with device arrays replaced by host copies, which are copied back on success."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.arguments = arguments
        self.moved: dict[tuple[str, int], tuple[Any, Any]] = {}

    def __enter__(self) -> list[Any]:
        return [self._host(a) if isinstance(a, ArrayView) and not a.on_host else a for a in self.arguments]

    def _host(self, view: ArrayView) -> ArrayView:
        owner = (
            getattr(view.owner, "base", view.owner)
            if type(view.owner).__name__ == "TensorWrapper"
            else view.owner
        )
        if not hasattr(owner, "untyped_storage"):
            raise make_error(
                "TRI0732", name="array", got=view.device, expected="host memory, or a PyTorch tensor"
            )
        key = (view.device, view.storage_address)
        if key not in self.moved:
            device_storage = owner.untyped_storage()
            self.moved[key] = (device_storage, device_storage.cpu())
        base = int(self.moved[key][1].data_ptr())
        return ArrayView(
            *(base + view.address - view.storage_address, view.dtype, view.shape, view.strides),
            *(base, view.storage_nbytes, "cpu", view.writable, self.moved[key][1]),
        )

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            for device_storage, host_storage in self.moved.values():
                device_storage.copy_(host_storage)


def _native(kernel: Any, grid: Grid, arguments: Sequence[Any]) -> None:
    from tritium.backends.cpu import launch

    with _HostCopies(arguments) as host:
        if not launch.execute(kernel, grid, host):
            _interpret(kernel, grid, host)


_EXECUTORS: dict[str, Callable[..., None]] = {"interpret": _interpret, "cpu": _native}
