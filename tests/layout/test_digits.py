"""The algebra: tables against plain loops, coverage, drop, transpose, reshape, compose and the notation."""

import copy
import itertools
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.random_layouts import exact_tilings, layouts, memories, swizzles
from tritium.layout import Digit, Layout, LayoutError, Swizzle

ACCUMULATOR = "reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1"


def by_definition(layout, place):
    """Outputs at one place, digit by digit, as the definition says."""
    found = dict.fromkeys(layout.outputs, 0)
    left = dict(place)
    for digit in layout.digits:
        left[digit.axis], value = divmod(left[digit.axis], digit.extent)
        for output, step in digit.steps.items():
            found[output] += value * step
    if layout.swizzle is not None:
        s = layout.swizzle
        moved = found["byte"] >> (s.base + s.shift) & (1 << s.bits) - 1
        found["byte"] ^= moved << s.base
    return found


def places(layout):
    for index in itertools.product(*(range(layout.extent(axis)) for axis in layout.inputs)):
        yield dict(zip(layout.inputs, index))


@given(layouts(most=300) | memories())
def test_the_table_is_the_definition(layout):
    table = layout.table()
    for place in itertools.islice(places(layout), 200):
        expected = by_definition(layout, place)
        assert layout.at(**place) == expected
        assert tuple(table[(slice(None), *place.values())]) == tuple(expected.values())


@given(layouts(most=300))
def test_coverage_counts_owners(layout):
    owners, outside = {}, 0
    for place in places(layout):
        at = tuple(by_definition(layout, place).values())
        if all(a < extent for a, extent in zip(at, layout.shape.values())):
            owners[at] = owners.get(at, 0) + 1
        else:
            outside += 1
    size = np.prod(list(layout.shape.values()))
    coverage = layout.covers()
    assert coverage.outside == outside
    assert coverage.most == max(owners.values(), default=0)
    assert coverage.fewest == (min(owners.values()) if len(owners) == size else 0)
    partial = len(owners) < size
    assert coverage.injective == (coverage.most <= 1) == (len(owners) == sum(owners.values()))
    assert coverage.kind == ("partial" if partial else "exactly once" if coverage.most == 1 else "replicated")
    for output in layout.outputs:
        beyond = any(by_definition(layout, place)[output] >= layout.shape[output] for place in places(layout))
        assert layout.overhang(output) == beyond


@given(layouts(most=300), st.data())
def test_overhang_of_one_register(layout, data):
    fixed = {
        axis: data.draw(st.integers(0, layout.extent(axis) - 1))
        for axis in data.draw(st.sets(st.sampled_from(layout.inputs)))
    }
    for output in layout.outputs:
        values = [
            by_definition(layout, place)[output]
            for place in places(layout)
            if all(place[axis] == value for axis, value in fixed.items())
        ]
        assert layout.reach(output, **fixed) == 1 + max(values)
        assert layout.overhang(output, **fixed) == (max(values) >= layout.shape[output])


def test_only_the_last_round_needs_a_test():
    tile = Layout.of(
        "reg: 3 -> col 16, 5 -> row 8; lane: 16 -> col 1, 2 -> row 1; warp: 4 -> row 2 | row 37, col 41"
    )
    assert [tile.overhang("col", reg=reg) for reg in range(6)] == [False, False, True] * 2
    assert [tile.overhang("row", reg=3 * turn) for turn in range(5)] == [False] * 4 + [True]


@given(exact_tilings())
def test_every_element_is_held_exactly_once(layout):
    assert layout.covers().kind == "exactly once"
    assert layout.covers().outside == 0
    assert sorted(layout.flat_elements.reshape(-1)) == list(range(np.prod(list(layout.shape.values()))))


@given(layouts(most=300), st.booleans())
def test_transpose_swaps_coordinates(layout, explicit):
    turned = layout.transpose(1, 0) if explicit else layout.transpose()
    assert turned.shape == {"row": layout.shape["col"], "col": layout.shape["row"]}
    assert np.array_equal(turned.table(), layout.table()[::-1])
    assert turned.transpose() == layout


def test_transpose_of_three_axes_is_that_of_numpy():
    layout = Layout.of("reg: 2 -> a 1, 3 -> b 1, 5 -> c 1", {"a": 2, "b": 3, "c": 5})
    turned = layout.transpose(2, 0, 1)
    assert turned.shape == {"a": 5, "b": 2, "c": 3}
    tile = np.arange(30).reshape(2, 3, 5)
    moved = tile.transpose(2, 0, 1)
    for reg in range(30):
        assert moved[tuple(turned.at(reg=reg).values())] == tile[tuple(layout.at(reg=reg).values())]
    for bad in [(0, 1), (0, 1, 1), (1, 2, 3)]:
        with pytest.raises(LayoutError, match="is not an order of the 3 axes"):
            layout.transpose(*bad)


@given(layouts(most=300), st.sampled_from(["row", "col"]), st.booleans())
def test_drop_forgets_one_coordinate(layout, gone, keep):
    other = "col" if gone == "row" else "row"
    row = layout.outputs.index(other)
    untrimmed = layout.drop(gone, keep=keep, trim=())
    assert np.array_equal(untrimmed.table()[untrimmed.outputs.index(other)], layout.table()[row])
    trimmed = layout.drop(gone, keep=keep)
    assert trimmed.shape == ({**layout.shape, gone: 1} if keep else {other: layout.shape[other]})
    held = {place: set() for place in np.ndindex(*layout.table().shape[2:])}
    for place in held:
        before = layout.table()[(row, slice(None), *place)]
        after = trimmed.table()[(trimmed.outputs.index(other), slice(None), *place)]
        assert set(before) == set(after)


def test_dropping_the_columns_of_an_accumulator_leaves_fourfold_replication():
    rows = Layout.of(ACCUMULATOR, {"row": 16, "col": 8}).drop("col")
    assert str(rows) == "reg: 2 -> row 8; lane: 4 -> -, 8 -> row 1 | row 16"
    assert (rows.covers().kind, rows.covers().fewest, rows.covers().most) == ("replicated", 4, 4)
    assert rows.replicas == (("lane", 1, 4),)
    with pytest.raises(LayoutError, match="Cannot drop depth: the outputs are row, col"):
        Layout.of(ACCUMULATOR, {"row": 16, "col": 8}).drop("depth")


@given(exact_tilings())
def test_reshape_to_flat_keeps_row_major_order(layout):
    flat = layout.reshape({"flat": np.prod(list(layout.shape.values()))})
    assert np.array_equal(flat.table()[0].reshape(-1), layout.flat_elements.reshape(-1))


@given(exact_tilings(names=("a", "b", "c")), st.data())
def test_reshape_is_that_of_numpy_or_is_refused(layout, data):
    size = int(np.prod(list(layout.shape.values())))
    rows = data.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    try:
        reshaped = layout.reshape({"row": rows, "col": size // rows})
    except LayoutError as refused:
        assert "the new axes" in str(refused)
        return
    reg = data.draw(st.integers(0, size - 1))
    assert reshaped.covers().kind == "exactly once"
    where = np.argwhere(reshaped.flat_elements == reg)
    assert [layout.flat_elements[tuple(layout_index(reshaped, layout, i))] for i in where] == [reg]


def layout_index(first, second, index):
    """The index of one place in a second layout with the same places."""
    at = dict(zip(first.inputs, index))
    return [at[axis] for axis in second.inputs]


def test_reshape_examples():
    strided = Layout.of("reg: 4 -> flat 1, 3 -> flat 128; lane: 32 -> flat 4", {"flat": 384})
    tile = strided.reshape({"row": 12, "col": 32})
    assert str(tile) == "reg: 4 -> col 1, 3 -> row 4; lane: 8 -> col 4, 4 -> row 1 | row 12, col 32"
    assert tile.reshape({"flat": 384}).relation(strided).value == "same"
    with pytest.raises(LayoutError, match="straddles the new axes"):
        strided.reshape({"row": 8, "col": 48})
    with pytest.raises(LayoutError, match=r"shape \(384,\) cannot be reshaped to \(5, 5\)"):
        strided.reshape({"row": 5, "col": 5})
    with pytest.raises(LayoutError, match="overhangs along col"):
        Layout.of("reg: 4 -> col 1", {"row": 2, "col": 3}).reshape({"flat": 6})
    assert (
        Layout.of("reg: 3 -> row 1, 2 -> col 1", {"row": 2, "col": 2}).reshape({"flat": 4}).overhang("flat")
    )


@given(exact_tilings(), st.sampled_from([1, 2, 4]), st.integers(0, 5), st.integers(1, 3), st.data())
def test_compose_gives_the_bytes_of_each_place(layout, size, padding, stages, data):
    rows, columns = layout.shape["row"], layout.shape["col"]
    pitch = (columns + padding) * size
    panel = data.draw(st.sampled_from([n for n in range(1, columns + 1) if columns % n == 0]))
    panels = f"{panel} -> byte {size}, {columns // panel} -> byte {panel * rows * pitch}"
    memory = Layout.of(
        f"row: {rows} -> byte {pitch}; col: {panels}; stage: {stages} -> byte {8 * rows * pitch * columns}",
        {"byte": 1 << 20},
        swizzle=data.draw(st.none() | swizzles),
    )
    try:
        bytes_of = layout.compose(memory)
    except LayoutError as refused:
        assert "the digits of col" in str(refused)
        return
    assert bytes_of.inputs == ("reg", "lane", "warp", "stage")
    row, col = layout.table()
    expected = memory.table()[0][row, col]
    assert np.array_equal(bytes_of.table()[0], expected)


def test_compose_splits_a_digit_at_the_panels():
    registers = Layout.of(
        "reg: 4 -> col 1, 2 -> row 1; lane: 32 -> col 4; warp: 2 -> row 2", {"row": 4, "col": 128}
    )
    panels = Layout.of("row: 4 -> byte 128; col: 64 -> byte 2, 2 -> byte 512", {"byte": 1024})
    assert str(registers.compose(panels)) == (
        "reg: 4 -> byte 2, 2 -> byte 128; lane: 16 -> byte 8, 2 -> byte 512; warp: 2 -> byte 256 | byte 1024"
    )
    uneven = Layout.of("reg: 5 -> col 16", {"col": 80})
    with pytest.raises(LayoutError, match="straddles the digits of col: it crosses multiples of 64 unevenly"):
        uneven.compose(Layout.of("col: 64 -> byte 2, 2 -> byte 512", {"byte": 1024}))
    with pytest.raises(LayoutError, match="Cannot compose outputs row, col with a layout of inputs col"):
        registers.compose(Layout.of("col: 128 -> byte 2", {"byte": 256}))


def test_compose_of_two_outputs_cut_at_different_places():
    diagonal = Layout.of("lane: 12 -> row 1 + col 1", {"row": 12, "col": 12})
    memory = Layout.of(
        "row: 4 -> byte 1, 3 -> byte 100; col: 2 -> byte 1000, 6 -> byte 10000", {"byte": 1 << 20}
    )
    composed = diagonal.compose(memory)
    assert np.array_equal(composed.table()[0], [memory.at(row=i, col=i)["byte"] for i in range(12)])
    crossing = Layout.of("row: 4 -> byte 1, 3 -> byte 100; col: 6 -> byte 1, 2 -> byte 7", {"byte": 1 << 20})
    with pytest.raises(LayoutError, match="cut at 4 and at 6 by two outputs"):
        diagonal.compose(crossing)


@given(swizzles, st.integers(0, 1 << 14))
def test_a_swizzle_undoes_itself_and_keeps_its_period(swizzle, address):
    assert swizzle.apply(swizzle.apply(address)) == address
    assert swizzle.apply(address + swizzle.period) == swizzle.apply(address) + swizzle.period
    block = np.arange(swizzle.period)
    assert sorted(swizzle.apply(block)) == list(block)


@pytest.mark.parametrize("fields", [(0, 4, 3), (3, -1, 3), (3, 4, 2)])
def test_swizzles_that_do_not_undo_themselves_are_refused(fields):
    with pytest.raises(LayoutError, match="not a permutation that undoes itself"):
        Swizzle(*fields)


@given(layouts(most=300) | memories())
def test_text_round_trip(layout):
    assert Layout.of(str(layout)) == layout
    assert eval(repr(layout)) == layout


@pytest.mark.parametrize(
    "text, message",
    [
        ("reg 2 -> col 1 | col 2", "Cannot read 'reg 2 -> col 1' as digits"),
        ("reg: 2 => col 1 | col 2", "Cannot read digit '2 => col 1' of reg"),
        ("reg: 2 -> col | col 2", "Cannot read digit '2 -> col' of reg"),
        ("reg: 2 -> col 1", "Cannot read 'reg: 2 -> col 1'; write"),
        ("reg: 2 -> col 1 | col", "Cannot read 'col' as the extent of one output"),
        ("reg: 2 -> col 1 | col 2, col 3", "Cannot read 'col 3' as the extent of one output"),
        ("row: 2 -> byte 1 | byte 2 | xor 3", "Cannot read 'xor 3' as a swizzle"),
        ("reg: 2 -> row 1 | col 2", "A digit of reg moves row, and the outputs are col"),
        ("reg: 0 -> col 1 | col 2", "needs a positive extent, and 0 was given"),
        ("reg: 2 -> col 1 | col 0", "col has extent 0"),
        ("col: 2 -> col 1 | col 2", "col is the name of an input and of an output"),
        ("reg: 2 -> col 1 | col 2 | swizzle 1, 4, 3", "permutes the output byte, and the outputs are col"),
    ],
)
def test_what_cannot_be_read_is_quoted(text, message):
    with pytest.raises(LayoutError) as caught:
        Layout.of(text)
    assert message in str(caught.value)


def test_places_out_of_range_are_refused():
    layout = Layout.of(ACCUMULATOR, {"row": 16, "col": 8})
    assert layout.at(reg=3, lane=31) == {"row": 15, "col": 7}
    with pytest.raises(LayoutError, match=r"lane is 32, and it must be in 0\.\.\.31"):
        layout.at(lane=32)
    with pytest.raises(LayoutError, match="no input warp; it has reg, lane"):
        layout.at(warp=0)
    with pytest.raises(LayoutError, match="no input or output stage; it has reg, lane, row, col"):
        layout.extent("stage")
    with pytest.raises(LayoutError, match="must not be negative"):
        Digit("reg", 2, {"col": -1})


@given(layouts(most=300) | memories())
def test_layouts_are_values(layout):
    again = Layout(layout.digits, layout.shape, layout.inputs, layout.swizzle)
    assert again == layout and hash(again) == hash(layout)
    assert pickle.loads(pickle.dumps(layout)) == layout == copy.deepcopy(layout)
    assert again.table() is not layout.table() and layout.table() is layout.table()
    with pytest.raises(ValueError):
        layout.table()[...] = 0
    with pytest.raises(AttributeError):
        layout.digits = ()
    with pytest.raises(TypeError):
        layout.shape["row"] = 1


def test_the_order_of_outputs_is_part_of_a_layout():
    first = Layout.of("reg: 2 -> a 1", {"a": 2, "b": 3})
    assert first != Layout.of("reg: 2 -> a 1", {"b": 3, "a": 2})
    assert first != "reg" and Digit("reg", 2, {}) != 2


def test_large_tiles_are_quick_and_remembered():
    """A 256 x 256 tile: every query together in a fraction of a second, the second time for nothing."""
    layout = Layout.of(
        "reg: 4 -> col 1, 4 -> col 64, 32 -> row 8; lane: 16 -> col 4, 2 -> row 1; warp: 4 -> row 2",
        {"row": 256, "col": 256},
    )
    best = float("inf")
    for _ in range(5):
        fresh = Layout(layout.digits, layout.shape, layout.inputs)
        start = time.perf_counter()
        fresh.table()
        assert fresh.covers().kind == "exactly once"
        best = min(best, time.perf_counter() - start)
        assert fresh.covers() is fresh.covers()
    assert best < 0.02
