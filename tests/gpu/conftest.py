"""Tests that need an NVIDIA GPU. Without one they are skipped, and counted; with REQUIRE_GPU=1 they fail."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def gpu() -> None:
    """A GPU that PyTorch and the driver see."""
    from tritium.backends.cuda import driver
    from tritium.errors import TritiumError

    reason = ""
    try:
        import torch

        if not torch.cuda.is_available():
            reason = "PyTorch sees no GPU"
        driver.device(0)
    except ImportError:
        reason = "PyTorch is not installed"
    except TritiumError as missing:
        reason = missing.message
    if reason and os.environ.get("REQUIRE_GPU") == "1":
        pytest.fail(f"REQUIRE_GPU=1, and {reason}")
    if reason:
        pytest.skip(reason)
