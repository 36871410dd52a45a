"""Tiles from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import NUMBERS, Kernel
from tritium.errors import CompilationError
from tritium.ir.types import DTYPES, float16, float32, int1, int8, int32, pointer, uint8
from tritium.ops.handles import constexpr


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_full_and_zeros_of_every_format(ty):
    k = Kernel()
    one, none = k.tl("full", (3, 5), 1, ty), k.tl("zeros", (7,), ty)
    np.testing.assert_array_equal(k.wide(one), np.ones((3, 5)))
    np.testing.assert_array_equal(k.wide(none), np.zeros(7))
    assert k.ops() == ["tile.constant"] * 2
    like = k.tl("zeros_like", k.arg(np.ones((2, 3)), ty))
    assert like.dtype is ty and like.dims == (2, 3) and not k.wide(like).any()


def test_forms_of_full():
    k = Kernel()
    assert k.tl("full", constexpr((2, 3)), constexpr(1.5), constexpr(float32)).dims == (2, 3)
    assert k.tl("full", [constexpr(4)], 1, int32).dims == (4,)
    assert k.tl("full", 4, 1, int32).dims == (4,)
    assert k.tl("full", (), 1, int32).dims == ()
    assert k.value(k.tl("full", (2,), True, float32)).tolist() == [1, 1]
    assert k.value(k.tl("full", (2,), 2, int1)).tolist() == [True, True]
    assert k.value(k.tl("full", (2,), 0.5, int1)).tolist() == [True, True]
    assert np.isnan(k.value(k.tl("full", (1,), float("nan"), float16))).all()
    assert k.value(k.tl("full", (1,), -float("inf"), float16)) == -np.inf
    assert k.value(k.tl("full", (1,), 1e10, float16)) == np.inf


def test_full_of_a_run_time_value():
    k = Kernel()
    out = k.tl("full", (2, 2), k.arg(2.75, float32), int32)
    assert out.dtype is int32 and k.value(out).tolist() == [[2, 2], [2, 2]]
    assert k.value(k.tl("full", (2,), k.arg([[3]], int8), float32)).tolist() == [3, 3]
    assert k.tl("full", (), k.arg([3], int8), int8).dims == ()
    batch = k.tl("full", (2,), k.arg([1, 2, 3], int32, batch=1), int32)
    assert k.array(batch)[:, 0, 0].tolist() == [[1, 1], [2, 2], [3, 3]]


def test_integers_wrap_to_the_width_asked_for():
    k = Kernel()
    for value, ty, want in (
        (0xFFFFFFFF, int32, -1),
        (300, int8, 44),
        (-129, int8, 127),
        (300, uint8, 44),
        (2**40 + 5, int32, 5),
        (-1, DTYPES["int64"], -1),
        (2**64 - 1, DTYPES["uint64"], 2**64 - 1),
    ):
        assert k.value(k.tl("full", (1,), value, ty)).tolist() == [want]


def test_empty_is_poison_and_zeros_like_takes_a_number():
    k = Kernel()
    assert k.tl("empty", (2, 3), float16).dims == (2, 3)
    assert k.ops() == ["tile.poison"]
    assert k.tl("zeros_like", 1.5).dtype is float32


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0403", lambda k: k.tl("full", (2,), 2**63, int8)),
        ("TRI0403", lambda k: k.tl("full", (2,), 2**64, uint8)),
        ("TRI0403", lambda k: k.tl("full", (2,), -1, uint8)),
        ("TRI0403", lambda k: k.tl("full", (2,), 1.5, int32)),
        ("TRI0609", lambda k: k.tl("full", (2,), k.arg([1, 2], int32), int32)),
        ("TRI0506", lambda k: k.tl("full", (0,), 1, int32)),
        ("TRI0501", lambda k: k.tl("zeros", (k.arg(3, int32),), int32)),
        ("TRI0510", lambda k: k.tl("zeros", (3,), "float32")),
        ("TRI0510", lambda k: k.tl("zeros", (3,), pointer(float32))),
        ("TRI0415", lambda k: k.tl("full", (2,), "x", int32)),
        ("TRI0510", lambda k: k.tl("empty", (2,), 4)),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k)
    assert caught.value.code == code and caught.value.loc is not None
