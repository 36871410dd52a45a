"""``tritium compile --target cpu``: files for this machine's processor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tritium.cli.compile import compile_to
from tritium.errors import TritiumError

PROGRAM = """\
import tritium as triton
import tritium.language as tl


@triton.jit
def scale(x, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def shows(x):
    tl.device_print("x", tl.load(x))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_writes_ir_assembly_and_object(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_to(f"{file}::scale", "cpu", tmp_path / "out", "*fp32:16, fp32, i32, 128", [], as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["kernel"] == "scale" and report["vector_bits"] in (128, 256, 512)
    out = tmp_path / "out"
    assert "define void @chunk" in (out / "scale.ll").read_text()
    assert "chunk:" in (out / "scale.s").read_text()
    assert len((out / "scale.o").read_bytes()) == report["object_bytes"]


def test_a_kernel_without_native_form_says_why(file: Path, tmp_path: Path) -> None:
    with pytest.raises(TritiumError, match=r"tile\.print has no native form"):
        compile_to(f"{file}::shows", "cpu", tmp_path, "*fp32", [])
    assert not list(tmp_path.glob("*.o"))
