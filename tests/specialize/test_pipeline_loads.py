"""Loads that run ahead of the arithmetic: the plan, its conditions one by one, what it computes, and what breaks it."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import tile_ir
from tests.specialize.mma_kernels import Product, advancing, by_index, decided, machine_ir, matmul_ir
from tritium import config
from tritium.backends.interp import run_grid
from tritium.errors import InterpreterError
from tritium.ir.core import Function
from tritium.ops.control import For, If
from tritium.ops.create import Constant
from tritium.ops.gpu_async import CommitCopies, CopyAsync, WaitCopies
from tritium.ops.gpu_mma import LoadFragments, Mma
from tritium.ops.gpu_shared import Barrier, ConvertLayout, SharedAlloc, SharedStore
from tritium.runtime.arrays import view_of

NAME = "pipeline_loads"
TILE = (32, 32, 32)


@pytest.mark.parametrize("kernel", [by_index, advancing], ids=["by index", "advancing pointers"])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("k", [0, 16, 32, 48, 160])
def test_the_plain_loop(kernel, stages, k) -> None:
    function, record = machine_ir(matmul_ir(kernel), stages=stages)
    (found,) = decided(record, NAME)
    assert found.applied
    assert f"2 loads {stages - 1} iterations ahead by cp.async of 16 bytes, {stages} stages" in found.text
    assert {op.stages for op in function.find(SharedAlloc)} == {stages}
    (loop,) = function.find(For)
    assert sum(isinstance(op, Barrier) for op in loop.body.ops) == 1
    case = Product((48, 80, k))
    assert np.array_equal(case.run(function, TILE), case.want)


def test_the_next_fragments_are_read_before_the_last_instructions() -> None:
    function, _ = machine_ir(matmul_ir(tile=(64, 64, 64)), warps=1)
    (loop,) = function.find(For)
    order = [type(op) for op in loop.body.ops if isinstance(op, (LoadFragments, Mma, WaitCopies, CopyAsync))]
    last = len(order) - 1 - order[::-1].index(Mma)
    assert order[:2] == [LoadFragments, LoadFragments]  # of the second step: those of the first are carried
    assert order[last - 3 : last + 1] == [WaitCopies, LoadFragments, LoadFragments, Mma]
    assert order.index(CopyAsync) < order.index(Mma)


def test_pointers_that_nobody_needs_are_not_carried() -> None:
    function, _ = machine_ir(matmul_ir(advancing))
    (loop,) = function.find(For)
    pointers = [r for r in loop.results if r.type.shape and "ptr" in r.type.text]
    assert len(pointers) == 2


def test_no_more_stages_than_there_is_room_for() -> None:
    function, record = machine_ir(matmul_ir(tile=(128, 256, 64)), warps=8, stages=5)
    assert {op.stages for op in function.find(SharedAlloc)} == {4}
    assert "4 stages" in decided(record, NAME)[0].text
    _, record = machine_ir(matmul_ir(tile=(128, 256, 128)), warps=8, arch="sm_86")
    assert decided(record, NAME)[0].text == (
        "two stages need more than the 101376 bytes of shared memory there are"
    )


@triton.jit
def loop_around(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    for start in range(tl.program_id(0) * BM, M, BM * tl.num_programs(0)):
        rm = start + tl.arange(0, BM)
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


def test_a_loop_inside_another_one() -> None:
    function, record = machine_ir(matmul_ir(loop_around))
    assert "a barrier in front" in decided(record, NAME)[0].text
    case = Product((160, 32, 96))
    assert np.array_equal(case.run(function, (160, 32, 32)), case.want)


# ---- conditions --------------------------------------------------------------------------------------


@triton.jit
def loop_writes(
    a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr, OTHER: tl.constexpr, TWICE: tl.constexpr
):
    i, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for s in range(0, K, BK):
        a = tl.load(a_ptr + i[:, None] * K + s + k[None, :], mask=(s + k < K)[None, :], other=OTHER)
        b = tl.load(b_ptr + i[None, :] * K + s + k[:, None])
        acc += tl.dot(a, b)
        if TWICE:
            acc += tl.sum(a.to(tl.float32))
        else:
            tl.store(c_ptr + i[:, None] * BM + i[None, :], acc)
    tl.store(c_ptr + i[:, None] * BM + i[None, :], acc)


@triton.jit
def one_load(
    a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr, OTHER: tl.constexpr, TWICE: tl.constexpr
):
    i, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for s in range(0, K, TWICE):
        a = tl.load(a_ptr + i[:, None] * K + s + k[None, :], mask=(s + k < K)[None, :], other=OTHER)
        b = tl.load(b_ptr + i[None, :] * K + s + k[:, None])
        acc += tl.dot(a, b)
    tl.store(c_ptr + i[:, None] * BM + i[None, :], acc)


@triton.jit
def looked_up(
    a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr, OTHER: tl.constexpr, TWICE: tl.constexpr
):
    i, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for s in range(0, K, BK):
        page = tl.load(c_ptr + s).to(tl.int32) * BK
        a = tl.load(a_ptr + i[:, None] * K + page + k[None, :])
        b = tl.load(b_ptr + i[None, :] * K + s + k[:, None])
        acc += tl.dot(a, b)
    tl.store(c_ptr + i[:, None] * BM + i[None, :], acc)


@triton.jit
def nothing_loaded(
    a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr, OTHER: tl.constexpr, TWICE: tl.constexpr
):
    i, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + i[None, :] * K + k[:, None])
    for s in range(0, K, BK):
        acc += tl.dot(a * s.to(tl.bfloat16), b)
    tl.store(c_ptr + i[:, None] * BM + i[None, :], acc)


def loop_ir(kernel, kind="bf16", other=0.0, twice: object = 32, aligned: int = 16) -> Function:
    facts = {(i,): [("tt.divisibility", aligned)] for i in range(4)}
    types = {"a_ptr": f"*{kind}", "b_ptr": f"*{kind}"}
    return tile_ir(kernel, types, facts, BM=32, BK=32, OTHER=other, TWICE=twice)


@pytest.mark.parametrize(
    ("function", "stages", "rule"),
    [
        (lambda: matmul_ir(dtype="fp32", precision="ieee"), 3, "no dot on tensor cores is directly in the loop"),
        (lambda: loop_ir(one_load), 1, "one stage is asked for"),
        (lambda: loop_ir(loop_writes, twice=False), 3, "the loop writes memory or waits"),
        (lambda: loop_ir(loop_writes, twice=True), 3, "the tile has other users than the dot"),
        (lambda: loop_ir(one_load, other=1.0), 3, "masked elements are not zero"),
        (lambda: loop_ir(one_load, aligned=2), 3, "rows are not known to be aligned to 4 bytes or more"),
        (lambda: loop_ir(looked_up), 3, "an address is computed from more than arithmetic and the counter"),
        (lambda: loop_ir(nothing_loaded), 3, "no operand of a dot is loaded in the loop"),
    ],
    ids=["fp64", "one stage", "writes", "two users", "other", "aligned", "looked up", "nothing loaded"],
)  # fmt: skip
def test_every_condition_by_itself(function, stages, rule) -> None:
    _, record = machine_ir(function(), stages=stages)
    (found,) = decided(record, NAME)
    assert not found.applied
    assert found.text == rule
    assert found.loc is not None


def test_settings_turn_it_off() -> None:
    with config.override(forbid=NAME):
        function, record = machine_ir(matmul_ir())
    assert not decided(record, NAME) and not function.find(CopyAsync)
    assert function.find(Mma) and decided(record, "prefetch_tiles")[0].applied
    case = Product((48, 80, 96))
    assert np.array_equal(case.run(function, TILE), case.want)


# ---- sizes that are known only at run time -----------------------------------------------------------


@pytest.mark.parametrize("orders", ["nn", "nt", "tn"])
@pytest.mark.parametrize("sizes", [(40, 24, 56), (41, 23, 57), (40, 24, 60)])
def test_rows_whose_alignment_is_asked_at_run_time(orders, sizes) -> None:
    function, record = machine_ir(matmul_ir(orders=orders, divisible=1))
    (found,) = decided(record, NAME)
    assert found.applied and "where multiples of 8 are: " in found.text
    assert len(function.find(If)) == 1 and len(function.find(For)) == 2
    case = Product(sizes, orders=orders)
    assert np.array_equal(case.run(function, TILE), case.want)


def test_only_what_decides_is_asked() -> None:
    _, record = machine_ir(matmul_ir(orders="nt", divisible=1))
    assert decided(record, NAME)[0].text.endswith("where multiples of 8 are: K, sam, sbn")
    rejected = [d.text for d in decided(record, "prefetch_tiles") if not d.applied]
    assert rejected == ["the loop is the version for sizes that rule out asynchronous copies"]


# ---- broken twins --------------------------------------------------------------------------------------


def broken(change) -> str:
    """The code of the error that the interpreter gives for machine IR after `change`."""
    function, _ = machine_ir(matmul_ir(tile=(32, 32, 32)))
    change(function)
    with pytest.raises(InterpreterError) as caught:
        Product((64, 32, 192)).run(function, TILE)
    return caught.value.code


def in_loop(function: Function, kind) -> list:
    (loop,) = function.find(For)
    return [op for op in loop.body.ops if isinstance(op, kind)]


def test_a_missing_wait_shows() -> None:
    assert broken(lambda f: in_loop(f, WaitCopies)[0].erase()) == "TRI0822"


def test_a_wait_for_too_few_groups_shows() -> None:
    assert broken(lambda f: in_loop(f, WaitCopies)[0].attrs.update(pending=2)) == "TRI0822"


def test_a_missing_commit_shows() -> None:
    assert broken(lambda f: in_loop(f, CommitCopies)[0].erase()) == "TRI0822"


def test_a_missing_barrier_shows() -> None:
    assert broken(lambda f: in_loop(f, Barrier)[0].erase()) == "TRI0820"


def test_the_wrong_stage_to_write_shows() -> None:
    def change(function: Function) -> None:
        (loop,) = function.find(For)
        start = loop.inits[[a.name for a in loop.body.args].index("write") - 1].defining_op
        assert isinstance(start, Constant) and start.value == 2
        start.attrs["value"] = 1

    assert broken(change) in ("TRI0820", "TRI0822")


def test_the_wrong_stage_to_read_shows() -> None:
    def change(function: Function) -> None:
        (loop,) = function.find(For)
        start = loop.inits[[a.name for a in loop.body.args].index("read") - 1].defining_op
        assert isinstance(start, Constant) and start.value == 0
        start.attrs["value"] = 1

    assert broken(change) in ("TRI0820", "TRI0821", "TRI0822")


# ---- attention ---------------------------------------------------------------------------------------


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, S, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows, dims = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    peak = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, S, BN):
        cols = start + tl.arange(0, BN)
        at = cols[:, None] * D + dims[None, :]
        scores = tl.dot(q, tl.trans(tl.load(k_ptr + at)))
        higher = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(peak - higher)
        total = total * shrink + tl.sum(weights, 1)
        acc = acc * shrink[:, None] + tl.dot(weights.to(tl.float16), tl.load(v_ptr + at))
        peak = higher
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], acc / total[:, None])


def test_both_dots_of_attention() -> None:
    """K (transposed) and V run ahead, Q goes to shared memory once, and the weights never leave their registers."""
    types = {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "o_ptr": "*fp32"}
    facts = {(i,): [("tt.divisibility", 16)] for i in range(5)}
    function, record = machine_ir(tile_ir(attention, types, facts, BM=64, BN=32, D=32))
    (found,) = decided(record, NAME)
    assert found.applied and "2 loads 2 iterations ahead" in found.text
    assert sorted(op.stages for op in function.find(SharedAlloc)) == [1, 3, 3]
    (loop,) = function.find(For)
    assert not any(isinstance(op, (SharedStore, ConvertLayout)) for op in loop.walk())
    assert sum(isinstance(op, Barrier) for op in loop.body.ops) == 1
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((128, 32)).astype(np.float16) for _ in range(3))
    out = np.full((128, 32), np.nan, np.float32)
    run_grid(function, (2, 1, 1), [*map(view_of, (q, k, v, out)), 128])
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp2(scores - scores.max(1, keepdims=True))
    want = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(out, want, atol=4e-3)
