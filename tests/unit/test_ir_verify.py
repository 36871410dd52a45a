"""The verifier passes good IR and names what is wrong with each kind of broken IR."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.interp.kernels import Kernel
from tests.interp.random_programs import RandomKernel
from tritium.errors import TritiumError
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import float32, int1, int32, int64, pointer, tile
from tritium.ir.verify import verify
from tritium.ops.arithmetic import Add
from tritium.ops.control import For, If, Return, While, Yield
from tritium.ops.create import Constant
from tritium.ops.memory import Load, Store
from tritium.ops.reduce import Reduce


def kernel() -> Function:
    """A function with every kind of region, and values that could be misused."""
    k = Kernel("k", p=pointer(int32), n=int32, c=int1)

    def body(i: Value, acc: Value) -> list[Value]:
        chosen = k.if_(k.c, lambda: [k.add(acc, i)], lambda: [acc])
        return [chosen]

    total = k.at(3).for_(0, k.n, 1, [k.n], body)
    left = k.at(5).while_([total], lambda v: k.lt(v, k.n), lambda v: [k.add(v, 1)])
    loaded = k.at(6).load(k.p, k.c, 7)
    k.at(7).store(k.p, k.add(left, loaded), k.c)
    return k.done()


def only(function: Function, cls: type[Op]) -> Op:
    return function.find(cls)[0]


@pytest.mark.parametrize("level", ["off", "cheap", "total"])
@pytest.mark.parametrize("seed", range(10))
def test_good_functions_pass(level: str, seed: int) -> None:
    verify(kernel(), level=level)
    verify(RandomKernel(seed).function, level=level)


def test_the_level_off_looks_at_nothing() -> None:
    function = kernel()
    function.body.ops.pop()
    verify(function, level="off")


# ---- what both levels see ----------------------------------------------------------------------------


def _no_return(f: Function) -> None:
    f.body.ops.pop()


def _return_in_the_middle(f: Function) -> None:
    f.body.insert(0, Return())


def _use_before_definition(f: Function) -> None:
    store = only(f, Store)
    load = only(f, Load)
    f.body.remove(load)
    f.body.append(load)
    f.body.ops[-1], f.body.ops[-2] = f.body.ops[-2], f.body.ops[-1]
    assert f.body.index(store) < f.body.index(load)


def _use_of_a_value_from_inside_a_loop(f: Function) -> None:
    only(f, Store).set_operand(1, only(f, For).regions[0].args[1])


def _use_of_a_value_from_the_other_branch(f: Function) -> None:
    branch = only(f, If)
    inner = branch.regions[0].ops[0].result
    branch.regions[1].ops[-1].set_operand(0, inner)


def _use_of_an_erased_result(f: Function) -> None:
    load = only(f, Load)
    f.body.ops.remove(load)


def _wrong_operand_type(f: Function) -> None:
    add = f.find(Add)[-1]
    wide = Constant(value=1, type=int64)
    f.body.insert_before(add, wide)
    add.set_operand(0, wide.result)


def _wrong_result_type(f: Function) -> None:
    only(f, Load).results[0].type = float32


def _result_missing(f: Function) -> None:
    only(f, Load).results = []


def _region_without_end(f: Function) -> None:
    only(f, For).regions[0].ops.pop()


def _branch_without_end(f: Function) -> None:
    only(f, If).regions[1].ops.pop()


def _yields_of_another_type(f: Function) -> None:
    end = only(f, If).regions[1].ops[-1]
    end.set_operand(0, f.args[2])


def _yields_too_few(f: Function) -> None:
    only(f, For).regions[0].ops[-1].set_operands([], (0,))


def _condition_is_no_truth_value(f: Function) -> None:
    only(f, If).set_operand(0, f.args[1])


def _while_condition_yields_no_truth_value(f: Function) -> None:
    cond = only(f, While).regions[0]
    cond.ops[-1].set_operand(0, cond.args[0])


def _missing_loop_argument(f: Function) -> None:
    body = only(f, For).regions[0]
    body.add_arg(int32)


def _op_in_a_wrong_parent(f: Function) -> None:
    only(f, Load).parent = only(f, For).regions[0]


def _op_twice(f: Function) -> None:
    load = only(f, Load)
    f.body.ops.insert(f.body.ops.index(load) + 1, load)


def _region_of_another_op(f: Function) -> None:
    only(f, If).regions[0].parent = only(f, For)


def _body_of_another_function(f: Function) -> None:
    f.body.parent = Function("other")


def _facts_for_too_few_arguments(f: Function) -> None:
    f.arg_attrs.pop()


def _mask_of_another_shape(f: Function) -> None:
    many = Constant(value=True, type=tile(int1, (4,)))
    store = only(f, Store)
    f.body.insert_before(store, many)
    store.set_operand(2, many.result)


def _constant_of_another_kind(f: Function) -> None:
    only(f, Constant).attrs["value"] = 1.0


def _constant_out_of_range(f: Function) -> None:
    only(f, Constant).attrs["value"] = 1 << 31


ALWAYS_SEEN: list[tuple[Callable[[Function], None], str]] = [
    (_no_return, "@k does not end in tile.return"),
    (_return_in_the_middle, "tile.return stands before the end of its region"),
    (_use_before_definition, "not defined before this op in its scope"),
    (_use_of_a_value_from_inside_a_loop, "not defined before this op in its scope"),
    (_use_of_a_value_from_the_other_branch, "not defined before this op in its scope"),
    (_use_of_an_erased_result, "not defined before this op in its scope"),
    (_wrong_operand_type, "operands of one type, got int64 and int32"),
    (_wrong_result_type, "the type rule gives ['int32']"),
    (_result_missing, "the type rule gives ['int32']"),
    (_region_without_end, "the loop body does not end in tile.yield"),
    (_branch_without_end, "the else region does not end in tile.yield"),
    (_yields_of_another_type, "the branches yield different types"),
    (_yields_too_few, "the loop body yields other types than it carries"),
    (_condition_is_no_truth_value, "the condition of tile.if is a 0-d i1"),
    (_while_condition_yields_no_truth_value, "yields one 0-d i1"),
    (_missing_loop_argument, "the loop body's arguments are the induction variable and the carried values"),
    (_op_in_a_wrong_parent, "the op is in a region that is not its parent"),
    (_op_twice, "the op stands in two places"),
    (_region_of_another_op, "a region does not know its op"),
    (_body_of_another_function, "the body does not know its function"),
    (_facts_for_too_few_arguments, "argument facts and arguments differ in number"),
    (_mask_of_another_shape, "mask"),
    (_constant_of_another_kind, "1.0 is not how a constant of int32 is written"),
    (_constant_out_of_range, "2147483648 is not how a constant of int32 is written"),
]


@pytest.mark.parametrize("level", ["cheap", "total"])
@pytest.mark.parametrize("damage, problem", ALWAYS_SEEN, ids=lambda x: getattr(x, "__name__", None))
def test_broken_structure_is_seen_at_both_levels(
    level: str, damage: Callable[[Function], None], problem: str
) -> None:
    function = kernel()
    damage(function)
    with pytest.raises(TritiumError) as caught:
        verify(function, level=level, after="some_pass")
    error = caught.value
    assert error.code == "TRI0904"
    assert "after some_pass" in str(error) and problem in str(error), str(error)


def test_the_error_shows_the_op_and_its_line() -> None:
    function = kernel()
    _wrong_result_type(function)
    with pytest.raises(TritiumError) as caught:
        verify(function)
    assert caught.value.loc is not None and caught.value.loc.line == 6
    assert "tile.load(" in str(caught.value)


# ---- what only the level `total` sees ----------------------------------------------------------------


def _use_not_listed(f: Function) -> None:
    load = only(f, Load)
    del load.results[0].uses[next(iter(load.results[0].uses))]


def _use_that_is_none(f: Function) -> None:
    load = only(f, Load)
    load.results[0].uses[(only(f, Store), 0)] = None


def _use_beyond_the_operands(f: Function) -> None:
    only(f, Load).results[0].uses[(only(f, Store), 9)] = None


def _use_by_an_op_that_is_gone(f: Function) -> None:
    load = only(f, Load)
    Add(load.results[0], load.results[0])


def _argument_used_by_an_op_that_is_gone(f: Function) -> None:
    arg = only(f, For).regions[0].args[0]
    Add(arg, arg)


def _parameter_used_by_an_op_that_is_gone(f: Function) -> None:
    Add(f.args[1], f.args[1])


def _result_of_another_op(f: Function) -> None:
    only(f, Load).results[0].owner = only(f, Store)


def _result_with_a_wrong_index(f: Function) -> None:
    only(f, Load).results[0].index = 1


def _argument_with_a_wrong_index(f: Function) -> None:
    only(f, For).regions[0].args[1].index = 0


def _argument_of_another_region(f: Function) -> None:
    only(f, For).regions[0].args[1].owner = Region()


TOTALLY_SEEN: list[tuple[Callable[[Function], None], str]] = [
    (_use_not_listed, "does not list this op among its uses"),
    (_use_that_is_none, "result 0 lists a use that is none"),
    (_use_beyond_the_operands, "result 0 lists a use that is none"),
    (_use_by_an_op_that_is_gone, "result 0 is used by a detached op"),
    (_argument_used_by_an_op_that_is_gone, "argument 0 is used by a detached op"),
    (_parameter_used_by_an_op_that_is_gone, "argument 1 is used by a detached op"),
    (_result_of_another_op, "result 0 does not know where it comes from"),
    (_result_with_a_wrong_index, "result 0 does not know where it comes from"),
    (_argument_with_a_wrong_index, "argument 1 does not know where it comes from"),
    (_argument_of_another_region, "argument 1 does not know where it comes from"),
]


@pytest.mark.parametrize("damage, problem", TOTALLY_SEEN, ids=lambda x: getattr(x, "__name__", None))
def test_broken_links_are_seen_at_level_total(damage: Callable[[Function], None], problem: str) -> None:
    function = kernel()
    damage(function)
    verify(function, level="cheap")
    with pytest.raises(TritiumError) as caught:
        verify(function, level="total")
    assert caught.value.code == "TRI0904" and problem in str(caught.value), str(caught.value)


def test_a_combine_region_uses_nothing_from_outside() -> None:
    k = Kernel("k", p=pointer(int32), n=int32)

    def build(extra: Value | None) -> Function:
        combine = k.region(lambda a, b: [k.add(a, extra if extra is not None else b)], [int32, int32])
        total = k.emit(Reduce, [k.arange(8)], axis=0, combine=combine)
        k.store(k.p, total)
        return k.done()

    with pytest.raises(TritiumError, match="uses a value from outside"):
        verify(build(k.n))


def test_an_empty_yield_and_nested_regions_are_fine() -> None:
    k = Kernel("k", c=int1)
    k.if_(k.c, lambda: k.if_(k.c, lambda: []))
    verify(k.done(), level="total")
    assert len(k.function.find(Yield)) == 4
