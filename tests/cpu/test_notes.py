"""What a compilation for the CPU says of itself: per access, per reduction, per product, per kept value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tritium as triton
import tritium.language as tl
from tritium.backends.cpu import notes, operands, panels
from tritium.cli.main import app


@pytest.fixture(autouse=True)
def on_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@triton.jit
def first_that_is_not_zero(a, b):
    return tl.where(a != 0, a, b)


@triton.jit
def mixed(x, where, out, total, stride, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    at = tl.load(where + i, mask=mask, other=0)
    v = tl.load(x + at, mask=mask, other=0.0)
    w = tl.load(x + i * stride, mask=mask, other=0.0)
    e = tl.exp(v) + w
    tl.store(out + i, e / tl.sum(e, axis=0), mask=v != 0)
    tl.store(total, tl.reduce(e, 0, first_that_is_not_zero))


def _notes(kernel: Any, name: str) -> list[tuple[bool, str]]:
    return [(d.applied, d.text) for d in kernel.compilation.record if d.name == name]


def test_every_access_says_how_it_moves() -> None:
    x, out, total = np.ones(600, np.float32), np.zeros(64, np.float32), np.zeros(1, np.float32)
    where = np.arange(64, dtype=np.int32)
    kernel = mixed[(1,)](x, where, out, total, 3, 64, BLOCK=64)
    said = _notes(kernel, notes.VECTORS)
    assert len(said) == 4
    applied = [text for fine, text in said if fine]
    refused = [text for fine, text in said if not fine]
    assert any("where the tile lies within its mask, no mask is tested" in text for text in applied)
    assert any("no comparison of indices with bounds" in text for text in applied)
    assert len(refused) == 2
    for reason in ("at computed addresses", "as far apart as a run-time stride says"):
        assert any(reason in text for text in refused)
    kept = [text for _, text in _notes(kernel, notes.SCRATCH)]
    assert any(text == "add 64, 256 bytes: several ops use it" for text in kept)
    assert {fine for fine, _ in _notes(kernel, notes.REDUCE)} == {True, False}
    assert any("in any order" in text for fine, text in _notes(kernel, notes.REDUCE) if not fine)


KERNEL = """
import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def product(a, b, c, K, B: tl.constexpr):
    i, j = tl.program_id(0) * B, tl.program_id(1) * B
    r, acc = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + (i + r[:, None]) * K + k + r[None, :])
        y = tl.load(b + (k + r[:, None]) * B + j + r[None, :])
        acc += tl.dot(x, y)
    tl.store(c + (i + r[:, None]) * B + j + r[None, :], acc)

if __name__ == "__main__":
    a, b, c = np.ones((32, 64), np.float32), np.ones((64, 16), np.float32), np.zeros((32, 16), np.float32)
    product[(2, 1)](a, b, c, 64, B=16)
"""


def test_explain_shows_the_plans_of_the_cpu_backend(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(KERNEL)
    signature = "*fp32:16, *fp32:16, *fp32:16, i32:16, B=16"
    done = CliRunner().invoke(app, ["explain", f"{file}::product", "-s", signature, "--backend", "cpu"])
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "kernel product for cpu" in text
    assert f"{operands.LEFT} applied: where the tile lies within its mask" in text
    assert f"{panels.NAME} applied: while" in text
    assert "neighbours at once" in text
    assert "native applied" in text
