"""Dots on tensor cores: the plan, its conditions one by one, its layouts against the tables of the PTX ISA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import tile_ir
from tests.specialize.mma_kernels import Product, decided, machine_ir, matmul_ir
from tritium import config
from tritium.backends.interp import run_grid
from tritium.ir.match import Reject
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.layout.fragments import fragment_a_m16n8, fragment_b_m16n8, fragment_c_m16n8
from tritium.ops.base import REGISTRY
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import owners
from tritium.ops.gpu_mma import LoadFragments, Mma, SliceFragments, WarpTile, warp_tile_of
from tritium.ops.gpu_shared import ConvertLayout, DotFma, SharedAlloc
from tritium.passes.specialize.tensor_cores import MmaPlan, TensorCores, choose_warps

NAME = "tensor_cores"


def test_the_plan_is_readable() -> None:
    _, record = machine_ir(matmul_ir(tile=(128, 128, 64)))
    (found,) = decided(record, NAME)
    assert found.applied
    assert found.text == "128x128 over 64 by mma.m16n8k16 bf16: 2x2 warps of 4x8 instructions"


@triton.jit
def one_dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b, input_precision=P))


@triton.jit
def batched_dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    h = tl.arange(0, 2)[:, None, None]
    a = tl.load(a_ptr + h * M * K + i[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + h * K * N + k[None, :, None] * N + j[None, None, :])
    tl.store(c_ptr + h * M * N + i[None, :, None] * N + j[None, None, :], tl.dot(a, b, input_precision=P))


def dot_of(kernel=one_dot, kind: str = "bf16", shape=(32, 32, 32), precision=None) -> Dot:
    m, n, k = shape
    types = {"a_ptr": f"*{kind}", "b_ptr": f"*{kind}"}
    function = tile_ir(kernel, types, M=m, N=n, K=k, P=precision)
    (dot,) = function.find(Dot)
    assert isinstance(dot, Dot)
    return dot


@pytest.mark.parametrize(
    ("dot", "arch", "rule"),
    [
        ({}, 75, "sm_75 has no mma.sync with asynchronous copies"),
        ({"kind": "fp64"}, 90, "tensor cores do not multiply fp64 by fp64"),
        ({"kind": "fp32", "precision": "ieee"}, 90,
         "fp32 products of precision 'ieee' are computed by fused multiply-adds"),
        ({"kind": "fp8e5"}, 80, "sm_80 does not multiply 8-bit floats"),
        ({"kernel": batched_dot}, 90, "the dot has a batch axis"),
        ({"shape": (32, 32, 24)}, 90, "a reduction over 24 is no multiple of 16"),
        ({"shape": (32, 32, 16), "kind": "i8"}, 90, "a reduction over 16 is no multiple of 32"),
        ({"shape": (3, 5, 16)}, 90, "a 3x5 result leaves most of an instruction's 16x8 unused"),
    ],
)  # fmt: skip
def test_every_condition_by_itself(dot, arch, rule) -> None:
    op = dot_of(**dot)
    found = TensorCores(4, arch).match(op)
    assert isinstance(found, Reject)
    assert found.rule == rule
    assert found.loc is not None and found.loc == op.loc


@pytest.mark.parametrize(
    ("kind", "precision", "name"),
    [
        ("fp16", None, "k16 f16"),
        ("bf16", None, "k16 bf16"),
        ("fp32", None, "k8 tf32"),
        ("fp32", "tf32", "k8 tf32"),
        ("fp32", "tf32x3", "k8 tf32, three products for each"),
        ("i8", None, "k32 s8"),
        ("fp8e4nv", None, "k32 e4m3"),
        ("fp8e5", None, "k32 e5m2"),
    ],
)
def test_what_multiplies(kind, precision, name) -> None:
    found = TensorCores(4, 90).match(dot_of(kind=kind, precision=precision))
    assert isinstance(found, MmaPlan)
    assert f"mma.m16n8{name}:" in str(found)


def test_settings_turn_it_off() -> None:
    for how in ({"specialize": "none"}, {"forbid": "tensor_cores"}):
        with config.override(**how):
            function, record = machine_ir(matmul_ir())
        assert not decided(record, NAME)
        assert function.find(DotFma) and not function.find(Mma)


# ---- layouts -----------------------------------------------------------------------------------------


@given(st.integers(1, 160), st.integers(1, 160), st.sampled_from([1, 2, 3, 4, 6, 8]), st.booleans())
def test_results_are_fragments_and_cover_the_tile(rows, columns, warps, tall) -> None:
    tile = choose_warps(rows, columns, warps, tall)
    assert warp_tile_of(tile.results) == tile
    assert (owners(tile.results) >= 0).all()
    assert not tall or tile.across == 1
    table, fragment = tile.results.table(), fragment_c_m16n8()
    lanes = np.array([[list(fragment.at(reg=i, lane=lane).values()) for i in range(4)] for lane in range(32)])
    for warp in range(tile.down * tile.across):
        mine = table[warp * 32 : warp * 32 + 32].reshape(32, 2 * tile.high, 2 * tile.wide, 2)
        down, across = warp % tile.down, warp // tile.down
        for i in range(tile.high):
            for j in range(tile.wide):
                start = ((down * tile.high + i) * 16, (across * tile.wide + j) * 8)
                cells = mine[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].reshape(32, 4, 2)
                assert (cells == lanes + start).all()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_operands_are_fragments(size) -> None:
    tile, depth = WarpTile(64, 48, 2, 3, 2, 2, 128), 64 // size
    for side, fragment in (("a", fragment_a_m16n8(size)), ("b", fragment_b_m16n8(size))):
        layout = tile.operand(side, depth, size)
        registers = fragment.extent("reg")
        names = ("row", "k") if side == "a" else ("k", "col")
        lanes = np.array([[[fragment.at(reg=r, lane=lane)[n] for n in names] for r in range(registers)]
                          for lane in range(32)])  # fmt: skip
        each, line, along = 4 // size, 0 if side == "a" else 1, 1 if side == "a" else 0
        shape = layout.register_shape
        table = layout.table().reshape(128, *shape, 2)
        for warp in range(4):
            place = warp % 2 if side == "a" else warp // 2
            for i in range(2 if side == "a" else 3):
                lines = [2 * i, 2 * i + 1] if side == "a" else [i]
                for step in range(2):
                    got = []
                    for half in range(2):
                        for x in lines:
                            for h in range(each):
                                at = [0, 0]
                                at[line], at[along] = x, (2 * step + half) * each + h
                                got.append(table[warp * 32 : warp * 32 + 32, at[0], at[1]])
                    start = [0, 0]
                    start[line] = (place * 2 + i) * 16 if side == "a" else (place * 3 + i) * 8
                    start[along] = step * 32 // size
                    assert (np.stack(got, 1) == lanes + start).all()


def test_warps_stand_in_a_square_or_below_each_other() -> None:
    square, tall = choose_warps(128, 128, 4, False), choose_warps(128, 128, 4, True)
    assert (square.down, square.across, square.high, square.wide) == (2, 2, 4, 8)
    assert (tall.down, tall.across, tall.high, tall.wide) == (4, 1, 2, 16)
    few = choose_warps(16, 16, 8, False)
    assert (few.down, few.across) == (1, 2) and few.results.replicas


# ---- what they compute ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "int8", "fp8e4nv", "fp8e5"])
@pytest.mark.parametrize("orders", ["nn", "nt", "tn", "tt"])
def test_products_of_every_type_and_order(dtype, orders) -> None:
    tile = (32, 48, 32)
    function, record = machine_ir(matmul_ir(tile=tile, dtype=dtype, orders=orders))
    assert decided(record, NAME)[0].applied and function.find(Mma)
    case = Product((48, 80, 64), dtype, orders)
    assert np.array_equal(case.run(function, tile), case.want)


@pytest.mark.parametrize("tile", [(16, 8, 16), (24, 40, 16), (40, 72, 48), (100, 20, 32), (8, 128, 32)])
@pytest.mark.parametrize("warps", [1, 3, 4])
def test_tiles_that_are_no_multiples_of_an_instruction(tile, warps) -> None:
    function, _ = machine_ir(matmul_ir(tile=tile), warps)
    assert function.find(Mma)
    case = Product((112, 80, 64))
    assert np.array_equal(case.run(function, tile), case.want)


def test_fp8_becomes_fp16_where_tensor_cores_lack_it() -> None:
    function, record = machine_ir(matmul_ir(dtype="fp8e4nv"), arch="sm_80")
    assert "f16" in decided(record, NAME)[0].text
    case = Product((48, 80, 64), "fp8e4nv")
    assert np.array_equal(case.run(function, (32, 32, 32)), case.want)


@triton.jit
def two_dots(a_ptr, b_ptr, c_ptr, K: tl.constexpr):
    i, k = tl.arange(0, 64), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 64 + i[None, :])
    first = tl.dot(a, b)
    again = tl.load(b_ptr + i[:, None] * 64 + i[None, :])
    tl.store(c_ptr + i[:, None] * 64 + i[None, :], tl.dot(first.to(tl.bfloat16), again))


def test_the_left_operand_of_a_second_dot_stays_in_registers() -> None:
    types = {"a_ptr": "*bf16", "b_ptr": "*bf16"}
    facts = {(i,): [("tt.divisibility", 16)] for i in range(3)}
    function, _ = machine_ir(tile_ir(two_dots, types, facts, K=64))
    assert len(function.find(SharedAlloc)) == 3  # a, b and b again: the first result goes nowhere
    assert function.find(SliceFragments) and not function.find(ConvertLayout)
    rng = np.random.default_rng(0)
    case = Product((64, 64, 64))
    case.a, case.b = (rng.integers(-1, 2, (64, 64)).astype(case.a.dtype) for _ in range(2))
    c = case.empty()
    run_grid(function, (1, 1, 1), case.leaves(function, c))
    a, b = case.a.astype(np.float32), case.b.astype(np.float32)
    assert np.array_equal(c, (a @ b) @ b)


def test_machine_ir_reads_back_from_text() -> None:
    text = print_function(machine_ir(matmul_ir())[0])
    again = parse_function(text, REGISTRY)
    assert print_function(again) == text
    assert again.find(LoadFragments)
    case = Product((48, 80, 64))
    assert np.array_equal(case.run(again, (32, 32, 32)), case.want)


def test_tf32x3_is_close_to_fp32() -> None:
    tile = (32, 32, 32)
    case = Product((64, 64, 96), "fp32")
    rng = np.random.default_rng(1)
    case.a, case.b = (rng.standard_normal(x.shape).astype(np.float32) for x in (case.a, case.b))
    want = case.a.astype(np.float64) @ case.b.astype(np.float64)
    gaps = {}
    for precision in ("tf32", "tf32x3"):
        function, _ = machine_ir(matmul_ir(tile=tile, dtype="fp32", precision=precision))
        gaps[precision] = np.abs(case.run(function, tile) - want).max()
    assert gaps["tf32x3"] < 1e-4 < 1e-3 < gaps["tf32"] < 0.2
