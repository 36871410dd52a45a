"""Kernels with the faults that people make, each with its right twin. FAULT chooses; the line of the fault ends in ``#!``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tritium as triton
import tritium.language as tl


@dataclass(frozen=True)
class Broken:
    """A launch of a kernel with (True) and without its fault, and the kinds it may be found as."""

    name: str
    kinds: frozenset[str]
    launch: Callable[[bool], Any]


BROKEN: list[Broken] = []


def broken(*kinds: str) -> Callable[[Callable[[bool], Any]], Callable[[bool], Any]]:
    def register(launch: Callable[[bool], Any]) -> Callable[[bool], Any]:
        BROKEN.append(Broken(launch.__name__, frozenset(kinds), launch))
        return launch

    return register


def f32(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def strides(*arrays: np.ndarray) -> list[int]:
    return [s // a.itemsize for a in arrays for s in a.strides]


# ---- out of the view ------------------------------------------------------------------------------------


@triton.jit
def transpose(x, out, M, N, sxm, sxn, som, son, FAULT: tl.constexpr, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tile = tl.load(x + m[:, None] * sxm + n[None, :] * sxn, mask=inside)
    if FAULT:
        tl.store(out + m[:, None] * som + n[None, :] * son, tile, mask=inside)  #!
    else:
        inside = (n[:, None] < N) & (m[None, :] < M)
        tl.store(out + n[:, None] * som + m[None, :] * son, tl.trans(tile), mask=inside)


@broken("out-of-view", "out-of-allocation", "write-race", "lane-race")
def transposed_tile_stored_untransposed(fault: bool) -> None:
    x, out = f32(12, 5), np.zeros((5, 16), np.float32)[:, :12]
    transpose[(3, 2)](x, out, 12, 5, *strides(x, out), FAULT=fault, B=4)


@triton.jit
def rms_norm(x, w, out, n, eps, FAULT: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    if FAULT:
        value = tl.load(x + row * n + cols)  #!
    else:
        value = tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / n + eps)
    weight = tl.load(w + cols, mask=cols < n, other=0.0)
    tl.store(out + row * n + cols, value * scale * weight, mask=cols < n)


@broken("out-of-allocation")
def a_norm_without_a_mask_on_its_row(fault: bool) -> None:
    x = f32(4, 24)
    rms_norm[(4,)](x, f32(24), np.zeros_like(x), 24, 1e-6, FAULT=fault, B=32)


@triton.jit
def embed(tokens, table, out, vocabulary, width, FAULT: tl.constexpr, B: tl.constexpr):
    token = tl.load(tokens + tl.program_id(0))
    cols = tl.arange(0, B)
    known = (cols < width) & (token < vocabulary) if not FAULT else cols < width
    row = tl.load(table + token * width + cols, mask=known, other=0.0)  #!
    tl.store(out + tl.program_id(0) * width + cols, row, mask=cols < width)


@broken("out-of-allocation")
def a_token_outside_the_vocabulary(fault: bool) -> None:
    tokens = np.array([3, 0, 10, 9], np.int32)
    embed[(4,)](tokens, f32(10, 6), np.zeros((4, 6), np.float32), 10, 6, FAULT=fault, B=8)


@triton.jit
def stencil(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    middle = tl.load(x + i, mask=inside, other=0.0)
    left = tl.load(x + i - 1, mask=inside & (i > 0), other=0.0)
    if FAULT:
        right = tl.load(x + i + 1, mask=inside, other=0.0)  #!
    else:
        right = tl.load(x + i + 1, mask=i < n - 1, other=0.0)
    tl.store(out + i, (left + middle + right) / 3, mask=inside)


@broken("out-of-view")
def a_stencil_that_reads_over_its_edge(fault: bool) -> None:
    buffer = f32(64)
    stencil[(2,)](buffer[8:28], np.zeros(20, np.float32), 20, FAULT=fault, B=16)


@triton.jit
def batched_add(a, b, out, M, sab, sbb, sob, FAULT: tl.constexpr, B: tl.constexpr):
    batch = tl.program_id(0)
    i = tl.arange(0, B)
    x = tl.load(a + batch * sab + i, mask=i < M)
    if FAULT:
        y = tl.load(b + batch * sab + i, mask=i < M)  #!
    else:
        y = tl.load(b + batch * sbb + i, mask=i < M)
    tl.store(out + batch * sob + i, x + y, mask=i < M)


@broken("out-of-view", "out-of-allocation")
def the_batch_stride_of_another_array(fault: bool) -> None:
    a, b = f32(3, 16)[:, :10], f32(3, 10)
    batched_add[(3,)](a, b, np.zeros((3, 10), np.float32), 10, 16, 10, 10, FAULT=fault, B=16)


@triton.jit
def scores(q, k, out, S, T, D: tl.constexpr, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    limit = S if FAULT else T
    y = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < limit, other=0.0)  #!
    inside = (i[:, None] < S) & (j[None, :] < T)
    tl.store(out + i[:, None] * T + j[None, :], tl.dot(x, y), mask=inside)


@broken("out-of-allocation")
def keys_masked_by_the_length_of_the_queries(fault: bool) -> None:
    scores[(3, 2)](f32(12, 8), f32(7, 8), np.zeros((12, 7), np.float32), 12, 7, D=8, FAULT=fault, B=4)


@triton.jit
def block_copy(x, out, M, N, sm, sn, FAULT: tl.constexpr, B: tl.constexpr):
    start = tl.program_id(0) * B
    source = tl.make_block_ptr(x, (M, N), (sm, sn), (start, 0), (B, B), (1, 0))
    target = tl.make_block_ptr(out, (M, N), (sm, sn), (start, 0), (B, B), (1, 0))
    if FAULT:
        tile = tl.load(source, boundary_check=(0,), padding_option="zero")  #!
    else:
        tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, tile, boundary_check=(0, 1))


@broken("out-of-view", "out-of-allocation")
def a_block_pointer_that_checks_one_axis_of_two(fault: bool) -> None:
    x, out = f32(6, 12)[:, :10], f32(6, 12)[:, :10]
    block_copy[(1,)](x, out, 6, 10, *strides(x), FAULT=fault, B=16)


@triton.jit
def add_bias(x, bias, M, N, stride, FAULT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    inside = (m[:, None] < M) & (n[None, :] < N)
    y = tl.load(x + m[:, None] * stride + n[None, :], mask=inside) + tl.load(bias + n, mask=n < N)[None, :]
    if FAULT:
        tl.store(x + m[:, None] * stride + n[None, :], y, mask=m[:, None] < M)  #!
    else:
        tl.store(x + m[:, None] * stride + n[None, :], y, mask=inside)


@broken("out-of-view", "uninitialised")
def a_store_that_spills_into_the_padding(fault: bool) -> None:
    x = f32(5, 8)[:, :6]
    add_bias[(2,)](x, f32(6), 5, 6, 8, FAULT=fault, BM=4, BN=8)


@triton.jit
def rotate(x, out, half, FAULT: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, B)
    first = tl.load(x + head * 16 + d, mask=d < half)
    offset = 2 * half if FAULT else half
    second = tl.load(x + head * 16 + offset + d, mask=d < half)  #!
    tl.store(out + head * 2 * half + d, first * 0.5 - second, mask=d < half)
    tl.store(out + head * 2 * half + half + d, first + second * 0.5, mask=d < half)


@broken("out-of-view")
def the_second_half_taken_from_behind_the_head(fault: bool) -> None:
    rotate[(3,)](f32(3, 16)[:, :8], np.zeros((3, 8), np.float32), 4, FAULT=fault, B=4)


@triton.jit
def paged(pages, table, out, length, FAULT: tl.constexpr, PAGE: tl.constexpr):
    page = tl.program_id(0)
    slot = tl.arange(0, PAGE)
    live = page * PAGE + slot < length
    if FAULT:
        at = tl.load(table + page)
    else:
        at = tl.maximum(tl.load(table + page), 0)
        live = live & (tl.load(table + page) >= 0)
    tl.store(out + page * PAGE + slot, tl.load(pages + at * PAGE + slot, mask=live, other=0.0))  #!


@broken("out-of-allocation")
def a_page_marked_as_free_is_read(fault: bool) -> None:
    paged[(3,)](f32(4, 8), np.array([2, -1, 0], np.int32), np.zeros(24, np.float32), 20, FAULT=fault, PAGE=8)


# ---- offsets --------------------------------------------------------------------------------------------


@triton.jit
def far_rows(x, out, row, stride, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if FAULT:
        at = row * stride + i  #!
    else:
        at = (row.to(tl.int64) * stride + i) * 0
    tl.store(out + i, tl.load(x + at, mask=i < 2, other=0.0))


@broken("wrapped-offset", "out-of-allocation")
def a_row_times_a_stride_in_int32(fault: bool) -> None:
    far_rows[(1,)](f32(8), np.zeros(4, np.float32), 3_000_000, 4096, FAULT=fault, B=4)


# ---- undefined ------------------------------------------------------------------------------------------


@triton.jit
def mean(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if FAULT:
        value = tl.load(x + i, mask=i < n)
    else:
        value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(value, axis=0) / n)  #!


@broken("uninitialised")
def a_mean_over_undefined_lanes(fault: bool) -> None:
    mean[(1,)](f32(20), np.zeros(1, np.float32), 20, FAULT=fault, B=32)


@triton.jit
def skip_if_flagged(flags, x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    flag = tl.load(flags + pid, mask=pid < n) if FAULT else tl.load(flags + pid, mask=pid < n, other=0)
    if flag != 0:  #!
        tl.store(out + pid, tl.load(x + pid, mask=pid < n, other=0.0), mask=pid < n)


@broken("uninitialised")
def a_branch_on_a_masked_flag(fault: bool) -> None:
    skip_if_flagged[(4,)](np.ones(3, np.int32), f32(3), np.zeros(3, np.float32), 3, FAULT=fault, B=4)


@triton.jit
def gather_rows(index, x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i, mask=i < n) if FAULT else tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at), mask=i < n)  #!


@broken("uninitialised")
def an_address_from_undefined_indices(fault: bool) -> None:
    gather_rows[(1,)](np.array([4, 2, 0], np.int32), f32(8), np.zeros(3, np.float32), 3, FAULT=fault, B=4)


@triton.jit
def column_sums(x, out, rows, FAULT: tl.constexpr, B: tl.constexpr):
    cols = tl.arange(0, B)
    total = tl.empty((B,), tl.float32) if FAULT else tl.zeros((B,), tl.float32)
    for row in range(rows):
        total += tl.load(x + row * B + cols)
    tl.store(out + cols, total)  #!


@broken("uninitialised")
def a_sum_that_starts_from_nothing(fault: bool) -> None:
    column_sums[(1,)](f32(6, 8), np.zeros(8, np.float32), 6, FAULT=fault, B=8)


@triton.jit
def add_into(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(out + i) + tl.load(x + i))  #!


@broken("uninitialised")
def an_output_that_was_never_filled(fault: bool) -> None:
    add_into[(1,)](f32(16), np.empty(16, np.float32) if fault else np.zeros(16, np.float32), B=16)


# ---- races ----------------------------------------------------------------------------------------------


@triton.jit
def count(x, out, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    found = tl.sum((tl.load(x + i) > 0).to(tl.int32), axis=0)
    if FAULT:
        tl.store(out, tl.load(out) + found)  #!
    else:
        tl.atomic_add(out, found)


@broken("read-race", "write-race")
def a_counter_without_an_atomic(fault: bool) -> None:
    count[(4,)](f32(32), np.zeros(1, np.int32), FAULT=fault, B=8)


@triton.jit
def split_k(a, b, out, K, FAULT: tl.constexpr, B: tl.constexpr):
    part = tl.program_id(0)
    i = tl.arange(0, B)
    k = part * B + i
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * B + i[None, :])
    at = out + i[:, None] * B + i[None, :]
    if FAULT:
        tl.store(at, tl.dot(x, y))  #!
    else:
        tl.atomic_add(at, tl.dot(x, y))


@broken("write-race")
def parts_of_k_that_overwrite_each_other(fault: bool) -> None:
    split_k[(3,)](f32(8, 24), f32(24, 8), np.zeros((8, 8), np.float32), 24, FAULT=fault, B=8)


@triton.jit
def smooth(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, mask=(i > 0) & (i < n), other=0.0)
    here = tl.load(x + i, mask=i < n, other=0.0)
    target = x if FAULT else out
    tl.store(target + i, (left + here) / 2, mask=i < n)  #!


@broken("read-race")
def a_stencil_in_place(fault: bool) -> None:
    smooth[(3,)](f32(40), np.zeros(40, np.float32), 40, FAULT=fault, B=16)


@triton.jit
def overlapping(out, FAULT: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    step = B - 1 if FAULT else B
    tl.store(out + pid * step + tl.arange(0, B), pid)  #!


@broken("write-race")
def blocks_that_overlap(fault: bool) -> None:
    overlapping[(4,)](np.zeros(16, np.int32), FAULT=fault, B=4)


@triton.jit
def scatter_rows(x, index, out, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i)
    if FAULT:
        tl.store(out + at, tl.load(x + i))  #!
    else:
        tl.atomic_add(out + at, tl.load(x + i))


@broken("lane-race")
def a_scatter_to_equal_indices(fault: bool) -> None:
    scatter_rows[(1,)](f32(4), np.array([1, 3, 1, 0], np.int32), np.zeros(4, np.float32), FAULT=fault, B=4)


@triton.jit
def through_scratch(x, scratch, out, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, B)
    tl.store(scratch + i[:, None] * B + j[None, :], tl.load(x + i[:, None] * B + j[None, :]))
    if not FAULT:
        tl.debug_barrier()
    tl.store(out + i[:, None] * B + j[None, :], tl.load(scratch + j[None, :] * B + i[:, None]))  #!


@broken("missing-barrier")
def a_transposition_through_memory_without_a_barrier(fault: bool) -> None:
    through_scratch[(1,)](
        f32(8, 8), np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32), FAULT=fault, B=8
    )


@triton.jit
def locked_sum(x, lock, total, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    part = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + i, tl.load(total + i) + part)  #!
    if not FAULT:
        tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@broken("read-race", "write-race")
def a_lock_released_before_the_stores_have_landed(fault: bool) -> None:
    locked_sum[(3,)](f32(3, 8), np.zeros(1, np.int32), np.zeros(8, np.float32), FAULT=fault, B=8)


# ---- numbers --------------------------------------------------------------------------------------------


@triton.jit
def squares(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.bfloat16) if FAULT else tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        value = tl.load(x + start + i)
        total += (value * value).to(total.dtype)  #!
    tl.store(out + i, total.to(tl.float32))


@broken("half-accumulator")
def squares_summed_in_bf16(fault: bool) -> None:
    squares[(1,)](f32(4096), np.zeros(16, np.float32), 4096, FAULT=fault, B=16)


@triton.jit
def exponentials(x, out, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + i).to(tl.float32)
    shifted = value if FAULT else value - tl.max(value, axis=0)
    tl.store(out + i, tl.exp(shifted).to(tl.float16))  #!


@broken("half-overflow")
def exponentials_without_their_maximum(fault: bool) -> None:
    x = np.array([1, 5, 12, 3], np.float16)
    exponentials[(1,)](x, np.zeros(4, np.float16), FAULT=fault, B=4)


@triton.jit
def deviation(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + i)
    mean = tl.sum(value, axis=0) / n
    if FAULT:
        variance = tl.sum(value * value, axis=0) / n - mean * mean
    else:
        variance = tl.sum((value - mean) * (value - mean), axis=0) / n
    tl.store(out, tl.sqrt(variance))  #!


@broken("non-finite")
def the_root_of_a_variance_below_zero(fault: bool) -> None:
    x = np.full(5, 1000.1, np.float32)
    deviation[(1,)](x, np.zeros(1, np.float32), 5, FAULT=fault, B=5)


# ---- structure ------------------------------------------------------------------------------------------


@triton.jit
def persistent(x, out, n, FAULT: tl.constexpr, B: tl.constexpr):
    tiles = n // B if FAULT else tl.cdiv(n, B)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        i = tile * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)  #!


@broken("unwritten-output")
def a_persistent_loop_without_its_last_tile(fault: bool) -> None:
    persistent[(3,)](f32(100), np.empty(100, np.float32), 100, FAULT=fault, B=16)


@triton.jit
def product(a, b, out, K, FAULT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + i[:, None] * K + k + i[None, :])
        y = tl.load(b + (k + i[:, None]) * B + i[None, :])
        if FAULT:
            acc = tl.zeros((B, B), tl.float32)  #!
        acc = tl.dot(x, y, acc)
    tl.store(out + i[:, None] * B + i[None, :], acc)


@broken("accumulator-reset")
def an_accumulator_that_forgets(fault: bool) -> None:
    product[(1,)](f32(8, 24), f32(24, 8), np.zeros((8, 8), np.float32), 24, FAULT=fault, B=8)


@triton.jit
def ring(flags, x, out):
    pid = tl.program_id(0)
    before = (pid + tl.num_programs(0) - 1) % tl.num_programs(0)
    while tl.atomic_add(flags + before, 0) == 0:  #!
        pass
    tl.store(out + pid, tl.load(x + pid))
    tl.atomic_xchg(flags + pid, 1)


@broken("deadlock")
def a_ring_in_which_nobody_begins(fault: bool) -> None:
    flags = np.zeros(3, np.int32)
    flags[2] = not fault
    ring[(3,)](flags, f32(3), np.zeros(3, np.float32))
