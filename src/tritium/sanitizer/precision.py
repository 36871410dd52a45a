"""Numbers that get worse on their way: half-precision sums, overflow, NaN and infinities, tf32, cancellation.

A half-precision accumulator is followed by a second one in fp64, which takes each addend before it is rounded. Where the
loop's result is first used the two are compared: the error of the kernel's sum, next to that of a wide sum rounded once at
the end.

NaN and infinities are looked for where values are stored or handed on by a loop or a branch; then the op that made one of
finite operands is found among the values that the frame still holds. They are reported when one of them is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.faults import first_true
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType
from tritium.numerics.dot import dot as matrix_product
from tritium.ops.base import BATCH_AXES, Array, full
from tritium.ops.control import For, While
from tritium.ops.storage import storage_dtype
from tritium.sanitizer.findings import Related
from tritium.sanitizer.flow import passed_from
from tritium.sanitizer.shadows import Shadow, Wide, propagate

if TYPE_CHECKING:
    from tritium.sanitizer.machine import CheckingInterpreter

FACTOR = 4.0
"""How many times worse than a wide accumulator a half-precision one must come out to be reported."""

_FEWEST_ADDITIONS = 4
_LINEAR = frozenset({"tile.add", "tile.sub", "tile.mul", "tile.dot", "tile.fma"})
_LEAVES = frozenset({"tile.load", "tile.constant", "tile.poison", "tile.atomic_rmw", "tile.atomic_cas"})
_CANCELLED = 1e-3


def is_half(value: Value) -> bool:
    scalar = value.type.scalar
    return isinstance(scalar, DType) and scalar.is_floating() and scalar.primitive_bitwidth <= 16


def is_float(value: Value) -> bool:
    scalar = value.type.scalar
    return isinstance(scalar, DType) and scalar.is_floating()


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The ops that add to half-precision accumulators, with their loops, and the values that control flow hands on."""

    loop_of: dict[Op, Op]
    handed_on: dict[Op, tuple[Value, ...]]

    @staticmethod
    def of(function: Function) -> Accumulators:
        loop_of: dict[Op, Op] = {}
        handed: dict[Op, list[Value]] = {}
        for op in function.walk():
            if isinstance(op, (For, While)):
                shift = 1 if isinstance(op, For) else 0
                for i, out in enumerate(op.body.ops[-1].operands):
                    if is_half(out):
                        for step in _path(op.body.args[i + shift], out, op.body) or ():
                            loop_of[step] = op
            for region in op.regions:
                end = region.ops[-1] if region.ops else None
                for value in end.operands if end is not None and op.name in _CONTROL else ():
                    if is_float(value) and isinstance(value.owner, Op) and value.owner.parent is region:
                        handed.setdefault(value.owner, []).append(value)
        return Accumulators(loop_of, {k: tuple(v) for k, v in handed.items()})


_CONTROL = frozenset({"tile.for", "tile.while", "tile.if"})


def _path(arg: Value, out: Value, body: Region) -> list[Op] | None:
    """The linear ops from a carried value to what the body yields for it, if it is a sum that grows; else None."""
    if out is arg:
        return []
    owner = out.owner
    if not isinstance(owner, Op) or owner.parent is not body or owner.name not in _LINEAR:
        return None
    operands = owner.operands[2:3] if owner.name in ("tile.dot", "tile.fma") else owner.operands
    for operand in operands:
        found = _path(arg, operand, body)
        if found is not None and is_half(operand):
            return [*found, owner]
    return None


# ---- half-precision accumulators ------------------------------------------------------------------------


def accumulate(
    m: CheckingInterpreter, op: Op, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """An op on the way of an accumulator: the same in fp64 besides, from addends as they were before rounding."""
    held = [m.frame[v] for v in op.operands]
    steps = max((h.wide.steps for h in held if _has_wide(h)), default=0)
    roundings = max((h.wide.roundings for h in held if _has_wide(h)), default=0)
    x = [_exactly(m, v, h) for v, h in zip(op.operands, held, strict=True)]
    if op.name == "tile.dot":
        a, b = (full(p, v.type.shape) for p, v in zip(x[:2], op.operands[:2], strict=True))
        result = a @ b + x[2]
    elif op.name == "tile.fma":
        result = x[0] * x[1] + x[2]
    else:
        result = {"tile.add": np.add, "tile.sub": np.subtract, "tile.mul": np.multiply}[op.name](*x)
    rounded = sum(_rounded_before(v) is not None for v in op.operands)
    adds = 0 if op.name == "tile.mul" else 1
    m.widened[op.results[0]] = Wide(result, steps + adds, roundings + 1 + rounded)
    return propagate(op, args, own, out) if any(s is not None for s in own) else [None]


def _has_wide(held: Any) -> bool:
    return getattr(held, "wide", None) is not None


def _rounded_before(value: Value) -> Value | None:
    """The operand of the cast that made a half-precision value of a wider one."""
    owner = value.owner
    if isinstance(owner, Op) and owner.name == "tile.cast" and is_half(value) and is_float(owner.operands[0]):
        return owner.operands[0]
    return None


def _exactly(m: CheckingInterpreter, value: Value, held: Any) -> Array:
    if _has_wide(held):
        return held.wide.value
    source = _rounded_before(value)
    if source is not None:
        held = m.frame[source]
    return m.plain(held).astype(np.float64)


def measure(m: CheckingInterpreter, op: Op, value: Value, held: Any) -> None:
    """An accumulator is used after its loop: how far it is from the wide one."""
    wide: Wide = held.wide
    loop = value.owner
    if not isinstance(loop, (For, While)) or wide.steps < _FEWEST_ADDITIONS:
        return
    scalar = value.type.scalar
    assert isinstance(scalar, DType)
    got, exact = m.plain(held).astype(np.float64), wide.value
    finite = np.isfinite(got) & np.isfinite(exact)
    if not finite.any():
        return
    half = float(np.abs(got - exact)[finite].max())
    once = float(np.abs(exact.astype(storage_dtype(scalar)).astype(np.float64) - exact)[finite].max())
    if once == 0:  # every sum happens to be representable: half a unit in its last place, then
        once = float(np.abs(exact)[finite].max()) * 2.0 ** -(scalar.fp_mantissa_width + 1)
    if half == 0 or half / once < FACTOR:
        return
    place = np.broadcast_to(np.abs(got - exact), finite.shape)
    position = first_true(place == place[finite].max())
    add = _last_addition(value, loop)
    factor, estimated = half / once, sqrt(wide.roundings)
    m.report(
        "half-accumulator",
        add or op,
        f"this sum is carried in {scalar} through {wide.steps} additions: its error is {half:.3g}, "
        f"{factor:.1f} times that of a float32 accumulator rounded once at the end ({once:.3g}); "
        f"{estimated:.0f} times were to be expected of {wide.roundings} roundings",
        position=position,
        measures={
            "factor": factor,
            "estimated": estimated,
            "error": half,
            "wide_error": once,
            "additions": wide.steps,
        },
        related=[Related("the accumulator is carried by this loop", loop.loc)],
        mend="create the accumulator with dtype=tl.float32 and convert it after the loop",
    )


def _last_addition(value: Value, loop: Op) -> Op | None:
    out = loop.regions[-1].ops[-1].operands[value.index]
    return out.owner if isinstance(out.owner, Op) else None


# ---- NaN and infinities ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Birth:
    """Where a NaN or an infinity was made of finite numbers, and of what."""

    op: Op
    what: str
    position: tuple[int, ...]
    program: tuple[int, int, int]
    operands: str
    count: int


def handed_on(m: CheckingInterpreter, op: Op, out: Sequence[Array]) -> None:
    """A float that a loop or a branch hands on has been computed."""
    for value, x in zip(op.results, out, strict=True):
        if value in m.births or not is_float(value) or np.isfinite(x).all():
            continue
        found = _birth(m, value, x, None)
        if found is not None:
            m.births[value] = found


def check_stored(m: CheckingInterpreter, op: Op, value: Array, mask: Array | None) -> None:
    """A store of floats, live where `mask` holds."""
    if not is_float(op.operands[1]):
        return
    if value.dtype.kind not in "f":
        value = value.astype(np.float32)
    bad = ~np.isfinite(value)
    if not bad.any():
        return
    if mask is not None:
        bad = bad & mask
        if not bad.any():
            return
    found = _birth(m, op.operands[1], value, bad)
    if found is None:
        return
    scalar = found.op.results[0].type.scalar
    half = isinstance(scalar, DType) and scalar.primitive_bitwidth <= 16 and found.what != "a NaN"
    kind = "half-overflow" if half else "non-finite"
    how = f"{scalar} overflows here: it makes {found.what}" if half else f"{found.what} is made here"
    m.launch.report(
        kind,
        found.op,
        f"{how} of {found.operands}, and it is stored",
        program=found.program,
        lane=found.position[BATCH_AXES:] or None,
        count=found.count,
        related=[Related("the store is here", op.loc)],
        mend="keep the value in float32, or clamp it before the conversion" if half else None,
    )


def _birth(m: CheckingInterpreter, value: Value, x: Array, bad: Array | None) -> Birth | None:
    """Follow a non-finite value back to the op that made one of finite operands; None if it came from outside."""
    wanted = bad if bad is not None else ~np.isfinite(x)
    instance = first_true(np.broadcast_to(wanted, np.broadcast_shapes(wanted.shape, x.shape)))[:BATCH_AXES]
    seen: set[Value] = set()
    while value not in seen:
        seen.add(value)
        if value in m.births:
            return m.births[value]
        owner = value.owner
        if isinstance(owner, Region) or (owner.regions and owner.name in _CONTROL):
            sources = [s for s in passed_from(value) if s not in seen]
            known = next((s for s in sources if s in m.births), None)
            if known is not None:
                return m.births[known]
            step = _non_finite_among(m, sources, instance, False)
        elif owner.name in _LEAVES:
            return None
        else:
            nan = bool(np.isnan(_of_instance(m, value, instance)).any())
            step = _non_finite_among(m, owner.operands, instance, nan)
            if step is None or (
                nan and not _has_nan(m, step, instance) and _comes_from_outside(m, step, instance)
            ):
                return _born(m, owner, value, instance)
        if step is None:
            return None
        value = step
    return None


def _comes_from_outside(m: CheckingInterpreter, value: Value, instance: Sequence[int]) -> bool:
    x = m.plain(m.frame[value])
    return _birth(m, value, x, ~np.isfinite(_as_float(x))) is None


def _as_float(x: Array) -> Array:
    return x if x.dtype.kind == "f" else x.astype(np.float32)


def _of_instance(m: CheckingInterpreter, value: Value, instance: Sequence[int]) -> Array:
    x = _as_float(m.plain(m.frame[value]))
    return x[tuple(i if n > 1 else 0 for i, n in zip(instance, x.shape, strict=False))]


def _has_nan(m: CheckingInterpreter, value: Value, instance: Sequence[int]) -> bool:
    return bool(np.isnan(_of_instance(m, value, instance)).any())


def _non_finite_among(
    m: CheckingInterpreter, values: Sequence[Value], instance: Sequence[int], nan: bool
) -> Value | None:
    """Of floats the one that is not finite in an instance; a NaN before an infinity where a NaN is looked for."""
    found: Value | None = None
    for value in values:
        if not is_float(value):
            continue
        try:
            x = _of_instance(m, value, instance)
        except KeyError:
            continue
        if nan and np.isnan(x).any():
            return value
        if found is None and not np.isfinite(x).all():
            found = value
    return found


def _born(m: CheckingInterpreter, op: Op, value: Value, instance: Sequence[int]) -> Birth:
    x = _of_instance(m, value, instance)
    nan = np.isnan(x)
    wrong = nan if nan.any() else ~np.isfinite(x)
    lane = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
    what = "a NaN" if nan.any() else "an infinity"
    shown: list[str] = []
    for operand in op.operands:
        if is_float(operand) and operand.type.shape == op.results[0].type.shape:
            part = _of_instance(m, operand, instance)
            at = tuple(i if n > 1 else 0 for i, n in zip(lane, part.shape, strict=False))
            shown.append(f"{float(part[at]):.6g}")
    operands = " and ".join(shown) if shown else "finite operands"
    program = m.frame.batch.program(tuple(instance))
    return Birth(op, what, (*instance, *lane), program, operands, int(wrong.sum()))


# ---- tf32 and cancellation ------------------------------------------------------------------------------


def product_rule(
    m: CheckingInterpreter, op: Any, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """A product of fp32 that may run in tf32: how far that is from what fp32 gives."""
    a, b = (full(m.plain(x), v.type.shape) for x, v in zip(args[:2], op.operands[:2], strict=True))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = float(np.abs(exact).max()) or 1.0
    left, right, result = op.a.type.scalar.text, op.b.type.scalar.text, op.out.text
    errors = {
        p: float(np.abs(matrix_product(a, b, left, right, result, p, None).astype(np.float64) - exact).max())
        / size
        for p in ("tf32", "ieee")
    }
    if np.isfinite(errors["tf32"]) and errors["tf32"] > FACTOR * errors["ieee"]:
        wrong = np.abs(matrix_product(a, b, left, right, result, "tf32", None).astype(np.float64) - exact)
        stated = (
            "names tf32" if op.precision == "tf32" else "leaves the precision to the device, which takes tf32"
        )
        m.report(
            "tf32",
            op,
            f"this product of float32 {stated}: relative error {errors['tf32']:.2g}, in float32 {errors['ieee']:.2g}",
            position=first_true(wrong == wrong.max()),
            measures={"tf32": errors["tf32"], "ieee": errors["ieee"]},
            mend='input_precision="ieee"',
        )
    return propagate(op, args, own, out) if any(s is not None for s in own) else [None]


def sum_rule(
    m: CheckingInterpreter, op: Any, args: Sequence[Any], own: Sequence[Shadow], out: Sequence[Array]
) -> list[Shadow]:
    """A sum of floats: whether little is left of large terms."""
    x = _as_float(m.plain(args[0])).astype(np.float64)
    axis = op.axis + BATCH_AXES
    shape = list(x.shape)
    shape[axis] = op.operands[0].type.shape[op.axis]
    x = np.broadcast_to(x, shape)
    terms, total = np.abs(x).sum(axis=axis), np.abs(x.sum(axis=axis))
    scalar = op.operands[0].type.scalar
    unit = float(np.finfo(np.float32).eps if scalar.primitive_bitwidth >= 32 else 2.0**-10)
    cancelled = (terms * unit > _CANCELLED * total) & (terms > 0) & np.isfinite(terms)
    if cancelled.any():
        position = first_true(cancelled)
        left, right = float(terms[position]), float(total[position])
        m.report(
            "cancellation",
            op,
            f"this sum of terms of together {left:.3g} leaves {right:.3g}: most of its digits cancel",
            position=position,
            measures={"terms": left, "sum": right},
            count=int(cancelled.sum()),
        )
    return propagate(op, args, own, out) if any(s is not None for s in own) else [None] * len(out)
