"""Facts of single values, in their readable form: intervals, divisors, polynomials, bounds, and what they rest on."""

from __future__ import annotations

import pytest

from tests.passes.transform import body, parse
from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Function, Value
from tritium.ir.types import int8, int32, int64
from tritium.ops.control import For
from tritium.ops.facts import Axis, Bound, Poly, Trip, Unknown

PARAMETERS = "%p: ptr<f32> {divisibility = 16}, %n: i32, %m: i32, %s: i32 {divisibility = 16}, %w: i64, %u: u32, %b: i8, %c: i1"
ANY32, ANY64 = "[-2147483648, 2147483647]", "[-9223372036854775808, 9223372036854775807]"


def values(function: Function) -> dict[str, Value]:
    found = {a.name: a for a in function.args}
    for op in function.walk():
        found |= {r.name: r for r in op.results}
        found |= {a.name: a for region in op.regions for a in region.args}
    return found


def fact(lines: str, name: str = "r") -> str:
    """The facts of ``%r`` and, in brackets, the ops they rest on."""
    function = parse(body(lines, PARAMETERS))
    found = ValueFacts(function)[values(function)[name]]
    rests = " ".join(w.op.name.removeprefix("tile.") for w in found.wraps)
    return str(found) + (f" <{rests}>" if rests else "")


@pytest.mark.parametrize(
    "line, expected",
    [
        ("%r = $i32 48", "[48, 48], divisible by 48, = 48"),
        ("%r = $i32 0", "[0, 0], divisible by 0, = 0"),
        ("%r = $i32 -12", "[-12, -12], divisible by 12, = -12"),
        ("%r = tile.program_id() {axis = 0} : i32", "[0, 2147483647], = r"),
        ("%r = tile.num_programs() {axis = 0} : i32", "[1, 2147483647], = r"),
        ("%r = tile.arange() {start = 0, end = 8} : tile<8xi32>", "[0, 7], first divisible by 0, = d0"),
        (
            "%r = tile.arange() {start = 24, end = 32} : tile<8xi32>",
            "[24, 31], first divisible by 24, = d0 + 24",
        ),
        ('%r = tile.hint(%n) {kind = "multiple_of", values = (8,)} : i32', f"{ANY32}, divisible by 8, = n"),
        ('%r = tile.hint(%n) {kind = "max_constancy", values = (8,)} : i32', f"{ANY32}, = n"),
        ("%r = tile.load(%q, _, _) : i32", f"{ANY32}, = r"),
        ("%r = tile.cast(%n) {to = !i64} : i64", f"{ANY32}, = n"),
        ("%r = tile.cast(%w) {to = !i32} : i32", f"{ANY32}, = w <cast>"),
        ("%r = tile.cast(%n) {to = !u32} : u32", "[0, 4294967295], = n <cast>"),
        ("%r = tile.cast(%u) {to = !i64} : i64", "[0, 4294967295], = u"),
        ("%r = tile.cast(%c) {to = !i32} : i32", "[0, 1], = c"),
        ("%r = tile.cast(%b) {to = !f32} : f32", "nothing"),
        ("%r = tile.add(%n, %m) : i32", f"{ANY32}, = m + n <add>"),
        ("%r = tile.sub(%u, %u) : u32", "[0, 4294967295], = 0 <sub>"),
        ("%r = tile.mul(%s, %s) : i32", f"{ANY32}, divisible by 256, = s*s <mul>"),
        ("%r = tile.rem(%n, %s) : i32", f"{ANY32}, = r, = (n) % (s)"),
        ("%r = tile.idiv(%n, %m) : i32", f"{ANY32}, = r"),
        ("%r = tile.minimum(%n, %k7) : i32", "[-2147483648, 7], = r"),
        ("%r = tile.maximum(%n, %k7) : i32", "[7, 2147483647], = r"),
        ("%r = tile.and(%n, %k7) : i32", "[0, 7], = r"),
        ("%r = tile.shl(%b32, %k4) : i32", "[-2048, 2032], divisible by 16, = 16*b"),
        ("%r = tile.shl(%n, %k4) : i32", f"{ANY32}, divisible by 16, = 16*n <shl>"),
        ("%r = tile.shl(%n, %m) : i32", f"{ANY32}, = r"),
        ("%r = tile.shr(%pid, %k4) : i32", "[0, 134217727], = r"),
        ("%r = tile.shr(%n, %k4) : i32", f"{ANY32}, = r"),
        ("%r = tile.idiv(%s, %k16) : i32", "[-134217728, 134217727], = r"),
        ("%r = tile.idiv(%p64, %k4) : i32", "[0, 28], divisible by 4, = 4*small"),
        ("%r = tile.idiv(%n, %k7) : i32", "[-306783378, 306783378], = r"),
        ("%r = tile.rem(%n, %k7) : i32", "[-6, 6], = r, = (n) % (7)"),
        ("%r = tile.rem(%pid, %k7) : i32", "[0, 6], = r, = (pid) % (7)"),
        ("%r = tile.rem(%small, %k16) : i32", "[0, 7], = small"),
        ("%r = tile.rem(%p16, %k16) : i32", "[-15, 15], divisible by 16, = r, = (16*pid) % (16) <mul>"),
        ("%r = tile.select(%c, %k7, %k16) : i32", "[7, 16], = r"),
        ("%r = tile.select(%c, %n, %n) : i32", f"{ANY32}, = n"),
        ("%r = tile.addptr(%p, %n) : ptr<f32>", "divisible by 4, = 4*n + p"),
        ("%r = tile.addptr(%p, %s) : ptr<f32>", "divisible by 16, = p + 4*s"),
    ],
)
def test_one_operation(line: str, expected: str) -> None:
    lines = f"""
  %k4 = $i32 4
  %k7 = $i32 7
  %k16 = $i32 16
  %pid = tile.program_id() {{axis = 1}} : i32
  %small = tile.and(%pid, %k7) : i32
  %b32 = tile.cast(%b) {{to = !i32}} : i32
  %q = tile.bitcast(%p) {{to = !ptr<i32>}} : ptr<i32>
  %few = $i32 8388607
  %pidf = tile.minimum(%pid, %few) : i32
  %p16 = tile.mul(%pid, %k16) : i32
  %p64 = tile.mul(%small, %k16) : i32
  {line}
"""
    assert fact(lines) == expected


def test_the_address_of_a_tile() -> None:
    lines = """
  %pid = tile.program_id() {axis = 0} : i32
  %k8 = $i32 8
  %start = tile.mul(%pid, %k8) : i32
  %r0 = tile.arange() {start = 0, end = 8} : tile<8xi32>
  %st = tile.broadcast(%start) {shape = (8,)} : tile<8xi32>
  %rows = tile.add(%st, %r0) : tile<8xi32>
  %col = tile.expand_dims(%rows) {axis = 1} : tile<8x1xi32>
  %sb = tile.broadcast(%s) {shape = (8, 1)} : tile<8x1xi32>
  %scaled = tile.mul(%col, %sb) : tile<8x1xi32>
  %wide = tile.broadcast(%scaled) {shape = (8, 4)} : tile<8x4xi32>
  %r1 = tile.arange() {start = 0, end = 4} : tile<4xi32>
  %row = tile.expand_dims(%r1) {axis = 0} : tile<1x4xi32>
  %roww = tile.broadcast(%row) {shape = (8, 4)} : tile<8x4xi32>
  %off = tile.add(%wide, %roww) : tile<8x4xi32>
  %base = tile.broadcast(%p) {shape = (8, 4)} : tile<8x4xptr<f32>>
  %r = tile.addptr(%base, %off) : tile<8x4xptr<f32>>
  %t = tile.permute(%r) {order = (1, 0)} : tile<4x8xptr<f32>>
"""
    assert fact(lines, "rows") == f"{ANY32}, first divisible by 8, = d0 + 8*pid <mul add>"
    assert (
        fact(lines, "scaled")
        == f"{ANY32}, divisible by 16, first divisible by 128, = d0*s + 8*pid*s <mul add mul>"
    )
    assert fact(lines) == (
        "divisible by 4, first divisible by 16, = 4*d0*s + 32*pid*s + 4*d1 + p <mul add mul add>"
    )
    assert fact(lines, "t").startswith(
        "divisible by 4, first divisible by 16, = 4*d1*s + 32*pid*s + 4*d0 + p"
    )


def test_a_value_looked_up_keeps_its_own_coordinates() -> None:
    lines = """
  %q = tile.bitcast(%p) {to = !ptr<i32>} : ptr<i32>
  %qt = tile.broadcast(%q) {shape = (4, 1)} : tile<4x1xptr<i32>>
  %idx = tile.load(%qt, _, _) : tile<4x1xi32>
  %t = tile.permute(%idx) {order = (1, 0)} : tile<1x4xi32>
  %r = tile.broadcast(%t) {shape = (3, 4)} : tile<3x4xi32>
"""
    assert fact(lines, "idx") == f"{ANY32}, = idx[d0, 0]"
    assert fact(lines) == f"{ANY32}, = idx[d1, 0]"


# ---- masks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, expected",
    [
        ("%r = tile.lt(%n, %m) : i1", "[0, 1], = r, true where n < m"),
        ("%r = tile.ge(%n, %m) : i1", "[0, 1], = r, true where m <= n"),
        ("%r = tile.gt(%n, %m) : i1", "[0, 1], = r, true where m < n"),
        ("%r = tile.eq(%n, %m) : i1", "[0, 1], = r, true where n == m"),
        ("%r = tile.lt(%k, %k9) : i1", "[1, 1], divisible by 1, = r"),
        ("%r = tile.lt(%k9, %k) : i1", "[0, 0], = r, true where 9 < 5"),
        ("%r = tile.ne(%k9, %k) : i1", "[1, 1], divisible by 1, = r"),
        ("%r = tile.le(%sum, %m) : i1", "[0, 1], = r, true where m + n <= m <add>"),
        ("%r = tile.xor(%less, %yes) : i1", "[0, 1], = r, true where m <= n"),
        ("%r = tile.xor(%yes, %same) : i1", "[0, 1], = r, true where n != m"),
        ("%r = tile.xor(%less, %same) : i1", "[0, 1], = r"),
        ("%r = tile.and(%less, %same) : i1", "[0, 1], = r, true where n < m and n == m"),
        ("%r = tile.and(%less, %less2) : i1", "[0, 1], = r, true where n < m"),
        ("%r = tile.and(%less, %c) : i1", "[0, 1], = r, true only where n < m"),
        ("%r = tile.and(%less, %yes) : i1", "[0, 1], = r, true where n < m"),
        ("%r = tile.and(%less, %no) : i1", "[0, 0], = r, true only where n < m"),
        ("%r = tile.or(%less, %same) : i1", "[0, 1], = r"),
        ("%r = tile.select(%c, %less, %less) : i1", "[0, 1], = less"),
        ("%r = tile.lt(%f, %f) : i1", "[0, 1], = r"),
    ],
)
def test_masks(line: str, expected: str) -> None:
    lines = f"""
  %yes = $i1 true
  %no = $i1 false
  %k = $i32 5
  %k9 = $i32 9
  %f = $f32 1.0
  %sum = tile.add(%n, %m) : i32
  %less = tile.lt(%n, %m) : i1
  %less2 = tile.gt(%m, %n) : i1
  %same = tile.eq(%n, %m) : i1
  {line}
"""
    assert fact(lines).replace("divisible by 1, ", "") == expected.replace("divisible by 1, ", "")


# ---- branches and loops ------------------------------------------------------------------------------


def test_a_branch_joins() -> None:
    lines = """
  %k4 = $i32 4
  %k10 = $i32 10
  %r, %same, %far = tile.if(%c) : i32, i32, i32 {
    %x = tile.add(%n, %k4) : i32
    tile.yield([%k4, %x, %k4])
  } {
    %y = tile.add(%n, %k4) : i32
    tile.yield([%k10, %y, %n])
  }
"""
    assert fact(lines) == "[4, 10], divisible by 2, = r"
    assert fact(lines, "same") == f"{ANY32}, = n + 4 <add add>"
    assert fact(lines, "far") == f"{ANY32}, = far"


def loop(lower: str, upper: str, step: str, inner: str = "", **carried: str) -> str:
    """A loop with ``%i``; `carried` may give what the pointer ``%q`` (from ``%p``) and the number ``%acc`` (0) become."""
    kinds = {"q": ("last", "ptr<f32>", "%p"), "acc": ("final", "i32", "%k0")}
    names = ", ".join(f"%{kinds[c][0]}" for c in carried)
    types = ", ".join(kinds[c][1] for c in carried)
    inits = ", ".join(kinds[c][2] for c in carried)
    args = "".join(f", %{c}: {kinds[c][1]}" for c in carried)
    return f"""
  %k0 = $i32 0
  %k3 = $i32 3
  %k16 = $i32 16
  %lo = {lower}
  %hi = {upper}
  %st = {step}
  {names + " = " if names else ""}tile.for(%lo, %hi, %st, [{inits}]){" : " + types if types else ""} {{
  ^(%i: i32{args}):
{inner}
    tile.yield([{", ".join(carried.values())}])
  }}
"""


@pytest.mark.parametrize(
    "lower, upper, step, expected",
    [
        ("$i32 0", "$i32 100", "$i32 16", "[0, 99], divisible by 16, = 16*trip"),
        ("$i32 3", "$i32 100", "$i32 16", "[3, 99], = 16*trip + 3"),
        ("$i32 100", "$i32 0", "$i32 -16", "[1, 100], divisible by 4, = -16*trip + 100"),
        ("$i32 5", "$i32 2", "$i32 1", f"{ANY32}, = trip + 5"),
        ("tile.add(%n, %m) : i32", "$i32 7", "$i32 1", "[-2147483648, 6], = m + n + trip <add>"),
        ("$i32 0", "tile.add(%n, %m) : i32", "$i32 1", "[0, 2147483646], = trip"),
        ("$i32 0", "$i32 64", "tile.add(%n, %m) : i32", f"{ANY32}, = m*trip + n*trip <add>"),
        ("$i32 0", "$i32 64", "tile.mul(%s, %s) : i32", f"{ANY32}, divisible by 256, = s*s*trip <mul>"),
    ],
)
def test_induction_variables(lower: str, upper: str, step: str, expected: str) -> None:
    assert fact(loop(lower, upper, step), "i") == expected


def test_an_advancing_pointer_and_a_counter() -> None:
    inner = """
    %sixteen = tile.mul(%s, %k16) : i32
    %next = tile.addptr(%q, %sixteen) : ptr<f32>
    %more = tile.add(%acc, %k3) : i32
    %use = tile.addptr(%q, %i) : ptr<f32>"""
    lines = loop("$i32 0", "$i32 64", "$i32 4", inner, q="%next", acc="%more")
    assert fact(lines, "q") == "divisible by 16, = 64*s*trip + p <mul>"
    assert fact(lines, "use") == "divisible by 16, = 64*s*trip + p + 16*trip <mul>"
    assert fact(lines, "acc") == f"{ANY32}, = 3*trip <add>"  # it wraps in the end, so no multiple of 3
    assert fact(lines, "last") == "= last"
    assert fact(lines, "final") == f"{ANY32}, = final"


def test_a_divisor_of_an_offset_that_wraps_is_a_power_of_two() -> None:
    inner = """
    %odd = tile.mul(%n, %k3) : i32
    %next = tile.addptr(%q, %odd) : ptr<f32>"""
    assert fact(loop("$i32 0", "$i32 64", "$i32 4", inner, q="%next"), "q") == (
        "divisible by 4, = 12*n*trip + p <mul>"
    )


@pytest.mark.parametrize(
    "inner, out",
    [
        ("    %next = tile.addptr(%q, %i) : ptr<f32>", "%next"),  # grows by another amount each trip
        ("    %next = tile.select(%c, %q, %p) : ptr<f32>", "%next"),
        (
            "    %next = tile.if(%c) : ptr<f32> {\n      %x = tile.addptr(%q, %k3) : ptr<f32>\n      tile.yield([%x])\n    } {\n      tile.yield([%q])\n    }",
            "%next",
        ),  # what `continue` becomes
    ],
)
def test_a_carried_value_without_a_fixed_step_is_only_itself(inner: str, out: str) -> None:
    assert fact(loop("$i32 0", "$i32 64", "$i32 4", inner, q=out), "q") == "= q"


def test_a_branch_that_advances_on_both_sides_still_advances() -> None:
    inner = """
    %next = tile.if(%c) : ptr<f32> {
      %x = tile.addptr(%q, %k3) : ptr<f32>
      tile.yield([%x])
    } {
      %y = tile.addptr(%q, %k3) : ptr<f32>
      tile.yield([%y])
    }"""
    assert fact(loop("$i32 0", "$i32 64", "$i32 4", inner, q="%next"), "q") == "divisible by 4, = p + 12*trip"


NESTED = """
  %k0 = $i32 0
  %k4 = $i32 4
  %r1 = tile.for(%k0, %n, %k4, [%p]) : ptr<f32> {
  ^(%i: i32, %q: ptr<f32>):
    %r2 = tile.for(%k0, %m, %k4, [%q]) : ptr<f32> {
    ^(%j: i32, %o: ptr<f32>):
      %x = tile.add(%i, %j) : i32
      %o2 = tile.addptr(%o, %k4) : ptr<f32>
      tile.yield([%o2])
    }
    %q2 = tile.addptr(%q, %s) : ptr<f32>
    tile.yield([%q2])
  }
"""


def test_nested_loops() -> None:
    function = parse(body(NESTED, PARAMETERS))
    named, facts = values(function), ValueFacts(function)
    outer, inner = function.find(For)
    assert facts[named["q"]].poly == Poly.atom(Unknown(named["p"])) + Poly(
        {(Unknown(named["s"]), Trip(outer)): 4}
    )
    assert facts[named["o"]].poly == facts[named["q"]].poly + Poly({(Trip(inner),): 16})  # type: ignore[operator]
    assert str(facts[named["x"]]) == "[-2147483648, 2147483647], divisible by 4, = 4*trip + 4*trip"
    assert str(facts[named["r2"]]) == "= r2"


def test_a_while_counts_its_trips() -> None:
    lines = """
  %k2 = $i32 2
  %r1, %r2 = tile.while([%n, %p]) : i32, ptr<f32> {
  ^(%t: i32, %tp: ptr<f32>):
    %go = tile.lt(%t, %m) : i1
    tile.yield([%go])
  } {
  ^(%a: i32, %q: ptr<f32>):
    %a2 = tile.add(%a, %k2) : i32
    %q2 = tile.addptr(%q, %k2) : ptr<f32>
    tile.yield([%a2, %q2])
  }
"""
    assert fact(lines, "t") == fact(lines, "a") == f"{ANY32}, = n + 2*trip <add>"
    assert fact(lines, "go") == "[0, 1], = go, true where n + 2*trip < m <add>"
    assert fact(lines, "q") == "divisible by 8, = p + 8*trip"


def test_swapped_values_are_no_growth() -> None:
    lines = """
  %k0 = $i32 0
  %k1 = $i32 1
  %r1, %r2 = tile.for(%k0, %n, %k1, [%n, %m]) : i32, i32 {
  ^(%i: i32, %a: i32, %b2: i32):
    tile.yield([%b2, %a])
  }
"""
    assert fact(lines, "a") == f"{ANY32}, = a"


# ---- polynomials -------------------------------------------------------------------------------------

X, Y = (Value(t, Function("f").body, i, "same name") for i, t in enumerate((int32, int64)))
x, y, d0, d1 = (Poly.atom(a) for a in (Unknown(X), Unknown(Y), Axis(0), Axis(1)))


def test_polynomials_are_in_one_form() -> None:
    assert x * y == y * x and hash(x * y) == hash(y * x)
    assert x * y - y * x == Poly({}) and str(x - x) == "0"
    assert (d0 + x) * (d0 - x) == d0 * d0 - x * x
    assert (x + x).as_constant is None and (x - x + Poly.constant(3)).as_constant == 3


def test_polynomials_print_as_one_writes_them() -> None:
    three = Poly.constant(3)
    assert str(d0 * three - d1 + three) == "3*d0 - d1 + 3"
    assert (
        str(-d0) == "-d0"
        and str(Poly.constant(-4)) == "-4"
        and str(-d0 * three * d1 + x) == "-3*d0*d1 + same name"
    )


def test_coefficients_and_exact_quotients() -> None:
    p = d0 * x * Poly.constant(6) + d1 * Poly.constant(4)
    assert p.coefficient(Axis(0)) == x * Poly.constant(6) and p.coefficient(Axis(2)) == Poly({})
    assert (d0 * d0).coefficient(Axis(0)) is None
    assert p.without(Axis(0)) == d1 * Poly.constant(4)
    assert p.divided_by(Poly.constant(2)) == d0 * x * Poly.constant(3) + d1 * Poly.constant(2)
    assert (
        p.divided_by(Poly.constant(4)) is None and p.divided_by(x) is None and p.divided_by(d0 + d1) is None
    )
    assert (d0 * x).divided_by(x) == d0


def test_coordinates_move() -> None:
    looked_up = Poly.atom(Unknown(X, (0, None)))
    p = d0 * x + d1 + looked_up
    assert p.place_axes(lambda a: 1 - a) == d1 * x + d0 + Poly.atom(Unknown(X, (1, None)))
    assert p.place_axes(lambda a: None) == Poly.atom(Unknown(X, (None, None)))
    assert p.axes() == {0, 1} and looked_up.axes() == {0} and p.place_axes(lambda a: None).axes() == set()


@pytest.mark.parametrize("relation", ["<", "<=", "==", "!="])
def test_the_opposite_of_a_condition(relation: str) -> None:
    compare = {"<": int.__lt__, "<=": int.__le__, "==": int.__eq__, "!=": int.__ne__}
    for a in range(3):
        for b in range(3):
            bound = Bound(Poly.constant(a), relation, Poly.constant(b))
            other = bound.negated()
            left, right = other.left.as_constant, other.right.as_constant
            assert left is not None and right is not None
            assert compare[other.relation](left, right) != compare[relation](a, b)


def test_types_bound_what_is_not_known() -> None:
    assert fact("  %r = tile.add(%b, %b) : i8").startswith("[-128, 127], = 2*b <add>")
    assert (int8.get_int_min_value(), int8.get_int_max_value()) == (-128, 127)
