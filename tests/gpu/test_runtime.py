"""The runtime on a GPU: ``REQUIRE_GPU=1 PYTHONPATH=src:. python -m pytest tests/gpu/test_runtime.py``.

Kernels of the language go the whole way; those in CUDA C++ by hand pin down what a launch hands over.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_runtime.sources import (
    ADD,
    ADD_NAMES,
    ADD_TYPES,
    DYNAMIC,
    FLOATS,
    SCALARS,
    SCALARS_NAMES,
    SCALARS_TYPES,
)
from tritium.backends.cuda import driver, nvrtc
from tritium.backends.cuda.module import LaunchShape
from tritium.backends.cuda.program import Program
from tritium.errors import ArgumentError, InterpreterError, LaunchError, OutOfResources
from tritium.ir import types as T
from tritium.runtime.gpu_kernel import GpuKernel

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parents[2]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def fill(x, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, value, mask=i < n)


@triton.jit
def increment(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def where(x, BLOCK: tl.constexpr):
    i = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(x + i * BLOCK + tl.arange(0, BLOCK), i)


def grid(n: int, block: int = 128) -> tuple[int]:
    return (triton.cdiv(n, block),)


def arch() -> str:
    return driver.device(0).arch


def made(text: str, name: str, names: Any, types: Any, shape: LaunchShape) -> Program:
    return Program(nvrtc.compile_source(text, name, arch()), shape, names, types)


def launch(program: Program, grid: tuple[int, int, int], *values: Any) -> None:
    stream = torch.cuda.current_stream().cuda_stream
    program.on(torch.cuda.current_device())[1](*grid, stream, *values)


# ---- results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 16, 127, 128, 1000, 1 << 20])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int8"])
def test_the_data_decides_and_the_result_is_right(n: int, dtype: str) -> None:
    """C12: PyTorch's tensors, with no copy, on their device and in its current stream."""
    kind = getattr(torch, dtype)
    x, y = (torch.randint(-50, 50, (n,), device="cuda").to(kind) for _ in range(2))
    out = torch.full((n + 32,), 7, device="cuda").to(kind)
    for _ in range(3):  # the long way, the first short one, a short one
        kernel = add[grid(n)](x, y, out, n, BLOCK=128)
        assert torch.equal(out[:n], x + y) and bool((out[n:] == 7).all())
        out[:n] = 7
    assert isinstance(kernel, GpuKernel) and kernel.backend == "cuda"


def test_a_view_at_an_odd_offset() -> None:
    storage = torch.arange(1001, dtype=torch.float32, device="cuda")
    out = torch.zeros(1000, device="cuda")
    add[grid(1000)](storage[1:], storage[:-1], out, 1000, BLOCK=128)
    assert torch.equal(out, storage[1:] + storage[:-1])


def test_three_axes_of_a_grid() -> None:
    x = torch.zeros(5 * 3 * 4 * 32, dtype=torch.int32, device="cuda")
    where[(5, 3, 4)](x, BLOCK=32)
    assert torch.equal(x.view(-1, 32)[:, 0].cpu(), torch.arange(60, dtype=torch.int32))


def test_a_grid_of_nothing_launches_nothing() -> None:
    x = torch.zeros(4, device="cuda")
    for _ in range(3):
        fill[(0,)](x, 5.0, 4, BLOCK=16)
    assert float(x.sum()) == 0


def test_every_type_of_number_arrives() -> None:
    out = torch.zeros(16, dtype=torch.float64, device="cuda")
    program = made(SCALARS, "scalars", SCALARS_NAMES, SCALARS_TYPES, LaunchShape(32))
    block = bytes([7, *range(1, 127), 9])
    given = (True, -1, -2, -3, -(2**40), 255, 65535, 2**32 - 1, 2**52, 1.5, -2.5, 0.1, 0.1, block)
    launch(program, (1, 1, 1), out.data_ptr(), *given)
    f16, bf16 = np.float16(1.5).view(np.uint16), 0xC020
    expected = [1, -1, -2, -3, -(2**40), 255, 65535, 2**32 - 1, 2**52, f16, bf16, np.float32(0.1), 0.1, 7, 9]
    assert out.cpu().tolist() == [*map(float, expected), 0.0], (
        "the last says that the block is aligned to 64 bytes"
    )
    launch(program, (1, 1, 1), out.data_ptr(), 2, 128, 0, 2**31, 0, -1, 0, -1, 0, 1e6, 0, 1e300, 1.0, block)
    found = out.cpu().tolist()
    assert found[:5] == [1, -128, 0, -(2**31), 0] and found[5] == 255 and found[7] == 2**32 - 1
    assert found[9] == 0x7C00 and found[11] == math.inf


def test_half_precision_scalars_of_a_kernel() -> None:
    @triton.jit
    def scaled(x, a: tl.float16, b: tl.bfloat16, c: tl.float64):
        tl.store(x, a)
        tl.store(x + 1, b)
        tl.store(x + 2, c)

    x = torch.zeros(3, dtype=torch.float64, device="cuda")
    scaled[(1,)](x, 0.1, 0.1, 0.1)
    assert x.cpu().tolist() == [float(np.float16(0.1)), 0.10009765625, 0.1]


# ---- shapes of launches ----------------------------------------------------------------------------------


def test_dynamic_shared_memory_beyond_48_kib() -> None:
    n = 25_000
    x = torch.arange(n, dtype=torch.float32, device="cuda")
    program = made(DYNAMIC, "dynamic", ("x", "n"), (FLOATS, T.int32), LaunchShape(64, 4 * n))
    launch(program, (1, 1, 1), x.data_ptr(), n)
    assert torch.equal(x.cpu(), torch.arange(n, dtype=torch.float32).flip(0))


def test_clusters_cooperation_and_programmatic_launches() -> None:
    text = """
extern "C" __global__ void ranks(int* x) {
    unsigned rank, size;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0) x[blockIdx.x] = x[blockIdx.x] * 100 + rank * 10 + size;
}
"""
    if driver.device(0).capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    x = torch.zeros(8, dtype=torch.int32, device="cuda")
    for shape in (
        LaunchShape(32, cluster=(4, 1, 1)),
        LaunchShape(32, cooperative=True),
        LaunchShape(32, programmatic=True),
    ):
        launch(made(text, "ranks", ("x",), (T.pointer(T.int32),), shape), (8, 1, 1), x.data_ptr())
    in_cluster = [10 * rank + 4 for rank in (0, 1, 2, 3)] * 2
    assert x.cpu().tolist() == [(c * 100 + 1) * 100 + 1 for c in in_cluster]


def test_the_driver_agrees_about_resources() -> None:
    x = torch.zeros(128, device="cuda")
    kernel = fill[(1,)](x, 1.0, 128, BLOCK=128)
    loaded, _ = kernel.program.on(0)
    assert loaded.registers == kernel.n_regs == kernel.binary.resources.registers
    assert loaded.local_bytes == 4 * kernel.n_spills == 0
    assert loaded.max_threads >= kernel.metadata.num_warps * 32
    assert kernel.asm["cubin"][:4] == b"\x7fELF" and ".visible .entry" in kernel.asm["ptx"]


# ---- streams, graphs, threads, devices -------------------------------------------------------------------


def test_launches_go_to_the_current_stream() -> None:
    stream = torch.cuda.Stream()
    x, out = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    add[grid(1 << 20)](x, x, out, 1 << 20, BLOCK=128)
    torch.cuda.synchronize()
    for _ in range(3):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            x.fill_(3)
            add[grid(1 << 20)](x, x, out, 1 << 20, BLOCK=128)
            done = stream.record_event()
        assert not done.query(), "the launch waited for the stream"
        stream.synchronize()
        assert bool((out == 6).all())
        x.zero_()
        out.zero_()
        torch.cuda.synchronize()


def captured(step: Any) -> Any:
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step()
    return graph


def test_a_warm_kernel_in_a_graph() -> None:
    x = torch.zeros(1000, device="cuda")
    increment[grid(1000)](x, 1000, BLOCK=128)
    graph = captured(lambda: [increment[grid(1000)](x, 1000, BLOCK=128) for _ in range(3)])
    assert float(x[0]) == 1, "captured, not run"
    for _ in range(2):
        graph.replay()
    assert bool((x == 7).all())


def test_a_kernel_that_was_never_loaded_in_a_graph() -> None:
    @triton.jit
    def triple(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)

    x = torch.ones(100, device="cuda")
    graph = captured(lambda: triple[(1,)](x, 100, BLOCK=128))
    graph.replay()
    assert bool((x == 3).all())


def test_a_bound_launch() -> None:
    x, y, out = (torch.full((1000,), float(v), device="cuda") for v in (1, 2, 0))
    step = add.bind(x, y, out, 1000, BLOCK=128, grid=grid(1000))
    assert float(out.sum()) == 0
    step()
    assert bool((out == 3).all())
    step(out, out)
    assert bool((out == 6).all())
    step(n=500)
    assert bool((out[:500] == 3).all()) and bool((out[500:] == 6).all())
    graph = captured(lambda: step(out, y))
    graph.replay()
    assert bool((out[:500] == 5).all())


def test_threads_with_streams_of_their_own() -> None:
    wrong: list[str] = []
    ready = threading.Barrier(8)

    def work(worker: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            x, out = torch.full((4096,), float(worker), device="cuda"), torch.zeros(4096, device="cuda")
            ready.wait()
            for i in range(200):
                fill[grid(4096)](x, float(worker * 1000 + i), 4096, BLOCK=128)
                add[grid(4096)](x, x, out, 4096, BLOCK=128)
                if i % 20 == 0 and not bool((out == 2 * (worker * 1000 + i)).all()):
                    wrong.append(f"thread {worker}, step {i}")

    threads = [threading.Thread(target=work, args=(w,)) for w in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_thread_that_has_not_touched_the_gpu() -> None:
    x = torch.zeros(128, device="cuda")
    fill[(1,)](x, 1.0, 128, BLOCK=128)
    torch.cuda.synchronize()

    def work() -> None:
        fill[(1,)](x, 2.0, 128, BLOCK=128)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    torch.cuda.synchronize()
    assert bool((x == 2).all())


def test_the_gpu_of_the_arrays_is_used() -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    for ordinal in (1, 0, 1):
        x = torch.zeros(128, device=f"cuda:{ordinal}")
        for value in (3.0, 4.0):
            fill[(1,)](x, value, 128, BLOCK=128)
            torch.cuda.synchronize(ordinal)
            assert bool((x == value).all()) and torch.cuda.current_device() == 0
    with pytest.raises(ArgumentError, match="TRI0733"):
        add[(1,)](torch.zeros(4, device="cuda:0"), torch.zeros(4, device="cuda:1"), x, 4, BLOCK=16)


@pytest.mark.parametrize("capture", [False, True])
def test_two_gpus_take_turns(capture: bool) -> None:
    """Work on either, in streams of their own, while PyTorch's current GPU is the first or the second."""
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    held: list[Any] = []
    for ordinal in (0, 1):
        with torch.cuda.device(ordinal), torch.cuda.stream(torch.cuda.Stream(ordinal)):
            x = torch.full((1000,), float(ordinal + 1), device="cuda")
            out = torch.zeros(1000, device="cuda")
            add[grid(1000)](x, x, out, 1000, BLOCK=128)  # warm
            torch.cuda.synchronize()
            step = lambda x=x, out=out: add[grid(1000)](x, out, out, 1000, BLOCK=128)
            held.append((ordinal, out, captured(step).replay if capture else step))
    for _ in range(3):
        for ordinal, _, step in held:
            with torch.cuda.device(1 - ordinal if not capture else ordinal):
                torch.cuda.synchronize(ordinal)
                step()
                torch.cuda.synchronize(ordinal)
    for ordinal, out, _ in held:
        assert bool((out == (ordinal + 1) * 5).all()), f"GPU {ordinal}"


# ---- arrays of other libraries ---------------------------------------------------------------------------


class Interface:
    """An array that offers nothing but ``__cuda_array_interface__``."""

    def __init__(self, tensor: Any) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__
        self.keep = tensor


class Capsule:
    """An array that offers nothing but DLPack."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.tensor.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Interface, Capsule])
def test_arrays_by_interface(wrap: Any) -> None:
    x, y, out = (torch.full((100,), float(v), device="cuda") for v in (1, 2, 0))
    for _ in range(2):
        out.zero_()
        add[(1,)](wrap(x), y, wrap(out), 100, BLOCK=128)
        assert bool((out == 3).all())


def test_cupy_arrays_and_streams() -> None:
    cupy = pytest.importorskip("cupy")
    x, out = cupy.arange(1000, dtype=cupy.float32), cupy.zeros(1000, dtype=cupy.float32)
    add[grid(1000)](x, x, out, 1000, BLOCK=128)
    assert bool((out == 2 * x).all())
    with cupy.cuda.Stream(non_blocking=True) as stream:
        out.fill(0)
        add[grid(1000)](x[:500], x[500:], out, 500, BLOCK=128)
        stream.synchronize()
    assert bool((out[:500] == x[:500] + x[500:]).all())


def test_pinned_memory() -> None:
    x, out = torch.arange(100, dtype=torch.float32).pin_memory(), torch.zeros(100, device="cuda")
    add[(1,)](x, x, out, 100, BLOCK=128)
    assert torch.equal(out.cpu(), 2 * x)


# ---- errors ----------------------------------------------------------------------------------------------


def test_host_memory_is_named() -> None:
    x = torch.zeros(100, device="cuda")
    for _ in range(2):
        with pytest.raises(ArgumentError, match="TRI0732") as caught:
            add[(1,)](x, torch.zeros(100), x, 100, BLOCK=128)
        assert "`y`" in caught.value.message
    with pytest.raises(ArgumentError, match="TRI0732"):
        add[(1,)](np.zeros(100, np.float32), torch.zeros(100), x, 100, BLOCK=128, backend="cuda")


def test_a_read_only_array_is_refused() -> None:
    x = torch.zeros(16, device="cuda")
    locked = Interface(x)
    interface = dict(locked.__cuda_array_interface__)
    locked.__cuda_array_interface__ = {**interface, "data": (interface["data"][0], True)}
    with pytest.raises(InterpreterError, match="TRI0806"):
        fill[(1,)](locked, 1.0, 16, BLOCK=16)


def test_too_much_is_named() -> None:
    with pytest.raises(OutOfResources, match="threads per block"):
        made(ADD.replace("__launch_bounds__(128)", ""), "add", ADD_NAMES, ADD_TYPES, LaunchShape(2048)).on(0)
    shared = driver.device(0).limits.shared + 1
    with pytest.raises(OutOfResources, match=f"{shared} bytes of shared memory"):
        made(DYNAMIC, "dynamic", ("x", "n"), (FLOATS, T.int32), LaunchShape(64, shared)).on(0)
    x = torch.zeros(16, device="cuda")
    for _ in range(2):
        with pytest.raises(LaunchError, match="TRI0707"):
            fill[(1, 65536)](x, 1.0, 16, BLOCK=16)
    fill[(1,)](x, 2.0, 16, BLOCK=16)
    assert bool((x == 2).all()), "none of these errors stays"


def test_machine_code_for_another_gpu() -> None:
    other = "sm_80" if driver.device(0).capability[0] != 8 else "sm_90"
    x = torch.zeros(16, device="cuda")
    with pytest.raises(LaunchError, match="TRI0753") as caught:
        fill[(1,)](x, 1.0, 16, BLOCK=16, arch=other)
    assert other in caught.value.message and arch() in caught.value.message


def in_another_process(code: str, *args: str, **settings: str) -> str:
    environment = {
        **os.environ,
        **settings,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), *sys.path]),
    }
    command = [sys.executable, "-c", code, *args]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


BREAKS = """
import torch, time
import tritium as triton, tritium.language as tl
from tritium.errors import LaunchError

@triton.jit
def breaks(x):
    tl.store(tl.cast(x, tl.pointer_type(tl.float32)), 1.0)

@triton.jit
def innocent(x):
    tl.store(x, 1.0)

x = torch.zeros(16, device="cuda")
innocent[(1,)](x)
torch.cuda.synchronize()
breaks[(1,)](8, backend="cuda")
time.sleep(1)
for _ in range(2):
    try:
        innocent[(1,)](x)
    except LaunchError as error:
        assert error.code == "TRI0739", error
        print(error.message)
"""


def test_an_error_that_stays_is_reported_with_the_kernel() -> None:
    lines = in_another_process(BREAKS).splitlines()
    assert len(lines) == 2, lines
    for line in lines:
        assert "`innocent`" in line and "ILLEGAL_ADDRESS" in line


# ---- processes -------------------------------------------------------------------------------------------

CACHED = """
import sys, time
import torch
from tests.gpu.test_runtime import add, fill, grid

x, out = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
torch.cuda.synchronize()
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
kernels = [fill[grid(1000)](x, 2.0, 1000, BLOCK=128), add[grid(1000)](x, x, out, 1000, BLOCK=128)]
assert bool((out == 4).all())
print(sum(k.binary.seconds > 0 for k in kernels))
"""


def test_another_process_finds_the_machine_code(tmp_path: Path) -> None:
    found = [in_another_process(CACHED, "0", TRITIUM_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [int(f) for f in found] == [2, 0]


@pytest.mark.slow
def test_sixteen_processes_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    start = str(time.time() + 20)
    with ThreadPoolExecutor(16) as pool:
        jobs = [
            pool.submit(in_another_process, CACHED, start, TRITIUM_CACHE_DIR=str(tmp_path)) for _ in range(16)
        ]
        made_by_each = [int(job.result()) for job in jobs]
    assert sum(made_by_each) == 2
