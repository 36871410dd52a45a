"""CUDA C++ to machine code through NVRTC: in this process, without a GPU, a CUDA toolkit or a C compiler.

NVRTC comes as the package ``nvidia-cuda-nvrtc`` and is called through ``cuda-bindings``. Its calls release the GIL and
are independent of each other, so threads compile in parallel (`compile_all`).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import importlib.util
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tritium.backends.cuda import logs
from tritium.backends.cuda.resources import Resources, out_of_resources, read_cubin
from tritium.errors import Loc, TritiumError, make_error

PACKAGES = "'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc>=13,<14'"
_LIBRARIES = ("libnvrtc-builtins.so.13*", "libnvrtc.so.13")
_FOLDERS = ("cu13/lib", "cuda_nvrtc/lib")
_TOO_MUCH_SHARED = re.compile(r"uses too much shared data \(0x([0-9a-f]+) bytes, 0x([0-9a-f]+) max\)")


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile.

    fp_fusion      a * b + c may round once
    line_info      machine code records source lines (for profilers; the code itself is the same)
    max_registers  most registers per thread; None leaves it to the compiler
    assembler      further options for the assembler
    """

    fp_fusion: bool = True
    line_info: bool = False
    max_registers: int | None = None
    assembler: tuple[str, ...] = ()

    def flags(self, arch: str) -> tuple[str, ...]:
        """NVRTC's command line."""
        out = [
            f"--gpu-architecture={arch}",
            "--std=c++17",
            "--minimal",  # without the built-in declarations of textures and the like: a quarter less time
            "-default-device",
            "--ptxas-options=-v",
            "--prec-div=false",  # `/` of fp32 as in Triton; where rounding counts, the source says __fdiv_rn
            f"--fmad={str(self.fp_fusion).lower()}",
            "--no-cache",  # NVRTC's own cache on disk: ours stands before it
        ]
        if self.line_info:
            out.append("--generate-line-info")
        if self.max_registers is not None:
            out.append(f"--maxrregcount={self.max_registers}")
        return (*out, *(f"--ptxas-options={option}" for option in self.assembler))


@dataclass(frozen=True, slots=True)
class Binary:
    """One compiled kernel.

    kernel, arch  its name in the module, and the architecture, such as ``sm_90a``
    cubin, ptx    machine code (an ELF image), and the assembly text it was made from
    resources     what it takes
    messages      warnings of the compiler and advice of the assembler
    seconds       that compiling took; 0 for one that was read from a cache
    """

    kernel: str
    arch: str
    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    resources: Resources
    messages: tuple[logs.Message, ...] = ()
    seconds: float = 0.0

    def parts(self) -> dict[str, bytes]:
        """What `of_parts` needs to make the binary again, as named byte strings."""
        return {"cubin": self.cubin, "ptx": self.ptx.encode()}

    def about(self) -> dict[str, Any]:
        """The rest of what `of_parts` needs, as plain values."""
        return {
            "kernel": self.kernel,
            "arch": self.arch,
            "resources": self.resources.to_json(),
            "messages": [m.to_json() for m in self.messages],
        }

    @staticmethod
    def of_parts(parts: Any, about: Any) -> Binary:
        """The binary of which `parts` and `about` were taken."""
        return Binary(
            about["kernel"],
            about["arch"],
            parts["cubin"],
            parts["ptx"].decode(),
            Resources.from_json(about["resources"]),
            tuple(logs.Message(**m) for m in about["messages"]),
        )

    def __str__(self) -> str:
        r = self.resources
        return (
            f"{self.kernel} for {self.arch}: {len(self.cubin)} bytes, {r.registers} registers, "
            f"{r.spill_stores + r.spill_loads} bytes of spills, {r.shared} bytes of static shared memory, "
            f"{r.stack} bytes of stack"
        )


# ---- finding the library ---------------------------------------------------------------------------------

_lock = threading.Lock()
_loaded: list[Any] = []


def library() -> Any:
    """The module ``cuda.bindings.nvrtc``, with its library loaded. LaunchError TRI0737 where something is missing."""
    if _loaded:
        return _loaded[0]
    with _lock:
        if not _loaded:
            _loaded.append(_load())
    return _loaded[0]


def _load() -> Any:
    try:
        nvrtc: Any = import_module("cuda.bindings.nvrtc")
    except ImportError as missing:
        raise _missing("cuda-bindings", str(missing)) from None
    places = _preload()
    try:
        nvrtc.nvrtcVersion()
    except Exception:
        looked = ", ".join(map(str, places)) or "no folder `nvidia` among the installed packages"
        raise _missing(
            "nvidia-cuda-nvrtc",
            f"{_LIBRARIES[1]} was found neither there nor by the system's loader ({looked})",
        ) from None
    return nvrtc


def _missing(name: str, problem: str) -> TritiumError:
    return make_error("TRI0737", name=name, problem=problem, packages=PACKAGES)


def _preload() -> list[Path]:
    """Load NVRTC from the installed packages, wherever on `sys.path` they are; the folders that were looked into.

    cuda-bindings looks in site-packages, the system's library folders and CUDA_HOME. A library that is loaded already
    it takes as it is, and NVRTC finds its own second half the same way.
    """
    places = [root / folder for root in _roots() for folder in _FOLDERS]
    for place in places:
        found = [next(iter(sorted(place.glob(pattern))), None) for pattern in _LIBRARIES]
        if None not in found:
            with contextlib.suppress(OSError):
                for path in found:
                    ctypes.CDLL(str(path))
                return [place]
    return places


def _roots() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for location in (spec.submodule_search_locations if spec else None) or ():
        yield Path(location)


def is_available() -> bool:
    """Whether kernels can be compiled here."""
    try:
        library()
    except TritiumError:
        return False
    return True


def version() -> tuple[int, int]:
    """NVRTC's version, such as (13, 0)."""
    _, major, minor = library().nvrtcVersion()
    return int(major), int(minor)


@cache
def identity() -> str:
    """What tells this compiler from others that could compile the same source differently."""
    major, minor = version()
    try:
        package = importlib.metadata.version("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        package = ""
    return f"nvrtc {major}.{minor} {package}".strip()


@cache
def architectures() -> tuple[str, ...]:
    """The architectures that the compiler knows, such as ``sm_90``."""
    error, numbers = _supported()
    _check(error, "nvrtcGetSupportedArchs")
    return tuple(f"sm_{n}" for n in numbers)


def _supported() -> tuple[Any, list[int]]:
    nvrtc = library()
    error, count = nvrtc.nvrtcGetNumSupportedArchs()
    _check(error, "nvrtcGetNumSupportedArchs")
    error, numbers = nvrtc.nvrtcGetSupportedArchs()
    return error, list(numbers)[:count]


def _check(error: Any, call: str) -> None:
    if int(error):
        raise make_error("TRI0750", function=call, problem=str(error))


# ---- compiling -------------------------------------------------------------------------------------------


def compile_source(
    text: str,
    kernel: str,
    arch: str,
    options: Options | None = None,
    lines: Mapping[int, Loc] | None = None,
) -> Binary:
    """Compile CUDA C++ that defines ``extern "C" __global__`` function `kernel`.

    arch   such as ``sm_80``, ``sm_90a``, ``sm_100``; no GPU is needed
    lines  for lines of `text`, counted from 1, where in the kernel's source they come from
    Raises CompilationError TRI0750 and PTXASError TRI0751 with the kernel's line, OutOfResources TRI0734 for too much
    static shared memory, ArgumentError TRI0752 for an architecture unknown to the compiler, LaunchError TRI0737 where
    NVRTC is missing.
    """
    options = options or Options()
    _check_architecture(arch)
    started = time.perf_counter()
    if options.line_info and lines:
        text = logs.with_directives(text, lines)
    with _Program(text, kernel) as program:
        good = program.compile(options.flags(arch))
        log, ptx = program.log(), program.ptx()
        if not good:
            raise _refusal(text, kernel, arch, options, log, lines)
        cubin = program.cubin()
    resources = read_cubin(cubin, kernel, arch)
    usage = logs.parse_usage(log, kernel)
    if usage is not None:
        resources = replace(
            resources,
            spill_stores=usage.spill_stores,
            spill_loads=usage.spill_loads,
            shared=usage.shared,
            barriers=usage.barriers,
        )
    messages = tuple(m for m in logs.parse_log(log) if m.kind != logs.ERROR)
    return Binary(kernel, arch, cubin, ptx, resources, messages, time.perf_counter() - started)


def compile_all(
    sources: Sequence[tuple[str, str]], arch: str, options: Options | None = None, workers: int | None = None
) -> list[Binary | TritiumError]:
    """Compile (text, kernel name) pairs in parallel threads; in their order the binary, or the error it raises.

    workers  threads; by default Python's choice for this machine
    """

    def one(source: tuple[str, str]) -> Binary | TritiumError:
        try:
            return compile_source(*source, arch, options)
        except TritiumError as error:
            return error

    library()  # the error of a missing package is one error, not one for each source
    with ThreadPoolExecutor(workers, thread_name_prefix="tritium-nvrtc") as pool:
        return list(pool.map(one, sources))


def _check_architecture(arch: str) -> None:
    known = architectures()
    if re.fullmatch(r"sm_\d+[af]?", arch) is None or arch.rstrip("af") not in known:
        raise _unknown(arch, known)


def _unknown(arch: str, known: Sequence[str]) -> TritiumError:
    return make_error("TRI0752", name=arch, expected=", ".join(known))


class _Program:
    """One NVRTC program, freed at the end of the block."""

    def __init__(self, text: str, kernel: str) -> None:
        self.nvrtc = library()
        error, self.handle = self.nvrtc.nvrtcCreateProgram(text.encode(), f"{kernel}.cu".encode(), 0, [], [])
        _check(error, "nvrtcCreateProgram")

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.nvrtc.nvrtcDestroyProgram(self.handle)

    def compile(self, flags: Sequence[str]) -> bool:
        encoded = [flag.encode() for flag in flags]
        (error,) = self.nvrtc.nvrtcCompileProgram(self.handle, len(encoded), encoded)
        return not int(error)

    def _read(self, what: str) -> bytes:
        error, size = getattr(self.nvrtc, f"nvrtcGet{what}Size")(self.handle)
        if int(error) or size < 2:
            return b""
        buffer = b"\0" * size  # filled in place, as cuda-bindings documents it
        (error,) = getattr(self.nvrtc, f"nvrtcGet{what}")(self.handle, buffer)
        return b"" if int(error) else buffer

    def log(self) -> str:
        return self._read("ProgramLog").rstrip(b"\0").decode(errors="replace")

    def ptx(self) -> str:
        return self._read("PTX").rstrip(b"\0").decode(errors="replace")

    def cubin(self) -> bytes:
        return self._read("CUBIN")


def _refusal(
    text: str, kernel: str, arch: str, options: Options, log: str, lines: Mapping[int, Loc] | None
) -> TritiumError:
    """The located error for a source that did not compile."""
    generated = f"{kernel}.cu"
    if "--gpu-architecture" in log or "--nv_arch" in log:  # such as sm_80a, by two of its front ends
        return _unknown(arch, architectures())
    messages = logs.parse_log(log)
    if any(m.ptx_line for m in messages):
        messages = _with_places(text, kernel, arch, options) or messages
    errors = [m for m in messages if m.kind == logs.ERROR]
    if not errors:
        return make_error("TRI0750", function=kernel, problem=log.strip() or "it gave no reason")
    for message in errors:
        if too_much := _TOO_MUCH_SHARED.search(message.text):
            required, limit = (int(n, 16) for n in too_much.groups())
            return out_of_resources(kernel, "bytes of static shared memory", required, limit, arch)
    first = errors[0]
    code = "TRI0751" if first.assembler else "TRI0750"
    return make_error(
        code,
        first.loc(kernel, generated, lines),
        function=kernel,
        problem=first.text,
        notes=_notes(errors, generated, lines),
    )


def _with_places(text: str, kernel: str, arch: str, options: Options) -> tuple[logs.Message, ...]:
    """The messages of a second compilation whose PTX says where its lines come from."""
    with _Program(text, kernel) as program:
        program.compile(replace(options, line_info=True).flags(arch))
        found = logs.located(logs.parse_log(program.log()), program.ptx())
    generated = f"{kernel}.cu"  # which the assembly text calls by its path in the current folder
    return tuple(replace(m, file=generated) if Path(m.file).name == generated else m for m in found)


def _notes(errors: Sequence[logs.Message], generated: str, lines: Mapping[int, Loc] | None) -> list[str]:
    """The generated line of the first error, and the other errors."""
    first = errors[0]
    notes: list[str] = []
    if first.excerpt:
        where = f" at line {first.line}" if first.file == generated else ""
        notes.append(f"generated code{where}: {first.excerpt}")
    for other in errors[1:4]:
        loc = other.loc("", generated, lines)
        notes.append(f"also{f' at line {loc.line}' if loc else ''}: {other.text}")
    return notes
