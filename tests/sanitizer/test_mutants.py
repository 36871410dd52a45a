"""Every kernel of the corpus, broken in one place: found where the break can be seen, and only there.

What can be seen is decided without the checker: addresses by the oracle, `other` by running with two different values in
its place, atomic operations made plain by their results. The right kernels are clean, but for those that are broken on
purpose.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritium import config
from tritium.errors.location import source_line
from tritium.runtime.jit import JITFunction
from tritium.sanitizer import Session, checked

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.protocol import Case, arrays_in, launch_kernel, prepare, select, verify

from .mutants import Mutant, mutants_of
from .oracle import oracle_of

BOUNDS = {"out-of-view", "out-of-allocation"}
RACES = {"write-race", "read-race", "lane-race", "missing-barrier"}
BY_DESIGN = {
    "reads-outside-view": {"out-of-view"},
    "no-fp32-accumulator": {"half-accumulator"},
}
"""What cases of a tag are tagged for."""

CASES = select(without={"large"})


def run(case: Case, kernel: Any = None) -> tuple[Session, Any]:
    prepared = prepare(case)
    with checked(raise_findings=False) as session:
        launch_kernel(replace(case, kernel=kernel or case.kernel), prepared.launch)
    return session, prepared


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_right_kernels_are_clean(case: Case) -> None:
    session, prepared = run(case)
    verify(prepared)
    allowed: set[str] = set().union(*(BY_DESIGN.get(t, set()) for t in case.tags))
    if case.name.startswith(
        "casts/"
    ):  # conversions of numbers that do not fit are what these cases are about
        allowed |= {"half-overflow", "non-finite"}
    if "accumulator_reset" in case.name:
        allowed.add("accumulator-reset")
    if case.name == "reductions/running_sum/f16":
        allowed.add("half-accumulator")
    assert {f.kind for f in session.findings} <= allowed


@lru_cache(maxsize=1)
def families() -> dict[str, list[Case]]:
    """The cases of each kernel, two of them at most: the smallest and the largest."""
    found: dict[str, list[Case]] = {}
    for case in select(without={"large", "spin", "reads-outside-view"}):
        if isinstance(case.kernel, JITFunction):
            found.setdefault(case.name.rsplit("/", 1)[0], []).append(case)
    return {
        name: [cases[0], cases[len(cases) // 2]] if len(cases) > 1 else cases for name, cases in found.items()
    }


def broken(how: set[str], family: str) -> Iterator[tuple[Case, Mutant]]:
    for case in families()[family]:
        for mutant in mutants_of(case.kernel):
            if mutant.how in how:
                yield case, mutant


def address_line(session: Session) -> set[int]:
    return {f.loc.line for f in session.findings if f.kind in BOUNDS and f.loc is not None}


@pytest.mark.parametrize("family", families())
def test_a_condition_dropped_or_shifted_is_found_exactly_where_addresses_leave(family: str) -> None:
    for case, mutant in broken({"drop", "shift"}, family):
        session, _ = run(case, mutant.kernel)
        prepared = prepare(case)
        oracle = oracle_of(
            lambda p=prepared, c=case, m=mutant: launch_kernel(replace(c, kernel=m.kernel), p.launch)
        )
        lines = {line for line, _ in oracle.outside} | (
            {oracle.failed} if oracle.failed is not None else set()
        )
        what = (case.name, mutant.text, mutant.line)
        if oracle.failed is None:
            assert address_line(session) == lines, what
        else:  # the oracle's run ended there
            assert lines <= address_line(session), what
        if lines:
            reported = [f for f in session.findings if f.kind in BOUNDS]
            assert all(f.argument is not None and f.program is not None for f in reported), what


def results(case: Case, kernel: Any) -> dict[str, bytes]:
    prepared = prepare(case)
    with config.override(backend="interpret"):  # the same on every run, and no memory but the arrays'
        launch_kernel(replace(case, kernel=kernel), prepared.launch)
    return {name: np.ascontiguousarray(a).tobytes() for name, a in arrays_in(prepared.launch.args)}


@pytest.mark.parametrize("family", families())
def test_a_missing_other_is_found_where_its_value_matters(family: str) -> None:
    for case, mutant in broken({"other"}, family):
        session, _ = run(case, mutant.kernel)
        found = {f.kind for f in session.findings}
        low, high = (results(case, mutant.with_other(v)) for v in ("-3", "77"))
        if low != high:
            assert "uninitialised" in found, (case.name, mutant.text, mutant.line)
            reported = [f for f in session.findings if f.kind == "uninitialised"]
            places = {r.loc.line for f in reported for r in f.related if r.loc is not None}
            assert any(mutant.line - 6 <= line <= mutant.line for line in places), (
                case.name,
                mutant.text,
                places,
            )


@pytest.mark.parametrize("family", [f for f in families() if any("atomic" in c.tags for c in families()[f])])
def test_an_atomic_made_plain_is_found_where_two_instances_or_lanes_meet(family: str) -> None:
    for case, mutant in broken({"atomic"}, family):
        session, _ = run(case, mutant.kernel)
        if results(case, case.kernel) != results(case, mutant.kernel):
            assert {f.kind for f in session.findings} & RACES, (case.name, mutant.text)


def test_every_barrier_of_the_corpus_is_needed() -> None:
    """But for the one before the totals of the look-back scan: who reads a total has overtaken, which none does here."""
    count = 0
    for case in select(having={"spin"}, without={"large"}) + select(
        having={"atomic"}, without={"large", "spin"}
    ):
        if not isinstance(case.kernel, JITFunction):
            continue
        programs = np.prod(case.make(np.random.default_rng(0)).grid)
        for mutant in mutants_of(case.kernel):
            before = (source_line(case.kernel.source.file, mutant.line - 1) or "").strip()
            if mutant.how == "barrier" and programs > 4 and before != "tl.store(total_ptr + pid, total)":
                session, _ = run(case, mutant.kernel)
                assert {f.kind for f in session.findings} & RACES, (case.name, mutant.line)
                count += 1
    assert count >= 5
