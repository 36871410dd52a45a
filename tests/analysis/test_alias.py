"""Which arguments a pointer may come from, through arithmetic, shapes, choices, loops and branches."""

from __future__ import annotations

import pytest

from tests.passes.transform import body, parse
from tritium.analysis.alias import AliasAnalysis
from tritium.ir.core import Function, Op, Value
from tritium.ops.memory import Load, Store

PARAMETERS = "%a: ptr<f32>, %b: ptr<f32>, %d: ptr<f32>, %table: ptr<ptr<f32>>, %n: i32, %m: i64, %c: i1"


def function(lines: str) -> Function:
    return parse(body(lines, PARAMETERS))


def origin(lines: str) -> str:
    """Where ``%x``, the pointer of the last load, may come from."""
    found = function(lines + "\n  %v = tile.load(%x, _, _) : f32\n")
    return AliasAnalysis(found).class_of(found.find(Load)[-1].operands[0]).describe(found)


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("  %x = tile.addptr(%a, %n) : ptr<f32>", "a"),
        ("  %x = tile.select(%c, %a, %b) : ptr<f32>", "a|b"),
        ("  %x = tile.bitcast(%m) {to = !ptr<f32>} : ptr<f32>", "anything"),
        ("  %x = tile.load(%table, _, _) : ptr<f32>", "anything"),
        ("  %y = tile.load(%table, _, _) : ptr<f32>\n  %x = tile.select(%c, %a, %y) : ptr<f32>", "anything"),
        ("  %x = tile.bitcast(%a) {to = !ptr<f32>} : ptr<f32>", "a"),
        ("  %x = tile.poison() {type = !ptr<f32>} : ptr<f32>", "anything"),
        (
            "  %y = tile.bitcast(%a) {to = !i64} : i64\n  %x = tile.bitcast(%y) {to = !ptr<f32>} : ptr<f32>",
            "anything",
        ),
        ('  %x = tile.hint(%b) {kind = "multiple_of", values = (16,)} : ptr<f32>', "b"),
        (
            "  %x = tile.if(%c) : ptr<f32> {\n tile.yield([%a])\n } {\n  %y = tile.addptr(%d, %n) : ptr<f32>\n tile.yield([%y])\n }",
            "a|d",
        ),
    ],
)
def test_scalar_pointers(lines: str, expected: str) -> None:
    assert origin(lines) == expected


def test_tiles_of_pointers() -> None:
    found = function(
        """
  %r = tile.arange() {start = 0, end = 4} : tile<4xi32>
  %w = tile.broadcast(%b) {shape = (4,)} : tile<4xptr<f32>>
  %q = tile.addptr(%w, %r) : tile<4xptr<f32>>
  %e = tile.expand_dims(%q) {axis = 0} : tile<1x4xptr<f32>>
  %t = tile.permute(%e) {order = (1, 0)} : tile<4x1xptr<f32>>
  %v = tile.load(%t, _, _) : tile<4x1xf32>
"""
    )
    assert AliasAnalysis(found).class_of(found.find(Load)[0].operands[0]).describe(found) == "b"


LOOPS = {
    "carried and advanced": """
  %z = $i32 0
  %one = $i32 1
  %last = tile.for(%z, %n, %one, [%a]) : ptr<f32> {
  ^(%i: i32, %q: ptr<f32>):
    %v = tile.load(%q, _, _) : f32
    %next = tile.addptr(%q, %one) : ptr<f32>
    tile.yield([%next])
  }
  %w = tile.load(%last, _, _) : f32
""",
    "swapped each trip": """
  %z = $i32 0
  %one = $i32 1
  %l1, %l2 = tile.for(%z, %n, %one, [%a, %b]) : ptr<f32>, ptr<f32> {
  ^(%i: i32, %q: ptr<f32>, %o: ptr<f32>):
    %v = tile.load(%q, _, _) : f32
    tile.yield([%o, %q])
  }
  %w = tile.load(%l2, _, _) : f32
""",
    "in a while": """
  %last = tile.while([%d]) : ptr<f32> {
  ^(%q: ptr<f32>):
    %v = tile.load(%q, _, _) : f32
    %z = $f32 0.0
    %go = tile.lt(%z, %v) : i1
    tile.yield([%go])
  } {
  ^(%o: ptr<f32>):
    %next = tile.select(%c, %o, %a) : ptr<f32>
    tile.yield([%next])
  }
  %w = tile.load(%last, _, _) : f32
""",
}


@pytest.mark.parametrize(
    "name, expected", [("carried and advanced", "a"), ("swapped each trip", "a|b"), ("in a while", "a|d")]
)
def test_pointers_carried_by_loops(name: str, expected: str) -> None:
    found = function(LOOPS[name])
    analysis = AliasAnalysis(found)
    for load in found.find(Load):
        assert analysis.class_of(load.operands[0]).describe(found) == expected


def test_asking_in_any_order_gives_the_same() -> None:
    found = function(LOOPS["swapped each trip"])
    pointers: list[Value] = [load.operands[0] for load in found.find(Load)]
    forwards, backwards = AliasAnalysis(found), AliasAnalysis(found)
    first = [forwards.class_of(p) for p in pointers]
    second = [backwards.class_of(p) for p in reversed(pointers)][::-1]
    assert first == second


# ---- overlap -----------------------------------------------------------------------------------------

OVERLAP = function(
    """
  %a1 = tile.addptr(%a, %n) : ptr<f32>
  %ab = tile.select(%c, %a, %b) : ptr<f32>
  %any = tile.bitcast(%m) {to = !ptr<f32>} : ptr<f32>
  %o = $f32 1.0
  tile.store(%a1, %o, _)
  tile.store(%ab, %o, _)
  tile.store(%any, %o, _)
  tile.store(%b, %o, _)
  tile.store(%d, %o, _)
"""
)


def overlaps(distinct: tuple[int, ...]) -> set[str]:
    analysis = AliasAnalysis(OVERLAP, distinct)
    stores: list[Op] = OVERLAP.find(Store)
    found: set[str] = set()
    for i, first in enumerate(stores):
        for second in stores[i + 1 :]:
            x, y = first.operands[0], second.operands[0]
            assert analysis.may_overlap(x, y) == analysis.may_overlap(y, x)
            if analysis.may_overlap(x, y):
                found.add(f"{x.name} {y.name}")
    return found


def test_arguments_may_overlap_unless_the_caller_knows_better() -> None:
    assert len(overlaps(())) == 10
    anything = {"a1 any", "ab any", "any b", "any d"}
    assert overlaps((0, 1, 2)) == anything | {"a1 ab", "ab b"}
    assert overlaps((0,)) == anything | {"a1 ab", "ab b", "ab d", "b d"}
