"""``tritium doctor``: what works here, what is missing, and the command that mends it."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
from dataclasses import asdict, dataclass

from tritium import __version__, config
from tritium.backends.cuda import driver, nvrtc
from tritium.errors import TritiumError
from tritium.runtime.cache_paths import cache_directory


@dataclass(frozen=True)
class Check:
    """One line of the report. `mend` is the command that brings what is missing."""

    what: str
    ok: bool
    found: str
    mend: str = ""
    needed: bool = False


def _package(name: str, why: str, mend: str, needed: bool = False) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(f"{name} ({why})", False, "not installed", mend, needed)
    return Check(f"{name} ({why})", True, version, needed=needed)


def _python() -> Check:
    ok = sys.version_info >= (3, 10)
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Check("Python", ok, found, "install Python 3.10 or newer", needed=True)


def _settings() -> Check:
    """Whether every variable says something that its setting can be: launches refuse to guess."""
    wrong = config.unreadable()
    if not wrong:
        return Check("settings", True, "all readable", needed=True)
    told = ", ".join(f"{s.env} is {config.environment(s.env)!r}, not {s.expected}" for s in wrong)
    return Check("settings", False, told, f"unset {' '.join(s.env for s in wrong)}", needed=True)


def _cache() -> Check:
    folder = cache_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as broken:
        mend = "export TRITIUM_CACHE_DIR=/a/writable/folder"
        return Check("cache folder", False, f"{folder}: {broken.strerror}", mend)
    return Check("cache folder", True, str(folder))


def _interpreter() -> Check:
    """Really run a kernel."""
    import numpy as np

    from tritium.cli.probe import probe

    try:
        out = probe(np.arange(5, dtype=np.float32))
    except Exception as broken:
        return Check(
            "interpreter runs a kernel", False, str(broken).splitlines()[0], "report this", needed=True
        )
    ok = out.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    return Check(
        "interpreter runs a kernel", ok, "yes" if ok else f"wrong result {out.tolist()}", needed=True
    )


def _stub() -> Check:
    """Whether launches take the short way of machine code."""
    from tritium.runtime.stub.load import why_not

    why = why_not()
    mend = "nothing is lost but time: launches take some 20 us instead of 1 to 3"
    return Check("launch stub", not why, why or "launches are machine code", "" if not why else mend)


def _driver() -> Check:
    name = ctypes.util.find_library("cuda") or ("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    try:
        library = ctypes.CDLL(name)
        version = ctypes.c_int()
        library.cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        mend = "needed only for GPUs: install NVIDIA's driver, version 580 or newer"
        return Check("CUDA driver", False, f"{name} not found", mend)
    return Check("CUDA driver", True, f"CUDA {version.value // 1000}.{version.value % 1000 // 10}")


_MEND_CUDA = f"pip install {nvrtc.PACKAGES}"
_PROBE = 'extern "C" __global__ void probe(int* x) { *x = 1; }'


def _nvrtc() -> Check:
    """Really compile a kernel: the package may be there and its library not load."""
    what = "NVRTC compiles for GPUs"
    try:
        binary = nvrtc.compile_source(_PROBE, "probe", "sm_90a")
    except TritiumError as broken:
        return Check(what, False, broken.message, _MEND_CUDA)
    known = nvrtc.architectures()
    found = f"{nvrtc.identity()}, {known[0]} to {known[-1]}, {len(binary.cubin)} bytes for sm_90a"
    return Check(what, True, found)


def _gpus() -> Check:
    try:
        devices = [driver.device(ordinal) for ordinal in range(driver.count())]
        driver.check_version(nvrtc.version())
    except TritiumError as broken:
        return Check("GPUs", False, broken.message, broken.hint or "")
    return Check("GPUs", True, "; ".join(f"cuda:{d.ordinal} {d.name} ({d.arch})" for d in devices))


def checks() -> list[Check]:
    """All checks, in the order shown."""
    return [
        Check("Tritium", True, __version__),
        _python(),
        _package("numpy", "arrays", "pip install numpy", needed=True),
        _package("ml_dtypes", "bf16 and 8-bit floats", "pip install ml_dtypes", needed=True),
        _settings(),
        _interpreter(),
        _cache(),
        _package("torch", "optional: PyTorch tensors as arguments", "pip install torch"),
        _package("llvmlite", "native CPU code", "pip install llvmlite"),
        _stub(),
        _driver(),
        _package("nvidia-cuda-nvrtc", "CUDA compiler", _MEND_CUDA),
        _package("cuda-bindings", "CUDA launches", _MEND_CUDA),
        _nvrtc(),
        _gpus(),
        _package("triton", "optional: the side-by-side peer in tests", "pip install triton==3.6.0"),
    ]


def doctor(as_json: bool = False) -> int:
    """Print the report; the status is 1 if something needed is missing."""
    found = checks()
    broken = [c for c in found if c.needed and not c.ok]
    if as_json:
        print(json.dumps({"ok": not broken, "checks": [asdict(c) for c in found]}, indent=2))
        return int(bool(broken))
    width = max(len(c.what) for c in found)
    for c in found:
        print(f"{'ok     ' if c.ok else 'missing'} {c.what.ljust(width)}  {c.found}")
        if not c.ok:
            print(f"        -> {c.mend}")
    print("\nsettings:")
    print(config.describe())
    return int(bool(broken))
