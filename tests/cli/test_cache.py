"""``tritium cache`` on a folder with entries of known content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tritium import config
from tritium.cli.cache import cache, shown_size
from tritium.errors import ArgumentError
from tritium.runtime.disk_cache import Entry, disk_cache, key_of


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    with config.override(tritium_cache_dir=tmp_path):
        kept = disk_cache()
        kept.put(key_of("1"), Entry({"cubin": bytes(5000)}, {"kernel": "add", "arch": "sm_90a"}))
        kept.put(key_of("2"), Entry({"object": bytes(100)}, {"kernel": "softmax", "target": "cpu"}))
        os.utime(kept.path(key_of("2")), (1, 1))
        (tmp_path / "autotune").mkdir()
        (tmp_path / "autotune" / "matmul-1.json").write_text("{}")
        yield tmp_path


def test_lists_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache("list")
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[:4] == ["add", "sm_90a", "5.1", "KiB"] and "just now" in first
    assert second.split()[:2] == ["softmax", "cpu"] and "days ago" in second
    cache("list", as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["kernel"] for row in rows] == ["add", "softmax"] and rows[0]["key"] == key_of("1")


def test_says_size_and_path(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache("size")
    out = capsys.readouterr().out
    assert "2 compiled kernels" in out and "at most 1.0 GiB" in out and "1 tuning results, 2 B" in out
    cache("size", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["kernels"] == 2 and found["bytes"] == disk_cache().size() and found["tuning_bytes"] == 2
    cache("path")
    assert capsys.readouterr().out.strip() == str(folder)


def test_clears(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache("clear", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["kernels"], found["tuning_results"]) == (2, 1)
    cache("list")
    assert "no compiled kernels" in capsys.readouterr().out
    assert disk_cache().size() == 0 and not list((folder / "autotune").iterdir())


def test_an_unknown_action_is_refused(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="TRI0907"):
        cache("destroy")


@pytest.mark.parametrize(
    "nbytes, text", [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (3 * 2**30, "3.0 GiB")]
)
def test_sizes_have_units(nbytes: int, text: str) -> None:
    assert shown_size(nbytes) == text


def test_as_a_command(folder: Path) -> None:
    environment = {**os.environ, "TRITIUM_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tritium", "cache", "size", "--json"]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert json.loads(out)["kernels"] == 2
