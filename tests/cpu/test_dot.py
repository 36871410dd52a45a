"""Products in loops: jammed steps, panels kept between instances, and when neither may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.backends.cpu import panels


@pytest.fixture(autouse=True)
def on_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")


@triton.jit
def product(
    a, b, c, M, N, K, sa, sb, sc, SWAP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    first, second = tl.program_id(0), tl.program_id(1)
    pid_m, pid_n = (second, first) if SWAP else (first, second)
    rm, rn = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * sa + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * sb + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * sc + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def _texts(kernel: Any, name: str) -> list[str]:
    return [d.text for d in kernel.compilation.record if d.name == name]


def _arrays(m: int, n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    made = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    a, b, c = made
    return a, b, c


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("shape", [(64, 64, 64), (70, 50, 90), (1, 1, 1), (129, 33, 257), (40, 200, 5000)])
@pytest.mark.parametrize("blocks", [(16, 16, 16), (32, 64, 32), (13, 48, 20)])
def test_products_are_exact(shape: tuple[int, int, int], blocks: tuple[int, int, int], swap: bool) -> None:
    m, n, k = shape
    bm, bn, bk = blocks
    a, b, c = _arrays(m, n, k)
    grid = (-(-m // bm), -(-n // bn))
    kernel = product[grid[::-1] if swap else grid](a, b, c, m, n, k, k, n, n, SWAP=swap, BM=bm, BN=bn, BK=bk)
    assert np.array_equal(c, a @ b)  # small integers: every order of summation is exact
    if k == 1:  # a loop of one step is none
        return
    assert _texts(kernel, "multiply several steps at once")
    assert any(t.startswith("while") for t in _texts(kernel, panels.NAME))


def test_kept_panels_belong_to_one_launch() -> None:
    a, b, c = _arrays(64, 32, 64)
    for seed in range(3):
        b[:] = _arrays(64, 32, 64, seed)[1]
        product[(4, 2)](a, b, c, 64, 32, 64, 64, 32, 32, SWAP=False, BM=16, BN=16, BK=16)
        assert np.array_equal(c, a @ b)


@triton.jit
def batched(a, b, c, which, K, B: tl.constexpr):
    i = tl.program_id(0)
    at = tl.load(which + i) * B * K
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + r[:, None] * K + k + r[None, :])
        y = tl.load(b + at + (k + r[:, None]) * B + r[None, :])
        acc += tl.dot(x, y)
    tl.store(c + i * B * B + r[:, None] * B + r[None, :], acc)


def test_panels_follow_offsets_that_come_from_memory() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((16, 64), (3, 64, 16)))
    which = np.array([0, 0, 2, 1, 1, 0, 2, 2], np.int32)
    c = np.zeros((8, 16, 16), np.float32)
    batched[(8,)](a, b, c, which, 64, B=16)
    assert np.array_equal(c, a @ b[which])


@triton.jit
def powers(x, y, K: tl.constexpr, B: tl.constexpr):
    """y[i + 1] = x @ y[i]: each instance multiplies by what the one before wrote."""
    i = tl.program_id(0)
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, B, K):
        rk = k + tl.arange(0, K)
        left = tl.load(x + r[:, None] * B + rk[None, :])
        right = tl.load(y + i * 0 + rk[:, None] * B + r[None, :])
        acc += tl.dot(left, right)
    tl.store(y + r[:, None] * B + r[None, :], acc)


def test_arrays_that_the_kernel_writes_are_packed_anew() -> None:
    x = np.zeros((16, 16), np.float32)
    x[np.arange(16), (np.arange(16) + 1) % 16] = 1
    y = np.arange(256, dtype=np.float32).reshape(16, 16)
    want = y.copy()
    for _ in range(5):
        want = x @ want
    kernel = powers[(5,)](x, y, K=4, B=16)
    assert np.array_equal(y, want)
    assert "the kernel may write the array" in _texts(kernel, panels.NAME)


@triton.jit
def transposed(a, b, c, K, B: tl.constexpr):
    pid = tl.program_id(0)
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + (k + r[:, None]) * B + r[None, :])
        y = tl.load(b + r[:, None] * K + k + r[None, :])
        acc = tl.dot(tl.trans(x), tl.trans(y), acc)
    tl.store(c + pid * B * B + r[:, None] * B + r[None, :], acc)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_transposed_operands_of_all_types(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-4, 5, s).astype(dtype) for s in ((96, 32), (32, 96)))
    wide = np.int32 if dtype is np.int8 else np.float64 if dtype is np.float64 else np.float32
    if wide is not np.float32:
        return _check_plain(a, b, wide)
    c = np.zeros((2, 32, 32), wide)
    transposed[(2,)](a, b, c, 96, B=32)
    want = a.astype(wide).T @ b.astype(wide).T
    assert np.array_equal(c[0], want) and np.array_equal(c[1], want)
    return None


@triton.jit
def once(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x, y = tl.load(a + m[:, None] + k[None, :] * M), tl.load(b + k[:, None] + n[None, :] * K)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))


def _check_plain(a: np.ndarray, b: np.ndarray, wide: Any) -> None:
    c = np.zeros((32, 32), wide)
    once[(1,)](a, b, c, M=32, N=32, K=96)
    assert np.array_equal(c, a.astype(wide).T @ b.astype(wide).T)
