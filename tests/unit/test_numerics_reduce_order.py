"""Tree reductions and scans: every extent, order kept, the documented trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.numerics import floating
from tritium.numerics.reduce_order import tree_reduce, tree_scan


def text(n):
    return np.array([chr(97 + i % 26) + str(i) + "." for i in range(n)], dtype=object)


def join(a, b):
    return a + b


@pytest.mark.parametrize("n", range(1, 70))
def test_adjacent_keeps_the_order(n):
    x = text(n)
    assert tree_reduce(x, 0, join, "adjacent").item() == "".join(x)


@pytest.mark.parametrize("n", range(1, 70))
def test_halves_combine_every_element_once(n):
    x = np.arange(1, n + 1)
    assert tree_reduce(x, 0, np.add) == n * (n + 1) // 2
    used = tree_reduce(np.array([[i] for i in range(n)] + [[0]], dtype=object)[:n, 0], 0, lambda a, b: a + b)
    assert used == n * (n - 1) // 2


@pytest.mark.parametrize("n", range(1, 70))
def test_scan_keeps_the_order(n):
    x = text(n)
    assert tree_scan(x, 0, join).tolist() == ["".join(x[: i + 1]) for i in range(n)]
    assert tree_scan(x, 0, join, reverse=True).tolist() == ["".join(x[i:][::-1]) for i in range(n)]


def test_documented_trees():
    pair = lambda a, b: np.frompyfunc(lambda p, q: f"({p}{q})", 2, 1)(a, b)
    assert tree_reduce(np.array(list("abcd"), object), 0, pair).item() == "((ac)(bd))"
    assert tree_reduce(np.array(list("abcde"), object), 0, pair).item() == "(((ae)c)(bd))"
    assert tree_reduce(np.array(list("abcde"), object), 0, pair, "adjacent").item() == "(((ab)(cd))e)"
    scanned = tree_scan(np.array(list("abcd"), object), 0, pair).tolist()
    assert scanned == ["a", "(ab)", "((ab)c)", "((ab)(cd))"]


def test_axes_shapes_and_scalars():
    x = np.random.default_rng(0).integers(0, 100, (3, 5, 7))
    for axis in (0, 1, 2, -1):
        assert (tree_reduce(x, axis, np.add) == x.sum(axis)).all()
        assert (tree_scan(x, axis, np.add) == np.cumsum(x, axis)).all()
        assert (tree_scan(x, axis, np.add, True) == np.flip(np.cumsum(np.flip(x, axis), axis), axis)).all()
    total = tree_reduce(np.arange(4.0), 0, np.add)
    assert isinstance(total, np.ndarray) and total.shape == () and total == 6
    assert tree_scan(np.zeros((2, 0)), 1, np.add).shape == (2, 0)
    with pytest.raises(ValueError, match="extent 0"):
        tree_reduce(np.zeros((2, 0)), 1, np.add)


def test_several_inputs():
    value, index = np.array([[3, 9, 9, 1, 9]]), np.arange(5)[None, :]

    def larger(v0, i0, v1, i1):
        take = (v0 > v1) | ((v0 == v1) & (i0 < i1))
        return np.where(take, v0, v1), np.where(take, i0, i1)

    best, where = tree_reduce((value, index), 1, larger)
    assert best.tolist() == [9] and where.tolist() == [1]
    best, where = tree_scan((value, index), 1, larger)
    assert best.tolist() == [[3, 9, 9, 9, 9]] and where.tolist() == [[0, 1, 1, 1, 1]]


def test_sums_stay_in_the_format():
    x = np.full(4096, 1.0, np.float16)
    assert tree_reduce(x, 0, lambda a, b: floating.add(a, b, "f16")) == 4096  # a loop would stop at 2048
    y = np.full(2049, 1.0, np.float16)
    assert tree_reduce(y, 0, lambda a, b: floating.add(a, b, "f16")) == 2048


def test_result_does_not_depend_on_other_dimensions_or_layout():
    x = np.random.default_rng(0).standard_normal((33, 100)).astype(np.float32)
    alone = np.array([tree_reduce(np.ascontiguousarray(row), 0, np.add) for row in x])
    assert (tree_reduce(x, 1, np.add) == alone).all()
    assert (tree_reduce(np.asfortranarray(x), 1, np.add) == alone).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=200))
def test_integers_match_numpy(values):
    x = np.array(values)
    assert tree_reduce(x, 0, np.add) == x.sum() and tree_reduce(x, 0, np.minimum, "adjacent") == x.min()
    assert (tree_scan(x, 0, np.maximum) == np.maximum.accumulate(x)).all()


# Affine maps compose associatively and not commutatively.
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-3, 3)), min_size=1, max_size=40))
def test_non_commutative_combine(maps):
    a, b = np.array([m[0] for m in maps], dtype=object), np.array([m[1] for m in maps], dtype=object)

    def compose(a0, b0, a1, b1):
        return a1 * a0, a1 * b0 + b1

    scale, shift = tree_scan((a, b), 0, compose)
    x, y = 1, 0
    for i, (m, c) in enumerate(maps):
        x, y = m * x, m * y + c
        assert (scale[i], shift[i]) == (x, y)
