"""The last text of a kernel before it is machine code: an LLVM module, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from tritium.backends.cpu import jit
from tritium.backends.cpu.lower import Lowering
from tritium.backends.cpu.pull import Unsupported
from tritium.backends.interp import Program
from tritium.errors import Loc
from tritium.ir.core import Function
from tritium.ir.match import Record, Reject

NATIVE = "native"
"""The name under which a compilation records whether the kernel has machine code; TRITIUM_REQUIRE=native insists."""


@dataclass(frozen=True)
class Module:
    """LLVM IR of one kernel.

    text      the module; a comment that says why, where there is none
    scratch   bytes of scratch memory that a worker needs
    faults    the kernel's lines that the code may report, by number
    distinct  whether no two array arguments may share memory
    reject    why the kernel has no native form, None if it has
    """

    text: str
    scratch: int = 0
    faults: tuple[Loc | None, ...] = ()
    distinct: bool = True
    reject: Reject | None = None

    def __str__(self) -> str:
        return self.text


def lower(function: Function, record: Record | None = None, distinct: bool = True, stream: bool = False) -> Module:
    """LLVM IR for `function` as `prepare` left it; nothing is raised where an op has no native form."""
    record = record if record is not None else Record()
    no = _waits(function)
    if no is None:
        lowering = Lowering(function, record, jit.host().width, distinct, stream)
        try:
            text = lowering.run()
        except Unsupported as unsupported:
            hint = "the kernel runs on the interpreter, which is far slower"
            no = Reject(unsupported.why, unsupported.op.loc, hint)
        else:
            record.plan(
                NATIVE, f"{len(text.splitlines())} lines of LLVM IR, {lowering.arena_top} bytes of scratch"
            )
            faults = tuple(op.loc for op in lowering.faults)
            return Module(text, lowering.arena_top, faults, distinct)
    record.reject(NATIVE, no)
    where = f"line {no.loc.line}: " if no.loc else ""
    return Module(f"; no native code: {where}{no.rule}\n", distinct=distinct, reject=no)


def _waits(function: Function) -> Reject | None:
    """Instances that wait for each other need a scheduler, which native code has not."""
    for loop in Program(function).spins:
        return Reject("a loop waits for what other program instances write", loop.loc)
    return None
