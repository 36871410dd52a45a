"""What does not change in a loop is computed before it; what may fault, read or write stays where it is."""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body
from tritium.ir.match import Record
from tritium.passes.hoist_invariants import run

PARAMETERS = "%p: ptr<i32>, %n: i32, %m: i32, %c: i1, %t: tile<8xi32>"


def hoisted(lines: str, record: Record | None = None) -> str:
    return after(run, body(lines, PARAMETERS), record)


def in_for(inner: str, result: str = "%i") -> str:
    return f"""
  %z = $i32 0
  %one = $i32 1
  %r = tile.for(%z, %n, %one, [%z]) : i32 {{
  ^(%i: i32, %acc: i32):
{inner}
    tile.yield([{result}])
  }}
  tile.store(%p, %r, _)
"""


def test_an_invariant_chain_moves_in_order() -> None:
    inner = """
    %a = tile.mul(%m, %m) : i32
    %b = tile.add(%a, %n) : i32
    %d = tile.add(%b, %i) : i32
    %e = tile.mul(%b, %b) : i32
    %f = tile.add(%d, %e) : i32"""
    check(
        hoisted(in_for(inner, "%f")),
        """
        CHECK: %a = tile.mul(%m, %m)
        CHECK-NEXT: %b = tile.add(%a, %n)
        CHECK-NEXT: %e = tile.mul(%b, %b)
        CHECK-NEXT: %r = tile.for
        CHECK-NEXT: ^(%i: i32, %acc: i32):
        CHECK-NEXT: %d = tile.add(%b, %i)
        CHECK-NEXT: %f = tile.add(%d, %e)
        """,
    )


def test_what_depends_on_the_loop_stays() -> None:
    inner = """
    %a = tile.mul(%i, %m) : i32
    %b = tile.add(%acc, %m) : i32
    %d = tile.add(%a, %b) : i32"""
    check(
        hoisted(in_for(inner, "%d")),
        "CHECK: tile.for\nCHECK: %a = tile.mul(%i, %m)\nCHECK: %b = tile.add(%acc, %m)",
    )


def test_out_of_nested_loops_as_far_as_it_goes() -> None:
    inner = """
    %y = tile.for(%z, %m, %one, [%acc]) : i32 {
    ^(%j: i32, %s: i32):
      %all = tile.mul(%m, %n) : i32
      %outer = tile.mul(%i, %m) : i32
      %own = tile.mul(%j, %outer) : i32
      %u = tile.add(%own, %all) : i32
      %s2 = tile.add(%s, %u) : i32
      tile.yield([%s2])
    }"""
    check(
        hoisted(in_for(inner, "%y")),
        """
        CHECK: %all = tile.mul(%m, %n)
        CHECK-NEXT: %r = tile.for
        CHECK-NEXT: ^(%i: i32, %acc: i32):
        CHECK-NEXT: %outer = tile.mul(%i, %m)
        CHECK-NEXT: %y = tile.for
        CHECK: %own = tile.mul(%j, %outer)
        """,
    )


def test_out_of_a_branch_in_a_loop() -> None:
    inner = """
    %k = tile.eq(%i, %m) : i1
    %y = tile.if(%k) : i32 {
      %a = tile.idiv(%n, %m) : i32
      %b = tile.add(%a, %i) : i32
      tile.yield([%b])
    } {
      %d = tile.mul(%m, %m) : i32
      tile.yield([%d])
    }"""
    check(
        hoisted(in_for(inner, "%y")),
        """
        CHECK: %a = tile.idiv(%n, %m)
        CHECK-NEXT: %d = tile.mul(%m, %m)
        CHECK-NEXT: %r = tile.for
        CHECK: tile.if(%k)
        CHECK-NEXT: %b = tile.add(%a, %i)
        CHECK: tile.yield([%d])
        """,
    )


def test_a_branch_outside_loops_keeps_what_it_has() -> None:
    lines = """
  tile.if(%c) {
    %a = tile.mul(%n, %n) : i32
    tile.store(%p, %a, _)
    tile.yield([])
  } {
    tile.yield([])
  }
"""
    check(hoisted(lines), "CHECK: tile.if(%c)\nCHECK-NEXT: %a = tile.mul(%n, %n)")


def test_out_of_both_regions_of_a_while() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %limit = tile.mul(%m, %m) : i32
    %go = tile.lt(%a, %limit) : i1
    tile.yield([%go])
  } {
  ^(%b: i32):
    %step = tile.sub(%m, %n) : i32
    %next = tile.add(%b, %step) : i32
    tile.yield([%next])
  }
  tile.store(%p, %r, _)
"""
    check(
        hoisted(lines),
        """
        CHECK: %limit = tile.mul(%m, %m)
        CHECK-NEXT: %step = tile.sub(%m, %n)
        CHECK-NEXT: %r = tile.while([%n])
        CHECK: %go = tile.lt(%a, %limit)
        CHECK: %next = tile.add(%b, %step)
        """,
    )


def test_a_reduction_moves_with_its_region() -> None:
    inner = """
    %s = tile.reduce([%t]) {axis = 0} : i32 {
    ^(%a: i32, %b: i32):
      %k = $i32 3
      %ab = tile.add(%a, %b) : i32
      %abk = tile.mul(%ab, %k) : i32
      tile.yield([%abk])
    }
    %v = tile.add(%s, %i) : i32"""
    check(
        hoisted(in_for(inner, "%v")),
        """
        CHECK: %s = tile.reduce([%t])
        CHECK-NEXT: ^(%a: i32, %b: i32):
        CHECK-NEXT: %k = tile.constant
        CHECK: tile.yield([%abk])
        CHECK: %r = tile.for
        CHECK: %v = tile.add(%s, %i)
        """,
    )


def test_a_reduction_of_what_changes_keeps_its_region() -> None:
    inner = """
    %w = tile.broadcast(%i) {shape = (8,)} : tile<8xi32>
    %s = tile.reduce([%w]) {axis = 0} : i32 {
    ^(%a: i32, %b: i32):
      %k = $i32 3
      %ab = tile.add(%a, %k) : i32
      tile.yield([%ab])
    }"""
    check(
        hoisted(in_for(inner, "%s")),
        "CHECK: tile.for\nCHECK: tile.reduce([%w])\nCHECK-NEXT: ^\nCHECK-NEXT: %k = tile.constant",
    )


@pytest.mark.parametrize(
    "stays",
    [
        "%x = tile.load(%p, _, _) : i32",
        "%x = tile.load(%p, _, _) {volatile = true} : i32",
        '%x = tile.atomic_rmw(%p, %m, _) {kind = "add"} : i32',
        "%x = tile.extract(%t, [%m]) {axes = (0,)} : i32",
        "tile.store(%p, %m, _)",
        "tile.barrier()",
        'tile.assert(%c, _) {message = "m"}',
        'tile.print([%m]) {prefix = "m", hex = false}',
        "tile.assume(%c)",
        "%x = tile.for(%z, %m, %one, [%m]) : i32 {\n    ^(%j: i32, %s: i32):\n      tile.yield([%s])\n    }",
        "%x = tile.if(%c) : i32 {\n      tile.yield([%m])\n    } {\n      tile.yield([%n])\n    }",
    ],
)
def test_what_stays_in_its_loop(stays: str) -> None:
    text = hoisted(in_for("    " + stays))
    assert text.index("%r = tile.for") < text.index(stays.split("\n")[0].split(" {")[0].split(" : ")[0]), text


def test_that_a_load_stays_is_recorded_with_its_line() -> None:
    record = Record()
    load = '    %x = tile.load(%p, _, _) : i32 loc("k.py":9:0:0:0 "k")'
    follows = (
        '    %q = tile.addptr(%p, %i) : ptr<i32>\n    %y = tile.load(%q, _, _) : i32 loc("k.py":10:0:0:0 "k")'
    )
    hoisted(in_for(f"{load}\n{follows}"), record)
    (reject,) = [d for d in record if not d.applied]
    assert (
        str(reject)
        == "line 9: hoist_invariants not applied: a load stays in its loop: memory may change in between"
    )


def test_each_move_is_recorded_with_its_line() -> None:
    record = Record()
    literal = '    %l = $i32 5 loc("k.py":3:0:0:0 "k")'
    hoisted(in_for(f'{literal}\n    %a = tile.mul(%m, %l) : i32 loc("k.py":4:0:0:0 "k")'), record)
    assert [str(d) for d in record] == [
        "line 4: hoist_invariants applied: tile.mul runs once, before the loop"
    ]
