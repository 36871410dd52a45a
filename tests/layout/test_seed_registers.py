"""Strided register tiles: the contract rows B0 to B9, as far as they are about layouts."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritium.layout import (
    CUDA_DOT_MAX_THREADS,
    CudaRegisterTileLayout,
    CudaRegisterTileRef,
    LayoutError,
    seed_dot_thread_shape,
    seed_elementwise_thread_shape,
)


@pytest.mark.parametrize("shape", [(), (8,), (4, 0), (-4, 8), (4, 8, 2)])
def test_b1_both_shapes_are_two_positive_extents(shape):
    with pytest.raises(LayoutError, match="two positive extents"):
        CudaRegisterTileLayout(shape, (1, 1))
    with pytest.raises(ValueError, match="two positive extents"):
        CudaRegisterTileLayout((8, 8), shape)


@pytest.mark.parametrize("threads, axis", [((3, 8), 0), ((4, 5), 1), ((16, 8), 0)])
def test_b1_threads_have_to_divide_the_tile(threads, axis):
    with pytest.raises(LayoutError, match=f"along axis {axis}, 8 is not a multiple of {threads[axis]}"):
        CudaRegisterTileLayout((8, 8), threads)


def test_b1_the_layout_is_frozen_and_compares_by_value():
    tile = CudaRegisterTileLayout((8, 8), (4, 8))
    with pytest.raises(AttributeError):
        tile.thread_shape = (8, 8)
    assert tile == CudaRegisterTileLayout((8, 8), (4, 8))
    assert len({tile, CudaRegisterTileLayout((8, 8), (4, 8)), CudaRegisterTileLayout((8, 8), (8, 4))}) == 2


@pytest.mark.parametrize(
    "logical, threads, registers, count",
    [
        ((8, 8), (4, 8), (2, 1), 2),
        ((16, 16), (4, 8), (4, 2), 8),
        ((3, 17), (1, 17), (3, 1), 3),
        ((4, 8), (4, 8), (1, 1), 1),
    ],
)
def test_b2_register_shape_is_the_quotient(logical, threads, registers, count):
    tile = CudaRegisterTileLayout(logical, threads)
    assert tile.register_shape == registers
    assert tile.registers_per_thread == count
    assert list(tile.registers()) == list(itertools.product(*map(range, registers)))


def test_b3_ownership_is_strided():
    assert [at for _, at in CudaRegisterTileLayout((8, 8), (4, 8)).owned((1, 3))] == [(1, 3), (5, 3)]
    owned = CudaRegisterTileLayout((16, 16), (4, 8)).owned((1, 3))
    assert owned == [
        ((0, 0), (1, 3)),
        ((0, 1), (1, 11)),
        ((1, 0), (5, 3)),
        ((1, 1), (5, 11)),
        ((2, 0), (9, 3)),
        ((2, 1), (9, 11)),
        ((3, 0), (13, 3)),
        ((3, 1), (13, 11)),
    ]


tiles = st.tuples(*[st.integers(1, 9)] * 4).map(
    lambda n: CudaRegisterTileLayout((n[0] * n[1], n[2] * n[3]), (n[0], n[2]))
)


@given(tiles)
def test_b4_every_element_is_owned_exactly_once(tile):
    owned = [
        at for thread in itertools.product(*map(range, tile.thread_shape)) for _, at in tile.owned(thread)
    ]
    assert sorted(owned) == list(itertools.product(*map(range, tile.logical_shape)))
    assert tile.layout.covers().kind == "exactly once"


@given(tiles)
def test_b4_the_digits_say_the_same_as_the_coordinates(tile):
    for thread in itertools.product(*map(range, tile.thread_shape)):
        number = thread[0] * tile.thread_shape[1] + thread[1]
        for reg, (_, at) in enumerate(tile.owned(thread)):
            assert tuple(tile.layout.at(reg=reg, thread=number).values()) == at


@pytest.mark.parametrize(
    "thread, reg", [((4, 0), (0, 0)), ((0, 8), (0, 0)), ((-1, 0), (0, 0)), ((0,), (0, 0))]
)
def test_b4_thread_coordinates_out_of_range_are_refused(thread, reg):
    with pytest.raises(LayoutError, match=r"thread coordinate .* is outside the thread shape"):
        CudaRegisterTileLayout((16, 16), (4, 8)).logical_coordinate(thread, reg)


@pytest.mark.parametrize("reg", [(4, 0), (0, 2), (0, -1), (0, 0, 0)])
def test_b4_register_coordinates_out_of_range_are_refused(reg):
    with pytest.raises(LayoutError, match=r"register coordinate .* is outside the register shape"):
        CudaRegisterTileLayout((16, 16), (4, 8)).logical_coordinate((0, 0), reg)


@pytest.mark.parametrize(
    "shape, threads, registers",
    [
        ((4, 8), (4, 8), (1, 1)),
        ((8, 8), (4, 8), (2, 1)),
        ((16, 16), (4, 8), (4, 2)),
        ((16, 32), (4, 8), (4, 4)),
        ((3, 17), (1, 17), (3, 1)),
        ((1, 64), (1, 32), (1, 2)),
    ],
)
def test_b5_one_warp_thread_shapes_of_dots(shape, threads, registers):
    assert CUDA_DOT_MAX_THREADS == 32
    assert seed_dot_thread_shape(shape) == threads
    assert CudaRegisterTileLayout(shape, threads).register_shape == registers


@given(st.integers(1, 130), st.integers(1, 130))
def test_b5_the_thread_shape_is_the_best_of_all_divisor_pairs(rows, columns):
    chosen = seed_dot_thread_shape((rows, columns))
    CudaRegisterTileLayout((rows, columns), chosen)
    pairs = [
        (r, c)
        for r in range(1, 33)
        for c in range(1, 33)
        if rows % r == 0 and columns % c == 0 and r * c <= 32
    ]
    best = sorted(pairs, key=lambda p: (p[0] * p[1], min(p), p[1]))[-1]
    assert chosen == best


def test_b5_the_limits_of_divisors_are_those_of_the_seed_policy_only():
    assert seed_dot_thread_shape((37, 41)) == (1, 1)
    with pytest.raises(LayoutError, match="two positive extents"):
        seed_dot_thread_shape((4, 0))


def test_b6_without_dots_each_thread_has_one_result():
    for shape in [(4, 8), (3, 17), (105,), (2, 3, 5), (1024,)]:
        assert seed_elementwise_thread_shape(shape) == shape
    with pytest.raises(LayoutError, match="1 to 1024 elements, and it has 1032"):
        seed_elementwise_thread_shape((24, 43))


def test_b7_names_of_register_locals():
    two = CudaRegisterTileRef("v29", CudaRegisterTileLayout((8, 8), (4, 8)))
    assert list(two.stored()) == [((0, 0), "v29_0_0"), ((1, 0), "v29_1_0")]
    one = CudaRegisterTileRef("v29", CudaRegisterTileLayout((4, 8), (4, 8)))
    assert list(one.stored()) == [((0, 0), "v29")]
    assert one.element((0, 0)) == "v29"
    eight = CudaRegisterTileRef("v29", CudaRegisterTileLayout((16, 16), (4, 8)))
    assert [name for _, name in eight.stored()] == [f"v29_{r}_{c}" for r in range(4) for c in range(2)]


def test_b8_broadcast_axes_store_one_coordinate():
    tile = CudaRegisterTileLayout((16, 16), (4, 8))
    rows = CudaRegisterTileRef("v3", tile, broadcast_axes=(1,))
    columns = CudaRegisterTileRef("v22", tile, broadcast_axes=(0,))
    assert rows.storage_shape == (4, 1)
    assert columns.storage_shape == (1, 2)
    assert [name for _, name in rows.stored()] == ["v3_0_0", "v3_1_0", "v3_2_0", "v3_3_0"]
    assert [name for _, name in columns.stored()] == ["v22_0_0", "v22_0_1"]
    assert rows.element((3, 1)) == "v3_3_0"
    assert columns.element((3, 1)) == "v22_0_1"


def test_b8_element_checks_the_coordinate_and_the_layout():
    tile = CudaRegisterTileLayout((16, 16), (4, 8))
    value = CudaRegisterTileRef("v3", tile, broadcast_axes=(1,))
    assert value.element((0, 1), tile) == "v3_0_0"
    for coordinate in [(4, 0), (0, 2), (0, -1), (0,)]:
        with pytest.raises(LayoutError, match="outside the register shape"):
            value.element(coordinate)
    with pytest.raises(LayoutError, match=r"v3 has tile shape .* registers do not match"):
        value.element((0, 0), CudaRegisterTileLayout((16, 16), (8, 4)))
    with pytest.raises(LayoutError, match="axis 2"):
        CudaRegisterTileRef("v3", tile, broadcast_axes=(2,))


def test_b9_raw_coordinates_of_rows_and_columns():
    tile = CudaRegisterTileLayout((16, 16), (4, 8))
    assert tile.thread_coordinate() == ("threadIdx.x / 8", "threadIdx.x % 8")
    names = ("tile_i", "tile_j")
    rows = [tile.coordinate_text((r, 0), names)[0] for r in range(4)]
    columns = [tile.coordinate_text((0, c), names)[1] for c in range(2)]
    assert rows == ["tile_i", "tile_i + 4", "tile_i + 8", "tile_i + 12"]
    assert columns == ["tile_j", "tile_j + 8"]


@given(tiles)
def test_b9_the_texts_compute_the_coordinates(tile):
    for thread in range(tile.threads):
        i, j = (
            eval(text.replace("/", "//").replace("threadIdx.x", str(thread)))
            for text in tile.thread_coordinate()
        )
        for reg, at in tile.owned((i, j)):
            texts = tile.coordinate_text(reg, ("tile_i", "tile_j"))
            assert tuple(eval(text, {"tile_i": i, "tile_j": j}) for text in texts) == at


def test_b10_tiles_of_different_layouts_do_not_combine():
    first = CudaRegisterTileRef("v1", CudaRegisterTileLayout((8, 8), (4, 8)))
    second = CudaRegisterTileRef("v2", CudaRegisterTileLayout((8, 16), (4, 8)))
    assert first.element((1, 0), first.layout) == "v1_1_0"
    with pytest.raises(LayoutError, match=r"v2 has tile shape \(8, 16\) .* tile shape \(8, 8\)"):
        second.element((1, 0), first.layout)
