"""``tritium compile``: files for a GPU that is not here."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tritium import config
from tritium.backends.cuda.resources import read_cubin
from tritium.cli.compile import compile_to
from tritium.errors import ArgumentError, CompilationError
from tritium.runtime.disk_cache import disk_cache

PROGRAM = """\
import tritium as triton
import tritium.language as tl


@triton.jit
def scale(x, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def wrong(x):
    tl.store(x, undefined)
"""
SIGNATURE = "*fp32:16, fp32, i32, 128"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path) -> Any:
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("nvidia") is None:
        pytest.skip("NVRTC is not installed: pip install 'tritium[cuda]'")
    with config.override(tritium_cache_dir=tmp_path / "cache"):
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100"])
def test_writes_source_assembly_machine_code_and_report(
    file: Path, tmp_path: Path, arch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / arch
    compile_to(f"{file}::scale", arch, out, SIGNATURE, [])
    shown = capsys.readouterr().out
    assert f"scale for {arch}: 128 threads" in shown and f"wrote {out / 'scale.cubin'}" in shown
    assert sorted(path.name for path in out.iterdir()) == [
        "scale.cu",
        "scale.cubin",
        "scale.json",
        "scale.ptx",
    ]
    report = json.loads((out / "scale.json").read_text())
    cubin = (out / "scale.cubin").read_bytes()
    resources = read_cubin(cubin, "scale", arch)
    assert report["registers"] == resources.registers > 0 and report["cubin_bytes"] == len(cubin)
    assert [size for _, size in report["parameters"]] == [8, 4, 4]
    assert (report["spill_stores"], report["spill_loads"], report["arch"]) == (0, 0, arch)
    assert f".target {arch}" in (out / "scale.ptx").read_text()
    assert "__global__" in (out / "scale.cu").read_text()


def test_options_of_a_launch(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["num_warps=8", "enable_fp_fusion=False"]
    compile_to(f"{file}::scale", "90a", tmp_path, SIGNATURE, options, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["threads"] == 256 and report["arch"] == "sm_90a"


def test_comes_from_the_cache_the_second_time(file: Path, tmp_path: Path) -> None:
    compile_to(f"{file}::scale", "sm_80", tmp_path, SIGNATURE, [])
    (entry,) = disk_cache().entries()
    first = (tmp_path / "scale.cubin").read_bytes()
    file.write_text("# a line more\n" + PROGRAM)
    compile_to(f"{file}::scale", "sm_80", tmp_path, SIGNATURE, [])
    assert (tmp_path / "scale.cubin").read_bytes() == first
    assert [e.key for e in disk_cache().entries()] == [entry.key]


MATMUL = """
import tritium as triton
import tritium.language as tl

@triton.jit
def product(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))
"""


@pytest.mark.parametrize(
    "arch, options, code",
    [
        ("sm_12", [], "TRI0752"),
        ("hopper", [], "TRI0752"),
        ("sm_80", ["num_warps"], "TRI0907"),
        ("sm_80", ["num_wraps=8"], "TRI0702"),
        ("sm_80", ["num_warps=3"], "TRI0713"),
    ],
)
def test_mistakes_are_named(file: Path, tmp_path: Path, arch: str, options: list[str], code: str) -> None:
    with pytest.raises(ArgumentError, match=code) as caught:
        compile_to(f"{file}::scale", arch, tmp_path / "out", SIGNATURE, options)
    assert not (tmp_path / "out").exists()
    if code in ("TRI0702", "TRI0713"):
        assert caught.value.loc is None, "what is wrong is on the command line"


def test_a_limit_of_registers_and_what_it_costs(file: Path, tmp_path: Path) -> None:
    file.write_text(MATMUL)
    signature = "*fp32:16, *fp32:16, *fp32:16, B=64"
    compile_to(f"{file}::product", "sm_90a", tmp_path, signature, ["maxnreg=40", "num_warps=2"])
    report = json.loads((tmp_path / "product.json").read_text())
    assert report["registers"] <= 40 and report["spill_stores"] > 0 and report["stack"] > 0
    assert report["shared"] >= 2 * 64 * 64 * 4
    spilled = [d for d in report["decisions"] if d["name"] == "registers"]
    assert len(spilled) == 1 and not spilled[0]["applied"] and "bytes of registers" in spilled[0]["text"]


def test_an_error_in_the_kernel_is_at_its_line(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CompilationError) as caught:
        compile_to(f"{file}::wrong", "sm_80", tmp_path / "out", "*fp32", [])
    assert caught.value.loc is not None and caught.value.loc.file == str(file)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="--output cannot be"):
        compile_to(f"{file}::scale", "sm_80", file, SIGNATURE, [])
