"""Random programs compute the same before and after every pass, alone and in a row, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.stages import assert_same_bits
from tests.frontend.compiling import define, lowered
from tests.frontend.compiling import run as run_kernel
from tests.frontend.random_programs import Generator, run_as_python
from tests.interp.launching import run
from tests.interp.random_programs import RandomKernel
from tests.property.programs import Program, execute, scripts
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.passes import (
    canonicalize,
    eliminate_common,
    eliminate_dead,
    fold_constants,
    hoist_invariants,
    order_memory,
)
from tritium.pipeline import TILE_PASSES

PASSES: dict[str, Callable[[Function], Any]] = {
    "fold_constants": fold_constants.RULES.apply,
    "canonicalize": canonicalize.run,
    "eliminate_common": eliminate_common.run,
    "eliminate_dead": eliminate_dead.run,
    "hoist_invariants": hoist_invariants.run,
    "order_memory": order_memory.run,
}
often = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def check_pass(name: str, function: Function) -> None:
    before = print_function(function)
    wanted = execute(function)
    changed = PASSES[name](function)
    verify(function, level="total", after=name)
    after = print_function(function)
    assert bool(changed) == (after != before)
    if changed:
        assert_same_bits(wanted, execute(function), name)


@pytest.mark.parametrize("name", PASSES)
@often
@given(numbers=scripts)
def test_each_pass_alone_on_straight_line_programs(name: str, numbers: list[int]) -> None:
    check_pass(name, Program(numbers, structured=False).function)


@pytest.mark.parametrize("name", PASSES)
@often
@given(numbers=scripts)
def test_each_pass_alone_on_structured_programs(name: str, numbers: list[int]) -> None:
    check_pass(name, Program(numbers).function)


@often
@given(numbers=scripts, order=st.lists(st.sampled_from(sorted(PASSES)), min_size=2, max_size=8))
def test_passes_in_any_order(numbers: list[int], order: list[str]) -> None:
    function = Program(numbers).function
    wanted = execute(function)
    for name in order:
        PASSES[name](function)
        verify(function, level="total", after=name)
    assert_same_bits(wanted, execute(function), " then ".join(order))


@often
@given(numbers=scripts)
def test_the_pipeline_settles(numbers: list[int]) -> None:
    """A second run of all passes finds nothing that matters: no op more goes."""
    function = Program(numbers).function
    counts: list[int] = []
    for _ in range(3):
        for step in TILE_PASSES:
            step.run(function, Record())
        counts.append(len(list(function.walk())))
    assert counts[2] == counts[1]


@often
@given(numbers=scripts)
def test_text_reads_back_and_computes_the_same(numbers: list[int]) -> None:
    function = Program(numbers).function
    text = print_function(function, locs=True)
    again = parse_function(text, REGISTRY)
    verify(again, level="total")
    assert print_function(again, locs=True) == text
    assert_same_bits(execute(function), execute(again), "printing and parsing")


@often
@given(numbers=scripts)
def test_clones_compute_the_same_and_leave_the_original_alone(numbers: list[int]) -> None:
    function = Program(numbers).function
    text = print_function(function)
    copy = function.clone()
    for step in TILE_PASSES:
        step.run(copy, Record())
    verify(function, level="total")
    assert print_function(function) == text


@pytest.mark.parametrize("seed", range(60))
def test_divergent_control_flow(seed: int) -> None:
    """Nested loops and branches that the instances of a grid leave at different times."""

    def results(function: Function) -> dict[str, np.ndarray]:
        table = np.arange(16, dtype=np.int32) * 7 - 30
        out = np.zeros(64 * 12, np.int32)
        run(function, (3, 2, 2), table, out)
        return {"out": out}

    function = RandomKernel(seed).function
    wanted = results(function)
    for step in TILE_PASSES:
        step.run(function, Record())
        verify(function, level="total", after=step.name)
        assert_same_bits(wanted, results(function), step.name)


@pytest.mark.parametrize("seed", range(60))
def test_kernels_written_in_python(seed: int) -> None:
    """Loops with every kind of exit, helpers and unrolled loops: Python itself says what they compute."""
    programs, n, m = 5, 3 + seed % 9, seed
    text = Generator(seed).program()
    expected = run_as_python(text, programs, n, m)
    function = lowered(define(text), {"m": "i32"}).function
    for step in TILE_PASSES:
        step.run(function, Record())
        verify(function, level="total", after=step.name)
        assert run_kernel(function, n, m, grid=programs, size=4 * programs) == expected, step.name
