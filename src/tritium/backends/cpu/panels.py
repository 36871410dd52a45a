"""Panels of a right operand that several program instances share.

In a plain matmul all instances with one pid_n multiply by the same columns of B, and instances run in order, axis 0
fastest. If the right operand of a jammed product depends on nothing that changes from one instance to the next, its
panels are packed once and kept in the worker's scratch memory. Whether it changed is seen at run time: the numbers that it
depends on (offsets made of program ids, mostly) are compared with those of the instance before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu.code import V
from tritium.ir.core import Op, Value
from tritium.ir.match import Reject, matching
from tritium.ir.types import DType, PointerType, int64
from tritium.ops.base import Effect, TileOp
from tritium.ops.create import Constant, NumPrograms, ProgramId
from tritium.ops.memory import Load

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

NAME = "keep panels between instances"
HEIGHT = 4096
"""Rows of a panel that are kept at most; deeper products pack anew in each instance."""


@dataclass(frozen=True)
class HeldPanels:
    """The plan: panels stay as they are while the numbers `keys` do."""

    keys: tuple[Value, ...]

    def describe(self) -> str:
        return (
            f"while {', '.join(map(_called, self.keys))} stay the same"
            if self.keys
            else "while the launch lasts"
        )


def _called(value: Value) -> str:
    """A scalar as a person knows it."""
    owner = value.owner
    if value.name:
        return f"%{value.name}"
    line = f" of line {owner.loc.line}" if isinstance(owner, Op) and owner.loc else ""
    return f"the {owner.name.removeprefix('tile.')}{line}" if isinstance(owner, Op) else "an argument"


@dataclass(frozen=True)
class Held:
    """In the code: whether the panels can be kept, and whether they are there already."""

    fits: V
    there: V


def match_held_panels(k: Lowering, loop: Any, product: Any, near: bool = False) -> HeldPanels | Reject:
    """Whether the right operand of `product`, in the body of `loop`, may be kept; which numbers it depends on.

    near   only if neighbouring instances are sure to share it
    """
    with matching() as m:
        m.require(k.plan.distinct, "arrays may share memory", at=product)
        m.require(loop.parent is k.function.body, "the loop is inside another one or a branch", at=loop)
        keys: dict[Value, None] = {}
        seen: set[Value] = set()
        work = [product.b, loop.lower, loop.upper, loop.step]
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            if not isinstance(owner, Op):
                if owner is loop.body and value.index:
                    work += [loop.inits[value.index - 1], loop.body.ops[-1].operands[value.index - 1]]
                continue  # an argument of the kernel, or the loop's own counter
            if isinstance(owner, (Constant, NumPrograms)):
                continue
            if not value.type.shape and owner.parent is not loop.body:
                m.require(_comparable(value), "it depends on a float", at=owner)
                keys[value] = None
                continue
            m.require(
                value not in k.buffers and value not in k.plan.kept, "it is kept in memory itself", at=owner
            )
            m.require(not owner.regions, "it comes from control flow", at=owner)
            m.require(not isinstance(owner, ProgramId), "a program id is taken inside the loop", at=owner)
            if isinstance(owner, Load):
                m.require(
                    not owner.volatile and not _written(k, owner.ptr),
                    "the kernel may write the array",
                    at=owner,
                )
            else:
                m.require(
                    isinstance(owner, TileOp) and owner.is_pure, "it comes from an op with effects", at=owner
                )
            work += owner.operands
        if near:
            m.require(not any(_counts(key) for key in keys), "every instance has its own", at=product)
        return HeldPanels(tuple(keys))
    return m.reject


def _counts(value: Value) -> bool:
    """Whether a scalar depends on the program id that counts fastest, or on what is not known."""
    work, seen = [value], {value}
    while work:
        owner = work.pop().owner
        if not isinstance(owner, Op):
            continue
        if owner.regions or isinstance(owner, Load) or (isinstance(owner, ProgramId) and owner.axis == 0):
            return True
        work += [v for v in owner.operands if v not in seen]
        seen.update(owner.operands)
    return False


def _comparable(value: Value) -> bool:
    scalar = value.type.scalar
    return isinstance(scalar, PointerType) or (isinstance(scalar, DType) and scalar.is_int())


def _written(k: Lowering, ptr: Value) -> bool:
    for op in k.function.walk():
        assert isinstance(op, TileOp)
        if op.regions or not op.effects() & (Effect.WRITE | Effect.ATOMIC):
            continue
        if not op.operands or k.plan.alias.may_overlap(op.operands[0], ptr):
            return True
    return False


def begin(k: Lowering, plan: HeldPanels, rows: V) -> Held:
    """In front of the loop: compare with the instance before, and note what this one uses."""
    e = k.e
    level = e.top - 1
    state = k.allocate_for_good(int64, (1 + len(plan.keys),))
    outer = e.stack.pop()  # the loop's frame: what follows belongs in front of it
    valid = _slot(k, state.address, 0)
    e.line(f"%nothing{valid[1:]} = inttoptr i64 {state.address.ssa} to ptr", 0)
    e.line(f"store i64 0, ptr %nothing{valid[1:]}", 0)
    fits = e.compare("ule", rows, e.index(HEIGHT))
    there = e.both(fits, e.compare("ne", _read(k, valid), e.index(0)))
    for i, key in enumerate(plan.keys):
        pointer = _slot(k, state.address, 1 + i)
        now = e.convert("zext", k.env[key], "i64")
        there = e.both(there, e.compare("eq", _read(k, pointer), now))
        e.line(f"store i64 {e.text(now, 1)}, ptr {pointer}")
    e.line(f"store i64 {e.text(e.convert('zext', fits, 'i64'), 1)}, ptr {valid}")
    assert level == e.top
    e.stack.append(outer)
    return Held(fits, there)


def _slot(k: Lowering, base: V, number: int) -> str:
    return k.e.pointer(k.e.add(base, k.e.index(8 * number)), k.e.top)


def _read(k: Lowering, pointer: str) -> V:
    return k.e.emit("i64", 1, k.e.top, f"load i64, ptr {pointer}")
