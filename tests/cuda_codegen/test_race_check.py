"""The interpreter's race check of machine IR, where no compute-sanitizer runs: it sees every barrier that is missing.

`test_corpus` executes the machine IR of the whole corpus under it, in silence; here barriers are taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.corpus.protocol import Case, run_case, select
from tests.cuda_codegen.launching import launching
from tritium.backends.cuda import generate
from tritium.backends.interp import Options, Program, run_grid
from tritium.errors import InterpreterError
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ops.gpu_shared import Barrier, SharedAlloc

PREFIXES = (
    "matmul/matmul/",
    "matmul_pointers/",
    "softmax/softmax_one_block/",
    "reductions/sum_max_min/",
    "scans/cumsum_rows/",
    "sorting/histogram/",
    "sorting/sort_rows",
    "element_access/",
    "odd_extents/",
    "attention/attention_forward/",
)
CASES = [case for p in PREFIXES for case in select(without={"large"}) if case.name.startswith(p)][::4]


def lowered(kernel: Any) -> Function:
    record = Record()
    options = {**kernel.options, "num_warps": 4}
    laid = generate.lay_out(kernel.compilation.artefacts["opt.tir"], options, record)
    return generate.lower(laid, options, record)


class Run:
    """Runs cases through machine IR without the barriers that `gone` picks; counts what there is."""

    def __init__(self, gone: Any) -> None:
        self.gone = gone
        self.barriers = 0
        self.buffers = 0
        self.erased = 0

    def __call__(self, kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        machine = lowered(kernel)
        found = machine.find(Barrier)
        self.barriers += len(found)
        self.buffers += len(machine.find(SharedAlloc))
        for i, op in enumerate(found):
            if self.gone(i):
                self.erased += 1
                op.erase()
        run_grid(Program(machine), grid, leaves, options=Options())


def race(case: Case, gone: Any) -> tuple[Run, str]:
    """What is said about a race, or ""."""
    run = Run(gone)
    with launching(run):
        try:
            run_case(case)
        except InterpreterError as error:
            return run, error.message
    return run, ""


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_a_kernel_without_its_barriers_races(case: Case) -> None:
    intact, said = race(case, lambda i: False)
    assert said == ""
    if not intact.buffers:
        assert not intact.barriers
        return
    _, said = race(case, lambda i: True)
    assert "races" in said and "by another thread" in said, said


def test_the_check_sees_shared_memory_in_most_of_these() -> None:
    assert len(CASES) >= 15
    assert sum(bool(race(case, lambda i: False)[0].buffers) for case in CASES) >= len(CASES) * 2 // 3


@pytest.mark.parametrize(
    "prefix",
    ["matmul/matmul/", "scans/cumsum_rows/bf16", "sorting/sort_rows/i32", "reductions/sum_max_min/i16"],
)
def test_each_barrier_between_a_write_and_its_reads_is_needed(prefix: str) -> None:
    """Barriers come in pairs: behind the writes, and behind the reads. Without one of the first kind there is a race."""
    case = next(c for c in CASES if c.name.startswith(prefix))
    whole, _ = race(case, lambda i: False)
    assert whole.barriers >= 2
    for i in range(0, whole.barriers - 1, 2):
        run, said = race(case, lambda j, i=i: i == j)
        assert run.erased and "races" in said, f"barrier {i} of {whole.barriers}"
