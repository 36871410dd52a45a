"""Pictures of layouts: exact text for small tiles, well-formed SVG that shows the same cells."""

from xml.etree import ElementTree

from hypothesis import given

from tests.layout.random_layouts import exact_tilings
from tritium.layout import CudaRegisterTileLayout, Layout, padded_rows, register_tile
from tritium.layout.render import render_svg

ACCUMULATOR = Layout.of("reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1 | row 16, col 8")


def test_a_register_tile_names_lane_and_register():
    lines = ACCUMULATOR.render().splitlines()
    assert lines[0] == "   |    0    1    2    3    4    5    6    7"
    assert lines[2] == " 1 |  4:0  4:1  5:0  5:1  6:0  6:1  7:0  7:1"
    assert lines[9] == " 8 |  0:2  0:3  1:2  1:3  2:2  2:3  3:2  3:3"
    assert len(lines) == 17


def test_threads_warps_copies_and_holes():
    assert CudaRegisterTileLayout((2, 4), (1, 4)).layout.render() == (
        "  |   0   1   2   3\n0 | 0:0 1:0 2:0 3:0\n1 | 0:1 1:1 2:1 3:1"
    )
    two_warps = Layout.of("lane: 2 -> col 1; warp: 2 -> col 2 | col 4")
    assert two_warps.render() == "  |     0     1     2     3\n0 | 0.0:0 0.1:0 1.0:0 1.1:0"
    copies = Layout.of("lane: 2 -> col 1, 4 -> - | col 3")
    assert copies.render() == "  |     0     1 2\n0 | 0:0x4 1:0x4 -"


def test_a_memory_layout_shows_bytes():
    assert padded_rows(2, 3, 4, padding=1).render() == "  |  0  1  2\n0 |  0  4  8\n1 | 16 20 24"
    assert padded_rows(2, 2, 4, stages=2).render() == (
        "stage 0\n  | 0  1\n0 | 0  4\n1 | 8 12\nstage 1\n  |  0  1\n0 | 16 20\n1 | 24 28"
    )
    plain = Layout.of("row: 2 -> byte 16; col: 3 -> byte 4 | byte 32")
    assert plain.render() == "  |  0  1  2\n0 |  0  4  8\n1 | 16 20 24"


def test_more_than_two_axes_are_slices_and_large_tiles_are_cut():
    cube = Layout.of("reg: 2 -> a 1; lane: 2 -> c 1 | a 2, b 1, c 2")
    assert cube.render() == "a 0\n  |   0   1\n0 | 0:0 1:0\na 1\n  |   0   1\n0 | 0:1 1:1"
    cut = register_tile((40, 40), 1).layout.render(limit=3).splitlines()
    assert len(cut) == 5
    assert cut[1].endswith(" ...")
    assert cut[4] == "... 37 more rows"
    assert Layout.of("lane: 2 -> -", {}).render() == "  |     0\n0 | 0:0x2"


@given(exact_tilings((6, 8)))
def test_every_cell_names_its_holder(layout):
    rows = [line.split("|")[1].split() for line in layout.render().splitlines()[1:]]
    for reg, lane, warp in ((0, 0, 0), *[tuple(n - 1 for n in layout.table().shape[1:])]):
        at = layout.at(reg=reg, lane=lane, warp=warp)
        name = f"{lane}:{reg}" if layout.extent("warp") == 1 else f"{warp}.{lane}:{reg}"
        assert rows[at["row"]][at["col"]] == name


def test_the_svg_has_a_cell_for_every_element():
    root = ElementTree.fromstring(render_svg(ACCUMULATOR))
    names = {"s": "http://www.w3.org/2000/svg"}
    rects, texts = root.findall("s:rect", names), [t.text for t in root.findall("s:text", names)]
    assert len(rects) == 128
    assert texts.count("5:3") == 1
    assert root.find("s:title", names).text == str(ACCUMULATOR)
    # lanes have colours of their own, and one lane has one colour
    assert len({rect.get("fill") for rect in rects}) == 32
    cut = ElementTree.fromstring(render_svg(register_tile((40, 40), 1).layout, limit=8))
    assert len(cut.findall("s:rect", names)) == 64
    cube = ElementTree.fromstring(render_svg(Layout.of("reg: 2 -> a 1; lane: 2 -> c 1 | a 2, b 1, c 3")))
    assert [t.text for t in cube.findall("s:text", names)].count("-") == 2
