"""Running kernels of the corpus on the GPU: arrays are copied there with the storage around them, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

import tritium.runtime.backend as runtime_backend
from tritium.backends.cuda import assemble, driver, generate
from tritium.backends.cuda.program import Program
from tritium.ir.match import Record
from tritium.runtime.arrays import ArrayView


class Storages:
    """Device copies of host storages, by host address."""

    def __init__(self) -> None:
        self.copies: dict[int, tuple[Any, int]] = {}

    def moved(self, view: ArrayView) -> ArrayView:
        """`view` on the device, with everything that shares its storage."""
        key = view.storage_address
        if key not in self.copies:
            where = driver.call("test", "cuMemAlloc", max(view.storage_nbytes, 16))
            driver.call("test", "cuMemcpyHtoD", where, key, view.storage_nbytes)
            self.copies[key] = (where, view.storage_nbytes)
        base = int(self.copies[key][0])
        address = base + view.address - view.storage_address
        return ArrayView(address, view.dtype, view.shape, view.strides, base, view.storage_nbytes, "cuda:0", True, None)

    def back(self) -> None:
        """Copy everything to the host again and free it."""
        driver.call("test", "cuCtxSynchronize")
        for host, (where, nbytes) in self.copies.items():
            driver.call("test", "cuMemcpyDtoH", host, where, nbytes)
            driver.call("test", "cuMemFree", where)


def build(kernel: Any, options: dict[str, Any], arch: str | None = None) -> tuple[generate.CudaSource, Program]:
    """CUDA source and loaded program of a compiled kernel (of any backend), from its optimised tile IR."""
    function = kernel.compilation.artefacts["opt.tir"]
    chosen = {**kernel.options, **options, "arch": arch or driver.device(0).arch}
    source = generate.generate(function, chosen, chosen["arch"])
    binary = assemble.assemble(source, chosen)
    names = [a.name or f"arg{i}" for i, a in enumerate(function.args)]
    return source, assemble.program_of(source, binary, names, chosen)


@contextmanager
def on_gpu(**options: Any) -> Iterator[list[Record]]:
    """Within the block, launches that the interpreter would run go to the GPU. Gives the records of the compilations."""
    records: list[Record] = []

    def execute(kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        key = ("gpu", tuple(sorted(options.items())))
        built = kernel.prepared.get(key)
        if built is None:
            built = kernel.prepared.setdefault(key, build(kernel, options))
        source, program = built
        records.append(source.record)
        if 0 in grid:
            return
        with driver.device(0).current():
            storages = Storages()
            moved = [storages.moved(x) if isinstance(x, ArrayView) else x for x in leaves]
            program.run(grid, moved, stream=0)
            storages.back()

    with pytest.MonkeyPatch.context() as patch:
        executors: dict[str, Callable[..., None]] = {**runtime_backend._EXECUTORS, "interpret": execute}
        patch.setattr(runtime_backend, "_EXECUTORS", executors)
        patch.setattr("tritium.runtime.jit.executor_of", executors.__getitem__, raising=False)
        yield records
