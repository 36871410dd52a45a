"""Branches on what is known, loops that run once or never, carried values that do not change."""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body, parse, within_loop
from tritium.ops.control import For
from tritium.passes.canonicalize import run, trip_count

PLACES = pytest.mark.parametrize("place", ["straight", "in a loop"])


def simplified(lines: str, parameters: str = "", place: str = "straight") -> str:
    """What becomes of lines that end by storing ``%r``."""
    full = "%p: ptr<i32>, %n: i32, %c: i1" + (f", {parameters}" if parameters else "")
    return after(run, body(lines if place == "straight" else within_loop(lines), full))


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
