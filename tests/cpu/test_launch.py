"""Launches on the native backend: threads, waiting, faults, aliasing, arguments, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.backends.cpu import launch
from tritium.errors import TritiumError

from .native import counting


@pytest.fixture(autouse=True)
def on_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@triton.jit
def wait_for_the_next(flags, out, n):
    i = tl.program_id(0)
    tl.atomic_xchg(flags + i, 1)
    if i + 1 < n:
        while tl.atomic_add(flags + i + 1, 0) == 0:
            pass
    tl.store(out + i, i * 10)


def test_instances_that_wait_for_later_ones_end_on_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    out = np.zeros(3, np.int32)
    with counting() as launches:
        kernel = wait_for_the_next[(3,)](np.zeros(3, np.int32), out, 3)
    assert out.tolist() == [0, 10, 20]
    assert launches() == (0, 1)
    assert any("start later" in d.text for d in kernel.compilation.record)


@triton.jit
def smoothed(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for d in range(-3, 4):
        total += tl.load(x + i + d, mask=(i + d >= 0) & (i + d < n), other=0.0) * (d + 4.1)
    tl.store(y + i, tl.exp(total) + tl.sum(total), mask=i < n)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_the_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).standard_normal(20011).astype(np.float32)
    results = []
    for count in (1, threads):
        monkeypatch.setenv("TRITIUM_NUM_THREADS", str(count))
        y = np.zeros_like(x)
        for _ in range(3):
            smoothed[(157,)](x, y, 20011, BLOCK=128)
        results.append(y.tobytes())
    assert results[0] == results[1]


@triton.jit
def divided(x, y, q, r, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(q + i, a // b)
    tl.store(r + i, a % b)
    tl.store(q + N, tl.load(x) // tl.load(y))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_division_never_traps(dtype: Any) -> None:
    low = np.iinfo(dtype).min
    x = np.array([low, low, 7, -7, 0, low, 5, -5], dtype)
    y = np.array([-1, 0, 0, 2, 0, 1, -2, -2], dtype)
    q, r = np.zeros(9, dtype), np.zeros(9, dtype)
    divided[(1,)](x, y, q, r, N=8)
    assert q[:8].tolist() == [low, 0, 0, -3, 0, low, -2, 2]
    assert r[:8].tolist() == [0, low, 7, -1, 0, 0, 1, -1]
    assert q[8] == low


@triton.jit
def counted(out, step):
    n = 0
    for _ in range(0, 10, step):
        n += 1
    tl.store(out, n)


def test_a_step_of_zero_is_an_error() -> None:
    out = np.zeros(1, np.int32)
    counted[(1,)](out, 3)
    assert out[0] == 4
    with pytest.raises(TritiumError, match="TRI0807"):
        counted[(1,)](out, 0)


@triton.jit
def shifted(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i) + 1)


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2, 17])
def test_overlapping_arrays_load_before_they_store(offset: int) -> None:
    base = np.arange(300, dtype=np.int32)
    expected = base.copy()
    expected[20 + offset : 148 + offset] = base[20:148] + 1
    shifted[(1,)](base[20:], base[20 + offset :], N=128)
    assert np.array_equal(base, expected)


@triton.jit
def swapped(x, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(x + (N - 1 - i), a)


def test_a_reversal_in_place_reads_everything_first() -> None:
    x = np.arange(133, dtype=np.float32)
    swapped[(1,)](x, N=133)
    assert np.array_equal(x, np.arange(133, dtype=np.float32)[::-1])


@triton.jit
def scalars(out, a, b, c, d, e):
    tl.store(out + 0, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)
    tl.store(out + 4, e)


def test_scalar_arguments_of_all_kinds() -> None:
    out = np.zeros(5, np.float64)
    scalars[(1,)](out, -5, 2**40, 0.1, True, np.float32(2.5))
    assert out.tolist() == [-5.0, 2.0**40, float(np.float32(0.1)), 1.0, 2.5]


@triton.jit
def far(x, y, base, N: tl.constexpr):
    i = base + tl.arange(0, N)  # wraps around at 2**31
    tl.store(y + tl.arange(0, N), tl.where(i < 0, 1, 0))
    tl.store(x + (i - base), i)


def test_indices_that_wrap_around_do_so() -> None:
    x, y = np.zeros(64, np.int32), np.zeros(64, np.int32)
    far[(1,)](x, y, 2**31 - 10, N=64)
    assert y.tolist() == [0] * 10 + [1] * 54
    assert x[9] == 2**31 - 1 and x[10] == -(2**31)


@triton.jit
def wraps_in_the_address(x, y, base, N: tl.constexpr):
    i = base + tl.arange(0, N)
    j = i * 2 - base * 2  # wraps, and comes back
    tl.store(y + tl.arange(0, N), tl.load(x + j))


def test_offsets_that_wrap_and_come_back() -> None:
    x = np.arange(128, dtype=np.float32)
    y = np.zeros(64, np.float32)
    wraps_in_the_address[(1,)](x, y, 2**30 + 12345, N=64)
    assert np.array_equal(y, x[::2])


def test_native_can_be_required(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def prints(x):
        tl.device_print("x", tl.load(x))

    monkeypatch.setenv("TRITIUM_REQUIRE", "native")
    with pytest.raises(TritiumError, match="TRI0908"):
        prints[(1,)](np.zeros(1, np.float32))
    monkeypatch.delenv("TRITIUM_REQUIRE")
    before = launch.LAUNCHES["interpreted"]
    prints[(1,)](np.zeros(1, np.float32))
    assert launch.LAUNCHES["interpreted"] == before + 1


@triton.jit
def slow_sum(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n, BLOCK):
        total += tl.load(x + k + tl.arange(0, BLOCK), mask=k + tl.arange(0, BLOCK) < n, other=0.0)
    tl.store(out, tl.sum(total))


def test_many_python_threads_launch_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    x = np.ones(50_000, np.float32)
    outs = [np.zeros(1, np.float32) for _ in range(16)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda out: slow_sum[(1,)](x, out, x.size, BLOCK=64), outs))
    assert all(out[0] == 50_000 for out in outs)


@triton.jit
def asserts(x, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v < 5, "below five", mask=v != 9)
    tl.store(x + i, v + 1)


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_assertions_name_instance_and_element(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", backend)
    x = np.array([0, 1, 9, 2, 3, 7, 4, 8], np.int32)
    with pytest.raises(TritiumError, match=r"below five") as raised:
        asserts[(2,)](x, N=4, debug=True)
    assert "program (1, 0, 0), element [1] of the tile" in str(raised.value)
    good = np.array([0, 1, 9, 2], np.int32)
    asserts[(1,)](good, N=4, debug=True)
    assert good.tolist() == [1, 2, 10, 3]


@triton.jit
def between(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.where((i >= 2) & (i < n), 1, 0))


@pytest.mark.parametrize("extent", [8, 13, 64, 100])
def test_choices_by_index_are_made_per_element(extent: int) -> None:
    x = np.full(extent, 7, np.int32)
    between[(1,)](x, 6, N=extent)
    assert x.tolist() == [1 if 2 <= i < 6 else 0 for i in range(extent)]
