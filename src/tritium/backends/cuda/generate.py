"""From tile IR to a CUDA source: layouts, machine IR, text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tritium import config
from tritium.backends.cuda.emitter import Emitter
from tritium.backends.cuda.prelude import prelude
from tritium.backends.cuda.registers import Uniform
from tritium.backends.cuda.resources import arch_number
from tritium.errors import Loc, make_error
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Record
from tritium.ir.types import DType, Type
from tritium.layout import SEED_SHARED_LIMIT
from tritium.ops.dot import Dot
from tritium.ops.emit import Expr
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_reduce import ReduceGroups
from tritium.ops.reduce import Reduce
from tritium.ops.scan import Scan
from tritium.passes import (
    assign_layouts,
    check_layouts,
    eliminate_dead,
    expand_scaled_dots,
    lower_atomics,
    lower_batches,
    lower_moves,
    lower_reductions,
    lower_scans,
    lower_sorts,
    lower_to_machine,
)
from tritium.passes.layout_policy import DefaultPolicy, LayoutPolicy, SeedPolicy
from tritium.passes.lower_to_machine import SharedSpace
from tritium.passes.shared_policy import DefaultShared, SeedShared, SharedPolicy
from tritium.passes.specialize import (
    accumulate,
    double_buffer,
    pipeline_loads,
    prefetch_tiles,
    tensor_cores,
)
from tritium.passes.specialize.tensor_cores import TensorCores


@dataclass(frozen=True)
class CudaSource:
    """A kernel as CUDA C++.

    threads          of one block
    shared_bytes     of static shared memory
    dynamic_shared   bytes to ask for at launch
    parameters       types of the kernel's parameters in the order of the IR function's arguments
    lines            per line of `text` (from 1) the kernel line it comes from
    """

    text: str
    kernel_name: str
    threads: int
    shared_bytes: int
    dynamic_shared: int
    parameters: tuple[Type, ...]
    record: Record = field(repr=False)
    lines: Mapping[int, Loc] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return self.text


def generate(function: Function, options: Mapping[str, Any], arch: str) -> CudaSource:
    """The CUDA source of optimised tile IR `function` for GPU architecture `arch` (``sm_90a``).

    options: ``num_warps`` (default 4) and ``layouts`` ("default" or "seed").
    """
    record = Record()
    laid = lay_out(function, options, record, arch)
    return to_source(lower(laid, options, record, arch), options, record)


def policies(
    function: Function, options: Mapping[str, Any], cores: TensorCores | None = None
) -> tuple[LayoutPolicy, SharedPolicy]:
    """The policies that the options name. `cores`: the tensor cores, if dots may use them."""
    if options.get("layouts") == "seed":
        rung = rung_of(options)
        return seed_policy(function, one_result=rung == 0), SeedShared(padded=rung >= 2)
    return DefaultPolicy(warps_of(options), cores), DefaultShared()


def warps_of(options: Mapping[str, Any]) -> int:
    """Warps of a block under the default policy."""
    return options.get("num_warps") or 4


def tensor_cores_of(options: Mapping[str, Any], arch: str) -> TensorCores | None:
    """The tensor cores of `arch`, unless the settings or the policy leave them alone."""
    if options.get("layouts") == "seed" or not specialises(tensor_cores.NAME):
        return None
    return TensorCores(warps_of(options), arch_number(arch))


MAX_THREADS = 1024

RUNGS = ("one_result", "register_tile", "padding", "unroll", "stages")
"""The seed policy step by step, each with those before it; the option ``rung`` stops at one, for measuring."""


def rung_of(options: Mapping[str, Any]) -> int:
    """How far the seed policy goes: the last of `RUNGS` unless the options say less."""
    return RUNGS.index(options.get("rung") or RUNGS[-1])


def seed_policy(function: Function, one_result: bool = False) -> SeedPolicy:
    """The tile that decides is the result of the first dot, else the largest one."""
    dots = function.find(Dot)
    if dots:
        return SeedPolicy(dots[0].results[0].type.shape[-2:], not one_result)
    tiles = [r.type.shape for op in function.walk() for r in op.results if r.type.shape]
    return SeedPolicy(max(tiles, key=lambda s: (_size(s), len(s)), default=(1,)), False)


def _size(shape: tuple[int, ...]) -> int:
    out = 1
    for n in shape:
        out *= n
    return out


def lay_out(function: Function, options: Mapping[str, Any], record: Record, arch: str = "sm_90a") -> Function:
    """The stage ``lay.tir``."""
    cores = tensor_cores_of(options, arch)
    function = function.clone()
    expand_scaled_dots.run(function, record)
    if options.get("layouts") != "seed" and specialises(accumulate.NAME):
        accumulate.run(function, record)
    if cores is not None:
        tensor_cores.widen_fp8(function, cores.arch)
        tensor_cores.turn_loads(function, cores)
        cores = replace(cores, chained=tensor_cores.chained_dots(function))
        tensor_cores.run(function, cores, record)
    layouts, _ = policies(function, options, cores)
    if layouts.threads > MAX_THREADS:
        name = f"threads per block of {function.name}"
        raise make_error("TRI0734", function.loc, name=name, required=layouts.threads, limit=MAX_THREADS)
    laid = assign_layouts.run(function, record, layouts)
    check_layouts.run(laid, "lay_out")
    return laid


def lower(function: Function, options: Mapping[str, Any], record: Record, arch: str = "sm_90a") -> Function:
    """The stage ``mach.tir``."""
    check_layouts.run(function, "lay_out")
    machine = function.clone()
    seed = options.get("layouts") == "seed"
    _, shared = policies(machine, options)
    cores = tensor_cores_of(options, arch)
    space = SharedSpace(machine, shared, SEED_SHARED_LIMIT if seed else shared_limit(arch), cores)
    plans: dict[Op, double_buffer.StagePlan] = {}
    if seed and rung_of(options) >= RUNGS.index("stages"):
        plans = double_buffer.find(machine, record)
    if not seed and specialises(pipeline_loads.NAME):
        pipeline_loads.run(machine, record, space, options.get("num_stages") or pipeline_loads.STAGES)
    if not seed and specialises(prefetch_tiles.NAME):
        prefetch_tiles.run(machine, record, space)
    lower_batches.run(machine, space)
    lower_to_machine.run(machine, space, plans)
    for op in machine.find(Reduce):
        assert isinstance(op, Reduce)
        lower_reductions.lower_reduce(op, space)
    for op in machine.find(Scan):
        assert isinstance(op, Scan)
        lower_scans.lower_scan(op, space)
    lower_sorts.run(machine, space)
    lower_moves.run(machine, space)
    lower_atomics.run(machine, space)
    space.finish()
    eliminate_dead.run(machine, record)
    check_layouts.run(machine, "lower_to_machine")
    return machine


def specialises(name: str) -> bool:
    """Whether the settings let this specialisation run."""
    return config.get("specialize") != "none" and name not in config.FORBID.value


def shared_limit(arch: str) -> int:
    """Bytes of shared memory that one block may have on `arch`."""
    number = int("".join(c for c in arch if c.isdigit()) or 0)
    return {80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99}.get(number, 48) * 1024


def to_source(machine: Function, options: Mapping[str, Any], record: Record) -> CudaSource:
    """The stage ``cu``."""
    seed = options.get("layouts") == "seed"
    unrolled = not seed or rung_of(options) >= RUNGS.index("unroll")
    return print_source(machine, record, seed, unrolled, options.get("maxnreg"))


def print_source(
    machine: Function,
    record: Record,
    spelled: bool = False,
    unrolled: bool = True,
    registers: int | None = None,
) -> CudaSource:
    """The text.

    spelled    every register is a variable
    unrolled   whether loops over a reduction are
    registers  most of them per thread; CUDA takes such a limit or the number of threads, not both
    """
    e = Emitter(machine, spelled, unrolled)
    name = e.names.fresh(machine.name)
    parameters: list[str] = []
    for arg in machine.args:
        made = e.names.of(arg)
        kind = e.type(arg.type.scalar)  # type: ignore[arg-type]
        parameters.append(f"{kind} {made}")
        e.held[arg] = Uniform(Expr(made))
    e.region(machine.body)
    bounds = f"__maxnreg__({registers})"
    if registers is None:
        bounds = f"__launch_bounds__({', '.join(map(str, _launch_bounds(machine, e.threads)))})"
    head = f'extern "C" __global__ void {bounds} {name}({", ".join(parameters)})'
    top = [line for line in prelude(e.used).splitlines()]
    top += [""] * bool(top)
    for part in (list(e.declared.values()), e.functions):
        top += [*part, *[""] * bool(part)]
    lines = [*top, f"{head} {{", *e.head.lines, *e.w.lines, "}"]
    shared = lower_to_machine.shared_bytes(machine)
    offset = len(lines) - 1 - len(e.w.lines)
    located = {offset + i + 1: loc for i, loc in enumerate(e.w.locs) if loc is not None}
    return CudaSource(
        text="\n".join(lines) + "\n",
        kernel_name=name,
        threads=e.threads,
        shared_bytes=0 if e.dynamic else shared,
        dynamic_shared=shared if e.dynamic else 0,
        parameters=tuple(a.type for a in machine.args),  # type: ignore[misc]
        record=record,
        lines=located,
    )


def _launch_bounds(machine: Function, threads: int) -> tuple[int, ...]:
    """Threads of a block, and how many blocks a multiprocessor is to hold at least where that is worth saying.

    One block of 1024 threads fills a multiprocessor's registers from 33 for each thread on, and at its barriers nothing
    is left to run. If the rows that it reduces take no more than half of 32 registers, two blocks fit.
    """
    held = [op.inputs[0] for op in machine.walk() if isinstance(op, ReduceGroups)]
    largest = max((_words_held(v) for v in held), default=0)
    return (threads, 2) if threads == 1024 and 0 < largest <= 16 else (threads,)


def _words_held(value: Value) -> int:
    layout = layout_of(value)
    scalar = value.type.scalar
    size = scalar.itemsize if isinstance(scalar, DType) else 8
    return layout.registers * -(-size // 4) if layout is not None else 1
