"""What every test runs under: no settings from outside, a cache of its own, reproducible random examples in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the texts under tests/golden anew")


@pytest.fixture(scope="session", autouse=True)
def no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A developer's TRITIUM_* and TRITON_* variables, or kernels in the user's cache, must not decide a test."""
    ours = [name for name in os.environ if name.startswith(("TRITIUM_", "TRITON_"))]
    with pytest.MonkeyPatch.context() as patch:
        for name in ours:
            if name != "TRITIUM_SHARED_CASES":
                patch.delenv(name)
        patch.setenv("TRITIUM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
