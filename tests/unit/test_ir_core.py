"""Values, ops, regions and functions: use lists, erasing, moving, cloning, walking."""

from __future__ import annotations

import random

import pytest

from tests.interp.kernels import Kernel
from tests.interp.random_programs import RandomKernel
from tritium.errors import Loc
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.printer import print_function
from tritium.ir.types import float32, int1, int32, pointer
from tritium.ir.verify import verify
from tritium.ops.arithmetic import Add, Mul
from tritium.ops.control import For, If, Return, Yield
from tritium.ops.create import Constant
from tritium.ops.memory import Load, Store


def uses(value: Value) -> list[tuple[str, int]]:
    return [(op.name, i) for op, i in value.uses]


def two_sums() -> tuple[Kernel, Op, Op]:
    k = Kernel(x=int32, y=int32)
    first = k.add(k.x, k.x)
    second = k.mul(first, k.y)
    k.done()
    return k, first.owner, second.owner  # type: ignore[return-value]


# ---- use lists ---------------------------------------------------------------------------------------


def test_a_value_knows_every_operand_it_is() -> None:
    k, _, _ = two_sums()
    assert uses(k.x) == [("tile.add", 0), ("tile.add", 1)]
    assert uses(k.y) == [("tile.mul", 1)]


def test_set_operand_moves_the_use() -> None:
    k, add, _ = two_sums()
    add.set_operand(1, k.y)
    assert uses(k.x) == [("tile.add", 0)]
    assert uses(k.y) == [("tile.mul", 1), ("tile.add", 1)]
    assert add.operands == [k.x, k.y]


def test_set_operands_replaces_the_whole_list_and_its_uses() -> None:
    k = Kernel(p=pointer(float32), v=float32, m=int1)
    k.store(k.p, k.v, k.m)
    store = k.function.body.ops[0]
    assert isinstance(store, Store) and store.segments == (1, 1, 1) and store.mask is k.m
    store.set_operands([k.p, k.v], (1, 1, 0))
    assert store.mask is None and store.value is k.v and not k.m.uses


def test_replace_uses_with_redirects_all_and_keeps_the_name() -> None:
    k, add, mul = two_sums()
    add.result.name = "total"
    other = k.emit(Constant, value=3, type=int32)
    add.result.replace_uses_with(other)
    assert mul.operands[0] is other and not add.result.uses
    assert other.name == "total"


def test_replace_uses_with_itself_changes_nothing() -> None:
    k, _, _ = two_sums()
    before = list(k.x.uses)
    k.x.replace_uses_with(k.x)
    assert list(k.x.uses) == before


def test_replacing_where_the_new_value_uses_the_old_one_is_what_it_says() -> None:
    k, add, mul = two_sums()
    k.x.replace_uses_with(mul.result)
    assert add.operands == [mul.result, mul.result]  # a cycle, which the verifier refuses
    with pytest.raises(Exception, match="not defined before"):
        verify(k.function)


# ---- erasing and moving ------------------------------------------------------------------------------


def test_an_op_in_use_cannot_be_erased() -> None:
    _, add, _ = two_sums()
    with pytest.raises(ValueError, match=r"tile\.add is erased while"):
        add.erase()


def test_erase_leaves_no_trace() -> None:
    k, add, mul = two_sums()
    mul.erase()
    assert mul.parent is None and mul not in k.function.body.ops
    assert not add.result.uses and not k.y.uses


def test_erase_drops_uses_of_nested_ops_and_detaches_them() -> None:
    k = Kernel(c=int1, x=int32, p=pointer(int32))
    k.if_(k.c, lambda: k.store(k.p, k.add(k.x, 1)))
    k.done()
    op = k.function.body.ops[0]
    nested = list(op.walk())[1:]
    op.erase()
    assert not k.x.uses and not k.p.uses and not k.c.uses
    assert all(inner.parent is None for inner in nested)


def test_replace_with_puts_other_values_in_place_and_erases() -> None:
    k, add, mul = two_sums()
    add.replace_with([k.y])
    assert mul.operands == [k.y, k.y] and add.parent is None
    with pytest.raises(ValueError):
        mul.replace_with([])


def test_move_before_changes_region_and_order() -> None:
    k = Kernel(c=int1, x=int32, p=pointer(int32))
    k.if_(k.c, lambda: k.store(k.p, k.add(k.x, k.x)))
    k.done()
    holder = k.function.body.ops[0]
    assert isinstance(holder, If)
    add = holder.then_region.ops[0]
    add.move_before(holder)
    assert k.function.body.ops[:2] == [add, holder] and add.parent is k.function.body
    assert add not in holder.then_region.ops
    verify(k.function, level="total")


def test_an_op_of_another_region_has_no_index() -> None:
    k, add, _ = two_sums()
    other = Region()
    with pytest.raises(ValueError, match=r"tile\.add.* is not in"):
        other.index(add)
    add.result.replace_uses_with(k.y)
    add.erase()
    with pytest.raises(ValueError, match="is not in"):
        k.function.body.index(add)
    fresh = Constant(value=1, type=int32)
    with pytest.raises(ValueError, match="is not in"):
        k.function.body.index(fresh)


def test_index_is_right_after_any_insertions_and_removals() -> None:
    rng = random.Random(5)
    region = Region()
    expected: list[Op] = []
    for step in range(3000):
        kind = rng.choice(("front", "before", "append", "remove", "move"))
        op = Constant(value=step, type=int32)
        if kind == "append" or len(expected) < 100:
            region.append(op)
            expected.append(op)
        elif kind == "front":
            region.insert(0, op)
            expected.insert(0, op)
        elif kind == "before":
            at = rng.randrange(len(expected))
            region.insert_before(expected[at], op)
            expected.insert(at, op)
        elif kind == "remove":
            region.remove(expected.pop(rng.randrange(len(expected))))
        else:
            moved = expected.pop(rng.randrange(len(expected)))
            at = rng.randrange(len(expected))
            moved.move_before(expected[at])
            expected.insert(at, moved)
        assert region.ops == expected
    assert [region.index(op) for op in expected] == list(range(len(expected)))


# ---- structure ---------------------------------------------------------------------------------------


def nested_kernel() -> Kernel:
    k = Kernel(c=int1, p=pointer(int32), n=int32)

    def body(i: Value, acc: Value) -> list[Value]:
        k.if_(k.c, lambda: k.store(k.p, i))
        return [k.add(acc, i)]

    total = k.for_(0, k.n, 1, [k.n], body)
    k.store(k.p, total)
    k.done()
    return k


def test_walk_gives_outer_before_inner_in_order() -> None:
    names = [op.name.removeprefix("tile.") for op in nested_kernel().function.walk()]
    assert names == [
        *("constant", "constant", "for"),
        *("if", "store", "yield", "yield", "add", "yield"),
        *("store", "return"),
    ]


def test_walk_survives_erasing_what_it_gives() -> None:
    function = nested_kernel().function
    for op in function.walk():
        if isinstance(op, Store):
            op.erase()
    assert not function.find(Store)


def test_parents() -> None:
    function = nested_kernel().function
    (loop,), (branch,) = function.find(For), function.find(If)
    store = branch.then_region.ops[0]
    assert store.parent_op() is branch and branch.parent_op() is loop and loop.parent_op() is None
    assert (
        store.is_inside(loop.body) and store.is_inside(branch.then_region) and store.is_inside(function.body)
    )
    assert not store.is_inside(branch.else_region) and not loop.is_inside(loop.body)
    assert loop.results[0].defining_op is loop and loop.body.args[0].defining_op is None


def test_terminators() -> None:
    function = nested_kernel().function
    assert isinstance(function.body.terminator, Return)
    (loop,) = function.find(For)
    assert isinstance(loop.body.terminator, Yield)
    assert Region().terminator is None
    loop.body.ops.pop()
    assert loop.body.terminator is None


def test_find_takes_classes_and_predicates() -> None:
    function = nested_kernel().function
    assert len(function.find(Store)) == 2
    assert function.find(lambda op: op.name == "tile.store") == function.find(Store)
    assert not function.find(Load)


def test_result_is_only_there_for_one_result() -> None:
    function = nested_kernel().function
    with pytest.raises(ValueError):
        _ = function.find(Store)[0].result


# ---- cloning -----------------------------------------------------------------------------------------


def test_a_clone_is_equal_and_shares_nothing() -> None:
    k = nested_kernel()
    original = k.function
    original.attrs["num_warps"] = 4
    original.arg_attrs[1]["divisibility"] = 16
    text = print_function(original, locs=True)
    copy = original.clone()
    verify(copy, level="total")
    assert print_function(copy, locs=True) == text
    values = {v for op in original.walk() for v in (*op.operands, *op.results)}
    assert all(v not in values for op in copy.walk() for v in (*op.operands, *op.results))
    copy.attrs["num_warps"] = 8
    copy.arg_attrs[1]["divisibility"] = 1
    for op in copy.walk():
        op.attrs["mark"] = 1
    for store in copy.find(Store):
        store.erase()
    assert print_function(original, locs=True) == text
    verify(original, level="total")


def test_cloning_an_op_maps_operands_and_gives_its_results() -> None:
    k, add, mul = two_sums()
    mapping: dict[Value, Value] = {k.x: k.y}
    copy = add.clone(mapping)
    assert copy.operands == [k.y, k.y] and copy.parent is None and copy.loc is add.loc
    assert mapping[add.result] is copy.result and copy.result.owner is copy
    second = mul.clone(mapping)
    assert second.operands[0] is copy.result


@pytest.mark.parametrize("seed", range(20))
def test_clones_of_random_kernels(seed: int) -> None:
    function = RandomKernel(seed).function
    copy = function.clone()
    verify(copy, level="total")
    assert print_function(copy) == print_function(function)


def test_fields_read_optional_and_variadic_operands() -> None:
    k = Kernel(p=pointer(float32), m=int1, n=int32)
    plain = k.load(k.p).owner
    masked = k.load(k.p, k.m, 0.0).owner
    assert isinstance(plain, Load) and isinstance(masked, Load)
    assert (plain.ptr, plain.mask, plain.other) == (k.p, None, None)
    assert masked.mask is k.m and masked.other is masked.operands[2]
    pair = Yield([k.n, k.n])
    assert pair.values == [k.n, k.n] and Yield().values == []


def test_ops_are_never_equal_to_others() -> None:
    k = Kernel(x=int32)
    first, second = k.add(k.x, k.x).owner, k.add(k.x, k.x).owner
    assert first != second and len({first, second}) == 2
    assert isinstance(first, Add) and not isinstance(first, Mul)


def test_reprs_name_what_they_stand_for() -> None:
    k = Kernel(x=int32)
    assert repr(k.x) == "%x: i32"
    k.at(7)
    op = k.add(k.x, 1).owner
    assert repr(op) == "<tile.add at 7>"
    assert repr(k.function) == "<function @kernel>"
    assert "2 ops" in repr(k.function.body)


def test_functions_start_empty() -> None:
    function = Function("f", Loc("f.py", 3))
    value = function.add_arg(int32, "n", divisibility=16)
    assert function.args == [value] and function.arg_attrs == [{"divisibility": 16}]
    assert function.body.parent is function and list(function.walk()) == []
