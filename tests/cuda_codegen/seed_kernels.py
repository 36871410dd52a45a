"""Our own kernels of the structure that the seed documents describe: one tile, and a loop over tiles of K."""

from __future__ import annotations

from typing import Any

import tritium as triton
import tritium.language as tl
from tritium.backends.cuda import generate
from tritium.frontend import Signature
from tritium.ir.core import Function
from tritium.pipeline import compile_kernel


@triton.jit
def matmul_tile(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    ks = tl.arange(0, BK)
    a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
    b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
    acc = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


@triton.jit
def matmul_loop(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))


def tile_ir(
    kernel: Any, types: dict[str, str] | None = None, facts: Any = None, **constants: Any
) -> Function:
    """Optimised tile IR. Parameters whose name ends in ``_ptr`` are fp32 arrays, others int32, unless `types` says else."""
    names = [p.name for p in kernel.source.parameters]
    known = {n: "*fp32" if n.endswith("_ptr") else "i32" for n in names if n not in constants}
    signature = Signature.parse(names, known | (types or {}), constants, facts)
    return compile_kernel(kernel.source, signature, {}, "interpret").artefacts["opt.tir"]


def tiles(bm: int, bn: int, bk: int) -> dict[str, int]:
    return {"BM": bm, "BN": bn, "BK": bk}


def cuda(function: Function, arch: str = "sm_90a", **options: Any) -> generate.CudaSource:
    """The CUDA source under `options`."""
    return generate.generate(function, options, arch)


def seed_source(kernel: Any, bm: int, bn: int, bk: int, **options: Any) -> generate.CudaSource:
    """The CUDA source under the seed policy."""
    return cuda(tile_ir(kernel, **tiles(bm, bn, bk)), layouts="seed", **options)
