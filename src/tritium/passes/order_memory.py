"""Write the memory order into the IR: every op that touches memory gets ``order = (token, after...)``.

Pre:   any tile IR. Post: each op with memory effects carries its token and the tokens it must follow; a loop or branch
counts as one op with the effects of all that is in it, and what is in it is ordered among itself.

::

    %1 = tile.load(%p, _, _) {...}                  %1 = tile.load(%p, _, _) {..., order = (0,)}
    tile.store(%p, %2, _) {...}             ->      tile.store(%p, %2, _) {..., order = (1, 0)}

Run before stages that reorder (pipelining, asynchronous copies), which then read the tokens instead of program order.
"""

from __future__ import annotations

from tritium.analysis.memory_order import MemoryOrder
from tritium.ir.core import Function


def run(function: Function) -> bool:
    """Attach tokens. Whether anything changed."""
    order = MemoryOrder(function)
    changed = False
    for op, token in order.token.items():
        wanted = (token, *order.after[op])
        if op.attrs.get("order") != wanted:
            op.attrs["order"] = wanted
            changed = True
    return changed
