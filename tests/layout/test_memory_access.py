"""Vector widths and bank conflicts against plain loops, and the figures of the literature."""

import itertools
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.random_layouts import exact_tilings, layouts, memories
from tritium.layout import CudaRegisterTileLayout, Digit, Layout, LayoutError


def fitting(memory, registers, size):
    """`memory` with room for every coordinate of `registers`."""
    row, col = registers.shape["row"], registers.shape["col"]
    digits = f"row: {row} -> byte {memory[0]}; col: {col} -> byte {memory[1]}"
    return Layout.of(digits, {"byte": row * memory[0] + col * memory[1] + size})


def thread_places(registers):
    """(warp, lane) -> list over registers of the tile coordinate, None for overhang."""
    found = {}
    for warp, lane in itertools.product(range(registers.extent("warp")), range(registers.extent("lane"))):
        row = []
        for reg in range(registers.extent("reg")):
            at = registers.at(reg=reg, lane=lane, warp=warp)
            row.append(at if all(at[o] < registers.shape[o] for o in at) else None)
        found[warp, lane] = row
    return found


@given(layouts(most=200), st.sampled_from([1, 2, 4, 8]), st.integers(0, 70), st.sampled_from([4, 8, 16]))
def test_vector_width_against_loops(registers, size, pitch, limit):
    memory = fitting((pitch * size, size), registers, size)

    def legal(vector):
        for row in thread_places(registers).values():
            for start in range(0, len(row), vector):
                group = row[start : start + vector]
                if None in group:
                    if any(group):
                        return False
                    continue
                first = memory.at(**group[0])["byte"]
                if first % (vector * size):
                    return False
                if any(memory.at(**at)["byte"] != first + i * size for i, at in enumerate(group)):
                    return False
        return True

    widths = [
        v for v in (1, 2, 4, 8, 16) if v == 1 or (v * size <= limit and registers.extent("reg") % v == 0)
    ]
    expected = 1
    for vector in widths[1:]:
        if not legal(vector):
            break
        expected = vector
    assert registers.vector_width(memory, size, limit=limit) == expected


def test_vector_width_examples():
    registers = Layout.of("reg: 8 -> col 1; lane: 8 -> col 8, 4 -> row 1", {"row": 4, "col": 64})
    dense = Layout.of("row: 4 -> byte 256; col: 64 -> byte 4", {"byte": 1024})
    assert registers.vector_width(dense, 4) == 4
    assert registers.vector_width(dense, 4, limit=8) == 2
    assert registers.vector_width(dense, 4, alignment=4) == 1
    odd_rows = Layout.of("row: 4 -> byte 260; col: 64 -> byte 4", {"byte": 1040})
    assert registers.vector_width(odd_rows, 4) == 1
    two_stages = Layout.of("row: 4 -> byte 256; col: 64 -> byte 4; stage: 2 -> byte 1032", {"byte": 2064})
    assert registers.vector_width(two_stages, 4) == 2
    edge = Layout.of("reg: 4 -> col 1; lane: 16 -> col 4", {"row": 1, "col": 37})
    assert edge.vector_width(Layout.of("row: 1; col: 37 -> byte 4", {"byte": 148}), 4) == 1


@given(
    layouts(most=200), st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 70), st.sampled_from([1, 2, 4, 8])
)
def test_bank_conflicts_against_loops(registers, size, pitch, vector):
    """Threads of a random layout that hold `vector` neighbouring columns each."""
    wider = [
        Digit(d.axis, d.extent, {n: s * vector if n == "col" else s for n, s in d.steps.items()})
        for d in registers.digits
    ]
    shape = {"row": registers.shape["row"], "col": registers.shape["col"] * vector}
    registers = Layout((Digit("reg", vector, {"col": 1}), *wider), shape, registers.inputs)
    memory = fitting((pitch * size, size), registers, size)
    if registers.vector_width(memory, size) < vector:
        with pytest.raises(LayoutError, match=f"and {vector} at a time were asked for"):
            registers.bank_conflicts(memory, size, vector=vector)
        return
    width = vector * size
    together = 32 if width <= 4 else 16 if width == 8 else 8
    places = thread_places(registers)
    ways = wavefronts = least = requests = 0
    for warp in range(registers.extent("warp")):
        for start in range(0, registers.extent("reg"), vector):
            requests += any(places[warp, lane][start] is not None for lane in range(registers.extent("lane")))
            for first in range(0, registers.extent("lane"), together):
                words = set()
                for lane in range(first, min(first + together, registers.extent("lane"))):
                    at = places[warp, lane][start]
                    if at is not None:
                        byte = memory.at(**at)["byte"]
                        words |= {byte // 4 + i for i in range(max(1, width // 4))}
                load = [sum(word % 32 == bank for word in words) for bank in range(32)]
                ways, wavefronts, least = (
                    max(ways, *load),
                    wavefronts + max(load),
                    least - (-len(words) // 32),
                )
    found = registers.bank_conflicts(memory, size, vector=vector)
    assert (found.ways, found.wavefronts, found.least) == (ways, wavefronts, least)
    assert (found.vector, found.requests) == (vector, requests)
    assert found.free == (wavefronts == least)


@given(exact_tilings(), st.sampled_from([1, 2, 4, 8]))
def test_bank_conflicts_take_the_widest_vector(registers, size):
    memory = fitting((registers.shape["col"] * size, size), registers, size)
    found = registers.bank_conflicts(memory, size)
    assert found.vector == registers.vector_width(memory, size)
    assert found == registers.bank_conflicts(memory, size, vector=found.vector)


def ldmatrix_rows(columns, padding=0):
    """Eight rows of 16 bytes, four matrices: the lanes' row addresses in a bf16 tile of `columns`."""
    registers = Layout.of("reg: 8 -> col 1; lane: 8 -> row 1", {"row": 8, "col": columns})
    memory = Layout.of(
        f"row: 8 -> byte {(columns + padding) * 2}; col: {columns} -> byte 2", {"byte": 1 << 14}
    )
    return registers.bank_conflicts(memory, 2)


def test_64_bf16_columns_have_eightfold_conflicts_that_8_elements_of_padding_remove():
    assert (ldmatrix_rows(64).ways, ldmatrix_rows(64).vector) == (8, 8)
    assert ldmatrix_rows(64, padding=8).ways == 1


@pytest.mark.parametrize("columns", [24, 40, 56, 72])
def test_odd_multiples_of_8_bf16_columns_need_no_padding(columns):
    assert ldmatrix_rows(columns).free


@pytest.mark.parametrize("columns", [48, 80, 96])
def test_even_multiples_of_8_bf16_columns_need_8_elements_of_padding(columns):
    assert not ldmatrix_rows(columns).free
    assert ldmatrix_rows(columns, padding=8).free


@given(st.integers(1, 64), st.integers(1, 32))
def test_c2_banks_of_one_column_repeat_after_the_gcd(pitch, rows):
    column = Layout.of(f"lane: {rows} -> row 1", {"row": rows})
    memory = Layout.of(f"row: {rows} -> byte {4 * pitch}", {"byte": 1 << 14})
    distinct = 32 // gcd(pitch, 32)
    assert column.bank_conflicts(memory, 4).ways == -(-rows // distinct)


def test_a_broadcast_is_no_conflict():
    memory = Layout.of("row: 8 -> byte 128; col: 32 -> byte 4", {"byte": 1024})
    same_word = Layout.of("lane: 32 -> -", {"row": 8, "col": 32})
    assert same_word.bank_conflicts(memory, 4).ways == 1
    halves = Layout.of("lane: 2 -> col 1, 16 -> -", {"row": 8, "col": 32})
    assert (
        halves.bank_conflicts(Layout.of("row: 8 -> byte 128; col: 32 -> byte 2", {"byte": 1024}), 2).ways == 1
    )


def test_threads_are_cut_into_warps():
    """17 threads are one warp with 15 idle lanes, 64 threads are two warps."""
    memory = Layout.of("row: 3 -> byte 68; col: 17 -> byte 4", {"byte": 204})
    found = CudaRegisterTileLayout((3, 17), (1, 17)).layout.bank_conflicts(memory, 4)
    assert (found.ways, found.wavefronts) == (1, 3)
    two = CudaRegisterTileLayout((4, 32), (2, 32)).layout
    memory = Layout.of("row: 4 -> byte 128; col: 32 -> byte 4", {"byte": 512})
    assert two.bank_conflicts(memory, 4).wavefronts == 4


@given(memories())
def test_memory_that_is_too_small_or_of_other_axes_is_refused(memory):
    registers = Layout.of("reg: 2 -> row 1", {"row": memory.extent("row") + 1, "col": 1})
    with pytest.raises(LayoutError, match="values of row, and the memory has room for"):
        registers.vector_width(memory, 4)
    with pytest.raises(
        LayoutError, match="The registers hold k, and the memory is addressed by row, col, stage"
    ):
        Layout.of("reg: 2 -> k 1", {"k": 2}).vector_width(memory, 4)


def test_what_is_no_register_layout_is_refused():
    for text, message in (
        ("lane: 64 -> row 1 | row 64", "A warp has 32 lanes, and this layout has 64"),
        (
            "reg: 2 -> row 1; thread: 2 -> row 2; lane: 2 -> - | row 4",
            "or reg and thread; this one has reg, thread, lane",
        ),
        ("stage: 2 -> row 1 | row 2", "this one has stage"),
    ):
        with pytest.raises(LayoutError, match=message):
            Layout.of(text).vector_width(Layout.of("row: 64 -> byte 4", {"byte": 256}), 4)
    with pytest.raises(LayoutError, match="one output byte; this one has at"):
        Layout.of("reg: 2 -> row 1 | row 2").vector_width(Layout.of("row: 2 -> at 1 | at 2"), 4)
