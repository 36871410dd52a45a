"""Lost precision, measured: half-precision accumulators against wide ones, and where NaN and infinities come from."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.sanitizer import checked


@triton.jit
def product(a, b, c, K, N: tl.constexpr, HALF: tl.constexpr, B: tl.constexpr):
    rows = tl.arange(0, N)
    acc = tl.zeros((N, N), dtype=tl.float16 if HALF else tl.float32)
    for k0 in range(0, K, B):
        ks = k0 + tl.arange(0, B)
        x = tl.load(a + rows[:, None] * K + ks[None, :])
        y = tl.load(b + ks[:, None] * N + rows[None, :])
        acc += tl.dot(x, y).to(acc.dtype)
    tl.store(c + rows[:, None] * N + rows[None, :], acc.to(tl.float16))


@pytest.mark.parametrize("k", [256, 1024, 4096])
def test_a4_the_measured_error_is_that_of_the_stored_result(k: int) -> None:
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((4, k)) * 0.1).astype(np.float16)
    b = (rng.standard_normal((k, 4)) * 0.1).astype(np.float16)
    c = np.zeros((4, 4), np.float16)
    with checked(raise_findings=False) as session:
        product[(1,)](a, b, c, k, N=4, HALF=True, B=8)
    (found,) = session.findings
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(c - exact).max()
    once = np.abs(exact.astype(np.float16) - exact).max()
    assert found.kind == "half-accumulator" and found.measures["additions"] == k // 8
    assert found.measures["error"] == pytest.approx(error, rel=1e-3)
    assert found.measures["wide_error"] == pytest.approx(once, rel=1e-2)
    assert found.measures["factor"] == pytest.approx(error / once, rel=1e-2)
    assert found.measures["estimated"] == pytest.approx((2 * k // 8) ** 0.5)


def test_a_wide_accumulator_is_clean() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((4, 1024), (1024, 4)))
    with checked():
        product[(1,)](a, b, np.zeros((4, 4), np.float16), 1024, N=4, HALF=False, B=8)


@triton.jit
def logarithms(x, out, n, KEEP: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + i, mask=i < n, other=0.0)
    found = tl.log(value)
    if not KEEP:
        found = tl.where(value > 0, found, 0.0)
    tl.store(out + i, found, mask=i < n)


def test_infinities_count_only_where_they_are_stored() -> None:
    zero, positive = np.array([1, 0, 2], np.float32), np.array([1, 2, 3], np.float32)
    for x, keep, kinds in ((zero, True, ["non-finite"]), (zero, False, []), (positive, True, [])):
        with checked(raise_findings=False) as session:
            logarithms[(1,)](x, np.zeros(3, np.float32), 3, KEEP=keep, B=4)
        assert [f.kind for f in session.findings] == kinds
    with checked(raise_findings=False) as session:
        logarithms[(1,)](zero, np.zeros(3, np.float32), 3, KEEP=True, B=4)
    (found,) = session.findings
    assert found.lane is not None and found.message.startswith("an infinity is made here of 0")


def test_numbers_that_came_in_are_not_born_here() -> None:
    x = np.array([np.nan, np.inf, 1.0], np.float32)

    @triton.jit
    def double(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0) * 2, mask=i < n)

    with checked():
        double[(1,)](x, np.zeros(3, np.float32), 3, B=4)


def test_tf32_is_looked_for_on_request() -> None:
    @triton.jit
    def square(a, out, B: tl.constexpr):
        i = tl.arange(0, B)
        at = i[:, None] * B + i[None, :]
        x = tl.load(a + at)
        tl.store(out + at, tl.dot(x, x))

    a = np.random.default_rng(0).random((16, 16), np.float32)
    with checked():
        square[(1,)](a, np.zeros_like(a), B=16)
    with checked(enable=["tf32"], raise_findings=False) as session:
        square[(1,)](a, np.zeros_like(a), B=16)
    (found,) = session.findings
    assert found.kind == "tf32" and found.measures["tf32"] > 100 * found.measures["ieee"]
