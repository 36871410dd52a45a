"""``triton.compile(ASTSource(...))``: compile a kernel for given types, without arguments and without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tritium import config
from tritium.backends.compiler import GPUTarget, Language
from tritium.backends.cuda.resources import arch_of
from tritium.errors import OutOfResources, make_error
from tritium.frontend.signature import Signature
from tritium.pipeline import Compilation
from tritium.runtime.ast_source import ASTSource, IRSource
from tritium.runtime.backend import executor_of
from tritium.runtime.cache import get_cache_manager, get_dump_manager, get_override_manager
from tritium.runtime.compiled import HOST_TARGET, CompiledKernel, LazyDict
from tritium.runtime.compiler_backend import TritiumBackend, make_backend
from tritium.runtime.driver import driver
from tritium.runtime.options import OPTIONS
from tritium.runtime.specialize import RuntimeArg


def compile(
    src: ASTSource | IRSource | str | Path,
    target: GPUTarget | None = None,
    options: Mapping[str, Any] | None = None,
    _env_vars: Any = None,
) -> CompiledKernel:
    """Compile for the given types; the result has ``.asm`` and ``.metadata``, and can be launched.

    `target` is what ``tl.target_info`` and ``.metadata.target`` say. For one such as ``GPUTarget("cuda", 90, 32)`` it is
    machine code for that GPU, which need not be here; the option ``backend="interpret"`` keeps it on the host.
    """
    if target is None and driver.active is not driver.default:  # a driver that the program made active
        target = driver.active.get_current_target()
    if target is not None and not isinstance(target, GPUTarget):
        raise TypeError(f"target is a GPUTarget, not {target!r}")
    if isinstance(src, (str, Path)):
        src = IRSource(src)
    if isinstance(src, IRSource):
        return _from_ir(src, options, target or HOST_TARGET)
    given = {k: v for k, v in dict(options or {}).items() if k in OPTIONS}
    settings = config.current()
    checked = src.fn.launch_options(given, settings)
    if target is None or target == HOST_TARGET:
        return src.fn.compile_for(src.specs(), checked)
    checked["target"] = target
    backend = checked.get("backend") or settings.values["backend"]
    if target.backend != "cuda" or settings.values["triton_interpret"] or backend not in (None, "cuda"):
        return src.fn.compile_for(src.specs(), checked)
    checked["arch"] = checked.get("arch") or arch_of(divmod(int(target.arch), 10))
    return src.fn.compile_for(src.specs(), checked, "cuda")


def _from_ir(src: IRSource, options: Mapping[str, Any] | None, target: GPUTarget) -> CompiledKernel:
    done = Compilation(_TextSource(src), Signature(()), dict(options or {}))  # type: ignore[arg-type]
    done.artefacts["opt.tir"] = src.function
    specs = tuple((a.name or f"arg{i}", RuntimeArg(a.type)) for i, a in enumerate(src.function.args))  # type: ignore[arg-type]
    all_options = {**OPTIONS, **(options or {})}
    return CompiledKernel(src, done, specs, all_options, "interpret", executor_of("interpret"), target)


class _TextSource:
    """Stands for the kernel source where a compilation starts from IR text."""

    def __init__(self, src: IRSource) -> None:
        self.text = src.src
        self.name = src.name
        self.cache_key = src.hash()


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory that a block may have on `device`."""
    return int(driver.active.utils.get_device_properties(device)["max_shared_mem"])


__all__ = [
    "ASTSource",
    "CompiledKernel",
    "GPUTarget",
    "IRSource",
    "Language",
    "LazyDict",
    "OutOfResources",
    "TritiumBackend",
    "compile",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "make_backend",
    "make_error",
    "max_shared_mem",
]
