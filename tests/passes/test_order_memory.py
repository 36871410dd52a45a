"""Tokens: which memory operations must follow which, written into the IR."""

from __future__ import annotations

import re

import pytest

from tests.passes.transform import body, parse
from tritium.analysis.alias import AliasAnalysis
from tritium.analysis.memory_order import MemoryOrder
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.passes.order_memory import run

PARAMETERS = "%p: ptr<i32>, %q: ptr<i32>, %n: i32, %c: i1"


def orders(lines: str, parameters: str = PARAMETERS, *, distinct: tuple[int, ...] = ()) -> list[str]:
    """``op token after...`` of every op with a token, in order of the text."""
    function = parse(body(lines, parameters))
    order = MemoryOrder(function, AliasAnalysis(function, distinct))
    return [
        " ".join([op.name.removeprefix("tile."), str(order.token[op]), *map(str, order.after[op])])
        for op in function.walk()
        if op in order.token
    ]


def test_reads_are_not_ordered_writes_are() -> None:
    lines = """
  %a = tile.load(%p, _, _) : i32
  %b = tile.load(%q, _, _) : i32
  tile.store(%p, %b, _)
  tile.store(%q, %a, _)
  %d = tile.load(%p, _, _) : i32
"""
    assert orders(lines) == ["load 0", "load 1", "store 2 0 1", "store 3 2", "load 4 3"]
    assert orders(lines, distinct=(0, 1)) == ["load 0", "load 1", "store 2 0", "store 3 1", "load 4 2"]


def test_pure_ops_have_no_token() -> None:
    assert orders("  %a = tile.add(%n, %n) : i32\n  tile.store(%p, %a, _)") == ["store 0"]


@pytest.mark.parametrize(
    "strong",
    [
        '%x = tile.atomic_rmw(%q, %n, _) {kind = "add"} : i32',
        "%x = tile.load(%q, _, _) {volatile = true} : i32",
        "%x = tile.atomic_cas(%q, %n, %n) : i32",
    ],
)
def test_atomic_and_volatile_operations_keep_their_order(strong: str) -> None:
    lines = f"  {strong}\n  {strong.replace('%x', '%y')}\n  {strong.replace('%x', '%z').replace('%q', '%p')}"
    name = strong.split("tile.")[1].split("(")[0]
    assert orders(lines, distinct=(0, 1)) == [f"{name} 0", f"{name} 1 0", f"{name} 2 1"]


def test_an_atomic_is_ordered_with_what_it_may_overlap() -> None:
    lines = """
  %a = tile.load(%p, _, _) : i32
  %b = tile.load(%q, _, _) : i32
  %x = tile.atomic_rmw(%q, %n, _) {kind = "add"} : i32
  %d = tile.load(%q, _, _) : i32
  %e = tile.load(%p, _, _) : i32
"""
    assert orders(lines, distinct=(0, 1)) == ["load 0", "load 1", "atomic_rmw 2 1", "load 3 2", "load 4"]


def test_a_barrier_orders_everything() -> None:
    lines = """
  %a = tile.load(%p, _, _) : i32
  %b = tile.load(%q, _, _) : i32
  tile.barrier()
  %d = tile.load(%q, _, _) : i32
  tile.barrier()
  tile.print([%n]) {prefix = "n", hex = false}
"""
    assert orders(lines, distinct=(0, 1)) == [
        "load 0",
        "load 1",
        "barrier 2 0 1",
        "load 3 2",
        "barrier 4 3",
        "print 5",
    ]


def test_prints_and_asserts_keep_their_order_among_themselves() -> None:
    lines = """
  tile.print([%n]) {prefix = "n", hex = false}
  %a = tile.load(%p, _, _) : i32
  tile.assert(%c, _) {message = "m"}
  tile.store(%p, %n, _)
  tile.print([%n]) {prefix = "n", hex = false}
"""
    assert orders(lines) == ["print 0", "load 1", "assert 2 0", "store 3 1", "print 4 2"]


def test_loops_and_branches_stand_for_what_is_in_them() -> None:
    lines = """
  tile.store(%p, %n, _)
  tile.if(%c) {
    %a = tile.load(%p, _, _) : i32
    tile.store(%p, %a, _)
    tile.yield([])
  } {
    tile.yield([])
  }
  %b = tile.load(%q, _, _) : i32
  %d = tile.load(%p, _, _) : i32
  tile.for(%n, %n, %n, []) {
  ^(%i: i32):
    %e = tile.load(%q, _, _) : i32
    tile.yield([])
  }
  tile.store(%q, %n, _)
"""
    assert orders(lines, distinct=(0, 1)) == [
        "store 0",
        "if 1 0",
        "load 2",
        "store 3 2",
        "load 4",
        "load 5 1",
        "for 6",
        "load 7",
        "store 8 4 6",
    ]


def test_a_barrier_in_a_branch_orders_what_is_around_the_branch() -> None:
    lines = """
  %a = tile.load(%p, _, _) : i32
  tile.if(%c) {
    tile.barrier()
    %b = tile.load(%p, _, _) : i32
    tile.yield([])
  } {
    tile.yield([])
  }
  %d = tile.load(%q, _, _) : i32
"""
    assert orders(lines, distinct=(0, 1)) == ["load 0", "if 1 0", "barrier 2", "load 3 2", "load 4 1"]


def test_an_op_whose_memory_is_not_known_is_ordered_with_all() -> None:
    asm = 'tile.inline_asm([%n]) {asm = "", constraints = "=r,r", dtypes = (!i32,), pure = false} : i32'
    lines = f"""
  tile.store(%p, %n, _)
  tile.if(%c) {{
    %x = {asm}
    %a = tile.load(%q, _, _) : i32
    tile.yield([])
  }} {{
    tile.yield([])
  }}
  tile.store(%p, %n, _)
"""
    assert orders(lines, distinct=(0, 1)) == ["store 0", "if 1 0", "inline_asm 2", "load 3", "store 4 1"]


def test_what_is_implied_is_not_repeated() -> None:
    lines = "\n".join("  tile.store(%p, %n, _)" for _ in range(5))
    assert orders(lines) == ["store 0", "store 1 0", "store 2 1", "store 3 2", "store 4 3"]


def test_the_written_order_is_complete() -> None:
    """Every pair that must stay is a chain of written edges, and no edge is there without need."""
    lines: list[str] = []
    for i in range(40):
        pointer = "pq"[i * 7 % 3 % 2]
        lines.append(
            f"  %v{i} = tile.load(%{pointer}, _, _) : i32"
            if i * 5 % 7 < 4
            else f"  tile.store(%{pointer}, %n, _)"
        )
    function = parse(body("\n".join(lines), PARAMETERS))
    order = MemoryOrder(function, AliasAnalysis(function, (0, 1)))
    ops = list(order.token)
    follows: dict[int, set[int]] = {}
    for op in ops:
        direct = set(order.after[op])
        follows[order.token[op]] = direct.union(*(follows[t] for t in direct))
        assert all(order.must_stay(ops[t], op) for t in direct)  # type: ignore[arg-type]
        assert all(t not in follows[u] for t in direct for u in direct)
    for first in ops:
        for second in ops:
            i, j = order.token[first], order.token[second]
            if i < j and order.must_stay(first, second):  # type: ignore[arg-type]
                assert i in follows[j]


# ---- the pass ----------------------------------------------------------------------------------------

TEXT = body(
    """
  %a = tile.load(%p, _, _) : i32
  tile.if(%c) {
    tile.store(%p, %a, _)
    tile.yield([])
  } {
    tile.yield([])
  }
  %t = tile.broadcast(%a) {shape = (2, 3)} : tile<2x3xi32>
  %u = tile.permute(%t) {order = (1, 0)} : tile<3x2xi32>
  tile.store(%p, %a, _)
""",
    PARAMETERS,
)


def test_the_tokens_are_written_and_read_back() -> None:
    function = parse(TEXT)
    assert run(function) and not run(function)
    verify(function, level="total")
    text = print_function(function)
    assert re.findall(r"tile\.(\w+)\(.*order = (\(.*?\))", text) == [
        ("load", "(0,)"),
        ("if", "(1, 0)"),
        ("store", "(2,)"),
        ("permute", "(1, 0)"),
        ("store", "(3, 1)"),
    ]
    again = parse_function(text, REGISTRY)
    assert print_function(again) == text and not run(again)


def test_stale_tokens_are_replaced() -> None:
    function = parse(TEXT)
    run(function)
    first = function.body.ops[0]
    first.attrs["order"] = (9, 8, 7)
    assert run(function) and first.attrs["order"] == (0,)
