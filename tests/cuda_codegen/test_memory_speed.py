"""What the speed of kernels bound by memory rests on, in the generated text; and that such kernels compute what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from bench import memory_kernels as kernels
from tests.checklines import check
from tests.cuda_codegen.host_emulation import needs_compiler, on_host
from tests.cuda_codegen.seed_kernels import cuda, tile_ir
from tests.cuda_codegen.test_corpus import on_machine_ir
from tritium.backends.cuda import nvrtc
from tritium.backends.cuda.selection import batcher, bitonic_merge

HOW = pytest.mark.parametrize("how", [on_machine_ir, pytest.param(on_host, marks=needs_compiler)])


def text_of(kernel: Any, types: dict[str, str], warps: int = 4, **constants: Any) -> str:
    """CUDA of a kernel whose pointers and integers are multiples of 16."""
    names = [p.name for p in kernel.source.parameters]
    facts = {
        (names.index(n),): [("tt.divisibility", 16)] for n, t in types.items() if t[0] == "*" or t == "i32"
    }
    return cuda(tile_ir(kernel, types, facts, **constants), num_warps=warps).text


ROWS = {"x": "*bf16", "out": "*bf16", "stride": "i32", "n": "i32"}


def test_narrow_rows_move_in_words_behind_predicates() -> None:
    text = text_of(kernels.softmax, ROWS, BLOCK=2048)
    check(
        text,
        """
        CHECK: void __launch_bounds__(128) softmax
        CHECK: = tile_i + (i / 8 * 8) % 8 +
        CHECK-SAME: < n;
        CHECK: words<4> t = load_if(
        CHECK: = part_of<bf16>(t.v[0], 0);
        CHECK: = part_of<bf16>(t.v[3], 1);
        CHECK: fast_exp(
        CHECK: store_if(
        CHECK-SAME: words<4>{{.*}}word_of<bf16>(
        """,
    )
    assert "if (" not in text[text.index("extern") :].replace("if (threadIdx.x % 32 == 0)", "")


def test_a_reduction_takes_one_barrier_and_two_in_a_loop() -> None:
    @triton.jit
    def in_loop(x, out, n, BLOCK: tl.constexpr):
        total = 0.0
        for i in range(n):
            total += tl.sum(tl.load(x + i * BLOCK + tl.arange(0, BLOCK)), 0)
        tl.store(out, total)

    assert (
        text_of(kernels.rmsnorm, ROWS | {"weight": "*bf16", "eps": "fp32"}, BLOCK=1024).count("__syncthreads")
        == 1
    )
    types = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    assert text_of(in_loop, types, BLOCK=1024).count("__syncthreads") == 2


@pytest.mark.parametrize(("apart", "barriers"), [(64, 0), (128, 1), (63, 1), (-64, 0), (512, 0)])
def test_stores_that_cannot_meet_need_no_order(apart: int, barriers: int) -> None:
    @triton.jit
    def halves(x, out, stride, HALF: tl.constexpr, APART: tl.constexpr):
        at = tl.program_id(0) * stride + tl.arange(0, 4)[:, None] * (2 * HALF) + tl.arange(0, HALF)[None, :]
        v = tl.load(x + at)
        tl.store(out + at, v)
        tl.store(out + at + APART, v + 1)

    text = text_of(halves, {"x": "*fp32", "out": "*fp32", "stride": "i32"}, HALF=64, APART=apart)
    assert text.count("__syncthreads") == barriers


def test_parts_of_many_warps_are_left_to_lanes() -> None:
    """32 parts would take 32 registers of every thread; and rows that fit let two blocks share a multiprocessor."""
    check(
        text_of(kernels.softmax, ROWS, warps=32, BLOCK=16384),
        """
        CHECK: void __launch_bounds__(1024, 2) softmax
        CHECK: __syncthreads();
        CHECK-NEXT: float [[part:\\w+]] = exchange_parts[
        CHECK: from_lane({{\\w+}}, 16)
        """,
    )


def test_a_store_across_the_lines_of_memory_goes_through_shared_memory() -> None:
    types = {"x": "*fp32", "out": "*fp32", "rows": "i32", "cols": "i32"}
    text = text_of(kernels.transpose, types, BLOCK_M=64, BLOCK_N=64)
    check(
        text,
        """
        CHECK: float exchange_tile[4160];
        CHECK: load_if(
        CHECK-SAME: words<4>
        CHECK: exchange_tile[{{.*}} * 65 +
        CHECK: __syncthreads();
        CHECK: store_if(
        CHECK-SAME: words<4>
        """,
    )
    assert text.count("__syncthreads") == 1


def test_scans_stay_in_the_layout_of_their_operand() -> None:
    text = text_of(kernels.cumsum, ROWS | {"x": "*fp32"}, warps=8, BLOCK=4096)
    check(
        text,
        """
        CHECK: float totals[32];
        CHECK: load_if(
        CHECK: from_lane_before({{\\w+}}, 16)
        CHECK: if (threadIdx.x % 32 == 31) totals[
        CHECK: __syncthreads();
        CHECK: == chunk)
        """,
    )
    assert "exchange" not in text


def test_the_first_few_are_selected_many_are_sorted_short_lines_are_ranked() -> None:
    text = text_of(kernels.topk, ROWS, K=8, BLOCK=2048)
    assert "in_order<true>" in text and "before +=" not in text
    text = text_of(kernels.topk, ROWS, K=64, BLOCK=128)
    assert "step /= 2" in text and "before +=" not in text
    assert "before +=" in text_of(kernels.topk, ROWS, K=32, BLOCK=32)


def test_quotients() -> None:
    """`/` is what NVRTC's options make of it; a quotient that must be rounded right says so."""

    @triton.jit
    def divides(x, out, n):
        i = tl.arange(0, 128)
        v = tl.load(x + i)
        tl.store(out + i, tl.where(v > 0, v / n, 0.0) + tl.div_rn(v, 3.0))
        tl.store(out + 128, (tl.program_id(0).to(tl.int64) % n).to(tl.float32))

    text = text_of(divides, {"x": "*fp32", "out": "*fp32", "n": "i32"})
    assert "__fdiv_rn(v, 3.0f)" in text and "choose<float>(v > 0.0f, v / " in text.replace("[i]", "")
    assert "(long long)remainder((int)" in text
    assert "--prec-div=false" in nvrtc.Options().flags("sm_90a")


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_networks_sort(count: int) -> None:
    """By the principle of zeros and ones: who sorts all of those sorts everything."""
    for bits in range(1 << count):
        line = [bits >> i & 1 for i in range(count)]
        for i, j in batcher(count):
            line[i], line[j] = min(line[i], line[j]), max(line[i], line[j])
        assert line == sorted(line)
    for rise in range(count + 1):
        for fall in range(rise, count + 1):
            line = [int(rise <= i < fall) for i in range(count)]
            for i, j in bitonic_merge(count):
                line[i], line[j] = min(line[i], line[j]), max(line[i], line[j])
            assert line == sorted(line)


@triton.jit
def first_of_lines(x, out, LINES: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    rows, cols = tl.arange(0, LINES)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + rows * N + cols)
    tl.store(out + rows * K + tl.arange(0, K)[None, :], tl.topk(v, K, descending=DOWN))


@HOW
@pytest.mark.parametrize(
    ("lines", "n", "k", "warps", "dtype"),
    [
        (1, 256, 8, 4, np.float32),
        (1, 1000, 5, 8, np.float32),
        (1, 96, 1, 2, np.int64),
        (1, 512, 3, 4, np.float64),
        (4, 64, 4, 1, np.int32),
        (8, 128, 16, 4, np.uint32),
        (1, 128, 32, 1, np.float16),
        (1, 300, 200, 4, np.float32),
        (3, 40, 40, 2, np.float16),
        (2, 64, 40, 4, np.int8),
        (1, 256, 256, 8, np.uint64),
    ],
)
@pytest.mark.parametrize("down", [True, False])
def test_the_first_few(how: Any, lines: int, n: int, k: int, warps: int, dtype: Any, down: bool) -> None:
    generator = np.random.default_rng(n + k)
    if np.dtype(dtype).kind == "f":
        x = generator.standard_normal((lines, n)).astype(dtype)
        x[:, 3:9] = [np.nan, -np.inf, np.inf, 0.0, -0.0, np.nan]
    else:
        info = np.iinfo(dtype)
        x = generator.integers(info.min, info.max, (lines, n), dtype, endpoint=True)
        x[:, :2] = info.min, info.max
    narrow = {np.float16: np.float32, np.int8: np.int32} if k < n else {}
    out = np.zeros((lines, k), narrow.get(dtype, dtype))
    with how(num_warps=warps):
        first_of_lines[(1,)](x, out, LINES=lines, N=n, K=k, DOWN=down)
    ordered = np.sort(x.astype(out.dtype), axis=-1)
    np.testing.assert_array_equal(out, (ordered[:, ::-1] if down else ordered)[:, :k])


@HOW
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.float64])
@pytest.mark.parametrize(("rows", "cols"), [(70, 130), (128, 64)])
def test_transposes(how: Any, dtype: Any, rows: int, cols: int) -> None:
    x = np.random.default_rng(0).integers(-100, 100, (rows, cols)).astype(dtype)
    out = np.zeros((cols, rows), dtype)
    with how(num_warps=4):
        kernels.transpose[(-(-rows // 64), -(-cols // 64))](x, out, rows, cols, BLOCK_M=64, BLOCK_N=64)
    np.testing.assert_array_equal(out, x.T)


@triton.jit
def last_marked(a, am, b, bm):
    """Whether a mark was seen, and the element at the last one: order matters."""
    return tl.where(bm > 0, b, a), tl.maximum(am, bm)


@triton.jit
def carried(x, marks, out, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    v, _ = tl.associative_scan((tl.load(x + at), tl.load(marks + at)), AXIS, last_marked, reverse=REVERSE)
    tl.store(out + at, v)


@HOW
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("rows", "cols", "axis", "warps"), [(1, 1024, 1, 4), (4, 256, 1, 2), (64, 16, 0, 4), (3, 96, 1, 2)]
)
def test_scans_in_order(how: Any, rows: int, cols: int, axis: int, warps: int, reverse: bool) -> None:
    generator = np.random.default_rng(rows)
    x = generator.integers(1, 1000, (rows, cols)).astype(np.int32)
    marks = (generator.random((rows, cols)) < 0.1).astype(np.int32)
    out = np.zeros_like(x)
    with how(num_warps=warps):
        carried[(1,)](x, marks, out, ROWS=rows, COLS=cols, AXIS=axis, REVERSE=reverse)
    along = np.moveaxis(np.stack([x, marks]), 1 + axis, -1)
    along = along[..., ::-1] if reverse else along
    want = np.empty_like(along[0])
    for line in np.ndindex(want.shape[:-1]):
        held = along[0][line][0]
        for i, (value, mark) in enumerate(zip(along[0][line], along[1][line], strict=True)):
            held = value if mark or i == 0 else held
            want[line][i] = held
    want = want[..., ::-1] if reverse else want
    np.testing.assert_array_equal(np.moveaxis(out, axis, -1), want)
