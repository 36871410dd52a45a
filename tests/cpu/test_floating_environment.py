"""Native code computes as IEEE says, whatever floating-point modes the calling thread has set, and leaves those alone."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

FE_UPWARD = 0x800  # of <fenv.h> on x86


@triton.jit
def sums(x, y, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, (tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask)) * factor, mask=mask)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="modes of x86")
@pytest.mark.parametrize("n", [1, 1000, 300_000])
def test_modes_of_the_caller_do_not_matter(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    c = ctypes.CDLL(None)
    if not hasattr(c, "fesetround"):
        c = ctypes.CDLL("libm.so.6")
    x, y, out = np.full(n, 1, np.float32), np.full(n, 1e-10, np.float32), np.zeros(n, np.float32)
    grid = (-(-n // 256),)
    sums[grid](x, y, out, 1.0, n, BLOCK=256)
    assert (out == 1).all()
    out[:] = 0
    before = c.fegetround()
    c.fesetround(FE_UPWARD)
    try:
        sums[grid](x, y, out, 1.0, n, BLOCK=256)
        after = c.fegetround()
    finally:
        c.fesetround(before)
    assert after == FE_UPWARD
    assert (out == 1).all()


def test_subnormal_numbers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    x, y, out = np.full(64, 1e-39, np.float32), np.full(64, 2e-39, np.float32), np.zeros(64, np.float32)
    want = x + y
    sums[(1,)](x, y, out, 1.0, 64, BLOCK=64)
    assert np.array_equal(out.view(np.int32), want.view(np.int32))
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush")
    try:
        out[:] = 0
        sums[(1,)](x, y, out, 1.0, 64, BLOCK=64)
    finally:
        torch.set_flush_denormal(False)
    assert np.array_equal(out.view(np.int32), want.view(np.int32))
