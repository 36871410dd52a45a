"""Which backend runs a launch, and how it is handed over."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tritium import config
from tritium.backends.compiler import GPUTarget
from tritium.backends.interp import Options, Program, run_grid
from tritium.errors import make_error
from tritium.runtime import launch_check
from tritium.runtime.arrays import HOST, ArrayView, TensorWrapper, is_array, view_of
from tritium.runtime.driver import driver
from tritium.runtime.grid import Grid
from tritium.runtime.specialize import is_descriptor

BACKENDS = ("interpret", "cpu", "cuda")
"""The backends of this version, by name."""


def choose_backend(
    options: dict[str, Any],
    settings: config.Snapshot,
    values: Sequence[Any],
    names: Sequence[str],
    forced: str | None = None,
    warmup: bool = False,
) -> str:
    """The option ``backend=``, else TRITIUM_BACKEND, else TRITON_INTERPRET, else what suits where the data is.

    Data on a GPU asks for `cuda`, data on the host for `cpu`; lines to trace ask for the interpreter, which alone can
    print them. A `warmup` whose arrays are all stand-ins is for the GPU where there is one.
    """
    wanted = options.get("backend") or settings.values["backend"] or forced
    if wanted is None and settings.values["triton_interpret"]:
        wanted = "interpret"
    if wanted is not None and wanted not in BACKENDS:
        raise make_error("TRI0731", name=wanted, expected=", ".join(BACKENDS))
    places: set[str] = set()
    for name, view in _views(names, values):
        if not warmup:
            _check_device(name, view)
        places.add(view.device.partition(":")[0])
    if launch_check.active() is not None:
        return "interpret"
    if wanted is not None:
        return str(wanted)
    stand_ins = bool(places) and HOST not in places
    on_gpu = "cuda" in places or (warmup and stand_ins and _targets_gpu())
    return "cuda" if on_gpu else host_backend(settings)


def host_backend(settings: config.Snapshot) -> str:
    """Native code for data on the host; the interpreter where lines are traced, or where LLVM is not installed."""
    return "cpu" if _llvm_is_there() and not settings.values["trace_lines"] else "interpret"


@functools.cache
def _llvm_is_there() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


def _targets_gpu() -> bool:
    return driver.active.get_current_target().backend == "cuda"


def _views(names: Sequence[str], values: Sequence[Any]) -> Iterator[tuple[str, ArrayView]]:
    for name, value in zip(names, values, strict=True):
        if is_array(value):
            yield name, view_of(value, name)
        elif isinstance(value, (tuple, list)):
            yield from _views([f"{name}[{i}]" for i in range(len(value))], value)
        elif is_descriptor(value):
            yield f"{name}.base", view_of(value.base, name)


def _check_device(name: str, view: ArrayView) -> None:
    if view.device != HOST and not view.device.startswith("cuda"):
        hint = "pass an array that holds data; stand-ins are for kernel.warmup"
        raise make_error("TRI0732", name=name, got=view.device, expected="memory of its own", hint=hint)


def gpu_options(options: dict[str, Any], values: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """What the CUDA backend adds to the options of a launch: ``arch``, and the ``target`` that kernels are told.

    The architecture is that of the option ``arch``, else of the GPU that holds the arrays, else of PyTorch's current one.
    """
    from tritium.backends.cuda import assemble
    from tritium.backends.cuda.driver import device

    arch: str | None = None
    if options.get("arch") is None:
        for _, view in _views(names, values):
            if view.device.startswith("cuda:"):
                arch = device(int(view.device.removeprefix("cuda:"))).arch
                break
    arch = arch or assemble.architecture(options)
    return {"arch": arch, "target": gpu_target(arch)}


def gpu_target(arch: str) -> GPUTarget:
    """Triton's name for an architecture: ``GPUTarget("cuda", 90, 32)`` for ``sm_90a``."""
    from tritium.backends.cuda.resources import arch_number

    return GPUTarget("cuda", arch_number(arch), 32)


def executor_of(backend: str) -> Callable[..., None]:
    """The function that runs a compiled kernel on `backend`."""
    return _EXECUTORS[backend]


def _interpret(kernel: Any, grid: Grid, leaves: Sequence[Any]) -> None:
    run = launch_check.active() or _run_interpreter
    for leaf in leaves:
        if leaf.__class__ is ArrayView and leaf.device != HOST:
            with _HostCopies(leaves) as host:
                run(kernel, grid, host)
            return
    run(kernel, grid, leaves)


def _run_interpreter(kernel: Any, grid: Grid, leaves: Sequence[Any]) -> None:
    lines = config.current().values["trace_lines"]
    prepared = kernel.prepared.get(lines)
    if prepared is None:
        made = Program(kernel.ir, trace_lines=lines), Options(trace_lines=lines)
        prepared = kernel.prepared.setdefault(lines, made)
    program, options = prepared
    run_grid(program, grid, leaves, options=options)


class _HostCopies:
    """Leaves with device arrays replaced by host copies, which are copied back on success."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.leaves = leaves
        self.moved: dict[tuple[str, int], tuple[Any, Any]] = {}

    def __enter__(self) -> list[Any]:
        return [self._host(a) if isinstance(a, ArrayView) and not a.on_host else a for a in self.leaves]

    def _host(self, view: ArrayView) -> ArrayView:
        owner = view.owner
        while isinstance(owner, TensorWrapper):
            owner = owner.base
        if not hasattr(owner, "untyped_storage"):
            expected = "host memory, or a PyTorch tensor"
            raise make_error("TRI0732", name="array", got=view.device, expected=expected)
        key = (view.device, view.storage_address)
        if key not in self.moved:
            device_storage = owner.untyped_storage()
            self.moved[key] = (device_storage, device_storage.cpu())
        base = int(self.moved[key][1].data_ptr())
        return ArrayView(
            *(base + view.address - view.storage_address, view.dtype, view.shape, view.strides),
            *(base, view.storage_nbytes, HOST, view.writable, self.moved[key][1]),
        )

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            for device_storage, host_storage in self.moved.values():
                device_storage.copy_(host_storage)


def _native(kernel: Any, grid: Grid, leaves: Sequence[Any]) -> None:
    from tritium.backends.cpu import launch

    for leaf in leaves:
        if leaf.__class__ is ArrayView and leaf.device != HOST:
            with _HostCopies(leaves) as host:
                _native(kernel, grid, host)
            return
    if launch_check.active() is not None or not launch.execute(kernel, grid, leaves):
        _interpret(kernel, grid, leaves)


def _on_gpu(kernel: Any, grid: Grid, leaves: Sequence[Any]) -> None:
    kernel.launch(grid, leaves)  # loads and launches by itself


_EXECUTORS: dict[str, Callable[..., None]] = {"interpret": _interpret, "cpu": _native, "cuda": _on_gpu}
