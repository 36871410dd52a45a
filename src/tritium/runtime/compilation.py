"""Compiling one specialisation for the runtime: the pipeline, and around it logs, dumps, overrides and listeners."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritium import knobs
from tritium.errors import make_error
from tritium.ir.match import Decision
from tritium.pipeline import Compilation, compile_kernel, stages_of
from tritium.runtime import log
from tritium.runtime.ast_source import ASTSource, source_of
from tritium.runtime.backend import executor_of
from tritium.runtime.compiled import HOST_TARGET, CompiledKernel
from tritium.runtime.disk_cache import keep
from tritium.runtime.gpu_kernel import GpuKernel
from tritium.runtime.kernel_table import KernelTable, Specialization
from tritium.runtime.specialize import Specs, difference, to_signature

if TYPE_CHECKING:
    from tritium.runtime.jit import JITFunction


def compile_specialized(
    fn: JITFunction,
    specs: Specs,
    options: dict[str, Any],
    backend: str,
    table: KernelTable,
    key: str,
) -> CompiledKernel:
    """Compile `fn` for `specs` and `options`. Raises the compiler's errors."""
    started = time.perf_counter()
    source = source_of(fn, specs)
    overrides = _overrides(source, options, backend)
    compilation = compile_kernel(
        fn.source,
        to_signature(specs),
        options,
        backend,
        overrides=overrides,
        inspect=_inspection(options),
        keep=keep,
    )
    executor = executor_of(backend)
    name = _name(fn, source)
    if backend == "cuda":
        kernel: CompiledKernel = GpuKernel(source, compilation, specs, options, backend, executor, name)
    else:
        target = options.get("target") or HOST_TARGET
        kernel = CompiledKernel(source, compilation, specs, options, backend, executor, target, name)
    milliseconds = (time.perf_counter() - started) * 1e3
    if log.enabled("compile"):
        reason = why(key, table)
        log.write("compile", f"{fn.__name__} for {backend} in {milliseconds:.1f} ms: {reason}")
    if log.enabled("passes"):
        for decision in compilation.record:
            log.write("passes", f"{fn.__name__}: {_told(decision)}")
    if knobs.compilation.dump_ir:
        _dump(Path(knobs.cache.dump_dir) / source.hash(), fn.__name__, compilation)
    if knobs.compilation.listener is not None:
        _tell(knobs.compilation.listener, source, kernel)
    return kernel


def _name(fn: JITFunction, source: ASTSource) -> str:
    """The kernel's name: the function's, or what the decorator's ``repr=`` says for this specialisation."""
    return fn.__name__ if fn._repr is None else str(fn.repr(_Specialized(source)))


class _Specialized:
    """What ``repr=`` functions are asked with."""

    def __init__(self, source: ASTSource) -> None:
        self.name = source.name
        self.signature = source.signature
        names = source.fn.arg_names
        self.constants = {names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
        self.attrs = source.attrs


def _told(decision: Decision) -> str:
    where = f" in line {decision.loc.line}" if decision.loc is not None else ""
    return f"{decision.name} {'applied' if decision.applied else 'did not apply'}{where}: {decision.text}"


# ---- why a call compiled -----------------------------------------------------------------------------


def why(key: str, table: KernelTable) -> str:
    """Why the kernel under `key` had to be compiled: the nearest specialisation before it, and what differs."""
    new = table.named[key]
    known = [table.named[k] for k in list(table.kernels) if k is not None and k != key and k in table.named]
    if not known:
        return "first launch"
    best = min((_changes(old, new) for old in known), key=len)
    return "; ".join(best or ["it is not cached"])


def _changes(old: Specialization, new: Specialization) -> list[str]:
    found = difference(dict(old.specs), dict(new.specs))
    if old.source != new.source:
        found.append("the source or a captured value changed")
    if old.backend != new.backend:
        found.append(f"the backend changed from {old.backend} to {new.backend}")
    for what, before, after in (
        ("option", old.options, new.options),
        ("setting", old.settings, new.settings),
    ):
        found += [
            f"{what} {a[0]} changed from {a[1]!r} to {b[1]!r}"
            for a, b in zip(before, after, strict=True)
            if a != b
        ]
    return found


# ---- looking into the pipeline -----------------------------------------------------------------------


def _inspection(options: dict[str, Any]) -> Any:
    """The knob ``add_stages_inspection_hook`` as the pipeline calls it."""
    hook = knobs.runtime.add_stages_inspection_hook
    if hook is None:
        return None
    from tritium.backends.compiler import Language
    from tritium.runtime.compiler_backend import TritiumBackend

    backend = TritiumBackend.for_host()
    return lambda stages: hook(backend, stages, backend.parse_options(options), Language.TRITON, None)


def _overrides(source: ASTSource, options: Mapping[str, Any], backend: str) -> dict[str, str]:
    """Texts that stand in for stages: from TRITON_KERNEL_OVERRIDE's folder, and from the option ``ir_override``."""
    found: dict[str, str] = {}
    if knobs.compilation.override:
        folder = Path(knobs.cache.override_dir) / source.hash()
        for stage in stages_of(backend):
            path = folder / f"{source.name}.{stage.name}"
            if stage.read is not None and path.is_file():
                found[stage.name] = path.read_text(encoding="utf-8")
    given = options.get("ir_override")
    if given is not None:
        readable = [s.name for s in stages_of(backend) if s.read is not None]
        stage = next((name for name in readable if str(given).endswith(f".{name}")), None)
        if stage is None or not Path(given).is_file():
            endings = ", ".join(f".{name}" for name in readable)
            expected = f"a file with one of the endings {endings}"
            raise make_error("TRI0713", name="ir_override", got=repr(given), expected=expected)
        found[stage] = Path(given).read_text(encoding="utf-8")
    return found


def _dump(folder: Path, name: str, compilation: Compilation) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for stage in compilation.artefacts:
        (folder / f"{name}.{stage}").write_text(compilation.text(stage), encoding="utf-8")


def _tell(listener: Any, source: ASTSource, kernel: CompiledKernel) -> None:
    spent = [(name, int(seconds * 1e6)) for name, seconds in kernel.compilation.seconds.items()]
    times = knobs.CompileTimes(ir_initialization=spent[0][1], lowering_stages=spent[1:], store_results=0)
    listener(
        src=source,
        metadata=kernel.metadata._asdict(),
        metadata_group=kernel.metadata_group,
        times=times,
        cache_hit=False,
    )
