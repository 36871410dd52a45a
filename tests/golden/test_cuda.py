"""The CUDA C++ of the seed policy's kernels, and of a few under the default policy, word for word."""

from __future__ import annotations

from collections.abc import Callable

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, matmul_tile, seed_source, tile_ir, tiles

Golden = Callable[[str, str], None]
ALIGNED = [("tt.divisibility", 16)]


def test_b7_to_b13_one_tile_of_8_by_8(golden: Golden) -> None:
    golden("seed_matmul_8x8.cu", seed_source(matmul_tile, 8, 8, 8).text)


def test_b7_to_b13_one_tile_of_16_by_16(golden: Golden) -> None:
    golden("seed_matmul_16x16.cu", seed_source(matmul_tile, 16, 16, 8).text)


def test_c4_to_c8_two_stages(golden: Golden) -> None:
    golden("seed_matmul_two_stages.cu", seed_source(matmul_loop, 8, 8, 16).text)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


def test_vector_add(golden: Golden) -> None:
    aligned = tile_ir(add, facts={(i,): ALIGNED for i in range(4)}, BLOCK=1024)
    golden("add_vectors.cu", cuda(aligned).text)


@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    weights = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + cols, weights / tl.sum(weights, axis=0), mask=cols < n)


def test_softmax(golden: Golden) -> None:
    golden("softmax.cu", cuda(tile_ir(softmax, BLOCK=512)).text)


def test_matmul_with_prefetch(golden: Golden) -> None:
    aligned = tile_ir(matmul_loop, facts={(i,): ALIGNED for i in range(6)}, **tiles(64, 64, 16))
    golden("matmul_prefetch.cu", cuda(aligned).text)
