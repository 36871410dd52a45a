"""The last text of a kernel before it is machine code: an LLVM module, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tritium.backends.cpu import jit
from tritium.backends.cpu.lower import Fault, Lowering
from tritium.backends.cpu.verbs import Unsupported
from tritium.backends.interp import Program
from tritium.errors import Loc
from tritium.ir.core import Function, Op
from tritium.ir.match import Record, Reject
from tritium.ir.types import PointerType

NATIVE = "native"
"""The name under which a compilation records whether the kernel has machine code; TRITIUM_REQUIRE=native insists."""


@dataclass(frozen=True)
class Module:
    """LLVM IR of one kernel.

    text      the module; a comment that says why, where there is none
    scratch   bytes of scratch memory that a worker needs
    faults    the errors that the code may report, by number
    distinct  whether no two array arguments may share memory
    loops     lines of the loops that may wait for what other program instances write; see `launch`
    reject    why the kernel has no native form, None if it has
    """

    text: str
    scratch: int = 0
    faults: tuple[Fault, ...] = ()
    distinct: bool = True
    loops: tuple[Loc | None, ...] = ()
    reject: Reject | None = None

    @property
    def waits(self) -> bool:
        return bool(self.loops)

    def __str__(self) -> str:
        return self.text


def lower(
    function: Function, record: Record | None = None, distinct: bool = True, stream: bool = False
) -> Module:
    """LLVM IR for `function` as `prepare` left it; nothing is raised where an op has no native form."""
    record = record if record is not None else Record()
    spins = Program(function).spins
    no = _cannot_wait(function, spins)
    if no is None:
        lowering = Lowering(function, record, jit.host().width, distinct, stream)
        lowering.spins = frozenset(spins)
        try:
            text = lowering.run()
        except Unsupported as unsupported:
            no = Reject(unsupported.why, unsupported.op.loc, "the kernel runs on the interpreter, far slower")
        else:
            size = f"{len(text.splitlines())} lines of LLVM IR, {lowering.arena_top} bytes of scratch"
            record.plan(NATIVE, size)
            faults = tuple(lowering.faults)
            return Module(text, lowering.arena_top, faults, distinct, tuple(op.loc for op in spins))
    record.reject(NATIVE, no)
    where = f"line {no.loc.line}: " if no.loc else ""
    return Module(f"; no native code: {where}{no.rule}\n", distinct=distinct, reject=no)


def _cannot_wait(function: Function, spins: Iterable[Op]) -> Reject | None:
    """A loop that may wait for other instances is tried on a snapshot of memory, so all memory must be known."""
    for loop in spins:
        for value in (v for op in function.walk() for v in (*op.operands, *op.results)):
            scalar = value.type.scalar
            if isinstance(scalar, PointerType) and isinstance(scalar.element_ty, PointerType):
                return Reject("a loop waits for other instances, and addresses come from memory", loop.loc)
    return None
