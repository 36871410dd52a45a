"""Matmuls with another way of walking: grouped, persistent, split along K, wrapped rows, matrix-vector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import element_strides, normals, placed, poisoned
from .matmul_operands import flat_tiles, limits, matmul_launch, product, tiles
from .protocol import Args, Case, Launch
from .rounding import narrow, wide


@triton.jit
def matmul_grouped(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = tl.program_id(0)
    pid_m, pid_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(
        c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn, c, mask=(m[:, None] < M) & (n[None, :] < N)
    )


@triton.jit
def matmul_persistent(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tiles_n = tl.cdiv(N, BLOCK_N)
    total = tl.cdiv(M, BLOCK_M) * tiles_n
    for tile in range(tl.program_id(0), total, tl.num_programs(0)):
        m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, K, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            a_mask = (m[:, None] < M) & (k[None, :] < K)
            b_mask = (k[:, None] < K) & (n[None, :] < N)
            a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
            b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
        c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
        tl.store(c_ptrs, acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_split_k(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    share = tl.program_id(2)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(share * BLOCK_K, K, tl.num_programs(2) * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.atomic_add(c_ptrs, acc, mask=(m[:, None] < M) & (n[None, :] < N), sem="relaxed")


@triton.jit
def matmul_wrapped_rows(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    read_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    read_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + read_m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + read_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_ptrs, mask=k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_b_transposed(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
        acc += tl.dot(a, tl.trans(b), input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matvec(a_ptr, x_ptr, y_ptr, M, K, stride_am, stride_ak, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        inside = (m[:, None] < M) & (k[None, :] < K)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=inside, other=0.0)
        x = tl.load(x_ptr + k, mask=k < K, other=0.0)
        total += tl.sum(a * x[None, :], axis=1)
    tl.store(y_ptr + m, total, mask=m < M)


@triton.jit
def matmul_bias_relu(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    bias = tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32) + bias[None, :]
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    acc = tl.maximum(acc, 0.0)
    tl.store(
        c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N)
    )


def _zeroed(make):
    """The output starts at zero: split-K programs add to it."""

    def zeroed(rng: np.random.Generator) -> Launch:
        launch = make(rng)
        launch.args["c_ptr"][...] = 0
        return replace(launch, grid=(*launch.grid, 3))

    return zeroed


def _b_transposed(m: int, n: int, k: int):
    def make(rng: np.random.Generator) -> Launch:
        a, b = placed(normals(rng, (m, k), np.float32)), placed(normals(rng, (n, k), np.float32))
        args = {"a_ptr": a, "b_ptr": b, "c_ptr": poisoned((m, n), a.dtype), "M": m, "N": n, "K": k}
        return Launch(args, tiles(16, 16)(m, n))

    return make


def _b_transposed_reference(args: Args) -> dict[str, np.ndarray]:
    return {"c_ptr": narrow(wide(args["a_ptr"]) @ wide(args["b_ptr"]).T, np.float32)}


def _matvec(m: int, k: int, transposed: bool):
    def make(rng: np.random.Generator) -> Launch:
        a = placed(normals(rng, (m, k), np.float32), (1, m) if transposed else None)
        args = {
            "a_ptr": a,
            "x_ptr": placed(normals(rng, k, a.dtype)),
            "y_ptr": poisoned(m, a.dtype),
            "M": m,
            "K": k,
        }
        args["stride_am"], args["stride_ak"] = element_strides(a)
        return Launch(args, (triton.cdiv(m, 16),))

    return make


def _bias_relu(m: int, n: int, k: int):
    def make(rng: np.random.Generator) -> Launch:
        a, b, bias = (placed(normals(rng, s, np.float16)) for s in ((m, k), (k, n), n))
        args = {
            "a_ptr": a,
            "b_ptr": b,
            "bias_ptr": bias,
            "c_ptr": poisoned((m, n), a.dtype),
            "M": m,
            "N": n,
            "K": k,
        }
        return Launch(args, tiles(16, 16)(m, n))

    return make


def _bias_relu_reference(args: Args) -> dict[str, np.ndarray]:
    total = wide(args["a_ptr"]) @ wide(args["b_ptr"]) + wide(args["bias_ptr"])
    return {"c_ptr": narrow(np.maximum(total, 0), np.float16)}


SHAPES = [(1, 1, 1), (24, 40, 56), (67, 37, 41)]
TILE = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}


def _case(kernel, shape, make, reference, dtype: str, constexprs, *tags: str, label: str = "") -> Case:
    name = f"matmul_variants/{kernel.__name__}/{'x'.join(map(str, shape))}{label}"
    bounds = limits(dtype, shape[-1])
    return Case(
        name, kernel, make, reference, **bounds, constexprs=constexprs, tags=frozenset({"dot", *tags})
    )


def _cases() -> list[Case]:
    cases = []
    for shape in SHAPES:
        for group in (1, 2, 3):
            make = matmul_launch(shape, flat_tiles(16, 16))
            label, sizes = f"-group{group}", TILE | {"GROUP": group}
            cases.append(_case(matmul_grouped, shape, make, product, "f32", sizes, label=label))
        make = matmul_launch(shape, lambda m, n: (3,), strides=(None, (1, shape[2]), None))
        cases.append(_case(matmul_persistent, shape, make, product, "f32", TILE))
        make = _zeroed(matmul_launch(shape, tiles(16, 16)))
        cases.append(_case(matmul_split_k, shape, make, product, "f32", TILE, "atomic"))
        make = matmul_launch(shape, tiles(16, 16))
        cases.append(_case(matmul_wrapped_rows, shape, make, product, "f32", TILE))
        cases.append(
            _case(matmul_b_transposed, shape, _b_transposed(*shape), _b_transposed_reference, "f32", TILE)
        )
        cases.append(
            _case(matmul_bias_relu, shape, _bias_relu(*shape), _bias_relu_reference, "f16", {"BLOCK": 16})
        )
    large = (300, 203, 161)
    make = matmul_launch(large, flat_tiles(64, 32), "f16")
    sizes = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4}
    cases.append(_case(matmul_grouped, large, make, product, "f16", sizes, "large"))
    for m, k, transposed in ((1, 1, False), (24, 40, True), (101, 67, False)):
        name = f"matmul_variants/matvec/{m}x{k}"
        wanted = lambda args: {"y_ptr": narrow(wide(args["a_ptr"]) @ wide(args["x_ptr"]), np.float32)}
        make, sizes = _matvec(m, k, transposed), {"BLOCK_M": 16, "BLOCK_K": 32}
        cases.append(Case(name, matvec, make, wanted, **limits("f32", k), constexprs=sizes))
    return cases


CASES = _cases()
