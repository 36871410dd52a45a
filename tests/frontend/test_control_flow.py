"""Branches and loops: what they become in the IR, and what they compute."""

from __future__ import annotations

import pytest

from tests.frontend.compiling import define, lower_body, lowered, run, run_body
from tritium.errors import TritiumError
from tritium.ir.core import Function, Op
from tritium.ir.types import int32, int64
from tritium.ops.control import For, If, Poison, While
from tritium.ops.create import Constant


def only(function: Function, cls: type[Op]) -> Op:
    (found,) = function.find(cls)
    return found


# ---- loops ----------------------------------------------------------------------------------------------


def test_a_range_is_a_counted_loop_that_carries_what_it_changes() -> None:
    f = lower_body("""
        acc = 0
        unused = 1
        for i in range(2, n, 3):
            t = i * 2
            acc += t
        tl.store(out, acc)
    """)
    loop = only(f, For)
    assert [v.name for v in loop.body.args] == ["i", "acc"]  # `t` and `unused` do not travel
    assert [r.name for r in loop.results] == ["acc"]
    assert [v.type for v in loop.operands] == [int32] * 4
    assert run(f, 9) == [2 * (2 + 5 + 8)] + [-1] * 7


def test_a_loop_with_constant_bounds_is_not_unrolled() -> None:
    f = lower_body("for i in range(3):\n    tl.store(out + i, i)")
    assert len(f.find(For)) == 1


def test_the_loop_variable_has_the_type_of_the_bounds() -> None:
    f = lower_body(
        "acc = n * 0\nfor i in range(m):\n    acc += i.to(tl.int32)\ntl.store(out, acc)", "out, n, m"
    )
    assert only(f, For).body.args[0].type is int64


@pytest.mark.parametrize(
    ("bounds", "python"),
    [
        ("0, n", range(5)),
        ("n, 0, -2", range(5, 0, -2)),
        ("3", range(3)),
        ("4, 4", range(0)),
        ("n, 2", range(0)),
        ("2147483645, 2147483647, 5", range(2147483645, 2147483647, 5)),
        ("-2147483648, -2147483646", range(-2147483648, -2147483646)),
        ("0, 12, n", range(0, 12, 5)),
        ("12, 0, -n", range(12, 0, -5)),
    ],
)
def test_bounds_with_and_without_a_break(bounds: str, python: range) -> None:
    for exit_ in ("", "if n == 99:\n        break"):
        body = f"last = 0\ncount = 0\nfor i in range({bounds}):\n    {exit_}\n    last = i\n    count += 1\n"
        found = run_body(body + "tl.store(out, last)\ntl.store(out + 1, count)", 5)
        assert found[:2] == [python[-1] if len(python) else 0, len(python)]


def test_a_break_makes_a_while_that_counts_down() -> None:
    f = lower_body("""
        acc = 0
        for i in range(n):
            if i > 3:
                break
            acc += i
        tl.store(out, acc)
    """)
    loop = only(f, While)
    assert [v.name for v in loop.body.args] == ["i", "acc", "remaining", "go"]
    assert not f.find(For)
    assert run(f, 9)[0] == 6


def test_a_break_that_is_never_compiled_leaves_a_counted_loop() -> None:
    f = lower_body("for i in range(n):\n    if False:\n        break\n    tl.store(out, i)")
    assert len(f.find(For)) == 1


def test_the_condition_of_a_while_is_not_evaluated_after_a_break() -> None:
    f = lower_body("""
        at = 0
        while tl.atomic_add(out, 1) < n:
            at += 1
            if at == 2:
                break
        tl.store(out + 1, at)
    """)
    assert run(f, 100)[:2] == [1, 2]  # two increments of -1


def test_while_true_with_a_break() -> None:
    assert (
        run_body("a = 0\nwhile True:\n    a += 1\n    if a > n:\n        break\ntl.store(out, a)", 5)[0] == 6
    )


def test_continue_in_while_and_for() -> None:
    body = """
        acc = 0
        i = 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            acc += i
        for j in range(n):
            if j == 2:
                continue
            acc += j
        tl.store(out, acc)
    """
    assert run_body(body, 5)[0] == (1 + 3 + 5) + (0 + 1 + 3 + 4)


def test_break_in_an_unrolled_loop_at_compile_time_and_at_run_time() -> None:
    f = lower_body("""
        acc = 0
        for i in tl.static_range(6):
            if i == 4:
                break
            if n == i:
                break
            acc += 10 + i
        tl.store(out, acc)
    """)
    assert not f.find(For) and not f.find(While)
    assert run(f, 100)[0] == 10 + 11 + 12 + 13
    assert run(f, 2)[0] == 10 + 11


def test_names_of_an_unrolled_loop_stay_and_may_change_type() -> None:
    f = lower_body("""
        v = tl.arange(0, 2)
        for i in tl.static_range(2):
            v = tl.join(v, v)
            last = i
        tl.static_assert(v.shape[2] == 2)
        tl.store(out, last)
    """)
    assert run(f, 0)[0] == 1


def test_a_name_that_only_some_ways_out_of_an_unrolled_loop_define() -> None:
    with pytest.raises(TritiumError) as caught:
        lower_body("""
            for i in tl.static_range(2):
                if n > i:
                    break
                late = i
            tl.store(out, late)
        """)
    assert caught.value.code == "TRI0303"


def test_the_loop_variable_after_the_loop() -> None:
    assert run_body("for i in range(n):\n    pass\ntl.store(out, i)", 5)[0] == 4
    assert run_body("i = 7\nfor i in range(n):\n    pass\ntl.store(out, i)", 0)[0] == 7
    f = lower_body("i = 1.0\nfor i in range(n):\n    tl.store(out + i, i)")
    assert len(only(f, For).body.args) == 1  # nobody reads it later: it is not carried


def test_a_compile_time_number_becomes_a_run_time_one_when_a_loop_changes_it() -> None:
    body = "for i in range(n):\n    tl.store(out + i, s)\n    s = q + i\n"
    assert run_body(body, 3, 10, params="out, n, s, q", s=1)[:4] == [1, 10, 11, -1]


def test_a_compile_time_number_stays_so_in_a_loop_that_does_not_change_it() -> None:
    f = lower_body(
        """
        for i in range(n):
            if W > 8:
                W = i
            tl.store(out + tl.arange(0, W), tl.zeros((W,), tl.int32) + i)
        """,
        "out, n, W",
        W=4,
    )
    assert run(f, 3) == [2] * 4 + [-1] * 4


def test_nested_loops_retry_only_as_far_as_needed() -> None:
    body = """
        total = 0
        for i in range(n):
            for j in range(2):
                total += s
                s = total
            total += s
        tl.store(out, total)
    """
    total, s = 0, 1
    for _ in range(3):
        for _ in range(2):
            total += s
            s = total
        total += s
    assert run_body(body, 3, params="out, n, s", s=1)[0] == total


def test_scheduling_hints_are_kept() -> None:
    f = lower_body("for i in tl.range(0, n, num_stages=3, flatten=True):\n    tl.store(out, i)")
    assert only(f, For).hints == (("num_stages", 3), ("flatten", True))


def test_a_condition_with_a_hint() -> None:
    assert (
        run_body("i = 0\nwhile tl.condition(i < n, disable_licm=True):\n    i += 1\ntl.store(out, i)", 4)[0]
        == 4
    )


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("(1, n, 3)", [1, 5, 3]),
        ("[n] * 2", [5, 5]),
        ("reversed((1, 2))", [2, 1]),
        ("tuple(range(3))", [0, 1, 2]),
        ("tl.static_range(4, 0, -2)", [4, 2]),
        ("SHAPE", [2, 3]),
    ],
)
def test_loops_over_tuples_are_unrolled(over: str, expected: list[int]) -> None:
    body = f"at = 0\nfor v in {over}:\n    tl.store(out + at, v)\n    at += 1"
    assert run_body(body, 5, params="out, n, SHAPE", SHAPE=(2, 3))[: len(expected) + 1] == [*expected, -1]


def test_several_targets_in_an_unrolled_loop() -> None:
    body = "for i, (a, b) in enumerate(zip((1, n), (3, 4))):\n    tl.store(out + i, a * 10 + b)"
    assert run_body(body, 5)[:3] == [13, 54, -1]


# ---- branches -------------------------------------------------------------------------------------------


def test_a_branch_gives_what_it_changes_and_what_is_read_later() -> None:
    f = lower_body("""
        y = 0
        z = 0
        if n > 3:
            t = n * 2
            y = t
            z = t + 1
        tl.store(out, y)
    """)
    branch = only(f, If)
    assert [r.name for r in branch.results] == ["y"]
    assert run(f, 5)[0] == 10 and run(f, 2)[0] == 0


def test_a_compile_time_condition_leaves_no_branch() -> None:
    for condition in ("W == 4", "W", "MAYBE is None", "not MAYBE", "True"):
        f = lower_body(
            f"if {condition}:\n    tl.store(out, 1)\nelse:\n    nonsense(n)",
            "out, n, W, MAYBE",
            W=4,
            MAYBE=None,
        )
        assert not f.find(If)


def test_an_assigned_truth_value_still_decides_at_compile_time() -> None:
    f = lower_body(
        "has_bias = bias is not None\nif has_bias:\n    tl.store(out, tl.load(bias))\n",
        "out, bias",
        bias=None,
    )
    assert not f.find(If)


def test_the_rest_of_a_block_goes_into_the_branch_that_goes_on() -> None:
    f = lower_body("if n > 3:\n    return\ntl.store(out, n)\nif n > 1:\n    return\ntl.store(out + 1, n)")
    outer, inner = f.find(If)
    assert inner.is_inside(outer.else_region)
    assert not outer.results and not inner.results and not f.find(Poison)
    assert [run(f, k)[:2] for k in (1, 2, 4)] == [[1, 1], [2, -1], [-1, -1]]


def test_many_early_returns_do_not_nest_without_bound() -> None:
    arms = "\n".join(f"if n == {i}:\n    tl.store(out, {i})\n    return" for i in range(300))
    f = lower_body(arms + "\ntl.store(out, 1000)")

    def depth(op: Op) -> int:
        return 1 + max((depth(o) for r in op.regions for o in r.ops), default=0)

    assert max(depth(op) for op in f.body.ops) < 60
    assert [run(f, k)[0] for k in (0, 77, 299, 300)] == [0, 77, 299, 1000]


@pytest.mark.parametrize("count", [3, 30, 1200])
def test_long_elif_chains(count: int) -> None:
    arms = "\n".join(f"elif n == {i}:\n    v = {i * 3}\n    w = {i}" for i in range(1, count))
    f = lower_body(
        f"v = -1\nif n == 0:\n    v = 0\n    w = 0\n{arms}\nelse:\n    w = 7\ntl.store(out, v)\ntl.store(out + 1, w)"
    )
    for n in (0, 1, count - 1, count):
        assert run(f, n)[:2] == ([n * 3, n] if n < count else [-1, 7])


def test_a_long_chain_with_a_name_that_one_arm_leaves_out() -> None:
    arms = "\n".join(f"elif n == {i}:\n    w = {i}" for i in range(1, 40))
    with pytest.raises(TritiumError) as caught:
        lower_body(f"if n == 0:\n    w = 0\n{arms}\ntl.store(out, w)")
    assert caught.value.code == "TRI0303"


def test_a_long_chain_inside_a_loop_with_exits() -> None:
    arms = "\n".join(
        f"    elif i == {i}:\n        {'break' if i == 37 else 'continue' if i % 2 else f'acc += {i}'}"
        for i in range(1, 60)
    )
    body = f"acc = 0\nfor i in range(n):\n    if i == 0:\n        acc = 5\n{arms}\n    acc += 1000\ntl.store(out, acc)"
    acc = 0
    for i in range(50):
        if i == 0:
            acc = 5
        elif i == 37:
            break
        elif i % 2:
            continue
        else:
            acc += i
        acc += 1000
    assert run_body(body, 50)[0] == acc


def test_deeply_nested_branches() -> None:
    lines = [f"{'    ' * i}if n > {i}:" for i in range(60)] + ["    " * 60 + "v = 60"]
    f = lower_body("v = 0\n" + "\n".join(lines) + "\ntl.store(out, v)")
    assert [run(f, n)[0] for n in (59, 60, 5)] == [0, 60, 0]


def test_a_pointer_an_int_and_a_float_as_conditions() -> None:
    body = "y = 0\nif n:\n    y += 1\nif f:\n    y += 2\nif out:\n    y += 4\ntl.store(out, y)"
    found = lower_body(body, "out, n, f")
    assert run(found, 3, 0.0)[0] == 5 and run(found, 0, 0.5)[0] == 6


def test_a_tile_of_one_element_as_a_condition() -> None:
    assert run_body("y = 0\nif tl.arange(0, 1) + n > 2:\n    y = 1\ntl.store(out, y)", 3)[0] == 1


def test_a_conditional_expression_evaluates_one_side() -> None:
    f = lower_body("v = tl.load(out + n) if n < 8 else 100\ntl.store(out, v)")
    assert run(f, 7)[0] == -1 and run(f, 1 << 20)[0] == 100


# ---- return ---------------------------------------------------------------------------------------------


def test_return_from_inside_loops() -> None:
    kernel = define("""
        @jit
        def find(n, m):
            for i in range(n):
                for j in range(n):
                    if i * j == m:
                        return i, j
            return -1, -1

        @jit
        def kernel(out, n, q):
            i, j = find(n, q)
            tl.store(out, i)
            tl.store(out + 1, j)
    """)
    f = lowered(kernel).function
    assert run(f, 6, 12)[:2] == [3, 4] and run(f, 3, 12)[:2] == [-1, -1]


def test_nothing_is_lowered_after_a_return() -> None:
    f = lower_body("tl.store(out, n)\nreturn\nnonsense()")
    assert len([op for op in f.body.ops if op.name == "tile.store"]) == 1


def test_a_kernel_that_returns_a_value() -> None:
    f = lower_body("tl.store(out, n)\nif n > 3:\n    return n\ntl.store(out, 0)\nreturn out")
    assert run(f, 5)[0] == 5 and run(f, 1)[0] == 0


def test_retries_leave_no_stale_uses() -> None:
    f = lower_body("for i in range(n):\n    tl.store(out + i, s)\n    s = i\n", "out, n, s", s=1)
    kept = set(f.walk())
    values = [*f.args, *(r for op in kept for r in op.results)]
    assert all(user in kept for v in values for user, _ in v.uses)
    assert (
        len([op for op in f.body.ops if isinstance(op, Constant)]) == 3
    )  # the lifted number, 0 and the step
