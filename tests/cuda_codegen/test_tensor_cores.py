"""Kernels for tensor cores as CUDA C++: run on the host lane by lane, and through NVRTC for every architecture."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cuda_codegen.host_emulation import needs_compiler, run
from tests.cuda_runtime.conftest import nvrtc_is_installed
from tests.specialize.mma_kernels import Product, advancing, by_index, matmul_ir
from tritium.backends.cuda import assemble
from tritium.backends.cuda.generate import generate

needs_nvrtc = pytest.mark.skipif(
    not nvrtc_is_installed(), reason="NVRTC is not installed: pip install 'tritium[cuda]'"
)


@needs_compiler
@pytest.mark.parametrize("orders", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", ["bf16", "fp32", "int8", "fp8e4nv", "fp8e5"])
def test_products_on_the_host(dtype, orders) -> None:
    tile = (32, 48, 32)
    source = generate(matmul_ir(tile=tile, dtype=dtype, orders=orders), {"num_warps": 2}, "sm_90a")
    case = Product((48, 80, 96), dtype, orders)
    c = case.empty()
    run(source, (2, 2, 1), case.leaves(matmul_ir(tile=tile, dtype=dtype, orders=orders), c))
    assert np.array_equal(c, case.want)


@needs_compiler
@pytest.mark.parametrize("kernel", [by_index, advancing], ids=["by index", "advancing"])
@pytest.mark.parametrize(("tile", "sizes"), [((64, 64, 64), (64, 64, 192)), ((24, 40, 16), (40, 48, 32)),
                                             ((32, 32, 32), (32, 32, 0))])  # fmt: skip
def test_loops_on_the_host(kernel, tile, sizes) -> None:
    function = matmul_ir(kernel, tile=tile)
    case = Product(sizes)
    c = case.empty()
    run(generate(function, {"num_warps": 4}, "sm_80"), (2, 2, 1), case.leaves(function, c))
    assert np.array_equal(c, case.want)


@needs_compiler
@pytest.mark.parametrize("sizes", [(40, 24, 56), (41, 23, 57)])
def test_versions_of_a_loop_on_the_host(sizes) -> None:
    function = matmul_ir(orders="nt", divisible=1)
    case = Product(sizes, orders="nt")
    c = case.empty()
    run(generate(function, {"num_warps": 2}, "sm_90a"), (2, 1, 1), case.leaves(function, c))
    assert np.array_equal(c, case.want)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90a", "sm_100"])
@pytest.mark.parametrize("dtype", ["bf16", "fp32", "int8", "fp8e4nv"])
def test_it_compiles(arch, dtype) -> None:
    source = generate(matmul_ir(tile=(64, 64, 64), dtype=dtype, orders="nt"), {"num_warps": 4}, arch)
    binary = assemble.assemble(source, {"arch": arch})
    assert binary.resources.spill_loads == binary.resources.spill_stores == 0


@needs_nvrtc
@pytest.mark.parametrize("kernel", [by_index, advancing], ids=["by index", "advancing"])
@pytest.mark.parametrize("orders", ["nn", "nt"])
@pytest.mark.parametrize(
    ("tile", "warps"), [((128, 128, 64), 4), ((128, 128, 64), 8), ((128, 128, 32), 4), ((128, 256, 64), 8)]
)
def test_large_tiles_have_no_spills(kernel, orders, tile, warps) -> None:
    source = generate(matmul_ir(kernel, tile=tile, orders=orders), {"num_warps": warps}, "sm_90a")
    binary = assemble.assemble(source, {"arch": "sm_90a"})
    resources = binary.resources
    assert resources.spill_loads == resources.spill_stores == resources.stack == 0
