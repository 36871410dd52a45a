"""What tests of generated CUDA need is there where it has to be: a skipped test is no passed one."""

from __future__ import annotations

import os

import pytest

from tests.cuda_runtime.conftest import nvrtc_is_installed


@pytest.mark.skipif(os.environ.get("REQUIRE_NVRTC") != "1", reason="REQUIRE_NVRTC=1 is not set")
def test_nvrtc_is_installed_where_it_is_required() -> None:
    """CI sets REQUIRE_NVRTC=1, so that `test_nvrtc` cannot be left out there for a missing package."""
    assert nvrtc_is_installed(), "NVRTC is not installed: pip install 'tritium[cuda]'"
