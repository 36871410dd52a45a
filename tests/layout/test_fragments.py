"""Tensor-core fragments against the formulas of the PTX ISA, lane by lane, and ldmatrix against a model of it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritium.layout import Layout, LayoutError, Relation
from tritium.layout.fragments import (
    fragment_a_m16n8,
    fragment_b_m16n8,
    fragment_c_m16n8,
    ldmatrix_a,
    ldmatrix_b,
    ldmatrix_result,
    registers_32bit,
    repeat_fragment,
    wgmma_a_registers,
    wgmma_accumulator,
)

SIZES = [1, 2, 4]
LANES = [(lane, lane >> 2, lane & 3) for lane in range(32)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("half", [False, True])
def test_operand_a_of_mma(size, half):
    """PTX ISA: register j of lane 4g + t, element h: row g + 8 (j % 2), k = E t + 4 E (j / 2) + h."""
    fragment, e = fragment_a_m16n8(size, half_k=half), 4 // size
    for (lane, g, t), j, h in itertools.product(LANES, range(2 if half else 4), range(e)):
        at = {"row": g + 8 * (j & 1), "k": e * t + 4 * e * (j >> 1) + h}
        assert fragment.at(reg=j * e + h, lane=lane) == at
    assert fragment.covers().kind == "exactly once"
    assert fragment.shape == {"row": 16, "k": (16 if half else 32) // size}
    assert registers_32bit(fragment, size) == (2 if half else 4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("half", [False, True])
def test_operand_b_of_mma(size, half):
    """PTX ISA: register j of lane 4g + t, element h: column g, k = E t + 4 E j + h."""
    fragment, e = fragment_b_m16n8(size, half_k=half), 4 // size
    for (lane, g, t), j, h in itertools.product(LANES, range(1 if half else 2), range(e)):
        assert fragment.at(reg=j * e + h, lane=lane) == {"k": e * t + 4 * e * j + h, "col": g}
    assert fragment.covers().kind == "exactly once"
    assert fragment.shape == {"k": (16 if half else 32) // size, "col": 8}
    assert registers_32bit(fragment, size) == (1 if half else 2)


def test_accumulator_of_mma():
    """PTX ISA: value i of lane 4g + t: row g + 8 (i / 2), column 2 t + i % 2; the f16 form packs (2j, 2j + 1)."""
    fragment = fragment_c_m16n8()
    for (lane, g, t), i in itertools.product(LANES, range(4)):
        assert fragment.at(reg=i, lane=lane) == {"row": g + 8 * (i >> 1), "col": 2 * t + (i & 1)}
    assert fragment.covers().kind == "exactly once"
    assert (registers_32bit(fragment, 4), registers_32bit(fragment, 2)) == (4, 2)


@pytest.mark.parametrize("n", [8, 24, 64, 128, 256])
def test_accumulator_of_wgmma(n):
    """PTX ISA: d[i] of lane 4g + t of warp w: row 16 w + g + 8 (i / 2 % 2), column 8 (i / 4) + 2 t + i % 2."""
    fragment = wgmma_accumulator(n)
    reg, lane, warp = np.indices((n // 2, 32, 4))
    row, col = fragment.table()
    assert (row == 16 * warp + (lane >> 2) + 8 * ((reg >> 1) & 1)).all()
    assert (col == 8 * (reg >> 2) + 2 * (lane & 3) + (reg & 1)).all()
    assert fragment.covers().kind == "exactly once"


@pytest.mark.parametrize("size", SIZES)
def test_operand_a_of_wgmma_in_registers(size):
    """PTX ISA: row 16 w + g + 8 (j % 2), k as in mma."""
    fragment, e = wgmma_a_registers(size), 4 // size
    for (lane, g, t), j, h, warp in itertools.product(LANES, range(4), range(e), range(4)):
        at = {"row": 16 * warp + g + 8 * (j & 1), "k": e * t + 4 * e * (j >> 1) + h}
        assert fragment.at(reg=j * e + h, lane=lane, warp=warp) == at
    assert fragment.covers().kind == "exactly once"


def test_an_accumulator_is_operand_a_of_the_next_wgmma():
    """16 columns of a 16-bit accumulator are the registers of one k step of A, in order: no data moves."""
    assert wgmma_accumulator(16).relation(wgmma_a_registers(2)) is Relation.SAME
    assert wgmma_accumulator(32).relation(wgmma_a_registers(1)) is Relation.SHUFFLE


SHAPES = [(64, 24), (64, 40), (64, 72), (48, 24), (80, 20)]


@pytest.mark.parametrize("shape", SHAPES)
def test_accumulator_tiles_of_the_study(shape):
    tile = repeat_fragment(fragment_c_m16n8(), {"row": shape[0], "col": shape[1]}, warps={"row": 4})
    assert tile.covers().kind == "exactly once"
    assert tile.overhang("row") == bool(shape[0] % 64)
    assert tile.overhang("col") == bool(shape[1] % 8)
    if shape[0] == 64:
        assert tile == wgmma_accumulator(shape[1])


def test_the_accumulator_over_a_tile_is_the_table_of_the_book():
    tile = repeat_fragment(fragment_c_m16n8(), {"row": 128, "col": 64}, warps={"row": 4})
    assert str(tile) == (
        "reg: 2 -> col 1, 2 -> row 8, 8 -> col 8, 2 -> row 64; lane: 4 -> col 2, 8 -> row 1; "
        "warp: 4 -> row 16 | row 128, col 64"
    )


@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 4), st.integers(1, 4), st.sampled_from(SIZES))
def test_the_three_operands_of_a_warp_tiling_agree(rows, columns, warp_rows, warp_columns, size):
    """Each warp's accumulator rows and columns are those of its A and B operands."""
    c = repeat_fragment(
        fragment_c_m16n8(), {"row": rows, "col": columns}, warps={"row": warp_rows, "col": warp_columns}
    )
    a = repeat_fragment(fragment_a_m16n8(size), {"row": rows}, warps={"row": warp_rows, "-": warp_columns})
    b = repeat_fragment(fragment_b_m16n8(size), {"col": columns}, warps={"-": warp_rows, "col": warp_columns})
    assert c.covers().kind == "exactly once"
    for operand, copies in ((a, warp_columns), (b, warp_rows)):
        assert (operand.covers().fewest, operand.covers().most) == (copies, copies)
    for warp in range(warp_rows * warp_columns):
        assert values(c, "row", warp) == values(a, "row", warp)
        assert values(c, "col", warp) == values(b, "col", warp)


def values(layout, output, warp):
    table = layout.table()[layout.outputs.index(output)]
    return set(table.take(warp, axis=layout.inputs.index("warp")).reshape(-1).tolist())


def test_repeat_refuses_outputs_that_are_not_there():
    for arguments in ({"shape": {"depth": 3}}, {"shape": {}, "warps": {"depth": 2}}):
        with pytest.raises(LayoutError, match="no output depth; it has row, col"):
            repeat_fragment(fragment_c_m16n8(), **arguments)


def run_ldmatrix(addresses, size, transposed):
    """ldmatrix.x4 as the PTX ISA tells it, on a tile whose every byte knows its element: (lane, register) -> elements.

    Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes. Plain: lane l gets bytes 4 (l % 4)... of row
    l / 4. Transposed, in 2-byte elements: it gets (row 2 (l % 4), column l / 4) and the row below.
    """
    names = addresses.outputs
    rows = []
    for lane in range(32):
        elements = [tuple(addresses.at(reg=i, lane=lane)[name] for name in names) for i in range(16 // size)]
        rows.append([element for element in elements for _ in range(size)])  # 16 bytes
    found = {}
    for lane, q in itertools.product(range(32), range(4)):
        matrix = rows[8 * q : 8 * q + 8]
        if transposed:
            got = [matrix[2 * (lane % 4) + i][2 * (lane // 4)] for i in range(2)]
        else:
            got = matrix[lane // 4][4 * (lane % 4) : 4 * (lane % 4) + 4 : size]
        for h, element in enumerate(got):
            found[lane, q * len(got) + h] = dict(zip(names, element))
    return found


CASES = [(size, False) for size in SIZES] + [(2, True)]


@pytest.mark.parametrize("size, transposed", CASES)
def test_ldmatrix_delivers_operand_a(size, transposed):
    addresses, fragment = ldmatrix_a(size, transposed=transposed), fragment_a_m16n8(size)
    assert addresses.covers().kind == "exactly once"
    for (lane, reg), element in run_ldmatrix(addresses, size, transposed).items():
        assert fragment.at(reg=reg, lane=lane) == element
    assert ldmatrix_result(addresses, size, transposed=transposed) == fragment


@pytest.mark.parametrize("size, transposed", CASES)
def test_ldmatrix_delivers_two_operands_b(size, transposed):
    addresses = ldmatrix_b(size, transposed=transposed)
    pair = repeat_fragment(fragment_b_m16n8(size), {"col": 16})
    for (lane, reg), element in run_ldmatrix(addresses, size, transposed).items():
        assert pair.at(reg=reg, lane=lane) == element
    assert ldmatrix_result(addresses, size, transposed=transposed) == pair


@pytest.mark.parametrize("size", SIZES)
def test_addresses_that_lanes_give(size):
    """The formulas that kernels use: row l % 16, byte 16 (l / 16) for A; column l % 8 + 8 (l / 16), byte 16 (l / 8 % 2) for B."""
    for lane in range(32):
        a, b = ldmatrix_a(size).at(lane=lane), ldmatrix_b(size).at(lane=lane)
        assert a == {"row": lane & 15, "k": 16 // size * (lane >> 4)}
        assert b == {"k": 16 // size * ((lane >> 3) & 1), "col": (lane & 7) + 8 * (lane >> 4)}
    for lane in range(32):
        a, b = ldmatrix_a(2, transposed=True).at(lane=lane), ldmatrix_b(2, transposed=True).at(lane=lane)
        assert a == {"row": 8 * ((lane >> 3) & 1), "k": (lane & 7) + 8 * (lane >> 4)}
        assert b == {"k": (lane & 7) + 8 * ((lane >> 3) & 1), "col": 8 * (lane >> 4)}


def test_what_the_hardware_does_not_do_is_refused():
    for size in (1, 4):
        with pytest.raises(LayoutError, match="transposes 2-byte elements only"):
            ldmatrix_a(size, transposed=True)
    for size in (0, 3, 8):
        with pytest.raises(LayoutError, match="elements of 1, 2 or 4 bytes"):
            fragment_a_m16n8(size)
    for n in (0, 4, 12, 264):
        with pytest.raises(LayoutError, match="multiple of 8 from 8 to 256"):
            wgmma_accumulator(n)
    with pytest.raises(LayoutError, match="8 rows of 16 bytes a matrix"):
        ldmatrix_result(Layout.of("reg: 4 -> k 1; lane: 8 -> row 1 | row 8, k 4"), 2)
