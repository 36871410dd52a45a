"""The rewriter runs rules to a fixpoint, looks again where something changed, and leaves alone what is gone."""

from __future__ import annotations

from tests.passes.transform import body, parse, shown
from tritium.ir.core import Op
from tritium.ir.rewrite import ERASED, Replacement, Rewriter, RewriteSet
from tritium.ir.types import int32
from tritium.ir.verify import verify
from tritium.ops.arithmetic import Add, Mul, Sub
from tritium.ops.bitwise import And
from tritium.ops.control import If
from tritium.ops.create import Constant
from tritium.ops.elementwise import Elementwise
from tritium.ops.memory import Store

CHAIN = body(
    """
  %a = tile.add(%n, %n) : i32
  %b = tile.add(%a, %n) : i32
  %d = tile.mul(%b, %a) : i32
  tile.store(%p, %d, _)
"""
)


def test_a_rule_fires_wherever_it_fits_and_is_counted() -> None:
    rules = RewriteSet("test")

    @rules.rule(Add, name="add becomes sub")
    def to_sub(op: Add, r: Rewriter) -> Replacement:
        return r.emit(Sub, op.x, op.y)

    function = parse(CHAIN)
    assert rules.apply(function) == {"add becomes sub": 2}
    verify(function, level="total")
    assert "tile.add" not in shown(function) and shown(function).count("tile.sub") == 2
    assert rules.apply(function) == {}


def test_rules_of_a_base_class_and_rules_of_all_ops() -> None:
    rules = RewriteSet("test")
    seen: list[str] = []
    rules.rule(Elementwise, name="base")(lambda op, r: seen.append(f"base {op.name}"))
    rules.rule(name="all")(lambda op, r: seen.append(f"all {op.name}"))
    rules.rule(Mul, name="own")(lambda op, r: seen.append(f"own {op.name}"))
    rules.apply(parse(CHAIN))
    assert seen == [
        *("base tile.add", "all tile.add") * 2,
        *("own tile.mul", "base tile.mul", "all tile.mul"),
        *("all tile.store", "all tile.return"),
    ]


def test_the_first_rule_that_fires_is_the_only_one() -> None:
    rules = RewriteSet("test")

    @rules.rule(Mul, name="first")
    def first(op: Mul, r: Rewriter) -> Replacement:
        return op.x

    @rules.rule(Mul, name="second")
    def second(op: Mul, r: Rewriter) -> Replacement:
        return op.y

    assert rules.apply(parse(CHAIN)) == {"first": 1}


def test_users_and_feeders_are_looked_at_again() -> None:
    """The rule on `mul` only fits once its operand has been rewritten, that on `add` once it has lost a use."""
    rules = RewriteSet("test")

    @rules.rule(Mul, name="mul of sub")
    def mul_of_sub(op: Mul, r: Rewriter) -> Replacement:
        return op.x if isinstance(op.x.owner, Sub) else None

    @rules.rule(Add, name="add used once")
    def used_once(op: Add, r: Rewriter) -> Replacement:
        return r.emit(Sub, op.x, op.y) if len(op.result.uses) == 1 else None

    function = parse(CHAIN)
    assert rules.apply(function) == {"add used once": 2, "mul of sub": 1}
    assert shown(function).count("tile.sub") == 2 and "tile.mul" not in shown(function)


def test_erased_ops_and_new_ones_carry_the_location() -> None:
    rules = RewriteSet("test")

    @rules.rule(Store, name="store twice as much, once")
    def doubled(op: Store, r: Rewriter) -> Replacement:
        if isinstance(op.value.owner, Add):
            return None
        r.builder.insert(Store(op.ptr, r.emit(Add, op.value, op.value)))
        return ERASED

    function = parse(body('  tile.store(%p, %n, _) loc("k.py":5:0:0:0 "k")'))
    assert rules.apply(function) == {"store twice as much, once": 1}
    assert [op.loc.line for op in function.body.ops[:2] if op.loc] == [5, 5]
    assert "tile.store(%p, %0, _)" in shown(function)


def test_ops_of_a_branch_that_goes_are_not_looked_at() -> None:
    rules = RewriteSet("test")
    seen: list[Op] = []

    @rules.rule(If, name="drop")
    def drop(op: If, r: Rewriter) -> Replacement:
        return ERASED

    @rules.rule(Add, name="look")
    def look(op: Add, r: Rewriter) -> Replacement:
        seen.append(op)
        return op.x  # would fail on an op without operands

    lines = "  tile.if(%c) {\n    %a = tile.add(%n, %n) : i32\n    tile.store(%p, %a, _)\n    tile.yield([])\n  } {\n    tile.yield([])\n  }"
    function = parse(body(lines))
    assert rules.apply(function) == {"drop": 1} and not seen
    verify(function, level="total")


def test_a_change_in_place_counts_and_is_followed_up() -> None:
    rules = RewriteSet("test")

    @rules.rule(Store, name="store the pointer's number")
    def in_place(op: Store, r: Rewriter) -> Replacement:
        if isinstance(op.value.owner, Constant):
            return None
        op.set_operand(1, r.emit(Constant, value=7, type=int32))
        r.rewritten(op)
        return None

    @rules.rule(And, name="replace elsewhere")
    def elsewhere(op: And, r: Rewriter) -> Replacement:
        r.replace(op.x, op.y)
        return None

    function = parse(
        body("  %a = tile.and(%n, %m) : i32\n  tile.store(%p, %a, _)", "%p: ptr<i32>, %n: i32, %m: i32")
    )
    assert rules.apply(function) == {"replace elsewhere": 1, "store the pointer's number": 1}
    verify(function, level="total")
    assert "tile.and(%m, %m)" in shown(function) and "tile.store(%p, %0, _)" in shown(function)


def test_rules_that_never_settle_are_stopped() -> None:
    rules = RewriteSet("test")

    @rules.rule(Add, name="there")
    def there(op: Add, r: Rewriter) -> Replacement:
        return r.emit(Mul, op.x, op.y)

    @rules.rule(Mul, name="and back")
    def back(op: Mul, r: Rewriter) -> Replacement:
        return r.emit(Add, op.x, op.y)

    function = parse(CHAIN)
    assert sum(rules.apply(function, limit=50).values()) == 50
    verify(function, level="total")
    assert sum(rules.apply(function).values()) > 1000
