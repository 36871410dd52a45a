"""Equal computations become one, where the earlier one is sure to have run; what only looks equal does not."""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body, within_loop
from tritium.ir.match import Record
from tritium.passes.eliminate_common import run


def merged(
    lines: str, parameters: str = "%p: ptr<i32>, %n: i32, %c: i1", record: Record | None = None
) -> str:
    return after(run, body(lines, parameters), record)


@pytest.mark.parametrize("place", [str, within_loop], ids=["straight", "in a loop"])
def test_equal_pure_ops_become_one(place: object) -> None:
    lines = """
  %a = tile.add(%n, %n) : i32
  %b = tile.add(%n, %n) : i32
  %d = tile.mul(%a, %b) : i32
  %e = tile.mul(%b, %a) : i32
  %f = tile.sub(%d, %e) : i32
  tile.store(%p, %f, _)
"""
    check(
        merged(place(lines)),  # type: ignore[operator]
        """
        CHECK: %a = tile.add(%n, %n)
        CHECK-NEXT: %d = tile.mul(%a, %a)
        CHECK-NEXT: %f = tile.sub(%d, %d)
        CHECK-NEXT: tile.store(%p, %f, _)
        """,
    )


@pytest.mark.parametrize(
    "first, second, ty, same",
    [
        ("tile.add(%x, %y)", "tile.add(%y, %x)", "i32", True),
        ("tile.mul(%x, %y)", "tile.mul(%y, %x)", "i32", True),
        ("tile.and(%x, %y)", "tile.and(%y, %x)", "i32", True),
        ("tile.maximum(%x, %y)", "tile.maximum(%y, %x)", "i32", True),
        ("tile.eq(%x, %y)", "tile.eq(%y, %x)", "i1", True),
        ("tile.sub(%x, %y)", "tile.sub(%y, %x)", "i32", False),
        ("tile.idiv(%x, %y)", "tile.idiv(%y, %x)", "i32", False),
        ("tile.rem(%x, %y)", "tile.rem(%y, %x)", "i32", False),
        ("tile.shl(%x, %y)", "tile.shl(%y, %x)", "i32", False),
        ("tile.lt(%x, %y)", "tile.lt(%y, %x)", "i1", False),
        ("tile.select(%c, %x, %y)", "tile.select(%c, %y, %x)", "i32", False),
        ("tile.add(%x, %y)", "tile.sub(%x, %y)", "i32", False),
        ("tile.add(%x, %y)", "tile.add(%x, %y) {sanitize_overflow = false}", "i32", False),
        ("tile.cast(%x) {to = !i32}", "tile.cast(%x) {to = !i32}", "i32", True),
        ("tile.cast(%f) {to = !i32}", 'tile.cast(%f) {to = !i32, rounding = "rtz"}', "i32", False),
        ("tile.program_id() {axis = 0}", "tile.program_id() {axis = 0}", "i32", True),
        ("tile.program_id() {axis = 0}", "tile.program_id() {axis = 1}", "i32", False),
        ("tile.program_id() {axis = 0}", "tile.num_programs() {axis = 0}", "i32", False),
    ],
)
def test_which_ops_are_equal(first: str, second: str, ty: str, same: bool) -> None:
    lines = f"  %a = {first} : {ty}\n  %b = {second} : {ty}\n  %r = tile.xor(%a, %b) : {ty}\n  tile.store(%q, %r, _)"
    text = merged(lines, f"%q: ptr<{ty}>, %x: i32, %y: i32, %c: i1, %f: f32")
    assert ("tile.xor(%a, %a)" in text) == same, text


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("$i32 0", "$i32 0", True),
        ("$i32 0", "$i64 0", False),
        ("$f32 0.0", "$f32 -0.0", False),
        ("$f32 0.0", "$f32 0.0", True),
        ("$f32 -0.0", "$f32 -0.0", True),
        ("$f32 0.0", "$f64 0.0", False),
        ("$i1 true", "$i32 1", False),
        ("$i1 false", "$i32 0", False),
        ("$i32 1", "$f32 1.0", False),
        ("$f32 nan", "$f32 nan", True),
        ("$tile<4xi32> 0", "$i32 0", False),
        ("$tile<4xi32> 0", "$tile<4xi32> 0", True),
        ("$u32 1", "$i32 1", False),
    ],
)
def test_constants_that_compare_equal_in_python_are_not_all_the_same(
    first: str, second: str, same: bool
) -> None:
    text = merged(f"  %a = {first}\n  %b = {second}\n")
    assert (text.count("tile.constant") == 1) == same


def test_numbers_inside_tuples_of_attributes_are_told_apart() -> None:
    lines = """
  %a = tile.hint(%n) {kind = "multiple_of", values = (1,)} : i32
  %b = tile.hint(%n) {kind = "multiple_of", values = (true,)} : i32
  %d = tile.hint(%n) {kind = "multiple_of", values = (1,)} : i32
"""
    assert merged(lines).count("tile.hint") == 2


# ---- scopes ------------------------------------------------------------------------------------------


def test_what_is_known_outside_is_known_inside_and_not_the_other_way_round() -> None:
    lines = """
  %zero = $i32 0
  %one = $i32 1
  %a = tile.mul(%n, %n) : i32
  tile.for(%zero, %n, %one, []) {
  ^(%i: i32):
    %b = tile.mul(%n, %n) : i32
    %d = tile.add(%b, %i) : i32
    tile.store(%p, %d, _)
    %inner = tile.add(%n, %one) : i32
    tile.store(%p, %inner, _)
    tile.yield([])
  }
  %outer = tile.add(%n, %one) : i32
  tile.store(%p, %outer, _)
  %e = tile.mul(%n, %n) : i32
  tile.store(%p, %e, _)
"""
    check(
        merged(lines),
        """
        CHECK: %a = tile.mul(%n, %n)
        CHECK: tile.for
        CHECK-NOT: tile.mul
        CHECK: %d = tile.add(%a, %i)
        CHECK: %inner = tile.add(%n, %one)
        CHECK: tile.yield
        CHECK: %outer = tile.add(%n, %one)
        CHECK: tile.store(%p, %outer, _)
        CHECK-NEXT: tile.store(%p, %a, _)
        """,
    )


def test_the_branches_of_an_if_know_nothing_of_each_other() -> None:
    lines = """
  %r = tile.if(%c) : i32 {
    %a = tile.mul(%n, %n) : i32
    %b = tile.mul(%n, %n) : i32
    %s = tile.sub(%a, %b) : i32
    tile.yield([%s])
  } {
    %d = tile.mul(%n, %n) : i32
    tile.yield([%d])
  }
  %e = tile.mul(%n, %n) : i32
  %f = tile.mul(%e, %r) : i32
  tile.store(%p, %f, _)
"""
    check(
        merged(lines),
        """
        CHECK: %a = tile.mul(%n, %n)
        CHECK-NEXT: %s = tile.sub(%a, %a)
        CHECK: %d = tile.mul(%n, %n)
        CHECK-NEXT: tile.yield([%d])
        CHECK: %e = tile.mul(%n, %n)
        CHECK-NEXT: %f = tile.mul(%e, %r)
        """,
    )


def test_condition_and_body_of_a_while_are_two_scopes() -> None:
    lines = """
  %r = tile.while([%n]) : i32 {
  ^(%a: i32):
    %x = tile.mul(%n, %n) : i32
    %go = tile.lt(%a, %x) : i1
    tile.yield([%go])
  } {
  ^(%b: i32):
    %y = tile.mul(%n, %n) : i32
    %next = tile.add(%b, %y) : i32
    tile.yield([%next])
  }
  tile.store(%p, %r, _)
"""
    check(merged(lines), "CHECK: %x = tile.mul\nCHECK: %y = tile.mul\nCHECK: tile.add(%b, %y)")


# ---- memory ------------------------------------------------------------------------------------------

BETWEEN = [
    ("", True),
    ("  %z = tile.add(%n, %n) : i32", True),
    ('  tile.print([%n]) {prefix = "n", hex = false}', True),
    ("  %w = tile.load(%q, _, _) : i32", True),
    (
        "  tile.if(%c) {\n    %w = tile.load(%q, _, _) : i32\n    tile.yield([])\n  } {\n    tile.yield([])\n  }",
        True,
    ),
    ("  tile.store(%q, %n, _)", False),
    ("  tile.store(%q, %n, %c)", False),
    ("  tile.barrier()", False),
    ('  %w = tile.atomic_rmw(%q, %n, _) {kind = "add"} : i32', False),
    ("  %w = tile.load(%q, _, _) {volatile = true} : i32", False),
    ("  tile.if(%c) {\n    tile.store(%q, %n, _)\n    tile.yield([])\n  } {\n    tile.yield([])\n  }", False),
    ("  tile.for(%n, %n, %n, []) {\n  ^(%i: i32):\n    tile.barrier()\n    tile.yield([])\n  }", False),
]


@pytest.mark.parametrize("place", [str, within_loop], ids=["straight", "in a loop"])
@pytest.mark.parametrize("between, same", BETWEEN)
def test_what_may_stand_between_equal_loads(between: str, same: bool, place: object) -> None:
    lines = f"""
  %a = tile.load(%p, %c, %n) : i32
{between}
  %b = tile.load(%p, %c, %n) : i32
  %r = tile.xor(%a, %b) : i32
  tile.store(%q, %r, _)
"""
    text = merged(place(lines), "%p: ptr<i32>, %q: ptr<i32>, %n: i32, %c: i1")  # type: ignore[operator]
    assert ("tile.xor(%a, %a)" in text) == same, text


@pytest.mark.parametrize(
    "first, second",
    [
        ("tile.load(%p, _, _)", "tile.load(%p, %c, _)"),
        ("tile.load(%p, %c, _)", "tile.load(%p, %c, %n)"),
        ("tile.load(%p, _, _)", 'tile.load(%p, _, _) {cache = ".cg"}'),
        ("tile.load(%p, _, _)", "tile.load(%q, _, _)"),
        ("tile.load(%p, _, _) {volatile = true}", "tile.load(%p, _, _) {volatile = true}"),
        ('tile.atomic_rmw(%p, %n, _) {kind = "add"}', 'tile.atomic_rmw(%p, %n, _) {kind = "add"}'),
        ("tile.atomic_cas(%p, %n, %n)", "tile.atomic_cas(%p, %n, %n)"),
    ],
)
def test_loads_that_differ_and_accesses_that_happen_twice(first: str, second: str) -> None:
    lines = (
        f"  %a = {first} : i32\n  %b = {second} : i32\n  %r = tile.xor(%a, %b) : i32\n  tile.store(%p, %r, _)"
    )
    assert "tile.xor(%a, %b)" in merged(lines, "%p: ptr<i32>, %q: ptr<i32>, %n: i32, %c: i1")


def test_a_load_in_a_loop_does_not_stand_for_one_of_another_scope() -> None:
    lines = """
  %one = $i32 1
  %a = tile.load(%p, _, _) : i32
  %r = tile.for(%one, %n, %one, [%a]) : i32 {
  ^(%i: i32, %acc: i32):
    %b = tile.load(%p, _, _) : i32
    %s = tile.add(%acc, %b) : i32
    tile.yield([%s])
  }
  %d = tile.load(%p, _, _) : i32
  %t = tile.add(%r, %d) : i32
  tile.store(%p, %t, _)
"""
    check(merged(lines), "CHECK: %b = tile.load\nCHECK: tile.add(%acc, %b)\nCHECK: tile.add(%r, %a)")


def test_stores_are_never_joined() -> None:
    text = merged("  tile.store(%p, %n, _)\n  tile.store(%p, %n, _)")
    assert text.count("tile.store") == 2


# ---- combine regions ---------------------------------------------------------------------------------


def reduction(name: str, op: str = "add", operand: str = "%t", order: str = "%l, %r", axis: int = 0) -> str:
    return f"""
  %{name} = tile.reduce([{operand}]) {{axis = {axis}}} : tile<4xf32> {{
  ^(%l_{name}: f32, %r_{name}: f32):
    %v_{name} = tile.{op}({order.replace("%l", f"%l_{name}").replace("%r", f"%r_{name}")}) : f32
    tile.yield([%v_{name}])
  }}"""


@pytest.mark.parametrize(
    "second, same",
    [
        (reduction("b"), True),
        (reduction("b", order="%r, %l"), False),
        (reduction("b", "maximum"), False),
        (reduction("b", operand="%u"), False),
        (reduction("b", axis=1), False),
    ],
)
def test_reductions_are_compared_with_their_regions(second: str, same: bool) -> None:
    lines = reduction("a") + second + "\n  %s = tile.sub(%a, %b) : tile<4xf32>"
    text = merged(lines, "%t: tile<4x4xf32>, %u: tile<4x4xf32>")
    assert ("tile.sub(%a, %a)" in text) == same, text


def test_a_combine_region_sees_nothing_of_the_outside() -> None:
    lines = """
  %one = $f32 1.0
  %a = tile.reduce([%t]) {axis = 0} : f32 {
  ^(%l: f32, %r: f32):
    %same = $f32 1.0
    %x = tile.sub(%l, %same) : f32
    %y = tile.sub(%l, %same) : f32
    %z = tile.add(%x, %y) : f32
    tile.yield([%z])
  }
  %b = tile.add(%a, %one) : f32
"""
    check(
        merged(lines, "%t: tile<4xf32>"),
        """
        CHECK: %one = tile.constant
        CHECK: %same = tile.constant
        CHECK: %x = tile.sub(%l, %same)
        CHECK-NEXT: %z = tile.add(%x, %x)
        CHECK: %b = tile.add(%a, %one)
        """,
    )


def test_each_reuse_is_recorded() -> None:
    record = Record()
    lines = '  %a = tile.add(%n, %n) : i32\n  %b = tile.add(%n, %n) : i32 loc("k.py":8:0:0:0 "k")\n  %d = tile.mul(%a, %b) : i32'
    merged(lines, record=record)
    assert [str(d) for d in record] == ["line 8: eliminate_common applied: tile.add reuses an earlier result"]
