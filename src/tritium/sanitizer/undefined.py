"""Undefined and wrapped values where they do harm: in a store, a branch, an address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.faults import first_true
from tritium.backends.interp.pointers import addresses
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType, int32, int64
from tritium.ops.base import Array
from tritium.ops.control import For, If, While
from tritium.sanitizer.findings import Related
from tritium.sanitizer.flow import passed_from
from tritium.sanitizer.shadows import POISON, WRAPPED, Shadow, Shadowed, propagate, union

if TYPE_CHECKING:
    from tritium.sanitizer.machine import CheckingInterpreter

_ARITHMETIC = ("tile.add", "tile.sub", "tile.mul", "tile.shl")


# ---- where shadows begin --------------------------------------------------------------------------------


def rules_for(function: Function) -> dict[Op, Any]:
    """Rules of the ops that make shadows."""
    rules: dict[Op, Any] = {}
    feeding = _feeding_addresses(function)
    for op in function.walk():
        if op.name == "tile.poison":
            rules[op] = _poison
        elif op.name == "tile.load":
            rules[op] = _loaded
        elif op in feeding:
            rules[op] = _arithmetic
        elif op.name == "tile.cast" and op.operands[0].type.scalar is int32 and _scalar(op) is int64:
            rules[op] = _widened
    return rules


def _scalar(op: Op) -> Any:
    return op.results[0].type.scalar


def _feeding_addresses(function: Function) -> set[Op]:
    """Signed integer arithmetic, narrower than addresses, whose result an address or a widening cast depends on."""
    waiting: list[Value] = []
    for op in function.walk():
        if op.name == "tile.addptr":
            waiting.append(op.operands[1])
        elif op.name == "tile.cast" and op.operands[0].type.scalar is int32 and _scalar(op) is int64:
            waiting.append(op.operands[0])
    found: set[Op] = set()
    seen: set[Value] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        waiting.extend(passed_from(value))
        owner = value.owner
        if isinstance(owner, Op) and owner.name in (
            *_ARITHMETIC,
            "tile.select",
            "tile.broadcast",
            "tile.expand_dims",
            "tile.cast",
        ):
            scalar = value.type.scalar
            if owner.name in _ARITHMETIC and isinstance(scalar, DType) and scalar is int32:
                found.add(owner)
            waiting.extend(owner.operands)
    return found


def hand_on(
    m: CheckingInterpreter, op: Op, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """Nothing but what every op does."""
    return propagate(op, args, own, out) if any(s is not None for s in own) else [None] * len(out)


def _poison(
    m: CheckingInterpreter, op: Op, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    return [np.full(out[0].shape, POISON, np.uint8)]


def _loaded(
    m: CheckingInterpreter, op: Any, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """Masked lanes of a load are what `other` is; without it nobody has defined them."""
    found = m.take_loaded()
    if op.mask is None:
        return [found]
    mask = args[1]
    if op.other is None:
        dead = None if mask.all() else np.where(mask, np.uint8(0), np.uint8(POISON))
        return [union([found, dead])]
    other = own[2]
    return [union([found, None if other is None else np.where(mask, np.uint8(0), other)])]


def _arithmetic(
    m: CheckingInterpreter, op: Op, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """int32 arithmetic on its way to an address: where the exact result does not fit, the lane has wrapped."""
    handed: list[Shadow] = propagate(op, args, own, out) if any(s is not None for s in own) else [None]
    x, y = args
    if _cannot_wrap(op.name, x, y):
        return handed
    exact = _exact(op.name, x, y)
    wrapped = exact != out[0]
    if not wrapped.any():
        return handed
    return [union([handed[0], np.where(wrapped, np.uint8(WRAPPED), np.uint8(0))])]


def _cannot_wrap(name: str, x: Array, y: Array) -> bool:
    a, b = (max(-int(v.min()), int(v.max())) for v in (x, y))
    if name == "tile.mul":
        return a * b < 1 << 31
    if name == "tile.shl":
        return b < 31 and a << b < 1 << 31
    return a + b < 1 << 31


def _exact(name: str, x: Array, y: Array) -> Array:
    a, b = x.astype(np.int64), y.astype(np.int64)
    if name == "tile.mul":
        return a * b
    if name == "tile.shl":
        return a * (np.int64(1) << np.clip(b, 0, 31))
    return a + b if name == "tile.add" else a - b


def _widened(
    m: CheckingInterpreter, op: Op, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """A cast to int64 behind the multiplication it was meant for."""
    (shadow,) = own
    if shadow is None:
        return [None]
    wrapped = (shadow & WRAPPED) != 0
    if not wrapped.any():
        return [shadow]
    source = origin(m, op.operands[0], WRAPPED)
    position = first_true(wrapped)
    m.report(
        "wrapped-offset",
        source or op,
        "this int32 result wraps around before it is widened to int64; widen an operand instead",
        position=position,
        related=[Related("it is widened to int64 here, too late", op.loc)],
        count=int(wrapped.sum()),
    )
    rest = shadow & np.uint8(POISON)
    return [rest if rest.any() else None]


def never_written(m: CheckingInterpreter, op: Op, ptr: Any, mask: Array | None, size: int) -> Shadow:
    """Which lanes of a load have read memory that was allocated without contents and not written since."""
    fresh = m.launch.session.fresh
    found: Shadow = None
    for allocation in m.memory.allocations:
        if not fresh.holds(allocation.base):
            continue
        extents = m.launch.extents_of(op)
        if extents is not None and not any(allocation.base <= e.low < allocation.end for e in extents):
            continue
        at: Array = addresses(ptr)
        unwritten = fresh.unwritten(allocation.base, allocation.end, at, size)
        if mask is not None:
            unwritten = unwritten & mask
        if unwritten.any():
            found = union([found, np.where(unwritten, np.uint8(POISON), np.uint8(0))])
    return found


# ---- where they do harm ---------------------------------------------------------------------------------


def check_branch(m: CheckingInterpreter, op: Op, shadow: Array) -> None:
    """Control flow that depends on an undefined value."""
    lanes = (shadow & POISON) != 0
    if lanes.any():
        kind = "condition" if isinstance(op, If) else "bound or condition"
        value = _first_with(m, op.operands, POISON)
        if value is None and isinstance(op, While):
            value = op.cond.ops[-1].operands[0]
        _report(m, op, f"the {kind} of this {op.name.removeprefix('tile.')}", lanes, value)


def check_stored(m: CheckingInterpreter, op: Op, mask: Array | None) -> None:
    """A store, or an atomic operation, of undefined values in live lanes."""
    for index in range(
        1, len(op.operands) - (mask is not None and op.operands[-1] is getattr(op, "mask", None))
    ):
        shadow = m.shadow_of(op, index)
        if shadow is None:
            continue
        lanes = (shadow & POISON) != 0
        if mask is not None:
            lanes = lanes & mask
        if lanes.any():
            _report(m, op, "the value stored here", lanes, op.operands[index])


def check_address(m: CheckingInterpreter, op: Op, what: str, mask: Array | None) -> None:
    """Undefined or wrapped addresses in live lanes, and undefined masks."""
    shadow = m.shadow_of(op, 0)
    if shadow is not None:
        live = shadow if mask is None else np.where(mask, shadow, np.uint8(0))
        if (live & POISON).any():
            _report(m, op, f"the address of this {what}", (live & POISON) != 0, op.operands[0])
        if (live & WRAPPED).any():
            _report_wrapped(m, op, what, (live & WRAPPED) != 0)
    of_mask = getattr(op, "mask", None)
    if of_mask is not None:
        shadow = m.shadow(m.frame[of_mask])
        if shadow is not None and (shadow & POISON).any():
            _report(m, op, f"the mask of this {what}", (shadow & POISON) != 0, of_mask)


def _report(m: CheckingInterpreter, op: Op, what: str, lanes: Array, value: Value | None) -> None:
    source = origin(m, value, POISON) if value is not None else None
    related: list[Related] = []
    why = "nobody has defined"
    mend = None
    if source is not None and source.name == "tile.load":
        if getattr(source, "mask", None) is not None and source.other is None:  # type: ignore[attr-defined]
            related.append(Related("its masked lanes have no `other`", source.loc))
            why = "nobody has defined: a load leaves its masked lanes undefined without `other`"
            mend = "give the load `other=`, or mask this access as well"
        else:
            related.append(Related("it reads elements that nobody has written", source.loc))
            why = "nobody has written: the array was allocated and not filled"
    elif source is not None:
        related.append(Related("it is created without a value here", source.loc))
    count = int(lanes.sum())
    elements = f"{count} element{'s' if count != 1 else ''}"
    m.report(
        "uninitialised",
        op,
        f"{what} has {elements} that {why}",
        position=first_true(lanes),
        related=related,
        mend=mend,
        count=count,
    )


def _report_wrapped(m: CheckingInterpreter, op: Op, what: str, lanes: Array) -> None:
    source = origin(m, op.operands[0], WRAPPED)
    extents = m.launch.extents_of(op)
    argument = extents[0].argument if extents else None
    name = f" of `{argument.name}`" if argument is not None else ""
    m.report(
        "wrapped-offset",
        source or op,
        f"this int32 result wraps around and becomes part of the address of a {what}{name}; widen an operand to int64",
        position=first_true(lanes),
        argument=argument,
        related=[Related(f"the {what} is here", op.loc)],
        mend="cast one operand with .to(tl.int64)",
        count=int(lanes.sum()),
    )


# ---- where they came from -------------------------------------------------------------------------------


def origin(m: CheckingInterpreter, value: Value | None, bit: int) -> Op | None:
    """The op that put `bit` into the shadow of `value`, found among the values that the frame still holds.

    A loop overwrites the values of its earlier trips, and instances that part take theirs along; then it is the nearest op
    that can have done it.
    """
    start = value
    seen: set[Value] = set()
    while value is not None and value not in seen:
        seen.add(value)
        owner = value.owner
        if isinstance(owner, (Region, For, While, If)):
            value = _first_with(m, [v for v in passed_from(value) if v not in seen], bit)
            continue
        before = _first_with(m, owner.operands, bit)
        if before is None:
            if bit == WRAPPED or owner.name in ("tile.load", "tile.poison"):
                return owner
            break
        value = before
    return _nearest_source(start) if bit == POISON and start is not None else None


def _nearest_source(value: Value) -> Op | None:
    """The nearest op behind `value` whose results may be undefined: a masked load without `other`, ``tl.empty``."""
    waiting, seen = [value], {value}
    for value in waiting:  # grows while it is walked
        owner = value.owner
        computed = not isinstance(owner, (Region, For, While, If))
        if computed:
            masked = owner.name == "tile.load" and getattr(owner, "mask", None) is not None
            if owner.name == "tile.poison" or (masked and getattr(owner, "other", None) is None):
                return owner
        sources = owner.operands if computed else passed_from(value)
        for v in sources:
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    return None


def _first_with(m: CheckingInterpreter, values: Sequence[Value], bit: int) -> Value | None:
    for value in values:
        try:
            held = m.frame[value]
        except KeyError:
            continue
        if type(held) is Shadowed and held.shadow is not None and (held.shadow & bit).any():
            return value
    return None
