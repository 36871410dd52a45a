"""Prints, assertions, traced lines and breakpoints show the values the kernel has."""

from __future__ import annotations

import io
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.interp.kernels import FILE, Kernel
from tests.interp.launching import run
from tritium.backends.interp import Options, Program, debugging
from tritium.backends.interp.batch import Batch
from tritium.backends.interp.machine import Interpreter
from tritium.backends.interp.memory import Memory
from tritium.errors import DeviceAssertError, InterpreterError
from tritium.ir.types import bfloat16, float32, int32, int64, pointer, tile
from tritium.ops.arithmetic import Add
from tritium.ops.base import TileOp
from tritium.ops.debug import Breakpoint, DeviceAssert, DevicePrint

I32 = pointer(int32)


def test_one_line_per_program_with_the_whole_block(printed: Any) -> None:
    k = Kernel(n=int32)
    i = k.add(k.mul(k.pid(), 3), k.arange(3))
    k.emit(DevicePrint, [i, k.n], prefix="block")
    run(k.done(), (2, 2), 7, write=printed.append)
    assert "".join(printed).splitlines() == [
        "(0, 0, 0) block: [0 1 2] 7",
        "(1, 0, 0) block: [3 4 5] 7",
        "(0, 1, 0) block: [0 1 2] 7",
        "(1, 1, 0) block: [3 4 5] 7",
    ]


def test_long_blocks_are_printed_whole_and_bits_as_hex(printed: Any) -> None:
    k = Kernel()
    k.emit(DevicePrint, [k.arange(3000)], prefix="")
    k.emit(DevicePrint, [k.value(-1, int32), k.value(1.0, tile(float32, (2,)))], prefix="bits", hex=True)
    k.emit(DevicePrint, [], prefix="here")
    run(k.done(), (1,), write=printed.append)
    lines = "".join(printed).splitlines()
    assert lines[0].replace("[", " ").replace("]", " ").split()[3:] == [str(i) for i in range(3000)]
    assert lines[1] == "(0, 0, 0) bits: 0xffffffff [0x3f800000 0x3f800000]"
    assert lines[2] == "(0, 0, 0) here"


def test_values_of_every_kind_print_as_numbers(printed: Any) -> None:
    k = Kernel(x=pointer(bfloat16))
    v = k.load(k.ptr(k.x, k.arange(2)))
    k.emit(DevicePrint, [v, k.lt(k.arange(2), 1)], prefix="v")
    run(k.done(), (1,), np.array([1.5, -2], ml_dtypes.bfloat16), write=printed.append)
    assert "".join(printed) == "(0, 0, 0) v: [ 1.5 -2. ] [ True False]\n"


def test_prints_inside_divergent_branches_name_their_programs(printed: Any) -> None:
    k = Kernel()

    def then() -> list[Any]:
        k.emit(DevicePrint, [k.pid()], prefix="odd")
        return []

    k.if_(k.eq(k.band(k.pid(), 1), 1), then)
    run(k.done(), (5,), write=printed.append)
    assert "".join(printed).splitlines() == ["(1, 0, 0) odd: 1", "(3, 0, 0) odd: 3"]


def assert_kernel(masked: bool) -> Any:
    k = Kernel("checked", x=I32)
    i = k.add(k.mul(k.pid(), 4), k.arange(4))
    v = k.load(k.ptr(k.x, i))
    k.at(9).emit(DeviceAssert, k.lt(0, v), k.lt(i, 11) if masked else None, message="needs positive input")
    return k.done()


@pytest.mark.parametrize("chunk", (1, 1 << 18))
def test_assert_names_message_program_lane_and_line(chunk: int) -> None:
    x = np.ones(12, np.int32)
    run(assert_kernel(False), (3,), x, chunk_elements=chunk)
    x[[6, 9]] = 0
    with pytest.raises(DeviceAssertError) as caught:
        run(assert_kernel(False), (3,), x, chunk_elements=chunk)
    e = caught.value
    assert "needs positive input" in str(e) and e.code == "TRI0802"
    assert e.loc is not None and (e.loc.file, e.loc.line) == (FILE, 9)
    assert e.got == "program (1, 0, 0), element [2] of the tile"
    assert e.fields["program"] == [1, 0, 0] and e.fields["lane"] == [2]


def test_assert_under_a_mask() -> None:
    x = np.ones(12, np.int32)
    x[11] = 0
    run(assert_kernel(True), (3,), x)
    x[10] = 0
    with pytest.raises(DeviceAssertError, match=r"element \[2\]"):
        run(assert_kernel(True), (3,), x)


def traced_kernel() -> Any:
    k = Kernel(x=I32)
    start = k.mul(k.pid(), 2)
    i = k.at(2).add(start, k.arange(2), name="offs")
    k.at(3).load(k.ptr(k.x, i), name="v")

    def body(iv: Any, acc: Any) -> list[Any]:
        return [k.at(5).add(acc, iv, name="acc")]

    k.at(4).for_(0, 2, 1, [k.value(0, int32)], body)
    k.at(6).store(k.ptr(k.x, i), i)
    return k.done()


def test_trace_prints_the_values_of_a_line(printed: Any) -> None:
    x = np.arange(10, 14).astype(np.int32)
    run(traced_kernel(), (2,), x, write=printed.append, trace_lines=frozenset({3, (FILE, 5)}))
    assert "".join(printed).splitlines() == [
        f"{FILE}:3 (0, 0, 0) v = [10 11]",
        f"{FILE}:3 (1, 0, 0) v = [12 13]",
        f"{FILE}:5 (0, 0, 0) acc = 0",
        f"{FILE}:5 (1, 0, 0) acc = 0",
        f"{FILE}:5 (0, 0, 0) acc = 1",
        f"{FILE}:5 (1, 0, 0) acc = 1",
    ]
    printed.clear()
    run(traced_kernel(), (2,), x, write=printed.append, trace_lines=frozenset({("other.py", 3)}))
    assert not printed


def test_trace_of_a_store_shows_what_it_gets(printed: Any) -> None:
    run(traced_kernel(), (1,), np.zeros(2, np.int32), write=printed.append, trace_lines=frozenset({6}))
    assert "".join(printed) == f"{FILE}:6 (0, 0, 0) offs = [0 1]\n"


def test_trace_says_what_it_leaves_out(printed: Any) -> None:
    x = np.zeros(40, np.int32)
    run(traced_kernel(), (20,), x, write=printed.append, trace_lines=frozenset({2}), trace_programs=3)
    lines = "".join(printed).splitlines()
    assert lines[2] == f"{FILE}:2 (2, 0, 0) offs = [4 5]"
    assert lines[3] == f"{FILE}:2 ... and 17 more program instances"


def breakpoint_kernel() -> Any:
    k = Kernel(x=I32)
    i = k.add(k.mul(k.pid(), 2), k.arange(2), name="offs")
    k.load(k.ptr(k.x, i), name="v")
    k.at(6).emit(Breakpoint)
    k.store(k.x, 5)
    return k.done()


def test_breakpoint_without_a_terminal_prints_and_goes_on(
    printed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    x = np.arange(10, 14).astype(np.int32)
    run(breakpoint_kernel(), (2,), x, write=printed.append)
    text = "".join(printed)
    assert "(0, 0, 0) offs = [0 1]\n" in text and "(0, 0, 0) v = [10 11]\n" in text and "pid0 = 0" in text
    assert x[0] == 5


def test_prompt_evaluates_expressions_and_changes_program(printed: Any) -> None:
    function = breakpoint_kernel()
    op = next(op for op in function.body.ops if op.name == "tile.breakpoint")
    x = np.arange(10, 14).astype(np.int32)
    from tritium.runtime.arrays import view_of

    m = Interpreter(Program(function), Memory([("x", view_of(x))]), Options(write=printed.append))
    answers: list[str] = []

    def stop(op: Any) -> None:
        typed = io.StringIO("v + 1\np offs.sum()\nprog 1\nv\nprog 9\nnope\nc\n")
        debugging.Prompt(m, op, stdin=typed).cmdloop(intro="")
        answers.extend("".join(printed).splitlines())

    m.breakpoint = stop  # type: ignore[method-assign]
    assert op.loc is not None
    m.run(Batch.box((0, 0, 0), (2, 1, 1), (2, 1, 1)), [np.full((1, 1, 1), x.ctypes.data, np.int64)])
    assert answers == [
        "[11 12]",
        "1",
        "[12 13]",
        "no instance (9, 0, 0) stands here",
        "NameError: name 'nope' is not defined",
    ]


def test_our_own_faults_carry_the_kernels_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: TileOp, *args: Any) -> Any:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(Add, "eval", broken)
    k = Kernel(n=int64)
    k.at(12).add(k.n, k.n)
    with pytest.raises(InterpreterError, match="broken on purpose") as caught:
        run(k.done(), (1,), 3)
    assert caught.value.code == "TRI0808" and caught.value.loc is not None and caught.value.loc.line == 12
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
