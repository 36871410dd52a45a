"""The plain matmuls: naive, blocked with three masks, and the classic mistakes with their exact results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, normals, placed, poisoned
from .matmul_operands import limits, matmul_launch, product, strided_args, tiles
from .protocol import Args, Case, Launch
from .rounding import narrow, wide


@triton.jit
def matmul_naive(
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
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for k in range(K):
        a = tl.load(a_ptr + row * stride_am + k * stride_ak).to(tl.float32)
        b = tl.load(b_ptr + k * stride_bk + cols * stride_bn, mask=cols < N, other=0.0).to(tl.float32)
        total += a * b
    tl.store(c_ptr + row * stride_cm + cols * stride_cn, total, mask=cols < N)


@triton.jit
def matmul(
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
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_tile = tl.load(
            a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak,
            mask=(m[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        b_tile = tl.load(
            b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn,
            mask=(k[:, None] < K) & (n[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(a_tile, b_tile, input_precision="ieee")
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_without_k_mask(
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
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_tile = tl.load(
            a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=m[:, None] < M, other=0.0
        )
        b_tile = tl.load(
            b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=n[None, :] < N, other=0.0
        )
        acc += tl.dot(a_tile, b_tile, input_precision="ieee")
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_accumulator_reset(
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
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a_tile = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b_tile = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc += tl.dot(a_tile, b_tile, input_precision="ieee")
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_fp16_accumulator(
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
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float16)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a_tile = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b_tile = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc += tl.dot(a_tile, b_tile).to(tl.float16)
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def dot_one_tile(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision="ieee"))


SENTINEL = 999.0
"""Fills the storage around the operands of ``matmul_without_k_mask``."""

WRONG_WITHOUT_K_MASK = np.array(
    [
        [2994004.0, 2994004.25, 2994004.5, 2994004.5],
        [2994006.25, 2994006.5, 2994006.75, 2994007.25],
        [2994008.25, 2994009.0, 2994009.5, 2994010.0],
        [2994010.25, 2994011.0, 2994012.0, 2994012.75],
    ],
    np.float32,
)
"""Case ``4x4x5`` to the last digit where a tile's product is summed first and then added to ``acc``."""


def _sentinel(m: int, n: int, k: int, depth: int, tile: int):
    """Operands that are views of storages padded to ``depth`` along K, the padding full of the sentinel."""

    def make(rng: np.random.Generator) -> Launch:
        a_store, b_store = (
            placed(np.full((m, depth), SENTINEL, np.float32)),
            placed(np.full((depth, n), SENTINEL, np.float32)),
        )
        a_store[:, :k] = np.arange(m * k, dtype=np.float32).reshape(m, k) * np.float32(0.1)
        b_store[:k] = np.arange(k * n, dtype=np.float32).reshape(k, n) * np.float32(0.1)
        args = strided_args(a_store[:, :k], b_store[:k], poisoned((m, n), np.float32))
        facts = {"a_store": a_store.copy(), "b_store": b_store.copy()}
        return Launch(args, tiles(tile, tile)(m, n), facts=facts)

    return make


def _whole_storage_product(args: Args) -> dict[str, np.ndarray]:
    depth = -(-args["K"] // args["BLOCK_K"]) * args["BLOCK_K"]
    total = wide(args["a_store"])[:, :depth] @ wide(args["b_store"])[:depth]
    return {"c_ptr": narrow(total, np.float32)}


def _last_tile_product(args: Args) -> dict[str, np.ndarray]:
    start = (args["K"] - 1) // args["BLOCK_K"] * args["BLOCK_K"]
    total = wide(args["a_ptr"])[:, start:] @ wide(args["b_ptr"])[start:]
    return {"c_ptr": narrow(total, np.float32)}


def _half_precision_running_product(args: Args) -> dict[str, np.ndarray]:
    a, b, step = wide(args["a_ptr"]), wide(args["b_ptr"]), args["BLOCK_K"]
    acc = np.zeros(args["c_ptr"].shape, np.float16)
    for start in range(0, args["K"], step):
        acc += narrow(a[:, start : start + step] @ b[start : start + step], np.float16)
    return {"c_ptr": acc}


def _loses_digits(before: Args, after: Args) -> None:
    """The error of the fp16 sums is many times what rounding an exact sum to fp16 would leave."""
    exact = wide(before["a_ptr"]) @ wide(before["b_ptr"])
    rounding = np.abs(wide(narrow(exact, np.float16)) - exact).max()
    assert np.abs(wide(after["c_ptr"]) - exact).max() > 4 * rounding


def _small_fp16(m: int, n: int, k: int, out: str, tile: int):
    def make(rng: np.random.Generator) -> Launch:
        a, b = (placed(normals(rng, s, np.float16, scale=0.1)) for s in ((m, k), (k, n)))
        return Launch(strided_args(a, b, poisoned((m, n), DTYPES[out])), tiles(tile, tile)(m, n))

    return make


def _one_tile(a: np.ndarray, b: np.ndarray):
    def make(rng: np.random.Generator) -> Launch:
        c = poisoned((a.shape[0], b.shape[1]), np.float32)
        return Launch({"a_ptr": placed(a), "b_ptr": placed(b), "c_ptr": c})

    return make


def _ramps(m: int, n: int, k: int):
    a = np.arange(m * k, dtype=np.float32).reshape(m, k) % 7
    b = np.arange(k * n, dtype=np.float32).reshape(k, n) % 5
    return _one_tile(a, b)


MATRICES = [
    ("one", (1, 1, 1), (16, 16, 16), (None, None, None), "f32", "f32"),
    ("odd-eights", (24, 40, 56), (16, 16, 16), (None, None, None), "f32", "f32"),
    ("primes", (17, 29, 37), (16, 16, 16), (None, None, None), "f32", "f32"),
    ("divisible", (64, 32, 64), (32, 16, 32), (None, None, None), "f32", "f32"),
    ("uneven-tile", (33, 70, 19), (16, 64, 32), (None, None, None), "f32", "f32"),
    ("transposed-a", (24, 31, 40), (16, 16, 16), ((1, 24), None, None), "f32", "f32"),
    ("transposed-b", (40, 24, 23), (16, 16, 16), (None, (1, 23), None), "f32", "f32"),
    ("transposed-c", (19, 24, 24), (16, 16, 16), (None, None, (1, 19)), "f32", "f32"),
    ("padded-rows", (24, 24, 24), (16, 16, 16), ((40, 1), (31, 1), (24, 1)), "f32", "f32"),
    ("zero-stride-b", (17, 24, 20), (16, 16, 16), (None, (0, 1), None), "f32", "f32"),
    ("zero-stride-a", (20, 17, 24), (16, 16, 16), ((0, 1), None, None), "f32", "f32"),
    ("negative", (21, 18, 25), (16, 16, 16), ((-25, -1), (18, -1), None), "f32", "f32"),
    ("no-k", (5, 7, 0), (16, 16, 16), (None, None, None), "f32", "f32"),
    ("half", (33, 40, 72), (32, 32, 32), (None, None, None), "f16", "f32"),
    ("half-out", (40, 33, 50), (32, 32, 16), (None, None, None), "f16", "f16"),
    ("bfloat", (24, 48, 97), (16, 32, 32), (None, None, None), "bf16", "bf16"),
]


def _sizes(tile: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))


def _case(kernel, label, make, reference, bounds, constexprs, *tags: str) -> Case:
    name = f"matmul/{kernel.__name__}/{label}"
    return Case(name, kernel, make, reference, **bounds, constexprs=constexprs, tags=frozenset(tags))


def _cases() -> list[Case]:
    cases = []
    for shape in ((1, 1, 1), (5, 24, 7), (17, 40, 31)):
        make = matmul_launch(shape, lambda m, n: (m, -(-n // 16)))
        label = "x".join(map(str, shape))
        cases.append(_case(matmul_naive, label, make, product, limits("f32", shape[2]), {"BLOCK_N": 16}))
    for label, shape, tile, strides, dtype, out in MATRICES:
        make = matmul_launch(shape, tiles(*tile[:2]), dtype, out, strides)
        cases.append(_case(matmul, label, make, product, limits(out, shape[2]), _sizes(tile), "dot"))
    large = matmul_launch((257, 191, 513), tiles(64, 64))
    cases.append(
        _case(matmul, "large", large, product, limits("f32", 513), _sizes((64, 64, 32)), "dot", "large")
    )
    for shape in ((8, 8, 8), (5, 6, 7), (1, 1, 9)):
        make, label = matmul_launch(shape, tiles(4, 4)), "tile4-" + "x".join(map(str, shape))
        cases.append(
            _case(
                matmul, label, make, product, limits("f32", shape[2]), _sizes((4, 4, 4)), "dot", "small-dot"
            )
        )
    masked = _case(matmul, "padded-storage", _sentinel(4, 4, 5, 8, 4), product, {"rtol": 1e-6, "atol": 0.0},
                   _sizes((4, 4, 4)), "dot", "small-dot")  # fmt: skip
    cases.append(masked)
    for label, shape, tile in (("4x4x5", (4, 4, 5, 8), 4), ("20x24x40", (20, 24, 40, 48), 16)):
        tags = ("dot", "reads-outside-view", *(["small-dot"] if tile < 16 else []))
        # Two fp32 units at the size of the sums: tile products may be added to acc in either order.
        make, bounds = _sentinel(*shape, tile), {"rtol": 0.0, "atol": 0.5 if tile < 16 else 1.0}
        reference = _whole_storage_product
        cases.append(_case(matmul_without_k_mask, label, make, reference, bounds, _sizes((tile,) * 3), *tags))
    for shape in ((16, 16, 33), (9, 24, 64)):
        make, label = matmul_launch(shape, tiles(16, 16)), "x".join(map(str, shape))
        reference = _last_tile_product
        cases.append(
            _case(
                matmul_accumulator_reset, label, make, reference, limits("f32", 16), _sizes((16,) * 3), "dot"
            )
        )
    for k in (64, 1024):
        # One fp16 unit at the accumulator's size: fp32 sums of a tile may round the other way before the add.
        make, bounds = _small_fp16(16, 16, k, "f16", 16), {"rtol": 2e-3, "atol": 4e-4}
        reference = _half_precision_running_product
        tags = ("dot", "no-fp32-accumulator")
        sizes = _sizes((16, 16, 16))
        case = _case(matmul_fp16_accumulator, f"k{k}", make, reference, bounds, sizes, *tags)
        cases.append(replace(case, check=_loses_digits) if k > 1000 else case)
        exact = _small_fp16(16, 16, k, "f16", 16)
        cases.append(_case(matmul, f"fp32-accumulator-k{k}", exact, product, limits("f16", k), sizes, "dot"))
    book = _one_tile(np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32))
    sizes = {"M": 2, "N": 2, "K": 2}
    cases.append(_case(dot_one_tile, "2x2", book, product, {}, sizes, "dot", "small-dot"))
    for m, n, k in ((1, 1, 1), (1, 4, 2), (8, 8, 8), (32, 1, 32), (16, 8, 16)):
        tags = ["dot"] + (["small-dot"] if k < 16 else [])
        sizes = {"M": m, "N": n, "K": k}
        cases.append(_case(dot_one_tile, f"{m}x{n}x{k}", _ramps(m, n, k), product, {}, sizes, *tags))
    return cases


CASES = _cases()
