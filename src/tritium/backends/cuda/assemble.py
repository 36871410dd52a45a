"""The last stage for CUDA: generated CUDA C++ becomes machine code, from the disk cache where it has been made before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tritium.backends.cuda import driver, logs, nvrtc
from tritium.backends.cuda.module import LaunchShape
from tritium.backends.cuda.nvrtc import Binary, Options
from tritium.backends.cuda.program import Program
from tritium.backends.cuda.resources import check_fits, limits_of
from tritium.errors import Loc, make_error
from tritium.ir.match import Record, Reject

Made = tuple[Mapping[str, bytes], Mapping[str, Any]]
"""What is kept of a compilation: named byte strings, and plain values about them."""

Keep = Callable[[Sequence[str], Callable[[], Made]], Made]
"""``keep(pieces, make)``: what was kept under these texts, else what `make` gives, which then is kept."""

FORMAT = "cuda binary 1"
"""Part of every key; to be changed with the meaning of what is kept."""


class Source(Protocol):
    """Generated CUDA C++ as far as it matters here."""

    @property
    def text(self) -> str: ...

    @property
    def kernel_name(self) -> str: ...

    @property
    def threads(self) -> int: ...

    @property
    def shared_bytes(self) -> int: ...

    @property
    def dynamic_shared(self) -> int: ...

    @property
    def parameters(self) -> tuple[Any, ...]: ...

    @property
    def lines(self) -> Mapping[int, Loc]: ...


def assemble(
    source: Source, options: Mapping[str, Any], keep: Keep | None = None, line_info: bool = False
) -> Binary:
    """The machine code of `source`.

    options    those of a launch: ``arch``, ``enable_fp_fusion``, ``maxnreg``, ``ptx_options`` are read
    keep       where machine code is kept between processes
    line_info  machine code names source lines, for profilers
    Raises what `nvrtc.compile_source` raises, and OutOfResources TRI0734 for a block that no GPU of `arch` can run.
    """
    arch = architecture(options)
    chosen = Options(
        fp_fusion=bool(options.get("enable_fp_fusion", True)),
        line_info=line_info,
        max_registers=options.get("maxnreg"),
        assembler=tuple(shlex.split(options.get("ptx_options") or "")),
    )
    fresh: list[Binary] = []

    def make() -> Made:
        binary = nvrtc.compile_source(source.text, source.kernel_name, arch, chosen, source.lines)
        fresh.append(binary)
        return binary.parts(), binary.about()

    if keep is None:
        make()
    else:
        text = (
            logs.with_directives(source.text, source.lines) if line_info else _without_comments(source.text)
        )
        pieces = (FORMAT, nvrtc.identity(), *chosen.flags(arch), source.kernel_name, text)
        parts, about = keep(pieces, make)
        if not fresh:
            fresh.append(Binary.of_parts(parts, about))
    binary = fresh[0]
    shared = binary.resources.shared + source.dynamic_shared
    check_fits(binary.kernel, binary.resources, source.threads, shared, limits_of(arch), arch)
    return binary


def _without_comments(text: str) -> str:
    """`text` without lines that are comments: they name lines of the kernel's file, which do not change the code."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


def program_of(source: Source, binary: Binary, names: Sequence[str], options: Mapping[str, Any]) -> Program:
    """`binary` ready to be loaded and launched; `names` are those of its parameters."""
    shape = LaunchShape(
        source.threads,
        source.dynamic_shared,
        cooperative=bool(options.get("launch_cooperative_grid")),
        programmatic=bool(options.get("launch_pdl")),
    )
    return Program(binary, shape, names, source.parameters)


def record_findings(binary: Binary, record: Record) -> None:
    """Put what the assembler reports against the speed of `binary` into the record."""
    for message in binary.messages:
        if message.kind == logs.ADVICE:
            record.reject("machine code", Reject(message.text))
    spilled = binary.resources.spill_stores + binary.resources.spill_loads
    if spilled:
        rule = f"{spilled} bytes of registers per thread go to memory and back"
        record.reject("registers", Reject(rule, hint="use more warps or smaller blocks"))


def architecture(options: Mapping[str, Any]) -> str:
    """What to compile for: the option ``arch`` (``sm_90a``, ``sm80`` or 80), else that of the current GPU."""
    given = options.get("arch")
    if given is None:
        return driver.device(driver.current_ordinal()).arch
    text = str(given).lower()
    digits = text.removeprefix("sm").removeprefix("_")
    if not digits[:1].isdigit():
        raise make_error("TRI0752", name=given, expected="such names as sm_80, sm_90a or sm_100")
    return f"sm_{digits}"
