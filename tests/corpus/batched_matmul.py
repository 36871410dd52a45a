"""Batched matmuls: a 3-D dot over several batches per tile, and one batch per program."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, element_strides, normals, placed, poisoned
from .matmul_operands import limits
from .protocol import Args, Case, Launch
from .rounding import narrow, wide


@triton.jit
def bmm_tile(
    a_ptr, b_ptr, c_ptr, B, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BATCHES: tl.constexpr
):
    batch = (tl.program_id(0) * BATCHES + tl.arange(0, BATCHES))[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + (batch * M + m[None, :, None]) * K + k[None, None, :], mask=batch < B, other=0.0)
    b = tl.load(b_ptr + (batch * K + k[None, :, None]) * N + n[None, None, :], mask=batch < B, other=0.0)
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + (batch * M + m[None, :, None]) * N + n[None, None, :], c, mask=batch < B)


@triton.jit
def bmm_per_program(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_ab,
    stride_am,
    stride_ak,
    stride_bb,
    stride_bk,
    stride_bn,
    BLOCK: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(2)
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a_ptr += batch * stride_ab
    b_ptr += batch * stride_bb
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    c_ptrs = c_ptr + (batch * M + m[:, None]) * N + n[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def _product(args: Args) -> dict[str, np.ndarray]:
    return {"c_ptr": narrow(wide(args["a_ptr"]) @ wide(args["b_ptr"]), args["c_ptr"].dtype)}


def _tile(b: int, m: int, n: int, k: int, dtype: str, batches: int):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(normals(rng, s, DTYPES[dtype])) for s in ((b, m, k), (b, k, n)))
        args = {"a_ptr": x, "b_ptr": y, "c_ptr": poisoned((b, m, n), np.float32), "B": b}
        return Launch(args, (triton.cdiv(b, batches),))

    return make


def _per_program(b: int, m: int, n: int, k: int, dtype: str, shared_b: bool):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (b, m, k), DTYPES[dtype]))
        if shared_b:
            y = placed(np.broadcast_to(normals(rng, (1, k, n), DTYPES[dtype]), (b, k, n)), (0, n, 1))
        else:
            y = placed(normals(rng, (b, k, n), DTYPES[dtype]), (n * k, 1, k))
        args: Args = {
            "a_ptr": x,
            "b_ptr": y,
            "c_ptr": poisoned((b, m, n), DTYPES[dtype]),
            "M": m,
            "N": n,
            "K": k,
        }
        args |= dict(zip(("stride_ab", "stride_am", "stride_ak"), element_strides(x), strict=True))
        args |= dict(zip(("stride_bb", "stride_bk", "stride_bn"), element_strides(y), strict=True))
        return Launch(args, (triton.cdiv(m, 16), triton.cdiv(n, 16), b))

    return make


CASES = [
    Case(
        f"batched_matmul/bmm_tile/{dtype}-{b}x{m}x{n}x{k}",
        bmm_tile,
        _tile(b, m, n, k, dtype, batches),
        _product,
        **limits("f32", k),
        constexprs={"M": m, "N": n, "K": k, "BATCHES": batches},
        tags=frozenset({"dot"}),
    )
    for b, m, n, k, dtype, batches in (
        (1, 16, 16, 16, "f32", 1),
        (5, 16, 32, 16, "f32", 4),
        (3, 32, 16, 32, "f16", 2),
    )
]
CASES += [
    Case(
        f"batched_matmul/bmm_per_program/{dtype}-{b}x{m}x{n}x{k}{'-shared' if shared else ''}",
        bmm_per_program,
        _per_program(b, m, n, k, dtype, shared),
        _product,
        **limits(dtype, k),
        constexprs={"BLOCK": 16, "BLOCK_K": 16},
        tags=frozenset({"dot"}),
    )
    for b, m, n, k, dtype, shared in (
        (1, 1, 1, 1, "f32", False),
        (3, 24, 17, 40, "f32", False),
        (4, 19, 24, 33, "f16", True),
    )
]
