"""``tritium ir``, ``explain``, ``stages`` and ``doctor``: finding kernels, reading signatures, what is printed where."""

from __future__ import annotations

import itertools
import json
import textwrap
from pathlib import Path

import pytest

import tritium as triton
import tritium.language as tl
from tritium.cli.signature_text import parse_signature
from tritium.errors import ArgumentError
from tritium.runtime.specialize import ConstArg, DescriptorArg, RuntimeArg, TupleArg

from .programs import ADD, HEAD, tritium, write


@pytest.fixture
def add(tmp_path: Path) -> Path:
    return write(tmp_path, "add.py", ADD)


# ---- finding the kernel ------------------------------------------------------------------------------


def test_ir_of_the_first_launch(add: Path) -> None:
    done = tritium("ir", f"{add}::add_kernel")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("func @add_kernel(%x_ptr: ptr<f32>") and "tile.store" in done.stdout
    assert "%n: i32" in done.stdout and "BLOCK" not in done.stdout


@pytest.mark.parametrize("stage", ["source", "tir", "opt.tir", "order.tir"])
def test_every_stage(add: Path, stage: str) -> None:
    done = tritium("ir", f"{add}::add_kernel", "--stage", stage, "--signature", "*fp32, *fp32, *fp32, i32, 4")
    start = "def add_kernel(" if stage == "source" else "func @add_kernel("
    assert done.returncode == 0 and done.stdout.startswith(start), done.stderr


def test_places_in_the_ir(add: Path) -> None:
    done = tritium("ir", f"{add}::add_kernel", "--locs", "-s", "*fp32, *fp32, *fp32, i32, 4")
    assert "add.py" in done.stdout and done.stdout.count("loc") > 5


def test_what_the_program_prints_goes_to_standard_error(tmp_path: Path) -> None:
    text = """
        import os, subprocess, sys
        print("printed")
        sys.stdout.write("written\\n")
        sys.stdout.flush()
        os.write(1, b"by the system\\n")
        subprocess.run([sys.executable, "-c", "print('by a child')"])
    """
    file = write(tmp_path, "noisy.py", textwrap.dedent(text) + ADD)
    for arguments in ([], ["-s", "*fp32, *fp32, *fp32, i32, BLOCK=4"]):
        done = tritium("ir", f"{file}::add_kernel", *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("func @add_kernel(")
        for words in ("printed", "written", "by the system", "by a child"):
            assert words in done.stderr and words not in done.stdout


def test_going_on_from_a_file(add: Path, tmp_path: Path) -> None:
    target = f"{add}::add_kernel"
    text = tritium("ir", target, "--stage", "tir").stdout
    file = write(tmp_path, "mine.tir", text.replace("tile.add(", "tile.sub("))
    done = tritium("ir", target, "--from", f"tir={file}")
    assert "tile.sub(" in done.stdout and done.returncode == 0
    for wrong in ("tir", "tir=none.tir", "source=mine.tir", "ptx=mine.tir"):
        done = tritium("ir", target, "--from", wrong, cwd=tmp_path)
        assert done.returncode == 1 and "--from cannot be" in done.stderr


DECORATED = (
    HEAD
    + """

@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.autotune([triton.Config({"BLOCK": 8}), triton.Config({"BLOCK": 16})], key=["n"])
@triton.jit
def decorated(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), BLOCK)


def hidden():
    @triton.jit
    def nested(x):
        tl.store(x, 1.0)

    return nested


renamed = triton.jit(lambda x: tl.store(x, 2.0))
if __name__ == "__main__":
    x = np.zeros(16, np.float32)
    hidden()[(1,)](x)
    decorated[(1,)](x, 6)
    renamed[(1,)](x)
"""
)


@pytest.mark.parametrize("name, words", [("decorated", "8"), ("nested", "1.0"), ("renamed", "2.0")])
def test_kernels_under_decorators_in_functions_and_under_other_names(
    tmp_path: Path, name: str, words: str
) -> None:
    file = write(tmp_path, "decorated.py", DECORATED)
    done = tritium("ir", f"{file}::{name}")
    assert done.returncode == 0 and words in done.stdout, done.stderr


def test_a_kernel_that_is_not_launched_needs_a_signature(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "quiet.py",
        ADD.replace("    print(add(", "    str((").replace("np.float32)))", "np.float32)))"),
    )
    done = tritium("ir", f"{file}::add_kernel")
    assert done.returncode == 1 and "error[TRI0905]" in done.stderr and "--signature" in done.stderr
    assert tritium("ir", f"{file}::add_kernel", "-s", "*fp32,*fp32,*fp32,i32,4").returncode == 0


@pytest.mark.parametrize(
    "target, code, words",
    [
        ("add.py", "TRI0909", "`add.py` does not name a kernel"),
        ("add.py::", "TRI0909", "does not name a kernel"),
        ("none.py::add_kernel", "TRI0909", "there is no file none.py"),
        ("add.py::add_kernal", "TRI0903", "did you mean `add_kernel`?"),
        ("add.py::zzz", "TRI0903", "the file has: add_kernel"),
        ("empty.py::add_kernel", "TRI0903", "functions with @triton.jit"),
    ],
)
def test_targets_that_lead_nowhere(add: Path, tmp_path: Path, target: str, code: str, words: str) -> None:
    write(tmp_path, "empty.py", "")
    for verb in ("ir", "explain"):
        done = tritium(verb, target, "-s", "i32", cwd=tmp_path)
        assert done.returncode == 1 and f"error[{code}]" in done.stderr and words in done.stderr
        assert "Traceback" not in done.stderr and done.stdout == ""


def test_an_unknown_stage(add: Path) -> None:
    done = tritium("ir", f"{add}::add_kernel", "--stage", "ptx")
    assert done.returncode == 1 and "has no stage `ptx`" in done.stderr


def test_a_program_that_fails_first(tmp_path: Path) -> None:
    file = write(tmp_path, "fails.py", ADD.replace("    print(", "    1 / 0\n    print("))
    done = tritium("ir", f"{file}::add_kernel")
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and done.stdout == ""
    assert "fails.py" in done.stderr and "target.py" not in done.stderr
    given = tritium("ir", f"{file}::add_kernel", "-s", "*fp32,*fp32,*fp32,i32,4")
    assert given.returncode == 0, "the kernel is there before the failure"


def test_a_kernel_with_a_mistake(tmp_path: Path) -> None:
    file = write(tmp_path, "broken.py", ADD.replace("x + y", "x + z"))
    done = tritium("ir", f"{file}::add_kernel")
    assert done.returncode == 1 and "error[TRI0301]" in done.stderr and "Traceback" not in done.stderr


# ---- signatures --------------------------------------------------------------------------------------


@triton.jit
def helper(x):
    return x


@triton.jit
def kernel(x, n, pair, desc, BLOCK: tl.constexpr, TYPE: tl.constexpr = tl.float32, flag=None):
    tl.store(x, n)


def test_entries_of_a_signature() -> None:
    text = (
        "*fp16:16, i64:16, (*ki8, (fp32, None)), tensordesc<bf16[16, 32]>, (1, 'a,b'), tl.float16, flag=True"
    )
    specs = dict(parse_signature(kernel, text))
    assert specs["x"] == RuntimeArg(tl.pointer_type(tl.float16), True)
    assert specs["n"] == RuntimeArg(tl.int64, True)
    assert (
        isinstance(specs["pair"], TupleArg)
        and str(specs["pair"]) == "(ptr<i8, const>, (f32, the constant None))"
    )
    assert specs["desc"] == DescriptorArg(tl.bfloat16, (16, 32))
    assert [specs[n].value for n in ("BLOCK", "TYPE", "flag")] == [(1, "a,b"), tl.float16, True]


def test_entries_by_name_and_defaults() -> None:
    specs = dict(parse_signature(kernel, "*fp32, BLOCK=helper, n=5, desc=i32, pair=None"))
    assert isinstance(specs["n"], ConstArg) and specs["n"].value == 5
    assert (
        specs["BLOCK"].value is helper and specs["TYPE"].value is tl.float32 and specs["flag"].value is None
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "`x` has no entry"),
        ("*fp32, i32", "`pair` has no entry"),
        ("*fp32, i32, 1, 2, 3, 4, 5, 6", "more entries than the 7 parameters"),
        ("*fp32, x=i32", "`x` is there twice"),
        ("*fp32, size=i32", "`size` is no parameter"),
        ("*fp33, 1, 2, 3, 4", "'*fp33' is neither a type nor a literal"),
        ("*fp32:8, 1, 2, 3, 4", "can only be 16"),
        ("fp32:16, 1, 2, 3, 4", "only integers and pointers"),
        ("*fp32, 1, 2, 3, BLOCK=nothing", "is no value for the compile-time parameter `BLOCK`"),
    ],
)
def test_texts_that_are_no_signature(text: str, words: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_signature(kernel, text)
    assert caught.value.code == "TRI0906" and words in str(caught.value)
    assert "x, n, pair, desc, BLOCK, TYPE, flag" in str(caught.value)


# ---- explain, stages, doctor -------------------------------------------------------------------------


def test_explaining_as_text_and_as_json(add: Path) -> None:
    target = [f"{add}::add_kernel", "-s", "*fp32:16, *fp32, *fp32, i32, BLOCK=4"]
    text = tritium("explain", *target, "--text")
    assert text.returncode == 0, text.stderr
    for words in ("kernel add_kernel for interpret", "x_ptr: pointer<fp32>, divisible by 16", "BLOCK = 4"):
        assert words in text.stdout
    for part in ("arguments", "stages", "memory accesses", "memory order", "decisions"):
        assert part in text.stdout
    found = json.loads(tritium("explain", *target, "--json").stdout)
    assert found["kernel"] == "add_kernel" and found["constants"] == {"BLOCK": "4"}
    assert [a["name"] for a in found["arguments"]] == ["x_ptr", "y_ptr", "out_ptr", "n"]
    assert [a["kind"] for a in found["accesses"]] == ["load", "load", "store"]
    assert {a["array"] for a in found["accesses"]} == {"x_ptr", "y_ptr", "out_ptr"}
    assert [s["name"] for s in found["stages"]] == ["source", "tir", "opt.tir", "order.tir"]
    assert found["operations"]["tile.store"] == 1 and found["order"][-1]["after"]


def test_the_stages() -> None:
    done = tritium("stages", "interpret")
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert names[:4] == ["source", "tir", "opt.tir", "order.tir"] and "canonicalize" in names
    assert "cannot be resumed from" in done.stdout.splitlines()[1]
    assert tritium("stages", "tpu").returncode == 1


def test_the_doctor(tmp_path: Path) -> None:
    done = tritium("doctor", TRITIUM_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok") and "interpreter runs a kernel" in line for line in lines)
    assert any(str(tmp_path / "cache") in line for line in lines)
    assert any(line.startswith("TRITIUM_BACKEND") for line in lines)
    for missing, mend in itertools.pairwise(lines):
        if missing.startswith("missing"):
            assert mend.strip().startswith("->") and len(mend.strip()) > 5
    found = json.loads(tritium("doctor", "--json").stdout)
    assert found["ok"] is True and {"what", "ok", "found", "mend", "needed"} == set(found["checks"][0])


def test_the_doctor_finds_what_is_wrong(tmp_path: Path) -> None:
    blocked = write(tmp_path, "file", "")
    done = tritium("doctor", TRITIUM_CACHE_DIR=str(blocked / "cache"))
    assert "missing cache folder" in done.stdout and "export TRITIUM_CACHE_DIR" in done.stdout
    done = tritium("doctor", TRITIUM_VERIFY="sometimes")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "TRITIUM_VERIFY is 'sometimes', not one of off, cheap, total" in done.stdout
    assert "-> unset TRITIUM_VERIFY" in done.stdout
