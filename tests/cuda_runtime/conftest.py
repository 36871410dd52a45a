"""What the tests of the CUDA runtime share: a driver that is not there, and NVRTC where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from tests.cuda_runtime.fake_driver import FakeDriver
from tritium.backends.cuda import driver


def nvrtc_is_installed() -> bool:
    """Whether the packages are there; if they are and do not work, tests fail and are not skipped."""
    return importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("nvidia") is not None


@pytest.fixture
def compiler() -> None:
    """The test compiles with NVRTC."""
    if not nvrtc_is_installed():
        pytest.skip("NVRTC is not installed: pip install 'tritium[cuda]'")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """A driver with two GPUs that records launches and what their parameters were."""
    made = FakeDriver()
    monkeypatch.setattr(driver, "_loaded", [made])
    monkeypatch.setattr(driver, "_devices", {})
    monkeypatch.setattr("tritium.backends.cuda.nvrtc.version", lambda: (13, 0))
    yield made
    assert made.capture_mode == 0, "a changed capture mode was not put back"
    assert made.stack == [], "a pushed context was not popped"
