"""Faults that users reported of other tools and that no test of one part covers: whole launches, end to end."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import TritiumError

CONFIGS = [triton.Config({"BLOCK": b}) for b in (16, 64, 256)]


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def _increment(x, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + lanes, tl.load(x + lanes, mask=lanes < n) + 1, mask=lanes < n)


def test_tuning_leaves_the_callers_data_alone() -> None:
    """A kernel that updates in place is run many times to be tuned, and counts once."""
    x = np.zeros(1000, np.float32)
    _increment[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
    assert np.all(x == 1)
    _increment[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
    assert np.all(x == 2)


def _smaller_ones(configs: list[Any], by_position: dict[str, Any], **by_name: Any) -> list[Any]:
    return [c for c in configs if c.kwargs["BLOCK"] <= {**by_position, **by_name}["n"]]


@triton.autotune(CONFIGS, key=["n"], prune_configs_by={"early_config_prune": _smaller_ones})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def _derived(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK <= 64, "a pruned configuration was compiled")
    tl.store(out + lanes, EVEN + 10, mask=lanes < n)


def test_heuristics_and_pruning_work_under_tuning() -> None:
    for n, even in ((64, 11), (100, 10)):
        out = np.zeros(n, np.int32)
        _derived[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](out=out, n=n)
        assert np.all(out == even)


@triton.jit
def _adds(out, i, f):
    tl.store(out, tl.load(out) + i * f)


@pytest.mark.parametrize("i", [3, np.int64(3), np.int32(3), np.uint8(3)], ids=repr)
@pytest.mark.parametrize("f", [0.5, np.float32(0.5), np.float64(0.5)], ids=repr)
def test_numbers_of_numpy_are_numbers(i: Any, f: Any) -> None:
    out = np.ones(1, np.float32)
    _adds[(1,)](out, i, f)
    assert out[0] == 2.5


@triton.jit
def _through_memory(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(x + lanes, lanes * 10)
    tl.debug_barrier()
    tl.store(out + lanes, tl.load(x + (N - 1 - lanes)))


def test_an_instance_sees_what_it_stored() -> None:
    x, out = np.zeros(64, np.int32), np.zeros(64, np.int32)
    _through_memory[(1,)](x, out, N=64)
    assert out.tolist() == [630 - 10 * i for i in range(64)]


@triton.jit
def _counts(x):
    tl.store(x, tl.load(x) + 1)


def test_a_launch_is_finished_when_the_call_returns() -> None:
    x = np.zeros(1, np.int32)
    for n in range(1, 20):
        _counts[(1,)](x)
        assert x[0] == n


def test_first_launches_from_many_threads() -> None:
    @triton.jit
    def fresh(x, k):
        tl.store(x, k)

    outs, faults = [np.zeros(1, np.int32) for _ in range(12)], []
    barrier = threading.Barrier(len(outs))

    def work(k: int) -> None:
        try:
            barrier.wait()
            fresh[(1,)](outs[k], k + 2)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(outs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults and [o[0] for o in outs] == [k + 2 for k in range(len(outs))]


@triton.jit
def _wrong_accumulator(x, out, n, N: tl.constexpr):
    acc = 0
    for k in range(n):
        acc += tl.load(x + k * N + tl.arange(0, N))
    tl.store(out + tl.arange(0, N), acc)


def test_a_carried_scalar_that_becomes_a_tile_is_named() -> None:
    x = np.zeros(16, np.float32)
    with pytest.raises(TritiumError) as caught:
        _wrong_accumulator[(1,)](x, np.zeros(8, np.float32), 2, N=8)
    text = str(caught.value)
    assert "acc" in text and "int32" in text and "[8]" in text and "fp32" in text
