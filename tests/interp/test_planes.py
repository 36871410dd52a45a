"""Shadow planes travel with values through every kind of control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.random_programs import ROW, TABLE, RandomKernel
from tritium.backends.interp import Options, run_grid
from tritium.backends.interp.planes import Plane, Undefined
from tritium.ir.types import int1, int32, pointer
from tritium.ops.control import Poison
from tritium.ops.reduce import Reduce
from tritium.runtime.arrays import view_of

I32 = pointer(int32)


def watch(k: Kernel, grid: tuple[int, int, int], *arrays: Any, plane: Any = None) -> Any:
    plane = plane or Undefined()
    run_grid(k.done(), grid, [view_of(a) for a in arrays], planes=[plane])
    return plane


def masked_load(k: Kernel, **other: Any) -> Any:
    """Four elements per program; program 1 loads only its first two."""
    i = k.add(k.mul(k.pid(), 4), k.arange(4))
    return i, k.load(k.ptr(k.x, i), k.lt(i, 6), **other)


def test_undefined_lanes_are_reported_where_they_are_stored() -> None:
    k = Kernel(x=I32, out=I32)
    i, v = masked_load(k)
    k.at(5).store(k.ptr(k.out, i), k.add(v, 1))
    plane = watch(k, (2, 1, 1), np.arange(8, dtype=np.int32), np.zeros(8, np.int32))
    ((what, op, program, element),) = plane.findings
    assert (what, op.loc.line, program, element) == ("store", 5, (1, 0, 0), (2,))


@pytest.mark.parametrize("way", ("other", "mask", "select"))
def test_defined_lanes_are_not_reported(way: str) -> None:
    k = Kernel(x=I32, out=I32)
    i, v = masked_load(k, **({"other": 0} if way == "other" else {}))
    if way == "select":
        v = k.where(k.lt(i, 6), v, 0)
    k.store(k.ptr(k.out, i), k.add(v, 1), k.lt(i, 6) if way == "mask" else None)
    assert not watch(k, (2, 1, 1), np.arange(8, dtype=np.int32), np.zeros(8, np.int32)).findings


def test_shadows_go_through_divergent_branches() -> None:
    """Only program 2 takes the branch that leaves the value undefined."""
    k = Kernel(out=I32)
    v = k.if_(k.eq(k.pid(), 2), lambda: [k.emit(Poison, type=int32)], lambda: [k.value(7, int32)])
    k.at(4).store(k.ptr(k.out, k.pid()), k.add(v, 1))
    plane = watch(k, (5, 1, 1), np.zeros(5, np.int32))
    assert [(w, o.loc.line, p) for w, o, p, _ in plane.findings] == [("store", 4, (2, 0, 0))]


def test_shadows_go_through_loops_that_instances_leave_at_different_times() -> None:
    """The carried value is undefined until the first iteration; program 0 has none."""
    k = Kernel(out=I32)
    start = k.emit(Poison, type=int32)
    v = k.for_(0, k.pid(), 1, [start], lambda i, v: [k.value(3, int32)])
    k.store(k.ptr(k.out, k.pid()), v)
    plane = watch(k, (4, 1, 1), np.zeros(4, np.int32))
    assert [(w, p) for w, _, p, _ in plane.findings] == [("store", (0, 0, 0))]

    k = Kernel(out=I32)
    start = k.emit(Poison, type=int32)
    _, v = k.while_([k.pid(), start], lambda n, v: k.lt(0, n), lambda n, v: [k.sub(n, 1), k.value(3, int32)])
    k.store(k.ptr(k.out, k.pid()), v)
    plane = watch(k, (4, 1, 1), np.zeros(4, np.int32))
    assert [(w, p) for w, _, p, _ in plane.findings] == [("store", (0, 0, 0))]


def test_a_branch_on_an_undefined_value_is_reported() -> None:
    k = Kernel(out=I32)
    k.at(3).if_(k.emit(Poison, type=int1), lambda: [], lambda: [])
    plane = watch(k, (2, 1, 1), np.zeros(4, np.int32))
    assert [(w, o.loc.line) for w, o, *_ in plane.findings] == [("branch", 3)]


def test_a_sum_over_undefined_lanes_is_undefined_for_that_program() -> None:
    from tritium.ops.arithmetic import Add

    k = Kernel(x=I32, out=I32)
    _, v = masked_load(k)
    combine = k.region(lambda a, b: [k.emit(Add, a, b)], [int32, int32])
    k.store(k.ptr(k.out, k.pid()), k.emit(Reduce, [v], axis=0, combine=combine))
    plane = watch(k, (2, 1, 1), np.arange(8, dtype=np.int32), np.zeros(8, np.int32))
    assert [p for _, _, p, _ in plane.findings] == [(1, 0, 0)]


class Recorder(Plane):
    """Gives every value the shadow 1 and writes down which accesses it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def argument(self, m: Any, index: int, value: Any) -> Any:
        return np.ones_like(value, np.int8)

    def propagate(self, m: Any, op: Any, inputs: Any, outputs: Any) -> Any:
        assert all(shadow is not None and shadow.all() for _, shadow in inputs)
        return [np.ones((1,) * o.ndim, np.int8) for o in outputs]

    def counted(self, m: Any, op: Any, bounds: Any) -> Any:
        assert all(b is not None and b.all() for b in bounds)
        return np.ones((1, 1, 1), np.int8)

    def accessed(self, m: Any, op: Any, access: str, at: Any, mask: Any, value: Any) -> None:
        self.seen.append(access)


@pytest.mark.parametrize("seed", range(25))
def test_no_value_loses_its_shadow_and_results_stay_the_same(seed: int) -> None:
    table = np.random.default_rng(seed).integers(-50, 50, TABLE).astype(np.int32)
    outs = []
    for planes in ((), (Recorder(),)):
        out = np.zeros((12, ROW), np.int32)
        args = [view_of(table.copy()), view_of(out)]
        run_grid(RandomKernel(seed).function, (4, 3, 1), args, options=Options(), planes=planes)
        outs.append(out)
    assert np.array_equal(*outs)


def test_accesses_are_seen() -> None:
    k = Kernel(x=I32)
    k.store(k.x, k.load(k.x))
    k.atomic("add", k.x, 1)
    k.cas(k.x, 0, 1)
    plane = watch(k, (1, 1, 1), np.zeros(1, np.int32), plane=Recorder())
    assert plane.seen == ["load", "store", "atomic", "atomic"]
