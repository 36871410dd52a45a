"""From generated source to machine code in the disk cache, and to a program that can be launched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cuda_runtime.fake_driver import FakeDriver
from tests.cuda_runtime.sources import ADD, ADD_NAMES, ADD_TYPES, DYNAMIC, FLOATS, REVERSE, SPILLS
from tritium import config
from tritium.backends.cuda import nvrtc
from tritium.backends.cuda.assemble import architecture, assemble, program_of, record_findings
from tritium.errors import ArgumentError, CompilationError, LaunchError, Loc, OutOfResources
from tritium.ir import types as T
from tritium.ir.match import Record
from tritium.runtime.disk_cache import disk_cache, keep


@dataclass(frozen=True)
class Source:
    """What the generator hands over."""

    text: str
    kernel_name: str
    threads: int
    shared_bytes: int = 0
    dynamic_shared: int = 0
    parameters: tuple[Any, ...] = ()
    lines: Mapping[int, Loc] = field(default_factory=dict)


ADDING = Source(ADD, "add", 128, parameters=ADD_TYPES)
SM80 = {"arch": "sm_80"}


@pytest.fixture
def cached(tmp_path: Path) -> Any:
    with config.override(tritium_cache_dir=tmp_path):
        yield disk_cache()


@pytest.mark.usefixtures("compiler")
def test_compiles_once_and_then_reads(cached: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = assemble(ADDING, SM80, keep)
    monkeypatch.setattr(nvrtc, "compile_source", None)
    second = assemble(ADDING, SM80, keep)
    assert first.seconds > 0 and second.seconds == 0
    assert (second.cubin, second.ptx, second.resources) == (first.cubin, first.ptx, first.resources)
    (entry,) = cached.entries()
    assert entry.about["kernel"] == "add" and entry.about["arch"] == "sm_80"


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    "source, options, line_info",
    [
        (Source(ADD + "\n", "add", 128, parameters=ADD_TYPES), SM80, False),
        (ADDING, {"arch": "sm_90"}, False),
        (ADDING, {**SM80, "enable_fp_fusion": False}, False),
        (ADDING, {**SM80, "maxnreg": 64}, False),
        (ADDING, {**SM80, "ptx_options": "-O1"}, False),
        (ADDING, SM80, True),
    ],
)
def test_whatever_changes_the_machine_code_is_in_the_key(
    cached: Any, source: Source, options: dict[str, Any], line_info: bool
) -> None:
    assemble(ADDING, SM80, keep)
    assert assemble(source, options, keep, line_info).seconds > 0
    assert len(cached.entries()) == 2


@pytest.mark.usefixtures("compiler")
def test_another_compiler_compiles_again(cached: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assemble(ADDING, SM80, keep)
    monkeypatch.setattr(nvrtc, "identity", lambda: "nvrtc 13.9")
    assert assemble(ADDING, SM80, keep).seconds > 0


@pytest.mark.usefixtures("compiler")
def test_a_damaged_entry_is_compiled_again(cached: Any) -> None:
    binary = assemble(ADDING, SM80, keep)
    (entry,) = cached.entries()
    data = entry.path.read_bytes()
    at = data.index(binary.cubin) + 100
    entry.path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
    again = assemble(ADDING, SM80, keep)
    assert again.seconds > 0 and again.cubin == binary.cubin


@pytest.mark.usefixtures("compiler")
def test_an_error_is_not_kept(cached: Any) -> None:
    bad = Source(ADD.replace("y[i];", "wrong;"), "add", 128, parameters=ADD_TYPES)
    for _ in range(2):
        with pytest.raises(CompilationError, match="TRI0750"):
            assemble(bad, SM80, keep)
    assert cached.entries() == []


@pytest.mark.usefixtures("compiler")
def test_without_a_cache_it_just_compiles() -> None:
    assert assemble(ADDING, SM80).seconds > 0


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    "arch, fits", [("sm_80", True), ("sm_89", False), ("sm_90a", True), ("sm_120", False)]
)
def test_dynamic_shared_memory_has_to_fit_the_architecture(arch: str, fits: bool) -> None:
    source = Source(DYNAMIC, "dynamic", 64, dynamic_shared=120 * 1024, parameters=(FLOATS, T.int32))
    if fits:
        assert assemble(source, {"arch": arch}).kernel == "dynamic"
    else:
        with pytest.raises(OutOfResources, match=f"122880 bytes of shared memory, and {arch} has 101376"):
            assemble(source, {"arch": arch})


@pytest.mark.usefixtures("compiler")
def test_spills_are_put_on_record() -> None:
    record = Record()
    record_findings(assemble(Source(SPILLS, "spills", 1024, parameters=(FLOATS,)), SM80), record)
    (decision,) = record
    assert decision.name == "registers" and not decision.applied and "bytes of registers" in decision.text
    record = Record()
    record_findings(assemble(ADDING, SM80), record)
    assert list(record) == []


@pytest.mark.parametrize("given", ["sm_90a", "sm90a", "SM_90a", "90a"])
def test_an_architecture_may_be_written_short(given: str) -> None:
    assert architecture({"arch": given}) == "sm_90a"
    assert architecture({"arch": 80}) == "sm_80"


def test_a_word_is_no_architecture() -> None:
    with pytest.raises(ArgumentError, match="TRI0752"):
        architecture({"arch": "hopper"})


def test_the_architecture_is_that_of_the_gpu_here(fake: FakeDriver) -> None:
    assert architecture({}) == architecture({"arch": None}) == "sm_90a"


def test_without_a_gpu_the_architecture_has_to_be_said(fake: FakeDriver) -> None:
    fake.gpus = 0
    with pytest.raises(LaunchError, match="TRI0738"):
        architecture({})


@pytest.mark.usefixtures("compiler")
def test_a_program_is_made_of_source_and_machine_code(fake: FakeDriver) -> None:
    binary = assemble(ADDING, {"arch": "sm_90a"})
    program = program_of(ADDING, binary, ADD_NAMES, {"launch_pdl": True})
    assert [p.nbytes for p in program.parameters] == [8, 8, 8, 4]
    assert program.shape.threads == 128 and program.shape.programmatic and not program.shape.cooperative
    fake.slots = [8, 8, 8, 4]
    program.on(0)[1](4, 1, 1, 0, 1, 2, 3, 500)
    assert fake.launches[0].grid == (4, 1, 1) and fake.loads[0][1] == binary.cubin


@pytest.mark.usefixtures("compiler")
def test_a_generator_that_miscounts_its_parameters_is_caught() -> None:
    source = Source(REVERSE, "reverse", 256, parameters=(FLOATS, T.int32))
    with pytest.raises(ValueError, match="1 parameters, its source was to have 2"):
        program_of(source, assemble(source, SM80), ("x", "n"), {})


PROCESS = """
import sys, time
from pathlib import Path
from tests.cuda_runtime.test_assemble import ADD, ADD_TYPES, Source, SM80
from tritium import config
from tritium.backends.cuda.assemble import assemble
from tritium.runtime.disk_cache import keep

time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
made = 0
with config.override(tritium_cache_dir=sys.argv[1]):
    for i in range(3):
        source = Source(ADD.replace("add(", f"add{i}("), f"add{i}", 128, parameters=ADD_TYPES)
        made += assemble(source, SM80, keep).seconds > 0
print(made)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_sixteen_processes_compile_each_kernel_once(tmp_path: Path) -> None:
    import time

    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src"), *sys.path])}
    command = [sys.executable, "-c", PROCESS, str(tmp_path), str(time.time() + 6)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(16)
    ]
    made = [int(process.communicate(timeout=300)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    assert sum(made) == 3
