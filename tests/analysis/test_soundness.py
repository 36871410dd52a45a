"""Every fact, access and demand holds in random programs, for every element, in every trip of every loop."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.analysis.concrete import Array, Execution, Instance
from tests.analysis.index_programs import IndexProgram
from tritium.analysis.access import AccessAnalysis, TileAccess
from tritium.analysis.demand import DemandAnalysis
from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import vectors_of
from tritium.ir.core import Function, Op, Value
from tritium.ir.printer import print_function
from tritium.ir.types import PointerType
from tritium.ir.verify import verify
from tritium.ops.facts import Bound, Facts, Wrap
from tritium.ops.memory import Load, Store

scripts = st.lists(st.integers(0, 63), max_size=200)
thoroughly = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))

PIDS = [(0, 0, 0), (3, 1, 0), (1234567, 2, 0)]
ARGUMENTS = [
    (4096, 2**40 + 4, 100, 7, 2**33 + 5, 9, 48),
    (2**46 + 16, 12, -3, 2**31 - 1, -7, 255, -(2**31)),
    (16, 8, 2**30, 0, 0, 0, 0),
    (0, 0, 65537, -1, 12, 16, 16),
]
"""x, y, n, m, wide, small, stride: x aligned to 16 bytes and stride a multiple of 16, as promised."""

RELATIONS: dict[str, Any] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def holds(here: Instance, bound: Bound, shape: tuple[int, ...]) -> Array:
    left, right = here.number(bound.left, shape), here.number(bound.right, shape)
    return np.array(RELATIONS[bound.relation](left, right), bool).reshape(shape)


def valid(here: Instance, wraps: tuple[Wrap, ...]) -> bool:
    return here.wrapped.isdisjoint(w.op for w in wraps)


def check_facts(here: Instance, value: Value, facts: Facts, array: Array) -> None:
    exact = array.astype(object)
    assert facts.lo is None or np.all(exact >= facts.lo), f"below {facts.lo}"
    assert facts.hi is None or np.all(exact <= facts.hi), f"above {facts.hi}"
    for divisor, numbers in ((facts.divisibility, exact), (facts.origin, exact.reshape(-1)[:1])):
        assert np.all(numbers == 0) if divisor == 0 else np.all(numbers % divisor == 0), (
            f"not divisible by {divisor}"
        )
    shape = array.shape
    if facts.poly is not None and valid(here, facts.wraps):
        assert np.all(here.number(facts.poly, shape) == exact), f"is not {facts.poly}"
    if facts.modulo is not None and valid(here, facts.wraps):
        x, m = (here.number(p, shape) for p in facts.modulo)
        remainder = np.sign(x) * (np.abs(x) % np.where(m == 0, np.abs(x) + 1, np.abs(m)))
        assert np.all(remainder == exact), f"is not ({facts.modulo[0]}) % ({facts.modulo[1]})"
    conditions = np.ones(shape, bool)
    for bound in facts.bounds:
        if not valid(here, bound.wraps):
            return
        conditions &= holds(here, bound, shape)
    true = array.astype(bool)
    if facts.bounds:
        assert np.all(conditions[true]), "true where a bound does not hold"
    if facts.exact:
        assert np.all(true == conditions), "not true where all bounds hold"


def is_number(value: Value) -> bool:
    scalar = value.type.scalar
    return isinstance(scalar, PointerType) or scalar.is_int()


def explain(function: Function, what: str) -> str:
    return f"{what}\n{print_function(function)}"


def for_each_run(function: Function, observe: Any = None, before: Any = None) -> None:
    for i, args in enumerate(ARGUMENTS):
        Execution(function, observe, before).run(PIDS[i % len(PIDS)], (2000000, 3, 1), args)


@thoroughly
@given(numbers=scripts)
def test_facts_hold(numbers: list[int]) -> None:
    function = IndexProgram(numbers).function
    verify(function, level="total")
    facts = ValueFacts(function)

    def observe(here: Instance, value: Value, array: Array) -> Array:
        if is_number(value) and not here.lost:
            here.values[value] = array
            try:
                check_facts(here, value, facts[value], array)
            except AssertionError as broken:
                raise AssertionError(
                    explain(function, f"{value.owner} {value}: {facts[value]}: {broken}")
                ) from None
        return array

    for_each_run(function, observe)


def check_access(here: Instance, access: TileAccess) -> None:
    addresses = here.values[access.op.operands[0]].astype(object)
    assert addresses.reshape(-1)[0] % access.alignment == 0, f"not aligned to {access.alignment}"
    if not here.wrapped.isdisjoint(access.wraps):
        return
    shape = access.shape
    mask = getattr(access.op, "mask", None)
    bounds = [b for a in access.axes for b in a.bounds] + list(access.mask_rest)
    conditions = np.ones(shape, bool)
    for bound in bounds:
        conditions &= holds(here, bound, shape)
    if mask is not None:
        true = here.values[mask].astype(bool)
        assert np.all(conditions[true]), "the mask is true where a bound does not hold"
        if access.mask_exact:
            assert np.all(true == conditions), "the mask has further conditions"
    if access.base is None or access.offset is None or len(access.axes) != len(shape):
        return
    elements = here.number(access.offset, shape)
    for i, axis in enumerate(access.axes):
        assert axis.stride.axes() == set() and axis.index.axes() <= {i}
        elements = elements + here.number(axis.index, shape) * here.number(axis.stride, shape)
    base = int(here.values[access.base])
    assert np.all(base + elements * access.element_bytes == addresses), "another address"


@thoroughly
@given(numbers=scripts)
def test_accesses_describe_the_addresses(numbers: list[int]) -> None:
    function = IndexProgram(numbers).function
    analysis = AccessAnalysis(function)

    def before(here: Instance, op: Op) -> None:
        access = analysis.accesses.get(op)
        if access is None or here.lost:
            return
        try:
            check_access(here, access)
        except AssertionError as broken:
            raise AssertionError(explain(function, f"{access.describe()}\n{broken}")) from None

    for_each_run(function, before=before)


def check_vectors(here: Instance, op: Op, facts: ValueFacts) -> None:
    pointer, mask = op.operands[0], getattr(op, "mask", None)
    found = vectors_of(facts, pointer, mask)
    if found.count == 1:
        return
    axis = found.order[0]
    size = pointer.type.scalar.element_ty.itemsize  # type: ignore[union-attr]
    runs = np.moveaxis(here.values[pointer].astype(object), axis, -1).reshape(-1, found.count)
    assert np.all(runs == runs[:, :1] + size * np.arange(found.count)), "no neighbours in memory"
    assert np.all(runs[:, 0] % (size * found.count) == 0), "not aligned"
    if mask is not None and found.uniform_mask:
        wanted = np.moveaxis(here.values[mask], axis, -1).reshape(-1, found.count)
        assert np.all(wanted == wanted[:, :1]), "the mask differs within a vector"


@thoroughly
@given(numbers=scripts)
def test_vectors_are_runs_of_memory_whatever_wraps(numbers: list[int]) -> None:
    function = IndexProgram(numbers).function
    facts = ValueFacts(function)

    def before(here: Instance, op: Op) -> None:
        if isinstance(op, (Load, Store)) and not here.lost:
            try:
                check_vectors(here, op, facts)
            except AssertionError as broken:
                pointer = facts[op.operands[0]]
                raise AssertionError(explain(function, f"{op.operands[0]}: {pointer}: {broken}")) from None

    for_each_run(function, before=before)


@thoroughly
@given(numbers=scripts, seed=st.integers(0, 2**16))
def test_elements_that_are_not_demanded_do_not_matter(numbers: list[int], seed: int) -> None:
    """Other numbers in place of elements outside of a demand leave all that is stored as it was."""
    function = IndexProgram(numbers).function
    demand = DemandAnalysis(function)
    values = [r for op in function.walk() for r in op.results] + [
        a for op in function.walk() for r in op.regions for a in r.args
    ]
    wanted = [v for v in values if demand[v] != ()]
    if not wanted:
        return
    rng = random.Random(seed)
    for pid in PIDS[:2]:
        for args in ARGUMENTS[:3]:
            chosen = rng.choice(wanted)
            plain = Execution(function).run(pid, (2000000, 3, 1), args)
            conditions = demand[chosen]
            if conditions is not None and not all(valid(plain, b.wraps) for b in conditions):
                continue
            spoiled = _spoil(function, chosen, conditions, pid, args)
            if spoiled is not None:
                what = f"{chosen.owner} {chosen} is needed {'nowhere' if conditions is None else conditions}"
                assert spoiled.stored == plain.stored, explain(function, what)


def _spoil(function: Function, chosen: Value, conditions: Any, pid: Any, args: Any) -> Instance | None:
    """The run with garbage where `conditions` do not hold; None where they speak of values computed later."""
    missing: list[bool] = []

    def observe(here: Instance, value: Value, array: Array) -> Array:
        if value is not chosen:
            return array
        if conditions is None:
            needed = np.zeros(array.shape, bool)
        else:
            here.values[value] = array
            try:
                needed = np.ones(array.shape, bool)
                for bound in conditions:
                    needed &= holds(here, bound, array.shape)
            except KeyError:
                missing.append(True)
                return array
        garbage = ~array if array.dtype == bool else array // 2 + 1
        return np.where(needed, array, garbage).astype(array.dtype)

    try:
        found = Execution(function, observe).run(pid, (2000000, 3, 1), args)
    except AssertionError:
        return None
    return None if missing else found
