"""Each rule of the canonical form fires where it is sound, inside loops and branches as well, and nowhere else.

Longer than 600 lines: one table, a positive and the negative cases of every rule, side by side.
"""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body, parse, within_loop
from tritium.ir.match import Record
from tritium.ops.control import For
from tritium.passes.canonicalize import run, trip_count


def simplified(lines: str, parameters: str = "", place: str = "straight") -> str:
    """What becomes of lines that end by storing ``%r``."""
    full = "%p: ptr<i32>, %n: i32, %c: i1" + (f", {parameters}" if parameters else "")
    return after(run, body(lines if place == "straight" else within_loop(lines), full))


def stored(lines: str, ty: str, parameters: str, place: str = "straight") -> str:
    """The definition of what is stored through ``%q`` in the end, or its name if that is a parameter."""
    text = simplified(f"{lines}\n  tile.store(%q, %r, _)", f"%q: ptr<{ty}>, {parameters}", place)
    (store,) = [line for line in text.splitlines() if "tile.store(" in line]
    name = store.split("(%q, ")[1].split(",")[0]
    defined = [line.strip() for line in text.splitlines() if line.strip().startswith(f"{name} = ")]
    return defined[0].partition(" = ")[2] if defined else name


PLACES = pytest.mark.parametrize("place", ["straight", "in a loop"])


# ---- algebra -----------------------------------------------------------------------------------------


@PLACES
@pytest.mark.parametrize(
    "expression, ty, constant",
    [
        ("tile.add(%x, %k)", "i32", "$i32 0"),
        ("tile.add(%k, %x)", "i32", "$i32 0"),
        ("tile.sub(%x, %k)", "i64", "$i64 0"),
        ("tile.mul(%x, %k)", "u8", "$u8 1"),
        ("tile.mul(%k, %x)", "i32", "$i32 1"),
        ("tile.idiv(%x, %k)", "i32", "$i32 1"),
        ("tile.and(%x, %k)", "i32", "$i32 -1"),
        ("tile.and(%k, %x)", "u16", "$u16 65535"),
        ("tile.and(%x, %k)", "i1", "$i1 true"),
        ("tile.or(%x, %k)", "i1", "$i1 false"),
        ("tile.xor(%x, %k)", "i64", "$i64 0"),
        ("tile.shl(%x, %k)", "i32", "$i32 0"),
        ("tile.shr(%x, %k)", "u32", "$u32 0"),
        ("tile.maximum(%x, %k)", "i32", "$i32 -2147483648"),
        ("tile.minimum(%k, %x)", "u32", "$u32 4294967295"),
        ("tile.add(%x, %k)", "f32", "$f32 -0.0"),
        ("tile.add(%k, %x)", "f64", "$f64 -0.0"),
        ("tile.sub(%x, %k)", "f32", "$f32 0.0"),
        ("tile.mul(%x, %k)", "f32", "$f32 1.0"),
        ("tile.mul(%k, %x)", "bf16", "$bf16 1.0"),
        ("tile.div(%x, %k)", "f16", "$f16 1.0"),
        ("tile.and(%x, %x)", "i32", "$i32 3"),
        ("tile.or(%x, %x)", "i32", "$i32 3"),
        ("tile.maximum(%x, %x)", "f32", "$f32 3.0"),
        ("tile.cast(%x) {to = !i32}", "i32", "$i32 3"),
        ("tile.select(%c, %x, %x)", "f32", "$f32 3.0"),
        ("tile.select(%yes, %x, %k)", "i32", "$i32 3"),
        ("tile.select(%no, %k, %x)", "i32", "$i32 3"),
    ],
)
def test_identities(expression: str, ty: str, constant: str, place: str) -> None:
    lines = f"  %yes = $i1 true\n  %no = $i1 false\n  %k = {constant}\n  %r = {expression} : {ty}"
    assert stored(lines, ty, f"%x: {ty}", place) == "%x"


@PLACES
@pytest.mark.parametrize(
    "expression, ty, constant",
    [
        ("tile.mul(%x, %k)", "i32", "0"),
        ("tile.mul(%k, %x)", "u64", "0"),
        ("tile.and(%x, %k)", "i16", "0"),
        ("tile.and(%k, %x)", "i1", "false"),
        ("tile.or(%x, %k)", "i32", "-1"),
        ("tile.or(%x, %k)", "i1", "true"),
        ("tile.idiv(%x, %k)", "i32", "0"),
        ("tile.umulhi(%x, %k)", "u32", "0"),
        ("tile.maximum(%x, %k)", "i8", "127"),
        ("tile.minimum(%k, %x)", "u8", "0"),
    ],
)
def test_absorbing_elements(expression: str, ty: str, constant: str, place: str) -> None:
    lines = f"  %k = ${ty} {constant}\n  %r = {expression} : {ty}"
    assert (
        stored(lines, ty, f"%x: {ty}", place)
        == f"tile.constant() {{value = {constant}, type = !{ty}}} : {ty}"
    )


@pytest.mark.parametrize(
    "expression, ty, constant, reason",
    [
        ("tile.add(%x, %k)", "f32", "0.0", "-0.0 + 0.0 is 0.0"),
        ("tile.add(%k, %x)", "f32", "0.0", "-0.0 + 0.0 is 0.0"),
        ("tile.sub(%x, %k)", "f32", "-0.0", "-0.0 - -0.0 is 0.0"),
        ("tile.sub(%k, %x)", "f32", "0.0", "0.0 - x changes the sign"),
        ("tile.sub(%k, %x)", "i32", "0", "0 - x changes the sign"),
        ("tile.sub(%x, %x)", "f32", "1.0", "inf - inf is NaN"),
        ("tile.mul(%x, %k)", "f32", "0.0", "NaN, infinities and the sign of zero"),
        ("tile.mul(%x, %k)", "f16", "-0.0", "NaN, infinities and the sign of zero"),
        ("tile.mul(%x, %k)", "f8e4nv", "1.0", "8-bit floats saturate"),
        ("tile.add(%x, %k)", "f8e5", "-0.0", "8-bit floats saturate"),
        ("tile.div(%x, %x)", "f32", "1.0", "0/0 and inf/inf are NaN"),
        ("tile.div(%k, %x)", "f32", "1.0", "that is the reciprocal"),
        ("tile.div(%k, %x)", "f32", "0.0", "0/0 is NaN"),
        ("tile.idiv(%k, %x)", "i32", "1", "that is no identity"),
        ("tile.idiv(%x, %x)", "i32", "1", "0 // 0 is 0"),
        ("tile.rem(%x, %k)", "i32", "0", "x % 0 is x, which is no zero"),
        ("tile.rem(%x, %x)", "i32", "1", "0 % 0 is 0, which nobody needs"),
        ("tile.shl(%k, %x)", "i32", "0", "only the right operand is a unit"),
        ("tile.maximum(%x, %k)", "f32", "-inf", "a NaN gives way to -inf"),
        ("tile.minimum(%x, %k)", "f32", "inf", "a NaN gives way to inf"),
        ("tile.maximum(%x, %k)", "i32", "0", "0 is not the smallest integer"),
        ("tile.maximum(%x, %k)", "f32", "0.0", "0 is not the smallest number"),
        ("tile.xor(%x, %k)", "i32", "-1", "that flips every bit"),
        ("tile.xor(%x, %x)", "i32", "1", "that is no identity of one operand"),
        ("tile.and(%x, %k)", "i32", "1", "one bit is not all bits"),
        ("tile.and(%x, %k)", "u8", "1", "one bit is not all bits"),
        ("tile.add(%x, %k)", "i1", "true", "that is a negation"),
        ("tile.cast(%x) {to = !f32}", "f16", "1.0", "another type"),
        ("tile.select(%c, %x, %k)", "f32", "0.0", "the condition is not known"),
    ],
)
def test_what_is_no_identity_stays(expression: str, ty: str, constant: str, reason: str) -> None:
    result = "f32" if "!f32" in expression else ty
    lines = f"  %k = ${ty} {constant}\n  %r = {expression} : {result}"
    assert stored(lines, result, f"%x: {ty}").startswith(expression.partition("(")[0]), reason


@PLACES
@pytest.mark.parametrize(
    "relation, known",
    [("eq", "true"), ("le", "true"), ("ge", "true"), ("ne", "false"), ("lt", "false"), ("gt", "false")],
)
def test_an_integer_compared_with_itself(relation: str, known: str, place: str) -> None:
    lines = f"  %r = tile.{relation}(%x, %x) : i1"
    assert stored(lines, "i1", "%x: u32", place) == f"tile.constant() {{value = {known}, type = !i1}} : i1"
    assert stored(lines, "i1", "%x: f32", place) == f"tile.{relation}(%x, %x) : i1"


def test_a_sum_of_negative_zeros_is_only_dropped_as_a_whole() -> None:
    lines = "  %k = $tile<4xf32> -0.0\n  %r = tile.add(%x, %k) : tile<4xf32>\n  %u = tile.mul(%r, %x) : tile<4xf32>"
    check(simplified(lines, "%x: tile<4xf32>"), "CHECK: %u = tile.mul(%x, %x)\nCHECK-NOT: tile.add")


def test_a_pointer_moved_by_nothing() -> None:
    lines = """
  %zero = $i64 0
  %r = tile.addptr(%p, %zero) : ptr<i32>
  tile.store(%r, %n, _)
  %one = $i64 1
  %s = tile.addptr(%p, %one) : ptr<i32>
  tile.store(%s, %n, _)
"""
    check(
        simplified(lines),
        "CHECK: tile.store(%p, %n, _)\nCHECK: %s = tile.addptr\nCHECK: tile.store(%s, %n, _)",
    )


# ---- shapes ------------------------------------------------------------------------------------------


def test_broadcasts() -> None:
    lines = """
  %same = tile.broadcast(%t) {shape = (1, 4)} : tile<1x4xi32>
  %a = tile.broadcast(%n) {shape = (1, 4)} : tile<1x4xi32>
  %b = tile.broadcast(%a) {shape = (8, 4)} : tile<8x4xi32>
  %d = tile.broadcast(%same) {shape = (8, 4)} : tile<8x4xi32>
  %e = tile.add(%b, %d) : tile<8x4xi32>
"""
    check(
        simplified(lines, "%t: tile<1x4xi32>"),
        """
        CHECK: %b = tile.broadcast(%n) {shape = (8, 4)}
        CHECK: %d = tile.broadcast(%t) {shape = (8, 4)}
        CHECK: tile.add(%b, %d)
        """,
    )


# ---- branches ----------------------------------------------------------------------------------------

BRANCH = """
  %k = $i1 {known}
  %r = tile.if(%k) : i32 {{
    %a = tile.add(%n, %n) : i32
    tile.store(%p, %a, _)
    tile.yield([%a])
  }} {{
    %b = tile.broadcast(%n) {{shape = (4,)}} : tile<4xi32>
    %w = tile.load(%p, _, _) : i32
    tile.yield([%w])
  }}
  tile.store(%p, %r, _)
"""


@PLACES
def test_a_known_branch_is_taken(place: str) -> None:
    check(
        simplified(BRANCH.format(known="true"), place=place),
        """
        CHECK-NOT: tile.if(%k)
        CHECK: %a = tile.add(%n, %n)
        CHECK-NEXT: tile.store(%p, %a, _)
        CHECK-NEXT: tile.store(%p, %a, _)
        CHECK-NOT: tile.load
        """,
    )
    check(
        simplified(BRANCH.format(known="false"), place=place),
        "CHECK-NOT: tile.add\nCHECK: %w = tile.load(%p, _, _)\nCHECK-NEXT: tile.store(%p, %w, _)\nCHECK-NOT: tile.store",
    )


def test_an_unknown_branch_stays() -> None:
    check(
        simplified(
            "  %r = tile.if(%c) : i32 {\n tile.yield([%n])\n } {\n tile.yield([%m])\n }\n tile.store(%p, %r, _)",
            "%m: i32",
        ),
        "CHECK: %r = tile.if(%c)\nCHECK: tile.store(%p, %r, _)",
    )


@PLACES
def test_branches_that_yield_the_same(place: str) -> None:
    lines = """
  %r, %s, %t, %u = tile.if(%c) : i32, i32, f32, f32 {
    %a = $i32 5
    %z = $f32 0.0
    %y = $f32 1.0
    tile.yield([%n, %a, %z, %y])
  } {
    %b = $i32 5
    %w = $f32 -0.0
    %v = $f32 1.0
    tile.yield([%n, %b, %w, %v])
  }
  %x = tile.mul(%r, %s) : i32
  %y1 = tile.mul(%t, %u) : f32
  tile.store(%p, %x, _)
  tile.store(%q, %y1, _)
"""
    check(
        simplified(lines, "%q: ptr<f32>", place),
        """
        CHECK: %[[five:\\w+]] = tile.constant() {value = 5, type = !i32}
        CHECK: %[[one:\\w+]] = tile.constant() {value = 1.0, type = !f32}
        CHECK: tile.if(%c)
        CHECK: %x = tile.mul(%n, %[[five]])
        CHECK-NOT: tile.mul
        CHECK: tile.store(%q, %t, _)
        """,
    )


def test_the_two_zeros_are_not_the_same_value() -> None:
    lines = """
  %r = tile.if(%c) : f32 {
    %z = $f32 0.0
    tile.yield([%z])
  } {
    %w = $f32 -0.0
    tile.yield([%w])
  }
  tile.store(%q, %r, _)
"""
    check(simplified(lines, "%q: ptr<f32>"), "CHECK: %r = tile.if(%c)\nCHECK: tile.store(%q, %r, _)")


def test_values_computed_in_both_branches_are_not_taken_out() -> None:
    lines = """
  %r = tile.if(%c) : i32 {
    %a = tile.add(%n, %n) : i32
    tile.yield([%a])
  } {
    %b = tile.add(%n, %n) : i32
    tile.yield([%b])
  }
  tile.store(%p, %r, _)
"""
    check(simplified(lines), "CHECK: %r = tile.if(%c)\nCHECK: tile.store(%p, %r, _)")


# ---- counted loops -----------------------------------------------------------------------------------


def loop(lower: str, upper: str, step: str, ty: str = "i32") -> str:
    return f"""
  %lo = ${ty} {lower}
  %hi = ${ty} {upper}
  %st = ${ty} {step}
  %x = $i32 7
  %r = tile.for(%lo, %hi, %st, [%n]) : i32 {{
  ^(%i: {ty}, %acc: i32):
    %w = tile.load(%p, _, _) : i32
    %sum = tile.add(%acc, %w) : i32
    tile.store(%p, %sum, _)
    tile.yield([%sum])
  }}
  tile.store(%p, %r, _)
"""


@PLACES
@pytest.mark.parametrize(
    "bounds", [("0", "1", "1"), ("5", "8", "3"), ("5", "6", "100"), ("4", "3", "-1"), ("9", "0", "-9")]
)
def test_one_trip_runs_in_place(bounds: tuple[str, str, str], place: str) -> None:
    check(
        simplified(loop(*bounds), place=place),
        """
        CHECK: %w = tile.load(%p, _, _)
        CHECK-NEXT: %sum = tile.add(%n, %w)
        CHECK-NEXT: tile.store(%p, %sum, _)
        CHECK-NEXT: tile.store(%p, %sum, _)
        """,
    )


@pytest.mark.parametrize("bounds", [("0", "0", "1"), ("3", "0", "1"), ("0", "3", "-1"), ("0", "0", "-2")])
def test_no_trip_gives_the_initial_values(bounds: tuple[str, str, str]) -> None:
    check(
        simplified(loop(*bounds)), "CHECK-NOT: tile.load\nCHECK: tile.store(%p, %n, _)\nCHECK-NOT: tile.store"
    )


@pytest.mark.parametrize(
    "bounds, ty",
    [
        (("0", "2", "1"), "i32"),
        (("0", "1", "0"), "i32"),
        (("-9223372036854775808", "9223372036854775807", "1"), "i64"),
        (("0", "18446744073709551615", "1"), "u64"),
        (("2", "0", "-1"), "i32"),
    ],
)
def test_other_loops_stay(bounds: tuple[str, str, str], ty: str) -> None:
    check(
        simplified(loop(*bounds, ty)),
        "CHECK: %r = tile.for(%lo, %hi, %st, [%n])\nCHECK: tile.store(%p, %r, _)",
    )


def test_the_induction_variable_of_one_trip_is_the_lower_bound() -> None:
    lines = """
  %one = $i32 1
  %up = tile.add(%n, %one) : i32
  %lo = $i32 3
  %hi = $i32 4
  tile.for(%lo, %hi, %one, []) {
  ^(%i: i32):
    %twice = tile.add(%i, %i) : i32
    tile.store(%p, %twice, _)
    tile.yield([])
  }
  tile.for(%n, %up, %one, []) {
  ^(%j: i32):
    tile.store(%p, %j, _)
    tile.yield([])
  }
"""
    check(
        simplified(lines),
        """
        CHECK: %twice = tile.constant() {value = 6, type = !i32}
        CHECK-NEXT: tile.store(%p, %twice, _)
        CHECK: tile.for(%n, %up, %one, [])
        """,
    )


@pytest.mark.parametrize(
    "lower, upper, step, trips",
    [
        (0, 10, 3, 4),
        (0, 9, 3, 3),
        (0, 1, 5, 1),
        (10, 0, -3, 4),
        (9, 0, -3, 3),
        (3, 3, 1, 0),
        (4, 3, 1, 0),
        (3, 4, -1, 0),
        (-5, 5, 2, 5),
    ],
)
def test_trip_count_is_that_of_range(lower: int, upper: int, step: int, trips: int) -> None:
    function = parse(body(loop(str(lower), str(upper), str(step))))
    assert trip_count(function.find(For)[0]) == trips == len(range(lower, upper, step))  # type: ignore[arg-type]


def test_trip_count_is_none_where_a_bound_is_unknown_or_the_step_is_zero() -> None:
    assert trip_count(parse(body(loop("0", "4", "0"))).find(For)[0]) is None  # type: ignore[arg-type]
    text = body(loop("0", "4", "1")).replace("tile.for(%lo, %hi", "tile.for(%lo, %n")
    assert trip_count(parse(text).find(For)[0]) is None  # type: ignore[arg-type]


def test_trip_count_of_the_widest_loop() -> None:
    function = parse(body(loop("0", str(2**64 - 1), "1", "u64")))
    assert trip_count(function.find(For)[0]) == 2**64 - 1  # type: ignore[arg-type]


@PLACES
def test_carried_values_that_never_change(place: str) -> None:
    lines = """
  %zero = $i32 0
  %one = $i32 1
  %r, %s, %t = tile.for(%zero, %n, %one, [%one, %n, %zero]) : i32, i32, i32 {
  ^(%k: i32, %a: i32, %b: i32, %acc: i32):
    %x = tile.mul(%b, %a) : i32
    %next = tile.add(%acc, %x) : i32
    tile.yield([%a, %n, %next])
  }
  %u = tile.mul(%s, %r) : i32
  %v = tile.add(%u, %t) : i32
  tile.store(%p, %v, _)
"""
    check(
        simplified(lines, place=place),
        """
        CHECK: %r, %s, %t = tile.for(%zero, %n, %one, [%one, %n, %zero])
        CHECK-NOT: tile.mul
        CHECK: %next = tile.add(%acc, %n)
        CHECK: tile.yield([%one, %n, %next])
        CHECK: %v = tile.add(%n, %t)
        """,
    )


def test_carried_values_that_trade_places_do_change() -> None:
    lines = """
  %zero = $i32 0
  %one = $i32 1
  %r, %s = tile.for(%zero, %n, %one, [%n, %zero]) : i32, i32 {
  ^(%k: i32, %a: i32, %b: i32):
    tile.yield([%b, %a])
  }
  %v = tile.sub(%r, %s) : i32
  tile.store(%p, %v, _)
"""
    check(simplified(lines), "CHECK: tile.yield([%b, %a])\nCHECK: %v = tile.sub(%r, %s)")


# ---- loops with a condition --------------------------------------------------------------------------


def test_a_while_that_never_starts() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %no = $i1 false
    tile.yield([%no])
  } {
  ^(%b: i32):
    tile.store(%p, %b, _)
    tile.yield([%b])
  }
  tile.store(%p, %r, _)
"""
    check(simplified(lines), "CHECK-NOT: tile.while\nCHECK: tile.store(%p, %n, _)\nCHECK-NOT: tile.store")


def test_the_effects_of_a_condition_that_is_false_remain() -> None:
    lines = """
  %one = $i32 1
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %old = tile.atomic_rmw(%p, %a, _) {kind = "add"} : i32
    %no = $i1 false
    %both = tile.and(%no, %no) : i1
    tile.yield([%both])
  } {
  ^(%b: i32):
    tile.yield([%one])
  }
  tile.store(%p, %r, _)
"""
    check(
        simplified(lines),
        """
        CHECK-NOT: tile.while
        CHECK: tile.atomic_rmw(%p, %n, _)
        CHECK: tile.store(%p, %n, _)
        """,
    )


@PLACES
def test_a_while_with_an_invariant(place: str) -> None:
    lines = """
  %one = $i32 1
  %r, %s = tile.while([%n, %one]) : i32, i32 {
  ^(%a: i32, %b: i32):
    %go = tile.lt(%a, %b) : i1
    tile.yield([%go])
  } {
  ^(%d: i32, %e: i32):
    %next = tile.add(%d, %e) : i32
    tile.yield([%next, %e])
  }
  %v = tile.mul(%r, %s) : i32
  tile.store(%p, %v, _)
"""
    check(
        simplified(lines, place=place),
        """
        CHECK: %go = tile.lt(%a, %one)
        CHECK: %next = tile.add(%d, %one)
        CHECK: tile.store(%p, %r, _)
        """,
    )


def test_a_while_whose_condition_is_true_stays() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %yes = $i1 true
    tile.yield([%yes])
  } {
  ^(%b: i32):
    %next = tile.add(%b, %b) : i32
    tile.yield([%next])
  }
  tile.store(%p, %r, _)
"""
    check(simplified(lines), "CHECK: tile.while([%n])")


# ---- masks -------------------------------------------------------------------------------------------


@PLACES
def test_masks_of_loads(place: str) -> None:
    lines = """
  %yes = $i1 true
  %no = $i1 false
  %o = $i32 9
  %a = tile.load(%p, %yes, %o) {cache = ".cg", volatile = true} : i32
  %b = tile.load(%p, %no, %o) : i32
  %d = tile.load(%p, %no, _) : i32
  %e = tile.load(%p, %c, %o) : i32
  tile.store(%p, %a, _)
  tile.store(%p, %b, _)
  tile.store(%p, %d, _)
  tile.store(%p, %e, _)
"""
    check(
        simplified(lines, place=place),
        """
        CHECK: %a = tile.load(%p, _, _) {cache = ".cg", eviction = "", volatile = true}
        CHECK: %d = tile.poison() {type = !i32}
        CHECK: %e = tile.load(%p, %c, %o)
        CHECK: tile.store(%p, %a, _)
        CHECK: tile.store(%p, %o, _)
        CHECK: tile.store(%p, %d, _)
        CHECK: tile.store(%p, %e, _)
        """,
    )


@PLACES
def test_masks_of_stores(place: str) -> None:
    lines = """
  %yes = $i1 true
  %no = $i1 false
  tile.store(%p, %n, %yes)
  tile.store(%p, %m, %no)
  tile.store(%p, %n, %c)
"""
    check(
        simplified(lines, "%m: i32", place),
        "CHECK: tile.store(%p, %n, _)\nCHECK-NEXT: tile.store(%p, %n, %c)\nCHECK-NOT: tile.store",
    )


# ---- as a whole --------------------------------------------------------------------------------------


def test_rules_feed_each_other() -> None:
    """A loop of one trip, in it a branch on what is then known, in that a mask, and behind it an identity."""
    lines = """
  %zero = $i32 0
  %one = $i32 1
  %r = tile.for(%zero, %one, %one, [%n]) : i32 {
  ^(%i: i32, %acc: i32):
    %first = tile.eq(%i, %zero) : i1
    %chosen = tile.if(%first) : i32 {
      %w = tile.load(%p, %first, _) : i32
      tile.yield([%w])
    } {
      tile.yield([%acc])
    }
    %sum = tile.mul(%chosen, %i) : i32
    %all = tile.add(%sum, %chosen) : i32
    tile.yield([%all])
  }
  tile.store(%p, %r, _)
"""
    check(
        simplified(lines),
        "CHECK: %w = tile.load(%p, _, _)\nCHECK-NOT: tile.mul\nCHECK: tile.store(%p, %w, _)\nCHECK-NOT: tile.for",
    )


def test_an_unused_branch_is_thrown_away_with_all_that_is_in_it() -> None:
    inner = "\n".join(f"    %b{i} = tile.broadcast(%n) {{shape = (4,)}} : tile<4xi32>" for i in range(20))
    lines = f"  %no = $i1 false\n  tile.if(%no) {{\n{inner}\n    tile.yield([])\n  }} {{\n    tile.yield([])\n  }}"
    assert "broadcast" not in simplified(lines)


def test_what_was_done_is_recorded() -> None:
    record = Record()
    lines = (
        "  %z = $i32 0\n  %a = tile.add(%n, %z) : i32\n  %b = tile.add(%a, %z) : i32\n  tile.store(%p, %b, _)"
    )
    after(run, body(lines), record)
    assert [str(d) for d in record] == ["canonicalize applied: x op unit is x (2 times)"]
