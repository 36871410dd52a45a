"""Calls: which argument goes where, inlining, recursion, compile-time functions, functions as values."""

from __future__ import annotations

import math

import pytest

import tritium.language as tl
from tests.frontend.compiling import define, kernel_of, lower_body, lowered, run, run_body
from tritium.errors import TritiumError
from tritium.frontend import JitCallable, constexpr_function
from tritium.ops.handles import Tensor, constexpr

HELPERS = """
    @jit
    def add(a, b=2, *, c: tl.constexpr = 3):
        return a + b * 10 + c * 100

    @jit
    def total(first, *rest):
        for v in rest:
            first += v
        return first + len(rest) * 1000
"""


def call(expression: str, *args: int, **constants: object) -> int:
    params = "".join(f", {name}" for name in constants)
    kernel = define(
        f"{HELPERS}\n    @jit\n    def kernel(out, n{params}):\n        tl.store(out, {expression})\n"
    )
    return run(lowered(kernel, **constants).function, *args)[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("add(1)", 321),
        ("add(1, 4)", 341),
        ("add(b=1, a=n)", 315),
        ("add(n, c=1)", 125),
        ("add(*(n, 3))", 335),
        ("total(n)", 5),
        ("total(n, 1, 2)", 2008),
        ("total(*(1, n), *[2])", 2008),
    ],
)
def test_arguments_are_bound_as_in_python(expression: str, expected: int) -> None:
    assert call(expression, 5) == expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("add()", "`a` is missing"),
        ("add(1, 2, 3)", "it takes at most 2 arguments, and 3 are given"),
        ("add(1, a=2)", "`a` is given twice"),
        ("add(1, d=2)", "it has no parameter `d`"),
        ("tl.arange(0)", "`end` is missing"),
        ("tl.arange(0, 8, 2)", "it takes at most 2 arguments, and 3 are given"),
        ("tl.arange(0, 8, strat=2)", "it has no parameter `strat`; did you mean `start`?"),
        ("tl.arange(0, 8, end=9)", "`end` is given twice"),
        ("tl.zeros((4,)).to()", "`dtype` is missing"),
    ],
)
def test_calls_that_do_not_fit(expression: str, problem: str) -> None:
    with pytest.raises(TritiumError) as caught:
        call(expression)
    assert caught.value.code == "TRI0601"
    assert problem in caught.value.message
    assert caught.value.loc is not None and caught.value.loc.function == "kernel"


def test_a_helper_is_inlined_with_the_place_of_the_call() -> None:
    kernel = define("""
        @jit
        def square(v):
            return v * v

        @jit
        def twice(v):
            return square(v) + square(v)

        @jit
        def kernel(out, n):
            tl.store(out, twice(n))
    """)
    function = lowered(kernel).function
    first, second = function.find(lambda op: op.name == "tile.mul")
    assert first.loc is not None and second.loc is not None
    assert [f.function for f in first.loc.frames()] == ["square", "twice", "kernel"]
    assert first.loc.caller != second.loc.caller
    assert run(function, 3)[0] == 18


def test_literals_stay_weak_through_a_call_and_are_typed_when_returned() -> None:
    kernel = define("""
        @jit
        def half(v):
            return v * 0.5

        @jit
        def one():
            return 1.5

        @jit
        def kernel(h, out):
            v = tl.load(h)
            tl.static_assert(half(v).dtype == tl.float16)
            tl.static_assert((v * one()).dtype == tl.float32)
    """)
    lowered(kernel)


def test_a_run_time_value_may_go_to_a_parameter_annotated_constexpr() -> None:
    kernel = define("""
        @jit
        def scaled(v, by: tl.constexpr):
            return v * by

        @jit
        def kernel(out, n):
            tl.store(out, scaled(n, n + 1))
    """)
    assert run(lowered(kernel).function, 4)[0] == 20


RECURSIVE = """
    @jit
    def power(v, N: tl.constexpr):
        if N == 0:
            return v * 0 + 1
        else:
            return power(v, N - 1) * v

    @jit
    def endless(v):
        if v > 1:
            return endless(v - 1)
        return v

    @jit
    def kernel(out, n, N):
        tl.store(out, {})
"""


def test_recursion_that_compile_time_arguments_end() -> None:
    assert run(lowered(define(RECURSIVE.format("power(n, N)")), N=5).function, 3)[0] == 243


@pytest.mark.parametrize(("expression", "code"), [("endless(n)", "TRI0103"), ("power(n, -1)", "TRI0109")])
def test_recursion_without_end(expression: str, code: str) -> None:
    with pytest.raises(TritiumError) as caught:
        lowered(define(RECURSIVE.format(expression)), N=1)
    assert caught.value.code == code
    assert expression.partition("(")[0] in caught.value.message


def test_functions_as_arguments_in_tuples_and_as_constants() -> None:
    kernel = define("""
        @jit
        def plus(a, b):
            return a + b

        @jit
        def times(a, b):
            return a * b

        @jit
        def fold(fn, items):
            first = items[0]
            for v in items[1:]:
                first = fn(first, v)
            return first

        @jit
        def kernel(out, n, OP):
            fns = (plus, times)
            tl.store(out, fold(fns[1], (n, 2, 3)))
            tl.store(out + 1, fold(OP, (n, 2, 3)))
            best = tl.maximum
            tl.store(out + 2, best(n, 7))
    """)
    plus = define("@jit\ndef plus(a, b):\n    return a + b\n", "plus")
    assert run(lowered(kernel, OP=plus).function, 4)[:3] == [24, 9, 7]


def test_a_combine_function_with_branches() -> None:
    kernel = define("""
        @jit
        def larger(a, b):
            if a > b:
                return a
            return b

        @jit
        def kernel(out, n):
            v = (tl.arange(0, 8) * 5 + n) % 8
            tl.store(out, tl.reduce(v, 0, larger))
            tl.store(out + tl.arange(0, 8), tl.associative_scan(v, 0, larger), mask=tl.arange(0, 8) > 0)
    """)
    v = [(i * 5 + 1) % 8 for i in range(8)]
    assert run(lowered(kernel).function, 1) == [max(v), *(max(v[: i + 1]) for i in range(1, 8))]


def test_compile_time_functions() -> None:
    @constexpr_function
    def halve(n: int) -> int:
        return n // 2

    kernel = define(
        "@jit\ndef kernel(out, n, W):\n    tl.store(out + tl.arange(0, halve(W)), n)\n", halve=halve
    )
    assert run(lowered(kernel, W=6).function, 1) == [1, 1, 1, -1, -1, -1, -1, -1]
    assert halve(9) == 4 and halve(constexpr(9)) == 4


def test_a_function_with_constexpr_above_it_runs_at_compile_time() -> None:
    @tl.constexpr
    def wider(dtype: object) -> object:
        return tl.float32 if dtype is tl.float16 else dtype

    kernel = define(
        "@jit\ndef kernel(h):\n    tl.static_assert(wider(h.dtype.element_ty) == tl.float32)\n", wider=wider
    )
    lowered(kernel)


def test_a_compile_time_function_that_raises() -> None:
    @constexpr_function
    def broken(n: int) -> int:
        raise ValueError("no such size")

    with pytest.raises(TritiumError, match="no such size") as caught:
        lowered(define("@jit\ndef kernel(out, W):\n    tl.store(out, broken(W))\n", broken=broken), W=6)
    assert caught.value.code == "TRI0509" and caught.value.loc is not None


def test_math_and_methods_of_constants() -> None:
    body = """
        tl.static_assert(math.ceil(W / 2) == 2)
        tl.static_assert(NAME.upper() == "AB")
        tl.static_assert(W.bit_length() == 2)
        tl.static_assert(n.dtype.is_int_signed())
        tl.store(out, n)
    """
    kernel = define("@jit\ndef kernel(out, n, W, NAME):" + body.replace("\n        ", "\n    "), math=math)
    lowered(kernel, W=3, NAME="ab")


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("plain(n)", "TRI0308", "plain"),
        ("sum((1, n))", "TRI0306", "sum"),
        ("open('x')", "TRI0306", "open"),
        ("n(1)", "TRI0311", "int32"),
        ("tl.float32.foo()", "TRI0307", "foo"),
        ("math.sqrt(n)", "TRI0501", "run-time"),
        ("math.sqrt(-1.0)", "TRI0508", "math domain error"),
        ("tl.static_range(n)", "TRI0505", "end"),
        ("add(**{})", "TRI0228", "**"),
        ("tl.advance(n, (1,))", "TRI0623", "advance"),
    ],
)
def test_what_cannot_be_called(body: str, code: str, words: str) -> None:
    def plain(v: int) -> int:
        return v

    with pytest.raises(TritiumError) as caught:
        lowered(define(f"@jit\ndef kernel(out, n):\n    {body}\n", math=math, plain=plain, add=plain))
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_function_of_the_language_outside_a_kernel() -> None:
    with pytest.raises(TritiumError) as caught:
        tl.arange(0, 8)
    assert caught.value.code == "TRI0312" and "tl.arange" in caught.value.message


def test_functions_that_programs_add_to_the_language() -> None:
    @tl.core.builtin
    def biased(x: Tensor, by: object, _semantic: object = None) -> object:
        return tl.add(x, by, _semantic=_semantic)

    kernel = define("@jit\ndef kernel(out, n):\n    tl.store(out, biased(n, 3))\n", biased=biased)
    assert run(lowered(kernel).function, 4)[0] == 7


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("max(n, 3)", 5),
        ("min(n, 3, 2)", 2),
        ("abs(-n)", 5),
        ("len((1, 2)) + len([n])", 3),
        ("int(7.9)", 7),
        ("round(2.6)", 3),
        ("pow(2, 5)", 32),
        ("min((4, 3, 9))", 3),
        ("max(range(5))", 4),
        ("list((1, n))[1]", 5),
        ("tl.constexpr(4) * 2", 8),
        ("tl.int32(n)", 5),
        ("getattr(n, 'missing', 9)", 9),
        ("1 if hasattr(n, 'dtype') else 0", 1),
        ("1 if isinstance(n, tl.tensor) else 0", 1),
        ("1 if isinstance(tl.float32, tl.dtype) else 0", 1),
        ("1 if isinstance((1, 2), tl.tuple) else 0", 1),
    ],
)
def test_built_in_functions(expression: str, expected: int) -> None:
    assert run_body(f"tl.store(out, {expression})", 5)[0] == expected


def test_float_of_a_run_time_value_says_what_to_do() -> None:
    with pytest.raises(TritiumError) as caught:
        lower_body("tl.store(out, float(n))")
    assert caught.value.code == "TRI0501" and ".to(tl.float32)" in (caught.value.hint or "")


def test_print_becomes_a_device_print() -> None:
    function = lower_body("print('n is', n)\nprint(n)\nbreakpoint()")
    assert [(op.name, op.attrs.get("prefix")) for op in function.body.ops[:3]] == [
        ("tile.print", "n is"),
        ("tile.print", ""),
        ("tile.breakpoint", None),
    ]


def test_assert_acts_in_debug_mode() -> None:
    from tritium.frontend import Signature, lower_kernel

    source = kernel_of("assert n > 0, 'positive'", "n").source
    signature = Signature.parse(["n"], {"n": "i32"})
    names = [[op.name for op in lower_kernel(source, signature, {"debug": d}).walk()] for d in (True, False)]
    assert "tile.assert" in names[0] and "tile.assert" not in names[1]


def test_a_lambda_is_a_kernel() -> None:
    kernel = JitCallable(lambda out, n: tl.store(out, n + 1))
    assert run(lowered(kernel).function, 4)[0] == 5


def test_static_assert_evaluates_its_message_only_when_needed() -> None:
    lower_body("tl.static_assert(True, f'{n}')\ntl.store(out, n)")
    with pytest.raises(TritiumError, match="W is 3") as caught:
        lower_body("tl.static_assert(W == 4, f'W is {W}')", "out, W", W=3)
    assert type(caught.value).__name__ == "CompileTimeAssertionFailure"


def test_static_print(capsys: pytest.CaptureFixture[str]) -> None:
    lower_body("tl.static_print('W', W, (W, 2), n.dtype, sep='|')", "out, n, W", W=3)
    assert capsys.readouterr().out == "W|3|(3, 2)|int32\n"
