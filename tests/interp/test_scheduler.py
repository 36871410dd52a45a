"""Program instances that wait for each other: they end under the fair scheduler, and deadlocks are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.launching import run
from tritium.backends.interp import Program
from tritium.errors import InterpreterError
from tritium.ir.types import int32, pointer

I32 = pointer(int32)


def lock_kernel(release: bool = True) -> Any:
    """sum[i] += pid + 1 for a tile, under a spin lock."""
    k = Kernel("locked", lock=I32, total=I32)
    k.at(3)
    k.while_([], lambda: k.ne(k.cas(k.lock, 0, 1), 0), lambda: [])
    p = k.ptr(k.total, k.arange(4))
    k.store(p, k.add(k.load(p), k.add(k.pid(), 1)))
    if release:
        k.atomic("xchg", k.lock, 0)
    return k.done()


def test_spin_lock() -> None:
    lock, total = np.zeros(1, np.int32), np.zeros(4, np.int32)
    run(lock_kernel(), (40,), lock, total)
    assert total.tolist() == [820] * 4 and lock[0] == 0


def test_a_lock_that_is_never_released_is_told() -> None:
    lock, total = np.zeros(1, np.int32), np.zeros(4, np.int32)
    with pytest.raises(InterpreterError) as caught:
        run(lock_kernel(release=False), (7,), lock, total)
    e = caught.value
    assert e.code == "TRI0803" and e.loc is not None and e.loc.line == 3
    assert e.fields["count"] == 6
    waiting = "program (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0) and 2 more wait on `lock`[0], which holds 1"
    assert e.notes == (f"in the loop at line 3: {waiting}",)


def test_two_locks_taken_in_opposite_order() -> None:
    """Program 0 takes a then b, program 1 takes b then a, each holding the first until it has the second."""
    k = Kernel("crossed", locks=I32, ready=I32)
    other = k.sub(1, k.pid())
    mine, theirs = k.ptr(k.locks, k.pid()), k.ptr(k.locks, other)
    k.at(4).while_([], lambda: k.ne(k.cas(mine, 0, 1), 0), lambda: [])
    k.atomic("add", k.ready, 1)
    k.at(6).while_([], lambda: k.lt(k.atomic("add", k.ready, 0), 2), lambda: [])
    k.at(8).while_([], lambda: k.ne(k.cas(theirs, 0, 1), 0), lambda: [])
    k.atomic("xchg", theirs, 0)
    with pytest.raises(InterpreterError) as caught:
        run(k.done(), (2,), np.zeros(2, np.int32), np.zeros(1, np.int32))
    assert caught.value.notes == (
        "in the loop at line 8: program (0, 0, 0) waits on `locks`[1], which holds 1",
        "in the loop at line 8: program (1, 0, 0) waits on `locks`[0], which holds 1",
    )


def look_back_kernel(volatile: bool) -> Any:
    """Prefix sums over programs: wait for the predecessor's flag, add its prefix, publish."""
    k = Kernel("look_back", x=I32, flag=I32, prefix=I32)
    before = k.sub(k.pid(), 1)
    own = k.load(k.ptr(k.x, k.pid()))

    def wait() -> Any:
        at = k.ptr(k.flag, before)
        seen = (lambda: k.load(at, volatile=True)) if volatile else (lambda: k.atomic("add", at, 0))
        k.while_([], lambda: k.eq(seen(), 0), lambda: [])
        return [k.load(k.ptr(k.prefix, before))]

    earlier = k.if_(k.lt(0, k.pid()), wait, lambda: [k.value(0, int32)])
    k.store(k.ptr(k.prefix, k.pid()), k.add(earlier, own))
    k.atomic("xchg", k.ptr(k.flag, k.pid()), 1)
    return k.done()


@pytest.mark.parametrize("volatile", (False, True))
def test_decoupled_look_back(volatile: bool) -> None:
    x = np.arange(60, dtype=np.int32)
    flag, prefix = np.zeros(60, np.int32), np.zeros(60, np.int32)
    run(look_back_kernel(volatile), (60,), x, flag, prefix)
    assert np.array_equal(prefix, np.cumsum(x))


def test_waiting_for_a_later_instance() -> None:
    """A grid barrier: every instance waits until the last one has arrived."""
    k = Kernel("barrier", count=I32, out=I32)
    k.store(k.ptr(k.out, k.pid()), k.pid())
    k.atomic("add", k.count, 1)
    k.while_([], lambda: k.lt(k.atomic("add", k.count, 0), 30), lambda: [])
    k.store(k.ptr(k.out, k.add(k.pid(), 30)), k.load(k.ptr(k.out, k.sub(29, k.pid()))))
    count, out = np.zeros(1, np.int32), np.full(60, -1, np.int32)
    run(k.done(), (30,), count, out)
    assert out.tolist() == [*range(30), *reversed(range(30))]


def test_a_barrier_over_many_instances_takes_few_rounds() -> None:
    k = Kernel("barrier", count=I32)
    k.atomic("add", k.count, 1)
    k.while_([], lambda: k.lt(k.load(k.count, volatile=True), 3000), lambda: [])
    k.atomic("add", k.ptr(k.count, 1), 1)
    count = np.zeros(2, np.int32)
    run(k.done(), (3000,), count)
    assert count.tolist() == [3000, 3000]


def test_persistent_instances_share_work() -> None:
    """Each instance draws work items from a counter until there are none."""
    k = Kernel("persistent", counter=I32, finished=I32)

    def work(item: Any) -> list[Any]:
        k.atomic("add", k.ptr(k.finished, item), 1)
        return [k.atomic("add", k.counter, 1)]

    first = k.atomic("add", k.counter, 1)
    k.while_([first], lambda item: k.lt(item, 50), work)
    counter, done = np.zeros(1, np.int32), np.zeros(50, np.int32)
    run(k.done(), (4,), counter, done)
    assert done.tolist() == [1] * 50 and counter[0] == 54


def test_a_bounded_spin_gives_up_by_itself() -> None:
    """The number of tries ends the loop, so this is no deadlock however long it takes."""
    k = Kernel("bounded", flag=I32, tries=I32)
    zero = k.value(0, int32)

    def body(n: Any, seen: Any) -> list[Any]:
        return [k.add(n, 1), k.atomic("add", k.flag, 0)]

    n, _ = k.while_([zero, zero], lambda n, seen: k.band(k.lt(n, 200), k.eq(seen, 0)), body)
    k.store(k.ptr(k.tries, k.pid()), n)
    tries = np.zeros(3, np.int32)
    run(k.done(), (3,), np.zeros(1, np.int32), tries)
    assert tries.tolist() == [200] * 3


def test_a_counter_that_only_counts_does_not_hide_a_deadlock() -> None:
    k = Kernel("counting", flag=I32, spins=I32)
    n = k.at(3).while_(
        [k.value(0, int32)], lambda n: k.eq(k.atomic("add", k.flag, 0), 0), lambda n: [k.add(n, 1)]
    )
    k.store(k.spins, n)
    with pytest.raises(InterpreterError) as caught:
        run(k.done(), (2,), np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert caught.value.code == "TRI0803"


def chase(moving: bool) -> Any:
    """A while loop whose condition loads: from a moving address, or always from the same one."""
    k = Kernel("chase", links=I32, out=I32)
    if moving:
        at = k.while_(
            [k.pid()], lambda p: k.lt(0, k.load(k.ptr(k.links, p))), lambda p: [k.load(k.ptr(k.links, p))]
        )
    else:
        at = k.while_([k.pid()], lambda p: k.eq(k.load(k.links), 0), lambda p: [p])
    k.store(k.ptr(k.out, k.pid()), at)
    return k.done()


def test_only_loops_that_may_wait_are_scheduled() -> None:
    assert not Program(chase(moving=True)).spins
    assert len(Program(chase(moving=False)).spins) == 1
    links, out = np.array([3, 0, 5, 1, 2, 4], np.int32), np.zeros(6, np.int32)
    links[4] = 0
    run(chase(moving=True), (6,), links, out)
    assert out.tolist() == [1, 1, 4, 1, 4, 4]


def test_scheduled_kernels_with_tiles_and_2d_grids() -> None:
    """The layer-norm way: partial sums added to one buffer under a lock, first writer stores, others add."""
    k = Kernel("partial", x=I32, locks=I32, counts=I32, sums=I32, nx=int32)
    i = k.arange(16)
    row = k.add(k.mul(k.pid(1), k.nx), k.pid(0))
    v = k.load(k.ptr(k.x, k.add(k.mul(row, 16), i)))
    group = k.band(row, 1)
    lock, count = k.ptr(k.locks, group), k.ptr(k.counts, group)
    p = k.ptr(k.spread(k.ptr(k.sums, k.mul(group, 16)), (16,)), i)
    k.while_([], lambda: k.eq(k.cas(lock, 0, 1), 1), lambda: [])
    first = k.eq(k.load(count), 0)

    def start() -> list[Any]:
        k.atomic("xchg", count, 1)
        return [v]

    total = k.if_(first, start, lambda: [k.add(v, k.load(p))])
    k.store(p, total)
    k.atomic("xchg", lock, 0)
    x = np.random.default_rng(0).integers(0, 100, (12, 16)).astype(np.int32)
    sums = np.full((2, 16), 77, np.int32)
    run(k.done(), (4, 3), x, np.zeros(2, np.int32), np.zeros(2, np.int32), sums, 4)
    assert np.array_equal(sums, np.stack([x[0::2].sum(0), x[1::2].sum(0)]))
