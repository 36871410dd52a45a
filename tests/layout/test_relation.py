"""How register layouts relate, against sets of elements per lane and per warp."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.random_layouts import exact_tilings, layouts
from tritium.layout import CudaRegisterTileLayout, Layout, LayoutError, Relation, register_map

SHAPE = (8, 12)


def registers_of(layout):
    """(warp, lane) -> what each register holds, for all 32 lanes; a lane that the layout lacks holds nothing."""
    flat = layout.flat_elements.transpose([layout.inputs.index(axis) for axis in ("warp", "lane", "reg")])
    warps, lanes, count = flat.shape
    return {
        (warp, lane): flat[warp, lane].tolist() if lane < lanes else [-1] * count
        for warp in range(warps)
        for lane in range(32)
    }


def by_sets(first, second):
    mine, yours = registers_of(first), registers_of(second)
    if mine == yours:
        return Relation.SAME
    if lane_sets(mine) == lane_sets(yours):
        return Relation.REGISTER_PERMUTATION
    if warp_sets(mine) == warp_sets(yours):
        return Relation.SHUFFLE
    return Relation.SHARED


def lane_sets(held):
    return {place: set(elements) - {-1} for place, elements in held.items()}


def warp_sets(held):
    found = {warp: set() for warp, _ in held}
    for (warp, _), elements in held.items():
        found[warp] |= set(elements) - {-1}
    return found


@given(exact_tilings(SHAPE), exact_tilings(SHAPE))
def test_relation_against_sets(first, second):
    assert first.relation(second) == by_sets(first, second)


@given(layouts(most=300), layouts(most=300))
def test_relation_is_symmetric(first, second):
    second = Layout(second.digits, first.shape, second.inputs)
    assert first.relation(second) == second.relation(first) == by_sets(first, second)
    assert first.relation(first) == Relation.SAME


@given(exact_tilings(SHAPE), st.data())
def test_permuted_registers_are_a_register_permutation(layout, data):
    registers = list(layout.digits_of("reg"))
    others = [digit for digit in layout.digits if digit.axis != "reg"]
    shuffled = Layout((*data.draw(st.permutations(registers)), *others), layout.shape, layout.inputs)
    assert layout.relation(shuffled) in (Relation.SAME, Relation.REGISTER_PERMUTATION)
    assert register_map(layout, shuffled) is not None


@given(exact_tilings(SHAPE), st.data())
def test_permuted_lanes_are_at_most_a_shuffle(layout, data):
    mixed = [digit for digit in layout.digits if digit.axis == "lane"]
    others = [digit for digit in layout.digits if digit.axis != "lane"]
    shuffled = Layout((*data.draw(st.permutations(mixed)), *others), layout.shape, layout.inputs)
    assert layout.relation(shuffled) in (Relation.SAME, Relation.SHUFFLE)


def test_examples():
    shape = {"row": 8, "col": 8}
    rows = Layout.of("reg: 2 -> row 4; lane: 8 -> col 1, 4 -> row 1", shape)
    flipped = Layout.of("reg: 2 -> row 1; lane: 8 -> col 1, 4 -> row 2", shape)
    warps = Layout.of("lane: 8 -> col 1, 4 -> row 1; warp: 2 -> row 4", shape)
    assert str(rows.relation(rows)) == "same"
    assert str(rows.relation(flipped)) == "shuffle"
    assert str(rows.relation(warps)) == "shared"
    seeds = CudaRegisterTileLayout((8, 8), (4, 8)).layout
    assert rows.relation(seeds) is Relation.SAME
    renamed = Layout.of("reg: 2 -> a 4; lane: 8 -> b 1, 4 -> a 1", {"a": 8, "b": 8})
    assert rows.relation(renamed) is Relation.SAME
    with pytest.raises(LayoutError, match=r"different tiles have no relation: \(8, 8\) and \(8, 4\)"):
        rows.relation(Layout.of("reg: 2 -> row 4", {"row": 8, "col": 4}))


def test_overhang_and_copies_do_not_count():
    exact = Layout.of("reg: 3 -> col 1", {"col": 3})
    hanging = Layout.of("reg: 4 -> col 1", {"col": 3})
    twice = Layout.of("reg: 3 -> col 1, 2 -> -", {"col": 3})
    for other in (hanging, twice):
        assert exact.relation(other) is Relation.REGISTER_PERMUTATION
    assert register_map(exact, twice) == (0, 1, 2, 0, 1, 2)
    assert register_map(exact, hanging)[:3] == (0, 1, 2)
    assert register_map(twice, exact) == (0, 1, 2)


def by_loops(source, target):
    """For each register of `target`: every register of `source` with the same elements in all lanes and warps."""
    found = []
    small = tuple(source.shape.values())
    for reg in range(target.extent("reg")):
        fits = []
        for candidate in range(source.extent("reg")):
            ok = True
            for lane, warp in itertools.product(range(target.extent("lane")), range(target.extent("warp"))):
                want = tuple(target.at(reg=reg, lane=lane, warp=warp).values())
                if any(w >= extent for w, extent in zip(want, target.shape.values())):
                    continue
                want = tuple(w if extent > 1 else 0 for w, extent in zip(want, small))
                ok &= want == tuple(source.at(reg=candidate, lane=lane, warp=warp).values())
            if ok:
                fits.append(candidate)
        found.append(fits)
    return found


@given(layouts(most=120), st.sampled_from([(), ("row",), ("col",), ("row", "col")]))
def test_b8_the_registers_of_a_broadcast_operand(target, axes):
    """The layout that is left after dropping an axis meets the full one without moving anything."""
    source = target.drop(*axes, keep=True)
    expected = by_loops(source, target)
    found = register_map(source, target)
    assert found is not None
    assert all(reg in fits for reg, fits in zip(found, expected))


@given(exact_tilings(SHAPE), exact_tilings(SHAPE))
def test_register_map_against_loops(source, target):
    found = register_map(source, target)
    lanes, warps = source.table().shape[2:]
    if target.extent("warp") != warps or target.extent("lane") > lanes:
        assert found is None
        return
    expected = by_loops(source, target)
    if found is None:
        assert not all(expected)
        assert source.relation(target) not in (Relation.SAME, Relation.REGISTER_PERMUTATION)
    else:
        assert all(reg in fits for reg, fits in zip(found, expected))
        assert source.relation(target) in (Relation.SAME, Relation.REGISTER_PERMUTATION)


def test_register_map_of_the_smallest_axes():
    two = Layout.of("reg: 2 -> row 1, 2 -> col 1", {"row": 2, "col": 2})
    turned = Layout.of("reg: 2 -> col 1, 2 -> row 1", {"row": 2, "col": 2})
    assert register_map(two, turned) == (0, 2, 1, 3)
    assert register_map(two.drop("col", keep=True), turned) == (0, 0, 1, 1)
    assert register_map(Layout.of("reg: 1", {"row": 1, "col": 1}), two) == (0, 0, 0, 0)


def test_register_map_needs_shapes_that_broadcast():
    layout = Layout.of("reg: 2 -> row 1", {"row": 2, "col": 1})
    with pytest.raises(LayoutError, match=r"shape \(2, 1\) does not broadcast to \(3, 1\)"):
        register_map(layout, Layout.of("reg: 3 -> row 1", {"row": 3, "col": 1}))
    with pytest.raises(LayoutError, match="does not broadcast"):
        register_map(layout, Layout.of("reg: 2 -> row 1", {"row": 2}))
