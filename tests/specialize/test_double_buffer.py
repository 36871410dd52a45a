"""Two stages for the canonical K loop: one condition of C7 broken at a time, and C8b's barrier."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import matmul_loop, tile_ir, tiles
from tritium.backends.cuda.generate import lay_out, lower
from tritium.backends.interp import run_grid
from tritium.errors import InterpreterError
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ops.control import For
from tritium.ops.gpu_shared import Barrier, SharedAlloc
from tritium.runtime.arrays import view_of

SEED = {"layouts": "seed"}


def compiled(kernel, **constants) -> tuple[Function, Record]:
    record = Record()
    shape = {**tiles(8, 8, 8), **constants}
    return lower(lay_out(tile_ir(kernel, **shape), SEED, record), SEED, record), record


def decision(record: Record):
    (found,) = [d for d in record if d.name == "double_buffer"]
    return found


def stages(function: Function) -> set[int]:
    return {op.stages for op in function.find(SharedAlloc)}


def product(function: Function, shape: tuple[int, int, int], grid=(1, 1, 1)):
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)
    c = np.full((m, n), np.nan, np.float32)
    run_grid(function, grid, [*map(view_of, (a, b, c)), m, n, k])
    return c, a @ b


def test_the_canonical_loop() -> None:
    function, record = compiled(matmul_loop)
    found = decision(record)
    assert found.applied
    assert found.text == "2 stages picked by (k / 8) & 1, one barrier an iteration"
    assert stages(function) == {2}
    assert len(function.find(Barrier)) == 1
    c, want = product(function, (8, 8, 40))
    assert np.array_equal(c, want)


@triton.jit
def ring_of_k(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = (k + tl.arange(0, BK)).to(tl.uint8).to(tl.int32)
        a = tl.load(a_ptr + rows * 256 + ks[None, :], mask=rows < M, other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=cols < N, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


def test_offsets_that_wrap_leave_the_stages_right() -> None:
    """More trips than 8 bits count: the columns start again at 0, and the stages go on taking turns."""
    function, record = compiled(ring_of_k)
    assert decision(record).applied and stages(function) == {2}
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (8, 256)).astype(np.float32), rng.integers(-4, 5, (256, 8)).astype(np.float32)
    c = np.full((8, 8), np.nan, np.float32)
    run_grid(function, (1, 1, 1), [*map(view_of, (a, b, c)), 8, 8, 256 + 24])
    assert np.array_equal(c, a @ b + a[:, :24] @ b[:24])


# Every kernel below differs from `matmul_loop` in one thing.


@triton.jit
def starts_later(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(8, K, BK):
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
    for k in range(0, K, M):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def half_step(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK // 2):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def two_dots(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee") + tl.dot(a, b + 1.0, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def operand_computed(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a * 2.0, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def a_stays(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    first = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + first[None, :] + 0 * k, mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def b_moves_double(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        far = 2 * k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + far[:, None] * N + cols, mask=(far[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def carries_two(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    count = 0.0
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        count = count * 0.5 + 1.0
    tl.store(c_ptr + rows * N + cols, acc + count, mask=(rows < M) & (cols < N))


@triton.jit
def subtracts(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc = tl.dot(a, b, input_precision="ieee") - acc
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def yields_more(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc = (acc + tl.dot(a, b, input_precision="ieee")) * 0.5
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def writes_in_the_loop(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        tl.store(c_ptr + rows * N + cols, 0.0, mask=(rows < M) & (cols < N))
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def nests_a_loop(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        for _ in range(M // 8):
            acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def branches(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        if k > 1000:
            acc += 1.0
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def counts_down(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, -K, -BK):
        ks = -k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def counts_in_64_bits(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K.to(tl.int64), BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def looks_at_the_sum(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        largest = tl.max(acc, axis=1)[:, None]
        a = tl.load(
            a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K) & (largest < 9.0), other=0.0
        )
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def looks_at_the_product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        product = tl.dot(a, b, input_precision="ieee")
        acc += product
        tl.device_print("product", product)
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def leaves_early(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        if k >= M:
            break
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def skips_a_tile(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        if k == M:
            continue
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


REJECTED = [
    (starts_later, "the loop does not start at 0"),
    (step_at_run_time, "the step is no positive compile-time number"),
    (half_step, "the step is 4, the dot reduces 8"),
    (two_dots, "the loop has 2 dots, not one"),
    (operand_computed, "an operand of the dot is not a load of its own in the loop"),
    (a_stays, "the loop's counter is not A's column offset"),
    (b_moves_double, "the loop's counter is not B's row offset"),
    (carries_two, "the loop carries 2 values, not one"),
    (subtracts, "the loop does not yield exactly accumulator + dot"),
    (yields_more, "the loop does not yield exactly accumulator + dot"),
    (writes_in_the_loop, "the loop writes memory or waits"),
    (nests_a_loop, "a loop is nested in it"),
    (branches, "the loop has branches"),
    (counts_down, "the step is no positive compile-time number"),
    (counts_in_64_bits, "the loop counts in another type than int32"),
    (looks_at_the_sum, "another operation uses the accumulator"),
    (looks_at_the_product, "another operation uses the dot's result"),
]


@pytest.mark.parametrize(("kernel", "rule"), REJECTED, ids=lambda x: getattr(x, "__name__", ""))
def test_c7_every_condition_by_itself(kernel, rule) -> None:
    """The rule is named with its line, and the fallback of one stage and two barriers a dot computes the same."""
    function, record = compiled(kernel)
    found = next(d for d in record if d.name == "double_buffer")
    assert not found.applied
    assert found.text == rule
    assert found.loc is not None
    assert stages(function) == {1}
    dots = len(function.find(SharedAlloc)) // 2
    assert len(function.find(Barrier)) == 2 * dots
    c, _ = product(function, (8, 8, 40))
    plain, _ = product(tile_ir(kernel, **tiles(8, 8, 8)), (8, 8, 40))
    assert np.array_equal(c, plain)


@triton.jit
def two_outer_trips(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    cols = tl.arange(0, BN)[None, :]
    for row in range(0, M, BM):
        rows = row + tl.arange(0, BM)[:, None]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            ks = k + tl.arange(0, BK)
            a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
            b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
        tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [(leaves_early, "the loop may be left before its end"), (skips_a_tile, "the loop has branches")],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_c8b_loops_with_other_ways_out_keep_one_stage(kernel, rule) -> None:
    function, record = compiled(kernel)
    found = decision(record)
    assert not found.applied and found.text == rule and found.loc is not None
    assert stages(function) == {1}
    c, _ = product(function, (8, 8, 40))
    plain, _ = product(tile_ir(kernel, **tiles(8, 8, 8)), (8, 8, 40))
    assert np.array_equal(c, plain)


def test_c8b_a_barrier_before_a_loop_inside_a_loop() -> None:
    """Three K tiles, two outer trips: the second trip's first copy meets the stage that the first trip read last."""
    function, record = compiled(two_outer_trips)
    (inner,) = [d for d in record if d.name == "double_buffer" and d.applied]
    assert "one barrier before the loop" in inner.text
    c, want = product(function, (16, 8, 24))
    assert np.array_equal(c, want)
    (outer,) = [op for op in function.find(For) if any(isinstance(x, For) for x in op.body.ops)]
    (barrier,) = [op for op in outer.body.ops if isinstance(op, Barrier)]
    barrier.erase()
    with pytest.raises(InterpreterError, match=r"gpu\.copy_to_shared` races.*was read by another thread"):
        product(function, (16, 8, 24))
    c, want = product(
        function, (16, 8, 16)
    )  # an even number of K tiles ends on the other stage, and does not race
    assert np.array_equal(c, want)


def test_specialize_none_keeps_the_seed_tables() -> None:
    """The seed policy is not a specialisation: it is what `layouts=seed` means."""
    from tritium import config

    with config.override(specialize="none"):
        assert stages(compiled(matmul_loop)[0]) == {2}
