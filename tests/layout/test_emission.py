"""The emitted closed form is the table: C text evaluated as Python, at every place, for random layouts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.random_layouts import exact_tilings, layouts, memories
from tritium.layout import CText, Layout, LayoutError, panel_rows
from tritium.layout.fragments import ldmatrix_a, repeat_fragment


def value_of(text, names):
    """C text on non-negative integers as Python sees it: the same operators, with `/` for whole numbers."""
    assert "//" not in text
    return eval(text.replace("/", "//"), {}, names)


def check(layout, symbolic, spelling=lambda axis: axis):
    """Emit with the inputs in `symbolic` as names and the others as numbers, and compare every place."""
    extents = {axis: layout.extent(axis) for axis in layout.inputs}
    table = layout.table()
    for fixed in itertools.product(
        *(range(n) if axis not in symbolic else [0] for axis, n in extents.items())
    ):
        values = {
            axis: spelling(axis) if axis in symbolic else at for (axis, _), at in zip(extents.items(), fixed)
        }
        texts = layout.emit_index(CText(), values)
        assert list(texts) == list(layout.outputs)
        for moving in itertools.product(
            *(range(n) if axis in symbolic else [0] for axis, n in extents.items())
        ):
            index = tuple(np.add(fixed, moving))
            names = dict(zip(extents, moving))
            for row, text in enumerate(texts.values()):
                assert value_of(text, names) == table[(row, *index)], (text, names)


some_axes = st.sets(st.sampled_from(["reg", "lane", "warp", "row", "col", "stage"]))


@settings(max_examples=150)
@given(layouts(most=250) | memories().filter(lambda m: m.table().size <= 300), some_axes)
def test_the_text_computes_the_table(layout, symbolic):
    check(layout, symbolic & set(layout.inputs))


@settings(max_examples=50)
@given(exact_tilings(), some_axes)
def test_the_text_computes_the_table_of_exact_tilings(layout, symbolic):
    check(layout, symbolic & set(layout.inputs))


@given(layouts(most=200))
def test_values_may_be_expressions(layout):
    """A value of any precedence is put in parentheses where C needs them."""
    check(layout, set(layout.inputs), spelling=lambda axis: f"{axis} ^ 0")
    check(layout, set(layout.inputs), spelling=lambda axis: f"{axis} + 1 - 1")


@pytest.mark.parametrize(
    "digits, value, text",
    [
        ("lane: 32 -> col 1", "lane", "lane"),
        ("lane: 32 -> col 4", "lane", "lane * 4"),
        ("lane: 4 -> col 1, 8 -> -", "lane", "lane & 3"),
        ("lane: 4 -> -, 8 -> col 1", "lane", "lane >> 2"),
        ("lane: 4 -> -, 8 -> col 4", "lane", "(lane >> 2) * 4"),
        ("lane: 2 -> -, 4 -> col 2, 4 -> -", "lane", "lane & 6"),
        ("lane: 2 -> -, 4 -> col 1, 4 -> -", "lane", "(lane >> 1) & 3"),
        ("lane: 3 -> -, 5 -> col 7, 2 -> -", "lane", "lane / 3 % 5 * 7"),
        ("lane: 3 -> -, 5 -> col 7", "lane", "lane / 3 * 7"),
        ("lane: 4 -> col 1, 8 -> col 4", "lane", "lane"),
        ("lane: 3 -> col 5, 7 -> col 15", "lane", "lane * 5"),
        ("lane: 4 -> col 2, 8 -> col 1", "lane", "(lane & 3) * 2 + (lane >> 2)"),
        ("lane: 1", "lane", "0"),
        ("lane: 32 -> -", "lane", "0"),
        ("lane: 32 -> col 4", "threadIdx.x & 31", "(threadIdx.x & 31) * 4"),
        ("lane: 32 -> col 4", "threadIdx.x", "threadIdx.x * 4"),
        ("lane: 32 -> col 4", "a[0]", "a[0] * 4"),
        ("lane: 32 -> col 4", "a + b[0]", "(a + b[0]) * 4"),
        ("lane: 32 -> col 4", 5, "20"),
    ],
)
def test_the_text_is_short(digits, value, text):
    assert Layout.of(digits, {"col": 1000}).emit_index(CText(), {"lane": value}) == {"col": text}


def test_constants_come_last_and_large_steps_first():
    layout = Layout.of("reg: 2 -> col 1; lane: 8 -> col 2; warp: 4 -> col 100", {"col": 400})
    assert layout.emit_index(CText(), {"reg": 1, "lane": "lane", "warp": "warp"}) == {
        "col": "warp * 100 + lane * 2 + 1"
    }


def test_a_swizzled_column_is_xored_with_its_row():
    layout = Layout.of(
        "row: 8 -> byte 128; col: 8 -> byte 16; stage: 2 -> byte 1024 | byte 2048 | swizzle 3, 4, 3"
    )

    def text(**values):
        return layout.emit_index(CText(), values)["byte"]

    assert text(row="row", col="col", stage=0) == "row * 128 + ((col * 16) ^ ((row * 16) & 112))"
    assert text(row="row", col="col", stage=1) == "row * 128 + 1024 + ((col * 16) ^ ((row * 16) & 112))"
    assert text(row="row", col="col", stage="s") == "s * 1024 + row * 128 + ((col * 16) ^ ((row * 16) & 112))"
    assert text(row="row", col=0, stage=0) == "row * 128 + ((row * 16) & 112)"
    assert text(row="row", col=5, stage=0) == "row * 128 + (80 ^ ((row * 16) & 112))"
    assert text(row=3, col="col", stage=0) == "384 + ((col * 16) ^ 48)"
    assert text(row=0, col="col", stage=0) == "col * 16"
    assert text(row=3, col=5, stage=1) == str(1024 + 3 * 128 + (5 ^ 3) * 16)


def test_a_swizzled_address_that_carries_into_the_rows_is_xored_as_a_whole():
    layout = Layout.of(
        "row: 8 -> byte 96; col: 6 -> byte 16; stage: 2 -> byte 1024 | byte 2048 | swizzle 3, 4, 3"
    )
    texts = layout.emit_index(CText(), {"row": "row", "col": "col", "stage": 1})
    assert texts == {"byte": "((row * 96 + col * 16) ^ (((row * 96 + col * 16) >> 3) & 112)) + 1024"}


@pytest.mark.parametrize("span", [128, 64, 32])
@pytest.mark.parametrize("names", [("row", "col", "stage"), ("row",), ("col",), ("stage", "col")])
def test_the_text_computes_the_table_of_panels(span, names):
    check(panel_rows(12, 2 * span // 16 * 8, 2, span=span, stages=2), set(names))


@settings(max_examples=30)
@given(st.sampled_from([128, 64, 32]), st.sampled_from([1, 2, 4]), st.integers(1, 2), some_axes)
def test_the_text_computes_the_addresses_of_ldmatrix(span, size, panels, symbolic):
    columns = panels * span // size
    operand = repeat_fragment(ldmatrix_a(size), {"row": 32, "k": columns})
    memory = panel_rows(32, columns, size, span=span, stages=2, names=("row", "k"))
    bytes_of = operand.compose(memory)
    assert bytes_of.emit_index(CText(), dict.fromkeys(bytes_of.inputs, "x"))["byte"].count("^") == 1
    grids = np.indices([bytes_of.extent(axis) for axis in bytes_of.inputs])
    names = dict(zip(bytes_of.inputs, grids))
    values = {axis: axis if axis in symbolic else 0 for axis in bytes_of.inputs}
    names = {axis: grid * (axis in symbolic) for axis, grid in names.items()}
    text = bytes_of.emit_index(CText(), values)["byte"]
    assert (value_of(text, names) == bytes_of.table()[0][tuple(names.values())]).all()


def test_missing_and_impossible_values_are_refused():
    layout = Layout.of("reg: 4 -> col 1; lane: 8 -> col 4; warp: 1", {"col": 32})
    assert layout.emit_index(CText(), {"reg": 0, "lane": "lane"}) == {"col": "lane * 4"}
    with pytest.raises(LayoutError, match="needs a value of lane, which has extent 8"):
        layout.emit_index(CText(), {"reg": 0})
    for bad in (4, -1):
        with pytest.raises(LayoutError, match=rf"reg is {bad}, and it must be in 0\.\.\.3"):
            layout.emit_index(CText(), {"reg": bad, "lane": "lane"})


class Numbers:
    """The same verbs on arrays: what the interpreter would use."""

    constant = staticmethod(lambda value: np.int64(value))
    add = staticmethod(lambda x, y: x + y)
    multiply = staticmethod(lambda x, factor: x * factor)
    divide = staticmethod(lambda x, divisor: x // divisor)
    remainder = staticmethod(lambda x, divisor: x % divisor)
    shift_right = staticmethod(lambda x, bits: x >> bits)
    mask = staticmethod(lambda x, bits: x & bits)
    xor = staticmethod(lambda x, y: x ^ y)


@given(layouts() | memories())
def test_the_vocabulary_is_a_protocol(layout):
    """On arrays of all places at once, the closed form gives the whole table."""
    grids = np.indices([layout.extent(axis) for axis in layout.inputs])
    found = layout.emit_index(Numbers(), dict(zip(layout.inputs, grids)))
    for row, values in enumerate(found.values()):
        assert (layout.table()[row] == values).all()
