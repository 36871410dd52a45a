"""Padding and swizzles chosen by query: the best of all candidates, and the known cases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.random_layouts import exact_tilings
from tests.layout.test_seed_shared import SEED_PADDINGS
from tritium.layout import (
    Layout,
    LayoutError,
    SharedAccess,
    choose_padding,
    choose_shared,
    padded_rows,
    panel_rows,
    register_tile,
    seed_row_padding,
)


def rows_of_16_bytes(rows, columns, size):
    """What one ldmatrix phase reads: eight rows, 16 bytes each."""
    return SharedAccess(
        Layout.of(f"reg: {16 // size} -> col 1; lane: 8 -> row 1", {"row": rows, "col": columns})
    )


@pytest.mark.parametrize(
    "columns, padding", [(64, 8), (48, 8), (80, 8), (96, 8), (24, 0), (40, 0), (56, 0), (72, 0)]
)
def test_bf16_paddings_for_ldmatrix(columns, padding):
    choice = choose_padding(8, columns, 2, [rows_of_16_bytes(8, columns, 2)])
    assert choice.padding == padding
    assert choice.layout.extent("stage") == 1
    assert (choice.wavefronts, choice.ways) == (choice.least, 1)
    plain_ways = rows_of_16_bytes(8, columns, 2).registers.bank_conflicts(padded_rows(8, columns, 2), 2).ways
    expected = f"8 elements of padding: {plain_ways}-way bank conflicts become 1-way"
    assert choice.why == (expected if padding else "rows without padding have no bank conflicts")


@pytest.mark.parametrize("arguments, padding", SEED_PADDINGS)
def test_c3_the_query_finds_the_padding_of_the_rule(arguments, padding):
    columns, rows = arguments
    column = SharedAccess(Layout.of(f"lane: {rows} -> row 1", {"row": rows, "col": columns}))
    assert choose_padding(rows, columns, 4, [column]).padding == padding == seed_row_padding(columns, rows)


@settings(max_examples=40)
@given(exact_tilings(), st.sampled_from([1, 2, 4, 8]), st.integers(1, 3))
def test_no_padding_up_to_a_round_of_banks_is_better(registers, size, stages):
    rows, columns = registers.shape.values()
    choice = choose_padding(rows, columns, size, [SharedAccess(registers)], stages=stages)
    assert choice.layout == padded_rows(rows, columns, size, padding=choice.padding, stages=stages)
    assert choice.nbytes == stages * rows * (columns + choice.padding) * size
    for padding in range(0, 128 // size + 1):
        other = registers.bank_conflicts(padded_rows(rows, columns, size, padding=padding), size)
        key = (other.wavefronts, other.requests, padding)
        assert (choice.wavefronts, choice.requests, choice.padding) <= key or (columns + padding) * size % 4


@settings(max_examples=40)
@given(exact_tilings(), st.sampled_from([1, 2, 4]))
def test_dense_tiles_are_never_padded(registers, size):
    rows, columns = registers.shape.values()
    choice = choose_shared(rows, columns, size, [SharedAccess(registers)], dense=True)
    assert choice.padding == 0
    candidates = {0: padded_rows(rows, columns, size)}
    candidates |= {
        span: panel_rows(rows, columns, size, span=span)
        for span in (128, 64, 32)
        if columns * size % span == 0
    }
    assert choice.layout == candidates[choice.span]
    found = {span: registers.bank_conflicts(layout, size) for span, layout in candidates.items()}
    assert choice.wavefronts == min(conflicts.wavefronts for conflicts in found.values())
    assert choice.alignment == (8 * choice.span or 16)


def test_a_swizzle_where_padding_is_not_allowed():
    access = rows_of_16_bytes(64, 64, 2)
    dense = choose_shared(64, 64, 2, [access], dense=True, stages=3)
    assert (dense.span, dense.padding, dense.ways, dense.nbytes) == (128, 0, 1, 3 * 64 * 64 * 2)
    assert dense.why == "panels with 128-byte swizzle, 1-way bank conflicts"
    assert (dense.layout, dense.alignment) == (panel_rows(64, 64, 2, span=128, stages=3), 1024)
    free = choose_shared(64, 64, 2, [access])
    assert (free.span, free.padding, free.ways) == (128, 0, 1)
    narrow = choose_shared(64, 40, 2, [rows_of_16_bytes(64, 40, 2)])
    assert (narrow.span, narrow.padding, narrow.why) == (0, 0, "rows without padding have no bank conflicts")


def test_a_transposing_store_and_a_row_read_together():
    """Written down the columns and read along the rows: padding by one keeps both free where no vectors are used."""
    down = register_tile((32, 32), 1, order=(0, 1)).layout
    along = register_tile((32, 32), 1).layout
    plain = padded_rows(32, 32, 4)
    assert down.bank_conflicts(plain, 4, vector=1).ways == 32
    choice = choose_padding(32, 32, 4, [SharedAccess(down, vector=1), SharedAccess(along)])
    assert (choice.padding, choice.ways) == (1, 1)
    assert choice.why == "1 element of padding: 32-way bank conflicts become 1-way"
    vectors = choose_padding(32, 32, 4, [SharedAccess(down), SharedAccess(along)])
    assert (vectors.padding, vectors.ways, vectors.conflicts[0].vector) == (4, 1, 4)


@pytest.mark.parametrize(
    "columns, vector, why",
    [
        (4, None, "rows without padding have no bank conflicts"),
        (6, None, "2 elements of padding: 2 wavefronts become 1"),
        (7, None, "1 element of padding: 4 wavefronts become 1"),
        (7, 4, "1 element of padding, to align the rows for the vectors asked for"),
    ],
)
def test_reasons_other_than_conflicts(columns, vector, why):
    quads = Layout.of("reg: 4 -> col 1; lane: 2 -> row 1", {"row": 2, "col": columns})
    assert choose_padding(2, columns, 4, [SharedAccess(quads, vector)]).why == why


def test_fewer_instructions_count_where_the_wavefronts_are_equal():
    quads = Layout.of("reg: 4 -> col 1; lane: 32 -> row 1", {"row": 32, "col": 5})
    choice = choose_padding(32, 5, 4, [SharedAccess(quads)])
    assert choice.padding == 7
    assert choice.why == "7 elements of padding: 4 instructions become 1"


def test_weights_decide_between_accesses():
    down = SharedAccess(Layout.of("lane: 32 -> row 1; reg: 4 -> col 1", {"row": 32, "col": 4}), vector=1)
    wide = SharedAccess(Layout.of("reg: 4 -> col 1; lane: 32 -> row 1", {"row": 32, "col": 4}), vector=4)
    assert choose_padding(32, 4, 4, [down]).padding == 1
    for times in (1, 10):
        both = choose_padding(32, 4, 4, [down, SharedAccess(wide.registers, wide.vector, times=times)])
        assert both.padding % 4 == 0
        assert both.wavefronts == both.conflicts[0].wavefronts + times * both.conflicts[1].wavefronts


def test_what_cannot_be_chosen():
    for choose in (choose_padding, choose_shared):
        with pytest.raises(LayoutError, match="chosen for accesses, and none was given"):
            choose(8, 8, 4, [])
    scattered = SharedAccess(Layout.of("reg: 2 -> col 4; lane: 4 -> col 1", {"row": 1, "col": 8}), vector=2)
    with pytest.raises(LayoutError, match="No padding of 8 columns allows the vectors"):
        choose_padding(1, 8, 4, [scattered])
