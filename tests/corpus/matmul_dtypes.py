"""Matmuls over every operand type of ``tl.dot``, with the precision of fp32 dots named."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import placed, poisoned
from .matmul_operands import limits, matmul_launch, product, tiles
from .protocol import Args, Case, Launch
from .rounding import narrow, wide


@triton.jit
def matmul_typed(
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
    ACC: tl.constexpr,
    PRECISION: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=ACC)
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_quantized(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0)
        acc += tl.dot(a, b)
    scale_a = tl.load(scale_a_ptr + m, mask=m < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + n, mask=n < N, other=0.0)
    c = acc.to(tl.float32) * scale_a[:, None] * scale_b[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


def _quantized(m: int, n: int, k: int):

    def make(rng: np.random.Generator) -> Launch:
        a, b = (placed(rng.integers(-128, 128, s).astype(np.int8)) for s in ((m, k), (k, n)))
        args: Args = {"a_ptr": a, "b_ptr": b, "c_ptr": poisoned((m, n), np.float32), "M": m, "N": n, "K": k}
        args["scale_a_ptr"] = placed(rng.uniform(0.001, 0.1, m).astype(np.float32))
        args["scale_b_ptr"] = placed(rng.uniform(0.001, 0.1, n).astype(np.float32))
        return Launch(args, tiles(16, 16)(m, n))

    return make


def _quantized_reference(args: Args) -> dict[str, np.ndarray]:
    total = args["a_ptr"].astype(np.int64) @ args["b_ptr"].astype(np.int64)
    return {
        "c_ptr": narrow(total * wide(args["scale_a_ptr"])[:, None] * wide(args["scale_b_ptr"]), np.float32)
    }


def _typed(
    label: str, shape, dtype: str, acc, out: str, bounds, precision: str = "ieee", tile=(16, 16, 32), **how
):
    name = f"matmul_dtypes/matmul_typed/{label}-{'x'.join(map(str, shape))}"
    make = matmul_launch(shape, tiles(tile[0], tile[1]), dtype, out, **how)
    sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    tags = {"dot"} | ({"fp8"} if dtype in ("e4m3", "e5m2") else set())
    constexprs = {**sizes, "ACC": acc, "PRECISION": precision}
    return Case(name, matmul_typed, make, product, **bounds, constexprs=constexprs, tags=frozenset(tags))


SHAPES = [(1, 1, 1), (24, 40, 72), (33, 17, 97)]
CASES = []
for _shape in SHAPES:
    _k = _shape[2]
    # fp8 hardware may keep as few as 14 bits of a partial sum.
    _fp8 = {"rtol": 2e-3, "atol": 2e-3 * _k**0.5}
    # tf32 keeps 10 bits of each operand: relative 2**-10 per product, in random directions.
    _tf32 = {"rtol": 2e-3, "atol": 2e-3 * _k**0.5}
    CASES += [
        _typed("i8", _shape, "i8", tl.int32, "i32", {}),
        _typed("f16", _shape, "f16", tl.float32, "f16", limits("f16", _k)),
        _typed("f16-f16", _shape, "f16", tl.float16, "f16", {"rtol": 4e-3, "atol": 2e-3 * _k**0.5}),
        _typed("bf16", _shape, "bf16", tl.float32, "bf16", limits("bf16", _k)),
        _typed("bf16-f32", _shape, "bf16", tl.float32, "f32", limits("f32", _k)),
        _typed("f32", _shape, "f32", tl.float32, "f32", limits("f32", _k)),
        _typed("tf32", _shape, "f32", tl.float32, "f32", _tf32, "tf32"),
        _typed("tf32x3", _shape, "f32", tl.float32, "f32", {"rtol": 1e-5, "atol": 2e-6 * _k**0.5}, "tf32x3"),
        _typed("f64", _shape, "f64", tl.float64, "f64", limits("f64", _k)),
        _typed("e4m3", _shape, "e4m3", tl.float32, "f32", _fp8),
        _typed("e5m2", _shape, "e5m2", tl.float32, "f32", _fp8),
        _typed("e4m3-e5m2", _shape, "e4m3", tl.float32, "f32", _fp8, dtype_b="e5m2"),
        Case(
            f"matmul_dtypes/matmul_quantized/{'x'.join(map(str, _shape))}",
            matmul_quantized,
            _quantized(*_shape),
            _quantized_reference,
            rtol=1e-6,
            constexprs={"BLOCK": 16, "BLOCK_K": 32},
            tags=frozenset({"dot"}),
        ),
    ]
CASES += [
    _typed("f16-tile64", (100, 130, 70), "f16", tl.float32, "f32", limits("f32", 70), tile=(64, 64, 32)),
    _typed(
        "bf16-tile128", (129, 136, 200), "bf16", tl.float32, "bf16", limits("bf16", 200), tile=(128, 128, 64)
    ),
    _typed(
        "f16-nt", (40, 56, 64), "f16", tl.float32, "f32", limits("f32", 64), strides=(None, (1, 64), None)
    ),
    _typed(
        "bf16-tt",
        (40, 56, 64),
        "bf16",
        tl.float32,
        "f32",
        limits("f32", 64),
        strides=((1, 40), (1, 64), None),
    ),
]
