"""Which elements are needed: conditions of stores, carried backwards as far as they hold and no farther."""

from __future__ import annotations

import pytest

from tests.analysis.kernels import compiled
from tests.analysis.test_value_facts import values
from tests.passes.transform import body, parse
from tritium.analysis.demand import DemandAnalysis, either
from tritium.ir.core import Function
from tritium.ops.arithmetic import Mul
from tritium.ops.dot import Dot
from tritium.ops.facts import Axis, Bound, Poly
from tritium.ops.memory import Load

PARAMETERS = "%p: ptr<i32>, %o: ptr<i32>, %n: i32, %m: i32, %c: i1"


def shown(demand: tuple[Bound, ...] | None) -> str:
    return "dead" if demand is None else " and ".join(map(str, demand)) or "all"


def needed(lines: str, *names: str) -> list[str]:
    """The demand of each named value; ``%mask`` is ``d0 < n``, ``%pt`` and ``%ot`` tiles of pointers."""
    text = f"""
  %lanes = tile.arange() {{start = 0, end = 4}} : tile<4xi32>
  %nt = tile.broadcast(%n) {{shape = (4,)}} : tile<4xi32>
  %mask = tile.lt(%lanes, %nt) : tile<4xi1>
  %mt = tile.broadcast(%m) {{shape = (4,)}} : tile<4xi32>
  %mask2 = tile.lt(%lanes, %mt) : tile<4xi1>
  %pb = tile.broadcast(%p) {{shape = (4,)}} : tile<4xptr<i32>>
  %pt = tile.addptr(%pb, %lanes) : tile<4xptr<i32>>
  %ob = tile.broadcast(%o) {{shape = (4,)}} : tile<4xptr<i32>>
  %ot = tile.addptr(%ob, %lanes) : tile<4xptr<i32>>
  %one = $tile<4xi32> 1
  %k0 = $i32 0
  %k1 = $i32 1
{lines}
"""
    function = parse(body(text, PARAMETERS))
    demand, named = DemandAnalysis(function), values(function)
    return [shown(demand[named[name]]) for name in names]


def test_a_masked_store_needs_its_value_and_address_under_the_mask() -> None:
    lines = "  %v = tile.load(%pt, _, _) : tile<4xi32>\n  tile.store(%ot, %v, %mask)"
    assert needed(lines, "v", "pt", "ot", "mask", "nt") == ["d0 < n", "d0 < n", "d0 < n", "all", "all"]


def test_an_unmasked_store_needs_everything() -> None:
    assert needed("  %v = tile.load(%pt, _, _) : tile<4xi32>\n  tile.store(%ot, %v, _)", "v") == ["all"]


def test_elementwise_ops_pass_conditions_on() -> None:
    lines = """
  %v = tile.load(%pt, _, _) : tile<4xi32>
  %w = tile.mul(%v, %one) : tile<4xi32>
  %f = tile.cast(%w) {to = !f32} : tile<4xf32>
  %g = tile.exp(%f) : tile<4xf32>
  %i = tile.cast(%g) {to = !i32} : tile<4xi32>
  %s = tile.select(%mask2, %i, %one) : tile<4xi32>
  tile.store(%ot, %s, %mask)
"""
    assert needed(lines, "v", "s", "one", "mask2") == ["d0 < n"] * 4


def test_two_uses_leave_what_both_ask_for() -> None:
    both = "  %both = tile.and(%mask, %mask2) : tile<4xi1>\n"
    load = "  %v = tile.load(%pt, _, _) : tile<4xi32>\n"
    assert needed(both + load + "  tile.store(%ot, %v, %both)", "v") == ["d0 < n and d0 < m"]
    assert needed(both + load + "  tile.store(%ot, %v, %both)\n  tile.store(%ot, %v, %mask)", "v") == [
        "d0 < n"
    ]
    assert needed(load + "  tile.store(%ot, %v, %mask2)\n  tile.store(%ot, %v, %mask)", "v") == ["all"]
    assert needed(load + "  tile.store(%ot, %v, %mask)\n  tile.store(%pt, %v, %mask)", "v") == ["d0 < n"]


def test_what_nothing_needs_is_dead() -> None:
    lines = "  %v = tile.load(%pt, _, _) : tile<4xi32>\n  %w = tile.add(%v, %one) : tile<4xi32>"
    assert needed(lines, "v", "w", "pt", "n") == ["dead", "dead", "dead", "dead"]


@pytest.mark.parametrize(
    "use",
    [
        'tile.print([%v]) {prefix = "v", hex = false}',
        '%old = tile.atomic_rmw(%ot, %v, _) {kind = "add"} : tile<4xi32>',
        "%e = tile.extract(%v, [%k0]) {axes = (0,)} : i32\n  tile.store(%o, %e, _)",
        "%e = tile.flip(%v) {axis = 0} : tile<4xi32>\n  tile.store(%ot, %e, %mask)",
        "%e = tile.gather(%v, %lanes) {axis = 0} : tile<4xi32>\n  tile.store(%ot, %e, %mask)",
        "%e = tile.reduce([%v]) {axis = 0} : i32 {\n  ^(%a: i32, %b: i32):\n    %ab = tile.add(%a, %b) : i32\n    tile.yield([%ab])\n  }\n  tile.store(%o, %e, %c)",
        "%e = tile.scan([%v]) {axis = 0} : tile<4xi32> {\n  ^(%a: i32, %b: i32):\n    %ab = tile.add(%a, %b) : i32\n    tile.yield([%ab])\n  }\n  tile.store(%ot, %e, %mask)",
        "%q = tile.addptr(%pt, %v) : tile<4xptr<i32>>\n  %e = tile.load(%q, _, _) {volatile = true} : tile<4xi32>",
    ],
)
def test_uses_that_need_everything(use: str) -> None:
    assert needed(f"  %v = tile.load(%pt, _, _) : tile<4xi32>\n  {use}", "v") == ["all"]


def test_a_masked_read_modify_write_needs_its_operands_under_the_mask() -> None:
    lines = '  %v = tile.load(%pt, _, _) : tile<4xi32>\n  %old = tile.atomic_rmw(%ot, %v, %mask) {kind = "add"} : tile<4xi32>'
    assert needed(lines, "v") == ["d0 < n"]


def test_a_load_needs_its_operands_where_it_is_needed() -> None:
    lines = "  %v = tile.load(%pt, %mask2, %one) : tile<4xi32>\n  tile.store(%ot, %v, %mask)"
    assert needed(lines, "v", "pt", "mask2", "one") == ["d0 < n"] * 4


def test_a_bound_mask_that_is_not_all_of_the_mask_is_still_a_condition() -> None:
    lines = """
  %ct = tile.broadcast(%c) {shape = (4,)} : tile<4xi1>
  %half = tile.and(%mask, %ct) : tile<4xi1>
  %v = tile.load(%pt, _, _) : tile<4xi32>
  tile.store(%ot, %v, %half)
"""
    assert needed(lines, "v") == ["d0 < n"]


# ---- shapes ------------------------------------------------------------------------------------------

MATRIX = """
  %rows = tile.expand_dims(%mask) {axis = 1} : tile<4x1xi1>
  %rowsw = tile.broadcast(%rows) {shape = (4, 4)} : tile<4x4xi1>
  %cols = tile.expand_dims(%mask2) {axis = 0} : tile<1x4xi1>
  %colsw = tile.broadcast(%cols) {shape = (4, 4)} : tile<4x4xi1>
  %mm = tile.and(%rowsw, %colsw) : tile<4x4xi1>
  %om = tile.broadcast(%o) {shape = (4, 4)} : tile<4x4xptr<i32>>
  %v = tile.load(%pt, _, _) : tile<4xi32>
"""


def test_rows_columns_and_transposition() -> None:
    column = "  %x = tile.expand_dims(%v) {axis = 1} : tile<4x1xi32>\n"
    row = "  %x = tile.expand_dims(%v) {axis = 0} : tile<1x4xi32>\n"
    store = "  %w = tile.broadcast(%x) {shape = (4, 4)} : tile<4x4xi32>\n  tile.store(%om, %w, %mm)"
    assert needed(MATRIX + column + store, "v", "x", "w") == ["d0 < n", "d0 < n", "d0 < n and d1 < m"]
    assert needed(MATRIX + row + store, "v", "x") == ["d0 < m", "d1 < m"]
    turned = store.replace(
        "tile.store(%om, %w, %mm)",
        "%t = tile.permute(%w) {order = (1, 0)} : tile<4x4xi32>\n  tile.store(%om, %t, %mm)",
    )
    assert needed(MATRIX + column + turned, "v", "w") == ["d0 < m", "d1 < n and d0 < m"]


def test_a_scalar_that_fills_a_tile_is_needed_whole() -> None:
    lines = "  %x = tile.add(%n, %m) : i32\n  %w = tile.broadcast(%x) {shape = (4,)} : tile<4xi32>\n  tile.store(%ot, %w, %mask)"
    assert needed(lines, "w", "x") == ["d0 < n", "all"]


def test_a_reduction_keeps_conditions_on_the_other_axes() -> None:
    lines = (
        MATRIX
        + """
  %x = tile.broadcast(%k1) {shape = (4, 4)} : tile<4x4xi32>
  %e = tile.reduce([%x]) {axis = 0} : tile<4xi32> {
  ^(%a: i32, %b: i32):
    %ab = tile.add(%a, %b) : i32
    tile.yield([%ab])
  }
  tile.store(%ot, %e, %mask)
"""
    )
    assert needed(lines, "e", "x") == ["d0 < n", "d1 < n"]


def test_a_dot_asks_for_rows_of_one_and_columns_of_the_other() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, b_ptr, c_ptr, M, N, B: tl.constexpr):
            r = tl.arange(0, B)
            a = tl.load(a_ptr + r[:, None] * B + r[None, :])
            b = tl.load(b_ptr + r[:, None] * B + r[None, :])
            acc = tl.load(c_ptr + r[:, None] * B + r[None, :])
            acc = tl.dot(a, b, acc)
            tl.store(c_ptr + r[:, None] * B + r[None, :], acc, mask=(r[:, None] < M) & (r[None, :] < N))
        """,
        B=16,
    )
    demand = DemandAnalysis(function)
    (dot,) = function.find(Dot)
    assert [shown(demand[v]) for v in dot.operands] == ["d0 < M", "d1 < N", "d0 < M and d1 < N"]


# ---- loops and branches ------------------------------------------------------------------------------


def test_conditions_of_one_trip_do_not_leave_the_loop() -> None:
    """Another trip stores other elements, so a value from outside is needed as a whole."""
    lines = """
  %v = tile.load(%pt, _, _) : tile<4xi32>
  tile.for(%k0, %n, %k1, []) {
  ^(%i: i32):
    %it = tile.broadcast(%i) {shape = (4,)} : tile<4xi32>
    %now = tile.eq(%lanes, %it) : tile<4xi1>
    %inside = tile.mul(%v, %it) : tile<4xi32>
    tile.store(%ot, %inside, %now)
    tile.store(%pt, %inside, %now)
    tile.yield([])
  }
"""
    assert needed(lines, "inside", "v") == ["d0 == trip", "all"]


def test_conditions_on_values_of_one_trip_do_not_leave_the_loop() -> None:
    lines = """
  %v = tile.load(%pt, _, _) : tile<4xi32>
  tile.for(%k0, %n, %k1, []) {
  ^(%i: i32):
    %q = tile.addptr(%p, %i) : ptr<i32>
    %limit = tile.load(%q, _, _) : i32
    %lt = tile.broadcast(%limit) {shape = (4,)} : tile<4xi32>
    %now = tile.lt(%lanes, %lt) : tile<4xi1>
    tile.store(%ot, %v, %now)
    tile.yield([])
  }
"""
    assert needed(lines, "v") == ["all"]


def test_conditions_that_are_the_same_in_all_trips_do() -> None:
    lines = """
  %v = tile.load(%pt, _, _) : tile<4xi32>
  tile.for(%k0, %n, %k1, []) {
  ^(%i: i32):
    tile.store(%ot, %v, %mask)
    tile.yield([])
  }
"""
    assert needed(lines, "v") == ["d0 < n"]


def carried(inner: str, end: str, loop: str = "for") -> str:
    head = "%r = tile.for(%k0, %n, %k1, [%one]) : tile<4xi32> {\n  ^(%i: i32, %acc: tile<4xi32>):"
    if loop == "while":
        head = """%r = tile.while([%one]) : tile<4xi32> {
  ^(%t: tile<4xi32>):
    tile.yield([%c])
  } {
  ^(%acc: tile<4xi32>):"""
    return f"""
  {head}
    %v = tile.load(%pt, _, _) : tile<4xi32>
{inner}
    tile.yield([{end}])
  }}
  tile.store(%ot, %r, %mask)
"""


@pytest.mark.parametrize("loop", ["for", "while"])
def test_an_accumulator_is_needed_as_its_result_is(loop: str) -> None:
    lines = carried("    %next = tile.add(%acc, %v) : tile<4xi32>", "%next", loop)
    assert needed(lines, "r", "next", "acc", "v", "one") == ["d0 < n"] * 5


@pytest.mark.parametrize("loop", ["for", "while"])
def test_a_carried_value_that_is_turned_around_each_trip_is_needed_whole(loop: str) -> None:
    lines = carried("    %next = tile.flip(%acc) {axis = 0} : tile<4xi32>", "%next", loop)
    assert needed(lines, "r", "next", "acc", "one") == ["d0 < n", "all", "all", "all"]


def test_another_use_in_the_loop_counts_as_well() -> None:
    use = "    tile.store(%pt, %acc, %mask2)\n"
    lines = carried(use + "    %next = tile.add(%acc, %v) : tile<4xi32>", "%next")
    assert needed(lines, "acc", "next", "v") == ["all", "all", "all"]
    same = use.replace("%mask2", "%mask")
    lines = carried(same + "    %next = tile.add(%acc, %v) : tile<4xi32>", "%next")
    assert needed(lines, "acc", "next", "v") == ["d0 < n"] * 3


def test_a_condition_of_one_trip_does_not_reach_the_trip_before() -> None:
    use = """    %it = tile.broadcast(%i) {shape = (4,)} : tile<4xi32>
    %now = tile.lt(%lanes, %it) : tile<4xi1>
    tile.store(%pt, %acc, %now)
    %next = tile.add(%acc, %v) : tile<4xi32>"""
    lines = carried(use, "%next").replace("tile.store(%ot, %r, %mask)", "tile.store(%ot, %one, %mask)")
    assert needed(lines, "next", "v") == ["all", "all"]


def test_dead_carried_values() -> None:
    lines = carried("    %next = tile.add(%acc, %v) : tile<4xi32>", "%next").replace(
        "tile.store(%ot, %r, %mask)", ""
    )
    assert needed(lines, "r", "acc", "v") == ["dead", "dead", "dead"]


def test_branches() -> None:
    lines = """
  %v = tile.load(%pt, _, _) : tile<4xi32>
  %r = tile.if(%c) : tile<4xi32> {
    %x = tile.add(%v, %one) : tile<4xi32>
    tile.yield([%x])
  } {
    %y = tile.flip(%v) {axis = 0} : tile<4xi32>
    tile.yield([%one])
  }
  tile.store(%ot, %r, %mask)
"""
    assert needed(lines, "r", "x", "v", "y", "one", "c") == [
        "d0 < n",
        "d0 < n",
        "d0 < n",
        "dead",
        "d0 < n",
        "all",
    ]


def test_loop_bounds_and_conditions_are_needed() -> None:
    lines = carried("", "%acc", "while").replace("tile.store(%ot, %r, %mask)", "")
    assert needed(lines, "c") == ["all"]
    lines = "  %up = tile.add(%n, %m) : i32\n" + carried("", "%acc").replace("%n, %k1", "%up, %k1")
    assert needed(lines, "up") == ["all"]


# ---- what conditions rest on -------------------------------------------------------------------------


def overflowing() -> tuple[Function, Load]:
    text = body(
        """
  %lanes = tile.arange() {start = 0, end = 4} : tile<4xi32>
  %k64 = $i32 64
  %start = tile.mul(%n, %k64) : i32
  %st = tile.broadcast(%start) {shape = (4,)} : tile<4xi32>
  %rows = tile.add(%st, %lanes) : tile<4xi32>
  %mt = tile.broadcast(%m) {shape = (4,)} : tile<4xi32>
  %mask = tile.lt(%rows, %mt) : tile<4xi1>
  %pt = tile.broadcast(%p) {shape = (4,)} : tile<4xptr<i32>>
  %v = tile.load(%pt, _, _) : tile<4xi32>
  tile.store(%pt, %v, %mask)
""",
        PARAMETERS,
    )
    function = parse(text)
    (load,) = function.find(Load)
    assert isinstance(load, Load)
    return function, load


def test_a_condition_lists_what_would_have_to_overflow() -> None:
    function, load = overflowing()
    (bound,) = DemandAnalysis(function)[load.result] or ()
    assert str(bound) == "d0 + 64*n < m"
    assert isinstance(bound.wraps[0].op, Mul) and [w.op.name for w in bound.wraps] == ["tile.mul", "tile.add"]


def test_conditions_from_two_places_rest_on_both() -> None:
    function, load = overflowing()
    (bound,) = DemandAnalysis(function)[load.result] or ()
    plain = Bound(bound.left, bound.relation, bound.right)
    other = Bound(Poly.atom(Axis(0)), "<", Poly.constant(3))
    (merged,) = either((plain, other), (bound,)) or ()
    assert merged.key == bound.key and merged.wraps == bound.wraps
    assert either(None, (bound,)) == (bound,) and either((), (bound,)) == () and either(None, None) is None
