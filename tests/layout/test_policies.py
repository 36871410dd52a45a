"""Default register tiles: any shape, any number of warps; what they promise, by enumeration."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritium.layout import Layout, LayoutError, dot_register_tile, flat_register_tile, register_tile
from tritium.layout.memory_access import addresses

extents = st.one_of(st.integers(1, 24), st.sampled_from([32, 37, 41, 64, 96, 105, 128]))
shapes = st.lists(extents, min_size=1, max_size=3).map(tuple).filter(lambda s: prod(s) <= 1 << 15)
warps = st.integers(1, 16)
vectors = st.sampled_from([1, 2, 3, 4, 8, 16])


def dense(layout, order, element_bytes, align=128):
    """Memory with the axes in `order` from contiguous to outermost, each row aligned to `align` bytes."""
    digits, step = [], element_bytes
    for axis in order:
        name = layout.outputs[axis]
        digits.append(f"{name}: {layout.shape[name]} -> byte {step}")
        step = (
            -(-step * layout.shape[name] // align) * align if axis == order[0] else step * layout.shape[name]
        )
    return Layout.of("; ".join(digits), {"byte": step})


@settings(max_examples=200)
@given(shapes, warps, vectors, st.data())
def test_every_element_is_held_and_lanes_are_powers_of_two(shape, num_warps, vector, data):
    order = data.draw(st.permutations(range(len(shape))).map(tuple))
    tile = register_tile(shape, num_warps, order=order, vector=vector, element_bytes=4)
    layout = tile.layout
    assert layout.inputs == ("reg", "lane", "warp")
    assert (layout.extent("lane"), layout.extent("warp")) == (32, num_warps)
    assert tuple(layout.shape.values()) == shape
    copies = prod(extent for _, _, extent in layout.replicas)
    coverage = layout.covers()
    assert (coverage.fewest, coverage.most) == (copies, copies)
    assert all(lane & (lane - 1) == 0 for lane in tile.lanes)
    assert prod(tile.lanes) * prod(tile.warps) * copies == 32 * num_warps
    for axis, name in enumerate(layout.outputs):
        span = tile.vector[axis] * tile.lanes[axis] * tile.warps[axis]
        assert layout.reach(name) == -(-shape[axis] // span) * span
        assert layout.overhang(name) == bool(shape[axis] % span)


@given(shapes, warps, vectors, st.sampled_from([1, 2, 4, 8]))
def test_threads_hold_neighbours_that_never_straddle_the_edge(shape, num_warps, vector, element_bytes):
    tile = register_tile(shape, num_warps, vector=vector, element_bytes=element_bytes)
    width = tile.vector[-1]
    assert width <= vector and shape[-1] % width == 0 and width & (width - 1) == 0
    memory = dense(tile.layout, tile.order, element_bytes)
    limit = 16 * element_bytes
    assert tile.layout.vector_width(memory, element_bytes, limit=limit, alignment=limit) % width == 0


@given(shapes, warps, vectors, st.sampled_from([1, 2, 4, 8]), st.data())
def test_no_sector_is_fetched_twice(shape, num_warps, vector, element_bytes, data):
    """With aligned rows, the warps' accesses together touch each 32-byte sector of the tile once."""
    order = data.draw(st.permutations(range(len(shape))).map(tuple))
    tile = register_tile(shape, num_warps, order=order, vector=vector, element_bytes=element_bytes)
    memory = dense(tile.layout, order, element_bytes)
    at, inside = addresses(tile.layout, memory)
    width = max(tile.vector)
    sectors = np.where(inside, at[0] // 32, -1)
    sectors = sectors.reshape(*sectors.shape[:2], -1, width)
    fetched = set()
    for warp in range(prod(tile.warps)):
        for access in range(sectors.shape[2]):
            touched = set(sectors[warp, :, access].reshape(-1).tolist()) - {-1}
            row_bytes = shape[order[0]] * element_bytes
            assert not touched & fetched or row_bytes < 32
            fetched |= touched
    assert fetched == set((memory.table().reshape(-1) // 32).tolist())


@given(shapes, warps)
def test_no_split_has_fewer_registers_at_the_same_coalescing(shape, num_warps):
    """Against the flat run, which wastes less than a round: the strided tile needs at most 2^rank times as many."""
    tile = register_tile(shape, num_warps)
    flat = flat_register_tile(shape, num_warps)
    assert flat.registers == -(-prod(shape) // (32 * num_warps))
    assert flat.registers <= tile.registers <= flat.registers * 2 ** (len(shape) + 1)


@given(shapes, warps, vectors)
def test_the_flat_run_covers_any_shape_exactly_once(shape, num_warps, vector):
    tile = flat_register_tile(shape, num_warps, vector=vector)
    coverage = tile.layout.covers()
    assert coverage.kind == "exactly once"
    assert coverage.outside < 32 * num_warps * tile.vector[0]
    assert tile.registers == tile.layout.extent("reg")


@pytest.mark.parametrize("shape", [(3, 5, 7), (100,), (48, 48), (17, 33), (1,)])
@pytest.mark.parametrize("vector", [1, 4])
def test_the_flat_runs_of_the_study(shape, vector):
    tile = flat_register_tile(shape, 4, vector=vector)
    assert tile.layout.covers().kind == "exactly once"
    size = prod(shape)
    width = tile.vector[0]
    assert tile.layout.at(lane=1)["flat"] == width
    assert tile.layout.at(warp=1)["flat"] == 32 * width
    assert tile.registers == width * -(-size // (128 * width))


@given(st.tuples(extents, extents), warps, st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4])))
def test_dot_tiles_hold_every_result(shape, num_warps, vector):
    tile = dot_register_tile(shape, num_warps, vector=vector)
    copies = prod(extent for _, _, extent in tile.layout.replicas)
    coverage = tile.layout.covers()
    assert (coverage.fewest, coverage.most) == (copies, copies)
    assert tile.vector[0] <= vector[0] and tile.vector[1] <= vector[1]
    assert shape[0] % tile.vector[0] == 0 and shape[1] % tile.vector[1] == 0


def test_dot_tiles_of_usual_shapes():
    tile = dot_register_tile((128, 128), 8, vector=(4, 4))
    assert str(tile.layout) == (
        "reg: 4 -> col 1, 4 -> row 1, 2 -> col 64, 2 -> row 64; lane: 8 -> col 4, 4 -> row 4; "
        "warp: 2 -> col 32, 4 -> row 16 | row 128, col 128"
    )
    assert tile.why == (
        "lanes 4 x 8, warps 4 x 2 over (row, col): 8 x 8 results a thread from 8 + 8 operands, 64 registers a thread"
    )
    assert dot_register_tile((37, 41), 4).registers == 15


def test_the_reason_is_recorded():
    tile = register_tile((64, 64), 4, vector=4)
    assert str(tile.layout) == (
        "reg: 4 -> col 1, 8 -> row 8; lane: 16 -> col 4, 2 -> row 1; warp: 4 -> row 2 | row 64, col 64"
    )
    assert tile.why == (
        "lanes 2 x 16, warps 4 x 1 over (row, col): runs of 256 bytes along col in vectors of 4, 32 registers a thread"
    )
    small = register_tile((8,), 4)
    assert small.why.endswith("1 register a thread, 16 copies of each element")
    assert register_tile((16,), 1).why.endswith("1 register a thread, 2 copies of each element")
    assert register_tile((20,), 1).why.endswith("1 register for 0.6 elements a thread")
    assert small.layout.replicas == (("lane", 8, 4), ("warp", 1, 4))
    assert register_tile((8,), 4) is small
    assert (
        flat_register_tile((37, 41), 4).why
        == "row-major run in vectors of 1, 12 registers for 11.9 elements a thread"
    )


def test_order_decides_what_is_contiguous():
    rows = register_tile((64, 64), 4, vector=4, order=(0, 1))
    assert rows.layout == register_tile((64, 64), 4, vector=4).layout.transpose()
    assert rows.vector == (4, 1)


def test_three_rows_on_four_warps_leave_one_warp_idle():
    tile = register_tile((3, 32), 4)
    assert (tile.warps, tile.registers, tile.layout.overhang("row")) == ((4, 1), 1, True)


def test_names_of_the_axes():
    assert register_tile((2, 3, 4), 1).layout.outputs == ("dim0", "dim1", "dim2")
    assert register_tile((2, 3), 1, names=("m", "k")).layout.outputs == ("m", "k")
    with pytest.raises(LayoutError, match="as many different names"):
        register_tile((2, 3), 1, names=("m", "m"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (((), 1), r"needs positive extents, and \(\) was given"),
        (((4, 0), 1), r"needs positive extents, and \(4, 0\) was given"),
        (((4,), 0), "1 to 32 warps, and 0 was given"),
        (((4,), 33), "1 to 32 warps, and 33 was given"),
    ],
)
def test_impossible_tiles_are_refused(arguments, message):
    for policy in (register_tile, flat_register_tile, dot_register_tile):
        with pytest.raises(LayoutError, match=message):
            policy(*arguments)
    with pytest.raises(LayoutError, match=r"\(0, 2\) is not an order of the 2 axes"):
        register_tile((4, 4), 1, order=(0, 2))
    with pytest.raises(LayoutError, match="A dot result has two axes"):
        dot_register_tile((4, 4, 4), 1)
