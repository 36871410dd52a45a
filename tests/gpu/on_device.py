"""Running kernels of the corpus on the GPU: arrays are copied there with the storage around them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.backends.cuda import assemble, driver, generate
from tritium.backends.cuda.nvrtc import Binary
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
        return ArrayView(
            *(address, view.dtype, view.shape, view.strides, base, view.storage_nbytes, "cuda:0", True, None)
        )

    def back(self) -> None:
        """Copy everything to the host again and free it."""
        driver.call("test", "cuCtxSynchronize")
        for host, (where, nbytes) in self.copies.items():
            driver.call("test", "cuMemcpyDtoH", host, where, nbytes)
            driver.call("test", "cuMemFree", where)


class Device:
    """Sources and binaries of kernels by what they are compiled from; `binaries` may be filled ahead of the launches."""

    def __init__(self, arch: str | None = None, **options: Any) -> None:
        self.options = options
        self.arch = arch or driver.device(0).arch
        self.sources: dict[str, generate.CudaSource] = {}
        self.binaries: dict[str, Binary] = {}

    def source(self, kernel: Any) -> generate.CudaSource:
        """The CUDA source of a compiled kernel, from its optimised tile IR."""
        found = self.sources.get(kernel.hash)
        if found is None:
            chosen = {**kernel.options, **self.options}
            function = kernel.compilation.artefacts["opt.tir"]
            found = self.sources[kernel.hash] = generate.generate(function, chosen, self.arch)
        return found

    def run(self, kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        """Launch and wait."""
        source = self.source(kernel)
        chosen = {**kernel.options, "arch": self.arch}
        binary = self.binaries.get(source.text)
        if binary is None:
            binary = self.binaries[source.text] = assemble.assemble(source, chosen)
        names = [f"arg{i}" for i in range(len(source.parameters))]
        if 0 in grid:
            return
        with driver.device(0).current():
            program = assemble.program_of(source, binary, names, chosen)
            storages = Storages()
            moved = [storages.moved(x) if isinstance(x, ArrayView) else x for x in leaves]
            program.run(grid, moved, stream=0)
            storages.back()
