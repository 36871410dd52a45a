"""Shared memory as a physical layout: the contract rows C1 to C4 and C9, as far as they are about layouts."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritium.errors import OutOfResources
from tritium.ir import types
from tritium.layout import (
    SEED_SHARED_LIMIT,
    CudaDotSharedBuffers,
    CudaSharedBuffer,
    Layout,
    LayoutError,
    fit_stages,
    require_shared_budget,
    seed_row_padding,
)

F32 = np.dtype("f4")


def test_c1_sizes_of_a_padded_staged_buffer():
    plain = CudaSharedBuffer("a", (4, 16), F32)
    assert (plain.rows, plain.columns, plain.row_stride) == (4, 16, 16)
    assert (plain.stage_size, plain.size, plain.nbytes) == (64, 64, 256)
    padded = CudaSharedBuffer("a", (4, 16), F32, row_padding=1, stage_count=2)
    assert (padded.row_stride, padded.stage_size, padded.size, padded.nbytes) == (17, 68, 136, 544)
    assert padded.logical_shape == (4, 16)


@pytest.mark.parametrize(
    "text, nbytes", [("fp32", 256), ("bf16", 128), ("fp64", 512), ("int1", 64), ("fp8e5", 64)]
)
def test_c1_element_types_of_the_ir_give_the_bytes(text, nbytes):
    assert CudaSharedBuffer("a", (4, 16), types.dtype_named(text)).nbytes == nbytes


def test_c1_element_addresses():
    buffer = CudaSharedBuffer("shared_a", (4, 16), F32, row_padding=1, stage_count=2)
    assert buffer.offset(2, 3) == 2 * 17 + 3
    assert buffer.offset(2, 3, 1) == 68 + 2 * 17 + 3
    assert buffer.element(2, 3, 1) == "shared_a[105]"
    assert buffer.element("tile_i", "dot_k") == "shared_a[tile_i * 17 + dot_k]"
    assert buffer.element("tile_i + 4", "dot_k", "dot_stage") == (
        "shared_a[dot_stage * 68 + (tile_i + 4) * 17 + dot_k]"
    )
    assert buffer.element("tile_i", 3, 1) == "shared_a[tile_i * 17 + 71]"
    assert buffer.element(0, "k") == "shared_a[k]"
    assert CudaSharedBuffer("b", (16, 1), F32).element("row", 0) == "b[row]"


@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.integers(0, 3),
    st.integers(1, 3),
    st.sets(st.sampled_from(["row", "column", "stage"])),
)
def test_c1_texts_integers_and_digits_agree(shape, padding, stages, symbolic):
    buffer = CudaSharedBuffer("s", shape, F32, padding, stages)
    seen = set()
    for row, column, stage in itertools.product(range(shape[0]), range(shape[1]), range(stages)):
        place = {"row": row, "column": column, "stage": stage}
        offset = buffer.offset(row, column, stage)
        assert offset == stage * buffer.stage_size + row * buffer.row_stride + column < buffer.size
        mixed = {name: name if name in symbolic else at for name, at in place.items()}
        assert eval(str(buffer.offset(**mixed)), place) == offset
        assert buffer.layout.at(row=row, col=column, stage=stage)["byte"] == offset * 4
        seen.add(offset)
    assert len(seen) == stages * shape[0] * shape[1]
    assert buffer.layout.covers().injective


@pytest.mark.parametrize("shape", [(), (8,), (4, 0), (4, -1), (4, 8, 2)])
def test_c1_bad_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="buffer tile must be a tile of two positive extents"):
        CudaSharedBuffer("tile", shape, F32)


def test_c1_bad_padding_stages_and_coordinates_are_refused():
    with pytest.raises(LayoutError, match="cannot be padded by -1 elements"):
        CudaSharedBuffer("a", (4, 16), F32, row_padding=-1)
    for stages in (0, -2):
        with pytest.raises(LayoutError, match=f"at least one stage, and {stages} was given"):
            CudaSharedBuffer("a", (4, 16), F32, stage_count=stages)
    buffer = CudaSharedBuffer("a", (4, 16), F32, row_padding=1, stage_count=2)
    for place, what in (
        ((4, 0, 0), "row 4"),
        ((0, 16, 0), "column 16"),
        ((0, 0, 2), "stage 2"),
        ((-1, 0, 0), "row -1"),
    ):
        with pytest.raises(LayoutError, match=f"The {what} is outside the shared buffer a"):
            buffer.element(*place)


def test_c1_the_operands_of_a_dot_have_equal_stages():
    lhs, rhs = CudaSharedBuffer("a", (4, 16), F32, 1, 2), CudaSharedBuffer("b", (16, 8), F32, 0, 2)
    pair = CudaDotSharedBuffers(lhs, rhs)
    assert (pair.reduction_size, pair.stage_count, pair.nbytes) == (16, 2, 4 * 2 * (4 * 17 + 16 * 8))
    with pytest.raises(LayoutError, match="equal stage counts, and a has 2 where b has 1"):
        CudaDotSharedBuffers(lhs, CudaSharedBuffer("b", (16, 8), F32))
    with pytest.raises(LayoutError, match=r"columns of a \(16\) must match the rows of b \(8\)"):
        CudaDotSharedBuffers(lhs, CudaSharedBuffer("b", (8, 16), F32, 0, 2))


def test_c2_banks_of_four_rows():
    plain, padded = CudaSharedBuffer("a", (4, 16), F32), CudaSharedBuffer("a", (4, 16), F32, row_padding=1)
    assert plain.banks(range(4)) == (0, 16, 0, 16)
    assert padded.banks(range(4)) == (0, 17, 2, 19)
    assert padded.banks(range(4), column=15, stage=0) == (15, 0, 17, 2)


SEED_PADDINGS = [((16, 4), 1), ((16, 2), 0), ((8, 4), 0), ((8, 8), 1), ((32, 2), 1), ((7, 4), 0)]


@pytest.mark.parametrize("arguments, padding", SEED_PADDINGS)
def test_c3_padding_rule(arguments, padding):
    assert seed_row_padding(*arguments) == padding


@pytest.mark.parametrize("arguments", [(0, 4), (16, 0), (-16, 4)])
def test_c3_padding_needs_positive_numbers(arguments):
    with pytest.raises(LayoutError, match="positive columns and rows"):
        seed_row_padding(*arguments)


@given(st.integers(1, 80), st.integers(1, 32))
def test_c3_the_rule_is_what_the_bank_query_finds(columns, rows):
    """Where the rule asks for padding the plain tile has conflicts, and where not it has none."""
    column = Layout.of(f"lane: {rows} -> row 1", {"row": rows, "col": columns})
    plain = CudaSharedBuffer("a", (rows, columns), F32)
    conflicts = column.bank_conflicts(plain.layout, 4)
    assert (conflicts.ways > 1) == bool(seed_row_padding(columns, rows))


def test_c4_writer_and_reader_share_the_stride():
    """Cooperative stores walk the logical tile by thread, the dot reads by row and column: one address function."""
    buffer = CudaSharedBuffer("a", (4, 16), F32, row_padding=1, stage_count=2)
    memory = np.full(buffer.size, -1)
    for index in range(64):
        place = {"index": index, "dot_stage": 1}
        memory[eval(str(buffer.offset("index // 16", "index % 16", "dot_stage")), place)] = index
    for row, column in itertools.product(range(4), range(16)):
        names = {"tile_i": row, "dot_k": column, "dot_stage": 1}
        assert memory[eval(str(buffer.offset("tile_i", "dot_k", "dot_stage")), names)] == row * 16 + column
    assert (memory[:68] == -1).all() and (memory[84::17] == -1).all()


def test_c9_the_budget_counts_stages_and_padding():
    def nbytes(stages, bm=64, bk=32, bn=64, pad=1):
        lhs = CudaSharedBuffer("a", (bm, bk), F32, pad, stages)
        return CudaDotSharedBuffers(lhs, CudaSharedBuffer("b", (bk, bn), F32, 0, stages)).nbytes

    assert nbytes(2) == 2 * (64 * 33 + 32 * 64) * 4
    assert require_shared_budget(nbytes(2)) == nbytes(2)
    assert SEED_SHARED_LIMIT == 49152
    with pytest.raises(OutOfResources, match="required: 49153, hardware limit: 49152") as caught:
        require_shared_budget(49153)
    assert (caught.value.required, caught.value.limit, caught.value.code) == (49153, 49152, "TRI0734")


def test_c9_two_stages_that_do_not_fit_become_one_and_one_that_does_not_fit_fails():
    asked = []

    def nbytes(stages):
        asked.append(stages)
        return stages * 30_000

    assert fit_stages(nbytes, 2, 49152) == 1
    assert asked[0] == 2
    assert fit_stages(nbytes, 2, 232_448) == 2
    assert fit_stages(nbytes, 7, 232_448) == 7
    assert fit_stages(nbytes, 8, 232_448) == 7
    with pytest.raises(
        OutOfResources, match=r"shared memory of sm_90 \(required: 30000, hardware limit: 20000\)"
    ):
        fit_stages(nbytes, 2, 20_000, name="shared memory of sm_90")


def test_c9_any_object_with_an_itemsize_is_an_element_type():
    assert CudaSharedBuffer("a", (2, 2), SimpleNamespace(itemsize=3)).nbytes == 12
