"""Each rule of the canonical form fires where it is sound, inside loops and branches as well, and nowhere else.

Longer than 600 lines: one table, a positive and the negative cases of every rule, side by side.
"""

from __future__ import annotations

import pytest

from tests.checklines import check
from tests.passes.transform import after, body, within_loop
from tritium.ir.match import Record
from tritium.passes.canonicalize import run


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
        ("tile.bitcast(%x) {to = !f32}", "f32", "$f32 3.0"),
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
  %r = tile.reshape(%d) {shape = (8, 4)} : tile<8x4xi32>
  %e = tile.add(%b, %r) : tile<8x4xi32>
"""
    check(
        simplified(lines, "%t: tile<1x4xi32>"),
        """
        CHECK: %b = tile.broadcast(%n) {shape = (8, 4)}
        CHECK: %d = tile.broadcast(%t) {shape = (8, 4)}
        CHECK: tile.add(%b, %d)
        """,
    )


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
