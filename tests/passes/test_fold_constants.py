"""Constant folding computes what the program would, and leaves what it must not touch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.checklines import check
from tests.passes.transform import after, body, parse, shown
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ops.create import Constant
from tritium.passes.fold_constants import MAX_FOLDED_ELEMENTS, RULES, constant_of, is_constant, uniform_number


def fold(function: Function, record: Record) -> bool:
    return bool(RULES.apply(function))


def folded(expression: str, ty: str, *constants: str) -> str:
    """The value that an expression of constants ``%0``, ``%1``... becomes, as text."""
    lines = [f"  %a{i} = {c}" for i, c in enumerate(constants)]
    operands = ", ".join(f"%a{i}" for i in range(len(constants)))
    lines.append(f"  %r = {expression.replace('()', f'({operands})', 1)} : {ty}")
    lines.append(f"  %q = tile.addptr(%p, %n) : ptr<{ty}>\n  tile.store(%q, %r, _)")
    text = after(fold, body("\n".join(lines), f"%p: ptr<{ty}>, %n: i32"))
    (line,) = [line for line in text.splitlines() if line.strip().startswith("%r =")]
    return line.partition(" = ")[2]


def constant(value: str, ty: str) -> str:
    return f"tile.constant() {{value = {value}, type = !{ty}}} : {ty}"


@pytest.mark.parametrize(
    "expression, ty, operands, value",
    [
        ("tile.add()", "i32", ("$i32 2147483647", "$i32 1"), "-2147483648"),
        ("tile.mul()", "i8", ("$i8 100", "$i8 3"), "44"),
        ("tile.sub()", "u32", ("$u32 0", "$u32 1"), "4294967295"),
        ("tile.mul()", "i64", ("$i64 4611686018427387904", "$i64 2"), "-9223372036854775808"),
        ("tile.add()", "i1", ("$i1 true", "$i1 true"), "false"),
        ("tile.idiv()", "i32", ("$i32 -7", "$i32 2"), "-3"),
        ("tile.rem()", "i32", ("$i32 -7", "$i32 2"), "-1"),
        ("tile.idiv()", "i32", ("$i32 -2147483648", "$i32 -1"), "-2147483648"),
        ("tile.shl()", "i32", ("$i32 1", "$i32 32"), "0"),
        ("tile.shr()", "i32", ("$i32 -8", "$i32 40"), "-1"),
        ("tile.umulhi()", "u32", ("$u32 2147483648", "$u32 6"), "3"),
        ("tile.xor()", "i16", ("$i16 -1", "$i16 255"), "-256"),
        ("tile.mul()", "u64", ("$u64 18446744073709551615", "$u64 18446744073709551615"), "1"),
        ("tile.add()", "f32", ("$f32 0.1", "$f32 0.2"), repr(float(np.float32(0.1) + np.float32(0.2)))),
        ("tile.add()", "f32", ("$f32 -0.0", "$f32 -0.0"), "-0.0"),
        ("tile.add()", "f32", ("$f32 0.0", "$f32 -0.0"), "0.0"),
        ("tile.mul()", "f32", ("$f32 -1.0", "$f32 0.0"), "-0.0"),
        ("tile.div()", "f32", ("$f32 1.0", "$f32 -0.0"), "-inf"),
        ("tile.mul()", "f32", ("$f32 3e38", "$f32 10.0"), "inf"),
        ("tile.add()", "f16", ("$f16 2048.0", "$f16 1.0"), "2048.0"),
        ("tile.mul()", "f64", ("$f64 0.1", "$f64 0.1"), repr(0.1 * 0.1)),
        ("tile.mul()", "f32", ("$f32 1e-30", "$f32 1e-30"), "0.0"),
        (
            "tile.mul()",
            "f32",
            ("$f32 1e-30", "$f32 1e-15"),
            repr(float(np.float32(1e-30) * np.float32(1e-15))),
        ),
    ],
)
def test_arithmetic_is_the_programs_own(
    expression: str, ty: str, operands: tuple[str, ...], value: str
) -> None:
    assert folded(expression, ty, *operands) == constant(value, ty)


@pytest.mark.parametrize(
    "expression, ty, operands, value",
    [
        ("tile.cast() {to = !i8}", "i8", ("$i32 300",), "44"),
        ("tile.cast() {to = !i32}", "i32", ("$f32 1e20",), "2147483647"),
        ("tile.cast() {to = !f32}", "f32", ("$i32 16777217",), "16777216.0"),
        ("tile.cast() {to = !bf16}", "bf16", ("$f32 1.00390625",), "1.0"),
        ("tile.cast() {to = !f8e5}", "f8e5", ("$f32 0.3",), "0.3125"),
        ("tile.lt()", "i1", ("$i32 -1", "$i32 1"), "true"),
        ("tile.lt()", "i1", ("$u32 4294967295", "$u32 1"), "false"),
        ("tile.bitcast() {to = !i32}", "i32", ("$f32 -0.0",), "-2147483648"),
        ("tile.select()", "i32", ("$i1 false", "$i32 1", "$i32 2"), "2"),
        ("tile.broadcast() {shape = (3, 5)}", "tile<3x5xi32>", ("$i32 7",), "7"),
        ("tile.expand_dims() {axis = 1}", "tile<3x1xi32>", ("$tile<3xi32> 7",), "7"),
        ("tile.exp()", "f32", ("$f32 0.0",), "1.0"),
    ],
)
def test_other_pure_ops(expression: str, ty: str, operands: tuple[str, ...], value: str) -> None:
    stored = ty if not ty.startswith("tile") else None
    if stored is not None:
        assert folded(expression, ty, *operands) == constant(value, ty)
        return
    lines = f"  %a0 = {operands[0]}\n  %r = {expression.replace('()', '(%a0)')} : {ty}\n  %s = tile.add(%r, %t) : {ty}"
    text = after(fold, body(lines, f"%t: {ty}"))
    assert constant(value, ty) in text


@pytest.mark.parametrize(
    "expression, ty, operands",
    [
        ("tile.div()", "f32", ("$f32 0.0", "$f32 0.0")),
        ("tile.sub()", "f32", ("$f32 inf", "$f32 inf")),
        ("tile.mul()", "f16", ("$f16 inf", "$f16 0.0")),
        ("tile.add()", "f32", ("$f32 nan", "$f32 1.0")),
        ("tile.bitcast() {to = !f32}", "f32", ("$i32 2143289345",)),
        ("tile.sqrt()", "f64", ("$f64 -1.0",)),
    ],
)
def test_a_nan_is_never_folded_for_it_has_a_payload(
    expression: str, ty: str, operands: tuple[str, ...]
) -> None:
    assert folded(expression, ty, *operands).startswith(expression.split("(")[0])


def test_a_value_that_is_not_uniform_stays() -> None:
    lines = """
  %c2 = $tile<4xi32> 2
  %r = tile.arange() {start = 0, end = 4} : tile<4xi32>
  %one = tile.arange() {start = 3, end = 4} : tile<1xi32>
  %s = tile.add(%r, %c2) : tile<4xi32>
  %j = tile.join(%c2, %c2) : tile<4x2xi32>
"""
    check(
        after(fold, body(lines)),
        """
        CHECK: %r = tile.arange() {start = 0, end = 4}
        CHECK: %one = tile.arange() {start = 3, end = 4}
        CHECK: %s = tile.add(%r, %c2)
        CHECK: %j = tile.constant() {value = 2, type = !tile<4x2xi32>}
        """,
    )


def test_ops_that_need_the_machine_stay() -> None:
    lines = """
  %c0 = $i32 0
  %c1 = $i32 1
  %pid = tile.program_id() {axis = 0} : i32
  %q = tile.addptr(%p, %c0) : ptr<i32>
  %old = tile.atomic_rmw(%q, %c1, _) {kind = "add"} : i32
  %t = $tile<4xi32> 1
  %x = tile.extract(%t, [%c0]) {axes = (0,)} : i32
  %undefined = tile.poison() {type = !i32} : i32
  tile.store(%q, %x, _)
"""
    text = after(fold, body(lines))
    for kept in ("program_id", "addptr", "atomic_rmw", "extract", "poison"):
        assert f"tile.{kept}(" in text


def test_folding_goes_on_inside_loops_and_branches() -> None:
    lines = """
  %c0 = $i32 0
  %c2 = $i32 2
  %r = tile.for(%c0, %n, %c2, [%c0]) : i32 {
  ^(%i: i32, %acc: i32):
    %four = tile.mul(%c2, %c2) : i32
    %chosen = tile.if(%c) : i32 {
      %eight = tile.add(%four, %four) : i32
      tile.yield([%eight])
    } {
      tile.yield([%acc])
    }
    tile.yield([%chosen])
  }
  tile.store(%p, %r, _)
"""
    check(
        after(fold, body(lines)),
        """
        CHECK: tile.for
        CHECK: %four = tile.constant() {value = 4, type = !i32}
        CHECK: tile.if(%c)
        CHECK: %eight = tile.constant() {value = 8, type = !i32}
        CHECK-NEXT: tile.yield([%eight])
        CHECK-NOT: tile.mul
        """,
    )


def test_large_tiles_are_not_evaluated_but_large_splats_are() -> None:
    large, ok = MAX_FOLDED_ELEMENTS + 1, MAX_FOLDED_ELEMENTS
    lines = f"""
  %c = $i32 1
  %a = tile.broadcast(%c) {{shape = ({large},)}} : tile<{large}xi32>
  %b = tile.add(%a, %a) : tile<{large}xi32>
  %d = tile.broadcast(%c) {{shape = ({ok},)}} : tile<{ok}xi32>
  %e = tile.add(%d, %d) : tile<{ok}xi32>
"""
    check(
        after(fold, body(lines, "%n: i32")),
        f"""
        CHECK: %a = tile.constant() {{value = 1
        CHECK: %b = tile.add
        CHECK: %e = tile.constant() {{value = 2, type = !tile<{ok}xi32>}}
        """,
    )


def test_the_location_and_the_name_stay() -> None:
    function = parse(
        body(
            '  %four = $i32 4\n  %r = tile.add(%four, %four) : i32 loc("k.py":7:0:0:0 "k")\n  tile.store(%p, %r, _)'
        )
    )
    RULES.apply(function)
    made = function.find(Constant)[-1]
    assert made.loc is not None and made.loc.line == 7 and made.result.name == "r"
    assert "%r = tile.constant() {value = 8" in shown(function)


def test_uniform_number_is_exact() -> None:
    assert uniform_number(np.zeros((2, 3), np.float32)) == 0.0
    assert uniform_number(np.array([0.0, -0.0], np.float32)) is None
    assert math.copysign(1, uniform_number(np.array([-0.0, -0.0]))) == -1
    assert uniform_number(np.full(3, np.nan, np.float32)) is None
    assert uniform_number(np.full((1, 1), 2**64 - 1, np.uint64)) == 2**64 - 1
    assert uniform_number(np.array([True, True])) is True
    assert type(uniform_number(np.ones(2, np.int8))) is int


def test_is_constant_tells_zeros_and_kinds_apart() -> None:
    function = parse(
        body(
            "  %a = $f32 0.0\n  %b = $f32 -0.0\n  %z = $i32 0\n  %nan = $f32 nan\n  %t = $i1 true\n  %m = $i64 -1\n  tile.store(%p, %n, _)"
        )
    )
    plus, minus, zero, nan, true, minus_one = (op.result for op in function.find(Constant))
    assert is_constant(plus, 0.0) and not is_constant(plus, -0.0)
    assert is_constant(minus, -0.0) and not is_constant(minus, 0.0)
    assert is_constant(zero, 0) and not is_constant(zero, 1)
    assert not is_constant(nan, math.nan) and not is_constant(nan, 0.0)
    assert is_constant(true, 1) and constant_of(true) is True
    assert is_constant(minus_one, -1) and not is_constant(minus_one, 1)
    assert constant_of(function.args[1]) is None and not is_constant(function.args[1], 0)
