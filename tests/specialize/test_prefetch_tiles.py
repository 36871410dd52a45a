"""Prefetching a loop's tiles under the default policy: the plan, its conditions one by one, and what it computes."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import matmul_loop, tile_ir, tiles
from tritium import config
from tritium.backends.cuda.generate import generate, lay_out, lower
from tritium.backends.interp import run_grid
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ops.base import REGISTRY
from tritium.ops.gpu_shared import Barrier, DotFma, SharedAlloc
from tritium.runtime.arrays import view_of

NAME = "prefetch_tiles"


def compiled(kernel, types=None, **constants) -> tuple[Function, Record]:
    record = Record()
    shape = {**tiles(16, 16, 8), **constants}
    laid = lay_out(tile_ir(kernel, types, **shape), {"num_warps": 1}, record)
    return lower(laid, {"num_warps": 1}, record), record


def decision(record: Record):
    return next(d for d in record if d.name == NAME)


def product(function: Function, shape=(16, 16, 40), grid=(1, 1, 1), dtype=np.float32):
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (m, k)).astype(dtype), rng.integers(-4, 5, (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    run_grid(function, grid, [*map(view_of, (a, b, c)), m, n, k])
    return c, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("k", [0, 1, 8, 9, 40, 64])
def test_the_plain_loop(k) -> None:
    function, record = compiled(matmul_loop)
    assert decision(record).applied
    assert {op.stages for op in function.find(SharedAlloc)} == {2}
    (dot,) = function.find(DotFma)
    assert sum(isinstance(op, Barrier) for op in dot.parent.ops) == 1
    c, want = product(function, (16, 16, k))
    assert np.array_equal(c, want)


def test_machine_ir_reads_back_from_text() -> None:
    text = print_function(compiled(matmul_loop)[0])
    again = parse_function(text, REGISTRY)
    assert print_function(again) == text
    c, want = product(again)
    assert np.array_equal(c, want)


@triton.jit
def advancing_pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rows * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + cols
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c_ptr + rows * N + cols, acc)


def test_pointers_that_the_loop_carries() -> None:
    function, record = compiled(advancing_pointers)
    assert decision(record).applied
    c, want = product(function)
    assert np.array_equal(c, want)


@triton.jit
def converted_operand(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


def test_operands_converted_on_the_way() -> None:
    function, record = compiled(converted_operand, {"a_ptr": "*fp16", "b_ptr": "*fp16"})
    assert decision(record).applied
    c, want = product(function, dtype=np.float16)
    assert np.array_equal(c, want)


@triton.jit
def loop_writes(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def step_at_run_time(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, M // 2):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def chained(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        p = tl.dot(a, b, input_precision="ieee")
        acc += tl.dot(p, tl.trans(p), input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def nothing_loaded(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(a * k, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def no_loop(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    tl.store(c_ptr + rows * N + cols, tl.dot(a, b, input_precision="ieee"), mask=(rows < M) & (cols < N))


@triton.jit
def address_from_memory(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    ks = tl.arange(0, BK)
    offset = rows * 0 + ks[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows * K + offset)
        b = tl.load(b_ptr + (k + ks[:, None]) * N + cols)
        acc += tl.dot(a, b, input_precision="ieee")
        offset += tl.load(a_ptr + rows * 0 + ks[None, :] + M * K).to(tl.int32)
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [
        (loop_writes, "the loop writes memory that an early load could miss"),
        (step_at_run_time, "the loop's step is known only at run time"),
        (nothing_loaded, "no operand of the dot is loaded in the loop"),
        (no_loop, "the dot is not directly in a counted loop"),
        (address_from_memory, "an address is carried through the loop by more than arithmetic"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_every_condition_by_itself(kernel, rule) -> None:
    function, record = compiled(kernel)
    assert not decision(record).applied
    assert decision(record).text == rule
    if kernel is address_from_memory:
        return  # what it would read is not there
    c, _ = product(function, (16, 16, 24))
    plain, _ = product(tile_ir(kernel, **tiles(16, 16, 8)), (16, 16, 24))
    np.testing.assert_allclose(c, plain, rtol=1e-5)


def test_a_dot_of_a_dot_is_not_prefetched() -> None:
    function, record = compiled(chained)
    verdicts = [(d.applied, d.text) for d in record if d.name == NAME]
    assert (False, "an operand of the dot is computed from more than loads") in verdicts
    c, _ = product(function, (16, 16, 24))
    plain, _ = product(tile_ir(chained, **tiles(16, 16, 8)), (16, 16, 24))
    np.testing.assert_allclose(c, plain, rtol=1e-5)


def test_two_stages_that_do_not_fit_become_one() -> None:
    function = tile_ir(matmul_loop, **tiles(128, 256, 64))
    source = generate(function, {"num_warps": 8}, "sm_86")  # 99 KiB of shared memory: one stage needs 98.5
    found = decision(source.record)
    assert not found.applied
    assert found.text == "2 stages need 198656 bytes of shared memory, the limit is 101376"
    assert source.dynamic_shared == 99328
    assert generate(function, {"num_warps": 8}, "sm_90a").dynamic_shared == 198656


def test_the_plain_lowering_without_specialisations() -> None:
    with config.override(specialize="none"):
        function, record = compiled(matmul_loop)
    assert not [d for d in record if d.name in (NAME, "accumulate_in_dot")]
    assert {op.stages for op in function.find(SharedAlloc)} == {1}
    c, want = product(function)
    assert np.array_equal(c, want)
