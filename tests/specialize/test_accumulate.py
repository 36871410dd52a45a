"""``acc + dot`` as one dot: the plan, and each condition by itself."""

from __future__ import annotations

import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import matmul_loop, tile_ir, tiles
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ops.arithmetic import Add
from tritium.ops.dot import Dot
from tritium.passes.specialize import accumulate


def applied(function: Function) -> Record:
    record = Record()
    accumulate.run(function, record)
    return record


def test_the_carried_sum_goes_into_the_dot() -> None:
    function = tile_ir(matmul_loop, **tiles(8, 8, 8))
    record = applied(function)
    (dot,) = function.find(Dot)
    assert dot.acc is not None and dot.acc.owner is dot.parent, "it starts from the carried value"
    assert not [op for op in function.find(Add) if op.is_float]
    assert [str(d.text) for d in record] == ["the dot starts from acc and needs no sums of its own"]


@triton.jit
def already(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    c = tl.load(c_ptr + rows * N + cols)
    tl.store(c_ptr + rows * N + cols, tl.dot(a, b, c) + 1.0)


@triton.jit
def used_twice(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    d = tl.dot(a, b)
    tl.store(c_ptr + rows * N + cols, d + d * 2.0)


@triton.jit
def multiplied(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    tl.store(c_ptr + rows * N + cols, tl.dot(a, b) * 2.0)


@triton.jit
def added_elsewhere(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    c = tl.load(c_ptr + rows * N + cols)
    d = tl.dot(a, b)
    if M > 3:
        tl.store(c_ptr + rows * N + cols, c + d)


@triton.jit
def halves(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    a = tl.load(a_ptr + rows * K + tl.arange(0, BK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * N + cols)
    c = tl.load(c_ptr + rows * N + cols)
    tl.store(c_ptr + rows * N + cols, c + tl.dot(a, b, out_dtype=tl.float16))


@pytest.mark.parametrize(
    ("kernel", "dtype", "rule"),
    [
        (already, "*fp32", "the dot already has an accumulator"),
        (used_twice, "*fp32", "the product has other users than one addition"),
        (multiplied, "*fp32", "the product is not simply added to something"),
        (added_elsewhere, "*fp32", "the addition is in another block of code"),
        (halves, "*fp16", "fp16 sums are rounded before they are added"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_every_condition_by_itself(kernel, dtype, rule) -> None:
    types = {n: dtype for n in ("a_ptr", "b_ptr", "c_ptr")}
    function = tile_ir(kernel, types, **tiles(8, 8, 8))
    (found,) = applied(function)
    assert not found.applied and found.text == rule and found.loc is not None
