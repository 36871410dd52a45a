"""`tl.gather` and `tl.histogram` against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import INTEGERS, NUMBERS, Kernel
from tritium.errors import CompilationError
from tritium.ir.types import int1, int8, int32, uint8
from tritium.ops.storage import storage_dtype


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
@pytest.mark.parametrize("ty", ["int8", "int32", "int64", "uint16", "uint64"])
def test_gather_along_every_axis(ty, axis):
    rng = np.random.default_rng(2)
    shape, wanted = [3, 4, 5], [3, 4, 5]
    wanted[axis] = 7
    x = rng.integers(0, 999, shape).astype(np.int32)
    index = rng.integers(0, shape[axis], wanted)
    k = Kernel()
    out = k.tl("gather", k.arg(x, int32), k.arg(index, ty), axis)
    np.testing.assert_array_equal(k.value(out), np.take_along_axis(x, index, axis))


def test_gather_with_batches_and_repeated_axes():
    rng = np.random.default_rng(3)
    for x_shape in ((2, 1, 4, 5), (1, 1, 1, 5), (2, 1, 4, 1)):
        for i_shape in ((1, 3, 4, 6), (1, 3, 1, 6), (1, 1, 4, 1)):
            x = rng.integers(0, 999, x_shape).astype(np.int32)
            index = rng.integers(0, 5, i_shape).astype(np.int32)
            k = Kernel()
            out = k.tl("gather", k.raw(x, int32, (4, 5), 2), k.raw(index, int32, (4, 6), 2), 1)
            want = np.take_along_axis(
                np.broadcast_to(x, (2, 3, 4, 5)), np.broadcast_to(index, (2, 3, 4, 6)), -1
            )
            np.testing.assert_array_equal(np.broadcast_to(k.array(out)[:, :, 0], (2, 3, 4, 6)), want)


def test_an_index_outside_reads_the_nearest_element():
    k = Kernel()
    x = k.arg([10, 11, 12], int32)
    assert k.value(k.tl("gather", x, k.arg([-7, -1, 3, 2**31 - 1], int32), 0)).tolist() == [10, 10, 12, 12]
    assert k.value(k.tl("gather", x, k.arg([255, 1], uint8), 0)).tolist() == [12, 11]
    big = k.raw(np.array([2**64 - 1], np.uint64), INTEGERS[-1], (1,))
    assert k.value(k.method("gather", x, big, axis=-1)).tolist() == [12]
    assert k.value(k.tl("gather", x, k.arg([True, False], int1), 0)).tolist() == [11, 10]


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_gather_keeps_the_bits(ty):
    raw = np.random.default_rng(1).integers(0, 256, 6 * ty.itemsize, dtype=np.uint8)
    x = raw.view(storage_dtype(ty)) if not ty.is_bool() else (raw & 1).view(bool)
    k = Kernel()
    out = k.tl("gather", k.raw(x, ty, (6,)), k.arg([5, 0, 3], int32), 0)
    assert k.value(out).tobytes() == x[[5, 0, 3]].tobytes()


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0616", lambda k, x: k.tl("gather", x, k.arg([1], int32), 0)),
        ("TRI0616", lambda k, x: k.tl("gather", x, k.arg(np.zeros((3, 3)), int32), 0)),
        ("TRI0616", lambda k, x: k.tl("gather", x, k.arg(np.zeros((2, 4)), "fp32"), 0)),
        ("TRI0602", lambda k, x: k.tl("gather", x, x, 2)),
        ("TRI0615", lambda k, x: k.tl("histogram", x, 4)),
        ("TRI0615", lambda k, x: k.tl("histogram", k.arg([1.0], "fp32"), 4)),
        ("TRI0506", lambda k, x: k.tl("histogram", k.arg([1], int32), 0)),
        ("TRI0642", lambda k, x: k.tl("histogram", k.arg([1], int32), 4, k.arg([1], int32))),
        ("TRI0643", lambda k, x: k.tl("histogram", k.arg([1, 2], int32), 4, k.arg([1, 0, 1], int1))),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k, k.arg(np.arange(8).reshape(2, 4), int32))
    assert caught.value.code == code and caught.value.loc is not None


# ---- histogram ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [1, 2, 7, 200, 300])
@pytest.mark.parametrize("ty", INTEGERS, ids=lambda t: t.text)
def test_histogram_counts_only_what_lies_in_a_bin(ty, bins):
    rng = np.random.default_rng(4)
    low, high = max(ty.get_int_min_value(), -50), min(ty.get_int_max_value(), 400)
    x = rng.integers(low, high + 1, 301)
    x[:2] = ty.get_int_min_value() if ty.kind == "int" else 0, min(ty.get_int_max_value(), 2**62)
    k = Kernel()
    out = k.tl("histogram", k.arg(x, ty), bins)
    assert out.dtype is int32
    np.testing.assert_array_equal(k.value(out), [(x == b).sum() for b in range(bins)])


def test_counters_do_not_wrap():
    k = Kernel()
    assert k.value(k.tl("histogram", k.tl("full", (1000,), 1, int8), 3)).tolist() == [0, 1000, 0]


def test_histogram_mask_and_batches():
    rng = np.random.default_rng(5)
    x = rng.integers(-1, 6, (2, 1, 9))
    mask = rng.integers(0, 2, (1, 3, 9)).astype(bool)
    k = Kernel()
    out = k.tl("histogram", k.raw(x.astype(np.int32), int32, (9,), 2), 5, k.raw(mask, int1, (9,), 2))
    want = [[[((x[i, 0] == b) & mask[0, j]).sum() for b in range(5)] for j in range(3)] for i in range(2)]
    np.testing.assert_array_equal(k.array(out)[:, :, 0], want)
    assert k.value(k.method("histogram", k.arg([0, 0, 1], int32), 2, mask=True)).tolist() == [2, 1]
    assert k.value(k.tl("histogram", k.arg([0, 0, 1], int32), 2, k.arg(False, int1))).tolist() == [0, 0]
