"""The interpreter's race check of machine IR, where no compute-sanitizer runs: it sees every barrier that is missing.

`test_corpus` executes the machine IR of the whole corpus under it, in silence; here barriers are taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.corpus.protocol import Case, run_case, select
from tests.cuda_codegen.launching import launching
from tritium import config
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


@triton.jit
def moves_twice(x_ptr, out_ptr, N: tl.constexpr):
    """Two ops whose buffers are too large together, and so lie over each other."""
    at = tl.arange(0, 2 * N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    turned = tl.flip(x, 0)
    again = tl.flip(turned + x, 1)
    tl.store(out_ptr + at, again)


@pytest.mark.parametrize("size", [16, 128])
def test_buffers_that_lie_over_each_other_are_kept_apart_by_barriers(size: int) -> None:
    x = np.random.default_rng(0).integers(0, 100, (2 * size, size)).astype(np.float32)
    out = np.zeros_like(x)
    run = Run(lambda i: False)
    with launching(run):
        moves_twice[(1,)](x, out, N=size)
    assert np.array_equal(out, (x[::-1] + x)[:, ::-1])
    assert run.overlaid == (size == 128)
    if run.overlaid:
        for gone in range(run.barriers):
            with (
                launching(Run(lambda i, gone=gone: i == gone)),
                pytest.raises(InterpreterError, match="races"),
            ):
                moves_twice[(1,)](x, out, N=size)


class Run:
    """Runs cases through machine IR without the barriers that `gone` picks; counts what there is."""

    def __init__(self, gone: Any) -> None:
        self.gone = gone
        self.barriers = 0
        self.buffers = 0
        self.erased = 0
        self.overlaid = False

    def __call__(self, kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        machine = lowered(kernel)
        found = machine.find(Barrier)
        self.barriers += len(found)
        buffers = machine.find(SharedAlloc)
        self.buffers += len(buffers)
        self.overlaid |= any(op.attrs["offset"] is not None for op in buffers)
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
    """The first barrier, and every second one from there, stands behind writes.

    `test_pipeline_loads` has the same for loads that run ahead; here their loop is off, as one of the two that it leaves
    would not be run.
    """
    with config.override(forbid=frozenset({"pipeline_loads"})):
        _each_barrier_is_needed(prefix)


def _each_barrier_is_needed(prefix: str) -> None:
    case = next(c for c in CASES if c.name.startswith(prefix))
    whole, _ = race(case, lambda i: False)
    assert whole.barriers
    for i in range(0, max(whole.barriers - 1, 1), 2):
        run, said = race(case, lambda j, i=i: i == j)
        assert run.erased and "races" in said, f"barrier {i} of {whole.barriers}"
