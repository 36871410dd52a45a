"""A compiled kernel: what a launch returns, and what runs it again."""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tritium.ir.core import Function
from tritium.pipeline import Compilation, stages_of
from tritium.runtime.arrays import is_array, view_of
from tritium.runtime.grid import Grid, resolve_grid
from tritium.runtime.specialize import ConstArg, DescriptorArg, Spec, Specs, TupleArg

Metadata = namedtuple(
    "Metadata",
    "name hash target num_warps num_stages num_ctas maxnreg shared cluster_dims launch_pdl "
    "launch_cooperative_grid enable_fp_fusion debug backend_name warp_size global_scratch_size",
)

Executor = Callable[["CompiledKernel", Grid, Sequence[Any]], None]
"""Runs one grid of a compiled kernel on flattened arguments; returns when the results are in memory."""


class Artefacts(Mapping[str, str]):
    """``kernel.asm``: every stage's text by stage name; ``ttir`` is accepted for the optimised tile IR."""

    _ALIASES = {"ttir": "opt.tir", "ttgir": "opt.tir"}

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation

    def __getitem__(self, stage: str) -> str:
        return self._compilation.text(self._ALIASES.get(stage, stage))

    def __iter__(self) -> Iterator[str]:
        return iter(self._compilation.artefacts)

    def __len__(self) -> int:
        return len(self._compilation.artefacts)

    def __contains__(self, stage: object) -> bool:
        return self._ALIASES.get(str(stage), stage) in self._compilation.artefacts


class CompiledKernel:
    """One specialisation of a kernel, ready to run.

    asm         artefacts by stage name, as text
    metadata    named tuple of name, options and resources
    function    the IR that is executed (interpreter) or the handle of the device function
    n_regs      registers per thread, n_spills spilled registers: 0 where the target has none
    """

    def __init__(
        self,
        compilation: Compilation,
        specs: Specs,
        options: Mapping[str, Any],
        target: str,
        executor: Executor,
    ) -> None:
        self.compilation = compilation
        self.specs = specs
        self.options = dict(options)
        self.target = target
        self.executor = executor
        self.prepared: dict[Any, Any] = {}  # what the backend wants to keep between launches
        self.asm = Artefacts(compilation)
        self.src = compilation.source
        text = f"{compilation.source.cache_key}|{specs}|{sorted(self.options.items(), key=str)}|{target}"
        self.hash = hashlib.sha256(text.encode()).hexdigest()
        self.name: str = self.ir.name
        self.n_regs = 0
        self.n_spills = 0
        self.n_max_threads = 1024
        self.metadata = Metadata(
            name=self.name,
            hash=self.hash,
            target=target,
            shared=0,
            backend_name=target,
            global_scratch_size=0,
            **{k: options.get(k) for k in _FROM_OPTIONS},
        )
        self.packed_metadata = (self.metadata.num_warps, self.metadata.num_ctas, self.metadata.shared)
        self.module = self

    @property
    def ir(self) -> Function:
        """The tile IR that runs."""
        last = [s.name for s in stages_of(self.target) if s.name in self.compilation.artefacts and s.read]
        function: Function = self.compilation.artefacts[last[-1]]
        return function

    @property
    def function(self) -> Function:
        return self.ir

    @property
    def source(self) -> str:
        """The kernel's Python text."""
        return self.compilation.source.text

    def _init_handles(self) -> None:
        """Triton loads the binary here; ours is ready when it exists."""

    def launch(self, grid: Grid, values: Sequence[Any]) -> None:
        """Run `grid` with one value per kernel parameter, in order."""
        if 0 in grid:
            return
        flat: list[Any] = []
        for (_, spec), value in zip(self.specs, values, strict=True):
            flatten(spec, value, flat)
        self.executor(self, grid, flat)

    def run(self, grid_0: int, grid_1: int, grid_2: int, stream: Any, function: Any, *rest: Any) -> None:
        """Triton's low-level launch: ``(gx, gy, gz, stream, function, packed_metadata, metadata, enter, exit, *args)``."""
        self.launch((grid_0, grid_1, grid_2), rest[4:])

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launcher(*values: Any, stream: Any = None) -> None:
            named = dict(zip((n for n, _ in self.specs), values, strict=False))
            self.launch(resolve_grid(grid, named), values)

        return launcher

    def launch_metadata(self, grid: Any, stream: Any, *values: Any) -> Any:
        """What launch hooks receive."""
        return LaunchMetadata({"name": self.name, "function": self.function, "stream": stream, "grid": grid})

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name} for {self.target}>"


_FROM_OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "cluster_dims",
    "launch_pdl",
    "launch_cooperative_grid",
    "enable_fp_fusion",
    "debug",
    "warp_size",
)


class LaunchMetadata:
    """A lazily readable record for launch hooks: ``get()`` gives the dictionary."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def get(self) -> dict[str, Any]:
        return self.data


def flatten(spec: Spec, value: Any, out: list[Any]) -> None:
    """Append the run-time leaves of one argument, in the order of the IR function's arguments."""
    if isinstance(spec, ConstArg):
        return
    if isinstance(spec, TupleArg):
        for inner, item in zip(spec.items, value, strict=True):
            flatten(inner, item, out)
        return
    if isinstance(spec, DescriptorArg):
        out.append(view_of(value.base))
        out.extend(int(d) for d in value.shape)
        out.extend(int(s) for s in value.strides)
        return
    out.append(view_of(value) if is_array(value) else value)
