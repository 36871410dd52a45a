"""argmax and argmin in vectors: ties, NaN, signed zeros, every extent, against the interpreter bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def along(x, values, places, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, LARGEST: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    tile = tl.load(x + r[:, None] * C + c[None, :])
    if LARGEST:
        best, at = tl.max(tile, axis=AXIS, return_indices=True)
    else:
        best, at = tl.min(tile, axis=AXIS, return_indices=True)
    i = c if AXIS == 0 else r
    tl.store(values + i, best)
    tl.store(places + i, at)


def both(x: np.ndarray, axis: int, largest: bool, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    for backend in ("cpu", "interpret"):
        monkeypatch.setenv("TRITIUM_BACKEND", backend)
        n = x.shape[1 - axis]
        values, places = np.zeros(n, x.dtype), np.zeros(n, np.int32)
        along[(1,)](x, values, places, *x.shape, AXIS=axis, LARGEST=largest)
        found.append((values, places))
    return found


@pytest.mark.parametrize("extent", [1, 2, 3, 16, 17, 31, 64, 67, 128, 200, 1000])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int8, np.uint16])
def test_places_of_extremes(
    extent: int, axis: int, largest: bool, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(extent)
    shape = (extent, 3) if axis == 0 else (3, extent)
    x = rng.integers(0 if np.dtype(dtype).kind == "u" else -5, 6, shape).astype(dtype)  # many ties
    if np.dtype(dtype).kind == "f":
        x = np.where(
            rng.random(shape) < 0.2, np.array(rng.choice([np.nan, -0.0, np.inf, -np.inf])), x
        ).astype(dtype)
        lane: Any = (slice(None), 1) if axis == 0 else (1, slice(None))
        x[lane] = np.nan
    (values, places), (want, where) = both(x, axis, largest, monkeypatch)
    assert np.array_equal(places, where)
    assert np.array_equal(values.view(np.uint8), want.view(np.uint8))


@triton.jit
def far_apart(x, places, N: tl.constexpr):
    tl.store(
        places + tl.program_id(0), tl.argmax(tl.load(x + tl.program_id(0) * N + tl.arange(0, N)), axis=0)
    )


@pytest.mark.parametrize("n", [48, 97, 512])
def test_the_first_of_two_equal_ones_wins_wherever_they_are(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    rng = np.random.default_rng(n)
    pairs = [sorted(rng.choice(n, 2, replace=False)) for _ in range(200)]
    x = np.zeros((len(pairs), n), np.float32)
    for row, pair in zip(x, pairs, strict=True):
        row[pair] = 1
    places = np.zeros(len(pairs), np.int32)
    far_apart[(len(pairs),)](x, places, N=n)
    assert places.tolist() == [first for first, _ in pairs]
