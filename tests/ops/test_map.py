"""`tl.map_elementwise` and `tl.swizzle2d`."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import Kernel
from tritium.errors import CompilationError
from tritium.ir.types import float32, int32
from tritium.ops.handles import constexpr
from tritium.ops.map import MapElementwise
from tritium.ops.surface import OPERATORS, SURFACES


def difference(s, x, y):
    return OPERATORS["-"](s, x, y)


def test_one_result_over_broadcast_arguments():
    k = Kernel()
    x, y = np.arange(6).reshape(2, 3), np.array([[10], [20]])
    out = k.tl("map_elementwise", difference, k.arg(x, int32), k.arg(y, int32))
    np.testing.assert_array_equal(k.value(out), x - y)
    assert k.tl("map_elementwise", difference, k.arg(5, int32), 3).dims == ()


def test_several_results_of_other_types():
    def both(s, x):
        return OPERATORS[">"](s, x, 1), s.cast(x, float32)

    k = Kernel()
    big, real = k.tl("map_elementwise", both, k.arg([0, 1, 2], int32))
    assert k.value(big).tolist() == [False, False, True]
    assert real.dtype is float32 and k.value(real).tolist() == [0, 1, 2]


@pytest.mark.parametrize("pack", [1, 2, 4])
def test_packs_are_neighbours_in_row_major_order(pack):
    def rotate(s, *args):
        xs, ys = args[:pack], args[pack:]
        add = OPERATORS["+"]
        return tuple(add(s, a, b) for a, b in zip(xs[1:] + xs[:1], ys, strict=True))

    x, y = np.arange(8).reshape(2, 4), np.arange(8).reshape(2, 4) * 100
    k = Kernel()
    out = k.tl("map_elementwise", rotate, k.arg(x, int32), k.arg(y, int32), pack=constexpr(pack))
    packs = x.reshape(-1, pack)
    want = np.roll(packs, -1, 1).reshape(2, 4) + y
    assert isinstance(out, tuple) and len(out) == 1
    np.testing.assert_array_equal(k.value(out[0]), want)


def test_packed_results_are_grouped():
    def sums(s, a, b):
        return a, b, OPERATORS["*"](s, a, 2), OPERATORS["*"](s, b, 2)

    k = Kernel()
    same, twice = k.tl("map_elementwise", sums, k.arg([1, 2, 3, 4], int32), pack=2)
    assert k.value(same).tolist() == [1, 2, 3, 4] and k.value(twice).tolist() == [2, 4, 6, 8]


def test_batches_repeated_axes_and_constants():
    k = Kernel()
    x = k.raw(np.array([[1], [2]], np.int32), int32, (5,), batch=1)
    out = k.tl("map_elementwise", difference, x, k.arg([0, 1, 2, 3, 4], int32))
    np.testing.assert_array_equal(k.array(out)[:, 0, 0], [[1, 0, -1, -2, -3], [2, 1, 0, -1, -2]])
    assert k.value(k.tl("map_elementwise", lambda s, a: 7, k.arg([1, 2], int32))).tolist() == [7, 7]
    packed = k.tl(
        "map_elementwise", lambda s, a, b: (b, a), k.raw(np.array([9], np.int32), int32, (4,)), pack=2
    )
    assert k.value(packed[0]).tolist() == [9] * 4


def test_a_function_of_the_language():
    k = Kernel()
    assert k.value(k.tl("map_elementwise", SURFACES["tl.abs"], k.arg([-1, 2], int32))).tolist() == [1, 2]
    (op,) = k.function.find(MapElementwise)
    assert op.is_pure


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0601", lambda k, x: k.tl("map_elementwise", difference)),
        ("TRI0603", lambda k, x: k.tl("map_elementwise", difference, x, pack=3)),
        ("TRI0603", lambda k, x: k.tl("map_elementwise", difference, x, pack=0)),
        ("TRI0612", lambda k, x: k.tl("map_elementwise", lambda s, a, b: a, x, pack=2)),
        ("TRI0612", lambda k, x: k.tl("map_elementwise", lambda s, a, b: (a, s.cast(b, float32)), x, pack=2)),
        ("TRI0612", lambda k, x: k.tl("map_elementwise", lambda s, a: k.tl("zeros", (2,), int32), x)),
        ("TRI0612", lambda k, x: k.tl("map_elementwise", lambda s, a: (), x)),
        ("TRI0415", lambda k, x: k.tl("map_elementwise", lambda s, a: "x", x)),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg([1, 2, 3, 4], int32))
    assert caught.value.code == code and caught.value.loc is not None


# ---- swizzle2d ---------------------------------------------------------------------------------------------------


def grouped(size_i, size_j, size_g):
    """Row-major numbers laid out column by column within groups of rows."""
    out = np.empty((size_i, size_j), int)
    number = 0
    for first in range(0, size_i, size_g):
        rows = range(first, min(first + size_g, size_i))
        for j in range(size_j):
            for i in rows:
                out[i, j] = number
                number += 1
    return out


@pytest.mark.parametrize("sizes", [(4, 4, 2), (5, 3, 2), (7, 2, 3), (3, 3, 8), (1, 6, 1)])
def test_swizzle2d(sizes):
    size_i, size_j, size_g = sizes
    want = grouped(*sizes)
    i, j = np.divmod(np.arange(size_i * size_j), size_j)
    k = Kernel()
    new_i, new_j = k.tl("swizzle2d", k.arg(i, int32), k.arg(j, int32), *sizes)
    assert want[k.value(new_i), k.value(new_j)].tolist() == list(range(size_i * size_j))
    folded = k.tl("swizzle2d", 0, 1, constexpr(size_i), size_j, size_g)
    assert want[k.value(folded[0]), k.value(folded[1])] == 1 or size_j == 1
    run_time = k.tl("swizzle2d", k.arg(i, int32), k.arg(j, int32), *(k.arg(v, int32) for v in sizes))
    assert k.value(run_time[0]).tolist() == k.value(new_i).tolist()


def test_the_documented_order():
    assert grouped(4, 4, 2).tolist() == [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
