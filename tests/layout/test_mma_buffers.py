"""Buffers for tensor-core operands have no bank conflicts: for `ldmatrix`, for the copies that fill them, for single reads."""

from __future__ import annotations

import numpy as np
import pytest

from tritium.layout import Swizzle
from tritium.ops.gpu_mma import WarpTile, lane_places, reduction_axis
from tritium.passes.mma_dots import arrange

BANKS, BANK = 32, 4


def conflicts(addresses: np.ndarray, width: int) -> int:
    """The most different words that a bank serves at once, when lanes in groups access `width` bytes each."""
    together = 128 // width
    worst = 0
    for group in addresses.reshape(-1, together):
        words = {w for at in group for w in range(at // BANK, (at + width) // BANK)}
        worst = max(worst, int(np.bincount([w % BANKS for w in words]).max()))
    return worst


def placed(at: np.ndarray, swizzle: tuple[int, ...]) -> np.ndarray:
    return Swizzle(*swizzle).apply(at) if swizzle else at


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("extent", [16, 24, 32, 40, 48, 64, 72, 96, 128, 160, 192, 256])
@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix_reads_without_conflicts(size, extent, side, transposed) -> None:
    if transposed and size != 2:
        return
    padding, swizzle = arrange(extent * size, size, not transposed)
    pitch = extent * size + padding
    assert pitch % 16 == 0
    places = lane_places(WarpTile(64, 64, 2, 4, 2, 2, 128), side, size, transposed).table(32)
    rows, columns = (places[:, 1], places[:, 0]) if transposed else (places[:, 0], places[:, 1])
    at = placed(rows * pitch + columns * size, swizzle)
    assert conflicts(at, 16) == 1


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("extent", [32, 64, 128, 256])
def test_copies_write_without_conflicts(size, extent) -> None:
    padding, swizzle = arrange(extent * size, size, True)
    chunks = extent * size // 16
    lane = np.arange(128)
    at = placed(lane // chunks * (extent * size + padding) + lane % chunks * 16, swizzle)
    assert conflicts(at, 16) == 1


@pytest.mark.parametrize("extent", [32, 64, 96, 128, 256])
def test_single_words_are_read_without_conflicts(extent) -> None:
    """fp32 operands that do not run along the reduction: lane 4g + t reads row t, or t + 4, column g."""
    padding, swizzle = arrange(extent * 4, 4, False)
    assert not swizzle
    axis = reduction_axis(8, 4)
    lane = np.arange(32)
    ((stride, count, step),) = axis.thread_terms()
    for register in range(2):
        rows = lane // stride % count * step + axis.register_offset(register)
        assert conflicts(rows * (extent * 4 + padding) + lane // 4 * 4, 4) == 1
