"""Where Triton 3.6.0 is installed beside Tritium, the recording is still what it says."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest


def _triton_version() -> str | None:
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None


@pytest.mark.skipif(_triton_version() != "3.6.0", reason="needs triton==3.6.0 in this Python")
@pytest.mark.parametrize("name", ["cases.json", "op_types.json", "library_types.json"])
def test_recording_is_current(name: str) -> None:
    record = Path(__file__).with_name("record.py")
    done = subprocess.run([sys.executable, str(record), "--verify", name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
