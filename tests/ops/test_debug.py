"""Prints, assertions, hints and barriers."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import Asserted, Kernel
from tritium.errors import CompilationError, CompileTimeAssertionFailure
from tritium.ir.types import float32, int1, int8, int32, pointer
from tritium.ops.base import Effect
from tritium.ops.debug import DeviceAssert
from tritium.ops.handles import constexpr
from tritium.ops.hints import Hint


def test_device_print():
    k = Kernel()
    k.tl("device_print", "value", k.arg([1, 2], int32), 3.5, hex=constexpr(True))
    k.tl("device_print", constexpr("alone"))
    k.tl("device_print", "")
    k.run()
    first, second, third = k.machine.printed
    assert first[0] == "value" and first[2] == {"hex": True}
    assert [v.reshape(-1).tolist() for v in first[1]] == [[1, 2], [3.5]]
    assert second[0] == "alone" and list(second[1]) == []
    assert third[0] == ""


@pytest.mark.parametrize("prefix", [3, "caf\u00e9", "bell\a", None])
def test_print_needs_a_plain_prefix(prefix):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        k.tl("device_print", prefix)
    assert caught.value.code == "TRI0620"


def test_print_of_something_that_is_no_value():
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        k.tl("device_print", "x", "y")
    assert caught.value.code == "TRI0415"


def test_device_assert_acts_in_debug_mode_only():
    quiet = Kernel()
    quiet.tl("device_assert", quiet.arg([True, False], int1), "never")
    quiet.run()
    assert quiet.ops() == []

    k = Kernel(debug=True)
    x = k.arg([4, -5, 6], int32)
    positive = k.operator(">", x, 0)
    k.tl("device_assert", positive, "needs positive input", mask=k.arg([True, False, True], int1))
    k.tl("device_assert", x, "not zero")
    k.run()
    k.tl("device_assert", positive, constexpr("needs positive input"), mask=constexpr(None))
    with pytest.raises(Asserted, match="needs positive input"):
        k.run()


def test_device_assert_broadcasts_condition_and_mask():
    k = Kernel(debug=True)
    k.tl("device_assert", k.arg([True, False], int1), "m", mask=k.arg([[False], [False], [False]], int1))
    k.tl("device_assert", True, "m", mask=k.arg([True, False], int1))
    k.run()
    assert [op.condition.type.shape for op in k.function.find(DeviceAssert)] == [(3, 2), (2,)]
    k.tl("device_assert", False)
    with pytest.raises(Asserted):
        k.run()


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("TRI0411", lambda k: k.tl("device_assert", k.arg(1.0, float32))),
        ("TRI0501", lambda k: k.tl("device_assert", True, 3)),
        ("TRI0503", lambda k: k.tl("static_assert", k.arg(1, int32))),
        ("TRI0503", lambda k: k.tl("static_assert", 1)),
        ("TRI0619", lambda k: k.tl("multiple_of", k.arg([1, 2], int32), (8, 8))),
        ("TRI0619", lambda k: k.tl("max_contiguous", k.arg(1, int32), ())),
        ("TRI0501", lambda k: k.tl("max_constancy", k.arg(1, int32), 1.5)),
        ("TRI0501", lambda k: k.tl("multiple_of", k.arg(1, int32), k.arg(8, int32))),
        ("TRI0506", lambda k: k.tl("multiple_of", k.arg(1, int32), 0)),
        ("TRI0411", lambda k: k.tl("assume", k.arg(1.0, float32))),
        ("TRI0411", lambda k: k.tl("expect_zero", k.arg(1.0, float32), k.arg(1.0, float32))),
    ],
)
def test_mistakes_are_located_errors(code, build):
    k = Kernel(debug=True)
    with pytest.raises(CompilationError) as caught:
        build(k)
    assert caught.value.code == code and caught.value.loc is not None


def test_static_assert():
    k = Kernel()
    k.tl("static_assert", constexpr(True), "fine")
    with pytest.raises(CompileTimeAssertionFailure, match="BLOCK is too large"):
        k.tl("static_assert", constexpr(False), constexpr("BLOCK is too large"))
    with pytest.raises(CompileTimeAssertionFailure, match="the condition is false"):
        k.tl("static_assert", False)
    assert k.ops() == []


def test_static_print(capsys):
    k = Kernel()
    k.tl("static_print", constexpr(4), "x", k.arg([1], int32).dtype, sep=constexpr("|"), end="!\n")
    assert capsys.readouterr().out == "4|x|int32!\n"
    assert k.ops() == []


def test_hints_change_no_value():
    k = Kernel()
    x = k.arg(np.arange(6).reshape(2, 3) * 8, int32)
    for name in ("multiple_of", "max_contiguous", "max_constancy"):
        out = k.tl(name, x, [constexpr(1), 8])
        assert out is not x and np.array_equal(k.value(out), k.value(x))
    zero = k.arg(16, int8)
    assert k.value(k.tl("multiple_of", zero, constexpr(16))) == 16
    assert k.tl("multiple_of", k.arg([1, 2], int32), 4).dims == (2,)
    assert [(op.kind, op.values) for op in k.function.find(Hint)][-2:] == [
        ("multiple_of", (16,)),
        ("multiple_of", (4,)),
    ]
    from tritium.ops.handles import Tensor

    ptr = Tensor(k.function.add_arg(pointer(float32), "p"))
    assert k.tl("multiple_of", ptr, 16).type == pointer(float32)


def test_assume_and_barriers_keep_their_place():
    k = Kernel()
    k.tl("assume", k.operator(">", k.arg(3, int32), 0))
    k.tl("assume", constexpr(True))
    k.tl("debug_barrier")
    k.tl("builtin.breakpoint")
    k.run()
    assert k.machine.events == ["barrier", "breakpoint"]
    effects = {op.name: op.effects() for op in k.function.body.ops}
    assert effects["tile.barrier"] is Effect.BARRIER
    assert effects["tile.assume"] is Effect.IO and effects["tile.breakpoint"] is Effect.IO


def test_expect_zero():
    k = Kernel()
    x = k.arg([0.0, 2.0], float32)
    assert k.value(k.tl("expect_zero", x, k.arg([True, True], int1))).tolist() == [0, 2]
    checked = Kernel(debug=True)
    y = checked.arg([0.0, 2.0], float32)
    checked.tl("expect_zero", y, checked.arg([True, False], int1))
    checked.run()
    checked.tl("expect_zero", y, True)
    with pytest.raises(Asserted):
        checked.run()
