"""The seed policy's promises, B and C of the contracts, in generated CUDA. B1 to B4 and C1 to C3 are in tests/layout."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.host_emulation import needs_compiler, run
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, matmul_tile, seed_source, tile_ir, tiles
from tritium.backends.cuda.generate import lay_out, lower
from tritium.errors import OutOfResources, TritiumError
from tritium.ir.match import Record
from tritium.layout import CudaRegisterTileLayout, CudaRegisterTileRef, CudaSharedBuffer
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import layout_of, parse_layout, strided
from tritium.ops.gpu_shared import Barrier, CopyToShared, DotFma, SharedAlloc
from tritium.runtime.arrays import view_of

SHAPES = {
    (4, 8): ((4, 8), (1, 1)),
    (8, 8): ((4, 8), (2, 1)),
    (16, 16): ((4, 8), (4, 2)),
    (16, 32): ((4, 8), (4, 4)),
    (3, 17): ((1, 17), (3, 1)),
    (1, 64): ((1, 32), (1, 2)),
}


def laid(kernel, *shape, **options):
    return lay_out(tile_ir(kernel, **tiles(*shape)), {"layouts": "seed", **options}, Record())


@pytest.mark.parametrize(("shape", "expected"), SHAPES.items())
def test_b5_thread_and_register_shapes(shape, expected) -> None:
    threads, registers = expected
    (dot,) = laid(matmul_tile, *shape, 8).find(Dot)
    layout = layout_of(dot.results[0])
    assert layout == strided(shape, threads, threads[0] * threads[1])
    assert layout.register_shape == registers
    assert CudaRegisterTileLayout(shape, threads).register_shape == registers


def test_b5_dots_in_nested_regions_decide_too() -> None:
    assert laid(matmul_loop, 16, 16, 8).attrs["threads"] == 32


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2.0, mask=offs < n)


def test_b6_without_a_dot_every_thread_has_one_result() -> None:
    source = cuda(tile_ir(scale, BLOCK=96), layouts="seed")
    assert source.threads == 96
    assert "for (" not in source.text


def test_b6_more_results_than_threads_can_be_is_an_error() -> None:
    with pytest.raises(OutOfResources, match=r"2048.*1024"):
        cuda(tile_ir(scale, BLOCK=2048), layouts="seed")


def test_b7_names_of_registers() -> None:
    text = seed_source(matmul_loop, 8, 8, 8).text
    (base,) = re.findall(r"float (v\d+)_0_0 = 0\.0f;", text)
    assert f"float {base}_1_0 = 0.0f;" in text
    names = CudaRegisterTileRef(base, CudaRegisterTileLayout((8, 8), (4, 8)))
    assert {name for _, name in names.stored()} == {f"{base}_0_0", f"{base}_1_0"}
    plain = seed_source(matmul_loop, 4, 8, 8).text  # register shape (1, 1)
    assert re.search(r"float v\d+ = 0\.0f;", plain)
    assert "float acc = 0.0f;" in plain and "acc_0" not in plain


def test_b8_values_that_repeat_have_registers_along_one_axis_only() -> None:
    text = seed_source(matmul_tile, 16, 16, 8).text
    rows = CudaRegisterTileRef("rows", CudaRegisterTileLayout((16, 16), (4, 8)), broadcast_axes=(1,))
    stored = [name for _, name in rows.stored()]
    assert stored == ["rows_0_0", "rows_1_0", "rows_2_0", "rows_3_0"]
    assert all(f"int {name} = " in text for name in stored)
    assert "rows_0_1" not in text


def test_b9_expanded_aranges_are_the_raw_coordinates() -> None:
    text = seed_source(matmul_tile, 16, 16, 8).text
    assert "int tile_i = threadIdx.x / 8;" in text
    assert "int tile_j = threadIdx.x % 8;" in text
    for row in (0, 4, 8, 12):
        assert re.search(rf"int v\d+_{row // 4}_0 = tile_i{f' [+] {row}' if row else ''};", text)
    for column in (0, 8):
        assert re.search(rf"int v\d+_0_{column // 8} = tile_j{f' [+] {column}' if column else ''};", text)


def test_b10_register_wise_arithmetic() -> None:
    text = seed_source(matmul_loop, 16, 16, 8).text
    for i, j in ((0, 0), (0, 1), (3, 1)):
        assert re.search(rf"bool v\d+_{i}_{j} = v\d+_{i}_0 && v\d+_0_{j};", text), "row mask & column mask"
        assert re.search(rf"float acc_\d_{i}_{j} = acc_{i}_{j} [+] v\d+_{i}_{j};", text), "accumulator + dot"
        assert re.search(rf"float\* v\d+_{i}_{j} = v\d+_{i}_0 [+] \w+_0_{j};", text), "row pointers + columns"


def test_b10_layouts_never_mix_in_silence() -> None:
    function = laid(matmul_loop, 16, 16, 8)
    (add,) = [op for op in function.walk() if op.name == "tile.add" and op.results[0].name.startswith("acc")]
    add.attrs["layout"] = str(strided((16, 16), (2, 16), 32))
    with pytest.raises(TritiumError, match=r"tile\.add: .*16: t2@16 r8"):
        lower(function, {"layouts": "seed"}, Record())


def test_b11_one_independently_masked_store_per_element() -> None:
    text = seed_source(matmul_tile, 16, 16, 8).text
    stores = re.findall(r"if \((v\d+_\d_\d)\) \{\n    \*(v\d+_\d_\d) = acc_(\d_\d);\n", text)
    assert [s[2] for s in stores] == ["0_0", "0_1", "1_0", "1_1", "2_0", "2_1", "3_0", "3_1"]
    assert len({s[0] for s in stores}) == len({s[1] for s in stores}) == 8


def test_b12_all_sums_in_one_loop() -> None:
    text = seed_source(matmul_tile, 8, 8, 8).text
    loop = text[text.index("for (int dot_k_") :]
    assert loop[: loop.index("}")].count("+= shared_a[") == 2
    assert text.count("for (int dot_k_") == 1


def test_b13_carried_registers() -> None:
    text = seed_source(matmul_loop, 8, 8, 8).text
    head, body = text.split("for (int k = 0; k < K; k += 8) {")
    assert "float acc_0_0 = 0.0f;" in head and "float acc_1_0 = 0.0f;" in head
    for r in ("0_0", "1_0"):
        assert re.search(rf"acc_{r} = acc_1_{r};", body)
        assert f"= acc_{r};" in body[body.index("\n  }") :], "the store reads the same registers"


def matmul_on_host(kernel, shape, sizes, **options) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(sum(sizes))
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    c = np.full((m, n), np.nan, np.float32)
    source = seed_source(kernel, *shape, **options)
    grid = (-(-m // shape[0]), -(-n // shape[1]), 1)
    run(source, grid, [*map(view_of, (a, b, c)), m, n, k])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@needs_compiler
@pytest.mark.parametrize("shape", [(8, 8, 8), (16, 16, 8), (3, 17, 5), (4, 8, 16), (1, 64, 4)])
@pytest.mark.parametrize("sizes", [(16, 16, 8), (16, 16, 40), (13, 24, 33), (1, 1, 1), (37, 41, 7)])
def test_b14_results(shape, sizes) -> None:
    matmul_on_host(matmul_loop, shape, sizes)


@needs_compiler
def test_b14_one_k_tile(tmp_path) -> None:
    matmul_on_host(matmul_tile, (16, 16, 8), (30, 19, 8))


def alloc(function, label) -> SharedAlloc:
    (found,) = [op for op in function.find(SharedAlloc) if op.label == label]
    return found


@pytest.mark.parametrize(("columns", "padding"), [(16, 1), (8, 0), (32, 1), (7, 0)])
def test_c3_only_a_is_padded_and_by_the_rule(columns, padding) -> None:
    machine = lower(laid(matmul_loop, 16, 16, columns), {"layouts": "seed"}, Record())  # four rows at once
    assert alloc(machine, "shared_a").padding == padding
    assert alloc(machine, "shared_b").padding == 0


def test_c4_writer_and_reader_share_the_stride() -> None:
    text = seed_source(matmul_loop, 16, 16, 16).text
    shared = CudaSharedBuffer("shared_a", (16, 16), np.dtype("f4"), row_padding=1, stage_count=2)
    assert f"float shared_a[{shared.size}];" in text
    (k,) = set(re.findall(r"dot_k_\d+", text))
    assert shared.element("tile_i", "tile_j", "dot_stage") + " = " in text
    assert shared.element("tile_i", k, "dot_stage") in text
    assert not re.search(r"shared_a\[dot_stage \* 272 [+] (\(tile_i [+] \d+\)|tile_i) \* (?!17 )", text)


def test_c5_the_dot_loop_is_unrolled() -> None:
    assert re.search(r"#pragma unroll\n    for \(int dot_k_\d+ = 0;", seed_source(matmul_loop, 8, 8, 8).text)


def test_c6_two_stages_and_one_barrier_or_one_stage_and_two() -> None:
    staged = seed_source(matmul_loop, 8, 8, 8).text
    assert "int dot_stage = (k / 8) & 1;" in staged
    assert staged.count("__syncthreads();") == 1
    plain = seed_source(matmul_loop, 8, 8, 8, rung="unroll").text
    assert "stage" not in plain
    assert plain.count("__syncthreads();") == 2


def test_c8_arrays_at_kernel_scope_and_one_stage_expression() -> None:
    machine = lower(laid(matmul_loop, 8, 8, 8), {"layouts": "seed"}, Record())
    assert all(op.parent is machine.body for op in machine.find(SharedAlloc))
    (dot,) = machine.find(DotFma)
    copies = machine.find(CopyToShared)
    assert {op.stage for op in (dot, *copies)} == {dot.stage}
    assert dot.stage.defining_op.parent is dot.parent


@pytest.mark.parametrize(("tile", "fits"), [((64, 64, 47), True), ((64, 64, 48), False)])
def test_c9_the_budget_comes_first(tile, fits) -> None:
    function = laid(matmul_loop, *tile)
    before = len(function.find(SharedAlloc))
    if fits:  # 2 * (64 * 47 + 47 * 64) * 4 = 48,128 bytes; with a K of 48 rows are padded: 49,664
        lower(function, {"layouts": "seed"}, Record())
        return
    with pytest.raises(OutOfResources, match=r"49664.*49152"):
        lower(function, {"layouts": "seed"}, Record())
    assert len(function.find(SharedAlloc)) == before, "nothing is made of a kernel that does not fit"


def test_c10_loads_of_a_dot_are_cooperative_copies_with_zero_fill() -> None:
    machine = lower(laid(matmul_loop, 16, 16, 8), {"layouts": "seed"}, Record())
    copies = machine.find(CopyToShared)
    assert [c.buffer.defining_op.label for c in copies] == ["shared_a", "shared_b"]
    for copy in copies:
        table = parse_layout(copy.across).table().reshape(-1, 2)
        assert len({tuple(c) for c in table}) == len(table) == copy.ptr.type.numel, (
            "each element once, by one thread"
        )
    text = seed_source(matmul_loop, 16, 16, 8).text
    assert len(re.findall(r"shared_[ab]\[.*\] = v\d+_\d_\d [?] \*v\d+_\d_\d : 0\.0f;", text)) == 8


def test_c10_barrier_before_and_after_the_dot() -> None:
    machine = lower(laid(matmul_tile, 8, 8, 8), {"layouts": "seed"}, Record())
    names = [type(op) for op in machine.body.ops]
    at = names.index(DotFma)
    assert names[at - 1] is Barrier and names[at + 1] is Barrier


@needs_compiler
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_c13_half_precision_inputs_accumulate_in_fp32(dtype) -> None:
    import ml_dtypes

    kind = np.float16 if dtype == "fp16" else ml_dtypes.bfloat16
    m, n, k = 24, 17, 96
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((m, k)).astype(kind), rng.standard_normal((k, n)).astype(kind)
    c = np.full((m, n), np.nan, np.float32)
    types = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}"}
    source = cuda(tile_ir(matmul_loop, types, **tiles(8, 8, 8)), layouts="seed")
    assert f"__shared__ __align__(16) {'f16' if dtype == 'fp16' else 'bf16'} shared_a" in source.text
    run(source, (3, 3, 1), [*map(view_of, (a, b, c)), m, n, k])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4)
