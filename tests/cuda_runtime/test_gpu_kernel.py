"""What a launch on a GPU returns: the compiled kernel, with its resources, texts, handles and low-level launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_runtime.fake_driver import FakeDriver
from tests.cuda_runtime.fake_tensor import FakeTensor
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.errors import ArgumentError, InterpreterError, LaunchError
from tritium.runtime.gpu_kernel import GpuKernel
from tritium.runtime.jit import JITFunction

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("compiler")


@pytest.fixture
def scale() -> JITFunction:
    @triton.jit
    def scale(x, factor, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

    return scale


def compiled(scale: JITFunction, **options: Any) -> GpuKernel:
    return scale.warmup(torch.float32, 2.0, 100, 64, grid=(1,), backend="cuda", **options)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100"])
def test_compiles_without_a_gpu(scale: JITFunction, arch: str) -> None:
    kernel = compiled(scale, arch=arch)
    assert kernel.backend == "cuda" and kernel.n_regs > 0 and kernel.n_spills == 0
    assert kernel.n_max_threads == 128 and kernel.metadata.shared == 0
    assert kernel.metadata.target == GPUTarget("cuda", int(arch[3:].rstrip("a")), 32)
    assert kernel.asm["cubin"][:4] == b"\x7fELF" and f".target {arch}" in kernel.asm["ptx"]
    assert "__global__" in kernel.asm["cu"] and "tile<" in kernel.asm["ttir"]
    assert "ptx" in kernel.asm and "cubin" in list(kernel.asm) and "sass" not in kernel.asm


def test_without_a_gpu_the_architecture_has_to_be_given(scale: JITFunction, fake: FakeDriver) -> None:
    fake.gpus = 0
    with pytest.raises(LaunchError, match="TRI0738"):
        compiled(scale)


def test_options_reach_the_compiler(scale: JITFunction) -> None:
    plain = compiled(scale, arch="sm_80")
    assert compiled(scale, arch="sm_80", num_warps=8).n_max_threads == 256
    assert compiled(scale, arch="sm_80", maxnreg=16).n_regs <= 16
    assert compiled(scale, arch="sm_80") is plain


def test_handles_are_those_of_the_gpu_that_ran_it(scale: JITFunction, fake: FakeDriver) -> None:
    events: list[str] = []
    x = FakeTensor(100, device=1)
    with knobs.runtime.scope():
        knobs.runtime.kernel_load_start_hook = lambda *args: events.append(f"loading {args[2]}")
        knobs.runtime.kernel_load_end_hook = lambda module, function, *_: events.append(
            f"{module} {function}"
        )
        kernel = scale[(2,)](x, 2.0, 100, BLOCK=64)
    assert [context for context, _ in fake.loads] == [101], "no other GPU was touched"
    assert (kernel.module, kernel.function) == (1101, 2101)
    assert events == ["loading scale", "1101 2101"]


def test_the_low_level_launch_takes_a_stream(scale: JITFunction, fake: FakeDriver) -> None:
    x = FakeTensor(100)
    kernel = scale[(2,)](x, 2.0, 100, BLOCK=64)
    metadata = kernel.packed_metadata
    kernel.run(3, 1, 1, 0x55, kernel.function, metadata, None, None, None, x, 2.0, 100, 64)
    kernel[(4, 1, 1)](x, 2.0, 100, 64, stream=0x66)
    kernel[(5, 1, 1)](x, 2.0, 100, 64)
    assert [(launched.grid[0], launched.stream) for launched in fake.launches] == [
        (2, 0),
        (3, 0x55),
        (4, 0x66),
        (5, 0),
    ]


class Interface:
    """A read-only array."""

    device = 0
    __cuda_array_interface__ = {
        "shape": (4,),
        "typestr": "<f4",
        "data": (64, True),
        "strides": None,
        "version": 3,
    }


def test_a_read_only_array_is_refused(scale: JITFunction, fake: FakeDriver) -> None:
    with pytest.raises(InterpreterError, match="TRI0806"):
        scale[(1,)](Interface(), 2.0, 4, BLOCK=64)
    assert not fake.launches


def test_memory_that_is_nowhere(scale: JITFunction, fake: FakeDriver) -> None:
    with pytest.raises(ArgumentError, match="TRI0732"):
        scale[(1,)](torch.empty(4, device="meta"), 2.0, 4, BLOCK=64, backend="cuda")


def test_a_kernel_that_does_not_fit_the_architecture(scale: JITFunction) -> None:
    with pytest.raises(ArgumentError, match="TRI0752"):
        compiled(scale, arch="sm_12")


def test_triton_s_own_way_to_compile_ahead_of_time(scale: JITFunction) -> None:
    source = triton.compiler.ASTSource(scale, {"x": "*fp32", "factor": "fp32", "n": "i32"}, {"BLOCK": 64})
    for number, arch in ((80, "sm_80"), (90, "sm_90a"), (100, "sm_100")):
        kernel = triton.compile(source, target=GPUTarget("cuda", number, 32), options={"num_warps": 2})
        assert isinstance(kernel, GpuKernel) and kernel.binary.arch == arch
        assert kernel.n_max_threads == 64 and kernel.metadata.target == GPUTarget("cuda", number, 32)
        assert kernel.asm["cubin"][:4] == b"\x7fELF"


def test_kernels_are_told_where_they_run(fake: FakeDriver) -> None:
    @triton.jit
    def which(out):
        if tl.target_info.is_cuda():
            tl.store(out, 41)
        else:
            tl.store(out, 42)

    assert "41" in which[(1,)](FakeTensor(4, torch.int32)).asm["cu"]


def test_a_warmup_is_for_the_gpu_where_there_is_one(
    scale: JITFunction, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (torch.float32, 2.0, 100)
    assert scale.warmup(*arguments, BLOCK=64, grid=(1,)).backend == "cpu"
    target = GPUTarget("cuda", 90, 32)
    monkeypatch.setattr(type(triton.runtime.driver.active), "get_current_target", lambda self: target)
    kernel = scale.warmup(*arguments, BLOCK=64, grid=(1,))
    assert isinstance(kernel, GpuKernel) and kernel.binary.arch == "sm_90a"
    assert scale[(1,)](FakeTensor(100), 2.0, 100, BLOCK=64) is kernel, "the launch found what the warmup made"
    assert scale.warmup(np.zeros(4, np.float32), 2.0, 100, BLOCK=64, grid=(1,)).backend == "cpu"
