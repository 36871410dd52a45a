"""Atomic operations: one thread per element does them, with fences where the program may communicate through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cuda import memory
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate
from tritium.ir.core import Function, Op
from tritium.ir.types import DType
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.control import While
from tritium.ops.emit import PRECEDENCE, Expr, conditional
from tritium.ops.memory import Load

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

_FUNCTIONS = {
    "add": "atomic_add",
    "fadd": "atomic_add",
    "max": "atomic_max",
    "umax": "atomic_max",
    "fmax": "atomic_max",
    "min": "atomic_min",
    "umin": "atomic_min",
    "fmin": "atomic_min",
    "and": "atomic_and",
    "or": "atomic_or",
    "xor": "atomic_xor",
    "xchg": "atomic_exchange",
}


def communicates(function: Function) -> bool:
    """Whether a program instance could learn from another while both run: by waiting, by volatile loads, or by looking
    at what an atomic operation found. Where none can, only the end of the kernel orders its memory operations."""
    for op in function.walk():
        if isinstance(op, (While, AtomicCas)) or (isinstance(op, Load) and op.volatile):
            return True
        if isinstance(op, AtomicRmw) and op.result.uses:
            return True
    return False


def atomic(e: Emitter, op: Op) -> None:
    assert isinstance(op, (AtomicRmw, AtomicCas))
    element = op.value.type.scalar
    rmw = _FUNCTIONS[op.kind] if isinstance(op, AtomicRmw) else "atomic_cas"
    if not isinstance(element, DType) or not _has(rmw, element):
        e.unsupported(op, f" on {element}")
    memory.order(e, op, True)
    strong = op.sem != "relaxed" and e.communicates
    fence = "__threadfence_system();" if op.scope == "sys" else "__threadfence();"
    if strong and op.sem != "acquire":  # all that the block has done comes before
        e.flush()
        e.w.at(op.loc)
        e.w.line(fence)
        memory.synchronize(e)
    if op.ptr.type.shape:
        _atomic_tile(e, op, rmw)
    else:
        e.flush()
        e.w.at(op.loc)
        e.w.line(f"if ({all_of(_atomic_conditions(e, op, ()))}) {_atomic_call(e, op, rmw, ())};")
    if strong and op.sem != "release":
        e.flush()
        e.w.line(fence)
        memory.synchronize(e)


def _atomic_tile(e: Emitter, op: AtomicRmw | AtomicCas, function: str) -> None:
    layout = e.layout(op.ptr)
    group = e.group_for(layout, stores=True)
    for v in op.operands:
        e.need(v, group)
    group.ops.add(op)
    if not op.result.uses:

        def write(index: Coordinate) -> list[str]:
            conditions = _atomic_conditions(e, op, index)
            text = f"{_atomic_call(e, op, function, index)};"
            return [f"if ({all_of(conditions)}) {text}" if conditions else text]

        group.statements.append(Statement(op.loc, layout.register_shape, write))
        return
    local = e.local(op.result, layout)
    e.placed[op.result] = group

    def value(index: Coordinate) -> list[str]:
        conditions = _atomic_conditions(e, op, index)
        call = _atomic_call(e, op, function, index)
        nothing = e.literal(0, op.value.type.scalar)  # type: ignore[arg-type]
        return [conditional(all_of(conditions), call, nothing) if conditions else call]

    group.statements.append(Statement(op.loc, local.shape, value, local, op.result))
    e.flush()


def _atomic_conditions(e: Emitter, op: AtomicRmw | AtomicCas, index: Coordinate) -> list[Expr]:
    mask = op.mask if isinstance(op, AtomicRmw) else None
    found = [e.text(mask, index)] if mask is not None else []
    if not op.ptr.type.shape:
        return [Expr("threadIdx.x == 0", PRECEDENCE["=="]), *found]
    layout = e.layout(op.ptr)
    return [*memory.first_of_replicas(e, layout), *found, *memory.inside(e, layout, index)]


def _atomic_call(e: Emitter, op: AtomicRmw | AtomicCas, function: str, index: Coordinate) -> Expr:
    element = op.value.type.scalar
    assert isinstance(element, DType)
    if element.name in ("fp16", "bf16"):
        e.used.add(f"atomic_{element.text}")
    operands = [e.text(v, index) for v in op.operands[: 2 + isinstance(op, AtomicCas)]]
    return e.helper(function, *operands)


def _has(function: str, element: DType) -> bool:
    """Whether the prelude has the operation for this type."""
    if element.is_floating():
        wide = ("fp32", "fp64")
        halves = ("fp16", "bf16") if function in ("atomic_add", "atomic_cas") else ()
        return element.name in (*wide, *halves)
    return element.primitive_bitwidth in (32, 64) or (
        function == "atomic_cas" and element.primitive_bitwidth == 16
    )
