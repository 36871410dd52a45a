"""Subscripts of tiles against NumPy's, at compile time and at run time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.emulate import Asserted, Kernel
from tritium.errors import CompilationError
from tritium.ir.types import DTYPES, int32
from tritium.ops.handles import constexpr

DIMS = (4, 5, 3)
X = np.arange(60, dtype=np.int32).reshape(DIMS)


def get(k, x, *index):
    return k.tl("internal.getitem", x, index)


@pytest.mark.parametrize(
    "index",
    [
        (0,),
        (-1,),
        (1, 2),
        (1, 2, 0),
        (slice(1, 3),),
        (slice(None, None, 2), slice(4, None, -1)),
        (slice(-2, None), 0, slice(None)),
        (Ellipsis, 2),
        (Ellipsis, slice(1, 2)),
        (None, Ellipsis, None),
        (slice(None), None, 3),
        (2, None, slice(1, 4, 2), None, 1),
        (Ellipsis,),
        (),
        (slice(10, None, -3), Ellipsis, slice(-100, 100)),
    ],
    ids=str,
)
def test_constant_subscripts(index):
    for real in (DIMS, (1, 5, 3), (4, 1, 1), (1, 1, 1)):
        array = X[tuple(slice(0, e) for e in real)]
        k = Kernel()
        x = k.raw(array, int32, DIMS)
        out = get(k, x, *index)
        want = np.broadcast_to(array, DIMS)[index]
        assert out.dims == want.shape
        np.testing.assert_array_equal(k.value(out), want)


subscripts = st.one_of(
    st.integers(-2, 1),
    st.builds(
        slice, *[st.one_of(st.none(), st.integers(-7, 7))] * 2, st.sampled_from([None, 1, 2, 3, -1, -2])
    ),
    st.none(),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(subscripts, max_size=4), st.booleans())
def test_any_subscript_agrees_with_numpy(items, dots):
    shape = (2, 4, 3)
    index = tuple(items) if not dots else (*items[:1], Ellipsis, *items[1:])
    array = np.arange(24, dtype=np.int32).reshape(shape)
    used = sum(i is not None and i is not Ellipsis for i in index)
    k = Kernel()
    x = k.raw(array, int32, shape)
    if used > 3:
        return
    want = array[index]
    if want.size == 0:
        with pytest.raises(CompilationError, match="without elements"):
            get(k, x, *index)
        return
    np.testing.assert_array_equal(k.value(get(k, x, *index)), want)


def test_triton_forms_emit_new_axes_only():
    k = Kernel()
    x = k.arg(np.arange(3), int32)
    assert get(k, x, slice(None), None).dims == (3, 1)
    assert get(k, x, None, slice(None)).dims == (1, 3)
    assert k.tl("internal.getitem", x, constexpr(None)).dims == (1, 3)
    assert k.ops() == ["tile.expand_dims"] * 3
    zero = k.arg(7, int32)
    assert get(k, zero, None).dims == (1,)
    # Triton ignores ":" where there is no axis left.
    assert get(k, zero, None, slice(None)).dims == (1,)
    assert get(k, zero, slice(None), None).dims == (1,)
    assert get(k, x, slice(None), slice(None)) is x


def test_constants_as_handles():
    k = Kernel()
    x = k.arg(np.arange(6), int32)
    assert k.value(get(k, x, constexpr(2))) == 2
    assert k.value(get(k, x, k.s.scalar(-2, int32))) == 4
    assert k.value(get(k, x, slice(constexpr(1), k.s.scalar(5, int32), constexpr(2)))).tolist() == [1, 3]
    assert "tile.extract" not in k.ops()


@pytest.mark.parametrize("ty", ["int32", "int64", "uint8", "uint64"])
def test_run_time_index(ty):
    for real in (DIMS, (1, 5, 3), (4, 1, 3)):
        array = X[tuple(slice(0, e) for e in real)]
        full = np.broadcast_to(array, DIMS)
        k = Kernel()
        x = k.raw(array, int32, DIMS)
        i = k.arg(1, ty)
        assert np.array_equal(k.value(get(k, x, i)), full[1])
        assert np.array_equal(k.value(get(k, x, slice(None), i)), full[:, 1])
        assert np.array_equal(k.value(get(k, x, i, slice(0, 2), i)), full[1, 0:2, 1])
        assert np.array_equal(k.value(get(k, x, Ellipsis, i, None)), full[..., 1, None])
        assert k.value(get(k, x, i, i, i)) == full[1, 1, 1]


def test_run_time_index_of_every_program():
    rng = np.random.default_rng(0)
    index = rng.integers(-4, 4, (2, 3))
    k = Kernel()
    shared = k.raw(X, int32, DIMS)
    i = k.arg(index, int32, batch=2)
    np.testing.assert_array_equal(k.array(get(k, shared, i))[:, :, 0], X[index])
    own = rng.integers(0, 99, (2, 1, 4)).astype(np.int32)
    mine = k.raw(own, int32, (4,), batch=2)
    want = np.take_along_axis(np.broadcast_to(own, (2, 3, 4)), (index % 4)[..., None], -1)[..., 0]
    np.testing.assert_array_equal(k.array(get(k, mine, i))[:, :, 0], want)


@pytest.mark.parametrize("index", [4, -5, 2**31 - 1, -(2**31)])
def test_run_time_index_outside_is_reported_and_reads_the_nearest(index):
    k = Kernel()
    x = k.raw(X, int32, DIMS)
    out = get(k, x, k.arg(index, int32))
    with pytest.raises(Asserted, match="outside axis 0"):
        k.run()
    op = out.value.defining_op
    edge = X[3] if index > 0 else X[0]
    np.testing.assert_array_equal(op.eval(*[k.inputs[v] for v in op.operands])[0, 0, 0], edge)


def test_large_unsigned_index_is_outside():
    k = Kernel()
    get(k, k.raw(X, int32, DIMS), k.arg(np.uint64(2**64 - 1), DTYPES["uint64"]))
    with pytest.raises(Asserted):
        k.run()


@pytest.mark.parametrize(
    ("code", "index"),
    [
        ("TRI0418", (0, 0, 0, 0)),
        ("TRI0418", (Ellipsis, Ellipsis)),
        ("TRI0418", (1.5,)),
        ("TRI0418", (True,)),
        ("TRI0418", ("a",)),
        ("TRI0418", (slice(3, 3),)),
        ("TRI0418", (slice(0, 2, 0),)),
        ("TRI0418", (slice(None), slice(None), slice(None), slice(0, 1))),
        ("TRI0419", (4,)),
        ("TRI0419", (0, -6)),
        ("TRI0501", (slice(1.5, None),)),
    ],
)
def test_mistakes_are_located_errors(code, index):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        get(k, k.raw(X, int32, DIMS), *index)
    assert caught.value.code == code and caught.value.loc is not None


def test_tiles_and_run_time_bounds_are_refused():
    k = Kernel()
    x = k.raw(X, int32, DIMS)
    with pytest.raises(CompilationError, match="cannot be indexed with <\\[2\\], int32>"):
        get(k, x, k.arg([0, 1], int32))
    with pytest.raises(CompilationError, match="start of a slice"):
        get(k, x, slice(k.arg(0, int32), 2))
    with pytest.raises(CompilationError):
        get(k, x, k.arg(0.5, "fp32"))
