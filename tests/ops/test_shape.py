"""Moving elements: each op against NumPy, on odd extents, every format, batches and lazily repeated axes."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import NUMBERS, Kernel
from tritium.errors import CompilationError
from tritium.ops.handles import constexpr
from tritium.ops.storage import storage_dtype


def tile(*dims: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + int(np.prod(dims)), dtype=np.int32).reshape(dims)


def lazy(k: Kernel, dims: tuple[int, ...], real: tuple[int, ...], batch: tuple[int, ...] = ()):
    """A tile of extents `dims` whose array has the extents `real`; also what NumPy makes of it."""
    x = tile(*batch, *real)
    full = np.broadcast_to(x, batch + dims)
    from tritium.ir.types import int32

    return k.raw(x, int32, dims, len(batch)), full


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_every_op_keeps_the_bits_of_every_format(ty):
    rng = np.random.default_rng(1)
    dt = storage_dtype(ty)
    raw = rng.integers(0, 256, (3, 2 * dt.itemsize), dtype=np.uint8)
    bits = raw.view(dt) if dt != np.bool_ else (raw & 1).view(np.bool_)
    k = Kernel()
    x = k.raw(bits, ty, bits.shape)
    out = {
        "flip": (k.tl("flip", x, 0), bits[::-1]),
        "trans": (k.tl("trans", x), bits.T),
        "reshape": (k.tl("reshape", x, (bits.size,)), bits.reshape(-1)),
        "join": (k.tl("join", x, x), np.stack([bits, bits], -1)),
        "cat": (k.tl("cat", x, x, dim=1), np.concatenate([bits, bits], 1)),
        "broadcast": (k.tl("broadcast_to", k.tl("expand_dims", x, 0), 2, 3, 2), np.stack([bits, bits])),
        "split": (k.tl("split", x)[1], bits[:, 1]),
    }
    for name, (tensor, want) in out.items():
        assert k.value(tensor).tobytes() == np.ascontiguousarray(want).tobytes(), name


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((6,), (2, 3)),
        ((4, 6), (3, 8)),
        ((4, 6), (24,)),
        ((4, 6), (2, 2, 6)),
        ((2, 3, 5), (6, 5)),
        ((2, 3, 5), (1, 2, 15, 1)),
        ((1,), (1, 1)),
        ((7, 1, 9), (9, 7)),
        ((12, 10), (4, 3, 5, 2)),
    ],
)
def test_reshape_with_any_set_of_repeated_axes(source, target):
    for mask in range(2 ** len(source)):
        real = tuple(1 if mask >> i & 1 else d for i, d in enumerate(source))
        k = Kernel()
        x, full = lazy(k, source, real, (2, 3))
        out = k.tl("reshape", x, target)
        np.testing.assert_array_equal(k.array(out)[:, :, 0], full.reshape(2, 3, *target))


def test_reshape_leaves_repeated_axes_short():
    k = Kernel()
    x, _ = lazy(k, (1024, 64), (1024, 1))
    out = k.tl("reshape", x, (32, 32, 64))
    assert k.run()[out.value].shape == (1, 1, 1, 32, 32, 1)
    flat = k.tl("reshape", x, (1024, 8, 8))
    assert k.run()[flat.value].shape == (1, 1, 1, 1024, 1, 1)


def test_reshape_forms():
    k = Kernel()
    x = k.arg(tile(2, 6), "int32")
    assert k.tl("reshape", x, 3, 4).dims == (3, 4)
    assert k.tl("reshape", x, constexpr((3, 4))).dims == (3, 4)
    assert k.method("reshape", x, [constexpr(4), 3], can_reorder=True).dims == (4, 3)
    assert k.method("view", x, 12).dims == (12,)
    assert k.method("ravel", x).dims == (12,)
    assert k.tl("reshape", x, (2, -1, 2)).dims == (2, 3, 2)
    assert k.tl("reshape", x, 2, 6) is not None
    assert k.ops().count("tile.reshape") == 6  # the last asks for the shape it has
    one = k.arg([[5]], "int32")
    assert k.value(k.tl("item", one)) == 5 and k.tl("reshape", one, ()).dims == ()
    assert k.tl("squeeze", one, -1).dims == (1,)
    assert k.tl("unsqueeze", x, -1).dims == (2, 6, 1)
    assert k.tl("reshape", k.arg(3, "int32"), (1, 1)).dims == (1, 1)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1)])
def test_permute(order):
    k = Kernel()
    x, full = lazy(k, (2, 3, 5), (2, 1, 5), (2,))
    np.testing.assert_array_equal(
        k.array(k.tl("permute", x, *order))[:, 0, 0], full.transpose(0, *(a + 1 for a in order))
    )
    assert k.tl("permute", x, order).dims == tuple((2, 3, 5)[a] for a in order)
    assert k.method("trans", x).dims == (2, 5, 3)


def test_transpose_of_two_axes_only():
    k = Kernel()
    x = k.arg(tile(2, 3), "int32")
    np.testing.assert_array_equal(k.value(k.tl("internal.T", x)), tile(2, 3).T)
    with pytest.raises(CompilationError, match="axes"):
        k.tl("internal.T", k.arg(tile(2), "int32"))


def test_join_split_interleave():
    k = Kernel()
    a, fa = lazy(k, (3, 5), (3, 1), (2,))
    b, fb = lazy(k, (3, 5), (1, 5))
    joined = k.tl("join", a, b)
    want = np.stack(np.broadcast_arrays(fa, fb), -1)
    np.testing.assert_array_equal(k.array(joined)[:, 0, 0], want)
    left, right = k.tl("split", joined)
    np.testing.assert_array_equal(k.array(left)[:, 0, 0], want[..., 0])
    np.testing.assert_array_equal(k.array(right)[:, 0, 0], want[..., 1])
    np.testing.assert_array_equal(k.array(k.tl("interleave", a, b))[:, 0, 0], want.reshape(2, 3, 10))
    same, full = lazy(k, (3, 2), (3, 1))
    for half in k.tl("split", same):
        np.testing.assert_array_equal(k.value(half), full[:, 0])


def test_join_of_scalars_and_of_a_scalar_with_a_tile():
    k = Kernel()
    np.testing.assert_array_equal(k.value(k.tl("join", 1, 2)), [1, 2])
    np.testing.assert_array_equal(k.value(k.tl("interleave", 1, 2)), [1, 2])
    x = k.arg([3, 4], "int32")
    np.testing.assert_array_equal(k.value(k.tl("join", x, 9)), [[3, 9], [4, 9]])
    zero, one = k.tl("split", k.tl("join", 1, 2))
    assert zero.dims == () and k.value(one) == 2


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_cat(dim):
    shape = [2, 3, 4]
    other = list(shape)
    other[dim] = 5
    k = Kernel()
    a, fa = lazy(k, tuple(shape), (1, 3, 1), (2,))
    b, fb = lazy(k, tuple(other), (other[0], 1, other[2]), (1, 3))
    want = np.concatenate(
        [np.broadcast_to(fa[:, None], (2, 3, *shape)), np.broadcast_to(fb, (2, 3, *other))], axis=2 + dim % 3
    )
    np.testing.assert_array_equal(k.array(k.tl("cat", a, b, can_reorder=True, dim=dim))[:, :, 0], want)


def test_flip():
    k = Kernel()
    x, full = lazy(k, (3, 5), (3, 1))
    np.testing.assert_array_equal(k.value(k.tl("flip", x, -1)), full)
    np.testing.assert_array_equal(k.value(k.tl("flip", x, 0)), full[::-1])
    assert k.value(k.tl("flip", k.arg([1, 2, 3], "int32"))).tolist() == [3, 2, 1]


def test_expand_dims():
    k = Kernel()
    x = k.arg(tile(2, 3), "int32")
    assert k.tl("expand_dims", x, (0, -1)).dims == (1, 2, 3, 1)
    assert k.tl("expand_dims", x, 1).dims == (2, 1, 3)
    assert k.tl("expand_dims", k.arg(4, "int32"), 0).dims == (1,)
    assert k.value(k.tl("expand_dims", k.arg(4, "int32"), (0, 1))).tolist() == [[4]]


def test_broadcast():
    k = Kernel()
    x = k.arg(tile(3, 1), "int32")
    y = k.arg(tile(2), "int32")
    a, b = k.tl("broadcast", x, y)
    assert k.value(a).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert k.value(b).tolist() == [[0, 1]] * 3
    assert k.tl("broadcast_to", 1.5, (2, 2)).dims == (2, 2)


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0608", lambda k, x: k.tl("reshape", x, (4, 2))),
        ("TRI0608", lambda k, x: k.tl("reshape", x, (-1, 4))),
        ("TRI0506", lambda k, x: k.tl("reshape", x, (-1, -1))),
        ("TRI0506", lambda k, x: k.tl("reshape", x, (0, 6))),
        ("TRI0608", lambda k, x: k.tl("item", x)),
        ("TRI0608", lambda k, x: k.tl("squeeze", x, 0)),
        ("TRI0602", lambda k, x: k.tl("unsqueeze", x, 4)),
        ("TRI0602", lambda k, x: k.tl("expand_dims", x, 3)),
        ("TRI0603", lambda k, x: k.tl("expand_dims", x, (0, 0))),
        ("TRI0610", lambda k, x: k.tl("permute", x, 0)),
        ("TRI0610", lambda k, x: k.tl("trans", x, 1, 1)),
        ("TRI0602", lambda k, x: k.tl("trans", k.arg([1, 2], "int32"))),
        ("TRI0611", lambda k, x: k.tl("split", x)),
        ("TRI0611", lambda k, x: k.tl("join", x, 1.5)),
        ("TRI0611", lambda k, x: k.tl("cat", x, k.arg(tile(2, 2), "int32"))),
        ("TRI0611", lambda k, x: k.tl("cat", x, k.arg(tile(2, 3), "int64"))),
        ("TRI0602", lambda k, x: k.tl("cat", x, x, dim=2)),
        ("TRI0603", lambda k, x: k.tl("flip", x)),
        ("TRI0602", lambda k, x: k.tl("flip", x, 2)),
        ("TRI0609", lambda k, x: k.tl("broadcast_to", x, (4, 3))),
        ("TRI0609", lambda k, x: k.tl("broadcast_to", x, (2, 2, 3))),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg(tile(2, 3), "int32"))
    assert caught.value.code == code and caught.value.loc is not None
