"""Expressions: compile-time folding, operators, subscripts, text, names."""

from __future__ import annotations

import pytest

from tests.frontend.compiling import define, lower_body, lowered, run, run_body
from tritium.errors import TritiumError
from tritium.ir.types import float16, float32, int32
from tritium.ops.create import Constant


def stored(expression: str, n: int = 5, **constants: object) -> int:
    params = "out, n" + "".join(f", {name}" for name in constants)
    return run_body(f"tl.store(out, {expression})", n, params=params, **constants)[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-7 // 2", -4),
        ("-7 % 2", 1),
        ("2 ** 5 + (1 << 3) - (9 >> 1)", 36),
        ("(W - 10) // 4", -2),
        ("~W & 15", 12),
        ("int(7 / 2)", 3),
        ("1 if 2 < W < 4 else 0", 1),
        ("1 if W in (1, 2) else 2", 2),
        ("1 if 'a' not in 'bc' else 2", 1),
        ("(0 or W) + (W and 5)", 8),
        ("1 if W is not None and not None else 0", 1),
        ("len(f'{W:03d}{W!r}x')", 5),
        ("(1, 2)[W - 2] + [4, 5][-1]", 7),
        ("(W,) * 3 == (3, 3, 3)", 1),
        ("len((1, 2) + (3,))", 3),
        ("[i * i for i in (1, 2, W)][2]", 9),
        ("[i for i in range(4)][3]", 3),
        ("(w := W + 1) + w", 8),
    ],
)
def test_compile_time_values_follow_python(expression: str, expected: int) -> None:
    assert stored(expression, W=3) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-n // 2", -2),
        ("-n % 2", -1),
        ("n + 1 * 2 - 3", 4),
        ("3 if 4 < n < 6 else 0", 3),
        ("3 if 4 < n < 5 else 0", 0),
        ("(1 < 2 < n).to(tl.int32)", 1),
        ("(2 < 1 < n)", 0),
        ("1 if (n > 3 and n < 9) or n == 77 else 0", 1),
        ("1 if not n > 3 else 0", 0),
        ("(n, 7)[0] + (n, 7)[1]", 12),
        ("1 if (n, 7) == (5, 7) else 0", 1),
        ("1 if (n, 7) != (5, 7) else 0", 0),
        ("1 if n is n else 0", 1),
        ("1 if n is None else 0", 0),
        ("(w := n * 2) + w", 20),
        ("tl.arange(0, 8)[3] + tl.arange(0, 8)[n]", 8),
        ("tl.sum(tl.arange(0, 8)[2:8:2])", 12),
        ("len(tl.zeros((4, 8), tl.int32))", 4),
        ("tl.arange(0, 8).numel", 8),
        ("tl.trans(tl.zeros((2, 4), tl.int32)).shape[0]", 4),
        ("tl.zeros((2, 4), tl.int32).T.shape[0]", 4),
    ],
)
def test_run_time_values(expression: str, expected: int) -> None:
    assert stored(expression) == expected


def test_an_assigned_literal_is_typed_and_a_constexpr_is_not() -> None:
    f = lower_body(
        """
        h1 = tl.load(h)
        lit = 1.5
        C: tl.constexpr = 1.5
        tl.static_assert((h1 * 1.5).dtype == tl.float16)
        tl.static_assert((h1 * C).dtype == tl.float16)
        tl.static_assert((h1 * W).dtype == tl.float16)
        tl.static_assert((h1 * lit).dtype == tl.float32)
        """,
        "h, W",
        W=2.0,
    )
    assert {c.type for c in f.find(Constant)} >= {float16, float32}


def test_an_assigned_literal_may_still_be_a_shape() -> None:
    assert run_body("k = 4\nshape = (k, 2)\ntl.store(out, tl.sum(tl.full(shape, 1, tl.int32)))", 0)[0] == 8


def test_a_comparison_evaluates_its_middle_once() -> None:
    f = lower_body("t = 0 < tl.load(out) < 9\ntl.store(out, t)")
    assert len([op for op in f.walk() if op.name == "tile.load"]) == 1


def test_compile_time_operands_decide_before_the_rest_is_looked_at() -> None:
    f = lower_body(
        "a = False and nonsense\nb = True or nonsense\nc = None is not None and nonsense.x\ntl.store(out, n)"
    )
    assert run(f, 3)[0] == 3


def test_a_long_sum() -> None:
    assert stored(" + ".join(["n"] * 900), 2) == 1800


def test_augmented_assignment_of_every_operator() -> None:
    body = "v = n\n" + "\n".join(f"v {op}= 3" for op in ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))
    expected = 8
    for step in (lambda v: v + 3, lambda v: v - 3, lambda v: v * 3, lambda v: v // 3, lambda v: v % 3, lambda v: v & 3,
                 lambda v: v | 3, lambda v: v ^ 3, lambda v: v << 3, lambda v: v >> 3):  # fmt: skip
        expected = step(expected)
    assert run_body(body + "\ntl.store(out, v)", 8)[0] == expected


def test_values_keep_the_names_of_variables() -> None:
    f = lower_body("base = n * 2\npair = (n + 1, n + 2)\ntl.store(out, base + pair[0] + pair[1])")
    assert {op.results[0].name for op in f.body.ops if op.results} >= {"base", "pair.0", "pair.1"}


def test_ops_carry_the_place_of_their_expression() -> None:
    f = lower_body("v = n + 1\ntl.store(out + 0, v * 2)")
    places = {op.name: (op.loc.line, op.loc.col, op.loc.end_col) for op in f.body.ops if op.loc}
    assert places["tile.mul"] == (3, 22, 27)
    assert places["tile.store"] == (3, 4, 28)


@pytest.mark.parametrize(
    ("body", "code", "line", "text"),
    [
        ("tl.store(out, valve)", "TRI0301", 2, "valve"),
        ("value = 1\ntl.store(out, valeu)", "TRI0301", 3, "did you mean `value`?"),
        ("tl.store(out, tl.minimun(n, 1))", "TRI0302", 2, "did you mean `minimum`?"),
        ("tl.store(out, n.summ())", "TRI0307", 2, "did you mean `sum`?"),
        ("tl.store(out, value)\nvalue = 1", "TRI0310", 2, "value"),
        ("if n > 0:\n    y = 1\ntl.store(out, y)", "TRI0303", 4, "line 2 is true"),
        ("if n > 0:\n    pass\nelse:\n    y = 1\ntl.store(out, y)", "TRI0303", 6, "line 2 is false"),
        ("for i in range(n):\n    y = 1\ntl.store(out, y)", "TRI0304", 4, "line 2"),
        ("acc = 0\nfor i in range(n):\n    acc += 1.5", "TRI0441", 4, "enters the loop as int32"),
        ("y = 1\nif n > 0:\n    y = 1.5", "TRI0440", 4, "fp32"),
        ("y = (1, n)\nif n > 0:\n    y = (1.0, n)", "TRI0440", 4, "a tuple of fp32, int32"),
        ("if tl.arange(0, 8) > n:\n    pass", "TRI0444", 2, "[8]"),
        ("while n:\n    pass", "TRI0445", 2, "int32"),
        ("if 'text':\n    pass", "TRI0446", 2, "text"),
        ("for i in range(1.5):\n    pass", "TRI0447", 2, "stop"),
        ("for i in range(0, n, 0):\n    pass", "TRI0448", 2, "0"),
        ("for i in n:\n    pass", "TRI0210", 2, "int32"),
        ("a, b = (1, 2, 3)", "TRI0420", 2, "3 values"),
        ("a, b = n", "TRI0420", 2, "int32"),
        ("a, *b = (1, 2)", "TRI0212", 2, "starred"),
        ("n[0] = 1", "TRI0211", 2, "an element"),
        ("n.x += 1", "TRI0211", 2, "an attribute"),
        ("C: tl.constexpr = 1\nC: tl.constexpr = 2", "TRI0507", 3, "C"),
        ("C: tl.constexpr = 1\nfor i in range(n):\n    C = C + i", "TRI0507", 4, "C"),
        ("x = 1 if n > 0 else 1.5", "TRI0443", 2, "fp32"),
        ("x = n in (1, 2)", "TRI0225", 2, "in"),
        ("x = (1, 2)[2]", "TRI0419", 2, "length 2"),
        ("x = (1, 2)[n]", "TRI0501", 2, "run-time"),
        ("x = 1 // 0", "TRI0508", 2, "ZeroDivisionError"),
        ("x = 'a' + 1", "TRI0508", 2, "TypeError"),
        ("x = n + 'a'", "TRI0401", 2, "'a'"),
        ("x = n + (1, 2)", "TRI0401", 2, "a tuple of"),
        ("x = (n, 1) - (1, 2)", "TRI0401", 2, "-"),
        ("x = f'{n}'", "TRI0227", 2, "n"),
        ("x = lambda v: v", "TRI0221", 2, "lambda"),
        ("x = {1: 2}", "TRI0223", 2, "dicts"),
        ("x = [i for i in (1, 2) if i]", "TRI0224", 2, "conditions"),
        ("x = [i for i in (1, 2) for j in (1, 2)]", "TRI0224", 2, "several"),
        ("x = (i for i in (1, 2))", "TRI0224", 2, "generator"),
        ("x = (yield n)", "TRI0222", 2, "yield"),
        ("yield n", "TRI0222", 2, "yield"),
        ("x = 1j", "TRI0229", 2, "complex"),
        ("x = b'a'", "TRI0229", 2, "bytes"),
        ("while (v := n) > 1:\n    pass", "TRI0220", 2, ":="),
        ("try:\n    pass\nfinally:\n    pass", "TRI0202", 2, "try"),
        ("with n:\n    pass", "TRI0203", 2, "with n"),
        ("class A:\n    pass", "TRI0204", 2, "class"),
        ("global g\ng = 1", "TRI0205", 2, "global"),
        ("def g():\n    pass", "TRI0206", 2, "g"),
        ("import math", "TRI0207", 2, "import"),
        ("from math import pi", "TRI0207", 2, "import"),
        ("del n", "TRI0208", 2, "del"),
        ("for i in range(n):\n    pass\nelse:\n    pass", "TRI0209", 2, "for"),
        ("raise ValueError('no')", "TRI0213", 2, "ValueError('no')"),
        ("match n:\n    case 1:\n        pass", "TRI0214", 2, "match"),
    ],
)
def test_errors_name_the_place(body: str, code: str, line: int, text: str) -> None:
    with pytest.raises(TritiumError) as caught:
        lower_body(body)
    error = caught.value
    assert error.code == code, str(error)
    assert error.loc is not None and error.loc.line == line, str(error)
    assert error.loc.from_def()[0] == line
    assert text in str(error)
    assert error.hint


def test_an_error_in_a_helper_names_the_calls_that_led_there() -> None:
    kernel = define("""
        @jit
        def inner(v):
            return v.nothing

        @jit
        def kernel(out, n):
            tl.store(out, inner(n))
    """)
    with pytest.raises(TritiumError) as caught:
        lowered(kernel)
    assert caught.value.loc is not None
    assert [(f.function, f.line) for f in caught.value.loc.frames()] == [("inner", 4), ("kernel", 8)]


def test_a_fault_of_the_compiler_is_located(monkeypatch: pytest.MonkeyPatch) -> None:
    from tritium.ops.surface import SURFACES

    def broken(s: object, *args: object) -> object:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(SURFACES["tl.arange"], "fn", broken)
    with pytest.raises(TritiumError, match="ZeroDivisionError: inside") as caught:
        lower_body("v = n\nx = tl.arange(0, 8)")
    assert caught.value.code == "TRI0912"
    assert caught.value.loc is not None and caught.value.loc.line == 3
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_types_can_be_compared_and_asked() -> None:
    lower_body(
        """
        v = tl.load(h + tl.arange(0, 4))
        tl.static_assert(v.dtype == tl.float16 and h.dtype.element_ty is tl.float16)
        tl.static_assert(v.type == tl.block_type(tl.float16, [4]))
        tl.static_assert(h.dtype == tl.pointer_type(tl.float16))
        tl.static_assert(v.shape == (4,) and v.shape[0] == 4 and v.numel.value == 4)
        tl.static_assert(tl.core.get_int_dtype(16, signed=False) == tl.uint16)
        """,
        "h",
    )


def test_annotations_other_than_constexpr_change_nothing() -> None:
    f = lower_body("v: tl.int64 = 3\nw: tl.int32\ntl.static_assert(v.dtype == tl.int32)\ntl.store(out, v)")
    assert f.find(Constant)[0].type is int32
