"""A compiled kernel: what a launch returns, and what runs it again."""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tritium import config, knobs
from tritium.analysis.alias import AliasAnalysis
from tritium.backends.compiler import GPUTarget
from tritium.errors import Loc, UnknownOptionError, make_error
from tritium.ir.core import Function
from tritium.ops.base import Effect, TileOp
from tritium.pipeline import Compilation, stages_of
from tritium.runtime.arrays import ArrayView
from tritium.runtime.grid import Grid, resolve_grid
from tritium.runtime.options import OPTIONS
from tritium.runtime.specialize import Specs, add_leaves

_RESOURCES: dict[str, Any] = {
    "shared": 0,
    "tmem_size": None,
    "global_scratch_size": 0,
    "global_scratch_align": 1,
    "profile_scratch_size": 0,
    "profile_scratch_align": 1,
    "tensordesc_meta": None,
}
KernelMetadata: Any = namedtuple(  # pyright: ignore[reportUntypedNamedTuple]
    "KernelMetadata", ("name", "hash", "target", "triton_version", *_RESOURCES, *OPTIONS)
)
"""Name, target, resources (bytes of shared memory, of scratch memory) and every launch option."""

HOST_TARGET = GPUTarget("cpu", 0, 1)

Executor = Callable[["CompiledKernel", Grid, Sequence[Any]], None]
"""Runs one grid of a compiled kernel on its leaves; returns when the results are in memory."""


class Artefacts(Mapping[str, str]):
    """``kernel.asm``: every stage's text by stage name; ``ttir`` is accepted for the optimised tile IR."""

    _ALIASES = {"ttir": "opt.tir", "ttgir": "opt.tir"}

    def __init__(self, compilation: Compilation, target: str) -> None:
        self._compilation = compilation
        self._target = target

    def __getitem__(self, stage: str) -> str:
        if stage not in self:
            stages = ", ".join(self._compilation.artefacts)
            raise make_error(
                "TRI0902", target=self._target, name=stage, expected=stages, cls=UnknownOptionError
            )
        return self._compilation.text(self._ALIASES.get(stage, stage))

    def __iter__(self) -> Iterator[str]:
        return iter(self._compilation.artefacts)

    def __len__(self) -> int:
        return len(self._compilation.artefacts)

    def __contains__(self, stage: object) -> bool:
        return self._ALIASES.get(str(stage), stage) in self._compilation.artefacts


class LazyDict:
    """A dictionary whose further entries come from functions, called when it is asked for."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.extras: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def get(self) -> dict[str, Any]:
        """The dictionary with everything in it."""
        for fn, args in self.extras:
            self.data = self.data | (fn(*args) or {})
        self.extras.clear()
        return self.data

    def add(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Have the entries of ``func(*args)`` added when they are needed."""
        self.extras.append((func, args))


class CompiledKernel:
    """One specialisation of a kernel, ready to run.

    asm         artefacts by stage name, as text
    metadata    named tuple of name, options and resources
    function    the IR that is executed (interpreter) or the handle of the device function
    n_regs      registers per thread, n_spills spilled registers: 0 where the target has none
    src         the `ASTSource` (or `IRSource`) that it was compiled from
    """

    n_regs = 0
    n_spills = 0
    n_max_threads = 1024

    def __init__(
        self,
        src: Any,
        compilation: Compilation,
        specs: Specs,
        options: Mapping[str, Any],
        backend: str,
        executor: Executor,
        target: GPUTarget = HOST_TARGET,
        name: str | None = None,
    ) -> None:
        self.src = src
        self.compilation = compilation
        self.specs = specs
        self.options = dict(options)
        self.backend = backend
        self.executor = executor
        self.prepared: dict[Any, Any] = {}  # what the backend wants to keep between launches
        self.asm = Artefacts(compilation, backend)
        self.ir = _last_function(compilation, backend)
        self.function: Any = self.ir
        self.module: Any = None  # set by `_init_handles`
        self.name: str = name or self.ir.name
        text = f"{compilation.source.cache_key}|{specs}|{sorted(self.options.items(), key=str)}|{target}"
        self.hash = hashlib.sha256(text.encode()).hexdigest()
        self.metadata_group: dict[str, str] = {}
        self.metadata = KernelMetadata(
            *(self.name, self.hash, target, config.TRITON_VERSION),
            **_RESOURCES,
            **{**{k: options.get(k, v) for k, v in OPTIONS.items()}, "backend_name": backend},
        )
        m = self.metadata
        self.packed_metadata = (m.num_warps, m.num_ctas, m.shared, *m.cluster_dims)
        self.kernel = self.ir
        self._stores, self._writes_anywhere = stored_arguments(self.ir)

    @property
    def source(self) -> str:
        """The kernel's Python text."""
        return self.compilation.source.text

    def _init_handles(self) -> None:
        """Load the kernel where it runs, once; the knobs ``kernel_load_start_hook`` and ``kernel_load_end_hook`` see it."""
        if self.module is not None:
            return
        around = (self.name, self.metadata_group, self.hash)
        knobs.runtime.kernel_load_start_hook(self.module, None, *around)
        self.module = self.compilation
        knobs.runtime.kernel_load_end_hook(self.module, self.function, *around)

    # ---- launching -----------------------------------------------------------------------------------

    def launch(self, grid: Grid, leaves: Sequence[Any]) -> None:
        """Run `grid` on the run-time parts of the arguments (see `add_leaves`).

        Raises InterpreterError for a read-only array that the kernel stores to.
        """
        for index, loc in self._stores:
            view = leaves[index]
            if view.__class__ is ArrayView and not view.writable:
                self._refuse_read_only(index, loc)
        if self.module is None:
            self._init_handles()
        if 0 not in grid:
            self.executor(self, grid, leaves)

    def _refuse_read_only(self, index: int, loc: Loc | None) -> None:
        raise make_error("TRI0806", loc, function=self.name, name=f"`{self.ir.args[index].name}`")

    def written_parameters(self) -> set[str] | None:
        """Parameters whose arrays the kernel may change, by name; None if it may change any."""
        if self._writes_anywhere:
            return None
        return {(self.ir.args[index].name or "").split(".")[0] for index, _ in self._stores}

    def leaves_of(self, values: Sequence[Any]) -> list[Any]:
        """The run-time parts of one value per kernel parameter."""
        leaves: list[Any] = []
        for (_, spec), value in zip(self.specs, values, strict=True):
            add_leaves(spec, value, leaves)
        return leaves

    def run(
        self,
        grid_0: int,
        grid_1: int,
        grid_2: int,
        stream: Any,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        launch_enter_hook: Any,
        launch_exit_hook: Any,
        *values: Any,
    ) -> None:
        """Triton's low-level launch: the values are those of all parameters, compile-time ones included."""
        if launch_enter_hook is not None:
            launch_enter_hook(launch_metadata)
        self.launch((grid_0, grid_1, grid_2), self.leaves_of(values))
        if launch_exit_hook is not None:
            launch_exit_hook(launch_metadata)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launcher(*values: Any, stream: Any = None) -> None:
            names = [name for name, _ in self.specs]
            if len(values) != len(names):
                expected, got = len(names), len(values)
                raise make_error(
                    "TRI0701", function=self.name, expected=expected, got=got, signature=", ".join(names)
                )
            counts = resolve_grid(grid, dict(zip(names, values, strict=True)))
            leaves = self.leaves_of(values)
            enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
            metadata = self.launch_metadata(counts, stream, *values) if enter or leave else None
            enter(metadata)
            self.launch(counts, leaves)
            leave(metadata)

        return launcher

    def launch_metadata(self, grid: Any, stream: Any, *values: Any) -> LazyDict:
        """What launch hooks receive: name, function, stream, and what the kernel's own ``launch_metadata`` adds."""
        self._init_handles()
        found = LazyDict({"name": self.name, "function": self.function, "stream": stream})
        add = getattr(getattr(self.src, "fn", None), "launch_metadata", None)
        if add is not None:
            named = dict(zip((name for name, _ in self.specs), values, strict=False))
            found.add(add, (grid, self.metadata, named))
        return found

    def __deepcopy__(self, memo: Any) -> CompiledKernel:
        return self

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name} for {self.backend}>"


def _last_function(compilation: Compilation, backend: str) -> Function:
    """The tile IR that runs: of the last stage that leaves any."""
    names = [s.name for s in stages_of(backend) if s.name in compilation.artefacts and s.read]
    function: Function = compilation.artefacts[names[-1]]
    return function


Stores = tuple[tuple[int, Loc | None], ...]


def stored_arguments(function: Function) -> tuple[Stores, bool]:
    """Arguments that the kernel stores through, by index, with the place of the first store to each.

    Also whether it may write elsewhere: through one of several arguments, or through an address made from integers.
    """
    alias = AliasAnalysis(function)
    found: dict[int, Loc | None] = {}
    elsewhere = False
    for op in function.walk():
        if isinstance(op, TileOp) and not op.regions and op.effects() & (Effect.WRITE | Effect.ATOMIC):
            where = alias.class_of(op.operands[0]) if op.operands else None
            if where is not None and not where.anywhere and len(where.arguments) == 1:
                found.setdefault(min(where.arguments), op.loc)
            else:
                elsewhere = True
    return tuple(sorted(found.items())), elsewhere
