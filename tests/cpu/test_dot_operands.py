"""Operands of products: read in place or packed, in every layout, whole and ragged."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.backends.cpu import operands, panels


@pytest.fixture(autouse=True)
def on_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")


@triton.jit
def product(
    a, b, c, M, N, K, sam, sak, sbk, sbn, ACC: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(
            a + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0
        )
        y = tl.load(
            b + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0
        )
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def _integers(shape: tuple[int, ...], seed: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


LAYOUTS = {
    "rows": lambda a: a,
    "padded rows": lambda a: np.pad(a, ((0, 0), (0, 7)))[:, : a.shape[1]],
    "columns": lambda a: a.T.copy().T,
    "rows upwards": lambda a: a[::-1].copy()[::-1],
    "rows backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "every other": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
    "one column": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


def _strides(a: np.ndarray) -> tuple[int, int]:
    return a.strides[0] // a.itemsize, a.strides[1] // a.itemsize


def _texts(kernel: Any, name: str) -> list[str]:
    return [d.text for d in kernel.compilation.record if d.name == name]


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("shape", [(64, 32, 96), (45, 33, 77), (1, 17, 131)])
@pytest.mark.parametrize("blocks", [(32, 32, 16), (13, 48, 20)])
def test_left_operands_of_every_layout(
    left: str, shape: tuple[int, int, int], blocks: tuple[int, int, int]
) -> None:
    (m, n, k), (bm, bn, bk) = shape, blocks
    a, b, c = LAYOUTS[left](_integers((m, k), 1)), _integers((k, n), 2), np.zeros((m, n), np.float32)
    grid = (-(-m // bm), -(-n // bn))
    kernel = product[grid](a, b, c, m, n, k, *_strides(a), n, 1, ACC=tl.float32, BM=bm, BN=bn, BK=bk)
    assert np.array_equal(c, a @ b)
    if left in ("rows", "padded rows", "rows upwards"):
        assert "where the tile lies within its mask" in _texts(kernel, operands.LEFT)


@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("shape", [(64, 32, 96), (45, 33, 77), (7, 130, 131)])
@pytest.mark.parametrize("blocks", [(16, 64, 32), (13, 48, 20)])
def test_right_operands_of_every_layout(
    right: str, shape: tuple[int, int, int], blocks: tuple[int, int, int]
) -> None:
    (m, n, k), (bm, bn, bk) = shape, blocks
    a, b, c = _integers((m, k), 1), LAYOUTS[right](_integers((k, n), 2)), np.zeros((m, n), np.float32)
    grid = (-(-m // bm), -(-n // bn))
    product[grid](a, b, c, m, n, k, k, 1, *_strides(b), ACC=tl.float32, BM=bm, BN=bn, BK=bk)
    assert np.array_equal(c, a @ b)


WIDE = {np.int8: (np.int32, tl.int32), np.float64: (np.float64, tl.float64)}


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.int8])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("shape", [(64, 64, 64), (37, 53, 71)])
def test_layouts_in_other_types(dtype: Any, layout: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    wide, acc = WIDE.get(dtype, (np.float32, tl.float32))
    a, b = (LAYOUTS[layout](_integers(s, i).astype(dtype)) for i, s in enumerate(((m, k), (k, n))))
    c = np.zeros((m, n), wide)
    grid = (-(-m // 32), -(-n // 32))
    product[grid](a, b, c, m, n, k, *_strides(a), *_strides(b), ACC=acc, BM=32, BN=32, BK=32)
    assert np.array_equal(c, a.astype(wide) @ b.astype(wide))


def test_masked_rows_are_not_read() -> None:
    """What lies behind the mask is NaN, and must not reach the result."""
    store = np.full((64, 128), np.nan, np.float32)
    a, b = store[:50, :75], _integers((75, 20), 2)
    a[:] = _integers((50, 75), 1)
    c = np.zeros((50, 20), np.float32)
    product[(2, 1)](a, b, c, 50, 20, 75, 128, 1, 20, 1, ACC=tl.float32, BM=32, BN=32, BK=16)
    assert np.array_equal(c, a @ b)


def test_not_a_number_in_operands_comes_through() -> None:
    a, b, c = _integers((40, 64), 1), _integers((64, 40), 2), np.zeros((40, 40), np.float32)
    a[3, 5], a[4, 6], b[7, 8] = np.nan, np.inf, -np.inf
    b[6] = np.abs(b[6]) + 1
    a[:, 7] = np.abs(a[:, 7]) + 1
    product[(2, 2)](a, b, c, 40, 40, 64, 64, 1, 40, 1, ACC=tl.float32, BM=32, BN=32, BK=32)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(c, a @ b, equal_nan=True)


@triton.jit
def changing(a, b, c, K: tl.constexpr, B: tl.constexpr):
    """Each step writes over what the one before multiplied by."""
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + r[:, None] * K + (k + r)[None, :])
        y = tl.load(b + (k + r)[:, None] * B + r[None, :])
        acc += tl.dot(x, y)
        tl.store(a + r[:, None] * K + (k + r)[None, :], x * 0)
    tl.store(c + r[:, None] * B + r[None, :], acc)


def test_rows_that_the_loop_writes_are_packed_at_once() -> None:
    a, b, c = _integers((16, 64), 1), _integers((64, 16), 2), np.zeros((16, 16), np.float32)
    want = a @ b
    kernel = changing[(1,)](a, b, c, K=64, B=16)
    assert np.array_equal(c, want) and not a.any()
    assert "where the tile lies within its mask" not in _texts(kernel, operands.LEFT)


@triton.jit
def wandering(a, b, c, where, K: tl.constexpr, B: tl.constexpr):
    """Steps that do not follow each other in memory."""
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        at = tl.load(where + k // B)
        x = tl.load(a + r[:, None] * K + (at + r)[None, :])
        y = tl.load(b + (k + r)[:, None] * B + r[None, :])
        acc += tl.dot(x, y)
    tl.store(c + r[:, None] * B + r[None, :], acc)


@pytest.mark.parametrize("order", [[0, 16, 32, 48, 64, 80], [0, 16, 48, 64, 16, 32], [80, 64, 48, 32, 16, 0]])
def test_steps_that_jump_are_brought_together(order: list[int]) -> None:
    a, b, c = _integers((16, 96), 1), _integers((96, 16), 2), np.zeros((16, 16), np.float32)
    wandering[(1,)](a, b, c, np.array(order, np.int32), K=96, B=16)
    assert np.array_equal(c, sum(a[:, w : w + 16] @ b[16 * i : 16 * i + 16] for i, w in enumerate(order)))


@triton.jit
def chained(a, b, c, d, B: tl.constexpr):
    """The left operand of the second product is the result of the first, and is used again."""
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    x, y, z = tl.load(a + at), tl.load(b + at), tl.load(c + at)
    p = tl.dot(x, tl.trans(y))
    q = tl.dot(p, z, acc=p)
    tl.store(d + at, q + p)


@pytest.mark.parametrize("b", [16, 32, 48])
def test_kept_tiles_are_read_as_they_are(b: int) -> None:
    x, y, z, d = (_integers((b, b), i) for i in range(4))
    chained[(1,)](x, y, z, d, B=b)
    p = x @ y.T
    assert np.array_equal(d, p @ z + 2 * p)


@triton.jit
def scores(
    q, keys, values, out, n, sk, ROWS_FIRST: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """out = (q @ keys^T) @ values, head by head, in one pass over the keys."""
    first, second = tl.program_id(0), tl.program_id(1)
    block, head = (first, second) if ROWS_FIRST else (second, first)
    rows, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + head * n * D + rows[:, None] * D + d[None, :], mask=rows[:, None] < n, other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        near = cols[:, None] < n
        y = tl.load(keys + head * n * sk + cols[:, None] * sk + d[None, :], mask=near, other=0.0)
        z = tl.load(values + head * n * sk + cols[:, None] * sk + d[None, :], mask=near, other=0.0)
        p = tl.dot(x, tl.trans(y))
        acc = tl.dot(p * 2, z, acc * 0.5)
    tl.store(out + head * n * D + rows[:, None] * D + d[None, :], acc, mask=rows[:, None] < n)


@pytest.mark.parametrize("rows_first", [True, False])
@pytest.mark.parametrize("n", [64, 96, 45, 1])
@pytest.mark.parametrize("stride", [32, 33, 600])
@pytest.mark.parametrize("blocks", [(16, 32), (13, 20)])
def test_right_operands_that_instances_share(
    rows_first: bool, n: int, stride: int, blocks: tuple[int, int]
) -> None:
    heads, d, (bm, bn) = 3, 32, blocks
    q = _integers((heads, n, d), 1)
    y, z = (_integers((heads, n, stride), s)[:, :, :d] for s in (2, 3))
    out = np.zeros_like(q)
    grid = (-(-n // bm), heads)
    kernel = scores[grid if rows_first else grid[::-1]](
        q, y, z, out, n, stride, ROWS_FIRST=rows_first, D=d, BM=bm, BN=bn
    )
    want = np.zeros_like(q)
    for start in range(0, n, bn):
        part = slice(start, start + bn)
        want = want * np.float32(0.5) + (q @ y[:, part].transpose(0, 2, 1) * 2) @ z[:, part]
    assert np.array_equal(out, want)
    shared = [t for t in _texts(kernel, panels.NAME) if t.startswith("while")]
    if n > bn:  # a loop of one step is none
        assert len(shared) == (2 if rows_first else 0)


@pytest.mark.parametrize("blocks", [(32, 32, 32), (16, 64, 20), (7, 9, 5), (33, 48, 2), (16, 16, 128)])
@pytest.mark.parametrize(
    "layouts", [("rows", "rows"), ("columns", "columns"), ("rows backwards", "every other")]
)
def test_whole_range_of_int8(blocks: tuple[int, int, int], layouts: tuple[str, str]) -> None:
    (bm, bn, bk), (left, right) = blocks, layouts
    rng = np.random.default_rng(5)
    a, b = (rng.choice(np.array([-128, -127, -1, 0, 3, 127], np.int8), s) for s in ((61, 200), (200, 70)))
    a[0], b[:, 0] = -128, -128  # the largest products there are
    c = np.zeros((61, 70), np.int32)
    a, b = LAYOUTS[left](a), LAYOUTS[right](b)
    grid = (-(-61 // bm), -(-70 // bn))
    product[grid](a, b, c, 61, 70, 200, *_strides(a), *_strides(b), ACC=tl.int32, BM=bm, BN=bn, BK=bk)
    assert np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@triton.jit
def quantised(a, b, c, B: tl.constexpr):
    """Operands that become int8 on the way."""
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    p = (tl.erf(x * 0.5) * 100).to(tl.int8)
    q = (tl.exp(y * 0.25) * 16 - 20).to(tl.int8)
    tl.store(c + at, tl.dot(p, tl.trans(q)))


@pytest.mark.parametrize("b", [16, 64, 80])
def test_computed_int8(b: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = _integers((b, b), 1), _integers((b, b), 2)
    found: list[np.ndarray] = []
    for backend in ("cpu", "interpret"):
        monkeypatch.setenv("TRITIUM_BACKEND", backend)
        found.append(np.zeros((b, b), np.int32))
        quantised[(1,)](x, y, found[-1], B=b)
    assert np.array_equal(*found)
