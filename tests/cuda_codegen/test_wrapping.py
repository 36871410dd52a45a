"""Integers that wrap on purpose: generated CUDA, run on the host, gives what the interpreter gives.

Signed overflow is undefined in C++, and what the emulation's compiler makes of it need not be what a GPU does; so each
kernel's text is looked at as well.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.host_emulation import needs_compiler, on_host
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, tile_ir, tiles

BLOCK = 256
LAYOUTS = pytest.mark.parametrize("layouts", ["default", "seed"])


def agrees(kernel: Any, x: np.ndarray, *args: Any, layouts: str, size: int = BLOCK) -> None:
    """One program on `x`, by the interpreter and by the generated text."""
    want, got = np.zeros(size, x.dtype), np.zeros(size, x.dtype)
    kernel[(1,)](x, want, *args, BLOCK=BLOCK, backend="interpret")
    with on_host(layouts=layouts):
        kernel[(1,)](x, got, *args, BLOCK=BLOCK)
    assert np.array_equal(got, want), np.flatnonzero(got != want)


def text(kernel: Any, types: dict[str, str] | None = None, **options: Any) -> str:
    """The kernel itself in the CUDA source, without comments."""
    kinds = types or {"x_ptr": "*i32", "out_ptr": "*i32"}
    whole = cuda(tile_ir(kernel, kinds, BLOCK=BLOCK), **options).text
    return re.sub(r"//.*", "", whole[whole.index('extern "C"') :])


@triton.jit
def chooses(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.where(x + 1 > x, x * 2, x - 7))


@triton.jit
def reduces(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1 + offs, tl.cumsum(x), mask=offs < BLOCK - 1)


@triton.jit
def folds(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, (x * 1048576) % 97 + (x * 1048576) // 3)


@triton.jit
def looks_up(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = tl.load(x_ptr + offs) * 1048576
    tl.store(out_ptr + offs, tl.load(x_ptr + at, mask=(at >= 0) & (at < BLOCK), other=-5))


@triton.jit
def comes_back(x_ptr, out_ptr, base, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = (base + offs) * 4 - base * 4
    tl.store(out_ptr + offs, tl.load(x_ptr + at // 4))
    tl.store(out_ptr + offs, tl.load(x_ptr + (at - 3 * offs)))


@triton.jit
def hashes_programs(x_ptr, out_ptr, seed, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    state = (tl.program_id(0) + seed) * 1103515245 + offs * 12345
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=state > 0, other=3))


@triton.jit
def rings(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = (offs + 3).to(tl.uint8).to(tl.int32) + 1
    tl.store(out_ptr + offs, tl.load(x_ptr + at))


@triton.jit
def ring_masks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = (offs + 3).to(tl.uint8).to(tl.int32)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=at < n + 3, other=-1))


@triton.jit
def unsigned(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs).to(tl.uint32)
    mixed = (x * 2654435769 + 12345) >> 24
    below = x - 1 < x
    tl.store(out_ptr + offs, tl.load(x_ptr + mixed, mask=below, other=9) + mixed.to(tl.int32))


@triton.jit
def counts_to_the_end(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    total = tl.load(x_ptr + offs)
    for i in range(0, 2147483647, 1073741824):
        total += i // 1048576
    for j in range(-5, -2147483648, -2000000000):
        total += j // 1048576
    for k in range(tl.load(x_ptr).to(tl.int64), 9223372036854775807, 4611686018427387904):
        total += (k // 4611686018427387904).to(tl.int32)
    tl.store(out_ptr + offs, total)


@needs_compiler
@LAYOUTS
def test_sums_products_and_comparisons_of_data_wrap(layouts: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-(2**31), 2**31, BLOCK).astype(np.int32)
    x[::5] = 2**31 - 1
    for kernel in (chooses, reduces, folds, counts_to_the_end):
        agrees(kernel, x, layouts=layouts)
    agrees(unsigned, x, layouts=layouts)


@needs_compiler
@LAYOUTS
def test_indices_that_wrap_and_come_back(layouts: str) -> None:
    agrees(looks_up, np.arange(BLOCK, dtype=np.int32) * 4096, layouts=layouts)
    agrees(comes_back, np.arange(2 * BLOCK, dtype=np.int32), 2**29 + 12345, layouts=layouts)
    agrees(rings, np.arange(BLOCK + 1, dtype=np.float32), layouts=layouts)
    for seed in (0, 1, 77):
        agrees(hashes_programs, np.arange(BLOCK, dtype=np.int32), seed, layouts=layouts)


@needs_compiler
@LAYOUTS
@pytest.mark.parametrize("n", [0, 4, 16, 250, 256])
def test_masks_that_wrap_in_the_middle_of_a_vector(n: int, layouts: str) -> None:
    agrees(ring_masks, np.arange(BLOCK, dtype=np.float32), n, layouts=layouts)


@pytest.mark.parametrize(
    ("kernel", "plain"),
    [
        (chooses, r"\w+(\[i\])? [+*-] \d+ [>?:]"),
        (reduces, r"v\d+_\w+ [+] (v|x|from_lane|totals)"),
        (folds, r"x \* 1048576"),
        (looks_up, r"x \* 1048576"),
        (comes_back, r"base \* 4|base [+] "),
        (hashes_programs, r"\* 1103515245|[+] seed"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_none_of_it_is_signed_overflow(kernel: Any, plain: str) -> None:
    found = text(kernel)
    assert "wrapping_" in found
    assert not re.search(plain, found), found


def test_counters_that_would_leave_their_type_behind_the_end_count_trips() -> None:
    found = text(counts_to_the_end)
    assert found.count("trip_count<int>(") == 2 and found.count("trip_count<long long>(") == 1
    assert re.search(r"_trips, (i\w*) = wrapping_add\(\1, 1073741824\)", found)
    assert re.search(r"_trips, (j\w*) = wrapping_add\(\1, -2000000000\)", found)


def test_indices_of_programs_and_loops_stay_plain() -> None:
    assert "wrapping_" not in cuda(tile_ir(matmul_loop, **tiles(16, 16, 16))).text
    assert "wrapping_" not in cuda(tile_ir(matmul_loop, **tiles(16, 16, 16)), layouts="seed").text
