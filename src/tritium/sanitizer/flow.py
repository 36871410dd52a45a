"""Where a value of control flow comes from: what loops and branches hand on."""

from __future__ import annotations

from tritium.ir.core import Region, Value
from tritium.ops.control import For, If, While


def passed_from(value: Value) -> list[Value]:
    """The values that become `value`: a carried value's start and what the body yields, a branch's two results.

    Empty for a value that an op computes, and for a loop's induction variable.
    """
    owner = value.owner
    if isinstance(owner, Region):
        holder = owner.parent
        if isinstance(holder, For):
            if value.index == 0:
                return []
            return [holder.inits[value.index - 1], owner.ops[-1].operands[value.index - 1]]
        if isinstance(holder, While):
            return [holder.inits[value.index], holder.body.ops[-1].operands[value.index]]
        return []
    if isinstance(owner, If):
        return [r.ops[-1].operands[value.index] for r in owner.regions]
    if isinstance(owner, (For, While)):
        return [owner.inits[value.index], owner.body.ops[-1].operands[value.index]]
    return []
