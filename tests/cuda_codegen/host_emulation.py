"""Generated CUDA C++ run on the host: compiled by g++ with a shim, every thread of a block a coroutine.

What this checks that the interpreter of machine IR cannot: the text itself, its addresses, predicates and barriers. The
threads of a block run one after another between barriers, in random order, so that a missing barrier shows. It says
nothing about speed, and nothing about what only a GPU does (warps in step, memory order inside an interval).
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cuda_codegen.launching import launching
from tritium.backends.cuda import generate
from tritium.backends.cuda.prelude_tensor import pieces
from tritium.ir.match import Record
from tritium.ir.types import DType, PointerType
from tritium.ops.storage import constant
from tritium.runtime.arrays import ArrayView

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="the host emulation of CUDA needs g++")
HERE = Path(__file__).parent
KEPT_PIECES = ("swizzled", "mma_tf32", "mma_tf32x3")
"""Device functions for tensor cores that are plain C++ but for one line."""


def translated(source: generate.CudaSource) -> str:
    """The C++ that the host compiles."""
    whole = "extern __shared__ __align__(16) unsigned char shared_memory[]"
    text = source.text.replace(whole, "unsigned char* const shared_memory = emulation::dynamic_shared")
    text = text.replace("__shared__ __align__(16)", "alignas(16) static")
    text = _with_tensor_cores(text)
    kept = (
        line
        for line in text.splitlines()
        if "asm(" not in line and "asm volatile(" not in line and not line.startswith('extern "C" __device__')
    )
    text = re.sub(r"\b__nv_(\w+)", r"\1", "\n".join(kept))  # the device library's functions are those of C
    start = text.index(
        "(", text.index("__global__ void __launch_bounds__") + len("__global__ void __launch_bounds__(")
    )
    parameters = [p.strip() for p in text[start + 1 : text.index(") {", start)].split(",") if p.strip()]
    types = [p.rpartition(" ")[0] if "*" not in p else p[: p.rindex("*") + 1] for p in parameters]
    values = ", ".join(f"*({t}*)parameters[{i}]" for i, t in enumerate(types))
    call = f'extern "C" void body(void** parameters) {{ {source.kernel_name}({values}); }}'
    return "\n".join(['#include "host_shim.h"', _with_halves(text), call])


def _with_halves(text: str) -> str:
    """Put the conversions that were inline assembly right after the types they are for."""
    for name in ("f16", "bf16"):
        text = text.replace(
            f"struct {name} {{ u16 bits; }};", f"struct {name} {{ u16 bits; }};\nCONVERSIONS_{name.upper()}"
        )
    return text


def _with_tensor_cores(text: str) -> str:
    """Put what `host_tensor.h` does in place of the device functions that are PTX instructions."""
    include = '#include "host_tensor.h"'
    for name, piece, _ in pieces():
        written = piece.strip("\n").replace("FN ", "__device__ __forceinline__ ")
        if name not in KEPT_PIECES and written in text:
            text = text.replace(written, include)
    return text


def _compiled(file: Path, visible: int, *flags: str) -> ctypes.CDLL:
    library = file.with_suffix(".so")
    if not library.exists():
        command = [str(COMPILER), "-O1", "-std=c++17", "-shared", "-fPIC", "-w", f"-I{HERE}", *flags]
        done = subprocess.run([*command, "-o", str(library), str(file)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(library), visible)


@functools.cache
def libraries() -> Path:
    """Where libraries are kept until the process ends: the scheduler must be loaded once only."""
    folder = Path(tempfile.mkdtemp(prefix="tritium-host-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def build(source: generate.CudaSource) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """The scheduler, and `source` as a library; compiled unless they are there."""
    folder = libraries()
    scheduler = folder / "host_scheduler.cpp"
    if not scheduler.exists():
        shutil.copy(HERE / scheduler.name, scheduler)
    text = translated(source)
    file = folder / f"kernel_{hashlib.sha256(text.encode()).hexdigest()[:24]}.cpp"
    file.write_text(text, encoding="utf-8")
    made = _compiled(scheduler, ctypes.RTLD_GLOBAL)
    return made, _compiled(file, ctypes.RTLD_LOCAL, "-fno-strict-aliasing", "-ffp-contract=off")


def parameter(ty: Any, leaf: Any) -> np.ndarray[Any, Any]:
    """One parameter's bytes."""
    if isinstance(ty, PointerType):
        return np.array([leaf.address if isinstance(leaf, ArrayView) else int(leaf)], np.uint64)
    assert isinstance(ty, DType)
    value = leaf.item() if isinstance(leaf, np.generic) else leaf
    return np.ascontiguousarray(constant(value, ty).reshape(-1))


def run(
    source: generate.CudaSource, grid: tuple[int, int, int], leaves: Sequence[Any], seed: int = 0
) -> None:
    """Run every block of the grid; AssertionError where threads of a block disagree about a barrier."""
    held = [parameter(t, x) for t, x in zip(source.parameters, leaves, strict=True)]
    pointers = (ctypes.c_void_p * max(len(held), 1))(*(h.ctypes.data for h in held))
    scheduler, kernel = build(source)
    scheduler.emulate.restype = ctypes.c_char_p
    failed = scheduler.emulate(*grid, source.threads, source.dynamic_shared, kernel.body, pointers, seed)
    assert failed is None, f"{source.kernel_name}: {failed.decode()}"


@contextmanager
def on_host(**options: Any) -> Iterator[list[Record]]:
    """Within the block, launches that the interpreter would run go through CUDA C++ and the host's compiler."""
    records: list[Record] = []
    sources: dict[Any, generate.CudaSource] = {}

    def execute(kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        source = sources.get(kernel)
        if source is None:
            chosen = {**kernel.options, **options}
            source = generate.generate(kernel.compilation.artefacts["opt.tir"], chosen, "sm_90a")
            sources[kernel] = source
        records.append(source.record)
        if 0 not in grid:
            run(source, grid, leaves)

    with launching(execute):
        yield records
