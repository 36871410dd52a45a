"""The launch stub on a GPU, as far as a driver that is not there can tell: handles, attributes, streams, failures."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_runtime.fake_driver import FakeDriver
from tests.cuda_runtime.fake_tensor import FakeTensor
from tritium.backends.cuda import driver, stub_entry
from tritium.errors import LaunchError
from tritium.runtime import arrays
from tritium.runtime.stub import learn

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("compiler")


def make() -> Any:
    @triton.jit
    def scaled(x, y, s, n, flag, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n) * s
        if flag:
            v += 1
        tl.store(y + i, v, mask=i < n)

    return scaled


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "Tensor", FakeTensor)


def same(fake: FakeDriver) -> bool:
    """Whether the last two launches were the same, attributes included; the last one was the stub's."""
    first, second = fake.launches[-2:]
    told = []
    for launched in (first, second):
        attributes = {}
        for name, value in launched.attributes.items():
            numbers = (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)
            flags = value.cooperative, value.programmaticStreamSerializationAllowed
            attributes[name] = numbers if name == "cluster" else [f for f in flags if f][:1]
        told.append((launched.function, launched.grid, launched.block, launched.shared, launched.stream))
        told[-1] += (tuple(launched.parameters), tuple(attributes.items()))
    return told[0] == told[1]


@pytest.mark.parametrize(
    "options",
    [{}, {"launch_cooperative_grid": True}, {"num_warps": 8}, {"launch_pdl": True}],
    ids=lambda o: "-".join(o) or "plain",
)
def test_it_launches_what_cuda_bindings_would(fake: FakeDriver, fakes: None, options: dict[str, Any]) -> None:
    scaled = make()
    scaled[(1,)](FakeTensor(64), FakeTensor(64), 0.5, 7, True, BLOCK=32)
    for device in (0, 1):
        x, y = FakeTensor(64, device=device), FakeTensor(64, device=device, offset=1)
        for s, n, flag in ((0.1, -3, True), (1e300, 16, False), (2.5, 2**31 - 1, True), (-0.0, 2**40, False)):
            for grid in ((4,), (3, 2), (5, 4, 3)):
                calls = fake.native_calls
                scaled[grid](x, y, s, n, flag, BLOCK=32, **options)
                scaled[grid](x, y, s, n, flag, BLOCK=32, **options)
                scaled.run_checked(x, y, s, n, flag, BLOCK=32, grid=grid, **options)
                assert fake.native_calls > calls
                assert same(fake)
                scaled[grid](x, y, s, n, flag, BLOCK=32, **options)
                assert same(fake) and fake.launches[-1].context in (0, 100 + device)


def test_the_stream_is_asked_for_at_every_launch(
    fake: FakeDriver, fakes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaled, streams = make(), [0x10, 0x20, 0xFFFFFFFFFFFFFFF0, 0x30, 0x40, 0x50]
    asked: list[int] = []
    monkeypatch.setattr(
        driver,
        "stream_reader",
        lambda owners=(): lambda ordinal: asked.append(ordinal) or streams[len(asked) - 1],
    )
    x, y = FakeTensor(64, device=1), FakeTensor(64, device=1)
    for _ in range(6):
        scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
    assert asked == [1] * 6 and [launched.stream for launched in fake.launches] == streams


def test_a_stream_that_is_not_to_be_had(
    fake: FakeDriver, fakes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaled, broken = make(), [False]

    def stream(ordinal: int) -> int:
        if broken[0]:
            raise RuntimeError("no stream")
        return 0

    monkeypatch.setattr(driver, "stream_reader", lambda owners=(): stream)
    x, y = FakeTensor(64), FakeTensor(64)
    for _ in range(3):
        scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
    broken[0] = True
    with pytest.raises(RuntimeError, match="no stream"):
        scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
    assert len(fake.launches) == 3


def test_a_thread_without_a_context_launches_from_the_same_parameters(fake: FakeDriver, fakes: None) -> None:
    for options in ({}, {"launch_cooperative_grid": True}):
        scaled = make()
        fake.checks_context = False
        x, y = FakeTensor(64), FakeTensor(64)
        for _ in range(3):
            scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32, **options)
        fake.checks_context = True
        thread = threading.Thread(target=lambda: scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32, **options))
        thread.start()
        thread.join()
        assert fake.launches[-1].context == 100 and same(fake)


def test_failures_leave_nothing_behind(fake: FakeDriver, fakes: None) -> None:
    scaled = make()
    x, y = FakeTensor(64), FakeTensor(64)
    bound = scaled.bind(x, y, 1.5, 64, True, BLOCK=32, grid=(2,))
    for _ in range(3):
        kernel = scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
    watched = [x, y, kernel, scaled, bound]

    def fail() -> None:
        fake.launch_codes = [700]
        with pytest.raises(LaunchError, match="TRI0739"):
            scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
        fake.launch_codes = [719]
        with pytest.raises(LaunchError, match="TRI0739"):
            bound()

    for _ in range(3):
        fail()
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(100):
        fail()
    gc.collect()
    assert [sys.getrefcount(o) for o in watched] == before


def test_bound_launches(fake: FakeDriver, fakes: None) -> None:
    scaled = make()
    x, y, z = FakeTensor(64), FakeTensor(64), FakeTensor(64)
    bound = scaled.bind(x, y, 0.1, 64, 3, BLOCK=32, grid=(2, 3))
    assert type(bound).__name__ == "builtin_function_or_method"
    for i, args in enumerate([(), (z,), (x, z, 1e300), (x, y, -2.5, 2**31 - 1), (y, x, 0.5, -1, 0)]):
        bound(*args)
        assert fake.native_calls == i + 1
        given = [*args, *[x, y, 0.1, 64, 3][len(args) :]]
        scaled.run_checked(*given[:4], given[4] or 3, BLOCK=32, grid=(2, 3))
        assert fake.launches[-2].parameters[:4] == fake.launches[-1].parameters[:4]
        assert fake.launches[-2].parameters[4] == given[4].to_bytes(4, "little")
    before = [sys.getrefcount(o) for o in (x, y, z, bound)]
    for _ in range(500):
        bound(z, y)
    assert [sys.getrefcount(o) for o in (x, y, z, bound)] == before
    calls = fake.native_calls
    bound(n=50)  # by name, and numbers of other kinds: the generated function
    bound(x, y, 3)
    bound(x, y, 0.5, 2**70)
    assert fake.native_calls == calls and len(fake.launches) == 513
    for args in ((1, 2, 3, 4, 5, 6), (x, y, "text")):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            bound(*args)
    with pytest.raises(AttributeError):
        bound(5)


def test_without_an_address_of_the_driver_there_is_no_stub(
    fake: FakeDriver, fakes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stub_entry.has_entry_points()
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1")
    assert not stub_entry.has_entry_points()
    scaled = make()
    for _ in range(2):
        scaled[(2,)](FakeTensor(64), FakeTensor(64), 1.5, 64, True, BLOCK=32)
    assert scaled._native is None and scaled._fast is not None and fake.native_calls == 0


# ---- PyTorch's own tensors ---------------------------------------------------------------------------------------


@pytest.fixture
def on_second_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tensors of PyTorch in host memory, of one dimension, that say by it that they are on GPU 1."""

    def view(tensor: Any, what: str) -> arrays.ArrayView:
        found = arrays.torch_view(tensor, what)
        found.device = "cuda:1"
        return found

    know = learn.LaunchStub._know_arrays

    def ask_otherwise(self: learn.LaunchStub) -> None:
        know(self)
        self._calls.set(get_device=torch.Tensor.dim)

    monkeypatch.setitem(arrays.VIEW_OF_TYPE, torch.Tensor, view)
    monkeypatch.setattr(learn.LaunchStub, "_know_arrays", ask_otherwise)
    yield


def test_tensors_of_pytorch(fake: FakeDriver, on_second_gpu: None) -> None:
    scaled = make()
    x, y, odd = torch.zeros(64), torch.zeros(64), torch.zeros(65)[1:]
    for arguments in ((x, y), (odd, y), (y, x), (x.half(), y), (x.int(), odd)):
        for _ in range(3):
            scaled[(2,)](*arguments, 1.5, 64, True, BLOCK=32)
        calls = fake.native_calls
        scaled[(2,)](*arguments, 1.5, 64, True, BLOCK=32)
        assert fake.native_calls == calls + 1
        scaled.run_checked(*arguments, 1.5, 64, True, BLOCK=32, grid=(2,))
        assert same(fake) and fake.launches[-1].function == fake.launches[-2].function
    watched = [x, y, odd, x.dtype, scaled]
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(2000):
        scaled[(2,)](x, y, 1.5, 64, True, BLOCK=32)
        scaled[lambda meta: (2,)](odd, y, 1.5, 64, True, BLOCK=32)
        fake.launches.clear()
    gc.collect()
    assert all(abs(a - b) <= 2 for a, b in zip([sys.getrefcount(o) for o in watched], before, strict=True))
