"""The short ways of a launch do what the long way does: the same kernel, the same parameters, the same errors.

There are two: the stub, which is machine code, and the generated function where the driver has no address for it.
"""

from __future__ import annotations

import random
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_runtime.fake_driver import FakeDriver, Launched
from tests.cuda_runtime.fake_tensor import FakeTensor
from tritium import knobs
from tritium.errors import ArgumentError, LaunchError, TritiumError
from tritium.runtime import fast_launch, launch_check
from tritium.runtime.gpu_kernel import GpuKernel
from tritium.runtime.jit import JITFunction

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("compiler", "gpu_torch", "way")


def make_kernels() -> SimpleNamespace:
    """Fresh kernels, which have not been launched."""

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    @triton.jit
    def optional(x, bias, scale, flag, n, MODE: tl.constexpr = "plain", BLOCK: tl.constexpr = 16):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n) * scale
        if bias is not None:
            v += tl.load(bias + i, mask=i < n)
        if flag:
            v += 1
        if MODE == "twice":
            v *= 2
        tl.store(x + i, v, mask=i < n)

    @triton.jit
    def annotated(x, n: tl.int64, small: tl.int8, s: tl.float32, u: tl.uint32, k: tl.int32):
        tl.store(x, n + small + s + u + k)

    @triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x", "m"])
    def unspecialized(x, n, m):
        tl.store(x + n, m)

    @triton.jit
    def awkward(type, len, int, launch, frame__, callable=4):
        tl.store(type, len + int + launch + frame__ + callable)

    @triton.jit
    def shadowing(type, len, fn, tuple, callable=4):
        tl.store(type, len + fn + tuple + callable)

    @triton.jit
    def reads_global(x):
        tl.store(x, SCALE_FOR_TEST)

    @triton.jit
    def pair(x, both):
        tl.store(x, both[0] + both[1])

    return SimpleNamespace(**{k: v for k, v in locals().items() if isinstance(v, JITFunction)})


SCALE_FOR_TEST = tl.constexpr(3)


@pytest.fixture
def gpu_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch whose tensors are `FakeTensor`."""
    monkeypatch.setattr(torch, "Tensor", FakeTensor)


@pytest.fixture(params=["stub", "generated"])
def way(request: pytest.FixtureRequest, fake: FakeDriver) -> str:
    """Which short way the driver allows."""
    fake.native = request.param == "stub"
    return request.param


@pytest.fixture
def k() -> SimpleNamespace:
    return make_kernels()


def shown(launched: Launched) -> tuple[Any, ...]:
    return (
        *(launched.function, launched.grid, launched.block, launched.shared, launched.stream),
        *(tuple(launched.parameters),),
    )


def both_ways(fake: FakeDriver, kernel: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
    """Launch both ways, short and long; the outcomes are compared, and the kernel or error returned."""

    def outcome(launch: Any) -> tuple[Any, list[Any]]:
        before = len(fake.launches)
        try:
            result: Any = launch()
        except TritiumError as error:
            result = error
        return result, [shown(found) for found in fake.launches[before:]]

    long, launched_long = outcome(lambda: kernel.run_checked(*args, grid=grid, **kwargs))
    for _ in range(2):  # the first of these enters the table
        short, launched_short = outcome(lambda: kernel[grid](*args, **kwargs))
        if isinstance(long, TritiumError):
            assert (type(short), short.code, short.message) == (type(long), long.code, long.message)
        else:
            assert short is long
        assert launched_short == launched_long
    return long


def known(kernel: Any) -> int:
    """How many calls the short way knows."""
    return kernel._stub.count if kernel._stub is not None else len(kernel.device_caches.fast)


def is_known(kernel: Any, count: int) -> bool:
    return known(kernel) == count


def test_the_first_launch_makes_the_short_way(fake: FakeDriver, k: SimpleNamespace, way: str) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    assert k.add._fast is None and k.add._native is None
    first = k.add[(4,)](x, y, out, 100, BLOCK=32)
    assert isinstance(first, GpuKernel) and is_known(k.add, 0)
    assert (k.add._native is None, k.add._fast is None) == ((False, True) if way == "stub" else (True, False))
    assert k.add[(4,)](x, y, out, 100, BLOCK=32) is first and is_known(k.add, 1)
    run_checked = k.add.run_checked
    k.add.run_checked = None  # not needed any more
    assert k.add[(4,)](x, y, out, 100, BLOCK=32) is first
    assert k.add.run(x, y, out, 100, BLOCK=32, grid=(4,)) is first
    k.add.run_checked = run_checked
    assert len(fake.launches) == 4 and len({shown(launched) for launched in fake.launches}) == 1
    assert fake.native_calls == (2 if way == "stub" else 0)


def test_what_changes_the_kernel_changes_the_key(fake: FakeDriver, k: SimpleNamespace, way: str) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    odd, half = FakeTensor(100, offset=1), FakeTensor(100, torch.float16)
    found = [
        both_ways(fake, k.add, (4,), x, y, out, 100, BLOCK=32),
        both_ways(fake, k.add, (4,), x, y, out, 96, BLOCK=32),
        both_ways(fake, k.add, (4,), x, y, out, 1, BLOCK=32),
        both_ways(fake, k.add, (4,), x, odd, out, 100, BLOCK=32),
        both_ways(fake, k.add, (4,), odd, y, out, 100, BLOCK=32),
        both_ways(fake, k.add, (4,), x, half, out, 100, BLOCK=32),
        both_ways(fake, k.add, (4,), x, y, out, 100, BLOCK=64),
        both_ways(fake, k.add, (4,), x, y, out, 100, BLOCK=32, num_warps=8),
        both_ways(fake, k.add, (4,), x, y, out, 100, BLOCK=32, enable_fp_fusion=False),
        both_ways(fake, k.add, (4,), x, y, out, 2**31, BLOCK=32),
        both_ways(fake, k.add, (4,), x, y, out, 2**63, BLOCK=32),
    ]
    assert len({id(kernel) for kernel in found}) == len(found)
    beyond = 10 if way == "stub" else 9
    assert is_known(k.add, beyond), "the integers beyond int32, for the stub beyond int64, go the long way"
    assert both_ways(fake, k.add, (4,), x, y, out, 101, BLOCK=32) is found[0]
    assert both_ways(fake, k.add, (4,), x, y, out, -3, BLOCK=32) is found[0]
    assert both_ways(fake, k.add, (4,), x, y, out, 0, BLOCK=32) is found[1]


def test_optional_arguments_numbers_and_modes(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, bias = FakeTensor(16), FakeTensor(16)
    seen: set[int] = set()
    for given_bias in (None, bias):
        for scale in (0.5, 2, 1, True):
            for flag in (True, False, 1, 0, None):
                for mode in ("plain", "twice"):
                    kernel = both_ways(fake, k.optional, (1,), x, given_bias, scale, flag, 16, MODE=mode)
                    seen.add(id(kernel))
    assert len(seen) == 2 * 4 * 4 * 2, "0 and 1 differ, as do numbers and booleans; True and False do not"


def test_annotated_parameters(fake: FakeDriver, k: SimpleNamespace) -> None:
    x = FakeTensor(4)
    both_ways(fake, k.annotated, (1,), x, 5, 3, 1.5, 7, 9)
    both_ways(fake, k.annotated, (1,), x, 1, 1, 1.0, 1, 1)
    both_ways(fake, k.annotated, (1,), x, 2**40, 3, 2, 2**31, -1)
    assert both_ways(fake, k.annotated, (1,), x, 5, 300, 1.5, 7, 9).code == "TRI0705"
    assert both_ways(fake, k.annotated, (1,), x, 5, 3, 1.5, -7, 9).code == "TRI0705"
    assert both_ways(fake, k.annotated, (1,), x, 5.5, 3, 1.5, 7, 9).code == "TRI0704"


def test_unspecialized_parameters(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, odd = FakeTensor(64), FakeTensor(64, offset=1)
    assert both_ways(fake, k.unspecialized, (1,), x, 1, 2) is both_ways(
        fake, k.unspecialized, (1,), odd, 16, 32
    )
    assert both_ways(fake, k.unspecialized, (1,), x, 1, 2) is not both_ways(
        fake, k.unspecialized, (1,), x, 1, 1
    )


def test_parameters_may_have_any_name(fake: FakeDriver, k: SimpleNamespace, way: str) -> None:
    x = FakeTensor(64)
    both_ways(fake, k.shadowing, (1,), x, 2, 3, 4)
    both_ways(fake, k.shadowing, (1,), x, 2, 3, tuple=4, callable=5)
    assert is_known(k.shadowing, 2 if way == "stub" else 1), "the stub tells ways to write a call apart"
    both_ways(fake, k.awkward, (1,), x, 2, 3, 4, 5)
    assert k.awkward._fast is None, "names that end in two underscores are left to the long way"
    assert is_known(k.awkward, int(way == "stub"))


GRIDS = [
    *(
        (3,),
        (3, 2),
        (3, 2, 4),
        [3, 2],
        5,
        np.int64(4),
        (np.int64(4), 1),
        (0,),
        (2, 0),
        (True,),
        (-1,),
        (2.5,),
        (),
    ),
    *((1, 2, 3, 4), (2**31,), (2**32,), "three", None, lambda args: (args["n"] // args["BLOCK"],)),
    *(lambda args: [args["num_warps"]], lambda args: 7, lambda args: (0,), lambda args: "x"),
]


@pytest.mark.parametrize("grid", GRIDS, ids=[str(i) for i in range(len(GRIDS))])
def test_every_form_of_a_grid(fake: FakeDriver, k: SimpleNamespace, grid: Any) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    k.add[(1,)](x, y, out, 100, BLOCK=32, num_warps=2)
    both_ways(fake, k.add, grid, x, y, out, 100, BLOCK=32, num_warps=2)


def test_errors_are_those_of_the_long_way(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    there, host = FakeTensor(100, device=1), FakeTensor(100, device=-1)
    k.add[(4,)](x, y, out, 100, BLOCK=32)

    def code(*args: Any, **kwargs: Any) -> str:
        return both_ways(fake, k.add, (4,), *args, **kwargs).code

    assert code(x, y, out, 100) == "TRI0703"
    assert code(x, y, out, 100, 32, 5) == "TRI0701"
    assert code(x, y, out, 100, BLOK=32) in ("TRI0703", "TRI0702")
    assert code(x, y, out, 100, BLOCK=32, num_wraps=4) == "TRI0702"
    assert code(x, y, out, 100, BLOCK=32, num_warps=3) == "TRI0713"
    assert code(x, y, out, 100, x=x, BLOCK=32) == "TRI0710"
    assert code(x, there, out, 100, BLOCK=32) == "TRI0733"
    assert code(x, host, out, 100, BLOCK=32) == "TRI0732"
    assert code(host, y, out, 100, BLOCK=32) == "TRI0732"
    assert code(x, y, out, "many", BLOCK=32) == "TRI0704"
    assert code(x, y, out, 100, BLOCK=x) == "TRI0712"
    assert code(x, y, out, 2**64, BLOCK=32) == "TRI0705"
    with pytest.raises(LaunchError, match="TRI0709"):
        k.add(x, y, out, 100, BLOCK=32)


def test_a_failure_of_the_gpu_is_told(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    for _ in range(2):
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    fake.launch_codes = [700]
    with pytest.raises(LaunchError, match="TRI0739") as caught:
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    assert "`add`" in caught.value.message and str(caught.value.loc.file) == __file__  # type: ignore[union-attr]
    fake.launch_codes = [1]
    with pytest.raises(LaunchError, match="TRI0707"):
        k.add[(1, 70000)](x, y, out, 100, BLOCK=32)


def test_a_type_error_of_a_grid_function_is_the_programs(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    for _ in range(2):
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    with pytest.raises(TypeError, match="unsupported operand"):
        k.add[lambda args: (args["n"] + "1",)](x, y, out, 100, BLOCK=32)


# ---- what makes it give way ------------------------------------------------------------------------------


def test_a_changed_global_compiles_again(
    fake: FakeDriver, k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = FakeTensor(4)
    first = [k.reads_global[(1,)](x) for _ in range(3)][-1]
    monkeypatch.setattr(sys.modules[__name__], "SCALE_FOR_TEST", tl.constexpr(4))
    second = [k.reads_global[(1,)](x) for _ in range(3)][-1]
    assert first is not second and "4" in second.asm["cu"]
    monkeypatch.undo()
    assert k.reads_global[(1,)](x) is first


def test_a_replaced_source_compiles_again(fake: FakeDriver, k: SimpleNamespace) -> None:
    x = FakeTensor(4)
    first = [k.reads_global[(1,)](x) for _ in range(3)][-1]
    k.reads_global._unsafe_update_src("def reads_global(x):\n    tl.store(x, 77)\n")
    second = [k.reads_global[(1,)](x) for _ in range(3)][-1]
    assert first is not second and "77" in second.asm["cu"]


def test_a_changed_setting_compiles_again(
    fake: FakeDriver, k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    launch = lambda: [k.add[(4,)](x, y, out, 100, BLOCK=32) for _ in range(3)][-1]
    first = launch()
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "0")
    assert launch() is not first
    monkeypatch.delenv("TRITON_DEFAULT_FP_FUSION")
    assert launch() is first


def test_another_backend_is_another_way(
    fake: FakeDriver, k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the backend given in the environment, a kernel that was launched on the GPU runs on the interpreter."""
    x = FakeTensor(4)
    for _ in range(2):
        k.reads_global[(1,)](x)
    count = len(fake.launches)
    host = np.zeros(4, np.float32)
    k.reads_global[(1,)](host)
    assert host[0] == 3 and len(fake.launches) == count
    k.reads_global[(1,)](host, backend="interpret")
    with pytest.raises(ArgumentError, match="TRI0732"):
        k.reads_global[(1,)](host, backend="cuda")


def test_hooks_see_every_launch(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    for _ in range(2):
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    seen: list[str] = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda metadata: seen.append(f"in {metadata.get()['name']}")
        knobs.runtime.launch_exit_hook = lambda metadata: seen.append("out")
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    k.add[(4,)](x, y, out, 100, BLOCK=32)
    assert seen == ["in add", "out"] and len(fake.launches) == 4
    k.add.add_pre_run_hook(lambda *args, **kwargs: seen.append("before"))
    k.add[(4,)](x, y, out, 100, BLOCK=32)
    assert seen[-1] == "before"


def test_a_checker_gets_every_launch(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    for _ in range(2):
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    launcher, seen = k.add[(4,)], []
    with launch_check.installed(lambda kernel, grid, leaves: seen.append(grid)):
        launcher(x, y, out, 100, BLOCK=32)
        k.add[(4,)](x, y, out, 100, BLOCK=32)
    assert seen == [(4, 1, 1)] * 2 and len(fake.launches) == 2
    launcher(x, y, out, 100, BLOCK=32)
    assert len(fake.launches) == 3


def test_arguments_that_it_does_not_know(fake: FakeDriver, k: SimpleNamespace) -> None:
    class Interface:
        def __init__(self) -> None:
            self.array = np.zeros(100, np.float32)
            self.device = 0
            address = self.array.ctypes.data
            self.__cuda_array_interface__ = {
                **{"shape": (100,), "typestr": "<f4", "data": (address, False), "strides": None, "version": 3}
            }

    x, y, out = (FakeTensor(100) for _ in range(3))
    other = Interface()
    k.add[(4,)](x, y, out, 100, BLOCK=32)
    both_ways(fake, k.add, (4,), x, other, out, 100, BLOCK=32)
    both_ways(fake, k.add, (4,), other, other, other, 100, BLOCK=32)
    both_ways(fake, k.add, (4,), x, y, out, np.int32(100), BLOCK=32)
    both_ways(fake, k.add, (4,), x, y, out, 100, BLOCK=tl.constexpr(32))
    both_ways(fake, k.add, (4,), triton.reinterpret(x, tl.int32), y, out, 100, BLOCK=32)
    assert is_known(k.add, 0)
    both_ways(fake, k.pair, (1,), x, (3, 4))
    both_ways(fake, k.pair, (1,), x, (3, 1))


def test_clearing_the_caches_forgets(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    first = [k.add[(4,)](x, y, out, 100, BLOCK=32) for _ in range(2)][-1]
    k.add.device_caches.clear()
    assert k.add[(4,)](x, y, out, 100, BLOCK=32) is not first


# ---- random calls, threads -------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_calls(fake: FakeDriver, k: SimpleNamespace) -> None:
    rng = random.Random(5)
    dtypes = (torch.float32, torch.float16, torch.int32)
    tensors = [
        FakeTensor(64, dtype, device, offset) for dtype in dtypes for device in (0, 1) for offset in (0, 1)
    ]
    numbers = [0, 1, 2, 16, -16, 100, 2**31 - 1, -(2**31), True, False, 0.5, 1.0, float("inf")]
    for _ in range(150):
        device = rng.random() < 0.2
        x, bias = rng.choices([t for t in tensors if t.ordinal == device or rng.random() < 0.03], k=2)
        both_ways(
            *(fake, k.optional, (rng.randrange(3), 1)),
            *(
                x,
                rng.choice([bias, bias, None]),
                rng.choice(numbers),
                rng.choice([True, 0, 1, None]),
                rng.choice(numbers[:8]),
            ),
            **rng.choice([{}, {"MODE": "twice"}, {"BLOCK": 32}, {"num_warps": 2}]),
        )
    assert known(k.optional) > 20


def test_threads_launch_at_the_same_time(fake: FakeDriver, k: SimpleNamespace) -> None:
    ready = threading.Barrier(6)
    tensors = [[FakeTensor(100) for _ in range(3)] for _ in range(6)]

    def work(i: int) -> None:
        ready.wait()
        for n in range(40):
            k.add[(n + 1,)](*tensors[i], 1000 * i + n + 2, BLOCK=32)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.launches) == 240 and len(fake.loads) <= 2
    for launched in fake.launches:
        x, _, out, n = (int.from_bytes(p, "little") for p in launched.parameters)
        i, step = divmod(n - 2, 1000)
        assert (x, out) == (tensors[i][0].data_ptr(), tensors[i][2].data_ptr())
        assert launched.grid == (step + 1, 1, 1)


def test_without_pytorch_there_is_no_short_way(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_launch, "sys", SimpleNamespace(modules={}))
    assert fast_launch.make_fast_launch(k.add) is None


# ---- bound launches --------------------------------------------------------------------------------------


def test_a_bound_launch_repeats_itself(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    step = k.add.bind(x, y, out, 100, BLOCK=32, grid=lambda args: (args["BLOCK"],))
    assert not fake.launches
    k.add[(32,)](x, y, out, 100, BLOCK=32)
    for _ in range(3):
        step()
    assert len({shown(launched) for launched in fake.launches}) == 1


def test_a_bound_launch_takes_other_arguments(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out, z = (FakeTensor(100) for _ in range(4))
    step = k.add.bind(x, y, out, 100, BLOCK=32, grid=(4,))
    step(z, x)
    step(n=50)
    step(x, y, z, 7)
    got = [[int.from_bytes(p, "little") for p in launched.parameters] for launched in fake.launches]
    a, b, c, d = (t.data_ptr() for t in (x, y, out, z))
    assert got == [[d, a, c, 100], [a, b, c, 50], [a, b, d, 7]]
    with pytest.raises(TypeError):
        step(m=3)
    with pytest.raises(TypeError):
        step(x, y, out, 100, 32)


def test_what_was_decided_at_compile_time_is_no_argument(fake: FakeDriver, k: SimpleNamespace) -> None:
    x = FakeTensor(16)
    step = k.optional.bind(x, None, 1, 0.5, 16, MODE="twice", grid=(1,))
    step()
    step(x, 2.5, 5)
    assert [len(launched.parameters) for launched in fake.launches] == [3, 3]
    assert fake.launches[1].parameters[2] == (5).to_bytes(4, "little")


def test_tuples_in_a_bound_launch_stay(fake: FakeDriver, k: SimpleNamespace) -> None:
    x = FakeTensor(16)
    step = k.pair.bind(x, (3, 4), grid=(2,))
    step()
    assert [int.from_bytes(p, "little") for p in fake.launches[0].parameters[1:]] == [3, 4]


def test_binding_checks_once(fake: FakeDriver, k: SimpleNamespace) -> None:
    x, y, out = (FakeTensor(100) for _ in range(3))
    with pytest.raises(ArgumentError, match="TRI0733"):
        k.add.bind(x, FakeTensor(100, device=1), out, 100, BLOCK=32, grid=(1,))
    with pytest.raises(ArgumentError, match="TRI0732"):
        k.add.bind(x, FakeTensor(100, device=-1), out, 100, BLOCK=32, grid=(1,))
    with pytest.raises(ArgumentError, match="TRI0703"):
        k.add.bind(x, y, grid=(1,))
    k.add.bind(x, y, out, 100, BLOCK=32, grid=(0,))()
    assert not fake.launches


def test_a_bound_launch_on_the_host() -> None:
    k = make_kernels()
    x, y, out = np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
    step = k.add.bind(x, y, out, 64, BLOCK=32, grid=(2,))
    assert out.sum() == 0
    step()
    assert out.sum() == 128
    step(y=out)
    step(out, n=32)
    assert out[:32].sum() == 32 * 4 and out[32:].sum() == 32 * 3
    with pytest.raises(TypeError, match="x, y, out, n"):
        step(z=3)
