"""A compiled kernel for NVIDIA GPUs: its resources, its machine code, and the program that launches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from tritium import knobs
from tritium.backends.cuda import driver
from tritium.backends.cuda.assemble import program_of
from tritium.backends.cuda.nvrtc import Binary
from tritium.pipeline import Compilation
from tritium.runtime.arrays import ArrayView
from tritium.runtime.backend import gpu_target
from tritium.runtime.compiled import Artefacts, CompiledKernel, Executor, stored_arguments
from tritium.runtime.grid import Grid
from tritium.runtime.specialize import Specs

_stream: ContextVar[int | None] = ContextVar("tritium_stream", default=None)
"""The stream that a launch was asked to go to, where it was; set for the length of one call."""


class GpuArtefacts(Artefacts):
    """``kernel.asm`` with ``cubin`` as bytes, and ``ptx``, the assembly text that it was made from."""

    def __getitem__(self, stage: str) -> Any:
        binary: Binary = self._compilation.artefacts["cubin"]
        if stage == "cubin":
            return binary.cubin
        return binary.ptx if stage == "ptx" else super().__getitem__(stage)

    def __contains__(self, stage: object) -> bool:
        return stage == "ptx" or super().__contains__(stage)


class GpuKernel(CompiledKernel):
    """One specialisation of a kernel as machine code.

    binary         machine code and its resources
    program        loads it onto GPUs and launches it
    n_regs         registers per thread; `n_spills` 32-bit words of local memory per thread, as Triton counts
    n_max_threads  threads of a block that the code was compiled for
    """

    def __init__(
        self,
        src: Any,
        compilation: Compilation,
        specs: Specs,
        options: Mapping[str, Any],
        backend: str,
        executor: Executor,
        name: str | None = None,
    ) -> None:
        self.binary: Binary = compilation.artefacts["cubin"]
        target = gpu_target(self.binary.arch)
        super().__init__(src, compilation, specs, options, backend, executor, target, name)
        source = compilation.artefacts["cu"]
        resources = self.binary.resources
        names = [arg.name or f"argument {i}" for i, arg in enumerate(self.ir.args)]
        self.program = program_of(source, self.binary, names, options)
        self.asm = GpuArtefacts(compilation, backend)
        self.n_regs = resources.registers
        self.n_spills = resources.stack // 4
        self.n_max_threads = resources.max_threads
        shared = resources.shared + source.dynamic_shared
        self.metadata = self.metadata._replace(shared=shared)
        m = self.metadata
        self.packed_metadata = (m.num_warps, m.num_ctas, m.shared, *m.cluster_dims)
        self.kernel = self.binary.cubin
        self._stores, self._writes_anywhere = stored_arguments(compilation.artefacts["opt.tir"])

    def _init_handles(self, ordinal: int | None = None) -> None:
        """Load the kernel onto a GPU (by default PyTorch's current one), and take the driver's handles from there."""
        if self.module is not None:
            return
        around = (self.name, self.metadata_group, self.hash)
        knobs.runtime.kernel_load_start_hook(self.module, None, *around)
        loaded, _ = self.program.on(driver.current_ordinal() if ordinal is None else ordinal)
        self.module, self.function = int(loaded.module), int(loaded.function)
        knobs.runtime.kernel_load_end_hook(self.module, self.function, *around)

    def run(
        self, grid_0: int, grid_1: int, grid_2: int, stream: Any, function: Any, *rest: Any, **named: Any
    ) -> None:
        """Triton's low-level launch, in the stream whose handle is given (None: in the current one)."""
        token = _stream.set(stream)
        try:
            super().run(grid_0, grid_1, grid_2, stream, function, *rest, **named)
        finally:
            _stream.reset(token)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        plain = super().__getitem__(grid)

        def launcher(*values: Any, stream: Any = None) -> None:
            token = _stream.set(stream)
            try:
                plain(*values, stream=stream)
            finally:
                _stream.reset(token)

        return launcher

    def launch(self, grid: Grid, leaves: Sequence[Any]) -> None:
        """Run `grid` on the run-time parts of the arguments, in the current stream of the GPU that holds them.

        Raises ArgumentError for arrays that the GPU does not reach, InterpreterError for a read-only array that the
        kernel stores to, LaunchError for what the GPU reports.
        """
        for index, loc in self._stores:
            view = leaves[index]
            if view.__class__ is ArrayView and not view.writable:
                self._refuse_read_only(index, loc)
        if self.module is None:
            self._init_handles(self.program.device_of(leaves))
        if 0 not in grid:
            self.program.run(grid, leaves, _stream.get())
