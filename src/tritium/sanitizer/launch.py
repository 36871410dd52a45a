"""A launch in checked mode: the interpreter with the checking machine, on the kernel as it was lowered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.backends.interp import scheduler
from tritium.backends.interp.batch import Batch
from tritium.backends.interp.launch import argument_value, boxes
from tritium.backends.interp.memory import Memory
from tritium.backends.interp.options import Options
from tritium.backends.interp.program import Program
from tritium.errors import TritiumError
from tritium.runtime.compiled import CompiledKernel
from tritium.runtime.specialize import ConstArg
from tritium.sanitizer import offsets, structure
from tritium.sanitizer.context import KernelFacts, Launch
from tritium.sanitizer.coverage import after_launch
from tritium.sanitizer.findings import Related
from tritium.sanitizer.machine import CheckingInterpreter
from tritium.sanitizer.rules import rules_of
from tritium.sanitizer.session import Session

_PREPARED = "checked"


class Checker:
    """Runs launches and reports to `session`; what `tritium.runtime.launch_check` hands launches to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._rules: dict[CompiledKernel, Any] = {}

    def _rules_of(self, kernel: CompiledKernel, facts: KernelFacts) -> Any:
        """The rules of a kernel, made once per session: which there are depends on what is looked for."""
        known = self._rules.get(kernel)
        if known is None:
            known = self._rules[kernel] = rules_of(facts.function, facts.accumulators, self.session)
            for finding in structure.findings_of(facts, kernel.name):
                self.session.add(finding)
        return known

    def __call__(self, kernel: CompiledKernel, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        if 0 in grid:
            return
        fresh = self.session.fresh
        fresh.busy += 1
        try:
            self._run(kernel, grid, leaves)
        finally:
            fresh.busy -= 1

    def _run(self, kernel: CompiledKernel, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        prepared = kernel.prepared.get(_PREPARED)
        if prepared is None:
            function = kernel.compilation.artefacts["tir"]
            prepared = Program(function, keep_values=True), KernelFacts(function)
            kernel.prepared[_PREPARED] = prepared
        program, facts = prepared
        self.session.begin(kernel.name)
        named = [
            (v.name or f"argument {i}", a)
            for i, (v, a) in enumerate(zip(program.function.args, leaves, strict=True))
        ]
        memory = Memory([(n, a) for n, a in named if hasattr(a, "storage_address")])
        launch = Launch(self.session, facts, kernel.name, grid, leaves, memory, _constants(kernel))
        machine = CheckingInterpreter(program, memory, Options(), launch)
        machine.rules.update(self._rules_of(kernel, facts))
        run_checked(machine, launch)
        after_launch(launch, self.session)
        if self.session.assume:
            offsets.examine(launch, self.session.assume)


def _constants(kernel: CompiledKernel) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, spec in kernel.specs:
        if isinstance(spec, ConstArg) and isinstance(spec.value, int) and not isinstance(spec.value, bool):
            found[name] = spec.value
    return found


def run_checked(machine: CheckingInterpreter, launch: Launch) -> None:
    """Execute every program instance of a launch. Raises what the kernel itself raises."""
    program, grid = machine.program, launch.grid
    values = [argument_value(v.type, a) for v, a in zip(program.function.args, launch.args, strict=True)]
    with np.errstate(all="ignore"):
        if program.spins:
            _run_fairly(machine, launch, values)
        else:
            together = 1 if program.alone else max(1, machine.options.chunk_elements // program.largest)
            for start, stop in boxes(grid, together):
                machine.run(Batch.box(start, stop, grid), values)


def _run_fairly(machine: CheckingInterpreter, launch: Launch, values: Sequence[Any]) -> None:
    """Instances that wait for each other for ever end the launch with a finding, not with an error."""
    try:
        scheduler.run_fairly(machine, launch.grid, values)
    except TritiumError as stuck:
        if stuck.code != "TRI0803":
            raise
        launch.report(
            "deadlock",
            None,
            "program instances wait here for each other for ever; the launch was ended",
            loc=stuck.loc,
            related=[Related(note) for note in stuck.notes],
        )
