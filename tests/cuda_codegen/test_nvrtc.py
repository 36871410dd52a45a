"""Generated CUDA through NVRTC, which needs no GPU: what matters is that it compiles, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tritium as triton
import tritium.language as tl
from tests.corpus.protocol import CorpusMismatch, run_case, select
from tests.cuda_codegen.launching import launching
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, seed_source, tile_ir, tiles
from tests.cuda_codegen.test_scaled_dots import scaled
from tests.cuda_runtime.conftest import nvrtc_is_installed
from tritium.backends.cuda import assemble, generate, nvrtc
from tritium.errors import TritiumError
from tritium.ir.match import Record

pytestmark = pytest.mark.skipif(
    not nvrtc_is_installed(), reason="NVRTC is not installed: pip install 'tritium[cuda]'"
)

ARCHES = ("sm_80", "sm_90a", "sm_100")
ALIGNED = {(i,): [("tt.divisibility", 16)] for i in range(6)}


@pytest.mark.parametrize("arch", ARCHES)
def test_the_seed_kernels_compile(arch: str) -> None:
    for shape in ((8, 8, 8), (16, 16, 16), (3, 17, 5)):
        source = seed_source(matmul_loop, *shape)
        binary = assemble.assemble(source, {"arch": arch})
        assert binary.resources.spill_loads == binary.resources.spill_stores == 0


@pytest.mark.parametrize("tile", [(64, 64, 16), (128, 128, 8), (128, 128, 16)])
def test_the_fast_matmul_has_no_spills(tile: tuple[int, int, int]) -> None:
    """A 128 x 128 tile on 8 warps holds 64 sums in each thread; two blocks fit if it takes at most 128 registers."""
    warps = 8 if tile[0] == 128 else 4
    source = cuda(tile_ir(matmul_loop, facts=ALIGNED, **tiles(*tile)), num_warps=warps)
    binary = assemble.assemble(source, {"arch": "sm_90a"})
    assert binary.resources.spill_loads == binary.resources.spill_stores == 0
    assert binary.resources.registers <= 128


@pytest.mark.parametrize("limit", [32, 64, 128])
def test_a_limit_of_registers_holds_and_what_it_costs_is_reported(limit: int) -> None:
    function = tile_ir(matmul_loop, facts=ALIGNED, **tiles(128, 128, 16))
    source = cuda(function, num_warps=4, maxnreg=limit)
    binary = assemble.assemble(source, {"arch": "sm_90a", "maxnreg": limit})
    assert binary.resources.registers <= limit
    spilled = binary.resources.spill_loads + binary.resources.spill_stores
    assert spilled > 0, "a thread has 128 sums"
    record = Record()
    assemble.record_findings(binary, record)
    assert f"{spilled} bytes of registers per thread go to memory and back" in [d.text for d in record]


def collected(cases: Sequence[Any], arch: str = "sm_90a", **options: Any) -> dict[str, generate.CudaSource]:
    """The sources for `arch` of the kernels that these cases launch, by their text; nothing runs."""
    found: dict[str, generate.CudaSource] = {}

    def execute(kernel: Any, grid: Any, leaves: Any) -> None:
        source = generate.generate(
            kernel.compilation.artefacts["opt.tir"], {**kernel.options, **options}, arch
        )
        found[source.text] = source

    with launching(execute):
        for case in cases:
            try:
                run_case(case)
            except (CorpusMismatch, AssertionError):
                pass  # nothing was computed
    return found


def failures(sources: dict[str, generate.CudaSource], arch: str) -> list[str]:
    pairs = [(s.text, s.kernel_name) for s in sources.values()]
    done = nvrtc.compile_all(pairs, arch)
    return [
        f"{name}: {d.message}"
        for (_, name), d in zip(pairs, done, strict=True)
        if isinstance(d, TritiumError)
    ]


def test_a_cross_section_of_the_corpus_compiles() -> None:
    assert not failures(collected(select(without={"large"})[::29]), "sm_90a")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_dots_and_elementwise_kernels_compile(arch: str) -> None:
    """On sm_90a they are part of `test_the_corpus_compiles`."""
    cases = [c for c in select(without={"large"}) if "dot" in c.tags or "elementwise" in c.name]
    assert not failures(collected(cases, arch), arch)


@pytest.mark.slow
@pytest.mark.parametrize(("layouts", "stride"), [("default", 1), ("seed", 3)])
def test_the_corpus_compiles(layouts: str, stride: int) -> None:
    """All of it with the default layouts, a third with the seed's, whose unrolled texts take the compiler long."""
    assert not failures(collected(select(without={"large"})[::stride], layouts=layouts), "sm_90a")


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(
    ("lhs", "rhs", "types"),
    [("e2m1", "e2m1", ("u8", "u8")), ("e4m3", "fp16", ("fp8e4nv", "fp16")), ("bf16", "e5m2", ("bf16", "u8"))],
)
def test_scaled_dots_compile(lhs: str, rhs: str, types: tuple[str, str], arch: str) -> None:
    kinds = {"a_ptr": f"*{types[0]}", "b_ptr": f"*{types[1]}", "a_scale_ptr": "*u8", "b_scale_ptr": "*u8"}
    sizes = {
        "A0": 16,
        "A1": 32 if lhs == "e2m1" else 64,
        "B0": 32 if rhs == "e2m1" else 64,
        "B1": 32,
        "GROUPS": 2,
    }
    function = tile_ir(scaled, kinds, **sizes, LHS=lhs, RHS=rhs, LHS_PACK=True, RHS_PACK=True, FAST=False)
    assemble.assemble(cuda(function, arch, num_warps=8), {"arch": arch})


@triton.jit
def device_only(x_ptr, h_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x, h = tl.load(x_ptr + offs), tl.load(h_ptr + offs)
    halves = tl.inline_asm_elementwise(
        "tanh.approx.f16 $0, $1;", "=h,h", [h], dtype=tl.float16, is_pure=True, pack=1
    )
    tl.device_print("x", x)
    tl.device_print("program ", tl.program_id(0))
    tl.device_assert(x > 0, "positive")
    tl.extra.cuda.gdc_wait()
    now = tl.extra.cuda.globaltimer() + tl.extra.cuda.smid()
    tl.store(x_ptr + offs, x + now.to(tl.float32))
    tl.store(h_ptr + offs, halves)


@pytest.mark.parametrize("arch", ARCHES)
def test_what_only_a_device_has(arch: str) -> None:
    function = tile_ir(device_only, {"h_ptr": "*fp16"}, BLOCK=256)
    source = cuda(function, arch)
    assert "tanh.approx.f16 %0, %1;" in source.text
    assert 'printf("pid (%d, %d, %d) idx (%d) x: %f\\n"' in source.text
    assemble.assemble(source, {"arch": arch})
