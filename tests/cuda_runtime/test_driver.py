"""Finding the driver: what is missing, what is too old, which GPU and stream."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.cuda_runtime.fake_driver import FakeDriver
from tritium.backends.cuda import driver
from tritium.errors import LaunchError


def test_a_device_is_described(fake: FakeDriver) -> None:
    found = driver.device(1)
    assert (found.name, found.capability, found.arch) == ("Fake GPU", (9, 0), "sm_90a")
    assert (found.limits.threads, found.limits.shared, found.limits.registers) == (1024, 232448, 65536)
    assert str(found) == "Fake GPU (cuda:1)" and driver.device(1) is found
    assert driver.count() == 2 and driver.is_available() and driver.version() == (13, 0)


def test_a_device_that_is_not_there(fake: FakeDriver) -> None:
    with pytest.raises(LaunchError, match="there is no cuda:2; 2 GPUs are visible"):
        driver.device(2)


def test_an_old_driver_is_told_from_a_new_compiler(fake: FakeDriver) -> None:
    fake.version = 12040
    with pytest.raises(LaunchError, match="TRI0738") as caught:
        driver.check_version((13, 0))
    assert "CUDA 12.4" in caught.value.message and "NVRTC 13.0" in caught.value.message
    assert "580" in str(caught.value.hint)
    fake.version = 13000
    driver.check_version((13, 2))  # minor versions of one major version are compatible
    driver.check_version((12, 9))


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """A driver that is yet to be initialised."""
    made = FakeDriver()
    monkeypatch.setattr(driver, "_loaded", [])
    monkeypatch.setattr(driver, "_devices", {})
    monkeypatch.setattr(driver, "import_module", lambda name: made)
    return made


def test_starts_once(fresh: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.api() is fresh
    monkeypatch.setattr(driver, "import_module", None)
    assert driver.api() is fresh


def test_a_missing_driver(fresh: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(flags: int) -> Any:
        raise RuntimeError('"cuda" is an NVIDIA driver library and can only be found via system search.')

    monkeypatch.setattr(fresh, "cuInit", refuse)
    with pytest.raises(LaunchError, match="TRI0738") as caught:
        driver.api()
    assert "libcuda" in caught.value.message and "580" in str(caught.value.hint)
    assert not driver.is_available()


def test_a_driver_without_a_gpu(fresh: FakeDriver) -> None:
    fresh.init_code = driver.NO_DEVICE
    with pytest.raises(LaunchError, match="sees no GPU"):
        driver.api()
    fresh.init_code = 999
    with pytest.raises(LaunchError, match="does not start: CUDA_ERROR_999"):
        driver.api()
    fresh.init_code = 0
    assert driver.api() is fresh, "what was mended is found"


def test_missing_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'cuda'")

    monkeypatch.setattr(driver, "_loaded", [])
    monkeypatch.setattr(driver, "import_module", refuse)
    with pytest.raises(LaunchError, match="cuda-bindings is needed for CUDA"):
        driver.api()


def test_an_error_that_the_bindings_do_not_know(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(code: int) -> Any:
        raise ValueError(f"{code} is not a valid CUresult")

    monkeypatch.setattr(fake, "CUresult", refuse)
    assert driver.describe(fake, 12345) == "error 12345"


# ---- streams ---------------------------------------------------------------------------------------------


def torch_with(cuda: bool, **raw: Any) -> ModuleType:
    module: Any = ModuleType("torch")
    module.cuda = SimpleNamespace(
        is_available=lambda: cuda,
        current_device=lambda: 1,
        current_stream=lambda ordinal: SimpleNamespace(cuda_stream=100 + ordinal),
    )
    module._C = SimpleNamespace(**raw)
    return module


def cupy() -> ModuleType:
    module: Any = ModuleType("cupy")
    module.cuda = SimpleNamespace(get_current_stream=lambda ordinal: SimpleNamespace(ptr=300 + ordinal))
    return module


class FromCupy:
    __module__ = "cupy.core"


class FromTorch:
    __module__ = "torch"


@pytest.mark.parametrize(
    "modules, owners, stream",
    [
        ({"torch": None, "cupy": None}, [], 0),
        ({"torch": torch_with(False), "cupy": None}, [FromTorch()], 0),
        ({"torch": torch_with(True), "cupy": None}, [FromTorch()], 101),
        (
            {"torch": torch_with(True, _cuda_getCurrentRawStream=lambda o: 200 + o), "cupy": None},
            [FromTorch()],
            201,
        ),
        ({"torch": torch_with(True), "cupy": cupy()}, [FromTorch(), FromCupy()], 101),
        ({"torch": torch_with(True), "cupy": cupy()}, [FromCupy()], 301),
        ({"torch": None, "cupy": cupy()}, [FromCupy()], 301),
        ({"torch": torch_with(False), "cupy": cupy()}, [], 301),
    ],
)
def test_whose_stream_is_current(
    modules: dict[str, Any], owners: list[object], stream: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, module in modules.items():
        if module is None:
            monkeypatch.delitem(sys.modules, name, raising=False)
        else:
            monkeypatch.setitem(sys.modules, name, module)
    assert driver.stream_reader(owners)(1) == stream


def test_the_current_gpu_is_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_with(True))
    assert driver.current_ordinal() == 1
    monkeypatch.setitem(sys.modules, "torch", torch_with(False))
    assert driver.current_ordinal() == 0
    monkeypatch.delitem(sys.modules, "torch")
    assert driver.current_ordinal() == 0
