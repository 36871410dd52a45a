"""``tritium compile``: machine code for a GPU that need not be there, or for this machine's processor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tritium.backends.cuda.assemble import architecture
from tritium.backends.cuda.nvrtc import Binary
from tritium.cli.target import resolve
from tritium.errors import TritiumError, make_error
from tritium.pipeline import Compilation, compile_kernel
from tritium.runtime.disk_cache import keep
from tritium.runtime.options import check_options
from tritium.runtime.specialize import to_signature


def compile_to(
    target: str,
    arch: str,
    folder: Path,
    signature: str | None,
    settings: Sequence[str],
    as_json: bool = False,
) -> None:
    """Compile ``FILE::KERNEL`` for `arch` and write KERNEL.cu, .ptx, .cubin and .json into `folder`.

    settings  launch options as NAME=VALUE, such as ``num_warps=8``
    Raises the compiler's errors; none of the files is written then.
    """
    kernel, specs, options = resolve(target, signature)
    if arch == "cpu":
        done = compile_kernel(
            kernel.source, to_signature(specs), {**options, "backend": "cpu"}, "cpu", keep=keep
        )
        report, files = describe_native(done), native_files(done)
        _write(folder, files)
        shown = _shown_native(report, [folder / name for name in files])
        print(json.dumps(report, indent=2) if as_json else shown)
        return
    options = {**options, **_options(kernel.__name__, kernel.arg_names, settings), "backend": "cuda"}
    options["arch"] = architecture({"arch": arch})
    done = compile_kernel(kernel.source, to_signature(specs), options, "cuda", keep=keep)
    report = describe(done)
    binary: Binary = done.artefacts["cubin"]
    base = folder / binary.kernel
    written = {
        base.with_suffix(".cu"): done.text("cu").encode(),
        base.with_suffix(".ptx"): binary.ptx.encode(),
        base.with_suffix(".cubin"): binary.cubin,
        base.with_suffix(".json"): (json.dumps(report, indent=2) + "\n").encode(),
    }
    _write(folder, {path.name: data for path, data in written.items()})
    print(json.dumps(report, indent=2) if as_json else _shown(report, list(written)))


def describe(done: Compilation) -> dict[str, Any]:
    """What the machine code of a compilation for CUDA needs and how it is launched, as plain values."""
    binary: Binary = done.artefacts["cubin"]
    source: Any = done.artefacts["cu"]
    r = binary.resources
    return {
        "kernel": binary.kernel,
        "arch": binary.arch,
        "threads": source.threads,
        "registers": r.registers,
        "spill_stores": r.spill_stores,
        "spill_loads": r.spill_loads,
        "stack": r.stack,
        "shared": r.shared + source.dynamic_shared,
        "cubin_bytes": len(binary.cubin),
        "parameters": [[p.offset, p.nbytes] for p in r.parameters],
        "messages": [m.to_json() for m in binary.messages],
        "decisions": [d.to_json() for d in done.record],
        "seconds": {name: round(seconds, 6) for name, seconds in done.seconds.items()},
    }


def describe_native(done: Compilation) -> dict[str, Any]:
    """What the machine code of a compilation for the CPU needs, as plain values. CompilationError where there is none."""
    module: Any = done.artefacts["ll"]
    if module.reject is not None:
        raise make_error(
            "TRI0908", module.reject.loc, name="native", function=done.source.name, notes=[module.reject.rule]
        )
    from tritium.backends.cpu.jit import host

    return {
        "kernel": done.source.name,
        "cpu": host().cpu,
        "vector_bits": 32 * host().width,
        "scratch_bytes": module.scratch,
        "object_bytes": len(done.artefacts["o"].code),
        "decisions": [d.to_json() for d in done.record],
        "seconds": {name: round(seconds, 6) for name, seconds in done.seconds.items()},
    }


def native_files(done: Compilation) -> dict[str, bytes]:
    """LLVM IR, assembly and object code by file name."""
    name = done.source.name
    texts = {f"{name}.ll": done.text("ll").encode(), f"{name}.s": done.text("o").encode()}
    return {**texts, f"{name}.o": done.artefacts["o"].code}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except OSError as broken:
        expected = f"a folder that can be written ({broken.strerror})"
        raise make_error("TRI0907", name="--output", got=str(folder), expected=expected) from None


def _shown_native(report: dict[str, Any], files: Sequence[Path]) -> str:
    head = (
        f"{report['kernel']} for {report['cpu']}: vectors of {report['vector_bits']} bits, "
        f"{report['object_bytes']} bytes of code, {report['scratch_bytes']} bytes of scratch memory"
    )
    return "\n".join([head, *(f"wrote {path}" for path in files)])


def _options(function: str, parameters: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for text in settings:
        name, separator, value = text.partition("=")
        if not separator:
            raise make_error("TRI0907", name="--option", got=repr(text), expected="NAME=VALUE")
        given[name.strip()] = _value(value.strip())
    try:
        complete = check_options(function, parameters, given)
    except TritiumError as error:
        error.loc = None  # it comes from the command line, not from a line of the program
        raise
    return {name: complete[name] for name in given}


def _value(text: str) -> Any:
    try:
        return json.loads(text.lower())
    except ValueError:
        return text


def _shown(report: dict[str, Any], files: Sequence[Path]) -> str:
    lines = [
        f"{report['kernel']} for {report['arch']}: {report['threads']} threads, {report['registers']} registers, "
        f"{report['spill_stores']} + {report['spill_loads']} bytes of spills, {report['shared']} bytes of shared "
        f"memory, {report['stack']} bytes of stack"
    ]
    lines += [f"{m['kind']}: {m['text']}" for m in report["messages"]]
    return "\n".join([*lines, *(f"wrote {path}" for path in files)])
