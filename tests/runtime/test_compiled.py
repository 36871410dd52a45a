"""Compiled kernels as objects: compiling ahead of time, launching them, preloading, dumps and overrides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

import tritium as triton
import tritium.language as tl
from tritium import config, knobs
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, CompiledKernel, IRSource
from tritium.compiler.compiler import make_backend
from tritium.errors import ArgumentError, CompilationError, LaunchError, TritiumError
from tritium.runtime._async_compile import FutureKernel
from tritium.runtime.cache import get_cache_invalidating_env_vars, get_cache_key, triton_key


@triton.jit
def axpy(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, a * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def put(out, value):
    tl.store(out, value)


@pytest.fixture(autouse=True)
def fresh_hooks() -> Iterator[None]:
    with knobs.runtime.scope(), knobs.compilation.scope(), knobs.cache.scope():
        yield


def compiled() -> CompiledKernel:
    x = np.arange(10, dtype=np.float32)
    return axpy[(3,)](x, np.zeros(10, np.float32), 2.0, 10, BLOCK=4)


def test_what_a_compiled_kernel_says() -> None:
    kernel = compiled()
    assert kernel.name == "axpy" and len(kernel.hash) == 64 and "axpy" in repr(kernel)
    assert (kernel.n_regs, kernel.n_spills) == (0, 0) and kernel.n_max_threads > 0
    m = kernel.metadata
    assert (m.name, m.num_warps, m.num_ctas, m.num_stages, m.shared) == ("axpy", 4, 1, 3, 0)
    assert m.target == GPUTarget("cpu", 0, 1) and m.target.backend == "cpu" and m.hash == kernel.hash
    assert m.cluster_dims == (1, 1, 1) and m.launch_pdl is False and m.launch_cooperative_grid is False
    assert m.triton_version == "3.6.0" and m.enable_fp_fusion is True
    assert set(m._asdict()) >= {"debug", "maxnreg", "warp_size", "backend_name", "global_scratch_size"}
    assert kernel.packed_metadata[:3] == (4, 1, 0)
    assert kernel.src.fn is axpy and kernel.src.signature["x"] == "*fp32"
    assert kernel.src.constants == {(4,): 4} and kernel.source.startswith("def axpy")


def test_artefacts() -> None:
    asm = compiled().asm
    assert list(asm) == ["source", "tir", "opt.tir", "cpu.tir", "ll", "o"] and len(asm) == 6
    assert "tile.store" in asm["tir"] and asm["ttir"] == asm["opt.tir"] and "ttir" in asm
    assert "ptx" not in asm and asm.get("cubin") is None
    with pytest.raises(KeyError, match="no stage `ptx`"):
        asm["ptx"]


def test_launching_a_compiled_kernel() -> None:
    kernel = compiled()
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel[(3,)](x, y, 2.0, 10, 4)
    np.testing.assert_array_equal(y, 2 * x)
    kernel[(3, 1, 1)](x, torch.from_numpy(y), 2.0, 10, 4)
    np.testing.assert_array_equal(y, 4 * x)
    with pytest.raises(ArgumentError, match="takes 5 positional arguments, and 4 are given"):
        kernel[(3,)](x, y, 2.0, 10)
    with pytest.raises(LaunchError, match="grid"):
        kernel[(1, 1, 1, 1)](x, y, 2.0, 10, 4)


def test_triton_s_low_level_launch() -> None:
    kernel = compiled()
    told: list[object] = []
    kernel._init_handles()
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel.run(
        *(3, 1, 1, 0, kernel.function, kernel.packed_metadata, "metadata", told.append, told.append),
        *(x, y, 2.0, 10, 4),
    )
    np.testing.assert_array_equal(y, 2 * x)
    assert told == ["metadata", "metadata"]
    launcher = triton.runtime.driver.active.launcher_cls(kernel.src, kernel.metadata)
    launcher(3, 1, 1, 0, kernel, kernel.packed_metadata, None, None, None, x, y, 2.0, 10, 4)
    np.testing.assert_array_equal(y, 4 * x)


# ---- ahead of time -----------------------------------------------------------------------------------


def test_compiling_for_given_types() -> None:
    source = ASTSource(
        fn=axpy,
        signature={"x": "*fp32", "y": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 4},
        attrs={(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]},
    )
    kernel = triton.compile(source, options={"num_warps": 8, "num_stages": 2, "unknown": 1})
    assert kernel.metadata.num_warps == 8 and kernel.metadata.num_stages == 2
    assert (
        "divisibility = 16" in kernel.asm["tir"].splitlines()[0] or "16" in kernel.asm["tir"].splitlines()[0]
    )
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel[(3,)](x, y, 2.0, 10, 4)
    np.testing.assert_array_equal(y, 2 * x)
    assert triton.compile(source, options={"num_warps": 8, "num_stages": 2}) is kernel


def test_a_launch_finds_what_was_compiled_ahead() -> None:
    kernel = triton.jit(axpy.fn)
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    signature = {"x": "*fp32", "y": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"}
    attrs = {(i,): [["tt.divisibility", 16]] for i in (0, 1, 3)}
    ahead = triton.compile(ASTSource(kernel, signature, {"BLOCK": 4}, attrs))
    assert kernel[(4,)](x, y, 2.0, 16, BLOCK=4) is ahead
    assert kernel.warmup(torch.float32, tl.float32, 2.0, 16, BLOCK=4, grid=(1,)) is ahead


@pytest.mark.parametrize(
    "signature, constexprs, words",
    [
        ({"x": "*fp33", "y": "*fp32", "a": "fp32", "n": "i32"}, {"BLOCK": 4}, "fp33"),
        ({"x": "*fp32", "y": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"}, {}, "missing"),
        ({"x": "*fp32", "y": "*fp32", "a": "fp32", "n": "i32", "z": "i32"}, {"BLOCK": 4}, "`z`"),
        ({"x": "*fp32"}, {"NO": 4}, "`NO`"),
    ],
)
def test_signatures_that_cannot_be_read(signature, constexprs, words) -> None:
    with pytest.raises(ArgumentError, match="is not a signature of `axpy`") as caught:
        triton.compile(ASTSource(axpy, signature, constexprs))
    assert words in str(caught.value)


def test_what_is_no_kernel_cannot_be_compiled() -> None:
    with pytest.raises(CompilationError, match="plain Python function"):
        ASTSource(axpy.fn, {})
    with pytest.raises(TypeError, match="GPUTarget"):
        triton.compile(ASTSource(put, {"out": "*fp32", "value": "fp32"}), target="cuda")


def test_a_target_is_what_kernels_are_told() -> None:
    @triton.jit
    def which(out):
        if tl.target_info.is_cuda():
            tl.store(out, 1)
        else:
            tl.store(out, 2)

    source = ASTSource(which, {"out": "*i32"})
    out = np.zeros(1, np.int32)
    triton.compile(source)[(1,)](out)
    assert out[0] == 2
    on_the_host = {"backend": "interpret"}
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=on_the_host)
    kernel[(1,)](out)
    assert out[0] == 1 and kernel.metadata.target == GPUTarget("cuda", 90, 32)


def test_compiling_from_a_file_of_tile_ir(tmp_path: Path) -> None:
    text = compiled().asm["opt.tir"]
    file = tmp_path / "axpy.opt.tir"
    file.write_text(text)
    kernel = triton.compile(str(file))
    assert kernel.name == "axpy" and isinstance(kernel.src, IRSource) and kernel.asm["opt.tir"] == text
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel[(3,)](x, y, 2.0, 10)
    np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(CompilationError, match="cannot be read"):
        triton.compile(str(tmp_path / "none.opt.tir"))
    file.write_text("func @x( {")
    with pytest.raises(TritiumError):
        triton.compile(str(file))


def test_the_compiler_s_identity() -> None:
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({"num_warps": 8, "not_an_option": 1})
    assert options.num_warps == 8 and not hasattr(options, "not_an_option") and len(options.hash()) == 64
    source = ASTSource(put, {"out": "*fp32", "value": "fp32"})
    key = get_cache_key(source, backend, options, get_cache_invalidating_env_vars())
    assert triton_key() in key and source.hash() in key
    stages: dict = {}
    backend.add_stages(stages, options)
    assert list(stages) == ["source", "tir", "opt.tir", "cpu.tir", "ll", "o"]
    with pytest.raises(RuntimeError, match="hip"):
        make_backend(GPUTarget("hip", "gfx942", 64))


# ---- warmup and asynchronous compilation -------------------------------------------------------------


def test_warmup_compiles_without_running() -> None:
    out = np.zeros(1, np.float32)
    kernel = put.warmup(out, 5.0, grid=(1,))
    assert out[0] == 0 and kernel.name == "put"
    for stand_in in (torch.float32, np.dtype(np.float32), tl.float32, triton.MockTensor(torch.float32)):
        assert put.warmup(stand_in, 5.0, grid=(1,)).asm["source"] == kernel.asm["source"]
    kernel[(1,)](out, 5.0)
    assert out[0] == 5


def test_warmup_gives_types_to_constexpr_parameters() -> None:
    @triton.jit
    def convert(out, TYPE: tl.constexpr):
        tl.store(out, tl.cast(1.5, TYPE))

    assert "f16" in convert.warmup(tl.float32, tl.float16, grid=(1,)).asm["tir"]


def test_compiling_several_kernels_at_once() -> None:
    kernels = [triton.jit(put.fn) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool, config.override(triton_debug=True):
        with triton.AsyncCompileMode(pool) as mode:
            futures = [k.warmup(np.zeros(1, np.float32), 5.0, grid=(1,)) for k in kernels]
            again = kernels[0].warmup(np.zeros(1, np.float32), 5.0, grid=(1,))
            assert again in (futures[0], futures[0].result()) and len(mode.future_kernels) == 3
            assert all(isinstance(f, FutureKernel) for f in futures)
            with pytest.raises(RuntimeError, match="active already"), triton.AsyncCompileMode(pool):
                pass
        out = np.zeros(1, np.float32)
        for kernel, future in zip(kernels, futures, strict=True):
            assert future.result().metadata.debug is True and future.name == "put"
            assert kernel[(1,)](out, 5.0) is future.result()


def test_errors_of_asynchronous_compilation() -> None:
    @triton.jit
    def broken(out):
        tl.store(out, no_such_name)  # noqa: F821

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(CompilationError, match="no_such_name"), triton.AsyncCompileMode(pool):
            broken.warmup(np.zeros(1, np.float32), grid=(1,))
        with triton.AsyncCompileMode(pool, ignore_errors=True):
            future = broken.warmup(np.zeros(1, np.float32), grid=(1,))
        assert future.result(ignore_errors=True) is None


def test_launching_while_compiling_asynchronously() -> None:
    kernel = triton.jit(put.fn)
    out = np.zeros(1, np.float32)
    with ThreadPoolExecutor(1) as pool, triton.AsyncCompileMode(pool):
        assert kernel[(1,)](out, 5.0).name == "put" and out[0] == 5


# ---- preloading --------------------------------------------------------------------------------------


def record(kernel: triton.JITFunction, *args: object, **kwargs: object) -> str:
    told: list[str] = []

    def hook(**info: dict) -> bool:
        told.append(info["compile"]["specialization_data"])
        return True

    knobs.runtime.jit_cache_hook = hook
    assert kernel.warmup(*args, **kwargs, grid=(1,)) is None
    knobs.runtime.jit_cache_hook = None
    return told[0]


def test_preloading_a_specialisation() -> None:
    kernel = triton.jit(axpy.fn)
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    data = record(kernel, x, y, 2.0, 16, BLOCK=4, num_warps=8)
    other = triton.jit(axpy.fn)
    loaded = other.preload(data)
    assert loaded.metadata.num_warps == 8
    assert other[(4,)](x, y, 2.0, 16, BLOCK=4, num_warps=8) is loaded


def test_preloading_functions_types_and_tuples() -> None:
    @triton.jit
    def kernel(out, pair, OP: tl.constexpr, TYPE: tl.constexpr, SHAPE: tl.constexpr):
        tl.store(out, (pair[0] + SHAPE[0]).to(TYPE))

    args = (np.zeros(1, np.float32), (np.int32(5), 7), put, tl.float32, (2, (3,)))
    other = triton.jit(kernel.fn)
    assert other.preload(record(kernel, *args)) is other[(1,)](*args)


def test_preloading_what_does_not_fit() -> None:
    data = record(triton.jit(put.fn), np.zeros(1, np.float32), 1.0)
    with pytest.raises(RuntimeError, match=r"cannot be used for `.*axpy`"):
        axpy.preload(data)
    for broken in ("{", "{}", json.dumps({**json.loads(data), "constant_keys": [[1]]})):
        with pytest.raises(LaunchError, match="cannot be used"):
            put.preload(broken)


# ---- dumps and overrides -----------------------------------------------------------------------------


def test_dumping_and_overriding_stages(tmp_path: Path) -> None:
    @triton.jit
    def constant(out):
        tl.store(out, 1.5)

    knobs.cache.dump_dir = str(tmp_path / "dump")
    knobs.compilation.dump_ir = True
    out = np.zeros(1, np.float32)
    constant[(1,)](out)
    (folder,) = (tmp_path / "dump").iterdir()
    names = [f"constant.{stage}" for stage in ("cpu.tir", "ll", "o", "opt.tir", "source", "tir")]
    assert sorted(f.name for f in folder.iterdir()) == names

    target = tmp_path / "override" / folder.name
    target.mkdir(parents=True)
    (target / "constant.opt.tir").write_text((folder / "constant.opt.tir").read_text().replace("1.5", "2.5"))
    knobs.cache.override_dir = str(tmp_path / "override")
    knobs.compilation.override = True
    constant.device_caches.clear()
    constant[(1,)](out)
    assert out[0] == 2.5


def test_overriding_by_an_option(tmp_path: Path) -> None:
    @triton.jit
    def constant(out):
        tl.store(out, 1.5)

    out = np.zeros(1, np.float32)
    file = tmp_path / "mine.opt.tir"
    file.write_text(constant[(1,)](out).asm["opt.tir"].replace("1.5", "3.5"))
    constant[(1,)](out, ir_override=str(file))
    assert out[0] == 3.5
    with pytest.raises(ArgumentError, match="ir_override cannot be"):
        constant[(1,)](out, ir_override=str(tmp_path / "mine.ptx"))


def test_clearing_the_caches_compiles_again() -> None:
    kernel = triton.jit(put.fn)
    out = np.zeros(1, np.float32)
    first = kernel[(1,)](out, 1.0)
    kernel.device_caches[0][0].clear()
    second = kernel[(1,)](out, 1.0)
    assert second is not first
    kernel.device_caches.clear()
    assert kernel[(1,)](out, 1.0) is not second


def test_compiling_with_a_driver_that_only_names_a_target() -> None:
    class Target:
        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", 90, 32)

    triton.runtime.driver.set_active(Target())
    try:
        kernel = triton.compile(ASTSource(triton.jit(put.fn), {"out": "*fp32", "value": "fp32"}))
        assert "tile.store" in kernel.asm["ttir"] and kernel.metadata.target.backend == "cuda"
    finally:
        triton.runtime.driver.reset_active()
