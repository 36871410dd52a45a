"""The compiler's table of contents: per target, the stages in order and the artefact each leaves.

From this list come stage dumps, overriding and resuming (``start``, ``stop``), timings, and the text that
``tritium stages``, ``tritium ir`` and the docs show. A stage that is not listed here does not exist.

=========  ==========================================================================================
target     stages
=========  ==========================================================================================
interpret  source -> tir -> opt.tir -> order.tir, then executed by `tritium.backends.interp`
cpu        source -> tir -> opt.tir -> cpu.tir -> ll -> o, then linked and run by `tritium.backends.cpu`
cuda       source -> tir -> opt.tir -> lay.tir -> mach.tir -> cu -> cubin, for `tritium.backends.cuda.program`
=========  ==========================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tritium import config
from tritium.errors import make_error
from tritium.frontend.lower import lower_kernel
from tritium.frontend.signature import Signature
from tritium.frontend.source import KernelSource
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.passes import canonicalize, eliminate_common, eliminate_dead, hoist_invariants, order_memory


@dataclass
class Compilation:
    """One kernel on its way: what it is compiled from, the artefact of every stage so far, what was decided."""

    source: KernelSource
    signature: Signature
    options: Mapping[str, Any]
    artefacts: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    record: Record = field(default_factory=Record)
    keep: Any = None  # where machine code is kept between processes; see tritium.backends.cuda.assemble.Keep

    def text(self, stage: str) -> str:
        """The artefact of `stage` as text."""
        artefact = self.artefacts[stage]
        if isinstance(artefact, Function):
            return print_function(artefact)
        return artefact.text if stage == "cu" else str(artefact)


@dataclass(frozen=True)
class Stage:
    """One step: `run` makes the artefact from the compilation so far; `read` makes it from text (to resume)."""

    name: str
    title: str
    run: Callable[[Compilation], Any]
    read: Callable[[str], Any] | None = None


@dataclass(frozen=True)
class Pass:
    """One pass over tile IR, with the reason for its place."""

    name: str
    run: Callable[[Function, Record], Any]
    why: str


Step = Callable[[Any, Mapping[str, Any]], Any]
"""A stage as ``knobs.runtime.add_stages_inspection_hook`` sees it: ``step(artefact before, options)``."""


TILE_PASSES: tuple[Pass, ...] = (
    Pass(
        "canonicalize",
        canonicalize.run,
        "fold and simplify first, so that less is compared and moved",
    ),
    Pass("eliminate_common", eliminate_common.run, "before hoisting: what is equal in a loop moves once"),
    Pass(
        "hoist_invariants",
        hoist_invariants.run,
        "out of loops, where equal values from several loops can meet",
    ),
    Pass("eliminate_common_again", eliminate_common.run, "joins what hoisting brought together"),
    Pass("canonicalize_again", canonicalize.run, "settles what merging exposed"),
    Pass("eliminate_dead", eliminate_dead.run, "last: everything above leaves ops without uses"),
)


def _source(c: Compilation) -> str:
    return c.source.text


def _lower(c: Compilation) -> Function:
    function = lower_kernel(c.source, c.signature, dict(c.options))
    verify(function, level=config.get("verify"), after="lowering")
    return function


def _optimise(c: Compilation) -> Function:
    function: Function = c.artefacts["tir"].clone()
    run_passes(function, c.record)
    return function


def run_passes(
    function: Function, record: Record | None = None, observe: Callable[[str, Function], None] | None = None
) -> None:
    """Run `TILE_PASSES` on `function` in place, verifying after each; `observe(name, function)` sees every step."""
    level = config.get("verify")
    record = record if record is not None else Record()
    for step in TILE_PASSES:
        step.run(function, record)
        verify(function, level=level, after=step.name)
        if observe is not None:
            observe(step.name, function)


def _order(c: Compilation) -> Function:
    function: Function = c.artefacts["opt.tir"].clone()
    order_memory.run(function)
    verify(function, level=config.get("verify"), after="order_memory")
    return function


def _lay_out(c: Compilation) -> Function:
    from tritium.backends.cuda import assemble, generate

    arch = assemble.architecture(c.options)
    function = generate.lay_out(c.artefacts["opt.tir"], c.options, c.record, arch)
    verify(function, level=config.get("verify"), after="lay_out")
    return function


def _to_machine(c: Compilation) -> Function:
    from tritium.backends.cuda import assemble, generate

    function = generate.lower(c.artefacts["lay.tir"], c.options, c.record, assemble.architecture(c.options))
    verify(function, level=config.get("verify"), after="lower_to_machine")
    return function


def _print_cuda(c: Compilation) -> Any:
    from tritium.backends.cuda import generate

    return generate.to_source(c.artefacts["mach.tir"], c.options, c.record)


def _assemble(c: Compilation) -> Any:
    from tritium.backends.cuda.assemble import assemble, record_findings

    binary = assemble(c.artefacts["cu"], c.options, c.keep, line_info=config.get("line_info"))
    record_findings(binary, c.record)
    return binary


def _prepare_for_cpu(c: Compilation) -> Function:
    from tritium.backends.cpu import prepare

    function: Function = c.artefacts["opt.tir"].clone()
    prepare.run(function, c.record)
    verify(function, level=config.get("verify"), after="prepare")
    return function


def _llvm(c: Compilation) -> Any:
    from tritium.backends.cpu.kept import lower_or_find

    return lower_or_find(c.artefacts["cpu.tir"], c.record, c.keep)


def _object(c: Compilation) -> Any:
    from tritium.backends.cpu import jit

    lowered = c.artefacts["ll"]
    return None if lowered.reject is not None else jit.object_code(lowered.text, c.keep)


def _read_tile_ir(text: str) -> Function:
    return parse_function(text, REGISTRY)


STAGES: dict[str, tuple[Stage, ...]] = {
    "interpret": (
        Stage("source", "the kernel as written", _source),
        Stage("tir", "tile IR as lowered from the source", _lower, _read_tile_ir),
        Stage("opt.tir", "tile IR after the passes", _optimise, _read_tile_ir),
        Stage("order.tir", "tile IR with memory order tokens", _order, _read_tile_ir),
    ),
    "cpu": (
        Stage("source", "the kernel as written", _source),
        Stage("tir", "tile IR as lowered from the source", _lower, _read_tile_ir),
        Stage("opt.tir", "tile IR after the passes", _optimise, _read_tile_ir),
        Stage("cpu.tir", "tile IR as the CPU backend wants it", _prepare_for_cpu, _read_tile_ir),
        Stage("ll", "LLVM IR: vector loops over the elements of tiles", _llvm),
        Stage("o", "object code for the host; as text, its assembly", _object),
    ),
    "cuda": (
        Stage("source", "the kernel as written", _source),
        Stage("tir", "tile IR as lowered from the source", _lower, _read_tile_ir),
        Stage("opt.tir", "tile IR after the passes", _optimise, _read_tile_ir),
        Stage("lay.tir", "tile IR with register layouts", _lay_out, _read_tile_ir),
        Stage("mach.tir", "machine IR: shared memory, barriers, dots", _to_machine, _read_tile_ir),
        Stage("cu", "CUDA C++", _print_cuda),
        Stage("cubin", "machine code", _assemble),
    ),
}


def stages_of(target: str) -> tuple[Stage, ...]:
    """The stages of `target`. Raises the catalogue error for an unknown one."""
    if target not in STAGES:
        raise make_error("TRI0731", name=target, expected=", ".join(STAGES))
    return STAGES[target]


def compile_kernel(
    source: KernelSource,
    signature: Signature,
    options: Mapping[str, Any],
    target: str = "interpret",
    *,
    stop: str | None = None,
    overrides: Mapping[str, str] | None = None,
    inspect: Callable[[dict[str, Step]], Any] | None = None,
    keep: Any = None,
) -> Compilation:
    """Run the stages of `target` in order.

    stop        last stage to run; the last of the target by default
    overrides   text to take as the artefact of a stage instead of running it
    inspect     is called with the steps by stage name before they run, and may replace some
    keep        where machine code is kept between processes: ``keep(pieces, make)``, as `disk_cache.keep` does it
    """
    stages = stages_of(target)
    if stop is not None and stop not in {s.name for s in stages}:
        raise make_error("TRI0902", target=target, name=stop, expected=", ".join(s.name for s in stages))
    done = Compilation(source, signature, options, keep=keep)
    steps = {stage.name: _step(stage, done) for stage in stages}
    if inspect is not None:
        inspect(steps)
    before: Any = None
    for stage in stages:
        started = time.perf_counter()
        text = (overrides or {}).get(stage.name)
        if text is not None and stage.read:
            before = stage.read(text)
        elif stage.name in steps:
            before = steps[stage.name](before, done.options)
        done.artefacts[stage.name] = before
        done.seconds[stage.name] = time.perf_counter() - started
        if stage.name == stop:
            return done
    _check_required(done)
    return done


def _step(stage: Stage, done: Compilation) -> Step:
    """`stage` as a function of the artefact before it and the options."""
    return lambda before, options: stage.run(done)


def _check_required(done: Compilation) -> None:
    """TRI0908 for a specialisation that TRITIUM_REQUIRE names and that was not applied, with every reason."""
    for name in sorted(config.REQUIRE.value):
        decisions = [d for d in done.record if d.name == name]
        if not any(d.applied for d in decisions):
            reasons = [f"line {d.loc.line}: {d.text}" if d.loc else d.text for d in decisions]
            notes = reasons or [f"no part of this kernel is a candidate for `{name}`"]
            raise make_error("TRI0908", name=name, function=done.source.name, notes=notes)
