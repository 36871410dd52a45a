"""What orders instances and lanes, and what does not: barriers, atomic operations and their memory orders, views."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.sanitizer import checked
from tritium.sanitizer.order import Order


def kinds(launch: object) -> list[str]:
    with checked(raise_findings=False) as session:
        launch()  # type: ignore[operator]
    return [f.kind for f in session.findings]


@triton.jit
def last_one_sums(x, partial, counter, out, RELAXED: tl.constexpr, BARRIER: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(partial + pid * B + i, tl.load(x + pid * B + i))
    if BARRIER:
        tl.debug_barrier()
    if RELAXED:
        before = tl.atomic_add(counter, 1, sem="relaxed")
    else:
        before = tl.atomic_add(counter, 1)
    if before == tl.num_programs(0) - 1:
        total = tl.zeros((B,), tl.float32)
        for k in range(tl.num_programs(0)):
            total += tl.load(partial + k * B + i)
        tl.store(out + i, total)


@pytest.mark.parametrize("relaxed, barrier", [(False, True), (False, False), (True, True)])
def test_release_and_acquire_order_what_is_behind_a_barrier(relaxed: bool, barrier: bool) -> None:
    x = np.arange(32, dtype=np.float32)

    def launch() -> None:
        scratch = np.zeros(32, np.float32), np.zeros(1, np.int32), np.zeros(8, np.float32)
        last_one_sums[(4,)](x, *scratch, RELAXED=relaxed, BARRIER=barrier, B=8)

    assert kinds(launch) == ([] if barrier and not relaxed else ["read-race"])


@triton.jit
def flags(data, flag, out, SEM: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid == 0:
        tl.store(data + i, i)
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem="release" if SEM != "acquire" else "relaxed")
    else:
        while tl.atomic_add(flag, 0, sem="acquire" if SEM != "release" else "relaxed") == 0:
            pass
        tl.store(out + i, tl.load(data + i))


@pytest.mark.parametrize("sem, found", [("both", []), ("acquire", ["read-race"]), ("release", ["read-race"])])
def test_both_halves_are_needed(sem: str, found: list[str]) -> None:
    launch = lambda: flags[(2,)](*(np.zeros(n, np.int32) for n in (8, 1, 8)), SEM=sem, B=8)
    assert kinds(launch) == found


def test_what_is_learnt_is_handed_on() -> None:
    order = Order(3, True)
    one = np.array
    address = one([64])
    order.barrier(one([0]))
    order.synchronise(one([0]), address, acquire=False, release=True)
    order.synchronise(one([1]), address, acquire=True, release=False)
    order.synchronise(one([1]), one([72]), acquire=False, release=True)
    assert order.unordered(one([0]), one([0]), one([2])).all()
    order.synchronise(one([2]), one([72]), acquire=True, release=False)
    assert not order.unordered(one([0]), one([0]), one([2])).any()
    assert order.unordered(one([0]), one([1]), one([2])).all()  # after the barrier: not released


@triton.jit
def shares(x, y, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))


def test_views_of_one_storage_that_overlap_are_followed() -> None:
    storage = np.arange(40, dtype=np.float32)
    assert kinds(lambda: shares[(2,)](storage[:16], storage[8:24], np.zeros(16, np.float32), B=8)) == []
    assert kinds(lambda: shares[(2,)](storage[:16], storage[20:36], storage[4:20], B=8)) == ["read-race"]
    assert (
        kinds(lambda: shares[(2,)](storage[:16], storage[:16], storage[:16], B=8)) == []
    )  # each its own elements


def test_elements_of_other_sizes_share_cells() -> None:
    @triton.jit
    def mixed(words, B: tl.constexpr):
        pid = tl.program_id(0)
        if pid == 0:
            tl.store(words, 7)
        else:
            tl.store(words.to(tl.pointer_type(tl.int8)) + 2, 1)

    assert kinds(lambda: mixed[(2,)](np.zeros(4, np.int32), B=1)) == ["write-race"]


def test_equal_values_are_no_race() -> None:
    @triton.jit
    def mark(out, VALUE: tl.constexpr):
        tl.store(out, tl.program_id(0) if VALUE else 1)

    assert kinds(lambda: mark[(4,)](np.zeros(1, np.int32), VALUE=0)) == []
    assert kinds(lambda: mark[(4,)](np.zeros(1, np.int32), VALUE=1)) == ["write-race"]


def test_a_lane_may_read_its_own_store() -> None:
    @triton.jit
    def again(x, SHIFT: tl.constexpr, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, i)
        tl.store(x + B + i, tl.load(x + (i + SHIFT) % B))

    assert kinds(lambda: again[(1,)](np.zeros(16, np.int32), SHIFT=0, B=8)) == []
    assert kinds(lambda: again[(1,)](np.zeros(16, np.int32), SHIFT=1, B=8)) == ["missing-barrier"]


def test_the_report_names_both_sides() -> None:
    @triton.jit
    def overlap(out, STEP: tl.constexpr, W: tl.constexpr):
        pid = tl.program_id(0)
        tl.store(out + pid * STEP + tl.arange(0, W), pid)

    with checked(raise_findings=False) as session:
        overlap[(4,)](np.full(16, -1, np.int32), STEP=3, W=4)
    (found,) = session.findings
    assert found.message.startswith("programs (0, 0, 0) and (1, 0, 0) both write element 3 of `out`")
    assert found.argument is not None and found.argument.shape == (16,) and found.count == 3
    assert [r.program for r in found.related] == [(1, 0, 0)] or found.program == (1, 0, 0)


def test_a_deadlock_ends_in_a_finding() -> None:
    @triton.jit
    def ring(flags):
        pid = tl.program_id(0)
        while tl.atomic_add(flags + (pid + 1) % tl.num_programs(0), 0) == 0:
            pass
        tl.atomic_xchg(flags + pid, 1)

    with checked(raise_findings=False) as session:
        ring[(3,)](np.zeros(3, np.int32))
    (found,) = session.findings
    assert found.kind == "deadlock" and "program (0, 0, 0)" in found.related[0].message
