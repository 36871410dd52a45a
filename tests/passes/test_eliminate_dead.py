"""What nothing needs goes, carried values included; what has an effect, or may be waited for, stays."""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body, within_loop
from tritium.ir.match import Record
from tritium.passes.eliminate_dead import run

PARAMETERS = "%p: ptr<i32>, %n: i32, %c: i1"


def alive(lines: str, parameters: str = PARAMETERS) -> str:
    return after(run, body(lines, parameters))


@pytest.mark.parametrize("place", [str, within_loop], ids=["straight", "in a loop"])
def test_unused_values_go_with_what_only_they_used(place: object) -> None:
    lines = """
  %a = tile.add(%n, %n) : i32
  %b = tile.mul(%a, %n) : i32
  %d = tile.mul(%b, %b) : i32
  %used = tile.sub(%n, %a) : i32
  %x = tile.load(%p, _, _) : i32
  tile.store(%p, %used, _)
"""
    check(
        alive(place(lines)),  # type: ignore[operator]
        """
        CHECK-NOT: tile.mul
        CHECK: %a = tile.add(%n, %n)
        CHECK-NEXT: %used = tile.sub(%n, %a)
        CHECK-NEXT: tile.store(%p, %used, _)
        CHECK-NOT: tile.load
        """,
    )


@pytest.mark.parametrize(
    "kept",
    [
        "tile.store(%p, %n, _)",
        "tile.store(%p, %n, %c)",
        '%x = tile.atomic_rmw(%p, %n, _) {kind = "add"} : i32',
        "%x = tile.atomic_cas(%p, %n, %n) : i32",
        "%x = tile.load(%p, _, _) {volatile = true} : i32",
        "tile.barrier()",
        "tile.breakpoint()",
        'tile.print([%n]) {prefix = "n", hex = false}',
        'tile.assert(%c, _) {message = "m"}',
        "tile.assume(%c)",
        '%x = tile.inline_asm([%n]) {asm = "", constraints = "=r,r", dtypes = (!i32,), pure = false} : i32',
    ],
)
@pytest.mark.parametrize("place", [str, within_loop], ids=["straight", "in a loop"])
def test_effects_stay_though_nothing_uses_their_result(kept: str, place: object) -> None:
    assert kept.partition("(")[0] in alive(place(kept))  # type: ignore[operator]


def test_a_pure_text_for_the_target_is_like_any_pure_op() -> None:
    assert "inline_asm" not in alive(
        '%x = tile.inline_asm([%n]) {asm = "", constraints = "=r,r", dtypes = (!i32,)} : i32'
    )


# ---- carried values ----------------------------------------------------------------------------------


def test_carried_values_without_use_go() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %a, %b, %d = tile.for(%z, %n, %one, [%z, %one, %n]) : i32, i32, i32 {
  ^(%i: i32, %x: i32, %y: i32, %w: i32):
    %x2 = tile.add(%x, %i) : i32
    %y2 = tile.mul(%y, %w) : i32
    %w2 = tile.sub(%w, %one) : i32
    tile.yield([%x2, %y2, %w2])
  }
  tile.store(%p, %a, _)
"""
    check(
        alive(lines),
        """
        CHECK: %a = tile.for(%z, %n, %one, [%z])
        CHECK: ^(%i: i32, %x: i32):
        CHECK-NEXT: %x2 = tile.add(%x, %i)
        CHECK-NEXT: tile.yield([%x2])
        CHECK-NOT: tile.mul
        """,
    )


def test_a_carried_value_that_feeds_a_needed_one_stays() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %a, %b, %d = tile.for(%z, %n, %one, [%z, %one, %n]) : i32, i32, i32 {
  ^(%i: i32, %x: i32, %y: i32, %w: i32):
    tile.yield([%y, %w, %x])
  }
  tile.store(%p, %a, _)
"""
    check(
        alive(lines),
        "CHECK: %a, %b, %d = tile.for(%z, %n, %one, [%z, %one, %n])\nCHECK: tile.yield([%y, %w, %x])",
    )


def test_a_loop_without_use_goes_and_so_do_its_bounds() -> None:
    lines = """
  %z = $i32 0
  %up = tile.mul(%n, %n) : i32
  %one = $i32 1
  %a = tile.for(%z, %up, %one, [%z]) : i32 {
  ^(%i: i32, %x: i32):
    %w = tile.load(%p, _, _) : i32
    %x2 = tile.add(%x, %w) : i32
    tile.yield([%x2])
  }
"""
    check(alive(lines), "CHECK: func\nCHECK-NEXT: tile.return()")


def test_a_loop_with_an_effect_stays_with_only_what_that_needs() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %a, %b = tile.for(%z, %n, %one, [%z, %n]) : i32, i32 {
  ^(%i: i32, %x: i32, %y: i32):
    %x2 = tile.add(%x, %i) : i32
    %y2 = tile.mul(%y, %y) : i32
    tile.if(%c) {
      tile.store(%p, %x, _)
      tile.yield([])
    } {
      tile.yield([])
    }
    tile.yield([%x2, %y2])
  }
"""
    check(
        alive(lines),
        """
        CHECK: %a = tile.for(%z, %n, %one, [%z])
        CHECK: %x2 = tile.add(%x, %i)
        CHECK-NEXT: tile.if(%c)
        CHECK-NEXT: tile.store(%p, %x, _)
        CHECK: tile.yield([%x2])
        """,
    )


def test_results_of_nested_loops() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %a, %b = tile.for(%z, %n, %one, [%z, %z]) : i32, i32 {
  ^(%i: i32, %x: i32, %y: i32):
    %u, %v = tile.for(%z, %n, %one, [%x, %y]) : i32, i32 {
    ^(%j: i32, %s: i32, %t: i32):
      %s2 = tile.add(%s, %j) : i32
      %t2 = tile.add(%t, %s) : i32
      tile.yield([%s2, %t2])
    }
    tile.yield([%u, %v])
  }
  tile.store(%p, %a, _)
"""
    check(
        alive(lines),
        """
        CHECK: %a = tile.for(%z, %n, %one, [%z])
        CHECK: %u = tile.for(%z, %n, %one, [%x])
        CHECK-NEXT: ^(%j: i32, %s: i32):
        CHECK: tile.yield([%s2])
        CHECK: tile.yield([%u])
        """,
    )


def test_results_of_branches() -> None:
    lines = """
  %a, %b = tile.if(%c) : i32, i32 {
    %x = tile.add(%n, %n) : i32
    %y = tile.mul(%n, %n) : i32
    tile.yield([%x, %y])
  } {
    %w = tile.load(%p, _, _) : i32
    tile.yield([%n, %w])
  }
  tile.store(%p, %a, _)
"""
    check(
        alive(lines),
        """
        CHECK: %a = tile.if(%c) : i32
        CHECK-NEXT: %x = tile.add(%n, %n)
        CHECK-NEXT: tile.yield([%x])
        CHECK: tile.yield([%n])
        CHECK-NOT: tile.load
        """,
    )


def test_a_branch_with_an_effect_on_one_side_only() -> None:
    lines = """
  %a = tile.if(%c) : i32 {
    tile.store(%p, %n, _)
    tile.yield([%n])
  } {
    %x = tile.mul(%n, %n) : i32
    tile.yield([%x])
  }
"""
    check(
        alive(lines),
        "CHECK: tile.if(%c) {\nCHECK-NEXT: tile.store(%p, %n, _)\nCHECK: tile.yield([])\nCHECK-NOT: tile.mul",
    )


# ---- loops with a condition --------------------------------------------------------------------------


def test_a_while_that_only_computes_goes() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %go = tile.lt(%a, %n) : i1
    tile.yield([%go])
  } {
  ^(%b: i32):
    %next = tile.add(%b, %b) : i32
    tile.yield([%next])
  }
"""
    check(alive(lines), "CHECK: func\nCHECK-NEXT: tile.return()")


def test_a_while_that_reads_memory_may_be_waiting_and_stays() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %flag = tile.load(%p, _, _) : i32
    %go = tile.eq(%flag, %n) : i1
    tile.yield([%go])
  } {
  ^(%b: i32):
    %unused = tile.load(%p, _, _) : i32
    %next = tile.add(%b, %b) : i32
    tile.yield([%next])
  }
"""
    check(
        alive(lines),
        """
        CHECK: tile.while([]) {
        CHECK-NEXT: %flag = tile.load(%p, _, _)
        CHECK-NEXT: %go = tile.eq(%flag, %n)
        CHECK-NEXT: tile.yield([%go])
        CHECK-NEXT: } {
        CHECK-NEXT: tile.yield([])
        """,
    )


def test_a_spin_lock_stays() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %first = tile.atomic_cas(%p, %z, %one) : i32
  %r = tile.while([%first]) : i32 {
  ^(%a: i32):
    %go = tile.eq(%a, %one) : i1
    tile.yield([%go])
  } {
  ^(%b: i32):
    %again = tile.atomic_cas(%p, %z, %one) : i32
    tile.yield([%again])
  }
"""
    check(
        alive(lines),
        "CHECK: tile.atomic_cas\nCHECK: %r = tile.while([%first])\nCHECK: %again = tile.atomic_cas\nCHECK: tile.yield([%again])",
    )


def test_what_a_condition_needs_stays_while_other_carried_values_go() -> None:
    lines = """
  %z = $i32 0
  %one = $i32 1
  %r, %s, %t = tile.while([%z, %z, %n]) : i32, i32, i32 {
  ^(%a: i32, %b: i32, %d: i32):
    %go = tile.lt(%a, %n) : i1
    tile.yield([%go])
  } {
  ^(%e: i32, %f: i32, %g: i32):
    %e2 = tile.add(%e, %one) : i32
    %f2 = tile.add(%f, %e) : i32
    %g2 = tile.mul(%g, %g) : i32
    tile.yield([%e2, %f2, %g2])
  }
  tile.store(%p, %s, _)
"""
    check(
        alive(lines),
        """
        CHECK: %r, %s = tile.while([%z, %z])
        CHECK-NEXT: ^(%a: i32, %b: i32):
        CHECK: ^(%e: i32, %f: i32):
        CHECK: tile.yield([%e2, %f2])
        CHECK-NOT: tile.mul
        CHECK: tile.store(%p, %s, _)
        """,
    )


# ---- combine regions ---------------------------------------------------------------------------------

REDUCTION = """
  %r, %s = tile.reduce([%t, %t]) {axis = 0} : i32, i32 {
  ^(%a: i32, %b: i32, %d: i32, %e: i32):
    %x = tile.add(%a, %d) : i32
    %unused = tile.mul(%a, %d) : i32
    %y = tile.maximum(%b, %e) : i32
    tile.yield([%x, %y])
  }
"""


def test_a_needed_reduction_keeps_all_that_its_region_yields() -> None:
    check(
        alive(REDUCTION + "  tile.store(%p, %r, _)", "%p: ptr<i32>, %t: tile<8xi32>"),
        "CHECK: %r, %s = tile.reduce\nCHECK: %x = tile.add\nCHECK-NEXT: %y = tile.maximum\nCHECK-NEXT: tile.yield([%x, %y])",
    )


def test_an_unused_reduction_goes() -> None:
    check(alive(REDUCTION, "%p: ptr<i32>, %t: tile<8xi32>"), "CHECK: func\nCHECK-NEXT: tile.return()")


def test_it_is_recorded_once() -> None:
    record = Record()
    after(run, body("  %a = tile.add(%n, %n) : i32\n  %b = tile.add(%n, %n) : i32"), record)
    assert len(list(record)) == 1
    record = Record()
    after(run, body("  tile.store(%p, %n, _)"), record)
    assert not list(record)
