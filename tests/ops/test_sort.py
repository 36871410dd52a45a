"""Sorting against NumPy and torch: every format and extent, NaN, signed zeros, top-k."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ops.emulate import FLOATS, NUMBERS, Kernel, stored, widened
from ops.test_reduce import sample
from tritium.errors import CompilationError
from tritium.ir.types import float8e5, float16, float32, int1, int32, uint8
from tritium.numerics.formats import format_of
from tritium.ops.sort import from_order_keys, order_keys
from tritium.ops.storage import storage_dtype

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_sort(ty, dim, descending):
    x = sample(ty, (3, 7, 5))
    k = Kernel()
    out = k.wide(k.tl("sort", k.arg(x, ty), dim, descending))
    axis = -1 if dim is None else dim
    want = np.sort(x, axis=axis)
    np.testing.assert_array_equal(out, np.flip(want, axis) if descending else want)


@pytest.mark.parametrize("extent", [1, 2, 3, 8, 13, 64, 100])
def test_topk_for_every_k(extent):
    x = np.random.default_rng(extent).integers(-20, 20, (2, extent))
    for count in range(1, extent + 1):
        k = Kernel()
        tensor = k.arg(x, int32)
        best = k.tl("topk", tensor, count)
        assert best.dims == (2, count)
        np.testing.assert_array_equal(k.value(best), -np.sort(-x, 1)[:, :count])
        np.testing.assert_array_equal(
            k.value(k.tl("topk", tensor, count, descending=False)), np.sort(x, 1)[:, :count]
        )


def test_topk_widens_as_max_does_unless_it_takes_all():
    k = Kernel()
    x, h = k.arg([3, 250, 7], uint8), k.arg([1.5, -2, 8], float16)
    assert k.tl("topk", x, 2).dtype is int32 and k.tl("topk", x, 3).dtype is uint8
    assert k.tl("topk", h, 1).dtype is float32 and k.tl("topk", h, 3).dtype is float16
    assert k.value(k.tl("topk", x, 2)).tolist() == [250, 7]


def test_topk_along_another_axis_and_bad_k():
    x = np.arange(12).reshape(4, 3)
    k = Kernel()
    tensor = k.arg(x, int32)
    np.testing.assert_array_equal(k.value(k.tl("topk", tensor, 2, dim=0)), x[:1:-1])
    for bad in (0, -1, 5, 16):
        with pytest.raises(CompilationError, match=f"of 4 elements cannot give {bad}") as caught:
            k.tl("topk", tensor, bad, 0)
        assert caught.value.code == "TRI0613"


@pytest.mark.parametrize("ty", FLOATS, ids=lambda t: t.text)
def test_order_of_special_values(ty):
    x = [NAN, 1.0, -INF, 0.0, -0.0, INF, NAN, -1.0]
    kept = widened(stored(x, ty), ty)
    k = Kernel()
    tensor = k.arg(x, ty)
    up = k.wide(k.tl("sort", tensor))
    down = k.wide(k.tl("sort", tensor, descending=True))
    np.testing.assert_array_equal(down, up[::-1])
    np.testing.assert_array_equal(up, np.sort(kept))  # NumPy puts NaN last, as torch does
    zeros = up == 0
    assert list(np.signbit(up[zeros])) == sorted(np.signbit(kept[kept == 0]), reverse=True)
    if ty is float32:
        want = torch.sort(torch.tensor(x), descending=True).values
        np.testing.assert_array_equal(down, want.numpy())


@pytest.mark.parametrize("ty", [t for t in FLOATS if t.primitive_bitwidth <= 16], ids=lambda t: t.text)
def test_keys_of_all_patterns(ty):
    form = format_of(ty.text)
    patterns = np.arange(1 << form.bits, dtype=form.pattern)
    x = patterns.view(storage_dtype(ty))
    keys = order_keys(x, form)
    back = from_order_keys(keys, form)
    wide, again = widened(x, ty), widened(back, ty)
    nan = np.isnan(wide)
    assert np.array_equal(back.view(form.pattern)[~nan], patterns[~nan])
    assert np.isnan(again[nan]).all()
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(wide[order], np.sort(wide))


def test_sort_of_batches_and_repeated_axes():
    x = np.array([[3, 1, 2], [9, 8, 7]], np.int32)
    k = Kernel()
    tensor = k.raw(x[:, None], int32, (4, 3), batch=1)
    np.testing.assert_array_equal(
        k.array(k.tl("sort", tensor))[:, 0, 0], np.repeat(np.sort(x)[:, None], 4, 1)
    )
    same = k.tl("full", (2, 5), 3, int32)
    assert k.value(k.tl("topk", same, 2)).tolist() == [[3, 3], [3, 3]]
    assert k.value(k.method("sort", k.arg([True, False, True], int1))).tolist() == [False, True, True]


def test_bitonic_merge():
    k = Kernel()
    x = k.arg([1, 4, 6, 5, 3, 0], float8e5)
    assert k.wide(k.tl("bitonic_merge", x)).tolist() == [0, 1, 3, 4, 5, 6]
    assert k.wide(k.tl("bitonic_merge", x, descending=True)).tolist() == [6, 5, 4, 3, 1, 0]


def test_axis_must_exist():
    k = Kernel()
    for name in ("sort", "bitonic_merge"):
        with pytest.raises(CompilationError) as caught:
            k.tl(name, k.arg([1, 2], int32), 1)
        assert caught.value.code == "TRI0602"
    with pytest.raises(CompilationError):
        k.tl("sort", k.arg(1, int32))
