"""Swizzled panels, TMA boxes and wgmma operands against address formulas and a model of the copies."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritium.layout import Layout, LayoutError, panel_boxes, panel_rows, tma_box_faults, wgmma_operand
from tritium.layout.fragments import ldmatrix_a
from tritium.layout.panels import SPANS, span_swizzle

spans = st.sampled_from(SPANS)
sizes = st.sampled_from([1, 2, 4, 8])


@pytest.mark.parametrize("span", SPANS)
def test_the_three_modes_are_the_chunk_rules_of_the_hardware(span):
    """Chunk c of a row goes to c ^ (row & 7), c ^ ((row / 2) & 3) or c ^ ((row / 4) & 1)."""
    swizzle = span_swizzle(span)
    shift, bits = {128: (0, 7), 64: (1, 3), 32: (2, 1)}[span]
    for row, chunk in itertools.product(range(64), range(span // 16)):
        address = row * span + chunk * 16
        assert swizzle.apply(address + 5) == row * span + (chunk ^ (row >> shift & bits)) * 16 + 5
    assert swizzle.period == 8 * span


@given(st.integers(1, 40), st.integers(1, 200), sizes, spans, st.integers(1, 3))
def test_panels_hold_every_element_once(rows, columns, size, span, stages):
    layout = panel_rows(rows, columns, size, span=span, stages=stages)
    assert layout.covers().injective
    assert layout.extent("row") == rows and layout.extent("stage") == stages
    assert columns <= layout.extent("col") < columns + span // size
    width, pitch = span // size, -(-rows // 8) * 8 * span
    row, col, stage = np.indices((rows, columns, stages))
    panels = -(-columns // width)
    plain = stage * panels * pitch + col // width * pitch + row * span + col % width * size
    assert (layout.table()[0][:, :columns] == span_swizzle(span).apply(plain)).all()


@pytest.mark.parametrize("rows, columns", [(64, 128), (128, 192), (40, 64)])
def test_panels_of_the_study(rows, columns):
    """A bf16 tile of three stages as ThunderKittens addresses it: panel by panel, swizzled inside."""
    layout = panel_rows(rows, columns, 2, span=128, stages=3)
    for row, col in itertools.product(range(0, rows, 7), range(0, columns, 5)):
        panel = col // 64
        address = panel * rows * 128 + row * 128 + (col % 64) * 2
        expected = address ^ (((address % 1024) >> 7) << 4)
        assert layout.at(row=row, col=col)["byte"] == expected
        assert layout.at(row=row, col=col, stage=2)["byte"] == expected + 2 * rows * columns * 2
    assert layout.extent("byte") == 3 * rows * columns * 2
    assert layout.covers().injective


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_panels_are_free_of_conflicts_for_ldmatrix(span, size):
    columns = 2 * span // size
    memory = panel_rows(64, columns, size, span=span)
    operand = ldmatrix_a(size)
    registers = Layout(operand.digits, {"row": 64, "k": columns}, operand.inputs)
    named = Layout.of(str(memory).replace("col:", "k:"))
    assert registers.bank_conflicts(named, size).ways == (1 if 16 // size * 2 <= columns else 2)
    assert registers.bank_conflicts(named, size).vector == 16 // size


@given(st.integers(1, 600), st.integers(1, 200), st.sampled_from([1, 2, 4]), spans)
def test_boxes_fill_the_panels(rows, columns, size, span):
    """A model of TMA: each box writes its rows densely at its place, swizzled by absolute address."""
    layout, swizzle = panel_rows(rows, columns, size, span=span), span_swizzle(span)
    memory = np.full(layout.extent("byte"), -1)
    for box in panel_boxes(rows, columns, size, span=span):
        assert not tma_box_faults(box.shape, size, span=span)
        assert box.byte % 128 == 0
        row, col = np.indices(box.shape)
        address = swizzle.apply(box.byte + row * span + col * size)
        assert (memory[address] == -1).all()
        memory[address] = (row + box.origin[0]) * 10_000 + col + box.origin[1]
    row, col = np.indices((rows, columns))
    assert (memory[layout.table()[0][:, :columns, 0]] == row * 10_000 + col).all()


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (((64, 64), 2, {"span": 128}), None),
        (((256, 8), 2, {}), None),
        (((1, 1, 2, 64, 64), 2, {"span": 128, "strides": (64, 64, 8192, 128), "base_alignment": 256}), None),
        (((257, 64), 2, {}), "axis 0 has 257"),
        (((0, 64), 2, {}), "axis 0 has 0"),
        (((64, 4), 2, {}), "multiples of 16 bytes, and these have 8"),
        (((64, 128), 2, {"span": 128}), "at most 128 bytes, and these have 256"),
        (((64, 32), 2, {"span": 32}), "at most 32 bytes, and these have 64"),
        (((64, 64), 2, {"span": 256}), "spans are 128, 64 and 32 bytes, and 256"),
        (((1,) * 5 + (64,), 2, {}), "1 to 5 axes, and this one has 6"),
        (((64, 64), 2, {"strides": (10_008,)}), "axis 0 has 10008"),
        (((64, 64), 2, {"strides": (0,)}), "axis 0 has 0"),
        (((64, 64), 2, {"strides": (1 << 40,)}), "below 2^40"),
        (((64, 64), 2, {"base_alignment": 8}), "a multiple of 16 bytes, and 8 is known"),
        (((64, 64), 2, {"row_padding": 8}), "8 elements of padding"),
    ],
)
def test_when_a_box_is_legal(arguments, fault):
    shape, size, options = arguments
    faults = tma_box_faults(shape, size, **options)
    if fault is None:
        assert faults == ()
    else:
        assert len(faults) == 1 and fault in faults[0]


def test_all_faults_are_listed():
    assert len(tma_box_faults((300, 3), 2, row_padding=1, base_alignment=4)) == 4


@given(st.integers(1, 8), st.integers(1, 5), st.sampled_from([1, 2, 4]), spans, st.integers(1, 2))
def test_k_major_operands_are_the_canonical_layout(groups, chunks, size, span, stages):
    """PTX ISA, K-major: (mn % 8) spans + (mn / 8) SBO + k bytes in one span, panel by panel; XOR on the address."""
    rows, depth = 8 * groups, chunks * 32 // size
    operand = wgmma_operand(rows, depth, size, major="k", span=span, stages=stages)
    assert operand.stride_bytes == 8 * span == operand.alignment
    row, k = np.indices((rows, depth))
    width = span // size
    plain = row % 8 * span + row // 8 * operand.stride_bytes + k % width * size + k // width * rows * span
    names = operand.layout.inputs
    assert names == ("row", "k", "stage")
    assert (operand.layout.table()[0][:, :depth, 0] == span_swizzle(span).apply(plain)).all()
    for step in range(depth * size // 32):
        inside, panel = step * 32 % span, step * 32 // span
        assert operand.start(k=step * 32 // size) == panel * rows * span + inside
    if stages == 2:
        assert operand.start(stage=1) == operand.layout.extent("byte") // 2


@given(st.integers(1, 4), st.integers(1, 8), spans)
def test_mn_major_operands_are_the_canonical_layout(panels, groups, span):
    """PTX ISA, MN-major: mn bytes in one span + (k % 8) spans + (k / 8) SBO + (mn / width) LBO; XOR on the address."""
    width, depth = span // 2, 8 * groups
    operand = wgmma_operand(panels * width, depth, 2, major="mn", span=span)
    assert (operand.leading_bytes, operand.stride_bytes) == (depth * span, 8 * span)
    k, row = np.indices((depth, panels * width))
    plain = (
        row % width * 2 + k % 8 * span + k // 8 * operand.stride_bytes + row // width * operand.leading_bytes
    )
    assert operand.layout.inputs == ("k", "row", "stage")
    assert (operand.layout.table()[0][:, :, 0] == span_swizzle(span).apply(plain)).all()
    for step in range(depth // 16):
        assert operand.start(k=16 * step) == 16 * span * step


def test_descriptors():
    """Bits 16-29 leading offset / 16, 32-45 stride offset / 16, 62-63 the mode: 1, 2, 3 for 128, 64, 32 bytes."""
    tile = wgmma_operand(128, 64, 2)
    assert tile.descriptor == 1 << 16 | 64 << 32 | 1 << 62
    assert wgmma_operand(64, 64, 2, major="mn").descriptor == (64 * 8) << 16 | 64 << 32 | 1 << 62
    assert wgmma_operand(64, 32, 2, span=64).descriptor == 1 << 16 | 32 << 32 | 2 << 62
    assert wgmma_operand(64, 32, 2, span=32).descriptor == 1 << 16 | 16 << 32 | 3 << 62
    assert [tile.start(k=16 * j) >> 4 for j in range(4)] == [0, 2, 4, 6]
    assert wgmma_operand(128, 128, 2).start(k=64, row=64) == 128 * 128 + 64 * 128
    assert wgmma_operand(128, 64, 2, stages=3).start(stage=2) == 2 * 128 * 64 * 2


def test_operands_that_wgmma_does_not_read():
    for size in (1, 4):
        with pytest.raises(LayoutError, match="for 2-byte elements only"):
            wgmma_operand(64, 64, size, major="mn")
    with pytest.raises(LayoutError, match="The rows of a wgmma operand must be a multiple of 8, and is 60"):
        wgmma_operand(60, 64, 2)
    with pytest.raises(LayoutError, match="The depth of a wgmma operand must be a multiple of 8, and is 12"):
        wgmma_operand(64, 12, 2, major="mn")
    with pytest.raises(LayoutError, match="spans are 128, 64 and 32 bytes, and 256"):
        panel_rows(8, 8, 2, span=256)
    for size in (0, 3, 32):
        with pytest.raises(LayoutError, match=f"Elements of {size} bytes do not fill 16-byte chunks"):
            panel_rows(8, 8, size)
