"""Compiling with NVRTC where there is no GPU: machine code, resources, located errors, threads, missing packages."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cuda_runtime.sources import ADD, DYNAMIC, REVERSE, SCALARS, SPILLS
from tritium.backends.cuda import nvrtc
from tritium.backends.cuda.logs import with_directives
from tritium.backends.cuda.nvrtc import Binary, Options, compile_all, compile_source
from tritium.backends.cuda.resources import read_cubin
from tritium.errors import (
    ArgumentError,
    CompilationError,
    LaunchError,
    Loc,
    OutOfResources,
    PTXASError,
    TritiumError,
)

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120")
pytestmark = pytest.mark.usefixtures("compiler")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("text, kernel", [(ADD, "add"), (REVERSE, "reverse"), (DYNAMIC, "dynamic")])
def test_compiles_for_every_architecture(arch: str, text: str, kernel: str) -> None:
    binary = compile_source(text, kernel, arch)
    assert binary.cubin[:4] == b"\x7fELF" and f".target {arch}" in binary.ptx
    assert binary.resources.registers > 0 and binary.seconds > 0
    assert binary.resources.shared == (1024 if kernel == "reverse" else 0)
    assert binary.resources.max_threads == {"add": 128, "reverse": 256, "dynamic": 64}[kernel]
    assert binary.messages == ()


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("text, kernel", [(REVERSE, "reverse"), (SPILLS, "spills")])
def test_the_cubin_and_the_log_of_the_assembler_agree(arch: str, text: str, kernel: str) -> None:
    binary = compile_source(text, kernel, arch)
    logged, read = binary.resources, read_cubin(binary.cubin, kernel, arch)
    assert read.registers == logged.registers and read.stack == logged.stack
    assert read.shared == logged.shared and read.barriers == logged.barriers == 1


def test_spills_and_stack_are_reported() -> None:
    r = compile_source(SPILLS, "spills", "sm_90a").resources
    assert r.registers <= 64, "1024 threads have 64 registers each"
    assert r.spill_stores > 0 and r.spill_loads > 0 and r.stack >= r.spill_stores // 2


def test_most_registers_can_be_set() -> None:
    text = SPILLS.replace("__launch_bounds__(1024) ", "")
    free = compile_source(text, "spills", "sm_90a").resources
    tight = compile_source(text, "spills", "sm_90a", Options(max_registers=32)).resources
    assert tight.registers <= 32 < free.registers and tight.spill_stores > free.spill_stores


def test_parameters_are_where_the_machine_code_wants_them() -> None:
    slots = compile_source(SCALARS, "scalars", "sm_80").resources.parameters
    assert [s.nbytes for s in slots] == [8, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 128]
    assert [s.offset for s in slots] == [0, 8, 9, 10, 12, 16, 24, 26, 28, 32, 40, 42, 44, 48, 96]


def test_fusion_of_multiply_and_add_is_an_option() -> None:
    text = 'extern "C" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }'
    assert "fma.rn.f32" in compile_source(text, "k", "sm_80").ptx
    unfused = compile_source(text, "k", "sm_80", Options(fp_fusion=False)).ptx
    assert "fma" not in unfused and "mul" in unfused and "add" in unfused


def test_line_information_names_the_kernels_lines() -> None:
    text = ADD.replace("    const int i", '#line 41 "/somewhere/kernels.py"\n    const int i')
    plain = compile_source(text, "add", "sm_80")
    lined = compile_source(text, "add", "sm_80", Options(line_info=True))
    assert "/somewhere/kernels.py" in lined.ptx and ".loc" in lined.ptx and ".loc" not in plain.ptx
    assert len(lined.cubin) > len(plain.cubin)


def test_options_for_the_assembler_reach_it() -> None:
    with pytest.raises(TritiumError, match="no-such-option"):
        compile_source(ADD, "add", "sm_80", Options(assembler=("--no-such-option",)))
    assert compile_source(ADD, "add", "sm_80", Options(assembler=("-O1",))).cubin


def test_the_same_source_gives_the_same_machine_code() -> None:
    one, two = (compile_source(REVERSE, "reverse", "sm_90a") for _ in range(2))
    assert one.cubin == two.cubin


def test_a_binary_survives_its_parts() -> None:
    text = ADD.replace("const int i", "int unused = 3; const int i")
    binary = compile_source(text, "add", "sm_80")
    assert [m.text for m in binary.messages] == ['variable "unused" was declared but never referenced']
    again = Binary.of_parts(binary.parts(), binary.about())
    assert (again.cubin, again.ptx, again.resources, again.messages) == (
        *(binary.cubin, binary.ptx, binary.resources, binary.messages),
    )


# ---- errors ----------------------------------------------------------------------------------------------


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text("".join(f"    statement_{i}\n" for i in range(1, 50)))
    return file


def lines_from(file: Path, text: str) -> str:
    return text.replace("    if (i < n)", f'#line 33 "{file}"\n    if (i < n)')


def test_an_error_of_the_front_end_is_at_the_kernels_line(kernel_file: Path) -> None:
    text = lines_from(kernel_file, ADD.replace("y[i];", "y[i] + wrong;"))
    with pytest.raises(CompilationError) as caught:
        compile_source(text, "add", "sm_80")
    error = caught.value
    assert error.code == "TRI0750" and error.loc is not None
    assert (error.loc.file, error.loc.line, error.loc.function) == (str(kernel_file), 33, "add")
    shown = str(error)
    assert "statement_33" in shown and 'identifier "wrong" is undefined' in shown
    assert "out[i] = x[i] + y[i] + wrong;" in shown


def test_an_error_of_the_assembler_is_at_the_kernels_line(kernel_file: Path) -> None:
    bad = 'asm volatile("foo.bar.b32 %0, 1;" :: "r"(i));'
    text = lines_from(kernel_file, ADD.replace("y[i];", f"y[i]; {bad}"))
    with pytest.raises(PTXASError) as caught:
        compile_source(text, "add", "sm_80")
    error = caught.value
    assert error.code == "TRI0751" and error.loc is not None and error.loc.line == 33
    shown = str(error)
    assert "foo.bar.b32" in shown and "'.bar'" in shown and "also at line 33: Not a name" in shown


def test_an_error_in_generated_lines_quotes_them() -> None:
    with pytest.raises(CompilationError) as caught:
        compile_source(ADD.replace("y[i];", "y[i] + wrong;"), "add", "sm_80")
    assert caught.value.notes[0] == "generated code at line 4: if (i < n) out[i] = x[i] + y[i] + wrong;"


@pytest.mark.parametrize("bad", ["y[i] + wrong;", 'y[i]; asm volatile("foo.bar.b32 %0, 1;" :: "r"(i));'])
@pytest.mark.parametrize("line_info", [False, True])
def test_the_generators_table_of_lines_places_errors(kernel_file: Path, bad: str, line_info: bool) -> None:
    lines = {3: Loc(str(kernel_file), 11, 4, 11, 9, "add"), 4: Loc(str(kernel_file), 12, 4, 12, 16, "add")}
    with pytest.raises((CompilationError, PTXASError)) as caught:
        compile_source(ADD.replace("y[i];", bad), "add", "sm_80", Options(line_info=line_info), lines)
    loc = caught.value.loc
    assert loc is not None and (loc.file, loc.line, loc.col) == (str(kernel_file), 12, 4)
    assert loc.end_col == (16 if not line_info else len("    statement_12"))
    assert "generated code" in caught.value.notes[0]


def test_line_information_from_the_generators_table(kernel_file: Path) -> None:
    lines = {3: Loc(str(kernel_file), 11), 4: Loc(str(kernel_file), 12)}
    binary = compile_source(ADD, "add", "sm_80", Options(line_info=True), lines)
    assert f'"{kernel_file}"' in binary.ptx and re.search(r"\.loc\s+2 12 ", binary.ptx)
    text = with_directives(ADD, {**lines, 5: Loc('a "b"', 3)}).splitlines()
    assert text[2:7] == [
        f'#line 11 "{kernel_file}"',
        *ADD.splitlines()[2:4],
        '#line 3 "a \\"b\\""',
        "}",
    ]


def test_too_much_static_shared_memory_is_out_of_resources() -> None:
    with pytest.raises(OutOfResources) as caught:
        compile_source(REVERSE.replace("tile[256]", "tile[25600]"), "reverse", "sm_80")
    assert (caught.value.required, caught.value.limit) == (102400, 49152)
    assert "sm_80" in str(caught.value)


@pytest.mark.parametrize("arch", ["sm_91", "sm_9", "sm_90b", "compute_90", "90", "sm_80a", ""])
def test_an_unknown_architecture_is_named(arch: str) -> None:
    with pytest.raises(ArgumentError, match="TRI0752") as caught:
        compile_source(ADD, "add", arch)
    assert "sm_90" in str(caught.value.hint)


def test_warnings_are_kept_apart_from_errors() -> None:
    text = ADD.replace("const int i", "int unused = 3; const int i").replace("y[i];", "y[i] + wrong;")
    with pytest.raises(CompilationError) as caught:
        compile_source(text, "add", "sm_80")
    assert "wrong" in caught.value.message and "unused" not in str(caught.value.notes[1:])


# ---- many at once ----------------------------------------------------------------------------------------


def test_compiles_in_parallel_and_keeps_the_order() -> None:
    names = [f"k{i}" for i in range(12)]
    sources = [(ADD.replace("add(", f"{name}("), name) for name in names]
    sources[5] = ("nonsense", "k5")
    found = compile_all(sources, "sm_80", workers=4)
    assert [b.kernel for b in found if isinstance(b, Binary)] == names[:5] + names[6:]
    assert isinstance(found[5], CompilationError)
    for name, binary in zip(names, found, strict=True):
        if isinstance(binary, Binary):
            assert binary.cubin == compile_source(ADD.replace("add(", f"{name}("), name, "sm_80").cubin


def test_the_compiler_releases_the_gil() -> None:
    """While one thread compiles for long, another one runs Python."""
    import threading

    ticks = 0
    done = threading.Event()

    def compile_long() -> None:
        compile_source(SPILLS, "spills", "sm_90a")
        done.set()

    thread = threading.Thread(target=compile_long)
    started = time.perf_counter()
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    elapsed = time.perf_counter() - started
    assert elapsed > 0.05 and ticks > elapsed / 0.001 * 0.1


# ---- what is installed -----------------------------------------------------------------------------------


def test_says_who_it_is() -> None:
    assert nvrtc.version() >= (13, 0)
    assert nvrtc.identity().startswith("nvrtc 13.") and "sm_90" in nvrtc.architectures()
    assert nvrtc.is_available()


def test_a_missing_library_says_where_it_was_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Bindings:
        @staticmethod
        def nvrtcVersion() -> None:
            raise RuntimeError("Failure finding libnvrtc.so.13")

    monkeypatch.setattr(nvrtc, "_loaded", [])
    monkeypatch.setattr(nvrtc, "import_module", lambda name: Bindings)
    monkeypatch.setattr(nvrtc, "_roots", lambda: [tmp_path])
    with pytest.raises(LaunchError, match="TRI0737") as caught:
        nvrtc.version()
    assert str(tmp_path / "cu13/lib") in caught.value.message
    assert "pip install" in str(caught.value) and "nvidia-cuda-nvrtc" in str(caught.value)
    assert not nvrtc.is_available()


def test_missing_bindings_give_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'cuda'")

    monkeypatch.setattr(nvrtc, "_loaded", [])
    monkeypatch.setattr(nvrtc, "import_module", refuse)
    with pytest.raises(LaunchError, match="cuda-bindings is needed") as caught:
        compile_source(ADD, "add", "sm_80")
    assert f"pip install {nvrtc.PACKAGES}" in str(caught.value)


def test_importing_tritium_loads_nothing_of_cuda() -> None:
    import subprocess

    code = (
        "import sys, tritium, tritium.backends.cuda.nvrtc, tritium.backends.cuda.driver\n"
        "bad = [m for m in sys.modules if m == 'cuda' or m.startswith('cuda.') or m == 'torch']\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
