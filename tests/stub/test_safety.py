"""References, memory, exceptions, threads and forks: what native code could get wrong for a whole process."""

from __future__ import annotations

import gc
import os
import sys
import threading
import tracemalloc
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.stub import kernels
from tests.stub.kernels import long_ways

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@pytest.fixture
def k() -> SimpleNamespace:
    return kernels.make()


def count_references(objects: list[Any]) -> list[int]:
    gc.collect()
    return [sys.getrefcount(o) for o in objects]


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_every_reference_is_given_back(k: SimpleNamespace, library: str) -> None:
    make = (lambda n: np.zeros(n, np.float32)) if library == "numpy" else torch.zeros
    x, bias, number, big = make(64), make(64), 1234.5, 10**10
    grid, mode, function = (int("1"),), "".join(["tw", "ice"]), lambda meta: (meta["BLOCK"] // 16,)
    bad = lambda meta: 1 // 0
    # of another class, dtype and alignment: misses
    other, odd, wide = (
        np.float64(2),
        make(65)[1:],
        make(64).astype(np.float64) if library == "numpy" else make(64).double(),
    )

    def launches() -> None:
        k.optional[grid](x, bias, number, True, 16, MODE=mode)
        k.optional[grid](x, None, number, big, n=16, BLOCK=16)
        k.optional[function](x, bias, number, True, 16, MODE=mode)
        k.optional[(0,)](x, bias, number, True, 16, MODE=mode)
        k.optional[[1]](x, bias, number, True, 16, MODE=mode)
        with pytest.raises(ZeroDivisionError):
            k.optional[bad](x, bias, number, True, 16, MODE=mode)

    def misses() -> None:
        k.optional[grid](x, bias, other, True, 16, MODE=mode)
        k.optional[grid](odd, wide, number, True, 16, MODE=mode)

    for _ in range(4):
        launches()
        misses()
    kernel = k.optional[grid](x, bias, number, True, 16, MODE=mode)
    watched = [x, bias, number, big, grid, mode, function, bad, other, odd, wide, kernel, k.optional]
    watched += [x.dtype, True, k.optional._native, k.optional._stub, np.ndarray, torch.Tensor]
    before, nones = count_references(watched), sys.getrefcount(None)
    for _ in range(1500):
        launches()
    for _ in range(60):
        misses()
    assert all(abs(a - b) <= 3 for a, b in zip(count_references(watched), before, strict=True))
    assert abs(sys.getrefcount(None) - nones) < 1000, "it is shared by everything that runs, and may wander"


def test_launches_allocate_nothing_that_stays(k: SimpleNamespace) -> None:
    x, y, out = (torch.zeros(64) for _ in range(3))
    k.counted[(2, 2)](out, BLOCK=16)
    for _ in range(5):
        k.add[(2,)](x, y, out, 60, BLOCK=32)
    tracemalloc.start()
    try:
        for _ in range(200):
            k.add[(2,)](x, y, out, 60, BLOCK=32)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5000):
            k.add[(2,)](x, y, out, 60, BLOCK=32)
            k.add[lambda meta: (2,)](x, y, out, 60, BLOCK=32)
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


def test_learning_the_same_again_keeps_nothing(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(64, np.float32)

    def again(n: int) -> None:
        for i in range(n):
            monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", str(i % 2))
            k.counted[(1,)](x, BLOCK=16)

    again(50)
    gc.collect()
    tracemalloc.start()
    try:
        again(50)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        again(400)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 60_000
    finally:
        tracemalloc.stop()


def test_a_kernel_and_its_stub_go_together() -> None:
    k = kernels.make()
    x = np.zeros(64, np.float32)
    for _ in range(3):
        found = k.counted[(1,)](x, BLOCK=16)
    gone = [weakref.ref(o) for o in (k.counted, k.counted._stub, found)]
    del k, found
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3
    assert x[0] == 3


def test_a_launcher_outlives_its_kernel() -> None:
    k = kernels.make()
    x = np.zeros(64, np.float32)
    k.counted[(1,)](x, BLOCK=16)
    launcher = k.counted[(1,)]
    del k
    gc.collect()
    for _ in range(3):
        launcher(x, BLOCK=16)
    assert x[0] == 4


# ---- exceptions ------------------------------------------------------------------------------------------------


class Raising(torch.overrides.TorchFunctionMode):
    """Makes every question that is put to a tensor fail."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise self.error


def test_an_array_that_raises_is_left_to_the_long_way(k: SimpleNamespace) -> None:
    x, y, out = (torch.zeros(64) for _ in range(3))
    for _ in range(3):
        k.add[(1,)](x, y, out, 60, BLOCK=64)
    error = LookupError("asked")
    with long_ways(k.add) as count, Raising(error), pytest.raises(LookupError, match="asked"):
        k.add[(1,)](x, y, out, 60, BLOCK=64)
    assert count() == 1
    with long_ways(k.add) as count, Raising(KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        k.add[(1,)](x, y, out, 60, BLOCK=64)
    assert count() == 0, "an interrupt is not dropped"
    with long_ways(k.add) as count:
        k.add[(1,)](x, y, out, 60, BLOCK=64)
    assert count() == 0


class Watching(torch.overrides.TorchFunctionMode):
    """Empties the kernel's tables while its arguments are being looked at."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.kernel._stub.forget()
        gc.collect(1)
        return func(*args, **(kwargs or {}))


def test_entries_that_go_while_a_call_is_being_made(k: SimpleNamespace) -> None:
    x, y, out = (torch.ones(64) for _ in range(3))
    for _ in range(2):
        for _ in range(2):
            k.add[(1,)](x, y, out, 60, BLOCK=64)
        with Watching(k.add):
            k.add[(1,)](x, y, out, 60, BLOCK=64)

    def forgets(meta: dict[str, Any]) -> Any:
        k.add._stub.forget()
        k.add.device_caches.clear()
        gc.collect()
        return (1,)

    for _ in range(4):
        for _ in range(3):
            kernel = k.add[(1,)](x, y, out, 60, BLOCK=64)
        out.zero_()
        assert k.add[forgets](x, y, out, 60, BLOCK=64) is kernel
        assert out[:60].tolist() == [2.0] * 60


# ---- threads and processes --------------------------------------------------------------------------------------


def test_threads_launch_and_learn_at_the_same_time(k: SimpleNamespace) -> None:
    """Each with its own arrays and specialisations, while settings change and tables are emptied."""
    ready, failures = threading.Barrier(6), []
    interval = sys.getswitchinterval()

    def work(worker: int) -> None:
        ready.wait()
        make = torch.zeros if worker % 2 else lambda n: np.zeros(n, np.float32)
        for i in range(150):
            x, block = make(64), 8 << (i + worker) % 3
            for launch in range(1, 4):
                k.counted[(64 // block,)](x, BLOCK=block)
                if float(x[0]) != launch or float(x[63]) != launch:
                    failures.append((worker, i, launch))

    def disturb() -> None:
        ready.wait()
        for i in range(60):
            k.counted._stub and k.counted._stub.forget()
            os.environ["TRITON_DEFAULT_FP_FUSION"] = str(i % 2)
            if i % 20 == 0:
                k.counted.device_caches.clear()
            gc.collect(1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(5)] + [
        threading.Thread(target=disturb)
    ]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        os.environ.pop("TRITON_DEFAULT_FP_FUSION", None)
    assert not failures


def test_the_gil_is_released_while_a_kernel_runs(k: SimpleNamespace) -> None:
    x = np.zeros(1 << 22, np.float32)
    for _ in range(3):
        k.counted[(1,)](x, BLOCK=1 << 20)
    seen: list[int] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.0002):
            seen.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        for _ in range(300):
            k.counted[(1,)](x, BLOCK=1 << 20)
    finally:
        stop.set()
        thread.join()
    assert len(seen) > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_goes_on(k: SimpleNamespace) -> None:
    x = np.zeros(1 << 16, np.float32)
    for _ in range(3):
        k.counted[(1,)](x, BLOCK=64)
        k.counted[(1 << 10,)](x, BLOCK=64)
    child = os.fork()
    if not child:
        status = 1
        try:
            x[:] = 0
            for _ in range(50):
                k.counted[(1,)](x, BLOCK=64)
                k.counted[(1 << 10,)](x, BLOCK=64)
            k.counted[(1,)](x, BLOCK=128)
            status = int(x[0] != 101 or x[70] != 51 or x[200] != 50)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
