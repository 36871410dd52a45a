"""Combine regions: scalar code applied element by element, with and without control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interp.kernels import Kernel
from tests.interp.launching import run
from tritium.errors import DeviceAssertError, InterpreterError
from tritium.ir.types import int32, pointer
from tritium.ops.debug import DeviceAssert
from tritium.ops.map import MapElementwise
from tritium.ops.reduce import Reduce
from tritium.ops.scan import Scan

I32 = pointer(int32)


def table(k: Any, n: int) -> Any:
    i = k.arange(n)
    return k.load(k.ptr(k.x, k.add(k.mul(k.pid(), n), i)))


def keep_larger_magnitude(k: Any) -> Any:
    """Of two numbers the one that is further from zero, the left one if they are equally far; with branches."""

    def distance(v: Any) -> Any:
        return k.if_(k.lt(v, 0), lambda: [k.sub(0, v)], lambda: [v])

    def body(a: Any, b: Any) -> list[Any]:
        return [k.if_(k.lt(distance(a), distance(b)), lambda: [b], lambda: [a])]

    return k.region(body, [int32, int32])


def larger_magnitude(values: Any) -> int:
    best = values[0]
    for v in values[1:]:
        best = v if abs(v) > abs(best) else best
    return int(best)


@pytest.mark.parametrize("n", (1, 2, 5, 8, 13))
def test_reduction_with_control_flow(n: int) -> None:
    k = Kernel(x=I32, out=I32)
    k.store(k.ptr(k.out, k.pid()), k.emit(Reduce, [table(k, n)], axis=0, combine=keep_larger_magnitude(k)))
    x = np.random.default_rng(n).integers(-20, 20, (6, n)).astype(np.int32)
    out = np.zeros(6, np.int32)
    run(k.done(), (6,), x, out)
    assert out.tolist() == [larger_magnitude(row.tolist()) for row in x]


def test_scan_with_control_flow() -> None:
    k = Kernel(x=I32, out=I32)
    i = k.add(k.mul(k.pid(), 9), k.arange(9))
    k.store(
        k.ptr(k.out, i), k.emit(Scan, [table(k, 9)], axis=0, reverse=False, combine=keep_larger_magnitude(k))
    )
    x = np.random.default_rng(1).integers(-20, 20, (4, 9)).astype(np.int32)
    out = np.zeros((4, 9), np.int32)
    run(k.done(), (4,), x, out)
    assert out.tolist() == [[larger_magnitude(row[: m + 1].tolist()) for m in range(9)] for row in x]


def collatz(k: Any, captured: Any = None) -> Any:
    """Steps until 1 by n -> n / 2 or 3 n + 1, with a loop of its own per element."""

    def body(v: Any) -> list[Any]:
        def step(n: Any, count: Any) -> list[Any]:
            odd = k.eq(k.band(n, 1), 1)
            after = k.if_(
                odd, lambda: [k.add(k.mul(n, 3), captured or k.value(1, int32))], lambda: [halved(n)]
            )
            return [after, k.add(count, 1)]

        def halved(n: Any) -> Any:
            from tritium.ops.bitwise import Shr

            return k.emit(Shr, n, k.value(1, int32))

        return [k.while_([v, k.value(0, int32)], lambda n, c: k.lt(1, n), step)[1]]

    return k.region(body, [int32])


def test_map_with_loops_of_its_own_per_element() -> None:
    k = Kernel(x=I32, out=I32)
    i = k.add(k.mul(k.pid(), 8), k.arange(8))
    one = k.value(1, int32)
    k.store(k.ptr(k.out, i), k.emit(MapElementwise, [table(k, 8)], body=collatz(k, one)))
    x = np.arange(1, 33, dtype=np.int32)
    out = np.zeros(32, np.int32)
    run(k.done(), (4,), x, out)

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    assert out.tolist() == [steps(n) for n in range(1, 33)]


def test_a_captured_value_that_differs_between_programs_is_refused() -> None:
    k = Kernel(x=I32, out=I32)
    shift = k.pid()
    combine = k.region(lambda a, b: [k.at(7).add(k.add(a, b), shift)], [int32, int32])
    k.store(k.ptr(k.out, k.pid()), k.emit(Reduce, [table(k, 4)], axis=0, combine=combine))
    with pytest.raises(InterpreterError, match="differs between programs") as caught:
        run(k.done(), (3,), np.ones(12, np.int32), np.zeros(3, np.int32))
    assert caught.value.code == "TRI0805" and caught.value.loc is not None and caught.value.loc.line == 7


def test_checks_inside_a_combine_function_are_executed() -> None:
    k = Kernel(x=I32, out=I32)

    def body(a: Any, b: Any) -> list[Any]:
        total = k.add(a, b)
        k.at(3).emit(DeviceAssert, k.lt(total, 100), None, message="too much")
        return [total]

    combine = k.region(body, [int32, int32])
    k.store(k.ptr(k.out, k.pid()), k.emit(Reduce, [table(k, 4)], axis=0, combine=combine))
    function = k.done()
    out = np.zeros(2, np.int32)
    run(function, (2,), np.arange(8, dtype=np.int32), out)
    assert out.tolist() == [6, 22]
    with pytest.raises(DeviceAssertError, match="too much"):
        run(function, (2,), np.arange(8, dtype=np.int32) * 10, out)


def test_a_region_that_yields_a_constant() -> None:
    k = Kernel(x=I32, out=I32)
    i = k.arange(4)
    made = k.emit(MapElementwise, [table(k, 4)], body=k.region(lambda v: [k.value(5, int32)], [int32]))
    k.store(k.ptr(k.out, i), made)
    out = np.zeros(4, np.int32)
    run(k.done(), (1,), np.zeros(4, np.int32), out)
    assert out.tolist() == [5] * 4
