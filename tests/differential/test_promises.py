"""What the project promises from its start, one test per promise and named by it.

A: tiled matrix products without a GPU, with their exact results. D: the pipeline itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.corpus.matmul import (
    SENTINEL,
    WRONG_WITHOUT_K_MASK,
    dot_one_tile,
    matmul,
    matmul_accumulator_reset,
    matmul_fp16_accumulator,
    matmul_without_k_mask,
)
from tests.corpus.protocol import all_cases, run_case
from tests.corpus.reductions import running_sum
from tritium import pipeline
from tritium.errors import CompilationError, TritiumError
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.ops.arithmetic import Mul
from tritium.ops.control import For, If, Yield
from tritium.ops.memory import Load, Store
from tritium.pipeline import Pass

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def on_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "interpret")


def ramp(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) * np.float32(0.1)


def product(kernel: Any, a: Array, b: Array, block: tuple[int, int, int], out: Any = np.float32) -> Array:
    (m, k), n = a.shape, b.shape[1]
    c = np.full((m, n), np.nan, out)
    strides = [s // x.itemsize for x in (a, b, c) for s in x.strides]
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
    kernel[grid](a, b, c, m, n, k, *strides, BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2])
    return c


def exact(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


# ---- A: matrix products ------------------------------------------------------------------------------


def test_a1_a_tiled_product_with_two_steps_along_k() -> None:
    a, b = ramp(8, 8), ramp(8, 8)
    c = product(matmul, a, b, (4, 4, 4))
    assert np.abs(c - a @ b).max() <= 1.52587890625e-05
    assert np.abs(c - exact(a, b)).max() < 2e-5


def test_a2_no_extent_divides_and_all_three_masks_work() -> None:
    a, b = ramp(5, 7), ramp(7, 6)
    c = product(matmul, a, b, (4, 4, 4))
    assert np.abs(c - a @ b).max() <= 3.814697265625e-06


def padded_operands() -> tuple[Array, Array]:
    """Views of 5 columns and rows in storages of 8, the rest of which is full of the sentinel."""
    a, b = np.full((4, 8), SENTINEL, np.float32), np.full((8, 4), SENTINEL, np.float32)
    a[:, :5], b[:5] = ramp(4, 5), ramp(5, 4)
    return a[:, :5], b[:5]


def test_a3_without_the_k_mask_the_padding_is_summed_as_well() -> None:
    a, b = padded_operands()
    wrong = product(matmul_without_k_mask, a, b, (4, 4, 4))
    assert wrong.tobytes() == WRONG_WITHOUT_K_MASK.astype(np.float32).tobytes()


def test_a3_with_the_k_mask_the_padding_does_not_matter() -> None:
    a, b = padded_operands()
    c = product(matmul, a, b, (4, 4, 4))
    assert np.allclose(c, a @ b, atol=1e-4)
    assert c[0, 0] == pytest.approx(1.2) and c[3, 3] == pytest.approx(9.75 + 0.0, abs=0.5)


def half_precision_operands(k: int) -> tuple[Array, Array]:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    a = (torch.randn(4, k) * 0.1).to(torch.float16)
    b = (torch.randn(k, 4) * 0.1).to(torch.float16)
    return a.numpy(), b.numpy()


def test_a4_the_accumulator_decides_how_many_digits_are_right() -> None:
    a, b = half_precision_operands(1024)
    wide = np.abs(product(matmul, a, b, (4, 4, 8), np.float16) - exact(a, b)).max()
    narrow = np.abs(product(matmul_fp16_accumulator, a, b, (4, 4, 8), np.float16) - exact(a, b)).max()
    assert wide == 9.737179152580211e-05
    assert narrow == 0.001974425897060428
    assert round(narrow / wide, 1) == 20.3


def test_a4_the_error_grows_with_k_in_fp16_only() -> None:
    narrow, wide = [], []
    for k in (64, 4096):
        a, b = half_precision_operands(k)
        size = np.abs(exact(a, b)).max()
        narrow.append(
            np.abs(product(matmul_fp16_accumulator, a, b, (4, 4, 8), np.float16) - exact(a, b)).max() / size
        )
        wide.append(np.abs(product(matmul, a, b, (4, 4, 8)) - exact(a, b)).max() / size)
    assert narrow[1] > 2 * narrow[0]
    assert wide[1] < 1e-6


def test_a5_the_three_lessons_in_one_run() -> None:
    a, b = ramp(8, 8), ramp(8, 8)
    assert np.allclose(product(matmul, a, b, (4, 4, 4)), a @ b, atol=1e-3)
    x, y = padded_operands()
    assert np.allclose(product(matmul, x, y, (4, 4, 4)), x @ y, atol=1e-4)
    assert not np.allclose(product(matmul_without_k_mask, x, y, (4, 4, 4)), x @ y, atol=1e-4)
    p, q = half_precision_operands(1024)
    error = np.abs(product(matmul_fp16_accumulator, p, q, (4, 4, 8), np.float16) - exact(p, q)).max()
    assert error == 0.001974425897060428


def test_a5b_an_accumulator_made_in_the_loop_keeps_the_last_tile_only() -> None:
    a, b = ramp(4, 12), ramp(12, 4)
    c = product(matmul_accumulator_reset, a, b, (4, 4, 4))
    assert np.allclose(c, a[:, 8:] @ b[8:], rtol=1e-6) and not np.allclose(c, a @ b, rtol=1e-3)


def test_a6_the_smallest_dot() -> None:
    a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    c = np.zeros((2, 2), np.float32)
    dot_one_tile[(1,)](a, b, c, M=2, N=2, K=2)
    assert c.tolist() == [[19.0, 22.0], [43.0, 50.0]]


def test_a6_a_running_sum_in_fp16_and_in_fp32() -> None:
    x = np.full(2048, 1e-4, np.float16)
    halves, singles = np.zeros(1, np.float16), np.zeros(1, np.float32)
    running_sum[(1,)](x, halves, 2048, ACC=tl.float16)
    running_sum[(1,)](x, singles, 2048, ACC=tl.float32)
    assert float(halves[0]) == 0.2337646484375
    assert float(halves[0]) / 0.2048 - 1 == pytest.approx(0.141, abs=1e-3)
    assert float(singles[0]) / 0.2048 - 1 == pytest.approx(0.0002, abs=1e-4)


A6_FAMILIES = {
    "ragged batches": ("reductions/ragged_row_mean",),
    "elementwise over a grid": ("elementwise/vector_add", "elementwise/saxpy"),
    "sums and maxima": ("reductions/row_sum_long", "reductions/sum_max_min", "reductions/row_max_with_index"),
    "softmax written out": ("softmax/softmax_one_block", "softmax/softmax_online"),
}
D8_EXAMPLES = {
    "row softmax": "softmax/softmax_one_block",
    "long row sum": "reductions/row_sum_long",
    "matrix add": "matrix_add/matrix_add",
    "relu": "activations/relu",
    "leaky relu": "activations/leaky_relu",
    "sigmoid": "activations/sigmoid",
    "naive matmul": "matmul/matmul_naive",
    "tiled matmul": "matmul/matmul",
}


def run_family(prefix: str) -> None:
    cases = [c for c in all_cases() if c.name.startswith(prefix + "/") and "large" not in c.tags]
    assert cases, prefix
    for case in cases:
        run_case(case, seed=13)


@pytest.mark.parametrize("families", A6_FAMILIES.values(), ids=A6_FAMILIES)
def test_a6_the_kernels_before_matmul(families: tuple[str, ...]) -> None:
    for prefix in families:
        run_family(prefix)


# ---- D: the pipeline ---------------------------------------------------------------------------------


def compiled(kernel: Any, *args: Any, **constants: Any) -> Any:
    return kernel.warmup(*args, grid=(1,), **constants).compilation


def stage(kernel: Any, name: str, *args: Any, **constants: Any) -> Function:
    return compiled(kernel, *args, **constants).artefacts[name]


X = np.zeros(64, np.float32)
CALLS: list[int] = []


@triton.jit
def with_a_python_effect(x, n):
    CALLS.append(n)


def test_d1_a_kernel_is_never_run_as_python() -> None:
    with pytest.raises(CompilationError) as caught:
        compiled(with_a_python_effect, X, 3)
    assert not CALLS
    assert caught.value.loc is not None and caught.value.loc.file == __file__
    assert "^" in str(caught.value)


@triton.jit
def nested_loops(x, n, m):
    scale = tl.load(x)
    total = 0.0
    best = scale
    for i in range(n):
        row = total
        for j in range(i, m):
            row += tl.load(x + i * m + j) * scale
        best = tl.maximum(best, row)
        total = row
    tl.store(x, total)
    tl.store(x + 1, best)


def test_d2_loops_carry_values_yield_them_and_use_outer_ones() -> None:
    function = stage(nested_loops, "tir", X, 3, 4)
    outer, inner = function.find(For)
    assert len(outer.results) == 2 and len(inner.results) == 1 and inner.is_inside(outer.body)
    assert outer.body.args[0].name == "i" and {v.name for v in outer.body.args[1:]} == {"total", "best"}
    end = outer.body.ops[-1]
    assert isinstance(end, Yield) and [v.type for v in end.values] == [v.type for v in outer.results]
    scale = function.find(Load)[0].result
    assert any(op.is_inside(inner.body) for op, _ in scale.uses)


@pytest.mark.parametrize("level", ["cheap", "total"])
def test_d3_a_pass_that_breaks_the_ir_is_named(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(function: Function, record: Record) -> None:
        for store in function.find(Store):
            store.set_operand(1, function.args[1])

    monkeypatch.setenv("TRITIUM_VERIFY", level)
    monkeypatch.setattr(
        pipeline, "TILE_PASSES", (*pipeline.TILE_PASSES, Pass("spoil", breaks, "to be caught"))
    )
    with pytest.raises(TritiumError, match="after spoil the IR is not valid") as caught:
        pipeline.run_passes(stage(nested_loops, "tir", X, 3, 4).clone())
    assert caught.value.code == "TRI0904"


def test_d3_the_verifier_runs_after_every_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    after: list[str] = []
    function = stage(nested_loops, "tir", X, 3, 4).clone()  # compiled before anything listens
    monkeypatch.setattr(
        pipeline, "verify", lambda function, level, after_=after, **kw: after_.append(kw["after"])
    )
    pipeline.run_passes(function)
    assert after == [step.name for step in pipeline.TILE_PASSES]


@triton.jit
def wasteful(x, n, K: tl.constexpr):
    acc = 0
    waste = 1
    for i in range(n):
        a = K * 2 + 1
        b = n * n
        c = n * n
        waste = waste * c
        if b == c:
            acc += a * b + i * 0
        else:
            acc += waste
    tl.store(x, acc)


def test_d4_kernels_with_loops_are_optimised_like_others() -> None:
    before, after = stage(wasteful, "tir", X, 5, K=3), stage(wasteful, "opt.tir", X, 5, K=3)
    (loop,) = after.find(For)
    assert len(before.find(Mul)) >= 5
    assert [op for op in after.find(Mul) if op.is_inside(loop.body)] == []
    assert before.find(If) and not after.find(If)
    assert len(loop.results) == 1 and [op.name for op in loop.body.ops] == ["tile.add", "tile.yield"]


@triton.jit
def constant_range(x):
    for i in range(4):
        tl.store(x + i, 1.0)


@triton.jit
def static_range(x):
    for i in tl.static_range(4):
        tl.store(x + i, 1.0)


def test_d5_range_is_a_loop_at_run_time_also_with_constant_bounds() -> None:
    for name in ("tir", "opt.tir"):
        function = stage(constant_range, name, X)
        assert len(function.find(For)) == 1 and len(function.find(Store)) == 1


def test_d5_static_range_is_always_unrolled() -> None:
    function = stage(static_range, "tir", X)
    assert not function.find(For) and len(function.find(Store)) == 4


@triton.jit
def vocabulary(x_ptr, out_ptr, N: tl.constexpr):
    r = tl.arange(0, N)
    x = tl.load(x_ptr + r[:, None] * N + r[None, :], mask=(r[:, None] < N) & (r[None, :] < N - 1), other=0.0)
    y = tl.where(x > 0.5, tl.exp(x), tl.minimum(x, 0.25)) + tl.zeros((N, N), tl.float32)
    z = tl.maximum(y, tl.full((N, N), 0.125, tl.float32))
    y = tl.where(r[:, None] < N, y, tl.empty((N, N), tl.float32))
    tl.store(out_ptr + r, tl.sum(z, axis=1))
    tl.store(out_ptr + N + r, tl.max(z, axis=0))
    tl.store(out_ptr + 2 * N + r, tl.min(z, axis=0))


def test_d6_the_vocabulary_of_creation_reduction_and_choice() -> None:
    rng = np.random.default_rng(6)
    x = rng.random((8, 8), np.float32)
    out = np.zeros(24, np.float32)
    vocabulary[(1,)](x, out, N=8)
    seen = np.where(np.arange(8)[None, :] < 7, x, 0)
    z = np.maximum(np.where(seen > 0.5, np.exp(seen), np.minimum(seen, np.float32(0.25))), np.float32(0.125))
    assert np.allclose(out, np.concatenate([z.sum(1), z.max(0), z.min(0)]), rtol=1e-6)


def test_d7_every_stage_of_a_kernel_can_be_printed() -> None:
    done = compiled(constant_range, X)
    for name in done.artefacts:
        assert "constant_range" in done.text(name)
    assert "tile.for" in done.text("opt.tir") and "order = (" in done.text("order.tir")
    kernel = constant_range.warmup(X, grid=(1,))
    assert kernel.asm["ttir"] == kernel.asm["opt.tir"] == done.text("opt.tir")


@pytest.mark.parametrize("prefix", D8_EXAMPLES.values(), ids=D8_EXAMPLES)
def test_d8_the_examples_run(prefix: str) -> None:
    run_family(prefix)
