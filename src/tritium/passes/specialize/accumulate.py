"""``acc + dot(a, b)`` as one dot that starts from acc: the sums stay in the registers they are in.

::

    %d = tile.dot(%a, %b, _)          =>      %next = tile.dot(%a, %b, %acc)
    %next = tile.add(%acc, %d)

The products are then added to the accumulator one by one instead of their sum at the end: as exact, rounded otherwise.
So it is done on CUDA only, and not under the seed policy, whose dots have sums of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.ir.core import Function, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import float16
from tritium.ops.arithmetic import Add
from tritium.ops.dot import Dot

NAME = "accumulate_in_dot"


@dataclass(frozen=True)
class AccumulatePlan:
    """The dot, the addition it becomes, and what it starts from."""

    dot: Dot
    add: Add
    start: Value

    def __str__(self) -> str:
        return f"the dot starts from {self.start.name or 'the other summand'} and needs no sums of its own"


def match_accumulate(dot: Dot) -> AccumulatePlan | Reject:
    """A dot without accumulator whose only user adds it to a value of its type."""
    with matching() as m:
        m.require(dot.acc is None, "the dot already has an accumulator", at=dot)
        m.require(len(dot.result.uses) == 1, "the product has other users than one addition", at=dot)
        ((user, index),) = dot.result.uses
        m.require(isinstance(user, Add), "the product is not simply added to something", at=dot)
        m.require(user.parent is dot.parent, "the addition is in another block of code", at=dot)
        m.require(dot.out is not float16, "fp16 sums are rounded before they are added", at=dot)
        assert isinstance(user, Add)
        return AccumulatePlan(dot, user, user.operands[1 - index])
    return m.reject


def apply_accumulate(plan: AccumulatePlan) -> None:
    """Put the new dot where the addition was, where all three operands are known."""
    dot, add = plan.dot, plan.add
    made = Dot(dot.a, dot.b, plan.start, loc=dot.loc, result_names=(add.result.name,), **dot.attrs)
    assert add.parent is not None
    add.parent.insert_before(add, made)
    add.replace_with([made.result])
    dot.erase()


def run(function: Function, record: Record) -> None:
    """Match and apply for every dot."""
    for op in list(function.walk()):
        if isinstance(op, Dot):
            found = match_accumulate(op)
            if isinstance(found, Reject):
                record.reject(NAME, found)
            else:
                record.plan(NAME, str(found), at=op)
                apply_accumulate(found)
