"""Tuples, named tuples and aggregates: as arguments, in branches and loops, returned and unpacked."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import tritium.language as tl
from tests.frontend.compiling import define, lowered, run
from tritium.errors import TritiumError
from tritium.frontend import Constant, JitCallable, RunTime, Signature, TupleOf, aggregate, lower_kernel
from tritium.ir.types import float32, int32, pointer
from tritium.ops.control import For


class Span(NamedTuple):
    lo: tl.tensor
    hi: tl.tensor


def one(text: str, *args: int, **names: Any) -> list[int]:
    return run(lowered(define(text, **names)).function, *args)


def test_a_tuple_argument_is_several_arguments() -> None:
    kernel = define("@jit\ndef kernel(out, pair):\n    a, (b, c) = pair\n    tl.store(out, a + b * c)\n")
    pair = TupleOf((RunTime(int32), TupleOf((Constant(7), RunTime(int32)))))
    signature = Signature.of({"out": RunTime(pointer(int32), (("divisibility", 16),)), "pair": pair})
    function = lower_kernel(kernel.source, signature)
    assert [a.name for a in function.args] == ["out", "pair.0", "pair.1.1"]
    assert function.arg_attrs == [{"divisibility": 16}, {}, {}]
    assert run(function, 2, 3)[0] == 23


def test_a_named_tuple_argument_keeps_its_fields() -> None:
    kernel = define("@jit\ndef kernel(out, span):\n    tl.store(out, span.hi - span.lo + span[0])\n")
    items = TupleOf((RunTime(int32), RunTime(int32)), Span)
    function = lower_kernel(kernel.source, Signature.of({"out": RunTime(pointer(int32)), "span": items}))
    assert run(function, 3, 10)[0] == 10


def test_tuples_travel_through_branches_and_loops() -> None:
    text = """
        @jit
        def widen(span, by):
            return Span(span.lo - by, span.hi + by)

        @jit
        def kernel(out, n):
            span = Span(n, n)
            state = (0, (n, None))
            for i in range(3):
                span = widen(span, i)
                state = (state[0] + i, (state[1][0] * 2, None))
                if i == 1:
                    span = Span(span.lo - 100, span.hi)
            tl.store(out, span.lo)
            tl.store(out + 1, span.hi)
            tl.store(out + 2, state[0])
            tl.store(out + 3, state[1][0])
    """
    assert one(text, 10, Span=Span)[:4] == [10 - 3 - 100, 13, 3, 80]


def test_parts_of_a_carried_tuple_have_names() -> None:
    kernel = define(
        "@jit\ndef kernel(out, n):\n    t = (0, n)\n    for i in range(n):\n        t = (t[0] + 1, t[1])\n    tl.store(out, t[0])\n"
    )
    (loop,) = lowered(kernel).function.find(For)
    assert [a.name for a in loop.body.args] == ["i", "t.0", "t.1"]


def test_a_tuple_that_changes_its_length_in_a_loop() -> None:
    with pytest.raises(TritiumError, match="a tuple of") as caught:
        one(
            "@jit\ndef kernel(out, n):\n    t = (n,)\n    for i in range(n):\n        t = (n, n)\n    tl.store(out, t[0])\n"
        )
    assert caught.value.code == "TRI0441"


def test_numbers_in_carried_tuples_become_run_time_values() -> None:
    text = """
        @jit
        def step(pair):
            return pair[0] + 1, pair[1]

        @jit
        def kernel(out, n, PAIR):
            for i in range(n):
                PAIR = step(PAIR)
            tl.store(out, PAIR[0] * PAIR[1])
    """
    function = lowered(define(text), PAIR=(2, 10)).function
    assert run(function, 3)[0] == 50


@aggregate
class Counter:
    total: tl.tensor
    step: tl.constexpr

    def __init__(self, total: Any, step: Any) -> None:
        self.total = total
        self.step = step

    @JitCallable
    def advance(self, by):  # type: ignore[no-untyped-def]
        return Counter(self.total + by * self.step, self.step)

    @JitCallable
    def value(self):  # type: ignore[no-untyped-def]
        return self.total


def test_aggregates_have_methods_and_travel() -> None:
    text = """
        @jit
        def kernel(out, n):
            c = Counter(n, 10)
            for i in range(n):
                c = c.advance(i)
                if i == 2:
                    c = Counter(c.total + 1000, c.step)
            tl.store(out, c.value())
            tl.store(out + tl.arange(0, c.step), tl.full((c.step,), 5, tl.int32), mask=tl.arange(0, c.step) == 1)
    """
    assert one(text, 4, Counter=Counter)[:2] == [4 + 10 * 6 + 1000, 5]


def test_the_compile_time_part_of_an_aggregate_cannot_change_in_a_loop() -> None:
    text = "@jit\ndef kernel(out, n):\n    c = Counter(n, 1)\n    for i in range(n):\n        c = Counter(n, 2)\n    tl.store(out, c.total)\n"
    with pytest.raises(TritiumError) as caught:
        one(text, 4, Counter=Counter)
    assert caught.value.code == "TRI0441"


def test_faults_in_an_aggregate_are_located() -> None:
    @aggregate
    class Partial:
        a: tl.tensor
        b: tl.tensor

        def __init__(self, a: Any) -> None:
            self.a = a

    for expression, problem in (
        ("Partial(n)", "`b`"),
        ("Partial()", "missing"),
        ("Counter(n, 1).missing", "missing"),
    ):
        with pytest.raises(TritiumError, match=problem) as caught:
            one(f"@jit\ndef kernel(out, n):\n    c = {expression}\n", Partial=Partial, Counter=Counter)
        assert caught.value.loc is not None and caught.value.loc.line == 3


def test_aggregates_inherit_and_can_be_copied_with_changes() -> None:
    @aggregate
    class Base:
        a: tl.tensor
        scale: tl.constexpr = 2  # type: ignore[assignment]

        @JitCallable
        def scaled(self):  # type: ignore[no-untyped-def]
            return self.a * self.scale

    @aggregate
    class Derived(Base):  # type: ignore[misc]
        b: tl.tensor

        def __init__(self, a: Any, b: Any) -> None:
            super().__init__(a, 3)
            self.b = b

    assert Derived.fields == ("a", "scale", "b")
    text = """
        @jit
        def kernel(out, n):
            base = Base(n)
            both = Derived(n, n + 1)
            tl.store(out, base.scaled())
            tl.store(out + 1, both.scaled() + both.b)
            tl.store(out + 2, tl.core.aggregate_replace(both, a=10).scaled())
    """
    assert one(text, 4, Base=Base, Derived=Derived)[:3] == [8, 17, 30]
    with pytest.raises(TritiumError, match="declares no field 'c'"):
        one("@jit\ndef kernel(out, n):\n    tl.core.aggregate_replace(Base(n), c=1)\n", Base=Base)


def test_an_aggregate_cannot_have_a_compiled_constructor() -> None:
    with pytest.raises(TypeError, match="__init__"):

        @aggregate
        class _Wrong:
            a: tl.tensor
            __init__ = JitCallable(lambda self, a: None)


def test_block_pointers_travel_through_loops() -> None:
    text = """
        @jit
        def kernel(out, n):
            p = tl.make_block_ptr(out, (8,), (1,), (0,), (2,), (0,))
            for i in range(3):
                tl.store(p, tl.arange(0, 2) + i * 10)
                p = tl.advance(p, (2,))
    """
    assert one(text, 0)[:6] == [0, 1, 10, 11, 20, 21]


def test_a_host_descriptor_is_a_pointer_with_shape_and_strides() -> None:
    from tritium.frontend import DescriptorOf

    kernel = define("@jit\ndef kernel(desc):\n    desc.store([2, 0], desc.load([0, 0]) + 1.0)\n")
    function = lower_kernel(kernel.source, Signature.of({"desc": DescriptorOf(float32, (2, 4))}))
    assert [a.name for a in function.args] == ["desc.base", "desc.shape.0", "desc.shape.1", "desc.stride.0"]
