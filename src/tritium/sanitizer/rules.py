"""Which ops of a kernel need more than handing shadows on."""

from __future__ import annotations

from typing import Any

from tritium.ir.core import Function, Op
from tritium.ir.types import float32
from tritium.ops.base import TileOp
from tritium.sanitizer import precision, undefined
from tritium.sanitizer.precision import Accumulators
from tritium.sanitizer.session import Session


def rules_of(function: Function, accumulators: Accumulators, session: Session) -> dict[Op, Any]:
    """Per op the function that gives the shadows of its results; see `CheckingInterpreter.rules`."""
    rules = undefined.rules_for(function)
    for op in accumulators.handed_on:
        rules.setdefault(op, undefined.hand_on)
    if session.wants("half-accumulator"):
        for op in accumulators.loop_of:
            rules[op] = precision.accumulate
    dots = [op for op in function.walk() if op.name == "tile.dot" and op.operands[0].type.scalar is float32]
    meant = any(op.attrs["precision"] == "ieee" for op in dots) or "tf32" in session.asked
    for op in dots:
        if meant and session.wants("tf32") and op.attrs["precision"] in ("default", "tf32"):
            rules.setdefault(op, precision.product_rule)
    if session.wants("cancellation"):
        for op in function.walk():
            if op.name == "tile.reduce" and _is_float_sum(op):
                rules.setdefault(op, precision.sum_rule)
    return rules


def _is_float_sum(op: Op) -> bool:
    assert isinstance(op, TileOp)
    body = op.regions[0].ops
    return len(op.operands) == 1 and precision.is_float(op.operands[0]) and body[0].name == "tile.add"
