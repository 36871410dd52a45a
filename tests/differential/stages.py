"""Corpus cases as IR: their kernels compiled without a launch, and any function run in a kernel's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.arrays import bits_of, is_float
from tests.corpus.protocol import Case, Launch, Prepared, arrays_in, prepare, verify
from tests.corpus.rounding import wide
from tritium.backends.interp import run_grid
from tritium.ir.core import Function
from tritium.pipeline import TILE_PASSES
from tritium.runtime.autotuner import Autotuner, Heuristics
from tritium.runtime.compiled import CompiledKernel
from tritium.runtime.grid import resolve_grid
from tritium.runtime.jit import JITFunction


@dataclass(frozen=True)
class Staged:
    """The kernel of one case, compiled for the case's arguments."""

    case: Case
    kernel: CompiledKernel

    def artefact(self, stage: str) -> Function:
        """The function that `stage` left, to be read only."""
        found: Function = self.kernel.compilation.artefacts[stage]
        return found

    def steps(self) -> list[tuple[str, Function]]:
        """The function before all passes, and after each one in order."""
        found = [("lowering", self.artefact("tir"))]
        for step in TILE_PASSES:
            function = found[-1][1].clone()
            step.run(function, self.kernel.compilation.record)
            found.append((step.name, function))
        return found

    def launch(self, function: Function) -> Prepared:
        """Run `function` on fresh inputs of the case, in place of the compiled kernel."""
        prepared = prepare(self.case)
        run_in_place(self.case, prepared.launch, self.kernel, function)
        return prepared

    def results(self, function: Function) -> dict[str, np.ndarray]:
        """What `function` leaves in every array of a launch but scratch."""
        prepared = self.launch(function)
        return {
            n: np.array(a) for n, a in arrays_in(prepared.launch.args) if n not in prepared.launch.scratch
        }

    def check(self, function: Function) -> None:
        """Run `function` and compare with the case's reference."""
        verify(self.launch(function))


def assert_same_bits(before: dict[str, np.ndarray], after: dict[str, np.ndarray], what: str) -> None:
    """Equal results to the bit, except that a NaN may have any payload."""
    assert before.keys() == after.keys()
    for name, want in before.items():
        have = after[name]
        differs = bits_of(have) != bits_of(want)
        if is_float(want.dtype):
            differs &= ~(np.isnan(wide(have)) & np.isnan(wide(want)))
        assert not differs.any(), f"{what} changes {name} at {np.argwhere(differs)[0]}: {have[differs][0]!r}"


def run_in_place(case: Case, launch: Launch, kernel: CompiledKernel, function: Function) -> None:
    """Execute `function` as the launch `launch` would execute `kernel`."""
    fn, keywords = _innermost(case, launch)
    values, rest = fn._bind(**{**launch.args, **keywords})
    counts = resolve_grid(launch.grid, {**dict(zip(fn.arg_names, values, strict=True)), **rest})
    flat = kernel.leaves_of(values)
    if 0 not in counts:
        run_grid(function, counts, flat)


def _innermost(case: Case, launch: Launch) -> tuple[JITFunction, dict[str, Any]]:
    """The jit function under the decorators of a case, and the keywords these decorators would give it."""
    kernel, keywords = case.kernel, dict(case.constexprs)
    while not isinstance(kernel, JITFunction):
        if isinstance(kernel, Heuristics):
            for name, rule in kernel.values.items():
                keywords[name] = rule({**launch.args, **keywords})
        else:
            assert isinstance(kernel, Autotuner)
            keywords.update(kernel.configs[0].all_kwargs())
        kernel = kernel.fn
    return kernel, keywords


def staged(case: Case) -> Staged:
    """`case` compiled for the interpreter through all its stages; nothing runs."""
    launch = case.make(np.random.default_rng(0))
    fn, keywords = _innermost(case, launch)
    return Staged(case, fn.warmup(**launch.args, **keywords, grid=(1,), backend="interpret"))
