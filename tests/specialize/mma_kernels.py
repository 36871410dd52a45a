"""Matmul kernels for tensor cores, and how tests compile and run them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import tile_ir
from tritium.backends.cuda.generate import lay_out, lower
from tritium.backends.interp import run_grid
from tritium.ir.core import Function
from tritium.ir.match import Decision, Record
from tritium.runtime.arrays import view_of

TYPES: dict[str, Any] = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "int8": np.int8,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e5": ml_dtypes.float8_e5m2,
}


@triton.jit
def by_index(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=OUT)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * sam + ks[None, :] * sak,
            mask=(rm[:, None] < M) & (ks[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + ks[:, None] * sbk + rn[None, :] * sbn,
            mask=(ks[:, None] < K) & (rn[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(a, b, input_precision=PRECISION)
    tl.store(c_ptr + rm[:, None] * scm + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def advancing(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * sam + ks[None, :] * sak
    b_ptrs = b_ptr + ks[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=OUT)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (ks[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K - k * BK) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    tl.store(c_ptr + rm[:, None] * scm + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul_ir(
    kernel: Any = by_index,
    tile: tuple[int, int, int] = (32, 32, 32),
    dtype: str = "bf16",
    orders: str = "nn",
    divisible: int = 16,
    precision: str | None = None,
    **types: str,
) -> Function:
    """Optimised tile IR. Strides along contiguous axes are the constant 1, as launches make them; pointers are aligned to 16
    bytes, integers multiples of `divisible`."""
    integer = dtype == "int8"
    kind = dtype.replace("int8", "i8")
    ones = {"sak" if orders[0] == "n" else "sam": 1, "sbn" if orders[1] == "n" else "sbk": 1}
    constants = dict(zip(("BM", "BN", "BK"), tile, strict=True)) | ones
    constants |= {"PRECISION": precision, "OUT": tl.int32 if integer else tl.float32}
    names = [p.name for p in kernel.source.parameters]
    facts = {
        (i,): [("tt.divisibility", 16 if n.endswith("_ptr") else divisible)]
        for i, n in enumerate(names)
        if n not in constants
    }
    pointers = {"a_ptr": f"*{kind}", "b_ptr": f"*{kind}", "c_ptr": "*i32" if integer else "*fp32"} | types
    return tile_ir(kernel, pointers, facts, **constants)


def machine_ir(
    function: Function, warps: int = 4, stages: int = 3, arch: str = "sm_90a"
) -> tuple[Function, Record]:
    """Machine IR, and what was decided on the way."""
    record, options = Record(), {"num_warps": warps, "num_stages": stages}
    return lower(lay_out(function, options, record, arch), options, record, arch), record


def decided(record: Record, name: str) -> list[Decision]:
    """The decisions of one specialisation."""
    return [d for d in record if d.name == name]


class Product:
    """Operands of small whole numbers, in the orders asked for, and what comes out of a kernel."""

    def __init__(self, sizes: tuple[int, int, int], dtype: str = "bf16", orders: str = "nn") -> None:
        m, n, k = sizes
        rng = np.random.default_rng(m + n + k)
        self.sizes, self.orders = sizes, orders
        self.a = rng.integers(-3, 4, (m, k)).astype(TYPES[dtype])
        self.b = rng.integers(-3, 4, (k, n)).astype(TYPES[dtype])
        self.kind = np.int32 if dtype == "int8" else np.float32
        self.want = self.a.astype(self.kind) @ self.b.astype(self.kind)

    def leaves(self, function: Function, out: Any) -> list[Any]:
        """Arguments for `function`, whose result goes to `out`."""
        m, n, k = self.sizes
        stored = [
            np.ascontiguousarray(x if order == "n" else x.T)
            for x, order in zip((self.a, self.b), self.orders, strict=True)
        ]
        strides_a = (max(k, 1), 1) if self.orders[0] == "n" else (1, m)
        strides_b = (n, 1) if self.orders[1] == "n" else (1, max(k, 1))
        values: dict[str, Any] = dict(
            zip(("a_ptr", "b_ptr", "c_ptr"), map(view_of, (*stored, out)), strict=True)
        )
        values |= dict(zip(("M", "N", "K"), self.sizes, strict=True)) | {"scm": n}
        values |= dict(zip(("sam", "sak", "sbk", "sbn"), (*strides_a, *strides_b), strict=True))
        return [values[a.name] for a in function.args]

    def empty(self) -> Any:
        """Room for the result, filled with what no result is."""
        m, n, _ = self.sizes
        return np.full((m, n), -77 if self.kind is np.int32 else np.nan, self.kind)

    def run(self, function: Function, tile: tuple[int, int, int]) -> Any:
        """The result by the interpreter."""
        c = self.empty()
        grid = (-(-self.sizes[0] // tile[0]), -(-self.sizes[1] // tile[1]), 1)
        run_grid(function, grid, self.leaves(function, c))
        return c
